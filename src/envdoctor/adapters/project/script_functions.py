"""What functions do, where they are called: with those arguments, in that folder and branch."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from envdoctor.adapters.project.pip_command import read_pip_command
from envdoctor.adapters.project.shell_words import Command, Word

__all__ = ["OWN_ARGUMENTS", "Room", "TooMany", "with_calls", "with_calls_of_powershell"]

OWN_ARGUMENTS = frozenset({"$@", "$*", "${@}", "${*}", "%*", "@args", "$args"})
"""What a script, or a function of one, was started with, in small letters."""

_BEFORE = frozenset({"if", "elif", "then", "else", "do", "while", "until", "!", "{", "time"})
_LOOPS = frozenset({"while", "until", "for"})
_ARGUMENT = re.compile(r"\$(?:\{([1-9])\}|([1-9]))")
_ALL = frozenset({"$@", "$*", "${@}", "${*}"})
_DEEPEST, _MOST, _COMMAND = 10, 1_000_000, 50
"""Functions that call one another; characters that a script may come to by them, and what a command counts at least."""
_PARAMETER = re.compile(r"(?<![=\w])\$(\w+)")
_AS_IF = ("install", "x")
"""What a function may be given that only starts pip."""
_LONGEST = 1_000
"""Commands of a function of PowerShell that are looked at."""

_Bodies = Mapping[str, tuple[Command, ...]]


def with_calls(listed: Sequence[Command]) -> Sequence[Command]:
    """Return a script's commands, those of a function where it is called; where it is defined, if nobody calls it."""
    parts = list(_parts(listed))
    defined = Counter(name for _, name, _ in parts)
    # Of one that is defined several times it is not known which counts: each is read where it stands.
    bodies: _Bodies = {name: body for _, name, body in parts if name and defined[name] == 1}
    called = _called(parts, bodies)
    if not called:
        return listed
    found: list[Command] = []
    patterns = _patterns([command for command, _, _ in parts])
    room, joined = Room(), ""
    try:
        for at, (command, name, body) in enumerate(parts):
            if name not in called:
                calls = not name and at not in patterns
                found += _expanded(command, joined, bodies, (), room) if calls else [command, *body]
            joined = command.joined
    except TooMany:
        return listed
    return found


class TooMany(Exception):
    """Functions that come to more than anybody looks at."""


class Room:
    """What the calls of a script may come to; arguments that are said twice double with each function."""

    def __init__(self) -> None:
        self._left = _MOST

    def take(self, characters: int) -> None:
        """Raise TooMany where there is no room left for so many."""
        self._left -= characters
        if self._left < 0:
            raise TooMany

    def take_command(self, within: Sequence[str], characters: int = 0) -> None:
        """Take a command, in functions that call one another. Raises TooMany."""
        if len(within) > _DEEPEST:
            raise TooMany
        self.take(_COMMAND + characters)


def _parts(listed: Sequence[Command]) -> Iterator[tuple[Command, str, tuple[Command, ...]]]:
    """Yield each command that is in no function, with name and body where it begins one."""
    at = 0
    while at < len(listed):
        command, body = listed[at], tuple(_body(listed, at))
        name = _defined(command) if body else ""
        yield command, name, body if name else ()
        at += 1 + (len(body) if name else 0)


def _defined(command: Command) -> str:
    texts = [word.text for word in command.words]
    if texts[0] == "function" and len(texts) > 1:
        return texts[1].removesuffix("()")
    return texts[-1].removesuffix("()") if texts[-1].endswith("()") or (len(texts) == 1 and command.ends == "(") else ""


def _body(listed: Sequence[Command], at: int) -> Iterator[Command]:
    """Yield the commands of the subshell or function that begins behind a command."""
    inner = len(listed[at].shells)
    first = listed[at + 1].shells[inner : inner + 1] if at + 1 < len(listed) else ()
    while first and at + 1 < len(listed) and listed[at + 1].shells[inner : inner + 1] == first:
        at += 1
        yield listed[at]


def _called(parts: Sequence[tuple[Command, str, tuple[Command, ...]]], bodies: _Bodies) -> set[str]:
    waiting = list(_names([command for command, name, _ in parts if not name], bodies))
    found: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name and name not in found:
            found.add(name)
            waiting += _names(bodies[name], bodies)
    return found


def _names(listed: Sequence[Command], bodies: _Bodies) -> Iterator[str]:
    patterns = _patterns(listed)
    return (_call(command, bodies)[1] for at, command in enumerate(listed) if at not in patterns)


def _patterns(listed: Sequence[Command]) -> set[int]:
    """Return which commands are the patterns of an arm of a `case`, which may be called like a function."""
    found: set[int] = set()
    for at, command in enumerate(listed):
        before = listed[at - 1] if at else None
        begins = before is not None and (before.ends_arm or before.words[0].text == "case")
        if command.ends in ("|", ")") and (begins or (at - 1 in found and before is not None and before.ends == "|")):
            found.add(at)
    return found


def _call(command: Command, bodies: _Bodies) -> tuple[int, str]:
    """Return where a command calls a function, and which; an empty name where it calls none."""
    at = next((at for at, word in enumerate(command.words) if word.text not in _BEFORE), 0)
    name = command.words[at].text
    return at, name if name in bodies else ""


def _expanded(command: Command, joined: str, bodies: _Bodies, within: tuple[str, ...], room: Room) -> list[Command]:
    """Return what a command comes to; behind ``&&`` and ``||`` it is as good as in brackets. Raises TooMany."""
    at, name = _call(command, bodies)
    if not name or name in within:
        return [command]
    body = bodies[name]
    found: list[Command] = []
    before, inner = command.words[:at], len(body[0].shells)
    depth = command.depth - body[0].depth + (joined in ("&&", "||"))
    arguments = _Arguments(command.words[at + 1 :], body, room)
    patterns = _patterns(body)
    joined = ""
    for number, each in enumerate(body):
        words = (*before, *arguments.put_into(each.words))
        shells = (*command.shells, *each.shells[inner:])
        each = replace(each, words=words, depth=each.depth + depth, level=each.level + depth, shells=shells)
        room.take_command(within)
        found += [each] if number in patterns else _expanded(each, joined, bodies, (*within, name), room)
        before, joined = (), each.joined
    last = replace(found[-1], ends=command.ends, level=command.level, joined=command.joined, ends_arm=command.ends_arm)
    return [*found[:-1], last]


class _Arguments:
    """What a function is called with, as far as its commands can be told what they get."""

    def __init__(self, words: Sequence[Word], body: Sequence[Command], room: Room) -> None:
        firsts = {word.text for command in body for word in command.words[:2]}
        moved = "shift" in firsts and not firsts.isdisjoint(_LOOPS)
        self._known = not moved and not any(word.text in _ALL for word in words)
        self._words, self._room = tuple(words), room

    def put_into(self, words: Sequence[Word]) -> Iterator[Word]:
        """Yield the words of a command with the arguments in them."""
        if not self._known:
            yield from words
            return
        if words[0].text == "shift":
            by = words[1].text if len(words) > 1 else "1"
            self._words = self._words[int(by) if by.isdecimal() and len(by) < 4 else 1 :]
        for word in words:
            whole = _ARGUMENT.fullmatch(word.text)
            if word.text in _ALL:
                self._room.take(sum(_COMMAND + len(each.text) for each in self._words))
                yield from self._words  # Their lines say where a version is to be changed.
            elif whole is not None:
                yield from self._words[int(whole[1] or whole[2]) - 1 :][:1]
            else:
                yield replace(word, text=_ARGUMENT.sub(self._argument, word.text))

    def _argument(self, match: re.Match[str]) -> str:
        at = int(match[1] or match[2]) - 1
        text = self._words[at].text if at < len(self._words) else ""
        self._room.take(len(text))
        return text


class _Function(NamedTuple):
    """A function of PowerShell that hands on what it gets."""

    passing: tuple[int, ...]
    """The commands that it hands it to."""
    parameters: frozenset[str]
    """The name of the one that it has, in small letters; none where it has several."""

    def is_handed(self, word: Word) -> bool:
        """Return whether a word of such a command stands for what the function gets."""
        text = word.text.lower()
        return text in OWN_ARGUMENTS or (text[:1] in ("@", "$") and text[1:] in self.parameters)


def with_calls_of_powershell(listed: Sequence[Command]) -> Iterator[Command]:
    """Yield a script's commands; of a function that hands on to an installer what it gets, that where it is called.

    Its other commands stay where they are: which branch a command of PowerShell is in, its line tells.
    """
    functions = dict(_handing_on(listed))
    called = {name for name in map(_called_by, listed) if name in functions}
    passed = {at for name in called for at in functions[name].passing}
    if sum(len(functions[name].passing) for name in map(_called_by, listed) if name in called) * _COMMAND > _MOST:
        yield from listed
        return
    for at, command in enumerate(listed):
        name = _called_by(command)
        if name in called:
            yield from _run(command, name, functions[name], listed)
        elif at not in passed:
            yield command


def _handing_on(listed: Sequence[Command]) -> Iterator[tuple[str, _Function]]:
    for at, command in enumerate(listed):
        texts = [word.text.lower() for word in command.words]
        end, last = at + 1, min(len(listed), at + _LONGEST)
        while texts[0] == "function" and len(texts) > 1 and end < last and listed[end].depth > command.depth:
            end += 1
        name, _, said = " ".join(texts[1:]).partition("(")
        if end > at + 2 and listed[at + 1].words[0].text.lower() == "param":
            said = " ".join(word.text.lower() for word in listed[at + 2].words)
        parameters = _PARAMETER.findall(said)
        function = _Function((), frozenset(parameters if len(parameters) == 1 else ()))
        passing = tuple(each for each in range(at + 1, end) if _hands_on(listed[each], function))
        if passing:
            yield name.strip(), function._replace(passing=passing)


def _hands_on(command: Command, function: _Function) -> bool:
    """Return whether a command installs what the function gets, or does what that says of pip."""
    if not any(map(function.is_handed, command.words)):
        return False
    words = [word for word in command.words if not function.is_handed(word)]
    calls = (read_pip_command((*words, *(replace(words[0], text=text) for text in more))) for more in ((), _AS_IF))
    return any(call is not None and call.verb == "install" for call in calls) if words else False


def _called_by(command: Command) -> str:
    return next((word.text.lower() for word in command.words if word.text not in _BEFORE | {"&", "."}), "")


def _run(call: Command, name: str, function: _Function, listed: Sequence[Command]) -> Iterator[Command]:
    """Yield what a function of that name installs that is called so; it looks itself whether that succeeds."""
    at = next(at for at, word in enumerate(call.words) if word.text.lower() == name)
    given = [
        word for word in call.words[at + 1 :] if word.text[1:].lower() not in function.parameters or word.text[0] != "-"
    ]
    for each in function.passing:
        words = [given if function.is_handed(word) else (word,) for word in listed[each].words]
        filled = (*call.words[:at], *(replace(word, line=call.words[at].line) for each in words for word in each))
        last = replace(call, words=filled, joined=call.joined or "&&")
        yield last if each == function.passing[-1] else replace(last, ends=";")
