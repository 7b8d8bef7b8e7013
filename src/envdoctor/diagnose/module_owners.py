"""Which distribution gives a top-level module, which of several with the same one to keep, and imports that none gives.

Metadata has no word for those that stand in for one another. Sources: the file lists of the wheels, and the READMEs
that say "install only one".

What packages import without asking for it is found in their wheels, so that a fix brings it along. faster-whisper 1.0.1
imports ``requests``, which used to come with huggingface-hub and no longer does: everything installs, and the first
import fails. Only packages that people ask for by name are looked at, only pure-Python wheels of moderate size, only
imports that importing the package always reaches, and only modules whose project is known.
"""

from __future__ import annotations

import ast
import difflib
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from packaging.specifiers import SpecifierSet
from packaging.utils import NormalizedName, canonicalize_name
from packaging.version import Version

from envdoctor.diagnose.examination import Examination
from envdoctor.diagnose.source_outline import parsed
from envdoctor.diagnose.wheel_facts import Family, shipped_wheel_facts
from envdoctor.model.candidate import DistributionFile, FileKind
from envdoctor.model.dataclass import dataclass
from envdoctor.model.origin import DistributionOrigin
from envdoctor.model.project import Group
from envdoctor.model.requirement import Requirement
from envdoctor.model.resolution import Resolution, ResolvedPackage
from envdoctor.model.target import OperatingSystem, Target
from envdoctor.ports import ArchiveReader, IndexUnavailable, MetadataUnavailable
from envdoctor.shipped import data_file

__all__ = [
    "ModuleOwners",
    "Undeclared",
    "family_of",
    "meant_by",
    "one_to_keep",
    "stand_ins",
    "undeclared_imports",
    "what_to_keep",
]

_LARGEST = 4_000_000
_MOST_FILES = 60


@dataclass(frozen=True, slots=True)
class Undeclared:
    """A module that a package imports, and nothing brings."""

    module: str
    requirement: Requirement
    where: str
    """``faster_whisper/utils.py:8``."""

    @property
    def cause(self) -> str:
        """Who imports it, and where, in words."""
        return f"{self.requirement.origin} imports `{self.module}` ({self.where}) without asking for it"

    @property
    def note(self) -> str:
        """A sentence for the plan."""
        return f"`{self.requirement.name}` is added: {self.cause}"


def undeclared_imports(
    wanted: Iterable[NormalizedName], resolution: Resolution, archives: ArchiveReader, target: Target
) -> tuple[Undeclared, ...]:
    """Return what the packages called ``wanted`` import and the resolution does not bring. Never raises."""
    owners = ModuleOwners(Examination(target=target, resolution=resolution, archives=archives))
    found: dict[str, Undeclared] = {}
    for name in dict.fromkeys(wanted):
        package = resolution.get(name)
        if package is None or not _worth_a_look(package.file):
            continue
        for module, where in _imports(package.file, archives):
            projects = owners.projects_of(module)
            if module in sys.stdlib_module_names or not projects or module in found:
                continue
            if owners.provides(module) is False:
                found[module] = Undeclared(module, _requirement(projects[0], name, package.version), where)
    return tuple(found.values())


def _requirement(project: str, consumer: NormalizedName, version: Version) -> Requirement:
    origin = DistributionOrigin(consumer, str(version))
    return Requirement(canonicalize_name(project), origin, SpecifierSet(), text=project)


def _worth_a_look(file: DistributionFile) -> bool:
    return file.filename.endswith("-none-any.whl") and (file.size or 0) <= _LARGEST


def _imports(file: DistributionFile, archives: ArchiveReader) -> Iterator[tuple[str, str]]:
    """Yield top-level modules of others, and where, that importing the wheel's packages reaches without a guard."""
    try:
        members = {name for name in archives.names(file) if name.endswith(".py")}
    except (IndexUnavailable, MetadataUnavailable):
        return
    tops = {name.partition("/")[0].removesuffix(".py") for name in members}
    queue = sorted(f"{top}/__init__.py" for top in tops if f"{top}/__init__.py" in members)
    seen = set(queue)
    for path in queue:
        if len(seen) > _MOST_FILES:
            return
        for module, line in _reached(path, file, archives):
            top = module.partition(".")[0]
            if top not in tops:
                yield top, f"{path}:{line}"
                continue
            for target in _files_of(module, members):
                if target not in seen:
                    seen.add(target)
                    queue.append(target)


def _reached(path: str, file: DistributionFile, archives: ArchiveReader) -> Iterator[tuple[str, int]]:
    try:
        tree = parsed(archives.read(file, path) or b"")
    except (IndexUnavailable, MetadataUnavailable):
        return
    package = path.rpartition("/")[0].split("/")
    for node in tree.body if tree is not None else ():
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            yield module, node.lineno
            yield from ((f"{module}.{alias.name}", node.lineno) for alias in node.names)


def _files_of(module: str, members: set[str]) -> Iterator[str]:
    parts = module.split(".")
    for end in range(1, len(parts) + 1):
        stem = "/".join(parts[:end])
        yield from (path for path in (f"{stem}.py", f"{stem}/__init__.py") if path in members)


def stand_ins(name: str) -> tuple[str, ...]:
    """Return the other distributions that give the same import package as ``name``."""
    family = family_of([name])
    return tuple(other for other in family.names if other != name) if family is not None else ()


def family_of(names: Sequence[str]) -> Family | None:
    """Return the family that all of ``names`` belong to, None where the table has none."""
    return next((family for family in shipped_wheel_facts().families if set(names) <= set(family.names)), None)


def one_to_keep(family: Family, backend: str) -> str | None:
    """Return the distribution that is for ``backend``, None where the table does not say."""
    return family.by_backend.get(backend)


def what_to_keep(family: Family, names: Sequence[str], backend: str) -> str:
    """Return a piece of advice: ``keep `onnxruntime-gpu`, which is the one for cuda, and drop `onnxruntime```."""
    name = one_to_keep(family, backend)
    if name is None:
        return f"keep {family.keep}"
    others = [item for item in names if item != name]
    away = " and ".join(f"`{item}`" for item in others)
    if len(others) < len(names):
        return f"keep `{name}`, which is the one for {backend}, and drop {away}"
    return f"take `{name}`, which is the one for {backend}, in place of {away}"


_SUFFIXES = (".py", ".so", ".pyd")
_SYSTEMS = {
    OperatingSystem.MACOS: re.compile(r"(?:^|[^a-z])(?:mac|macos|osx|darwin|apple|mps)(?![a-z])", re.IGNORECASE),
    OperatingSystem.WINDOWS: re.compile(r"(?:^|[^a-z])(?:win|win32|windows)(?![a-z])", re.IGNORECASE),
    OperatingSystem.LINUX: re.compile(r"(?:^|[^a-z])linux(?![a-z])", re.IGNORECASE),
}
"""How a list's name tells the system that it is for."""


def _is_of_another_system(group: Group, target: Target | None) -> bool:
    """Return whether a list is for another system by its name: ``requirements-macos.txt`` brings nothing on Linux."""
    named = [system for system, pattern in _SYSTEMS.items() if pattern.search(group.name.name)]
    return bool(named) and target is not None and target.os not in named


class ModuleOwners:
    """Answers whether a module is provided; listings of wheels are read only where names alone do not tell."""

    def __init__(self, examination: Examination) -> None:
        self._archives = examination.archives
        self._packages = {
            item.name: item for item in (examination.resolution.packages if examination.resolution else ())
        }
        self._names = set(self._packages)
        self._modules: set[str] = set()
        if examination.environment is not None:
            for item in examination.environment.distributions:
                self._names.add(item.name)
                self._modules.update(item.top_level)
        self._listed: set[str] = set()
        self._unread = False
        groups = examination.project.groups if examination.project else ()
        here = (group for group in groups if not _is_of_another_system(group, examination.target))
        self._optional = {line.name for group in here for line in group.requirements}

    @staticmethod
    def projects_of(module: str) -> tuple[str, ...]:
        """Return the projects that are known to give ``module``, the usual one first."""
        return tuple(data_file("import-names")["modules"].get(module, ()))

    def provides(self, module: str) -> bool | None:
        """Return whether some distribution gives ``module``; None where that cannot be known."""
        known = self.projects_of(module)
        if module in self._modules or canonicalize_name(module) in self._names or self._names & set(known):
            return True
        if any(self._lists(package, module) for package in self._alike(module)):
            return True
        if known:
            return False
        if self._archives is None:
            return None
        if any(self._lists(package, module) for package in self._packages.values()):
            return True
        return None if self._unread else False

    def optional(self, module: str) -> bool:
        """Return whether only extras and groups that nobody asked for name a project of ``module``.

        What such a project brings along does not count: sources that always run may import it as well.
        """
        projects = self.projects_of(module) or (canonicalize_name(module),)
        return bool(self._optional & set(projects)) and self.provides(module) is False

    def _alike(self, module: str) -> Iterator[ResolvedPackage]:
        """Yield packages whose name shares a word with the module."""
        words = {word for word in canonicalize_name(module).split("-") if len(word) > 2}
        for name, package in self._packages.items():
            if words & set(name.split("-")) or canonicalize_name(module) in name:
                yield package

    def _lists(self, package: ResolvedPackage, module: str) -> bool:
        if package.name not in self._listed:
            self._listed.add(package.name)
            self._modules.update(self._read(self._archives, package))
        return module in self._modules

    def _read(self, archives: ArchiveReader | None, package: ResolvedPackage) -> set[str]:
        if archives is None:
            return set()
        try:
            names = archives.names(package.file)
        except (MetadataUnavailable, IndexUnavailable):
            self._unread = True
            return set()
        depth = 1 if package.file.kind is FileKind.SDIST else 0
        return {module for name in names if (module := _top_level(name, depth))}


def _top_level(name: str, depth: int) -> str | None:
    """Return the module that an archive member makes importable; sdists have a folder above, and maybe ``src``."""
    parts = name.split("/")[depth:]
    if depth and parts[:1] == ["src"]:
        parts = parts[1:]
    if len(parts) > 2 and parts[0].endswith(".data") and parts[1] in ("purelib", "platlib"):
        parts = parts[2:]
    if not parts or not parts[0] or ".dist-info" in parts[0] or parts[0].endswith((".data", ".libs")):
        return None
    if len(parts) > 1:
        return parts[0]
    return parts[0].split(".")[0] if parts[0].endswith(_SUFFIXES) else None


_ALIKE = 0.84
"""How alike two names must be, as difflib rates it: one wrong, missing or doubled letter in six."""
_MOST = 2
"""Other names have at most so many projects; of names that are merely alike, the likeliest is asked about alone."""


@lru_cache(maxsize=1)
def _other_names() -> dict[str, tuple[str, ...]]:
    """Return the names of modules and the like, with the projects that are meant by them."""
    modules = {canonicalize_name(name): tuple(of) for name, of in data_file("import-names")["modules"].items()}
    return modules | {name: tuple(of) for name, of in data_file("known-names")["meant"].items()}


def meant_by(name: str) -> tuple[str, ...]:
    """Return well-known projects that ``name`` (normalised) may have been written for, the likeliest first."""
    others = [item for item in _other_names().get(name, ()) if item != name]
    if others:
        return tuple(others[:_MOST])
    known: list[str] = data_file("known-names")["names"]["known"]
    return tuple(item for item in difflib.get_close_matches(name, known, 1, _ALIKE) if item != name)
