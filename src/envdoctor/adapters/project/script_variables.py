"""Variables that a script sets to plain values, lists and loops over them among these, and uses later."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import field, replace

from envdoctor.adapters.project.shell_words import Dialect, Word
from envdoctor.model.dataclass import dataclass

__all__ = ["ScriptVariables"]

_USE = {
    Dialect.POSIX: re.compile(r"\$(?:\{(?P<braced>\w+)(?:\[[@*]\])?(?::?-(?P<default>[^{}]*))?\}|(?P<name>\w+|@|\*))"),
    Dialect.CMD: re.compile(r"%(?P<name>\w+)%|!(?P<braced>\w+)!|%%(?P<loop>\w)\b|%(?P<default>[~\d*]\w*)"),
    Dialect.POWERSHELL: re.compile(r"\$\{?(?:env:)?(?P<name>\w+)\}?|^@(?P<braced>\w+)$", re.I),
}
_LONGEST = 10_000
"""Characters that values may add to a text: one that names another twice, and so on, doubles with each line."""
_ASSIGNMENT = re.compile(r"^(?P<name>[A-Za-z_]\w*)\+?=(?P<value>.*)$", re.S)
_OF_POWERSHELL = re.compile(r"^(?:\[[\w.]+(?:\[\])?\])*\$(?:env:)?(?P<name>\w+)(?P<value>=.*)?$", re.I)
_LIST = re.compile(r"^@?\((?P<inside>.*)\)$", re.S)
_COMPUTED = re.compile(r"[`]|\$\(")


@dataclass(slots=True)
class ScriptVariables:
    """The values known so far; a name that is set twice to different values is not known."""

    dialect: Dialect
    _values: dict[str, str | None] = field(default_factory=dict)
    _loop: str | None = None
    """The variable of a loop whose values the next command lists, in a batch file."""

    def learn(self, words: Sequence[Word]) -> None:
        """Take note of an assignment or of a loop, if the command is one."""
        texts = [word.text for word in words]
        if self.dialect is Dialect.POWERSHELL:
            self._learn_powershell(texts)
        elif self.dialect is Dialect.CMD:
            self._learn_batch(texts)
        elif texts[0] == "for" and texts[2:3] == ["in"]:
            self._over(texts[1], texts[3:])
        else:
            first = texts[0].lower().lstrip("@")
            for text in texts[1:] if first in {"export", "readonly", "local", "declare"} else texts:
                if not self._assign(text):
                    return

    def _learn_powershell(self, texts: Sequence[str]) -> None:
        if texts[1:2] == ["in"] and texts[0].startswith("$"):
            self._over(texts[0].lstrip("$"), texts[2:])
            return
        for at, text in enumerate(texts):
            match = _OF_POWERSHELL.match(text)
            if match is not None and match["value"]:
                self._set(match["name"], match["value"][1:])
            elif match is not None and texts[at + 1 : at + 2] == ["="]:
                # Between the brackets of `param` several stand in a row, each with one value.
                value = " ".join(texts[at + 2 :]) if at == 0 else "".join(texts[at + 2 : at + 3]).rstrip(",")
                self._set(match["name"], value)

    def _learn_batch(self, texts: Sequence[str]) -> None:
        first = texts[0].lower().lstrip("@")
        if self._loop is not None:
            self._over(self._loop, texts)
            self._loop = None
        elif first == "for" and texts[2:3] and texts[2].lower() == "in" and texts[1].startswith("%%"):
            self._loop = texts[1].lstrip("%")
        elif first == "set" and len(texts) > 1 and not texts[1].startswith("/"):
            self._assign(" ".join(texts[1:]))

    def _over(self, name: str, values: Sequence[str]) -> None:
        """Let a loop's variable stand for all values that it takes: each of them is installed."""
        value = " ".join(self._expand(text) for text in values)
        self._values[self._key(name)] = None if not value or self.unknown(value) else value

    def expanded(self, words: Sequence[Word]) -> tuple[Word, ...]:
        """Return the words with known variables replaced; a value with spaces becomes several words."""
        result: list[Word] = []
        for word in words:
            text = self._expand(word.text)
            if text == word.text or " " not in text:
                result.append(replace(word, text=text))
            else:
                result += [Word(part, word.line) for part in text.split()]
        return tuple(result)

    def unknown(self, text: str) -> str | None:
        """Return the first variable in ``text`` that is not known, or the substitution that only a shell computes."""
        if self.dialect is not Dialect.CMD and _COMPUTED.search(text):
            return text
        match = _USE[self.dialect].search(text)
        return match.group() if match else None

    def _assign(self, text: str) -> bool:
        match = _ASSIGNMENT.match(text)
        if match is None:
            return False
        self._set(match["name"], match["value"])
        return True

    def _set(self, name: str, value: str) -> None:
        key = self._key(name)
        items = _LIST.match(value)
        plain = self._expand(items["inside"].replace(",", " ").strip() if items else value)
        known = None if self.unknown(plain) else plain
        if key in self._values and self._values[key] != known:
            known = None
        self._values[key] = known

    def _key(self, name: str) -> str:
        return name if self.dialect is Dialect.POSIX else name.lower()

    def _expand(self, text: str) -> str:
        room = _LONGEST

        def value(match: re.Match[str]) -> str:
            nonlocal room
            found = match.groupdict()
            name = found["name"] or found["braced"] or found.get("loop") or ""
            known = self._values.get(self._key(name))
            if known is not None:
                room -= len(known)
                return known if room >= 0 else match.group()
            if self.dialect is Dialect.POSIX and found["default"] is not None and name not in self._values:
                return found["default"]
            return match.group()

        return _USE[self.dialect].sub(value, text) if any(sign in text for sign in "$%!@") else text
