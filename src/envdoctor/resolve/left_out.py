"""What a profile leaves out, told as overrides: whoever asked for it is named, and why nothing answers."""

from __future__ import annotations

from collections.abc import Iterator

from packaging.markers import Marker
from packaging.utils import NormalizedName, canonicalize_name

from envdoctor.model.origin import DistributionOrigin
from envdoctor.model.repair import NOWHERE, Override
from envdoctor.model.requirement import Requirement, RequirementKind
from envdoctor.model.resolution import Resolution, ResolvedPackage
from envdoctor.resolve.universe import Universe

__all__ = ["nothing_instead", "overrides_of_exclusions"]


def nothing_instead(asked: Requirement) -> Requirement:
    """Return what stands in place of a requirement that is left out."""
    return Requirement(asked.name, asked.origin, extras=asked.extras, marker=Marker(NOWHERE))


def overrides_of_exclusions(universe: Universe, resolution: Resolution) -> tuple[Override, ...]:
    """Return one override per excluded project that a person, or a package of the resolution, asks for."""
    if not universe.excluded:
        return ()
    asked: dict[NormalizedName, dict[Requirement, None]] = {}
    for requirement in (*_lines(universe), *_demands(universe, resolution)):
        asked.setdefault(requirement.name, {})[requirement] = None
    return tuple(
        Override(
            nothing_instead(next(iter(asked[exclusion.name]))),
            tuple(asked[exclusion.name]),
            exclusion.because,
            from_profile=True,
        )
        for exclusion in {exclusion.name: exclusion for exclusion in universe.problem.exclusions}.values()
        if exclusion.name in asked
    )


def _lines(universe: Universe) -> Iterator[Requirement]:
    for requirement in universe.problem.requirements:
        asks = requirement.name in universe.excluded and requirement.kind is RequirementKind.REQUIRE
        if asks and universe.counts(requirement):
            yield requirement


def _demands(universe: Universe, resolution: Resolution) -> Iterator[Requirement]:
    for package in resolution.packages:
        for extra in ("", *sorted(package.extras)):
            yield from _of_package(universe, package, extra)


def _of_package(universe: Universe, package: ResolvedPackage, extra: str) -> Iterator[Requirement]:
    metadata = universe.metadata_of(package)
    for parsed in universe.metadata_lines.wanted(metadata, extra) if metadata else ():
        name = canonicalize_name(parsed.name)
        if name in universe.excluded:
            origin = DistributionOrigin(package.name, str(package.version))
            extras = frozenset(canonicalize_name(asked) for asked in parsed.extras)
            yield Requirement(name, origin, parsed.specifier, extras=extras)
