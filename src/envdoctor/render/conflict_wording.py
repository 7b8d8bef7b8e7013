"""Phrases about conflicts and repairs that the formats share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from envdoctor.model.candidate import RejectionKind
from envdoctor.model.conflict import Clash, ClashSide, Conflict
from envdoctor.model.dataclass import dataclass
from envdoctor.model.finding import in_words
from envdoctor.model.origin import DistributionOrigin
from envdoctor.model.override import Override, OverrideSource
from envdoctor.model.repair import Repair
from envdoctor.model.report import Report
from envdoctor.model.requirement import Requirement
from envdoctor.render.wording import restated, waiver_of

__all__ = [
    "accepted_text",
    "bystanders",
    "chain",
    "explanation_of",
    "override_text",
    "placed",
    "rejection_lines",
    "remedy_text",
    "resolves_text",
    "set_aside",
    "source_text",
    "truncation_text",
]

_MOST_SET_ASIDE = 12

_REJECTIONS = {
    RejectionKind.TAG: "no wheel for this target",
    RejectionKind.REQUIRES_PYTHON: "not for this Python",
    RejectionKind.YANKED: "yanked",
    RejectionKind.UNSURE: "not known to be there",
    RejectionKind.SOURCE_ONLY: "source only",
    RejectionKind.NO_BINARY: "wheels are not allowed",
    RejectionKind.TOO_NEW: "newer than the date allowed",
    RejectionKind.NO_METADATA: "its metadata could not be read",
    RejectionKind.NOT_FOUND: "the index has no such project",
}


def accepted_text(report: Report, conflict: Conflict) -> str:
    """Return what accepts a conflict, and why; empty where it is open."""
    waiver = waiver_of(report, conflict)
    return f"accepted by {waiver.source}: {waiver.reason}" if waiver is not None else ""


def remedy_text(report: Report, conflict: Conflict) -> str:
    """Return what the finding of a conflict advises, where no repair says it.

    Another Python or another name is never among the repairs: a line that alone cannot be met keeps its advice.
    """
    finding = restated(report, conflict)
    if finding is None or finding.remedy is None:
        return ""
    repaired = any(conflict.id in item.resolves for item in report.repairs)
    return "" if repaired and len(conflict.core) > 1 else finding.remedy.summary


def truncation_text(report: Report) -> str:
    """Return that not every conflict is listed, where the search was cut short."""
    if not report.conflicts:
        return "The search for conflicts was cut short before it found one"
    return "There may be more conflicts than these; mend some and check again"


def resolves_text(report: Report, repair: Repair) -> str:
    """Return which conflicts a repair resolves: ``resolves C1 and C2``, ``resolves all 5 conflicts``."""
    if not repair.resolves:
        return ""
    if len(repair.resolves) > 2 and len(repair.resolves) == len(report.conflicts):
        return f"resolves all {len(report.conflicts)} conflicts"
    return f"resolves {in_words(repair.resolves)}"


def source_text(report: Report, repair: Repair) -> str:
    """Return who decided on a repair before: the profile, the lock that it was written to, or both."""
    if not repair.from_profile:
        return ""
    sources = {override.source for override in repair.overrides}
    found = {OverrideSource.LOCK, OverrideSource.SEARCH}
    told = ["the profile"] * bool(report.profile and sources - found) + ["the lock"] * (OverrideSource.LOCK in sources)
    whose = " and ".join(told) or ("the profile" if report.profile else "the lock")
    return f"beside the overrides of {whose}" if OverrideSource.SEARCH in sources else f"from {whose}"


def bystanders(conflict: Conflict) -> list[str]:
    """Return the members of a core at which no chain starts: what they rule out makes the others clash."""
    starts = {chain(conflict, side)[0] for side in conflict.clash.sides}
    return [str(item) for item in conflict.core if str(item) not in starts]


def chain(conflict: Conflict, side: ClashSide) -> list[str]:
    """Return the way from what a person wrote down to the demand, one entry a step.

    ``coqui-tts==0.24.2``, ``transformers``, ``transformers 4.42.4 depends on tokenizers<0.20``. Where a person made
    the demand, it stands alone; the members of a core are listed with their places elsewhere.
    """
    origin = side.requirement.origin
    if not isinstance(origin, DistributionOrigin):
        return [str(side.requirement)]
    names = list(side.via) or [origin.name]
    top = next((str(item) for item in conflict.core if item.name == names[0]), names[0])
    # The versions considered all refuse, but not all with the same bound: only one can be quoted.
    count = len(side.versions_considered)
    others = f"; none of the {count} versions considered fits" if count > 1 else ""
    if origin.coupling:
        return [top, *names[1:], f"the binaries of {origin} need {side.requirement}{others}"]
    for_it = f"{origin.instead_of}, for which it gets " if origin.instead_of else ""
    return [top, *names[1:], f"{origin} depends on {for_it}{side.requirement}{others}"]


def explanation_of(conflict: Conflict) -> Iterator[str]:
    """Yield what ``explain`` says of a conflict beyond ``check``: whose versions were tried, and what may go."""
    clash = conflict.clash
    for side in clash.sides:
        if len(side.versions_considered) > 1 and isinstance(side.requirement.origin, DistributionOrigin):
            tried = ", ".join(side.versions_considered)
            yield f"versions of {side.requirement.origin.name} that were tried, none of which fits: {tried}"
    bounds = list(dict.fromkeys(str(side.requirement.specifier) for side in clash.sides if side.requirement.specifier))
    # Other versions of what demands may demand something else, and only one demand is quoted.
    if len(bounds) > 1 and not bystanders(conflict) and all(len(s.versions_considered) < 2 for s in clash.sides):
        yield f"no version of {clash.package} that this target can have meets {in_words(bounds)}"
    if conflict.python:
        yield f"on Python {conflict.python} they can be installed together"
    if len(conflict.core) > 1:
        yield "any one of these lines may go; the others can then be installed:"
        for item in conflict.core:
            left = [side.requirement for side in clash.sides if chain(conflict, side)[0] != str(item)]
            told = list(dict.fromkeys(f"{clash.package}{one.specifier}" for one in left if one.specifier))
            yield f"- without {placed(item)}{f', {in_words(told)} is asked for' if told else ''}"


def rejection_lines(clash: Clash) -> list[str]:
    """Return why what would have answered cannot be used, one line a reason, with a file or version to name."""
    groups: dict[str, list[str]] = {}
    for item in clash.rejections:
        subject = item.filename or f"{item.project} {item.version or ''}".rstrip()
        # A tag that the file's name already shows would make a group of every file.
        told = not item.detail or item.detail in subject or item.detail == _REJECTIONS[item.kind]
        reason = _REJECTIONS[item.kind] if told else f"{_REJECTIONS[item.kind]}: {item.detail}"
        groups.setdefault(reason, []).append(subject)
    return [f"{names[0]}{_and_more(names)}: {reason}" for reason, names in groups.items()]


def _and_more(names: Sequence[str]) -> str:
    return f" and {len(names) - 1} more" if len(names) > 1 else ""


def placed(requirement: Requirement) -> str:
    """Return a requirement with the place it was written: ``torch==2.7 (requirements.txt:1)``."""
    return f"{requirement} ({requirement.origin})"


@dataclass(frozen=True, slots=True)
class RepairLine:
    """What one override does, what it sets aside besides, and why, where the action does not say it."""

    action: str
    aside: tuple[str, ...] = ()
    because: str = ""


def override_text(override: Override) -> RepairLine:
    """Return what an override does: ``replace X with Y``, or ``leave out X: why``; and what else it sets aside."""
    if not override.sets_aside:
        why = f"; {override.because}" if override.because else ""
        return RepairLine(f"add {override.requirement}{why}")
    first, *others = override.sets_aside
    if override.leaves_out:
        why = f": {override.because}" if override.because else ""
        left = f"replace {placed(first)} with {override.instead}" if override.instead else f"leave out {placed(first)}"
        return RepairLine(f"{left}{why}", tuple(placed(item) for item in others))
    written = f"replace {placed(first)} with {override.requirement}"
    if override.because and not override.from_profile:
        written += f"; {override.because}"
    because = override.because if override.from_profile else ""
    return RepairLine(written, tuple(placed(item) for item in others), because)


def set_aside(repair: Repair, more: str = "") -> Iterator[str]:
    """Yield what a repair sets aside, a line each, and ``more`` behind how many there are besides."""
    lines = [line for override in repair.overrides for line in _aside(override)]
    yield from (f"  {line}" for line in lines[:_MOST_SET_ASIDE])
    if len(lines) > _MOST_SET_ASIDE:
        yield f"  and {len(lines) - _MOST_SET_ASIDE} more{more}"


def _aside(override: Override) -> Iterator[str]:
    instead = "left out" if override.leaves_out else f"replaced by `{override.requirement}`"
    if override.instead is not None:
        instead = f"replaced by `{override.instead}`"
    if not override.sets_aside:
        yield f"`{override.requirement}`: added; {override.because}"
    yield from (f"`{aside}` ({aside.origin}): {instead}" for aside in override.sets_aside)
