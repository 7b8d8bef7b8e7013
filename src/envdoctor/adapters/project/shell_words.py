"""The commands of a script, split into words as its shell would, without running anything.

Three dialects: POSIX shells (and Dockerfile ``RUN``), ``cmd`` batch files, and PowerShell. What a shell computes is not
followed; simple assignments of variables are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import field, replace

from envdoctor.adapters.project.shell_lines import CONTINUATION, Dialect, LogicalText, joined_lines
from envdoctor.model.dataclass import dataclass

__all__ = ["Command", "Dialect", "Word", "plain_commands", "program"]


_QUOTES = {Dialect.POSIX: "\"'", Dialect.CMD: '"', Dialect.POWERSHELL: "\"'"}
_SEPARATOR = {
    # A brace holds commands together where it is a word of its own.
    Dialect.POSIX: re.compile(r"&&|\|\||;;|;|\|&|\||&(?!>)|\(|\)|\{(?=\s|$)|\}(?=[\s;&|)]|$)"),
    Dialect.CMD: re.compile(r"&&|\|\||\||&|\(|\)"),
    Dialect.POWERSHELL: re.compile(r"&&|\|\||;|\||\(|\)|\{|\}"),
}
_OPENING, _CLOSING = ("(", "{"), (")", "}")
_DEEPEST = 100
"""Subshells in one another; what runs deeper counts to the last of them."""
_REDIRECTION = re.compile(r"(?:&>|>>|>&|>|<)")
_OF_WINDOWS = re.compile(r"\.(?:exe|bat|cmd)$")
_PLAIN = re.compile(r"[\w./:=,+@%~-]+")
"""Signs that mean nothing but themselves in every dialect, in quotes, too: most of a script."""
_PLAIN_OF_POSIX = re.compile(rf"{_PLAIN.pattern}|`[^`\n]*`")
"""And of a shell, outside quotes, commands whose output is a word."""


@dataclass(frozen=True, slots=True)
class Word:
    """A word after quotes were removed, and its physical line."""

    text: str
    line: int
    redirected: str = ""
    """What the shell cut off this very word as a redirection: ``>=2.0`` of an unquoted ``torch>=2.0``."""
    quoted: bool = False
    """A variable stands in quotes: what it comes to is not parted."""


@dataclass(frozen=True, slots=True)
class Command:
    """A simple command; ``ends`` is the separator behind it, a newline by default, ``ends_arm`` says so of a `case`."""

    words: tuple[Word, ...]
    ends: str = "\n"
    depth: int = 0
    """How many brackets are open around it."""
    level: int = 0
    """How many are open behind it, where it closes some."""
    joined: str = ""
    """What joins it, with the brackets that it closes, to the next command of its line."""
    shells: tuple[int, ...] = ()
    """The subshells and functions of a POSIX shell that it runs in, outermost first; all of a script are numbered."""
    into: tuple[Word, ...] = ()
    """The files that its output goes into."""
    ends_arm: bool = False
    within: int = 0
    """The calls of a batch file's subroutines that it runs in: each is the last command with one less."""


@dataclass(slots=True)
class _Subshells:
    """The brackets that are open; a function's body counts as a subshell: it runs when somebody calls it."""

    count: int = 0
    before: str = ""
    open: list[tuple[str, int]] = field(default_factory=list)
    """Each with its number, 0 where it holds commands together alone."""

    @property
    def numbers(self) -> tuple[int, ...]:
        """Those that run in shells of their own, outermost first."""
        return tuple(number for _, number in self.open[:_DEEPEST] if number)

    def step(self, kind: str, words: Sequence[Word]) -> None:
        """Follow a separator, with the words before it."""
        if kind in _OPENING:
            body = words[0].text == "function" or words[-1].text.endswith("()") if words else self.before == ")"
            self.count += 1
            self.open.append((kind, self.count if kind == "(" or body else 0))
        elif kind in _CLOSING and self.open and self.open[-1][0] == _OPENING[_CLOSING.index(kind)]:
            self.open.pop()
        if words or kind != "\n":
            self.before = ")" if words and words[-1].text.endswith("()") else kind


def program(text: str) -> str:
    """Return what a program is called that a word starts, in small letters."""
    name = re.split(r"[\\/]", text.lower().lstrip("@"))[-1]
    return _OF_WINDOWS.sub("", name) or name


def plain_commands(text: str, dialect: Dialect, *, over_lines: bool = True) -> Iterator[Command]:
    """Yield the commands of a script in order, as they stand there; ``over_lines``: a quote may end on a later line."""
    depth, subshells = 0, _Subshells()
    words: list[Word] = []
    into: list[Word] = []
    last: Command | None = None
    for joined in joined_lines(text, dialect, over_lines=over_lines):
        on_line = False
        for kind, word in (*_Reader(joined, dialect).tokens(), ("\n", None)):
            if word is not None:
                (into if kind == ">" else words).append(word)
                continue
            if words:
                if last is not None:
                    yield last
                last = Command(tuple(words), kind, depth, depth, shells=subshells.numbers, into=tuple(into))
                on_line = True
            depth = max(0, depth + (kind in _OPENING) - (kind in _CLOSING))
            if dialect is Dialect.POSIX:
                subshells.step(kind, words)
            words, into = [], []
            if last is not None and on_line and kind not in _OPENING and kind != "\n":
                last = replace(last, level=min(last.level, depth), joined=kind)
            last = replace(last, ends_arm=True) if last is not None and kind == ";;" else last
    if last is not None:
        yield last


class _Reader:
    def __init__(self, source: LogicalText, dialect: Dialect) -> None:
        self.text = source.text
        self.lines = source.lines
        self.dialect = dialect
        # An enum's member is slow to look up, and these are asked at each character.
        self._separator = _SEPARATOR[dialect]
        self._quotes = _QUOTES[dialect]
        self._escape = CONTINUATION[dialect]
        self._plain = _PLAIN_OF_POSIX if dialect is Dialect.POSIX else _PLAIN
        self.at = 0
        self._into: list[Word] = []

    def tokens(self) -> Iterator[tuple[str, Word | None]]:
        """Yield words, the files of redirections after ``>``, and separators with None."""
        while self.at < len(self.text):
            character = self.text[self.at]
            separator = self._separator.match(self.text, self.at)
            if character.isspace():
                self.at += 1
            elif character == "#" and self.dialect is not Dialect.CMD:
                return
            elif separator is not None:
                self.at = separator.end()
                yield separator.group(), None
            elif _REDIRECTION.match(self.text, self.at):
                self._redirection()
            else:
                yield "", self._word()
            yield from ((">", file) for file in self._into)
            self._into.clear()

    def _redirection(self) -> str:
        start = self.at
        match = _REDIRECTION.match(self.text, self.at)
        self.at = match.end() if match else self.at + 1
        operator_end = self.at
        while self.at < len(self.text) and self.text[self.at] in " \t":
            self.at += 1
        if self.at < len(self.text) and not self._separator.match(self.text, self.at):
            file = self._word(of_file=True)
            if self.text[start] != "<" and file.text:
                self._into.append(file)
        attached = self.at if self.text[operator_end : operator_end + 1].strip() else operator_end
        return self.text[start:attached]

    def _word(self, *, of_file: bool = False) -> Word:
        start = self.at
        line = self.lines[start]
        parts: list[str] = []
        depth, quoted = 0, False
        while self.at < len(self.text):
            if self._substitutes(parts, depth):
                parts.append(self._substituted())
                continue
            if plain := self._plain.match(self.text, self.at):
                parts.append(plain.group())
                self.at = plain.end()
                continue
            character = self.text[self.at]
            if character in self._quotes:
                parts.append(self._quoted(character))
                quoted |= "$" in parts[-1]
            elif character == self._escape and self.at + 1 < len(self.text):
                parts.append(self.text[self.at + 1])
                self.at += 2
            elif character in "({" or (character in ")}" and depth):
                # Brackets that a word opens belong to it: $(date), ${NAME}, %ProgramFiles(x86)%.
                depth += 1 if character in "({" else -1
                parts.append(character)
                self.at += 1
            elif depth:
                # What brackets hold together is one word: $(cat < list), @("a", "b").
                parts.append(character)
                self.at += 1
            elif character.isspace() or self._separates():
                break
            elif _REDIRECTION.match(self.text, self.at):
                if of_file:  # The next redirection follows right behind it.
                    break
                return self._cut_off("".join(parts), line)
            else:
                parts.append(character)
                self.at += 1
        return Word("".join(parts), line, quoted=quoted)

    def _cut_off(self, text: str, line: int) -> Word:
        # A digit before a redirection is a file descriptor, not a word of its own.
        redirected = self._redirection()
        return Word("" if text.isdigit() else text, line, "" if text.isdigit() else redirected)

    def _substitutes(self, parts: list[str], depth: int) -> bool:
        """Return whether a bracket begins commands whose output is the word, ``$(``, and no sum, ``$((``."""
        posix = self.dialect is Dialect.POSIX and not depth and "".join(parts[-1:]).endswith("$")
        return posix and self.text.startswith("(", self.at) and not self.text.startswith("((", self.at)

    def _substituted(self) -> str:
        """Return commands in brackets as they are written, quotes included: a shell reads them anew."""
        start, depth = self.at, 0
        while self.at < len(self.text):
            character = self.text[self.at]
            if character in self._quotes:
                self._quoted(character)
                continue
            depth += (character == "(") - (character == ")")
            self.at += 2 if character == self._escape else 1
            if not depth:
                break
        return self.text[start : self.at]

    def _separates(self) -> bool:
        return self._separator.match(self.text, self.at) is not None

    def _quoted(self, quote: str) -> str:
        self.at += 1
        parts: list[str] = []
        literal = quote == "'" or self.dialect is Dialect.CMD
        while self.at < len(self.text) and self.text[self.at] != quote:
            if plain := _PLAIN.match(self.text, self.at):
                parts.append(plain.group())
                self.at = plain.end()
            elif self.text[self.at] == self._escape and not literal and self.at + 1 < len(self.text):
                following = self.text[self.at + 1]
                parts.append(following if following in '"\\$`' else self.text[self.at] + following)
                self.at += 2
            else:
                parts.append(self.text[self.at])
                self.at += 1
        self.at += 1
        return "".join(parts)
