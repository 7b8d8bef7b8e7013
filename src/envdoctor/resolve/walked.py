"""Packages that had to go far back in time, and who forced them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta

from packaging.utils import NormalizedName, canonicalize_name
from packaging.version import Version

from envdoctor.model.origin import DistributionOrigin, written_by_a_person
from envdoctor.model.requirement import Requirement
from envdoctor.model.resolution import WalkedBack
from envdoctor.resolve.candidates import CandidateList
from envdoctor.resolve.positions import highest
from envdoctor.resolve.universe import Universe, base_name

__all__ = ["walked_back"]

_LONG = timedelta(days=365)


def walked_back(
    universe: Universe, positions: Mapping[str, int], in_force: Mapping[NormalizedName, Sequence[Requirement]]
) -> tuple[WalkedBack, ...]:
    """Return the packages that are far behind the newest that the target could use, by name.

    Not among them: what a person's own requirement holds back (they know), and what a distribution pins exactly.
    """
    found: list[WalkedBack] = []
    for node in sorted(positions):
        name = base_name(node)
        candidates = universe.candidates(name)
        if name != node or candidates.opaque:
            continue
        newest = highest(universe.newest(name))
        if not _far(candidates, positions[node], newest):
            continue
        demands = in_force.get(name, ())
        excluding = [r for r in demands if not r.specifier.contains(candidates.versions[newest], prereleases=True)]
        if any(written_by_a_person(r.origin) or _exact(r) for r in excluding):
            continue
        forced = tuple(excluding) or tuple(_failing(universe, positions, name, newest, in_force))
        if forced:
            found.append(WalkedBack(name, candidates.versions[positions[node]], candidates.versions[newest], forced))
    return tuple(found)


def _exact(requirement: Requirement) -> bool:
    """Return whether a distribution names the very version it was built with: that is no step back in time."""
    return any(s.operator in ("==", "===") for s in requirement.specifier)


def _far(candidates: CandidateList, chosen: int, newest: int) -> bool:
    """Return whether the chosen version is a release series, or about a year, behind."""
    if chosen >= newest:
        return False
    if _series(candidates.versions[chosen]) != _series(candidates.versions[newest]):
        return True
    before, after = _uploaded(candidates, chosen), _uploaded(candidates, newest)
    return before is not None and after is not None and after - before > _LONG


def _series(version: Version) -> tuple[int, ...]:
    return (version.major,) if version.major else (0, version.minor)


def _uploaded(candidates: CandidateList, position: int) -> datetime | None:
    text = candidates.files[position][0].upload_time
    try:
        return datetime.fromisoformat(text.replace("Z", "+00:00")) if text else None
    except ValueError:
        return None


def _failing(
    universe: Universe,
    positions: Mapping[str, int],
    name: NormalizedName,
    newest: int,
    in_force: Mapping[NormalizedName, Sequence[Requirement]],
) -> Iterator[Requirement]:
    """Yield what the newest version asks for that the resolution does not have, if it was looked at.

    Not what is there for the sake of the version in use alone: the newest one would bring another.
    """
    if not universe.loaded(name, newest):
        return
    version = universe.candidates(name).versions[newest]
    for edge in universe.edges(name, newest):
        usable = edge.bits & universe.candidates(base_name(edge.dependency)).all
        chosen = positions.get(edge.dependency)
        if usable and (chosen is None or edge.bits >> chosen & 1):
            continue
        against = [
            demand
            for demand in in_force.get(base_name(edge.dependency), ())
            if not universe.bits(demand.name, demand.specifier) & usable
        ]
        if not usable or not against or not all(_made_by(demand, name) for demand in against):
            yield edge.requirement(version)


def _made_by(demand: Requirement, name: NormalizedName) -> bool:
    return isinstance(demand.origin, DistributionOrigin) and canonicalize_name(demand.origin.name) == name
