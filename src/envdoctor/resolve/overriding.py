"""What a relaxation comes to, once resolved: which requirement is replaced by which pin."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from packaging.specifiers import SpecifierSet
from packaging.utils import NormalizedName

from envdoctor.model.origin import ProfileOrigin
from envdoctor.model.repair import Override, VersionChange
from envdoctor.model.requirement import Requirement
from envdoctor.model.resolution import Resolution
from envdoctor.resolve.left_out import nothing_instead
from envdoctor.resolve.lines import Line
from envdoctor.resolve.relax import Element, Relaxation

__all__ = ["changes_of", "effective", "overrides_of"]


def overrides_of(lines: Sequence[Line], resolution: Resolution, relaxation: Relaxation) -> tuple[Override, ...]:
    """Return one override per project: the lines, and the demands that would not have held, which it replaces."""
    aside: dict[NormalizedName, list[Requirement]] = {}
    for line in lines:
        if line.id in relaxation.lines:
            aside.setdefault(line.requirement.name, []).extend(line.written)
    for _, requirement in _broken_demands(resolution, relaxation):
        aside.setdefault(requirement.name, []).append(requirement)
    return tuple(_override(tuple(found), resolution, relaxation) for found in aside.values())


def effective(lines: Sequence[Line], resolution: Resolution, relaxation: Relaxation) -> frozenset[Element]:
    """Return the elements of a relaxation without which its resolution would not hold."""
    found: set[Element] = {owner for owner, _ in _broken_demands(resolution, relaxation)}
    for line in lines:
        if line.id in relaxation.lines and not _holds(line.requirement, resolution):
            found.add(line.id)
    return frozenset(found)


def changes_of(lines: Sequence[Line], resolution: Resolution, relaxation: Relaxation) -> tuple[VersionChange, ...]:
    """Return the pins of people that come out different."""
    found: dict[NormalizedName, VersionChange] = {}
    for line in lines:
        package = resolution.get(line.requirement.name)
        if line.id in relaxation.lines and package is not None and not _holds(line.requirement, resolution):
            change = VersionChange(package.name, _pinned(line.requirement), str(package.version))
            found.setdefault(package.name, change)
    return tuple(found.values())


def _broken_demands(
    resolution: Resolution, relaxation: Relaxation
) -> Iterator[tuple[tuple[NormalizedName, NormalizedName], Requirement]]:
    """Yield the demands of distributions that are set aside and do not hold."""
    for package in resolution.packages:
        for requirement in package.dependencies:
            if relaxation.sets_aside(package.name, requirement.name) and not _holds(requirement, resolution):
                yield (package.name, requirement.name), requirement


def _holds(requirement: Requirement, resolution: Resolution) -> bool:
    package = resolution.get(requirement.name)
    return package is not None and requirement.specifier.contains(package.version, prereleases=True)


def _override(aside: tuple[Requirement, ...], resolution: Resolution, relaxation: Relaxation) -> Override:
    first = aside[0]
    declared = relaxation.overrides.get(first.name)
    because = declared.because if declared is not None else ""
    from_profile = declared is not None and isinstance(declared.requirement.origin, ProfileOrigin)
    package = resolution.get(first.name)
    if package is None:
        instead = declared.requirement if declared is not None else nothing_instead(first)
        return Override(instead, aside, because, from_profile)
    base = declared.requirement if declared is not None else first
    pin = SpecifierSet(f"=={package.version}")
    return Override(replace(base, specifier=pin, extras=first.extras, text="", hashes=()), aside, because, from_profile)


def _pinned(requirement: Requirement) -> str:
    """Return ``2.7`` of ``==2.7``, else the specifier as it stands."""
    text = str(requirement.specifier)
    return text.lstrip("=") if text.startswith("==") and "," not in text else text
