"""A script's lines as its shell joins them: what goes on in the next one, quotes and lists over several, comments."""

from __future__ import annotations

import enum
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import field

from envdoctor.model.dataclass import dataclass

__all__ = ["CONTINUATION", "HERE_DOCUMENT", "SHELL", "Dialect", "LogicalText", "joined_lines"]


class Dialect(enum.Enum):
    """Whose quoting rules count."""

    POSIX = "posix"
    CMD = "cmd"
    POWERSHELL = "powershell"


CONTINUATION = {Dialect.POSIX: "\\", Dialect.CMD: "^", Dialect.POWERSHELL: "`"}
HERE_DOCUMENT = re.compile(r"(?<!<)<<-?\s*[\"']?([A-Za-z_]\w*)[\"']?")
"""What begins one, with the word that ends it."""
SHELL = r"(?:\S*/)?(?:ba|da|z)?sh(?:\s+-\w+)*"
"""A shell with its options."""
_RUNS_DOCUMENT = re.compile(rf"\s*(?:sudo\s+(?:-\w+\s+)*)?{SHELL}\s*")
"""A shell that runs the text of a here-document."""
# A list that goes on in the next line: NAME=(a b, $names = @("a",
_LIST_OPEN = re.compile(r"(?:^|\s)(?:[A-Za-z_]\w*\+?=|\$\w+\s*=\s*@|@)\(")
_GOES_ON = re.compile(r"\s*\$[\w:]+\s*\+?=[^#]*,\s*(?:#.*)?$")
_KEYWORD = re.compile(
    r"\b(?:if|elseif|foreach|while|switch|catch|param)(?=\()|\b(?:else|try|finally)(?=\{)|\)(?=\{)", re.I
)
_TRAILING_COMMENT = re.compile(r"(?:^|\s)#.*$")
_LONGEST_LIST = 200
_QUOTE = re.compile(r"""\\.|'[^']*'|"(?:\\.|[^"\\])*"|(?<!\S)\#[^\n]*|['"]""", re.S)
"""Of a shell's text what is quoted or commented; a quote alone is open at its end."""
_IN_QUOTES = {"'": re.compile(r"[^']*'"), '"': re.compile(r'(?:\\.|[^"\\])*"')}
_OF_POWERSHELL = ('"@', "'@")
"""The ends of a text over several lines, at the start of one."""
_COMMENT = {
    Dialect.POSIX: re.compile(r"^\s*#"),
    Dialect.CMD: re.compile(r"^\s*(?:@\s*)?(?:rem(?:\s|$)|::)", re.I),
    Dialect.POWERSHELL: re.compile(r"^\s*#"),
}


@dataclass(slots=True)
class LogicalText:
    """A joined line with the physical line of each of its characters."""

    parts: list[str] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)

    def append(self, part: str, line: int) -> None:
        """Go on with a part of a line."""
        self.parts.append(part)
        self.lines += [line] * len(part)

    @property
    def text(self) -> str:
        """The joined line."""
        return "".join(self.parts)


def joined_lines(text: str, dialect: Dialect, *, over_lines: bool) -> Iterator[LogicalText]:
    """Yield the lines that say something; see ``plain_commands``."""
    current = LogicalText()
    terminator = ""
    lines = text.splitlines()
    closing = {line.strip() for line in lines} if dialect is Dialect.POSIX else set()
    quoted_to = 0
    for number, line in enumerate(lines, start=1):
        if number < quoted_to:
            current.append(f"{line}\n", number)
            continue
        if terminator:
            # The text of a here-document is data.
            rest = _behind(line, terminator)
            terminator = terminator if rest is None else ""
            if not rest:
                continue
            line = rest
        terminator, line = _opened(line, dialect, closing)
        if dialect is Dialect.POWERSHELL:
            line = _KEYWORD.sub(r"\g<0> ", line)
        if _COMMENT[dialect].match(line) and number != quoted_to:
            continue
        start = current.lines[0] if current.lines else number
        stripped = line.rstrip() if dialect is not Dialect.POSIX else line
        if stripped.endswith(CONTINUATION[dialect]):
            current.append(stripped[:-1] + " ", number)
            continue
        open_list = dialect is not Dialect.CMD and _opens_list(current.text + line)
        open_list |= dialect is Dialect.POWERSHELL and _GOES_ON.match(current.text + line) is not None
        if open_list and number - start < _LONGEST_LIST:
            current.append(_TRAILING_COMMENT.sub("", line) + " ", number)
            continue
        quotes = over_lines and dialect is Dialect.POSIX and number - start < _LONGEST_LIST
        more = _lines_to_quote(current.text + line, lines, number) if quotes else 0
        if more:
            quoted_to = number + more
            current.append(f"{line}\n", number)
            continue
        current.append(line, number)
        if current.text.strip():
            yield current
        current = LogicalText()
    if current.text.strip():
        yield current


def _lines_to_quote(text: str, lines: Sequence[str], number: int) -> int:
    """Return how many lines behind one end the quote that is open there; 0 where none is, or none of them does."""
    opened = next((found[0] for found in _QUOTE.finditer(text) if found[0] in ("'", '"')), None)
    if opened is None:
        return 0
    ends = _IN_QUOTES[opened]
    following = enumerate(lines[number : number + _LONGEST_LIST], start=1)
    return next((more for more, line in following if ends.match(line)), 0)


def _opens_list(text: str) -> bool:
    return _LIST_OPEN.search(text, text.rfind(")") + 1) is not None


def _behind(line: str, terminator: str) -> str | None:
    """Return what stands behind the end of a text over several lines, None where a line does not end it."""
    if terminator == "#>":
        _, ends, rest = line.partition(terminator)
        return rest if ends else None
    if terminator in _OF_POWERSHELL:
        return line[len(terminator) :] if line.startswith(terminator) else None
    return "" if line.strip() == terminator else None


def _opened(line: str, dialect: Dialect, closing: Collection[str]) -> tuple[str, str]:
    """Return what ends a text over several lines that begins in a line, empty without, and what of that is read.

    ``closing``: the lines of the script; what none of them ends is no here-document: ``echo "<< Installing >>"``.
    """
    if dialect is Dialect.POSIX:
        opening = HERE_DOCUMENT.search(line) if not _COMMENT[dialect].match(line) else None
        data = opening is not None and opening[1] in closing and not _RUNS_DOCUMENT.fullmatch(line, 0, opening.start())
        return (opening[1] if opening is not None and data else ""), line
    start = line.find("<#") if dialect is Dialect.POWERSHELL else -1
    if start >= 0:
        end = line.find("#>", start)
        return ("#>", line[:start]) if end < 0 else ("", line[:start] + line[end + 2 :])
    stripped = line.rstrip()
    begins = dialect is Dialect.POWERSHELL and stripped.endswith(('@"', "@'"))
    return (f"{stripped[-1]}@", stripped[:-2]) if begins else ("", line)
