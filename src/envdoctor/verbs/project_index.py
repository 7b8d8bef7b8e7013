"""An index as the project's own settings make it count: demands that it overrides, and packages without their demands.

uv's ``override-dependencies`` take the place of every demand on a package; ``pip install --no-deps`` installs a package
and leaves its demands aside. Both are the project's own words, and no conflict is found in what they set aside. What
conda installs, conda holds together.

What comes out names the distributions' own demands again: rules compare them with what is there, and a lock records who
was overruled.
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

from envdoctor.diagnose.examination import stated
from envdoctor.model.candidate import CoreMetadata, DistributionFile, ProjectPage
from envdoctor.model.origin import DistributionOrigin, FileOrigin
from envdoctor.model.override import Override, OverrideSource
from envdoctor.model.project import Project, ReadingProblem, ReadingProblemKind
from envdoctor.model.requirement import Requirement, RequirementKind, both_markers, may_hold
from envdoctor.model.resolution import Resolution, ResolvedPackage
from envdoctor.model.target import Target
from envdoctor.ports import Index, IndexUnavailable, MetadataUnavailable, ProjectNotFound
from envdoctor.resolve.diagnosis import Diagnosis
from envdoctor.resolve.requires_dist import MetadataLines

__all__ = ["as_stated", "as_the_project_says", "left_to_conda", "overrides_of_project"]


def as_the_project_says(index: Index, project: Project, target: Target) -> Index:
    """Return the index, with the demands of its metadata as the project's own settings leave them."""
    alone = without_demands(project, target)
    conda = _names_of_conda(project)
    places = _local_wheels(project)
    if not project.overrides and not alone and len(conda) < 2 and not places:
        return index
    return ProjectIndex(index, project.overrides, alone, conda, places)


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
        overrides: Sequence[Requirement] = (),
        alone: frozenset[NormalizedName] = frozenset(),
        conda: frozenset[NormalizedName] = frozenset(),
        places: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self.inner = inner
        self._overrides: dict[NormalizedName, list[Requirement]] = {}
        for override in overrides:
            self._overrides.setdefault(override.name, []).append(override)
        self._alone = alone
        self._conda = conda
        self._places = places
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
        for line in found.requires_dist:
            try:
                parsed = Pep508(line)
            except InvalidRequirement:
                yield line
                continue
            name = canonicalize_name(parsed.name)
            if found.name in self._conda and name in self._conda:
                continue  # How conda's packages hold together is told by conda's metadata, not by the index's.
            overrides = self._overrides.get(name)
            if overrides is None:
                yield line
                continue
            extras = frozenset(map(canonicalize_name, parsed.extras))
            for override in overrides:
                yield replace(override, extras=extras, marker=both_markers(parsed.marker, override.marker)).pep508


def as_stated(diagnosis: Diagnosis, project: Project | None, target: Target, index: Index) -> Diagnosis:
    """Return the diagnosis with what distributions ask for themselves; what the project overrides is set aside."""
    if project is None or not project.overrides:
        return diagnosis
    used = diagnosis.resolution
    return replace(
        diagnosis,
        resolution=_stated(used, project, target, index) if used else None,
        resolutions={name: _stated(one, project, target, index) for name, one in diagnosis.resolutions.items()},
    )


def _stated(resolution: Resolution, project: Project, target: Target, index: Index) -> Resolution:
    names = {override.name for override in project.overrides}
    lines = MetadataLines(target, {})
    stated_by = {package.name: tuple(_demands(package, index, lines, names)) for package in resolution.packages}
    environment = target.marker_environment()
    said = [override for override in project.overrides if may_hold(override.marker, environment)]
    packages = []
    for package in resolution.packages:
        mine = [demand for demand in stated_by[package.name] if resolution.get(demand.name)]
        package = replace(package, dependencies=_in_place(package.dependencies, mine, names))
        if package.name in names:
            aside = [demand for demands in stated_by.values() for demand in demands if demand.name == package.name]
            package = _overruled(package, [override for override in said if override.name == package.name], aside)
        packages.append(package)
    return replace(resolution, packages=tuple(packages))


def _demands(
    package: ResolvedPackage, index: Index, lines: MetadataLines, names: Iterable[NormalizedName]
) -> Iterator[Requirement]:
    """Yield what a package's own metadata asks of the overridden projects."""
    try:
        metadata = stated(index, package.file)
    except (IndexUnavailable, MetadataUnavailable):
        return
    origin = DistributionOrigin(package.name, str(package.version))
    for extra in ("", *sorted(package.extras)):
        for parsed in lines.wanted(metadata, extra):
            name = canonicalize_name(parsed.name)
            if name in names:
                extras = frozenset(canonicalize_name(item) for item in parsed.extras)
                yield Requirement(name, origin, parsed.specifier, extras=extras, url=parsed.url)


def _in_place(
    dependencies: Sequence[Requirement], own: Sequence[Requirement], names: Iterable[NormalizedName]
) -> tuple[Requirement, ...]:
    """Return the dependencies, with the package's own words where an override stood."""
    kept = [item for item in dependencies if item.name not in names or not _of_metadata(item)]
    return tuple(dict.fromkeys((*kept, *own)))


def _overruled(package: ResolvedPackage, said: Sequence[Requirement], aside: Sequence[Requirement]) -> ResolvedPackage:
    """Return an overridden package: the override is in force, and nothing that distributions ask for."""
    others = [item for item in package.wanted_by if not _of_metadata(item)]
    there = {(str(item), item.origin) for item in others}
    wanted = (*others, *(item for item in said if (str(item), item.origin) not in there))
    kept = [item for item in package.set_aside if not _of_metadata(item)]
    return replace(package, wanted_by=wanted, set_aside=tuple(dict.fromkeys((*kept, *aside))))


def _of_metadata(requirement: Requirement) -> bool:
    return isinstance(requirement.origin, DistributionOrigin) and not requirement.origin.coupling


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
