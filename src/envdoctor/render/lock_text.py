"""What a person is told of a lock, what it sets aside and leaves open, or why there is none."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from envdoctor.model.finding import Severity
from envdoctor.model.project import LeftOut, ReadingProblem, ReadingProblemKind
from envdoctor.model.refusal import Refusal, RefusalKind
from envdoctor.model.repair import Repair
from envdoctor.model.report import Report
from envdoctor.model.resolution import Resolution
from envdoctor.model.unknown import Unknown, UnknownKind
from envdoctor.render.conflict_wording import set_aside, source_text
from envdoctor.render.plan_text import known_errors
from envdoctor.render.reasons import place_of, refusal_text, unknown_refusals, unknown_text

__all__ = ["lock_notes", "refusal_lines"]

_MOST = 12
_MOST_FAULTS = 3
_MOST_WRONG = 20


def lock_notes(
    report: Report,
    resolution: Resolution,
    repair: Repair | None,
    left_open: Sequence[Unknown] = (),
    problems: Sequence[ReadingProblem] = (),
    *,
    from_lock: bool,
    check: str,
) -> Iterator[str]:
    """Yield the repair that is locked with what it sets aside, errors that stay open, older releases, what pip refuses.

    First comes whose place it takes, where that is a lock for another target.

    ``report`` already counts as accepted what the lock settles. ``left_open``: what is not known of what is locked.
    ``problems``: those of the project's files. ``from_lock``: the repair is the one that the lock on disk has.
    ``check``: the command that lists all of it.
    """
    yield from _another_target(report)
    yield from _repair(report, repair, check, from_lock=from_lock)
    yield from _known(report, check)
    yield from _older(report)
    yield from _mended(resolution)
    yield from _unknown(left_open, check)
    yield from _left_to_others(problems, check)


def _another_target(report: Report) -> Iterator[str]:
    for left in report.scope.not_read:
        if left.reason is LeftOut.ANOTHER_TARGET:
            yield (
                f"`{left.path}` is a lock for {left.detail}: nothing that it accepts counts here, and one that is "
                "written here takes its place; `--output-dir` names another folder"
            )


def _repair(report: Report, repair: Repair | None, check: str, *, from_lock: bool) -> Iterator[str]:
    if repair is None:
        return
    source = "the one chosen before" if from_lock else source_text(report, repair)
    yield f"the lock takes repair {repair.id}{f' ({source})' if source else ''}, which sets aside what was asked for:"
    yield from set_aside(repair, f"; `{check} --verbose` lists them")
    yield from (f"  caution: {caution}" for caution in repair.cautions)


def _known(report: Report, check: str) -> Iterator[str]:
    errors = [item for item in report.open_findings if item.severity is Severity.ERROR]
    warnings = sum(item.severity is Severity.WARNING for item in report.open_findings)
    yield from known_errors(errors, "what is locked", check)
    if warnings:
        number, them = (f"{warnings} warnings are", "them") if warnings > 1 else ("1 warning is", "it")
        yield f"{number} known of what is locked; `{check}` shows {them}"


def _older(report: Report) -> Iterator[str]:
    """Yield which newer releases a newer system alone may have: what is locked stays locked."""
    for item in (item for item in report.open_findings if item.rule == "RES111"):
        yield f"{item.message}{f'; {item.remedy.summary}' if item.remedy is not None else ''}"


def _mended(resolution: Resolution) -> Iterator[str]:
    named = [f"`{package.name}` {package.version}" for package in resolution.packages if package.mended]
    if named:
        yield (
            f"pip 24.1 and later refuse {', '.join(named)}, for the metadata is not valid; uv installs "
            f"{'it' if len(named) == 1 else 'them'}"
        )


def _unknown(left_open: Sequence[Unknown], check: str) -> Iterator[str]:
    for unknown in left_open[:_MOST]:
        more = "; what they are is not in the lock" if unknown.kind is UnknownKind.ONLY_A_BUILD else ""
        yield f"not known: {unknown_text(unknown)}{more}"
    if len(left_open) > _MOST:
        yield f"and {len(left_open) - _MOST} more that is not known; `{check} --verbose` lists it"


_OF_OTHERS = (ReadingProblemKind.UNSUPPORTED, ReadingProblemKind.OF_CONDA)


def _left_to_others(problems: Sequence[ReadingProblem], check: str) -> Iterator[str]:
    left = [item for item in problems if item.kind in _OF_OTHERS]
    yield from (f"not in the lock: {item.message} ({item.origin})" for item in left[:_MOST])
    if len(left) > _MOST:
        yield f"and {len(left) - _MOST} more that is not in the lock; `{check} --verbose` lists it"


def refusal_lines(refusals: Sequence[Refusal], check: str) -> list[str]:
    """Return why there is no lock: each thing that a person must correct, and the first of what was not known.

    ``check``: the command that shows what clashes.
    """
    clashing = [item for item in refusals if item.kind in (RefusalKind.CONFLICT, RefusalKind.NO_REPAIR)]
    if clashing:
        said = "; ".join(map(refusal_text, clashing))
        if any(item.kind is RefusalKind.NO_REPAIR for item in clashing):
            return [f"--repair: {said}"]
        return [f"{said}; `{check}` shows what clashes"]
    wrong = [refusal for refusal in refusals if refusal.wrong][:_MOST_WRONG]
    # What somebody wrote comes before pages that did not come: of those there may be hundreds, all for one reason.
    unknown = sorted((refusal for refusal in refusals if not refusal.wrong), key=lambda refusal: not place_of(refusal))
    told = [] if wrong else unknown_refusals(unknown)
    others = told[:_MOST_FAULTS]
    more = len(refusals) - len(wrong) if wrong else len(told) - len(others)
    return [*map(refusal_text, wrong), *others, *([f"and {more} more"] if more > 0 else [])]
