"""The words for what is not known, and for what is refused or rejected because of it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from envdoctor.model.finding import Evidence, Finding, Severity, in_words
from envdoctor.model.refusal import Refusal, RefusalKind
from envdoctor.model.unknown import SubjectKind, Unknown, UnknownKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from envdoctor.model.candidate import Rejection
    from envdoctor.model.conflict import Conflict
    from envdoctor.model.report import Report

__all__ = [
    "bare_reason",
    "message_of",
    "place_of",
    "reason",
    "refusal_text",
    "refusals_text",
    "rejection_detail",
    "unknown_refusals",
    "unknown_text",
    "why_no_repair",
    "worded",
]

_STATUS = {
    401: "it asks for credentials (401); put them in netrc or in the URL",
    403: "it, or a proxy on the way, refuses (403)",
    407: "the proxy asks for credentials (407)",
}
_OF_A_FILE = frozenset({UnknownKind.NO_METADATA, UnknownKind.BAD_METADATA, UnknownKind.ONLY_A_BUILD})
_OF_ALL_LINES = (RefusalKind.CONFLICT, RefusalKind.NO_REPAIR)
_SHOWN = 4
_ONLY_ITS_BUILD = "only its build would tell its dependencies"


def unknown_text(unknown: Unknown) -> str:
    """Return what is not known, and why."""
    why = reason(unknown)
    return f"{unknown.about('`')}: {why}" if why else unknown.about("`")


def reason(unknown: Unknown, *, addressed: bool = True) -> str:
    """Return why it is not known, with the address that was asked where ``addressed``."""
    why = bare_reason(unknown)
    if unknown.kind in _OF_A_FILE:
        return f"{unknown.file}: {why}"
    if unknown.is_of_an_index:
        return f"index {unknown.index} ({unknown.url}): {why}" if addressed else f"index {unknown.index}: {why}"
    return why


def bare_reason(unknown: Unknown) -> str:
    """Return why it is not known, without the index or file that would tell."""
    if unknown.kind is UnknownKind.OFFLINE:
        return "offline and not in the cache"
    if unknown.kind is UnknownKind.ONLY_A_BUILD:
        return f"{unknown.cause}, and {_ONLY_ITS_BUILD}" if unknown.cause else _ONLY_ITS_BUILD
    if unknown.kind is UnknownKind.DIRECT_REFERENCE:
        return f"a direct reference: {unknown.cause}" if unknown.cause else "a direct reference, which is not fetched"
    if unknown.kind is UnknownKind.IN_IMAGE:
        build = "a build that its tag does not tell, or that the index does not have"
        return f"the image `{unknown.cause}` ({unknown.origin}) has it already, in {build}"
    if unknown.kind is UnknownKind.MARKER:
        return _of_marker(unknown.cause)
    if unknown.kind is UnknownKind.NO_REQUIREMENT:
        return "not a requirement"
    if unknown.kind is UnknownKind.MAIN_LIST:
        return "an extra is judged with the main list, which was not asked for"
    if unknown.kind is UnknownKind.OTHER_INDEX:
        return f"its packages come from another index ({unknown.url})"
    if unknown.kind is UnknownKind.NEWER_LEVEL:
        needs, name = f"`{unknown.subject.name}` needs {unknown.cause} or later", unknown.cause.partition(" ")[0]
        return f"{needs}, and nothing tells which the target has (`--{name.lower()}` does)"
    if unknown.kind is UnknownKind.PYTHON_NOT_JUDGED:
        nearest = f"for {unknown.cause}, the nearest that is, it cannot be had"
        return f"nothing is judged for the project's Python, and {nearest}"
    if unknown.kind is UnknownKind.UNSOUND:
        return f"it fails its own check, which is a fault of envdoctor: {_objection(unknown)}"
    return unknown.cause or _STATUS.get(unknown.status or 0, "")


def _of_marker(level: str) -> str:
    if not level:
        return "its marker cannot be evaluated"
    return f"its marker depends on the target's {level}, which nothing tells (`--{level.lower()}` does)"


def _objection(unknown: Unknown) -> str:
    there = f"`{unknown.subject.name}` {unknown.subject.version}" if unknown.subject.version else "nothing"
    if unknown.demand:
        return f"{unknown.origin} asks for `{unknown.demand}`, and {there} is there"
    return f"nothing asks for {there}"


def message_of(finding: Finding) -> str:
    """Return the one sentence of a finding, after the environment that it is about."""
    message = finding.message or _not_checked(finding.unknowns)
    return f"environment `{finding.environment}`: {message}" if finding.environment else message


def _not_checked(unknowns: Sequence[Unknown]) -> str:
    if len(unknowns) == 1:
        return f"could not be checked: {unknown_text(unknowns[0])}"
    named = any(unknown.subject.version or unknown.demand or unknown.is_of_all for unknown in unknowns)
    what = "projects and versions" if named else "projects"
    reasons = {reason(unknown) for unknown in unknowns}
    why = reasons.pop() if len(reasons) == 1 else reason(unknowns[0], addressed=False)
    return f"{len(unknowns)} {what} could not be checked: {why}"


def why_no_repair(report: Report) -> str:
    """Return why a report has no repair."""
    if report.conflicts:
        return "no repair is known"
    if report.complete:
        errors = dict.fromkeys(item.rule for item in report.open_findings if item.severity is Severity.ERROR)
        told = f"; `envdoctor check` says what to try of {in_words(list(errors))}" if errors else ""
        return f"nothing is to be repaired: no requirements conflict{told}"
    reasons = [unknown_text(unknown) for unknown in report.unknowns]
    more = f", and {len(reasons) - 1} more" if len(reasons) > 1 else ""
    why = f": {reasons[0]}{more}" if reasons else ""
    return f"no conflict is known, but not everything could be looked at, see `envdoctor check`{why}"


def rejection_detail(rejection: Rejection) -> str:
    """Return what is told of a rejection beside its kind."""
    return reason(rejection.unknown) if rejection.unknown is not None else rejection.detail


def refusal_text(refusal: Refusal) -> str:
    """Return why something is not done."""
    why = refusal.message if refusal.unknown is None else _refusal(refusal, refusal.unknown)
    if refusal.kind in _OF_ALL_LINES:
        return f"environment `{refusal.environment}`: {why}" if refusal.environment else why
    where = f" (environment `{refusal.environment}`)" if refusal.environment else ""
    if place := place_of(refusal):
        return f"{place}: {why}{where}"
    return f"`{refusal.subject}` cannot be locked: {why}{where}" if refusal.subject else f"{why}{where}"


def place_of(refusal: Refusal) -> str:
    """Return the file and line, the URL, or the part of the work that a refusal is about; empty for a package."""
    unknown = refusal.unknown
    return unknown.about() if unknown is not None and unknown.is_of_all else refusal.place


def refusals_text(refusals: Sequence[Refusal]) -> str:
    """Return the first of several as one sentence, and how many more there are.

    What a person must correct comes first; what is not known for one and the same reason is said once.
    """
    wrong = [refusal_text(refusal) for refusal in refusals if refusal.wrong]
    texts = [*wrong, *unknown_refusals([refusal for refusal in refusals if not refusal.wrong])]
    more = [f"and {len(texts) - _SHOWN} more, see `envdoctor check`"] if len(texts) > _SHOWN else []
    return "; ".join([*texts[:_SHOWN], *more])


def unknown_refusals(refusals: Iterable[Refusal]) -> list[str]:
    """Return what of refusals is not known: packages of which one and the same is not are told together."""
    reasons: dict[str, list[Refusal]] = {}
    for refusal in refusals:
        why = refusal.message if refusal.unknown is None else _refusal(refusal, refusal.unknown)
        alone = not refusal.subject or bool(place_of(refusal)) or refusal.kind in _OF_ALL_LINES
        key = refusal_text(refusal) if alone else f"{why} {refusal.environment}"
        reasons.setdefault(key, []).append(refusal)
    return [_together(group) for group in reasons.values()]


def _together(group: Sequence[Refusal]) -> str:
    first = refusal_text(group[0])
    if len(group) == 1:
        return first
    names = [f"`{refusal.subject}`" for refusal in group[:_SHOWN]]
    last = f"{len(group) - _SHOWN} more" if len(group) > _SHOWN else names.pop()
    return f"{', '.join(names)} and {last}{first.removeprefix(f'`{group[0].subject}`')}"


def _refusal(refusal: Refusal, unknown: Unknown) -> str:
    if unknown.kind is UnknownKind.UNSOUND:
        return reason(unknown)
    if unknown.subject.kind is SubjectKind.INDEX:
        if not refusal.index:
            return bare_reason(unknown)
        why = f"index `{unknown.index}` could not be reached: {bare_reason(unknown)}"
        return f"{why}; what it would add to the others is not known"
    if unknown.subject.version:
        return f"the metadata of its version {unknown.subject.version} could not be read: {reason(unknown)}"
    return reason(unknown)


def worded(report: Report) -> Report:
    """Return the report with the sentences of what is not known, for renderers to show."""
    return replace(
        report,
        findings=tuple(map(_worded, report.findings)),
        conflicts=tuple(map(_told, report.conflicts)),
        parts=tuple(map(worded, report.parts)),
    )


def _worded(finding: Finding) -> Finding:
    seen = tuple(replace(item, where=finding.conflict) if item.of_conflict else item for item in finding.evidence)
    if finding.message:
        seen = (*seen, *(Evidence(bare_reason(unknown), f"index {unknown.index}") for unknown in finding.unknowns))
    return replace(finding, message=message_of(finding), evidence=seen)


def _told(conflict: Conflict) -> Conflict:
    if not any(item.unknown for item in conflict.clash.rejections):
        return conflict
    rejections = tuple(replace(item, detail=rejection_detail(item)) for item in conflict.clash.rejections)
    return replace(conflict, clash=replace(conflict.clash, rejections=rejections))
