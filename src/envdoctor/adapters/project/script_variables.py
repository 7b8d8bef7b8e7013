"""Variables that a script sets to a plain value and uses later."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from envdoctor.adapters.project.shell_words import Dialect, Word

__all__ = ["ScriptVariables"]

_USE = {
    Dialect.POSIX: re.compile(r"\$(?:\{(?P<braced>\w+)(?::?-(?P<default>[^}]*))?\}|(?P<name>\w+|@|\*))"),
    Dialect.CMD: re.compile(r"%(?P<name>\w+)%|!(?P<braced>\w+)!|%(?P<default>[~\d*]\w*)"),
    Dialect.POWERSHELL: re.compile(r"\$\{?(?:env:)?(?P<name>\w+)\}?(?P<braced>\Z.)?(?P<default>\Z.)?", re.I),
}
_ASSIGNMENT = re.compile(r"^(?P<name>[A-Za-z_]\w*)=(?P<value>.*)$", re.S)
_COMPUTED = re.compile(r"[`]|\$\(")


@dataclass(slots=True)
class ScriptVariables:
    """The values known so far; a name that is set twice to different values is not known."""

    dialect: Dialect
    _values: dict[str, str | None] = field(default_factory=dict)

    def learn(self, words: Sequence[Word]) -> None:
        """Take note of an assignment, if the command is one."""
        texts = [word.text for word in words]
        first = texts[0].lower().lstrip("@")
        if self.dialect is Dialect.POWERSHELL:
            match = re.match(r"^\$(?:env:)?(\w+)(=.*)?$", texts[0], re.I)
            if match and (match.group(2) or texts[1:2] == ["="]):
                self._set(match.group(1), match.group(2)[1:] if match.group(2) else " ".join(texts[2:]))
            return
        if self.dialect is Dialect.CMD:
            if first == "set" and len(texts) > 1 and not texts[1].startswith("/"):
                self._assign(" ".join(texts[1:]))
            return
        for text in texts[1:] if first in {"export", "readonly", "local", "declare"} else texts:
            if not self._assign(text):
                return

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
        key = name.lower() if self.dialect is not Dialect.POSIX else name
        plain = self._expand(value)
        known = None if self.unknown(plain) else plain
        if key in self._values and self._values[key] != known:
            known = None
        self._values[key] = known

    def _expand(self, text: str) -> str:
        def value(match: re.Match[str]) -> str:
            name = match["name"] or match["braced"] or ""
            found = self._values.get(name.lower() if self.dialect is not Dialect.POSIX else name)
            if found is not None:
                return found
            if self.dialect is Dialect.POSIX and match["default"] is not None and name not in self._values:
                return match["default"]
            return match.group()

        return _USE[self.dialect].sub(value, text) if "$" in text or "%" in text or "!" in text else text
