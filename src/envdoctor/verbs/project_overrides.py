"""What the project's own overrides (``[tool.uv] override-dependencies``) set aside, said as it is.

The resolver sees metadata in which an override stands in place of every demand on its package. What comes out names the
distributions' own demands again: rules compare them with what is there, and a lock records who was overruled.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace

from packaging.specifiers import SpecifierSet
from packaging.utils import NormalizedName, canonicalize_name

from envdoctor.diagnose.examination import stated
from envdoctor.model.origin import DistributionOrigin
from envdoctor.model.override import Override, OverrideSource
from envdoctor.model.project import Project
from envdoctor.model.requirement import Requirement, may_hold
from envdoctor.model.resolution import Resolution, ResolvedPackage
from envdoctor.model.target import Target
from envdoctor.ports import Index, IndexUnavailable, MetadataUnavailable
from envdoctor.resolve.diagnosis import Diagnosis
from envdoctor.resolve.requires_dist import MetadataLines

__all__ = ["as_stated", "overrides_of_project"]


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
