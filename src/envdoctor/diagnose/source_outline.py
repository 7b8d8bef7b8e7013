"""What rules ask of one Python file's syntax, and the circumstances in which its lines run; no tree is kept."""

from __future__ import annotations

import ast
import re
import warnings
from bisect import bisect_left, bisect_right
from collections.abc import Iterator

from envdoctor.model.dataclass import dataclass

__all__ = ["Outline", "TextPlaces", "guarded_lines", "outline_of", "parsed", "stand_in_lines"]

_MISSED_IMPORT = re.compile(r"\b(?:ImportError|ModuleNotFoundError)\b")
_MISSED_NAME = re.compile(rf"\bAttributeError\b|{_MISSED_IMPORT.pattern}")
_ANYTHING = re.compile(r"\b(?:Base)?Exception\b")
_LOOK = re.compile(r"\bhasattr\b|__version__|\bVersion\(|\bversion\.parse\(")


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield all statements, without a look at the expressions in them: those are nine tenths of a tree."""
    for node in body:
        yield node
        for part in ("body", "orelse", "finalbody"):
            yield from _statements(getattr(node, part, []))
        for inner in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
            yield from _statements(inner.body)


def guarded_lines(tree: ast.Module) -> Iterator[int]:
    """Yield the lines of both branches where sources ask for a name or a version, or try it, before they use it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Try):
            handlers = [handler for handler in node.handlers if _catches(handler, _MISSED_NAME, node)]
            yield from _lines(*(node.body if handlers else ()), *(item for each in handlers for item in each.body))
        elif isinstance(node, ast.If | ast.IfExp) and _LOOK.search(ast.unparse(node.test)):
            yield from _lines(node)


def stand_in_lines(tree: ast.Module) -> Iterator[int]:
    """Yield the lines that run where an import failed."""
    for node in _statements(tree.body):
        if isinstance(node, ast.Try) and any(isinstance(item, ast.Import | ast.ImportFrom) for item in node.body):
            handlers = (handler for handler in node.handlers if _catches(handler, _MISSED_IMPORT, node))
            yield from _lines(*(item for handler in handlers for item in handler.body))


def _catches(handler: ast.ExceptHandler, what: re.Pattern[str], node: ast.Try) -> bool:
    """Whether it is there for that; one that catches anything is, where an import is what is tried."""
    caught = ast.unparse(handler.type) if handler.type is not None else "Exception"
    imports = isinstance(node.body[0], ast.Import | ast.ImportFrom)
    return what.search(caught) is not None or (imports and _ANYTHING.search(caught) is not None)


def _lines(*nodes: ast.stmt | ast.expr) -> Iterator[int]:
    for node in nodes:
        yield from range(node.lineno, (node.end_lineno or node.lineno) + 1)


_SIMPLE = (
    ast.Assign, ast.Return, ast.AugAssign, ast.AnnAssign, ast.Raise, ast.Assert, ast.Delete, ast.Pass, ast.Break,
    ast.Continue, ast.Global, ast.Nonlocal,
)  # fmt: skip
"""Statements that hold no others."""
_CONFUSING = re.compile(r"""'''|\\\"|[#'][^\n#']*\"{3}""")
"""Where one of these stands beside triple quotes, counting the quotes does not tell where a string ends."""
_BEFORE_DOCSTRING = re.compile(r"(?:\A|[:;])[\s(]*[rRbBuUfF]{0,2}\Z")


@dataclass(frozen=True, slots=True)
class Outline:
    """Lines of one file, 1-based; a file that does not parse has none."""

    docstrings: frozenset[int] = frozenset()
    """Lines of strings that stand as a statement."""
    unguarded: tuple[tuple[int, str, tuple[str, ...]], ...] = ()
    """Imports that running the module always reaches: line, module, and what ``from`` takes out of it."""
    conditional: frozenset[int] = frozenset()
    """Imports under ``if`` or ``try``, in functions too; not under ``__name__ == ...``."""


class TextPlaces:
    """Where a text's lines begin and its triple quotes stand, found once for all that is asked of them."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._begins = [0, *(match.end() for match in re.finditer("\n", text))]
        self._quotes = [match.start() for match in re.finditer('"{3}', text)]
        confusing = _CONFUSING.search(text)
        self._confusing = confusing.start() if confusing else len(text)

    def line_at(self, offset: int) -> tuple[int, int, int]:
        """Return the line, 1-based, that an offset stands in, and the offsets of its first and behind its last sign."""
        number = bisect_right(self._begins, offset)
        last = self._begins[number] - 1 if number < len(self._begins) else len(self._text)
        return number, self._begins[number - 1], last

    def may_be_docstring(self, start: int, line: str) -> bool:
        """Return whether the line that begins at an offset can stand in a docstring, by the quotes before it.

        ``line``: its text, without the blanks around it. True where quotes alone do not tell.
        """
        if line.lstrip("rRbBuUfF(")[:1] in ('"', "'"):
            return True
        if self._confusing < start:
            return True
        before = bisect_left(self._quotes, start)
        if before % 2 == 0:
            # Inside of no string of several lines, but one that a backslash continues.
            return self._text[max(start - 2, 0) : start] == "\\\n"
        opened = self._quotes[before - 1]
        head = self._text[self.line_at(opened)[1] : opened].strip()
        return _BEFORE_DOCSTRING.search(head) is not None


def parsed(text: str | bytes) -> ast.Module | None:
    """Return the syntax of a file's text, None where it has none. Never raises, and keeps the compiler's warnings back.

    From Python 3.12 on the compiler prints one for each escape that it does not know, and the code is not ours.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def outline_of(tree: ast.Module | None) -> Outline:
    """Return the outline of a tree, an empty one where there is none or it is nested too deeply. Never raises."""
    walk = _Walk()
    try:
        walk.over(tree.body if tree is not None else [], under=False, bare=True)
    except RecursionError:
        return Outline()
    return Outline(frozenset(walk.docstrings), tuple(walk.unguarded), frozenset(walk.conditional))


class _Walk:
    """Goes over all statements, without a look at the expressions in them: those are nine tenths of a tree."""

    def __init__(self) -> None:
        self.docstrings: set[int] = set()
        self.unguarded: list[tuple[int, str, tuple[str, ...]]] = []
        self.conditional: list[int] = []

    def over(self, body: list[ast.stmt], *, under: bool, bare: bool) -> None:
        """Look at some statements. ``under``: a condition holds them; ``bare``: the module always reaches them."""
        for node in body:
            if isinstance(node, _SIMPLE):
                continue
            if isinstance(node, ast.Expr):
                if isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
                    self.docstrings.update(_lines(node))
            elif isinstance(node, ast.Import | ast.ImportFrom):
                if bare:
                    self._take(node)
                if under:
                    self.conditional.append(node.lineno)
            else:
                self._inside(node, under=under, bare=bare)

    def _take(self, node: ast.Import | ast.ImportFrom) -> None:
        if isinstance(node, ast.Import):
            self.unguarded += [(node.lineno, alias.name, ()) for alias in node.names]
        elif not node.level and node.module:
            self.unguarded.append((node.lineno, node.module, tuple(alias.name for alias in node.names)))

    def _inside(self, node: ast.stmt, *, under: bool, bare: bool) -> None:
        inner = under or isinstance(node, ast.Try) or (isinstance(node, ast.If) and not _asks_for_main(node.test))
        bare = bare and isinstance(node, ast.With) and not _suppresses(node)
        for part in ("body", "orelse", "finalbody"):
            self.over(getattr(node, part, []), under=inner, bare=bare)
        for branch in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
            self.over(branch.body, under=True, bare=False)


def _asks_for_main(test: ast.expr) -> bool:
    return any(
        "__name__" in text
        for node in ast.walk(test)
        for text in (getattr(node, "id", None), getattr(node, "attr", None), getattr(node, "value", None))
        if isinstance(text, str)
    )


def _suppresses(node: ast.With) -> bool:
    """``contextlib.suppress`` guards as ``try`` does; other context managers do not."""
    return any("suppress" in ast.dump(entry.context_expr) for entry in node.items)
