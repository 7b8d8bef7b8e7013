"""Disagreements between installed distributions that somebody accepted on purpose."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from packaging.utils import canonicalize_name

from envdoctor.diagnose.installed_demands import Demand, marker_environment, parse_requirement
from envdoctor.model.finding import Waiver
from envdoctor.model.origin import ProfileOrigin
from envdoctor.model.requirement import may_hold

if TYPE_CHECKING:
    from packaging.requirements import Requirement

    from envdoctor.diagnose.examination import Examination
    from envdoctor.model.environment import InstalledDistribution
    from envdoctor.model.origin import Origin
    from envdoctor.model.profile import Profile

__all__ = ["waiver_for"]


@dataclass(frozen=True, slots=True)
class _Override:
    name: str
    accepts: Requirement | None
    """None: the project is left out on purpose."""
    consumers: frozenset[str]
    """Whose demands are set aside; empty: everybody's."""
    waiver: Waiver


def waiver_for(examination: Examination, demand: Demand, have: InstalledDistribution | None) -> Waiver | None:
    """Return the recorded override that sets ``demand`` aside, None where there is none or it asks for another version.

    Overrides come from the profile, and from ``details["overrides"]`` of the environment: what its lock recorded.
    """
    for override in _overrides(examination):
        if override.name != demand.name or (override.consumers and demand.consumer.name not in override.consumers):
            continue
        if _satisfied(override, have):
            return override.waiver
    return None


def _satisfied(override: _Override, have: InstalledDistribution | None) -> bool:
    if have is None or override.accepts is None:
        return have is None and override.accepts is None
    return override.accepts.specifier.contains(have.version, prereleases=True) or not override.accepts.specifier


def _overrides(examination: Examination) -> Iterator[_Override]:
    markers = marker_environment(examination.environment, examination.target) if examination.environment else None
    profile = examination.profile
    if profile is not None:
        for number, item in enumerate(profile.overrides):
            names = frozenset(canonicalize_name(name) for name in item.replaces if name != "project")
            if item.replaces and not names:
                continue
            waiver = Waiver(item.because, _place(profile, item.requirement.origin, f"override[{number}]"))
            requirement = parse_requirement(item.requirement.pep508)
            yield _Override(item.requirement.name, _unless_left_out(requirement, markers), names, waiver)
        for number, exclusion in enumerate(profile.excludes):
            waiver = Waiver(exclusion.because, _place(profile, exclusion.origin, f"exclude[{number}]"))
            yield _Override(exclusion.name, None, frozenset(), waiver)
    environment = examination.environment
    recorded = environment.details.get("overrides") if environment is not None else None
    if isinstance(recorded, Iterable) and not isinstance(recorded, (str, bytes)):
        yield from _recorded(recorded, markers)


def _place(profile: Profile, origin: Origin | None, key: str) -> str:
    """Return the file and key path of an entry; one of the base stands in another file, under another number."""
    if not isinstance(origin, ProfileOrigin):
        return f"{profile.source or profile.name}: {key}"
    return f"{profile.source if origin.name == profile.name and profile.source else origin.name}: {origin.key}"


def _recorded(lines: Iterable[object], markers: dict[str, str] | None) -> Iterator[_Override]:
    for line in lines:
        consumer, arrow, text = str(line).rpartition("->")
        requirement = parse_requirement(text.strip())
        if requirement is None:
            continue
        consumers = frozenset({canonicalize_name(consumer.strip())}) if arrow else frozenset()
        waiver = Waiver("recorded as an override", f"lock: overrides: {line}")
        yield _Override(canonicalize_name(requirement.name), _unless_left_out(requirement, markers), consumers, waiver)


def _unless_left_out(requirement: Requirement | None, markers: dict[str, str] | None) -> Requirement | None:
    # `name ; python_version < "0"` is how uv's overrides say "not at all".
    if requirement is None or not may_hold(requirement.marker, markers):
        return None
    return requirement
