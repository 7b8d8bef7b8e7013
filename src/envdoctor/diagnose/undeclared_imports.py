"""What packages import without asking for it: found in their wheels, so that a fix brings it along.

faster-whisper 1.0.1 imports ``requests``, which used to come with huggingface-hub and no longer does: everything
installs, and the first import fails. Only packages that people ask for by name are looked at, only pure-Python wheels
of moderate size, only imports that importing the package always reaches, and only modules whose project is known.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator

from packaging.specifiers import SpecifierSet
from packaging.utils import NormalizedName, canonicalize_name
from packaging.version import Version

from envdoctor.diagnose.examination import Examination
from envdoctor.diagnose.module_owners import ModuleOwners
from envdoctor.model.candidate import DistributionFile
from envdoctor.model.dataclass import dataclass
from envdoctor.model.origin import DistributionOrigin
from envdoctor.model.requirement import Requirement
from envdoctor.model.resolution import Resolution
from envdoctor.model.target import Target
from envdoctor.ports import ArchiveReader, IndexUnavailable, MetadataUnavailable

__all__ = ["Undeclared", "undeclared_imports"]

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
    def note(self) -> str:
        """A sentence for the plan."""
        return (
            f"`{self.requirement.name}` is added: {self.requirement.origin} imports `{self.module}` ({self.where}) "
            "without asking for it"
        )


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
        data = archives.read(file, path)
        tree = ast.parse(data or b"")
    except (IndexUnavailable, MetadataUnavailable, SyntaxError, ValueError, RecursionError):
        return
    package = path.rpartition("/")[0].split("/")
    for node in tree.body:
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
