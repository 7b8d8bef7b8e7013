"""The commands of a script, with those of the texts that it hands to a shell (``bash -c``, ``Invoke-Expression``)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from envdoctor.adapters.project.shell_words import Command, Dialect, Word, plain_commands, program
from envdoctor.model.dataclass import dataclass

__all__ = ["commands"]

_SHELLS, _HANDS = frozenset({"sh", "bash", "dash", "ash", "zsh", "su"}), re.compile(r"-[a-z]*c")
_KEPT = re.compile(r"^(?:[A-Za-z_]\w*=)?(?:\$\(|`)(?P<inside>.*)[)`]$", re.S)
_INSTALLER, _INSTALL = re.compile(r"\b(?:pip3?|uv|conda|mamba|micromamba)\b"), re.compile(r"\binstall\b")
_OF_WINDOWS = {
    "cmd": (re.compile(r"/[ck]", re.I), Dialect.CMD),
    "powershell": (re.compile(r"-c(?:ommand)?", re.I), Dialect.POWERSHELL),
    "pwsh": (re.compile(r"-c(?:ommand)?", re.I), Dialect.POWERSHELL),
}
_NEAR = 8
"""Words at the start of a command among which a shell stands."""
_BEFORE = frozenset({"then", "else", "do", "{", "if", "!", "time", "sudo", "&"})
_OF_START = re.compile(
    r"-(?:wait|nonewwindow|passthru|verb|filepath|w(?:orking|indow)\w*|redirect\w*|args|argumentlist)$", re.I
)
_ARGUMENTS = re.compile(r"-(?:args|argumentlist)$", re.I)


@dataclass(frozen=True, slots=True)
class _Handed:
    """A text that a command hands to a shell."""

    at: int
    """How many words stand before it."""
    text: str
    dialect: Dialect
    same: bool = False
    """It is the shell that reads the script."""


def commands(text: str, dialect: Dialect, *, over_lines: bool = True) -> Iterator[Command]:
    """Yield the commands of a script in order; for one that hands a text to a shell those of that.

    Of one that keeps what an install prints (``said=$(pip install ...)``) that is the install. ``over_lines``: a quote
    may end on a later line, as none does in a Dockerfile or behind a notebook's ``!``.
    """
    count = 0
    for command in plain_commands(text, dialect, over_lines=over_lines):
        handed = _handed(command.words, dialect)
        inner = [] if handed is None else list(plain_commands(handed.text, handed.dialect))
        count += bool(inner)
        for each in inner:
            before = command.words[: handed.at] if handed is not None else ()
            own = each.shells or handed is None or not handed.same
            words = (*before, *(replace(word, line=command.words[0].line) for word in each.words))
            shells = (*command.shells, *((-count, *each.shells) if own else ()))
            each = replace(each, words=words, depth=command.depth + each.depth, shells=shells)
            ends, arm = command.ends, command.ends_arm
            last = replace(each, ends=ends, level=command.level, joined=command.joined, ends_arm=arm)
            yield each if each.joined else last
        if not inner:
            yield command


def _handed(words: Sequence[Word], dialect: Dialect) -> _Handed | None:
    if dialect is Dialect.POSIX:
        return _of_posix(words)
    texts = [word.text for word in words]
    at = next((at for at, text in enumerate(texts) if text.lower() not in _BEFORE), 0)
    first = texts[at].lower().lstrip("@")
    if first in ("invoke-expression", "iex") and dialect is Dialect.POWERSHELL:
        return _Handed(at, " ".join(texts[at + 1 :]), dialect)
    if first in ("start-process", "saps"):
        return _Handed(at, _started(texts[at + 1 :]), dialect)
    for place, text in enumerate(texts[:_NEAR]):
        asks, inner = _OF_WINDOWS.get(program(text), (None, dialect))
        told = next((n for n in range(place + 1, len(texts)) if asks is not None and asks.fullmatch(texts[n])), None)
        # Words that stand apart are read as those of the command itself.
        if told is not None and len(texts) == told + 2:
            return _Handed(place, texts[told + 1], inner)
    return None


def _started(texts: Sequence[str]) -> str:
    """Return as one line what PowerShell's Start-Process starts."""
    found: list[str] = []
    option = ""
    for text in texts:
        if _OF_START.match(text):
            option = text.lower()
        elif not option or option == "-filepath":
            found.insert(0, text)
        elif _ARGUMENTS.match(option):
            found += re.split(r"[\s,]+", text.removeprefix("@").strip("()"))
        else:
            option = "-filepath"
    return " ".join(found)


def _of_posix(words: Sequence[Word]) -> _Handed | None:
    at = next((at for at, word in enumerate(words) if word.text not in _BEFORE), 0)
    if words[at].text == "eval":
        return _Handed(at, " ".join(word.text for word in words[at + 1 :]), Dialect.POSIX, same=True)
    for place, word in enumerate(words[:_NEAR]):
        kept = _KEPT.match(word.text)
        installer = _INSTALLER.search(kept["inside"]) if kept is not None else None
        if kept is not None and installer is not None and _INSTALL.search(kept["inside"], installer.end()):
            return _Handed(place, kept["inside"], Dialect.POSIX)
    at = next((at for at, word in enumerate(words[:_NEAR]) if word.text.rpartition("/")[2] in _SHELLS), -1)
    if at < 0 or words[0].text in {"echo", "printf"}:
        return None
    before = words[at].text
    for number, word in enumerate(words[at + 1 : -1], start=at + 2):
        if _HANDS.fullmatch(word.text):
            return _Handed(at, words[number].text, Dialect.POSIX)
        if word.text[:1] not in "-+" and before[-1:] not in "oO" and before != "-" and not before.endswith("su"):
            break  # A script, and what is handed to that.
        before = word.text
    return None
