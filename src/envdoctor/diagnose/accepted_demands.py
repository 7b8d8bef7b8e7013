"""Disagreements between installed distributions that somebody accepted on purpose."""

from __future__ import annotations

from typing import TYPE_CHECKING

from envdoctor.diagnose.demand import Demand
from envdoctor.diagnose.installed_demands import marker_environment
from envdoctor.model.finding import Waiver
from envdoctor.model.origin import ProfileOrigin
from envdoctor.model.override import Override, OverrideSource
from envdoctor.model.requirement import may_hold

if TYPE_CHECKING:
    from envdoctor.diagnose.examination import Examination
    from envdoctor.model.environment import InstalledDistribution
    from envdoctor.model.origin import Origin
    from envdoctor.model.profile import Profile
    from envdoctor.model.project import Project

__all__ = ["waiver_for"]


def waiver_for(examination: Examination, demand: Demand, have: InstalledDistribution | None) -> Waiver | None:
    """Return the recorded override that sets ``demand`` aside, None where there is none or it asks for another version.

    Overrides come from the profile, from the project itself, and from the environment's lock.
    """
    markers = marker_environment(examination.environment, examination.target) if examination.environment else None
    consumer = demand.consumer.name
    for override in _of_profile(examination.profile):
        if _sets_aside(override, demand) and _agrees(override, have, markers):
            return Waiver(override.because, _place(examination.profile, override.requirement.origin))
    for override in _of_project(examination.project):
        if _sets_aside(override, demand) and _agrees(override, have, markers):
            return Waiver("the project overrides it", str(override.requirement.origin))
    lock = examination.environment.lock if examination.environment else None
    for override in lock.overrides if lock else ():
        if _sets_aside(override, demand) and _agrees(override, have, markers):
            whose = f"{consumer} -> " if override.replaces else ""
            return Waiver("recorded as an override", f"lock: overrides: {whose}{override.requirement}")
    return None


def _of_profile(profile: Profile | None) -> tuple[Override, ...]:
    return (*profile.overrides, *(item.override() for item in profile.excludes)) if profile else ()


def _of_project(project: Project | None) -> tuple[Override, ...]:
    said = project.overrides if project else ()
    return tuple(Override(requirement, source=OverrideSource.PROJECT) for requirement in said)


def _sets_aside(override: Override, demand: Demand) -> bool:
    return override.name == demand.name and override.replaces_demand_of(demand.consumer.name)


def _agrees(override: Override, have: InstalledDistribution | None, markers: dict[str, str] | None) -> bool:
    """Return whether what is installed is what the override says: a version, or nothing at all."""
    requirement = override.requirement
    if have is None or not may_hold(requirement.marker, markers):
        return have is None and not may_hold(requirement.marker, markers)
    return not requirement.specifier or requirement.specifier.contains(have.version, prereleases=True)


def _place(profile: Profile | None, origin: Origin) -> str:
    """Return the file and key path of an entry; one of the base stands in another file, under another number."""
    if profile is None or not isinstance(origin, ProfileOrigin):
        return str(origin)
    return f"{profile.source if origin.name in ('', profile.name) and profile.source else origin.name}: {origin.key}"
