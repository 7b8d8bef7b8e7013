"""What a script does where a command fails: installs in the place of another one, or stops, or goes on."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from envdoctor.adapters.project.pip_command import read_pip_command
from envdoctor.adapters.project.script_conditions import JudgedFor, looks_for_card
from envdoctor.adapters.project.shell_words import Command
from envdoctor.model.project import LeftOut

__all__ = ["failed", "fallbacks", "is_checked", "with_status"]

_TESTS = ("[", "[[", "test")
_CHAINED = ("&&", "||")
_LONGEST_CHAIN = 100
"""Commands held together, of which it is asked what they are to the last of them."""
_LONGEST_GROUP = 1_000
"""Commands in brackets or of a branch that are looked at for one that stands before or behind them."""
_FAILED = re.compile(
    r"\$\?\s*(?:-ne|-gt|!=|>)\s*\"?0|\$\{?lastexitcode\}?\s*-ne\s*0|(?:-not|!)\s*\$\?"
    r"|(?<!not )errorlevel\s+1|errorlevel[%!]\"?\s*(?:(?:neq|gtr)\s*\"?0|geq\s*\"?1)"
    r"|\bnot\s+\"?[%!]errorlevel[%!]\"?\s*(?:==|equ)\s*\"?0",
    re.I,
)
_SUCCEEDED = re.compile(
    r"\$\?\s*(?:-eq|==?)\s*0|\$\{?lastexitcode\}?\s*-eq\s*0|^\$\?$"
    r"|not errorlevel\s+1|errorlevel[%!]\s*(?:==|equ)\s*0",
    re.I,
)
_LOOKS_AT_STATUS = re.compile(r"errorlevel|\$\?|lastexitcode", re.I)
_ASKS_STATUS = frozenset({"if", "elif", "while", "until", "!"})
_LEAVES = re.compile(r"^(?:exit|return|goto|throw|die|false|break)", re.I)


def fallbacks(listed: Sequence[Command], installs: Sequence[bool], target: JudgedFor) -> Mapping[int, LeftOut]:
    """Return which installs do not run where another one does, and why; ``installs`` tells which commands install."""
    found = dict.fromkeys(_for_another_target(listed, installs, target), LeftOut.BRANCH)
    if len(found) == sum(installs):
        found = {}  # Nothing would be left: the script is read in want of one for the target.
    passed = 0
    """Where the last one ends that does not run as another does: what is inside is done with."""
    for at, command in enumerate(listed):
        if at + 1 < passed:
            continue
        said = _said(command)
        if command.joined == "||":
            tried = found.get(at) is LeftOut.FALLBACK or any(
                installs[each] and each not in found for each in _chain_before(listed, at)
            )
            instead = _group_after(listed, at) if tried else range(0)
        elif at in found:
            continue  # So is what follows it there.
        elif said.startswith("if ") and installs[at] and _in_words(listed, at):
            instead = _then(listed, at) if said.startswith("if ! ") else _otherwise(listed, at)
        elif failed(said) and _is_after_install(listed, installs, at):
            instead = range(at, at + 1) if installs[at] else _body(listed, at)
        elif _SUCCEEDED.search(said) and _is_after_install(listed, installs, at):
            instead = _otherwise(listed, at)
        elif said == "catch" and any(installs[each] for each in _group_before(listed, at)):
            instead = _group_after(listed, at)
        else:
            continue
        passed = max(passed, instead.stop)
        found |= {each: LeftOut.FALLBACK for each in instead if installs[each] and each not in found}
    return found


def is_checked(listed: Sequence[Command], at: int, *, dockerfile: bool, stops: bool) -> bool:
    """Return whether a script does not just go on where a command fails; ``stops``: after ``set -e`` it does not."""
    command = listed[at]
    if command.joined == "&&" or command.words[0].text in _ASKS_STATUS:
        return True
    if command.joined == "||":
        instead = [listed[each] for each in _group_after(listed, at)]
        saved = (_LEAVES.match(each.words[0].text) or read_pip_command(each.words) for each in instead)
        return not instead or any(saved)
    following = listed[at + 1 : at + 3]
    if dockerfile and command.ends == ";":  # The status of an `if` is that of the last command in it.
        return following[:1] != [] and following[0].words[0].text == "fi" and following[0].joined in ("", "&&")
    if command.ends in {"|", "|&", "&"}:
        return False
    return stops or any(_LOOKS_AT_STATUS.search(word.text) for later in following for word in later.words)


def failed(said: str) -> bool:
    """Return whether a condition asks whether the command before it has failed."""
    return _FAILED.search(said) is not None


def with_status(condition: str, before: str) -> str:
    """Return what is asked where a condition asks whether the command before it, that looks for a card, succeeded."""
    if not looks_for_card(before):
        return condition
    return f"! {before}" if failed(condition) else before if _SUCCEEDED.search(condition) else condition


def _for_another_target(listed: Sequence[Command], installs: Sequence[bool], target: JudgedFor) -> Iterator[int]:
    """Yield the installs before which ``&&`` asks for a system, or a card, that is not the target's."""
    for at, _ in enumerate(listed):
        before = at
        while installs[at] and max(0, at - _LONGEST_CHAIN) < before and listed[before - 1].joined == "&&":
            before -= 1
            if listed[before].words[0].text in _TESTS and not target.may_have(_said(listed[before])):
                yield at
                break


def _is_after_install(listed: Sequence[Command], installs: Sequence[bool], at: int) -> bool:
    """Return whether a condition is that of an ``if`` right after an install; brackets make it a command of its own."""
    apart = at > 0 and _said(listed[at - 1]) == "if"
    asks = apart or _said(listed[at]).startswith("if ")
    before = at - 2 if apart else at - 1
    return asks and before >= 0 and installs[before]


def _group_after(listed: Sequence[Command], at: int) -> range:
    """Return what follows a command: the commands of a group in brackets, or the one command."""
    return _brackets_after(listed, at) or range(at + 1, min(at + 2, len(listed)))


def _brackets_after(listed: Sequence[Command], at: int) -> range:
    end, last = at + 1, min(len(listed), at + _LONGEST_GROUP)
    while end < last and listed[end].depth > listed[at].level:
        end += 1
    return range(at + 1, end)


def _chain_before(listed: Sequence[Command], at: int) -> range:
    """Return the commands up to this one that ``&&``, ``||`` and brackets hold together."""
    level = listed[at].level
    start = at
    while True:
        while start and listed[start].depth > level and listed[start - 1].depth > level:
            start -= 1
        ends = not start or listed[start - 1].level != level or listed[start - 1].joined not in _CHAINED
        if ends or at - start > _LONGEST_CHAIN:
            return range(start, at + 1)
        start -= 1


def _group_before(listed: Sequence[Command], at: int) -> Iterable[int]:
    start, first = at, max(0, at - _LONGEST_GROUP)
    while start > first and listed[start - 1].depth > listed[at].depth:
        start -= 1
    return range(start, at)


def _in_words(listed: Sequence[Command], at: int) -> bool:
    """Return whether an ``if`` is one in the words of a POSIX shell."""
    return at + 1 < len(listed) and listed[at + 1].words[0].text == "then"


def _body(listed: Sequence[Command], at: int) -> range:
    """Return what an ``if`` holds, in the words of its shell."""
    return _then(listed, at) if _in_words(listed, at) else _brackets_after(listed, at)


def _then(listed: Sequence[Command], at: int, ends: Collection[str] = ("elif", "else", "fi")) -> range:
    """Return the commands from ``then`` to ``else`` or ``fi``."""
    open_blocks = int(_said(listed[at]).startswith("else if "))
    last = min(len(listed), at + _LONGEST_GROUP)
    for end in range(at + 1, last):
        first, *second = (word.text for word in listed[end].words[:2])
        if not open_blocks and first in ends:
            return range(at + 1, end)
        opens = first == "if" or (first in ("then", "else", "do") and second == ["if"])
        open_blocks += opens - (first == "fi")
    return range(at + 1, last)


def _otherwise(listed: Sequence[Command], at: int) -> range:
    """Return what runs in the place of the body of an ``if``: all of its other branches."""
    start = end = _body(listed, at).stop
    if _in_words(listed, at):
        return range(start, _then(listed, start, ("fi",)).stop) if _is_else(listed, start) else range(0)
    while _is_else(listed, end) and end - start < _LONGEST_GROUP:
        end = _brackets_after(listed, end).stop
    return range(start, end)


def _is_else(listed: Sequence[Command], at: int) -> bool:
    return at < len(listed) and listed[at].words[0].text.lower() in ("else", "elif", "elseif")


def _said(command: Command) -> str:
    return " ".join(word.text for word in command.words).lower().lstrip("@")
