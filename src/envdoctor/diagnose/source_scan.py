"""The project's sources, each read once, searched many times."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from fnmatch import fnmatch
from functools import cached_property, lru_cache

from envdoctor.diagnose.examination import Sources
from envdoctor.diagnose.rule import Rule
from envdoctor.diagnose.source_outline import (
    Outline,
    TextPlaces,
    guarded_lines,
    outline_of,
    parsed,
    stand_in_lines,
)
from envdoctor.model.dataclass import dataclass
from envdoctor.model.finding import Evidence, Finding, Remedy, Severity
from envdoctor.model.origin import FileOrigin
from envdoctor.model.project import SourceFile

__all__ = ["EVERYWHERE", "Hit", "ImportSite", "SourceScan", "called_in", "findings_by_file", "scan_of"]

_IMPORT = re.compile(
    r"^(?P<indent>[ \t]*)"
    r"(?:from[ \t]+(?P<source>[.\w]+)[ \t]+import\b(?P<taken>[^#\n]*)|import[ \t]+(?P<names>\w[^#\n]*))",
    re.MULTILINE,
)
EVERYWHERE = "**/*.py"
_TESTS = frozenset({"tests", "test", "testing", "docs", "doc", "documentation", "benchmarks", "benchmark"})
_NAME = re.compile(r"\w+")
_WILD = re.compile(r"[*?\[]")
_TREES = 16
_SHOWN, _LONGEST = 5, 120


@dataclass(frozen=True, slots=True)
class Hit:
    """A line in which a pattern matches."""

    path: str
    line: int
    text: str


@dataclass(frozen=True, slots=True)
class ImportSite:
    """One import statement, found without parsing the file."""

    path: str
    line: int
    module: str
    """Dotted; relative imports keep their dots."""
    indented: bool
    names: tuple[str, ...] = ()
    """What ``from`` takes out of the module, as far as the first line says."""


@lru_cache(maxsize=512)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.MULTILINE)


class SourceScan:
    """Searches over one project; nothing is read before it is asked for, and nothing twice.

    It can stand for the ``Sources`` that it was made from, so that all rules share one.
    """

    def __init__(self, sources: Sources) -> None:
        self._sources = sources
        self._python: dict[str, SourceFile] | None = None
        self._other: dict[str, SourceFile | None] = {}
        self._imports: dict[str, tuple[ImportSite, ...]] = {}
        self._places: dict[str, TextPlaces] = {}
        self._outlines: dict[str, Outline] = {}
        self._trees: dict[str, ast.Module | None] = {}
        self._guarded: dict[str, frozenset[int]] = {}
        self._stand_in: dict[str, frozenset[int]] = {}
        self.reached: dict[frozenset[str], list[str]] = {}
        """The files that a run reaches, by the folders of its requirements files; ``reachable`` fills it."""

    @property
    def by_path(self) -> dict[str, SourceFile]:
        """The project's Python files by path."""
        if self._python is None:
            self._python = {item.path: item for item in self._sources.python_files()}
        return self._python

    def python_files(self) -> Iterator[SourceFile]:
        """Yield the project's Python files, as ``Sources`` does."""
        yield from self.by_path.values()

    def read(self, path: str) -> SourceFile | None:
        """Return one file, as ``Sources`` does."""
        if path in self.by_path:
            return self.by_path[path]
        if path not in self._other:
            self._other[path] = self._sources.read(path)
        return self._other[path]

    def glob(self, pattern: str) -> Iterator[str]:
        """Yield paths that match, as ``Sources`` does."""
        yield from self._sources.glob(pattern)

    def exists(self, path: str) -> bool:
        """Return whether the project has that file, or one that matches that pattern."""
        if _WILD.search(path):
            return next(iter(self._sources.glob(path)), None) is not None
        return self.read(path) is not None

    @cached_property
    def own_names(self) -> frozenset[str]:
        """What an absolute import of one of the project's own files can begin with."""
        parts = [path.removesuffix(".py").split("/") for path in self.by_path]
        return frozenset(name for path in parts for name in path)

    @cached_property
    def _programs(self) -> tuple[SourceFile, ...]:
        """The project's Python files without its tests, benchmarks and documentation."""
        return tuple(item for item in self.by_path.values() if item.path.endswith(".py") and not _is_aside(item.path))

    def _files(self, pattern: str) -> Iterable[SourceFile]:
        return self._programs if pattern == EVERYWHERE else self._matching(pattern)

    def _matching(self, pattern: str) -> Iterator[SourceFile]:
        if pattern.endswith(".py"):
            loose = pattern.replace("**/", "")
            # Most name their file outright, and the last part of the others mostly is a name.
            named = pattern.rpartition("/")[2]
            plain = "" if _WILD.search(named) else named.lower()
            python = (item for item in self.by_path.values() if item.path.lower().endswith(plain))
            yield from (item for item in python if fnmatch(item.path, pattern) or fnmatch(item.path, loose))
            return
        for path in self._sources.glob(pattern):
            if item := self.read(path):
                yield item

    def search(self, pattern: str, files: str = EVERYWHERE, having: tuple[str, ...] = ()) -> list[Hit]:
        """Return the lines in which the regular expression matches in the files of a glob, each once.

        ``having``: texts of which one stands in every match; files without them are not searched. Comments and
        docstrings do not count; in a search over all Python files, tests, benchmarks and documentation do not either.
        """
        compiled = _compiled(pattern)
        return [hit for item in self._files(files) if _has(item.text, having) for hit in self._hits(item, compiled)]

    def _hits(self, item: SourceFile, compiled: re.Pattern[str]) -> Iterator[Hit]:
        end = -1
        for match in compiled.finditer(item.text):
            if match.start() <= end:
                continue
            number, start, end = self._places_of(item).line_at(match.start())
            text = item.text[start:end].strip()
            if not (item.path.endswith(".py") and (text.startswith("#") or self._is_prose(item, start, text))):
                yield Hit(item.path, number, text)

    def _places_of(self, item: SourceFile) -> TextPlaces:
        if item.path not in self._places:
            self._places[item.path] = TextPlaces(item.text)
        return self._places[item.path]

    def _only_under_guard(self, path: str) -> bool:
        stem = path.removesuffix("/__init__.py").removesuffix(".py").rpartition("/")[2]
        sites = [site for site in self._importers.get(stem, ()) if site.path != path]
        return bool(sites) and all(site.indented for site in sites)

    @cached_property
    def _importers(self) -> dict[str, list[ImportSite]]:
        """The project's imports of its own modules, by the last part of the module's name, and by what they take."""
        own = frozenset(path.removesuffix(".py").partition("/")[0] for path in self.by_path)
        found: dict[str, list[ImportSite]] = {}
        for path in self.by_path:
            for site in self.imports(path):
                if site.module.startswith(".") or site.module.partition(".")[0] in own:
                    for name in {site.module.rpartition(".")[2], *site.names}:
                        found.setdefault(name, []).append(site)
        return found

    def _is_prose(self, item: SourceFile, start: int, text: str) -> bool:
        """Return whether the line at an offset stands in a docstring; parsed only where it may be one."""
        places = self._places_of(item)
        return places.may_be_docstring(start, text) and places.line_at(start)[0] in self._outline(item).docstrings

    def imports(self, path: str) -> tuple[ImportSite, ...]:
        """Return the import statements of one file, those in functions included."""
        if path not in self._imports:
            item = self.by_path.get(path)
            self._imports[path] = tuple(_imports(item)) if item else ()
        return self._imports[path]

    def top_level_imports(self, path: str) -> list[ImportSite]:
        """Return the imports that running the module always reaches, unguarded; the file is parsed."""
        item = self.by_path.get(path)
        if item is None:
            return []
        found = self._outline(item).unguarded
        return [ImportSite(path, line, module, indented=False, names=names) for line, module, names in found]

    def lines_under_a_condition(self, path: str) -> frozenset[int]:
        """Return the lines of imports under ``if`` or ``try``, in functions too; not under ``__name__ == ...``.

        A file without indented imports, or that does not parse, has none.
        """
        item = self.by_path.get(path)
        if item is None or not any(site.indented for site in self.imports(path)):
            return frozenset()
        return self._outline(item).conditional

    def guarded_lines(self, path: str) -> frozenset[int]:
        """Return the lines that look before they leap: under a test of ``hasattr`` or a version, or in ``try``."""
        return self._lines(path, self._guarded, guarded_lines)

    def stand_in_lines(self, path: str) -> frozenset[int]:
        """Return the lines that run where an import failed: in ``except ImportError`` and the like."""
        return self._lines(path, self._stand_in, stand_in_lines)

    def _lines(
        self, path: str, known: dict[str, frozenset[int]], ask: Callable[[ast.Module], Iterator[int]]
    ) -> frozenset[int]:
        if path not in known:
            item = self.by_path.get(path)
            tree = self._tree(item) if item is not None else None
            known[path] = frozenset(ask(tree)) if tree is not None else frozenset()
        return known[path]

    def _outline(self, item: SourceFile) -> Outline:
        """Return what rules ask of a file's syntax, taken from its tree once."""
        if item.path not in self._outlines:
            self._outlines[item.path] = outline_of(self._tree(item))
        return self._outlines[item.path]

    def _tree(self, item: SourceFile) -> ast.Module | None:
        """Return a file's syntax, None where it has none; the last few are kept, for a tree takes up far more space."""
        if item.path not in self._trees:
            if len(self._trees) >= _TREES:
                del self._trees[next(iter(self._trees))]
            self._trees[item.path] = parsed(item.text)
        return self._trees[item.path]

    def unguarded(self, module: str) -> list[ImportSite]:
        """Return the unguarded top-level imports of ``module`` or of what is inside it, over the whole project.

        A file that the project itself imports under a guard alone, or in functions alone, is guarded as a whole.
        """
        found: list[ImportSite] = []
        top = module.partition(".")[0]
        for path, item in self.by_path.items():
            if top not in item.text:
                continue
            bare = any(_inside(site.module, module) and not site.indented for site in self.imports(path))
            if bare and not self._only_under_guard(path):
                found += [site for site in self.top_level_imports(path) if _inside(site.module, module)]
        return found


def _has(text: str, having: tuple[str, ...]) -> bool:
    return not having or any(item in text for item in having)


_CALL = re.compile(r"(?<!\w)([A-Za-z_]\w*)\s*\(")


def called_in(hits: Iterable[Hit]) -> tuple[str, ...]:
    """Return the names of the functions that lines of source call, or begin."""
    return tuple(dict.fromkeys(name for hit in hits for name in _CALL.findall(hit.text)))


def findings_by_file(
    rule: Rule,
    hits: Iterable[Hit],
    message: Callable[[str, Sequence[Hit]], str],
    remedy: Remedy,
    severity: Severity | None = None,
) -> Iterator[Finding]:
    """Yield one finding of a rule for each file with hits, by path: the first lines are its evidence."""
    by_file: dict[str, list[Hit]] = {}
    for hit in hits:
        by_file.setdefault(hit.path, []).append(hit)
    for path, found in sorted(by_file.items()):
        shown = found[:_SHOWN]
        yield rule.finding(
            subject=path,
            message=message(path, found),
            severity=severity,
            evidence=tuple(Evidence(hit.text[:_LONGEST], f"{path}:{hit.line}") for hit in shown),
            remedy=remedy,
            location=FileOrigin(path, found[0].line),
            symbols=called_in(shown),
        )


def _is_aside(path: str) -> bool:
    folders = path.split("/")[:-1]
    return not _TESTS.isdisjoint(folders) or path.rpartition("/")[2].startswith(("test_", "conftest"))


def _inside(imported: str, module: str) -> bool:
    return imported == module or imported.startswith(module + ".")


def _imports(item: SourceFile) -> Iterator[ImportSite]:
    line, counted = 1, 0
    for match in _IMPORT.finditer(item.text):
        line += item.text.count("\n", counted, match.start())
        counted = match.start()
        indented = bool(match["indent"])
        if match["source"]:
            taken = tuple(_NAME.findall(match["taken"]))
            yield ImportSite(item.path, line, match["source"], indented, taken)
            continue
        for part in match["names"].split(","):
            module = part.split(" as ")[0].strip(" ();\t\r\\")
            if re.fullmatch(r"[\w.]+", module):
                yield ImportSite(item.path, line, module, indented)


def scan_of(sources: Sources) -> SourceScan:
    """Return the scan that these sources are, or a new one over them."""
    return sources if isinstance(sources, SourceScan) else SourceScan(sources)
