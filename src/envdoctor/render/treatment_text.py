"""The words for what treating an environment, or taking that back, has to tell."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from envdoctor.model.event import EventKind, FixEntry, TreatmentEvent
from envdoctor.render.untrusted import one_line

__all__ = ["event_text", "fix_rows", "fixes_text"]

_STATES = {"open": "cut short", "done": "in force", "undone": "taken back", "damaged": "its journal is damaged"}
_MOST_NAMES = 6
"""Of what was put aside, by name; the rest is counted."""
_HALF_DONE = "error: {detail}{place}; {commands} puts the environment back as it was"
_WORDS = {
    EventKind.ELSEWHERE: "note: {detail}; this is what `fix` does there",
    EventKind.WAITING: "{detail}",
    EventKind.KERNELS_BEGIN: "running GPU kernels in the environment (`--no-smoke` leaves them out)",
    EventKind.RECOVERED: "note: the fix {subject} was cut short; the environment was put back as it was",
    EventKind.CUT_SHORT: "the fix of `{subject}` was cut short; {commands} puts it back as it was",
    EventKind.FIXED: "fixed `{subject}`: {steps} steps; {commands} takes them back",
    EventKind.AS_WANTED: "nothing to do: `{subject}` is as the profile wants it",
    EventKind.AS_LOCKED: "nothing to do: `{subject}` has what the lock names",
    EventKind.LEFT: "note: {detail}",
    EventKind.ACCEPTED: "note: {detail}; {because}",
    EventKind.LAUNCHERS: "start commands in one of them with {either}",
    EventKind.IN_FORCE: "the fix of {all} is in force all the same; {commands} takes it back",
    EventKind.RUNS_ON: "`{subject}` runs on {detail}",
    EventKind.RUNS_ON_BECAUSE: "`{subject}` runs on {detail}: {because}",
    EventKind.NO_KERNELS: "warning: no kernel could be run: {detail}",
    EventKind.NOT_SET_ANEW: "this differs from what was set before: `envdoctor fix --yes` sets it anew",
    EventKind.PLACED: "placed {names} {by}",
    EventKind.SET: "{names} set at each start {by}, for kernels that failed without; they are run once more",
    EventKind.LIFTED: "lifted the placement of {names} {by}",
    EventKind.PASSES_NOW: (
        "`{subject}` was placed elsewhere by a fix, and its kernels pass now; `envdoctor fix` lifts that"
    ),
    EventKind.TO_BE_PLACED: "`envdoctor fix` places `{subject}`",
    EventKind.NOT_PLACED: "error: the placement was not applied: {detail}",
    EventKind.FAILED: "error: {detail}{output}",
    EventKind.PROBLEM: "warning: {detail}",
    EventKind.PUT_BACK: "the environment was put back as it was",
    EventKind.NOT_PUT_BACK: "not all of it could be put back",
    EventKind.TAKEN_BACK: "took back {subject}: {restored}",
    EventKind.KEPT: "note: what was changed after the fix is kept in `{subject}`{what}",
    EventKind.REFUSED: "error: {detail}{place}; nothing was changed",
    EventKind.BUSY: "error: {detail}",
    EventKind.CHANGED_SINCE: "error: `{subject}` has changed since the plan was made; nothing was changed",
    EventKind.HALF_DONE: _HALF_DONE,
    EventKind.HALF_DONE_FULL: f"{_HALF_DONE} once there is room",
    EventKind.HALF_TAKEN_BACK: "error: {detail}{place}; `envdoctor undo` can be run again",
}


def event_text(event: TreatmentEvent) -> str:
    """Return what is told of an event, in a line or a few."""
    return _WORDS[event.kind].format(
        subject=event.subject,
        detail=event.detail,
        because="; ".join(event.because),
        names=_quoted(event.names),
        what=_some([one_line(name) for name in sorted(event.names)]),
        either=_quoted(event.names, " or "),
        all=_quoted(event.names, " and "),
        commands=_quoted(event.commands, " and "),
        steps=event.steps,
        by=f"by {event.steps} more step{'' if event.steps == 1 else 's'}",
        place=f" (`{event.subject}`)" if event.subject else "",
        restored=", ".join(_restored(event)),
        output="".join(f"\n  {line}" for line in event.output),
    )


def _quoted(names: Iterable[str], between: str = ", ") -> str:
    return between.join(f"`{name}`" for name in names)


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return f": {_quoted(names[:_MOST_NAMES])}{more}" if names else ""


def _restored(event: TreatmentEvent) -> Iterator[str]:
    if event.restored or not event.environment_removed:
        yield f"{_files(event.restored)} restored"
    if event.removed:
        yield f"{_files(event.removed)} removed"
    if event.environment_removed:
        yield "the environment that it had made is gone"


def _files(number: int) -> str:
    return f"{number} file{'' if number == 1 else 's'}"


def fix_rows(found: Mapping[str, Sequence[FixEntry]]) -> list[dict[str, object]]:
    """Return the fixes of environments as plain values."""
    return [
        {
            "id": entry.id,
            "environment": name,
            "state": entry.state,
            "time": entry.time,
            "profile": entry.profile,
            "steps": list(entry.summary),
        }
        for name, entries in found.items()
        for entry in entries
    ]


def fixes_text(found: Mapping[str, Sequence[FixEntry]]) -> str:
    """Return the fixes of environments for a person to read."""
    return "".join(f"{line}\n" for line in _fix_lines(found)) or "no fixes\n"


def _fix_lines(found: Mapping[str, Sequence[FixEntry]]) -> Iterator[str]:
    for name, entries in found.items():
        if len(found) > 1 and entries:
            yield name
        for entry in entries:
            profile = f", profile {entry.profile}" if entry.profile else ""
            yield f"{entry.id}  {_STATES[entry.state]}, {entry.time}{profile}"
            yield from (f"    {line}" for line in entry.summary)
