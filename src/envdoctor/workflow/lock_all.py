"""``lock`` for a profile with several environments: a lock for each, written together or not at all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from envdoctor.lock.fault import LockFault
from envdoctor.workflow.check import CheckRequest
from envdoctor.workflow.environments import together
from envdoctor.workflow.lock import LockChoice, LockOutcome, lock

__all__ = ["lock_all"]


def lock_all(requests: Sequence[CheckRequest], choice: LockChoice, index_urls: Mapping[str, str]) -> LockOutcome:
    """Return the locks of all environments as one outcome; without files where one of them has none.

    A repair that is asked for is that of each environment which needs any.
    """
    choice = replace(choice, where_needed=choice.repair is not None and len(requests) > 1)
    outcomes = [lock(request, choice, index_urls) for request in requests]
    if len(outcomes) == 1:
        return replace(outcomes[0], report=together([outcomes[0].report]))
    named = [(request.part, outcome) for request, outcome in zip(requests, outcomes, strict=True)]
    refused = [(part, outcome) for part, outcome in named if outcome.refusal is not None]
    faults = tuple(_faults(named))
    files = {name: text for outcome in outcomes for name, text in outcome.files.items()}
    whole = not refused and not faults
    return LockOutcome(
        together([outcome.report for outcome in outcomes]),
        files if whole else {},
        faults=faults,
        refusal="; ".join(f"environment `{part}`: {outcome.refusal}" for part, outcome in refused) or None,
        kept=tuple(name for outcome in outcomes for name in outcome.kept) if whole and not files else (),
        no_such_repair=any(outcome.no_such_repair for outcome in outcomes),
        notes=tuple(_notes(named)),
    )


def _faults(named: Sequence[tuple[str, LockOutcome]]) -> Iterator[LockFault]:
    """Yield every fault once: what stands in the way of all of them as it is, others with their environment."""
    common = [fault for fault in named[0][1].faults if all(fault in outcome.faults for _, outcome in named)]
    yield from common
    for part, outcome in named:
        for fault in outcome.faults:
            if fault not in common:
                yield replace(fault, reason=f"{fault.reason} (environment `{part}`)")


def _notes(named: Sequence[tuple[str, LockOutcome]]) -> Iterator[str]:
    for part, outcome in named:
        if outcome.notes:
            yield f"environment `{part}`:"
            yield from outcome.notes
