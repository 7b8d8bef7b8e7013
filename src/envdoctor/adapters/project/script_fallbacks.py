"""Installs of a script that run only where another one before them has failed: ``a || b`` is never both."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from envdoctor.adapters.project.script_branches import may_be_for
from envdoctor.adapters.project.shell_words import Command
from envdoctor.model.project import LeftOut

__all__ = ["fallbacks", "group_after"]

_TESTS = ("[", "[[", "test")
_CHAINED = ("&&", "||")
_FAILED = re.compile(
    r"\$\?\s*(?:-ne|-gt|!=|>)\s*\"?0|\$\{?lastexitcode\}?\s*-ne\s*0|(?:-not|!)\s*\$\?"
    r"|(?<!not )errorlevel\s+1|errorlevel[%!]\"?\s*(?:neq|gtr)\s*\"?0"
    r"|\bnot\s+\"?[%!]errorlevel[%!]\"?\s*(?:==|equ)\s*\"?0",
    re.I,
)


def fallbacks(
    listed: Sequence[Command], installs: Sequence[bool], environment: Mapping[str, str] | None
) -> Mapping[int, LeftOut]:
    """Return which installs do not run where another one does, and why; ``installs`` tells which commands install."""
    platform = (environment or {}).get("sys_platform", "")
    found = dict.fromkeys(_for_another_system(listed, installs, platform), LeftOut.BRANCH)
    if len(found) == sum(installs):
        found = {}  # Nothing would be left: the script is read in want of one for the target.
    for at, command in enumerate(listed):
        said = _said(command)
        if command.joined == "||":
            tried = any(installs[each] and each not in found for each in _chain_before(listed, at))
            instead = group_after(listed, at) if tried else range(0)
        elif said.startswith("if ! ") and installs[at]:
            instead = _then(listed, at)
        elif _FAILED.search(said) and _is_after_install(listed, installs, at):
            instead = range(at, at + 1) if installs[at] else _body(listed, at)
        elif said == "catch" and any(installs[each] for each in _group_before(listed, at)):
            instead = group_after(listed, at)
        else:
            continue
        found |= {each: LeftOut.FALLBACK for each in instead if installs[each] and each not in found}
    return found


def _for_another_system(listed: Sequence[Command], installs: Sequence[bool], platform: str) -> Iterator[int]:
    """Yield the installs before which ``&&`` asks for a system that is not the target's."""
    for at, _ in enumerate(listed):
        before = at
        while installs[at] and before and listed[before - 1].joined == "&&":
            before -= 1
            if listed[before].words[0].text in _TESTS and not may_be_for(_said(listed[before]), platform):
                yield at
                break


def _is_after_install(listed: Sequence[Command], installs: Sequence[bool], at: int) -> bool:
    """Return whether a condition is that of an ``if`` right after an install; brackets make it a command of its own."""
    apart = at > 0 and _said(listed[at - 1]) == "if"
    asks = apart or _said(listed[at]).startswith("if ")
    before = at - 2 if apart else at - 1
    return asks and before >= 0 and installs[before]


def group_after(listed: Sequence[Command], at: int) -> range:
    """Return what follows a command: the commands of a group in brackets, or the one command."""
    return _brackets_after(listed, at) or range(at + 1, min(at + 2, len(listed)))


def _brackets_after(listed: Sequence[Command], at: int) -> range:
    end = at + 1
    while end < len(listed) and listed[end].depth > listed[at].level:
        end += 1
    return range(at + 1, end)


def _chain_before(listed: Sequence[Command], at: int) -> range:
    """Return the commands up to this one that ``&&``, ``||`` and brackets hold together."""
    level = listed[at].level
    start = at
    while True:
        while start and listed[start].depth > level and listed[start - 1].depth > level:
            start -= 1
        if not start or listed[start - 1].level != level or listed[start - 1].joined not in _CHAINED:
            return range(start, at + 1)
        start -= 1


def _group_before(listed: Sequence[Command], at: int) -> Iterable[int]:
    start = at
    while start and listed[start - 1].depth > listed[at].depth:
        start -= 1
    return range(start, at)


def _body(listed: Sequence[Command], at: int) -> range:
    """Return what an ``if`` holds, in the words of its shell."""
    in_words = at + 1 < len(listed) and listed[at + 1].words[0].text == "then"
    return _then(listed, at) if in_words else _brackets_after(listed, at)


def _then(listed: Sequence[Command], at: int) -> range:
    """Return the commands from ``then`` to ``else`` or ``fi``."""
    open_blocks = 0
    for end in range(at + 1, len(listed)):
        first, *second = (word.text for word in listed[end].words[:2])
        if not open_blocks and first in ("elif", "else", "fi"):
            return range(at + 1, end)
        opens = first == "if" or (first in ("then", "else", "do") and second == ["if"])
        open_blocks += opens - (first == "fi")
    return range(at + 1, len(listed))


def _said(command: Command) -> str:
    return " ".join(word.text for word in command.words).lower().lstrip("@")
