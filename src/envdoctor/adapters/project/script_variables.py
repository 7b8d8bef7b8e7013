"""Variables that a script sets to plain values, lists and loops over them among these, and uses later."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import field, replace
from itertools import pairwise

from envdoctor.adapters.project.shell_words import Dialect, Word
from envdoctor.model.dataclass import dataclass

__all__ = ["ScriptVariables"]

_USE = {
    Dialect.POSIX: re.compile(
        r"\$(?:\{(?P<braced>\w+)(?:\[[@*]\])?(?::?[-=](?P<default>[^{}]*))?\}|(?P<name>\w+|@|\*))"
    ),
    Dialect.CMD: re.compile(r"%(?P<name>\w+)%|!(?P<braced>\w+)!|%%(?P<loop>\w)\b|%(?P<default>[~\d*]\w*)"),
    Dialect.POWERSHELL: re.compile(r"\$\{?(?:env:)?(?P<name>\w+\b)\}?(?!\.[a-z_]\w*\(|\[\d)|^@(?P<braced>\w+)$", re.I),
}
_LONGEST = 10_000
"""Characters that values may add to a text: one that names another twice, and so on, doubles with each line."""
_ASSIGNMENT = re.compile(r"^(?P<name>[A-Za-z_]\w*)(?P<more>\+?)=(?P<value>.*)$", re.S)
_OF_POWERSHELL = re.compile(r"^(?:\[[\w.]+(?:\[\])?\])*\$(?:env:)?(?P<name>\w+)(?P<value>\+?=.*)?$", re.I)
_LIST = re.compile(r"^@?\((?P<inside>.*)\)$", re.S)
_COMMA = re.compile(r",(?!\s*[<>=!~])(?![^\[\]]{0,200}\])")
"""Between two of a list, and not between two bounds or extras of one."""
_COMPUTED = re.compile(r"[`]|\$\(")
_OPERATOR = re.compile(r"(?:^|\s)-[ci]?(?:replace|split|join|match|as|f)\b", re.I)
_PART = {
    Dialect.POSIX: re.compile(r"\$\{"),
    Dialect.CMD: re.compile(r"%\w+:[^%]*%|!\w+:[^!]*!"),
    Dialect.POWERSHELL: re.compile(r"\$\{?(?:env:)?\w+\}?(?:\.[a-z_]\w*\(|\[\d).*", re.I | re.S),
}
"""What a shell computes of a variable: a part of it, or what it makes of it."""
_MADE = re.compile(r"@\{|\[[\w.]+\]::")
"""A table of PowerShell's, or what a class makes."""
_RUNS = frozenset({"if", "switch", "foreach", "for", "while", "do", "try", "&", "."})
_KEYWORDS = ("then", "else", "do", "{")


@dataclass(slots=True)
class ScriptVariables:
    """The values known so far; none where a command that may not run sets another one."""

    dialect: Dialect
    _values: dict[str, str | None] = field(default_factory=dict)
    _lists: set[str] = field(default_factory=set)
    _looped: set[str] = field(default_factory=set)
    """Of those that stand for several values those of loops: a command runs with each of them."""
    _certain: bool = True
    _loop: str | None = None
    """The variable of a loop whose values the next command lists, in a batch file."""
    not_here: ScriptVariables | None = None
    """Those that are set and do not reach the command that is read."""

    def copy(self) -> ScriptVariables:
        """Return what a script knows at its start that another one runs in its own shell."""
        return ScriptVariables(self.dialect, dict(self._values), set(self._lists), set(self._looped))

    def learn(self, words: Sequence[Word], *, certain: bool = True) -> None:
        """Take note of an assignment or of a loop, if the command is one. ``certain``: it runs, and once."""
        self._certain = certain
        texts = [word.text for word in words]
        while self.dialect is Dialect.POSIX and texts[1:] and texts[0] in _KEYWORDS:
            texts = texts[1:]
        if self.dialect is Dialect.POWERSHELL:
            self._learn_powershell(texts)
        elif self.dialect is Dialect.CMD:
            self._learn_batch(texts)
        elif texts[0] == "for" and texts[2:3] == ["in"]:
            self._over(texts[1], texts[3:])
        else:
            first = texts[0].lower().lstrip("@")
            named = [text for text in texts[1:] if text[:1] != "-"]
            for text in named if first in {"export", "readonly", "local", "declare"} else texts:
                if not self._assign(text):
                    return

    def _learn_powershell(self, texts: Sequence[str]) -> None:
        if texts[1:2] == ["in"] and texts[0].startswith("$"):
            self._over(texts[0].lstrip("$"), [part for text in texts[2:] for part in _parts(text)])
            return
        for at, text in enumerate(texts):
            match = _OF_POWERSHELL.match(text)
            more, sign, value = (match["value"] or "").partition("=") if match is not None else ("", "", "")
            rest = list(texts[at + 1 :])
            if match is not None and not sign and rest[:1] in (["="], ["+="]):
                more, sign = rest.pop(0)[:-1], "="
            elif sign:
                rest.insert(0, value)
            if match is not None and sign:
                # Between the brackets of `param` several stand in a row, each with one value.
                after = (n for n in range(1, len(rest)) if _is_assignment(rest[n : n + 2]))
                self._set_powershell(match["name"], rest[: 1 if at else next(after, None)] or [""], more=bool(more))

    def _set_powershell(self, name: str, words: Sequence[str], *, more: bool) -> None:
        parts = [word for word in words if word.lower() not in ("-path", "-childpath")]
        if len(parts) == 3 and parts[0].lower() == "join-path":
            # A list is found by its name, whatever the folder is called.
            self._set(name, f"{parts[1]}\\{parts[2]}", is_path=True)
            return
        listed = len(words) > 1 and all(one.endswith(",") or two.startswith(",") for one, two in pairwise(words))
        runs = words[0].lower() in _RUNS or _MADE.match(words[0]) is not None or (len(words) > 1 and not listed)
        listed |= len(words) == 1 and len(_parts(words[0])) > 1 and _LIST.match(words[0]) is None
        value = " ".join(filter(None, (word.strip(",") for word in words)))
        self._set(name, f"({value})" if listed else value, more=more, computed=runs)

    def _learn_batch(self, texts: Sequence[str]) -> None:
        texts = [text for at, text in enumerate(texts) if at != 1 or text.lower() != "/d"]  # `for /d %%d in (*)`
        first = texts[0].lower().lstrip("@")
        if self._loop is not None:
            self._over(self._loop, [part for text in texts for part in _COMMA.split(text)])
            self._loop = None
        elif first == "for" and texts[2:3] and texts[2].lower() == "in" and texts[1].startswith("%%"):
            self._loop = texts[1].lstrip("%")
        elif first == "set" and len(texts) > 1 and not texts[1].startswith("/"):
            self._assign(" ".join(texts[1:]))

    def _over(self, name: str, values: Sequence[str]) -> None:
        """Let a loop's variable stand for all values that it takes: each of them is installed."""
        value = " ".join(self._expand(text) for text in values)
        self._values[self._key(name)] = None if not value or self.unknown(value) else value
        self._lists.add(self._key(name))
        self._looped.add(self._key(name))

    def expanded(self, words: Sequence[Word]) -> tuple[Word, ...]:
        """Return the words with known variables replaced; a value with spaces becomes several words.

        What comes to nothing is one word without text: a command has a first word, which tells its line.
        """
        result: list[Word] = []
        for at, word in enumerate(words):
            if len(each := self._with_each(word.text)) > 1:
                option = words[at - 1 : at] if at and words[at - 1].text[:1] == "-" else ()
                result += [one for text in each for one in (*option, replace(word, text=text))][len(option) :]
                continue
            text = self._expand(word.text)
            is_value = word.quoted and at > 0 and (words[at - 1].text[:1] == "-" or word.text[:1] == "-")
            if self.dialect is Dialect.POWERSHELL and len(parts := _parts(text)) > 1:
                result += [Word(part, word.line) for part in parts if part]
            elif self._stays_one(word, text) or (is_value and not self._has_several(word.text)):
                result.append(replace(word, text=text))
            else:
                result += [Word(part, word.line) for part in text.split()]
        return tuple(result or [Word("", word.line) for word in words[:1]])

    def _with_each(self, text: str) -> list[str]:
        """Return a word with each value of a loop's variable in it; nothing without such a variable."""
        uses = (self._key(_named(use)) for use in _USE[self.dialect].finditer(text)) if self._looped else ()
        name = next((one for one in uses if one in self._looped), None)
        values = self._values.get(name) if name is not None else None
        if name is None or values is None or len(values) > _LONGEST:
            return []
        found = []
        for value in values.split():
            self._values[name] = value
            found.append(self._expand(text))
        self._values[name] = values
        return found

    def _stays_one(self, word: Word, text: str) -> bool:
        """Return whether a word is one with its variables replaced, as commands are whose output it is."""
        computed = self.dialect is not Dialect.CMD and _COMPUTED.search(word.text) is not None
        return computed or text == word.text or " " not in text

    def _has_several(self, text: str) -> bool:
        """Return whether a variable in a text stands for a list, or for what a loop goes through."""
        return any(self._key(_named(use)) in self._lists for use in _USE[self.dialect].finditer(text))

    def unknown(self, text: str) -> str | None:
        """Return the first variable in ``text`` that is not known, or the substitution that only a shell computes."""
        if self.dialect is not Dialect.CMD and _COMPUTED.search(text):
            return text
        match = _USE[self.dialect].search(text)
        if match is None and _PART[self.dialect].search(text):
            return text
        return match.group() if match else None

    def value(self, name: str) -> str | None:
        """Return the value that a variable has by now, None where it is not known."""
        return self._values.get(self._key(name))

    def _assign(self, text: str) -> bool:
        match = _ASSIGNMENT.match(text)
        if match is None:
            return False
        self._set(match["name"], match["value"], more=bool(match["more"]))
        return True

    def _set(self, name: str, value: str, *, more: bool = False, computed: bool = False, is_path: bool = False) -> None:
        key = self._key(name)
        items = _LIST.match(value)
        inside = _COMMA.sub(" ", items["inside"]).strip() if items else value
        plain = self._expand(inside)
        computed |= self.dialect is Dialect.POWERSHELL and _OPERATOR.search(inside) is not None
        known = None if computed or (self.unknown(plain) and not is_path) else plain
        before = self._values.get(key, "" if more else None)
        grows = more or any(self._key(_named(use)) == key for use in _USE[self.dialect].finditer(inside))
        if more and known is not None and before is not None:
            known = self._joined(key, before, known, of_list=items is not None)
        # Behind a label of a batch file nobody knows who came there; else the last one that runs in any case counts.
        replaces = before is not None if grows else self.dialect is not Dialect.CMD
        if key in self._values and before != known and not (self._certain and replaces):
            known = None
        self._values[key] = None if known is not None and len(known) > _LONGEST else known
        if items is not None:
            self._lists.add(key)

    def _joined(self, key: str, before: str, value: str, *, of_list: bool) -> str | None:
        """Return what is there with what is put behind it: a text goes on, a list has one more."""
        if self.dialect is Dialect.POSIX:
            if of_list:
                return f"{before} {value}".strip()
            return None if key in self._lists else before + value
        if key in self._lists:
            return None if "," in value else f"{before} {value}".strip()
        # A comma makes a list of texts, too.
        return None if of_list or "," in before + value else before + value

    def _key(self, name: str) -> str:
        return name if self.dialect is Dialect.POSIX else name.lower()

    def _expand(self, text: str) -> str:
        room = _LONGEST

        def value(match: re.Match[str]) -> str:
            nonlocal room
            name = _named(match)
            known = self._values.get(self._key(name))
            if known is not None:
                room -= len(known)
                return known if room >= 0 else match.group()
            if self.dialect is Dialect.POSIX and match["default"] is not None and name not in self._values:
                return match["default"]
            return match.group()

        return _USE[self.dialect].sub(value, text) if any(sign in text for sign in "$%!@") else text


def _parts(text: str) -> list[str]:
    """Return what stands in a list, with brackets or without; PowerShell hands each to a command by itself."""
    if text.startswith("@(") and text.endswith(")"):
        return [each for part in _COMMA.split(text[2:-1]) for each in ("", *part.split())]
    return [text] if "://" in text or "(" in text else _COMMA.split(text)


def _is_assignment(texts: Sequence[str]) -> bool:
    match = _OF_POWERSHELL.match(texts[0])
    return match is not None and (bool(match["value"]) or texts[1:] in (["="], ["+="]))


def _named(use: re.Match[str]) -> str:
    found = use.groupdict()
    return found["name"] or found["braced"] or found.get("loop") or ""
