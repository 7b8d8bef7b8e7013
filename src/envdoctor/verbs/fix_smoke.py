"""The proof at the end of a fix: GPU kernels in the environment, and where each component should run."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from pathlib import Path

from envdoctor.adapters.apply.interpreters import python_of
from envdoctor.adapters.apply.records import read_record
from envdoctor.adapters.smoke.runner import ChildRunner
from envdoctor.adapters.smoke.startup_hook import carried
from envdoctor.model.kernel import Placement
from envdoctor.model.profile import Profile
from envdoctor.model.report import Report
from envdoctor.planning.patch_selection import expand_variables, select
from envdoctor.planning.placement import moved
from envdoctor.verbs.environment_places import EnvironmentPart
from envdoctor.verbs.smoke import smoke
from envdoctor.verbs.startup import needed_settings

__all__ = ["differing", "moved_components", "proved", "settings_called_for", "words_of"]


def proved(part: EnvironmentPart, report: Report, say: Callable[[str], None]) -> tuple[Report, list[str]]:
    """Run the profile's kernels and add what they say to the report; lines to show come with it."""
    profile = part.request.profile
    say("running GPU kernels in the environment (`--no-smoke` leaves them out)")
    try:
        result = smoke(
            ChildRunner(python_of(part.environment)),
            profile=profile,
            target=part.request.target,
            environment=_variables(part),
            settings=_not_carried(profile),
        )
    except OSError as error:
        return report, [f"warning: no kernel could be run: {error}"]
    lines = [_sentence(item) for item in result.placement]
    merged = replace(
        report,
        findings=(*report.findings, *result.findings),
        facts=(*report.facts, *result.facts),
        kernels=result.kernels,
        placement=result.placement,
        complete=report.complete and result.complete,
    )
    return merged, lines


def _sentence(item: Placement) -> str:
    because = f": {'; '.join(item.because)}" if item.because else ""
    return f"`{item.component}` runs on {item.device}{because}"


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


def words_of(moved: Collection[str], placed: Collection[str], settings: Collection[str], steps: int) -> list[str]:
    """Return what was placed elsewhere, what came back and what is set from now on, in words."""
    by = f"by {steps} more step{'' if steps == 1 else 's'}"
    away = ", ".join(f"`{name}`" for name in moved if name not in placed)
    back = ", ".join(f"`{name}`" for name in placed if name not in moved)
    lines = [f"placed {away} {by}"] if away else []
    if settings:
        named = ", ".join(f"`{name}`" for name in settings)
        lines.append(f"{named} set at each start {by}, for kernels that failed without; they are run once more")
    return [*lines, f"lifted the placement of {back} {by}"] if back else lines


def moved_components(part: EnvironmentPart, report: Report) -> dict[str, tuple[str, ...]]:
    """Return the components that their kernels sent away from the GPU, each with the reasons."""
    return _moved(part.request.profile, report)


def differing(environment: Path, profile: Profile, report: Report) -> list[str]:
    """Return where kernels, run again, place a component elsewhere than a fix of this environment had set."""
    record = read_record(environment)
    if record is None or record.profile != profile.name or not report.placement:
        return []
    now = _moved(profile, report)
    known = {item.component for item in report.placement}
    lines = [
        f"`{name}` was placed elsewhere by a fix, and its kernels pass now; `envdoctor fix` lifts that"
        for name in record.moved
        if name in known and name not in now
    ]
    return [*lines, *(f"`envdoctor fix` places `{name}`" for name in now if name not in record.moved)]


def _moved(profile: Profile | None, report: Report) -> dict[str, tuple[str, ...]]:
    rules = {rule.component: rule for rule in (profile.placements if profile is not None else ())}
    return {
        item.component: item.because
        for item in report.placement
        if item.component in rules and moved(item, rules[item.component])
    }
