"""Parts of a script of which one runs, those of `if`, `case` and `switch`: only one of them is added up."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import field
from operator import itemgetter

from envdoctor.adapters.project.script_conditions import JudgedFor, compared
from envdoctor.adapters.project.script_fallbacks import with_status
from envdoctor.adapters.project.shell_words import Command, Dialect
from envdoctor.model.dataclass import dataclass

__all__ = ["Branch", "branches_of", "taken"]

_WITHIN = ("then", "do", "else", "{")
_BLANK = {
    Dialect.CMD: re.compile(r"\"[^\"\n]*\"|\^."),
    # The condition of a case of `switch` may stand in braces of its own.
    Dialect.POWERSHELL: re.compile(
        r"\{[^{}\n]{0,200}\$_[^{}\n]{0,200}\}(?=\s*\{)|\"(?:`.|[^\"`\n])*\"|'[^'\n]*'|`.|(?<!\S)#.*"
    ),
}
"""What of a line tells nothing of its brackets: quoted texts, escaped signs, comments."""
_ONE_IF = re.compile(
    r"(?<![^\s@&|()])(?:else\s+)?if\s+(?:/i\s+)?(?:not\s+)?(?:(?:exist|defined|errorlevel)\s+(?:\"[^\"]*\"|\S+)"
    r"|(?:\"[^\"]*\"|[^\s\"=]+)(?:\s*==\s*|\s+(?:equ|neq|lss|leq|gtr|geq)\s+)(?:\"[^\"]*\"|\S+))",
    re.I,
)
"""What an ``if`` of a batch file asks, where no bracket ends it."""
_DELAYED = re.compile(r"!(\w+)!")
_IF, _ELSE = re.compile(r"\bif\b", re.I), re.compile(r"\belse(?:if)?\b", re.I)
_SWITCH = re.compile(r"\bswitch\b", re.I)
_NONE, _LONGEST, _LONGEST_CONDITION = -1, 2_000, 20
_VERSIONS = re.compile(r"(?<![<>!~=])={1,3}(\d[\w.+]*)")
_DEEPEST = 100
"""Blocks in one another; what stands deeper counts to the last of them."""
_COMMENT = re.compile(r"^\s*(?:@?rem\b|::|#)", re.I)
_INSTALLS = re.compile(r"\b(?:pip3?|uv|conda|mamba|python\S*)\b", re.I)


@dataclass(frozen=True, slots=True)
class Branch:
    """One branch of one block; blocks are counted through the script."""

    block: int
    number: int


@dataclass(slots=True)
class _Walk:
    """Where a reader is: the open blocks, outermost first."""

    blocks: int = 0
    open: list[Branch | None] = field(default_factory=list)
    switches: list[int] = field(default_factory=list)
    """How many are open within each `switch` of PowerShell that is."""
    closed: Branch | None = None
    conditions: dict[Branch, str] = field(default_factory=dict)

    @property
    def path(self) -> tuple[Branch, ...]:
        return tuple(branch for branch in self.open[:_DEEPEST] if branch is not None)

    def enter(self, condition: str) -> None:
        self.blocks += 1
        self._push(Branch(self.blocks, 0), condition)

    def go_on(self, condition: str) -> None:
        """Enter the next branch of the block that was open last."""
        last = self.open.pop() if self.closed is None and self.open else self.closed
        if last is not None:
            self._push(Branch(last.block, last.number + 1), condition)

    def leave(self) -> None:
        self.closed = self.open.pop() if self.open else None
        if self.switches and len(self.open) < self.switches[-1]:
            self.switches.pop()

    def switch(self) -> None:
        """Enter a block whose blocks exclude each other."""
        self.open.append(None)
        self.closed = None
        self.switches.append(len(self.open))

    def _push(self, branch: Branch, condition: str) -> None:
        self.open.append(branch)
        self.closed = None
        self.conditions[branch] = condition


def branches_of(
    text: str, listed: Sequence[Command], dialect: Dialect
) -> tuple[list[tuple[Branch, ...]], Mapping[Branch, str]]:
    """Return for each command the branches it stands in, and the condition of each branch as it is written."""
    walk = _Walk()
    if dialect is Dialect.POSIX:
        return list(_of_words(listed, walk)), walk.conditions
    lines = {number: (raw, paths) for number, raw, paths in _of_brackets(text, dialect, walk)}
    return list(_at_places(listed, lines)), walk.conditions


def _at_places(
    listed: Sequence[Command], lines: Mapping[int, tuple[str, Sequence[tuple[int, tuple[Branch, ...]]]]]
) -> Iterator[tuple[Branch, ...]]:
    """Yield the branches of each command by where it stands in its line, or by where the first install does."""
    before, cursor = 0, 0
    around: list[tuple[Branch, ...]] = []
    """Where the calls stand in which a command runs."""
    for command in listed:
        number = command.words[0].line
        raw, paths = lines.get(number, ("", [(0, ())]))
        cursor = cursor if number == before else 0
        place = raw.find(command.words[0].text, cursor)
        if place < 0 and (install := _INSTALLS.search(raw, cursor)) is not None:
            place = install.start()
        before, cursor = number, max(place, cursor)
        del around[command.within :]
        around.append(
            (*(around[-1] if around else ()), *paths[max(0, bisect_right(paths, place, key=itemgetter(0)) - 1)][1])
        )
        yield around[-1]


def _of_words(listed: Sequence[Command], walk: _Walk) -> Iterator[tuple[Branch, ...]]:
    in_case: list[bool] = []
    patterns: list[str] | None = None
    """Of the arm that begins, before its bracket closes."""
    for at, command in enumerate(listed):
        first = next((n for n, each in enumerate(command.words) if each.text not in _WITHIN), 0)
        if command.words[0].text == "else" and walk.open and first:
            walk.closed = None
            walk.go_on("")
        word = command.words[first].text
        said = " ".join(each.text for each in command.words[first + 1 :])
        around = walk.path
        if word in ("if", "elif"):
            said += _goes_on(listed, at)
            said = with_status(said, " ".join(each.text for each in listed[at - 1].words)) if at else said
        if word in ("if", "case"):
            walk.enter(said)
            in_case.append(word == "case")
            patterns = [said] * (command.ends == "|") if word == "case" and command.ends != ")" else None
        elif word in ("elif", "else") and walk.open:
            walk.closed = None
            walk.go_on(said if word == "elif" else "")
        elif word in ("fi", "esac") and in_case:
            walk.leave()
            walk.closed = patterns = None
            in_case.pop()
        elif patterns is not None and command.ends in ("|", ")"):
            patterns.append(f"{word} {said}".strip())
            if command.ends == ")" and walk.open and walk.open[-1] is not None:
                walk.conditions[walk.open[-1]] = "|".join(patterns)
                patterns = None
        # What `if` asks runs in any case.
        yield around if word == "if" else walk.path
        if command.ends_arm and in_case and in_case[-1]:
            walk.closed, patterns = None, []
            walk.go_on("")


def _goes_on(listed: Sequence[Command], at: int) -> str:
    """Return what else is asked by the ``if`` that begins with a command."""
    found = ""
    for one, other in zip(listed[at : at + _LONGEST_CONDITION], listed[at + 1 :], strict=False):
        if one.joined not in ("&&", "||", "|"):
            break
        found += f" {one.joined} {' '.join(word.text for word in other.words)}"
    return found


def _of_brackets(
    text: str, dialect: Dialect, walk: _Walk
) -> Iterator[tuple[int, str, list[tuple[int, tuple[Branch, ...]]]]]:
    """Yield each line with its number, and from which column on which branches are open."""
    opening, closing = ("(", ")") if dialect is Dialect.CMD else ("{", "}")
    before, asked, last = "", "", ""
    """What stands before a bracket, without quoted texts and with them: in PowerShell on a line of its own, too."""
    for number, raw in enumerate(text.splitlines(), start=1):
        if _COMMENT.match(raw):
            continue
        line = _BLANK[dialect].sub(lambda found: " " * len(found[0]), raw)
        at, paths = 0, [(0, walk.path)]
        if dialect is Dialect.CMD or not line.lstrip().startswith(opening):
            before, asked = "", ""
        for found in re.finditer(f"[{re.escape(opening + closing)}]", line):
            before, asked = before + line[at : found.start()], _asked(asked + raw[at : found.start()], dialect, last)
            at = found.end()
            if found[0] == closing:
                walk.leave()
            elif walk.switches and len(walk.open) == walk.switches[-1]:
                (walk.enter if walk.closed is None else walk.go_on)(f"= {asked.strip()}")
            elif _ELSE.search(before):
                walk.go_on(asked)
            elif _SWITCH.search(before):
                walk.switch()
            elif _IF.search(before):
                walk.enter(asked)
            else:
                walk.open.append(None)
                walk.closed = None
            before, asked = "", ""
            paths.append((at, walk.path))
        if dialect is Dialect.CMD:
            paths += _without_brackets(raw, at, walk, last)
        before, asked, last = line[at:], raw[at:], raw
        yield number, raw, paths


def _without_brackets(raw: str, at: int, walk: _Walk, last: str) -> Iterator[tuple[int, tuple[Branch, ...]]]:
    """Yield the branch that the rest of a batch file's line is, behind an ``if`` or ``else`` without brackets."""
    asks = _ONE_IF.search(raw, at)
    if walk.closed is not None and _ELSE.match(raw[at:].lstrip()):
        walk.go_on(_asked(asks[0], Dialect.CMD, last) if asks is not None else "")
    elif asks is not None:
        at = asks.start()
        walk.enter(_asked(asks[0], Dialect.CMD, last))
    else:
        return
    yield at, walk.path
    walk.leave()


def _asked(condition: str, dialect: Dialect, last: str) -> str:
    """Return a condition with the variables of a batch file in one form: ``!NAME!`` is as good as ``%NAME%``.

    ``last``: the line above it, of which it may ask whether that succeeded.
    """
    return with_status(_DELAYED.sub(r"%\1%", condition) if dialect is Dialect.CMD else condition, last)


def taken(
    installs: Sequence[tuple[Branch, ...]],
    conditions: Mapping[Branch, str],
    target: JudgedFor,
    said: Sequence[str],
) -> Mapping[int, int]:
    """Return the branch that counts of each block in which any installs: the first that is for the target.

    Of branches for versions, such as those of `case $TORCH_VERSION in`, the one for a version that is installed before
    it; ``said`` is what each install says. One goes before another whose index has builds for other cards. None of a
    block's where all of them are for other targets, unless nothing would be left then.
    """
    numbers: dict[int, dict[int, str]] = {}
    for path, words in zip(installs, said, strict=True):
        for branch in path:
            known = numbers.setdefault(branch.block, {})
            known[branch.number] = f"{known.get(branch.number, '')[:_LONGEST]} {words}"
    chosen: dict[int, int] = {}
    before = _Before(installs, [_VERSIONS.findall(words) for words in said])
    for block, found in sorted(numbers.items()):
        fitting = [number for number in found if target.may_have(conditions.get(Branch(block, number), ""))]
        named = before.named(block, chosen)
        for_one = (n for n in fitting if named.intersection(compared(conditions.get(Branch(block, n), ""))))
        served = [number for number in fitting if target.is_served(found[number])] or fitting
        chosen[block] = next(for_one, served[0] if served else _NONE)
    if any(all(chosen[branch.block] == branch.number for branch in path) for path in installs):
        return chosen
    return {block: next(iter(found)) if chosen[block] == _NONE else chosen[block] for block, found in numbers.items()}


class _Before:
    """The versions that the installs before a block name, of those that count; one block is asked after another."""

    def __init__(self, installs: Sequence[tuple[Branch, ...]], versions: Sequence[Collection[str]]) -> None:
        self._left = iter(zip(installs, versions, strict=True))
        self._next = next(self._left, None)
        self._found: set[str] = set()

    def named(self, block: int, chosen: Mapping[int, int]) -> set[str]:
        """Return the versions that are named before a block."""
        while self._next is not None and all(branch.block < block for branch in self._next[0]):
            path, named = self._next
            if all(chosen.get(branch.block) == branch.number for branch in path):
                self._found.update(named)
            self._next = next(self._left, None)
        return self._found
