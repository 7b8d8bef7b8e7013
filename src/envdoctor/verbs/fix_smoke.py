"""The proof at the end of a fix: GPU kernels in the environment, and where each component should run."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from pathlib import Path

from envdoctor.adapters.apply.interpreters import python_of
from envdoctor.adapters.apply.records import read_record
from envdoctor.adapters.smoke.runner import ChildRunner
from envdoctor.adapters.smoke.startup_hook import carried
from envdoctor.model.event import EventKind, TreatmentEvent
from envdoctor.model.kernel import Placement
from envdoctor.model.profile import Profile
from envdoctor.model.report import Report
from envdoctor.planning.patch_selection import expand_variables, select
from envdoctor.planning.placement import moved
from envdoctor.verbs.environment_places import EnvironmentPart
from envdoctor.verbs.environment_settings import needed_settings
from envdoctor.verbs.smoke import smoke
from envdoctor.verbs.undo import Say

__all__ = ["differing", "moved_components", "proved", "second_step", "settings_called_for"]


def proved(part: EnvironmentPart, report: Report, say: Say) -> tuple[Report, list[TreatmentEvent]]:
    """Run the profile's kernels and add what they say to the report; what is to be told comes with it."""
    profile = part.request.profile
    say(TreatmentEvent(EventKind.KERNELS_BEGIN))
    try:
        result = smoke(
            ChildRunner(python_of(part.environment)),
            profile=profile,
            target=part.request.target,
            environment=_variables(part),
            settings=_not_carried(profile),
        )
    except OSError as error:
        return report, [TreatmentEvent(EventKind.NO_KERNELS, detail=str(error))]
    merged = replace(
        report,
        findings=(*report.findings, *result.findings),
        facts=(*report.facts, *result.facts),
        kernels=result.kernels,
        placement=result.placement,
        complete=report.complete and result.complete,
    )
    return merged, [_runs_on(item) for item in result.placement]


def _runs_on(item: Placement) -> TreatmentEvent:
    kind = EventKind.RUNS_ON_BECAUSE if item.because else EventKind.RUNS_ON
    return TreatmentEvent(kind, item.component, detail=item.device, because=item.because)


def _variables(part: EnvironmentPart) -> dict[str, str]:
    """Return the profile's variables without those of placements: these would hide the GPU that is to be proved."""
    record = read_record(part.environment)
    project = record.project if record is not None else ""
    plain = select(part.request.profile, {}).variables
    return expand_variables(dict(plain), project=project, environment=str(part.environment))


def _not_carried(profile: Profile | None) -> tuple[str, ...]:
    """Return the settings of a profile that its environment does not set by itself; the others are proved in it."""
    named = profile.smoke.settings if profile is not None else ()
    return tuple(name for name in named if name not in carried(named))


def settings_called_for(part: EnvironmentPart, report: Report) -> tuple[str, ...]:
    """Return the settings under which alone kernels passed whose components stay on the device."""
    profile = part.request.profile
    return needed_settings(profile, report) if profile is not None else ()


def second_step(
    moved: Collection[str], placed: Collection[str], settings: Collection[str], steps: int
) -> Iterator[TreatmentEvent]:
    """Yield what was placed elsewhere, what is set from now on, and what came back."""
    for kind, names in (
        (EventKind.PLACED, tuple(name for name in moved if name not in placed)),
        (EventKind.SET, tuple(settings)),
        (EventKind.LIFTED, tuple(name for name in placed if name not in moved)),
    ):
        if names:
            yield TreatmentEvent(kind, names=names, steps=steps)


def differing(environment: Path, profile: Profile, report: Report) -> Iterator[TreatmentEvent]:
    """Yield where kernels, run again, place a component elsewhere than a fix of this environment had set."""
    record = read_record(environment)
    if record is None or record.profile != profile.name or not report.placement:
        return
    now = moved_components(profile, report)
    known = {item.component for item in report.placement}
    for name in record.moved:
        if name in known and name not in now:
            yield TreatmentEvent(EventKind.PASSES_NOW, name)
    for name in now:
        if name not in record.moved:
            yield TreatmentEvent(EventKind.TO_BE_PLACED, name)


def moved_components(profile: Profile | None, report: Report) -> dict[str, tuple[str, ...]]:
    """Return the components that their kernels sent away from the GPU, each with the reasons."""
    rules = {rule.component: rule for rule in (profile.placements if profile is not None else ())}
    return {
        item.component: item.because
        for item in report.placement
        if item.component in rules and moved(item, rules[item.component])
    }
