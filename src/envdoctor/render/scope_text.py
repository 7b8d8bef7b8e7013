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

__all__ = ["holds", "scope_lines"]

_MOST = 6


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
    if not everything and one.reason is not LeftOut.DENIED:
        return one.path
    return f"{one.path} ({one.reason.value}{f': {one.detail}' if one.detail else ''})"


def _listed(texts: Sequence[str], most: int | None) -> str:
    if most is None or len(texts) <= most:
        return ", ".join(texts)
    return f"{', '.join(texts[:most])} and {len(texts) - most} more"


def holds(outcome: GroupOutcome) -> bool | None:
    """Return whether a list beside the main one holds on the target; None where it was not judged."""
    return None if outcome.unknown is not None else not outcome.conflicts


def _outcome(outcome: GroupOutcome) -> str:
    if outcome.unknown is not None:
        return f"{outcome.name} (not judged: {reason(outcome.unknown)})"
    if not outcome.conflicts:
        return f"{outcome.name} (holds)"
    return f"{outcome.name} ({f'holds on {outcome.elsewhere}' if outcome.elsewhere else 'cannot hold'})"
