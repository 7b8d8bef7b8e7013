"""Lower bounds that a repair sets aside: the code that asked for them may need what is not there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from packaging.specifiers import Specifier
from packaging.version import InvalidVersion, Version

from envdoctor.model.origin import DistributionOrigin
from envdoctor.model.repair import Override
from envdoctor.model.requirement import Requirement
from envdoctor.model.resolution import Resolution, ResolvedPackage

__all__ = ["another_series", "lowered"]

_LOWER_BOUNDS = (">=", ">", "~=", "==", "===")


def lowered(overrides: Iterable[Override], resolution: Resolution) -> Iterator[tuple[ResolvedPackage, Requirement]]:
    """Yield the packages that end below what somebody asked for, with the demand; not where a profile says why."""
    for override in overrides:
        package = resolution.get(override.requirement.name)
        if package is None or override.from_profile or override.because:
            continue
        yield from ((package, aside) for aside in override.sets_aside if _bound_above(package.version, aside))


def another_series(overrides: Iterable[Override], resolution: Resolution) -> bool:
    """Return whether a distribution gets an older major version than it asks for (of 0.x: an older minor one)."""
    return any(
        isinstance(aside.origin, DistributionOrigin)
        and (bound := _bound_above(package.version, aside)) is not None
        and _series(bound) != _series(package.version)
        for package, aside in lowered(overrides, resolution)
    )


def _bound_above(version: Version, requirement: Requirement) -> Version | None:
    """Return the lower bound that a version does not reach, None where it does."""
    if requirement.specifier.contains(version, prereleases=True):
        return None
    bounds = (_bound(clause) for clause in requirement.specifier if clause.operator in _LOWER_BOUNDS)
    return max((bound for bound in bounds if bound is not None and version < bound), default=None)


def _bound(clause: Specifier) -> Version | None:
    try:
        return Version(clause.version.removesuffix(".*"))
    except InvalidVersion:
        return None


def _series(version: Version) -> tuple[int, ...]:
    return (version.major,) if version.major else (0, version.minor)
