"""An index as the project's own settings make it count, and its overrides as a lock records them.

``pip install --no-deps`` installs a package and leaves its demands aside; what conda installs, conda holds together.
Both are the project's own words, and no conflict is found in what they set aside.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any
from urllib.parse import unquote

from packaging.requirements import InvalidRequirement
from packaging.requirements import Requirement as Pep508
from packaging.specifiers import SpecifierSet
from packaging.utils import NormalizedName, canonicalize_name
from packaging.version import Version

from envdoctor.model.candidate import CoreMetadata, DistributionFile, ProjectPage
from envdoctor.model.origin import FileOrigin
from envdoctor.model.override import Override, OverrideSource
from envdoctor.model.project import Project, ReadingProblem, ReadingProblemKind
from envdoctor.model.requirement import Requirement, RequirementKind, may_hold
from envdoctor.model.resolution import Resolution
from envdoctor.model.target import Target
from envdoctor.ports import Index, IndexUnavailable, ProjectNotFound

__all__ = ["as_the_project_says", "left_to_conda", "overrides_of_project"]

_OF_WHEELS = Version("2.6")


def as_the_project_says(index: Index, project: Project, target: Target) -> Index:
    """Return the index, with the demands of its metadata as the project's own settings leave them."""
    alone = without_demands(project, target)
    conda = _names_of_conda(project)
    places, beside = _local_wheels(project), _beside_image(project)
    if not alone and len(conda) < 2 and not places and not beside:
        return index
    return ProjectIndex(index, alone, conda, places, beside)


def _beside_image(project: Project) -> frozenset[tuple[NormalizedName, NormalizedName]]:
    """Return the image's torch with each of its libraries that a line names: conda's builds ask pip for none of them.

    PyTorch's images have conda's builds up to 2.5.
    """
    own = [one.name for one in project.brought if one.name == "torch" and one.version and one.version < _OF_WHEELS]
    lines = {line.name for line in project.requirements if own}
    return frozenset((name, line) for name in own for line in lines if line.startswith("nvidia-") or line == "triton")


def _local_wheels(project: Project) -> dict[str, str]:
    """Return the wheels that lines name by a path, as the line says it, each with its whole URL."""
    lines = [*project.requirements, *(line for group in project.groups for line in group.requirements)]
    found: dict[str, str] = {}
    for line in lines:
        if line.url is None or "://" in line.url.removeprefix("file://") or not isinstance(line.origin, FileOrigin):
            continue
        address, mark, fragment = line.url.removeprefix("file://").partition("#")
        path = unquote(address)
        with suppress(OSError, ValueError):
            whole = (Path(project.root, line.origin.path).parent / path.replace("\\", "/")).resolve()
            if whole.suffix == ".whl" and whole.is_file():
                found[line.url] = f"{whole.as_uri()}{mark}{fragment}"
    return found


def _names_of_conda(project: Project) -> frozenset[NormalizedName]:
    """Return the packages that conda alone is asked for, by the lists that nobody asked for as well."""
    lines = [*project.requirements, *(line for group in project.groups for line in group.requirements)]
    return frozenset(line.name for line in lines if line.conda) - {line.name for line in lines if not line.conda}


def left_to_conda(project: Project, index: Index) -> Project:
    """Return the project without the lines of conda's files that no Python index can answer, each with a note.

    conda's channels have packages and versions of their own: an index that lacks them refutes nothing.
    """
    lines = [*project.requirements, *(line for group in project.groups for line in group.requirements)]
    of_conda = [line for line in lines if line.conda]
    if not of_conda:
        return project
    index.prefetch_pages({line.name for line in of_conda})
    gone = {line for line in of_conda if not _on_index(line, index)}
    missing = [line for line in project.requirements if line in gone]
    return replace(
        project,
        requirements=_kept(project.requirements, gone),
        groups=tuple(replace(group, requirements=_kept(group.requirements, gone)) for group in project.groups),
        problems=(*project.problems, *map(_note, missing)),
        # Where conda installs all of it, nothing is left that could be judged.
        unread=(*project.unread, *(("conda",) if missing and len(missing) == len(project.requirements) else ())),
    )


def _kept(lines: Sequence[Requirement], gone: Collection[Requirement]) -> tuple[Requirement, ...]:
    return tuple(line for line in lines if line not in gone)


def _on_index(line: Requirement, index: Index) -> bool:
    try:
        versions = index.page(line.name).versions
    except ProjectNotFound:
        return False
    except IndexUnavailable:
        return True
    return any(line.admits(version) for version in versions)


def _note(line: Requirement) -> ReadingProblem:
    assert isinstance(line.origin, FileOrigin)  # noqa: S101 - only files have conda's lines
    message = f"`{line}` is a package of conda's channels that no Python index has so; it is left to conda"
    return ReadingProblem(ReadingProblemKind.OF_CONDA, line.origin, message, str(line))


def without_demands(project: Project, target: Target) -> frozenset[NormalizedName]:
    """Return the packages that every line which asks for them installs with ``--no-deps``."""
    environment = target.marker_environment()
    whole: set[NormalizedName] = set()
    bare: set[NormalizedName] = set()
    for line in project.requirements:
        if line.kind is RequirementKind.REQUIRE and may_hold(line.marker, environment):
            (bare if line.no_deps else whole).add(line.name)
    return frozenset(bare - whole)


class ProjectIndex:
    """Hands everything on to another index, but the demands that a project sets aside."""

    def __init__(
        self,
        inner: Index,
        alone: frozenset[NormalizedName] = frozenset(),
        conda: frozenset[NormalizedName] = frozenset(),
        places: Mapping[str, str] = MappingProxyType({}),
        beside: frozenset[tuple[NormalizedName, NormalizedName]] = frozenset(),
    ) -> None:
        self.inner = inner
        self._alone = alone
        self._conda = conda
        self._places = places
        self._beside = beside
        self._known: dict[str, CoreMetadata] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def page(self, name: NormalizedName) -> ProjectPage:
        """Return the project's files; see ``Index``."""
        return self.inner.page(name)

    def prefetch_pages(self, names: Iterable[NormalizedName]) -> None:
        """Start fetching pages; see ``Index``."""
        self.inner.prefetch_pages(names)

    def prefetch_metadata(self, files: Iterable[DistributionFile]) -> None:
        """Start fetching metadata; see ``Index``."""
        self.inner.prefetch_metadata(files)

    def stated(self, file: DistributionFile) -> CoreMetadata:
        """Return core metadata with nothing set aside."""
        return self.inner.metadata(file)

    def metadata(self, file: DistributionFile) -> CoreMetadata:
        """Return core metadata with the demands that count; see ``Index``."""
        if file.filename not in self._known:
            found = self.inner.metadata(replace(file, url=self._places.get(file.url, file.url)))
            lines = () if found.name in self._alone else tuple(self._lines(found))
            self._known[file.filename] = replace(found, requires_dist=lines)
        return self._known[file.filename]

    def _lines(self, found: CoreMetadata) -> Iterator[str]:
        """Yield what counts: how conda's packages hold together is told by conda's metadata, not by the index's."""
        of_conda = found.name in self._conda
        owners = {owner for owner, _ in self._beside}
        for line in found.requires_dist:
            try:
                name = canonicalize_name(Pep508(line).name) if of_conda or found.name in owners else ""
            except InvalidRequirement:
                name = ""
            if not (of_conda and name in self._conda) and (found.name, name) not in self._beside:
                yield line


def overrides_of_project(
    project: Project, resolution: Resolution, spoken_of: Collection[NormalizedName]
) -> Iterator[Override]:
    """Yield the project's overrides that set something aside, with the versions that came out.

    ``spoken_of``: projects of which a repair speaks already.
    """
    for requirement in {item.name: item for item in project.overrides}.values():
        package = resolution.get(requirement.name)
        if package is None or requirement.name in spoken_of:
            continue
        aside = [item for item in package.set_aside if not item.admits(package.version)]
        if aside:
            pin = SpecifierSet(f"=={package.version}")
            instead = replace(requirement, specifier=pin, extras=frozenset(), url=None, marker=None, text="")
            yield Override(requirement, source=OverrideSource.PROJECT).resolved(instead, aside)
