"""What a report speaks of, in lines: the same ones in every format for readers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from envdoctor.model.project import LeftOut
from envdoctor.render.reasons import reason

if TYPE_CHECKING:
    from envdoctor.model.conflict import GroupOutcome
    from envdoctor.model.project import FileLeftOut
    from envdoctor.model.report import Report, Scope

__all__ = ["holds", "scope_lines", "why"]

_MOST = 6
_TOLD = (LeftOut.DENIED, LeftOut.ANOTHER_TARGET)
"""Reasons that are always said."""


def scope_lines(report: Report, *, everything: bool = False) -> tuple[tuple[str, str], ...]:
    """Return what was looked at, as labels and texts; none where a report has no scope.

    Without ``everything`` long lists are cut, and what is usual is left out.
    """
    return tuple(_lines(report.scope, everything=everything))


def _lines(scope: Scope, *, everything: bool) -> Iterator[tuple[str, str]]:
    most = None if everything else _MOST
    read = [f"{one.path} ({one.form})" if everything else one.path for one in scope.read]
    if read:
        yield "read", _listed(read, most)
    if scope.asked:
        yield "asked for", _listed([str(name) for name in scope.asked], most)
    if scope.beside:
        yield "beside it, deciding nothing", _listed([_outcome(one) for one in scope.beside], most)
    if scope.not_read:
        left = [_left_out(one, everything=everything) for one in scope.not_read]
        yield "not read", _listed(left, most)
    if scope.environments:
        yield "environment", ", ".join(scope.environments)
    if everything and scope.index_settings:
        yield "index", ", ".join(f"{one.value} ({one.origin})" for one in scope.index_settings)
    if everything and scope.target_facts:
        yield "target", ", ".join(f"{one.name} {one.value} ({one.origin})" for one in scope.target_facts)


def _left_out(one: FileLeftOut, *, everything: bool) -> str:
    if not everything and one.reason not in _TOLD:
        return one.path
    return f"{one.path} ({one.reason.value}{f': {one.detail}' if one.detail else ''})"


def _listed(texts: Sequence[str], most: int | None) -> str:
    if most is None or len(texts) <= most:
        return ", ".join(texts)
    return f"{', '.join(texts[:most])} and {len(texts) - most} more"


def holds(outcome: GroupOutcome) -> bool | None:
    """Return whether a list beside the main one holds on the target; None where it was not judged."""
    return None if outcome.unknown is not None else not (outcome.conflicts or outcome.without_file)


def why(outcome: GroupOutcome) -> str:
    """Return why it was not judged or does not hold here, or where else; empty where that is all."""
    if outcome.unknown is not None:
        return reason(outcome.unknown)
    if outcome.conflicts or not outcome.without_file:
        return f"holds on {outcome.elsewhere}" if outcome.elsewhere else ""
    more = f" and {len(outcome.without_file) - 1} more" if len(outcome.without_file) > 1 else ""
    return f"none of the files that it names of {outcome.without_file[0]}{more} can be used"


def _outcome(outcome: GroupOutcome) -> str:
    said = why(outcome)
    if outcome.unknown is not None:
        return f"{outcome.name} (not judged: {said})"
    if holds(outcome):
        return f"{outcome.name} (holds)"
    if not outcome.conflicts:
        return f"{outcome.name} (does not hold here: {said})"
    return f"{outcome.name} ({said or 'cannot hold'})"
