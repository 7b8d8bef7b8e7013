"""What the subroutines of a batch file do (``call :name``), where they are called: with those arguments and there."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from envdoctor.adapters.project.script_functions import Room, TooMany
from envdoctor.adapters.project.shell_words import Command, Word

__all__ = ["with_calls_of_batch"]

_ARGUMENT = re.compile(r"%~?([1-9])|%(\*)|%\w+%")
_LONGEST = 1_000
"""Commands of a subroutine."""

_Bodies = Mapping[str, range]


def with_calls_of_batch(listed: Sequence[Command]) -> Sequence[Command]:
    """Return a batch file's commands, those of a subroutine behind each call of it and nowhere else.

    One that jumps about, or that the script also comes to in another way, stays where it is.
    """
    bodies = dict(_bodies(listed))
    called = {name for command in listed if (name := _call(command)[1]) in bodies}
    inside = {at for name in called for at in range(bodies[name].start - 1, bodies[name].stop)}
    try:
        room = Room()
        return [
            each
            for at, command in enumerate(listed)
            if at not in inside
            for each in _expanded(command, listed[at - 1].joined if at else "", listed, bodies, (), room)
        ]
    except TooMany:
        return listed


def _bodies(listed: Sequence[Command]) -> Iterator[tuple[str, range]]:
    """Yield the subroutines that do nothing but run from their label to where they go back."""
    firsts = [_first(command) for command in listed]
    labels = Counter(first[1:] for first in firsts if first[:1] == ":")
    jumps = {target for command in listed for target in _jumps(command)}
    for at, first in enumerate(firsts):
        name = first[1:]
        if first[:1] != ":" or not name or labels[name] > 1 or name in jumps or not at or not _leaves(listed[at - 1]):
            continue
        end = at + 1
        while end < len(listed) and end - at < _LONGEST and firsts[end][:1] != ":" and not _goes_back(listed[end]):
            end += 1
        body = listed[at + 1 : end]
        ends = end == len(listed) or _goes_back(listed[end])
        if body and ends and not any(_is_jump(command) for command in body):
            yield name, range(at + 1, min(end + 1, len(listed)))


def _first(command: Command) -> str:
    return command.words[0].text.lower().lstrip("@")


def _texts(command: Command) -> list[str]:
    return [word.text.lower() for word in command.words]


def _leaves(command: Command) -> bool:
    """Return whether a command leads elsewhere in any case."""
    return not command.depth and _first(command) in ("exit", "goto")


def _goes_back(command: Command) -> bool:
    return _leaves(command) and _is_end(command)


def _is_end(command: Command) -> bool:
    """Return whether a command begins with what ends a subroutine."""
    second = (*_texts(command)[1:], "")[0]
    return (_first(command), second) in (("goto", ":eof"), ("exit", "/b")) or _first(command) == "goto:eof"


def _jumps(command: Command) -> Iterator[str]:
    texts = _texts(command)
    for at, text in enumerate(texts):
        if text.startswith("goto"):
            yield (text.removeprefix("goto") or (*texts[at + 1 :], "")[0]).removeprefix(":")


def _is_jump(command: Command) -> bool:
    """Return whether a command leads elsewhere than back to where it was called."""
    texts = _texts(command)
    ends = "exit" in texts and texts[texts.index("exit") + 1 :][:1] != ["/b"]
    return ends or any(target != "eof" for target in _jumps(command))


def _call(command: Command) -> tuple[int, str]:
    """Return where a command calls a subroutine, and which; an empty name where it calls none."""
    texts = [text.lstrip("@") for text in _texts(command)]
    at = texts.index("call") if "call" in texts else 0
    name = (*texts[at + 1 :], "")[0] if texts[at] == "call" else ""
    return at, name[1:] if name[:1] == ":" else ""


def _expanded(
    command: Command, joined: str, listed: Sequence[Command], bodies: _Bodies, within: tuple[str, ...], room: Room
) -> Iterator[Command]:
    """Yield a command, and behind it what it calls; behind a condition that is as good as in brackets.

    Raises TooMany.
    """
    at, name = _call(command)
    if name not in bodies or name in within:
        yield command
        return
    asked, arguments = command.words[:at], command.words[at + 2 :]
    shifted = any(_first(listed[each]) == "shift" for each in bodies[name])
    own = [listed[each] for each in bodies[name] if not _is_end(listed[each])]
    level, deeper = command.level, command.depth + (joined in ("&&", "||"))
    yield replace(command, ends=";", joined="", depth=deeper, level=deeper) if own else command
    deeper, joined = deeper + bool(asked), ""
    for number, each in enumerate(own, start=1):
        room.take_command(within, sum(len(word.text) for word in arguments))
        words = each.words if shifted else tuple(_put_into(each.words, arguments))
        if _first(each) != "set":  # A value counts behind it, too.
            words = (*(replace(word, line=words[0].line) for word in asked), *words)
        each = replace(
            each, words=words, depth=deeper + each.depth, level=deeper + each.level, within=command.within + 1
        )
        if number == len(own):
            each = replace(each, ends=command.ends, joined=command.joined, level=level)
        yield from _expanded(each, joined, listed, bodies, (*within, name), room)
        joined = each.joined


def _put_into(words: Sequence[Word], arguments: Sequence[Word]) -> Iterator[Word]:
    """Yield the words of a command with the arguments in them; their lines say where one is to be changed."""

    def value(match: re.Match[str]) -> str:
        if match[2]:
            return " ".join(word.text for word in arguments)
        at = int(match[1]) - 1 if match[1] else -1
        return match.group() if at < 0 else arguments[at].text if at < len(arguments) else ""

    for number, word in enumerate(words):
        whole = _ARGUMENT.fullmatch(word.text)
        if whole is not None and (whole[1] or whole[2]):
            given = arguments if whole[2] else arguments[int(whole[1]) - 1 :][:1]
            yield from (replace(each, line=word.line) if not number else each for each in given)
            if not given and not number:
                yield replace(word, text="")
        else:
            yield replace(word, text=_ARGUMENT.sub(value, word.text))
