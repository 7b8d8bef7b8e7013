"""Commands of a script that do not run in one go: what a ``goto`` leads past, and what follows a branch that exits."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from envdoctor.adapters.project.script_branches import Branch
from envdoctor.adapters.project.script_conditions import JudgedFor
from envdoctor.adapters.project.script_fallbacks import failed, with_status
from envdoctor.adapters.project.shell_words import Command, Dialect
from envdoctor.model.dataclass import dataclass
from envdoctor.model.project import LeftOut

__all__ = ["jumped"]

_JUMP = re.compile(r"(?:^|\s)(?:(call)\s*:|goto\s*(?::\s*)?)([\w.+-]+)", re.I)
_LEAVES = re.compile(r"(?:(?:then|else|do|\{)\s+)*exit\b|goto\s*:?eof\b", re.I)
_MOST = 200_000
"""Commands times installs, beyond which nobody looks."""
_MOST_WAYS = 20
"""Sets of installs that can run in one go, of which the best is taken."""
_DEEPEST = 100
"""Brackets in one another; what stands deeper counts to the last of them."""


def jumped(
    listed: Sequence[Command],
    installs: Sequence[int],
    removals: Sequence[int],
    places: Sequence[tuple[Branch, ...]],
    conditions: Mapping[Branch, str],
    target: JudgedFor,
    dialect: Dialect,
) -> Mapping[int, LeftOut]:
    """Return which installs and ``removals`` do not run in one go with the installs that count, and why.

    Those count that are for the target and run in one go, as many as can; of as many the first.
    """
    flow = _Flow(listed, places, dialect)
    if not installs or not flow.leaves or len(listed) * len(installs) > _MOST:
        return {}
    every = sorted({*installs, *removals})
    entries = {at: flow.entries(at) for at in every}
    named = {at: target.is_named(flow.label_of(at)) for at in every}
    found = {at: LeftOut.FALLBACK for at in every if entries[at] and all(_failed(one, installs) for one in entries[at])}
    others = [
        at
        for at in every
        if named[at] is False or (entries[at] and not any(target.may_have(one.said) for one in entries[at]))
    ]
    found |= dict.fromkeys(others, LeftOut.BRANCH) if set(installs).difference(found, others) else {}
    fitting = [
        at
        for at in installs
        if at not in found and all(target.may_have(conditions.get(branch, "")) for branch in places[at])
    ]
    reached = {at: flow.reached(at) for at in (*fitting, *removals)}
    served = {at: target.is_served(" ".join(word.text for word in listed[at].words)) for at in fitting}
    by_name = False in named.values()  # A label that names a card chooses one where another names another.
    # Who exits early has often little to install: a check, an update.
    best = max(
        _ways(fitting, reached),
        key=lambda way: (
            sum(served[at] for at in way) - len(way),
            by_name and sum(named[at] is True for at in way),
            len(way),
        ),
        default=set[int](),
    )
    apart = (at for at in removals if not all(_is_together(at, other, reached) for other in best))
    return found | dict.fromkeys({*fitting, *apart}.difference(best, found), LeftOut.BRANCH)


def _ways(installs: Sequence[int], reached: Mapping[int, set[int]]) -> Iterator[set[int]]:
    """Yield sets of installs that can run in one go, until each install is in one of them."""
    left = list(installs)
    for _ in range(_MOST_WAYS):
        if not left:
            return
        way: set[int] = set()
        for at in (*left, *installs):
            if all(_is_together(at, other, reached) for other in way):
                way.add(at)
        yield way
        left = [at for at in left if at not in way]


def _is_together(one: int, other: int, reached: Mapping[int, set[int]]) -> bool:
    return one == other or one in reached[other] or other in reached[one]


def _failed(entry: _Entry, installs: Sequence[int]) -> bool:
    """Return whether a jump is one for the case that an install has failed."""
    return (entry.chained == "||" or failed(entry.said)) and entry.at - 1 in installs


@dataclass(frozen=True, slots=True)
class _Entry:
    """A jump to a label."""

    at: int
    said: str
    chained: str


class _Flow:
    """Which command may run after which."""

    def __init__(self, listed: Sequence[Command], places: Sequence[tuple[Branch, ...]], dialect: Dialect) -> None:
        self._texts = [" ".join(word.text for word in command.words) for command in listed]
        self._said = [text.lower().lstrip("@") for text in self._texts]
        self._labels: dict[str, int] = {}
        self._jumps: dict[int, int] = {}
        self._called: set[int] = set()
        if dialect is Dialect.CMD:
            self._labels = {
                text[1:].split(" ")[0]: at for at, text in reversed([*enumerate(self._said)]) if text[:1] == ":"
            }
            for at, text in enumerate(self._said):
                match = _JUMP.search(text)
                if match is not None and match[2] in self._labels:
                    self._jumps[at] = self._labels[match[2]]
                    self._called |= {self._labels[match[2]]} if match[1] else set()
        # Brackets hold what an `||` before them runs or does not: `a || { echo no; exit 1; }`.
        within = ((0,) * min(command.depth, _DEEPEST) for command in listed)
        self._over = _parts_of([(*place, *inside) for place, inside in zip(places, within, strict=True)])
        self._behind = {end for ends in self._over.values() for end in ends}
        self._chained = ["", *(before.joined for before in listed[:-1])]
        self.leaves = {
            at
            for at, text in enumerate(self._said)
            if self._chained[at] not in ("&&", "||")
            and not listed[at].shells
            and (_LEAVES.match(text) or (at in self._jumps and text.startswith("goto")))
        }
        self._begins = sorted(self._labels.values())
        # Who comes back to a menu chooses something else: what can be had so is no part of one go.
        for at in list(self._loops()):
            del self._jumps[at]

    def entries(self, at: int) -> list[_Entry]:
        """Return the jumps by which alone a script gets to where a command is; none where it gets there anyway."""
        label = self._label(at)
        if not label or label - 1 not in self.leaves or label in self._behind or label in self._called:
            return []
        froms = [each for each, to in self._jumps.items() if to == label]
        if any(each in self.leaves for each in froms):
            return []
        said = ["", *self._said]  # Each behind the one before it.
        return [_Entry(each, with_status(said[each + 1], said[each]), self._chained[each]) for each in froms]

    def label_of(self, at: int) -> str:
        """Return the label behind which a command stands, empty without, or where others call that part."""
        label = self._label(at)
        return self._texts[label] if label is not None and label not in self._called else ""

    def _label(self, at: int) -> int | None:
        place = bisect_right(self._begins, at)
        return self._begins[place - 1] if place else None

    def reached(self, at: int) -> set[int]:
        """Return what may run after a command; all where it is in a part that is called from several places."""
        if self._label(at) in self._called:
            return set(range(len(self._said)))
        found: set[int] = set()
        waiting = [at]
        while waiting:
            one = waiting.pop()
            new = set(self._after(one)) - found
            while new:
                found |= new
                waiting += new
                # What a branch or a group begins with may not run, but what is behind that.
                new = {end for at in new for end in self._over.get(at, ())} - found
        return found

    def _loops(self) -> Iterator[int]:
        """Yield the jumps back to where the script came by on its way to them."""
        came_by, done = dict[int, Iterator[int]](), set[int]()
        for start in range(len(self._said)):
            waiting = [start] if start not in done else []
            while waiting:
                at = waiting[-1]
                if at not in came_by:
                    came_by[at] = iter([*self._after(at), *self._over.get(at, ())])
                to = next((one for one in came_by[at] if one not in done), None)
                if to is None:
                    done.add(waiting.pop())
                elif to not in came_by:
                    waiting.append(to)
                elif self._jumps.get(at) == to:
                    yield at

    def _after(self, at: int) -> Iterator[int]:
        if at in self._jumps:
            yield self._jumps[at]
        if at not in self.leaves and at + 1 < len(self._said):
            yield at + 1


def _parts_of(ways: Sequence[tuple[object, ...]]) -> dict[int, list[int]]:
    """Return of each command with which a branch or a group begins what comes behind that: it may be passed over."""
    found: dict[int, list[int]] = {}
    open_at: list[tuple[int, tuple[object, ...]]] = []
    for at, (before, way) in enumerate(pairwise([(), *ways])):
        while open_at and way[: len(open_at[-1][1])] != open_at[-1][1]:
            found.setdefault(open_at.pop()[0], []).append(at)
        same = next((level for level, (one, two) in enumerate(zip(before, way, strict=False)) if one != two), None)
        first = min(len(before), len(way)) if same is None else same
        open_at += [(at, way[: level + 1]) for level in range(first, len(way))]
    return found
