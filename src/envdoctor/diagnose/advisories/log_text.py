"""A log as people paste it: read without its colours, across the seams of wrapped lines, and fast.

A log may have megabytes, and there are hundreds of patterns: each is tried only on lines that hold a text which it
needs, and a line is looked at in pieces, so that no line makes a pattern try for ever.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise

from envdoctor.diagnose.logs.got_over import WENT_WELL
from envdoctor.diagnose.logs.log_lines import SEAM, plain
from envdoctor.model.dataclass import dataclass

__all__ = ["LogHit", "LogText", "fixed_text"]

_MARGIN = re.compile(r"^[\s\u2502|>]*")
"""What stands before a wrapped line's rest: uv's and pip's trees, a box, a quoted mail."""
_FLAGS = re.compile(r"\(\?[aiLmsux]+\)")
_ESCAPED = {"x": 4, "u": 6, "U": 10}
"""Characters that an escape by number takes."""
_NEW_ENTRY = re.compile(
    r"(?:\W*\d{2,4}[-:/]\d|\[|(?:INFO|WARN|ERROR|DEBUG|CRITICAL|Traceback|File|Collecting|Downloading|Using|Requirement)\b)"
)
"""How a line begins that goes on with nothing: a time, a level, what pip does next."""
_PIECE, _OVERLAP = 4000, 400
_LARGEST_PASTE = 4 * 1024 * 1024
"""Characters; a larger log was written by a program, and nobody's window has wrapped it."""
_NARROWEST = 50
"""Columns; hardly a window is narrower."""
_TERMINALS = frozenset({80, 120})
_WIDEST_TERMINAL = 250
_KEY = re.compile(r'[\s{,]{0,40}"[\w .-]{1,60}": ?$')
_PASSED = re.compile(r"\b(?:PASSED|XFAIL|SKIPPED)\b|\.\.\. ok$")
"""What a test runner says of a test whose name, or whose example, is an error's text."""
_WRITTEN = re.compile(
    r"(?:[-*\N{BULLET}] (?!\w+(?:Error|Exception): )|#{1,6} |\|.*\|$|\*\*(?!\* )"
    r"|(?:commit )?[0-9a-f]{7,40} (?![\w.]*(?:Error|Exception): )[A-Za-z]"
    r"|[\w./\\-]+\.(?:md|rst|adoc|html?|ipynb)(?::\d+)?[:-])"
)
"""How lists, headings, tables, bold text, commits and finds in manuals begin; three stars are a program's mark."""
_SAID = re.compile(
    r"(?:error|exception|fatal|critical|warn(?:ing)?|message|msg|detail|stderr|log)\b\"?[\]:|=]"
    r"|\berror (?:loading|in|at)\b",
    re.IGNORECASE,
)
"""A line that begins so tells what happened, whatever words come next."""
_PROSE = re.compile(
    r"\b(?:if you|when (?:you|it|the)|in case|fix(?:e[sd]|ing)?|troubleshoot\w*|work(?: a)?rounds?|avoids?|prevents?"
    r"|handles?|documents?|no longer|should (?:not )?(?:see|raise|get)|you (?:may|might|will|can|could|should)"
    r"|(?:messages?|errors?) (?:like|such)|looks like|known issues?|(?:pytest|self)\.\w*[rR]aises)\b",
    re.IGNORECASE,
)
"""Words of manuals, change logs and tests: what follows is only told of."""


@dataclass(frozen=True, slots=True)
class LogHit:
    """Where a pattern was found."""

    number: int
    excerpt: str
    """At most 200 characters."""


@lru_cache(maxsize=1024)
def fixed_text(pattern: str) -> str:
    """Return the longest text that stands in whatever a regular expression matches, empty where none is certain.

    Only what is outside of groups and classes counts; a pattern of alternatives, or one that ignores case, has none.
    """
    if _FLAGS.match(pattern):
        return ""
    runs, run, depth, at = [""], "", 0, 0
    while at < len(pattern):
        char, step = pattern[at], 1
        if char == "\\":
            char = pattern[at + 1]
            literal, step = not char.isalnum(), _ESCAPED.get(char, 2)
        elif char == "[":
            literal, step = False, _class_length(pattern, at)
        elif char == "{":
            # One that is closed by nothing stands for itself.
            literal, step = False, max(pattern.find("}", at) + 1 - at, 1)
        else:
            literal = char not in "()|.^$?*+"
            depth += (char == "(") - (char == ")")
        at += step
        if char == "|" and not depth and step == 1:
            return ""
        optional = pattern[at : at + 1] in ("?", "*", "{")
        if literal and not depth and not optional:
            run += char
            continue
        runs.append(run)
        run = ""
    return max((*runs, run), key=len)


def _class_length(pattern: str, begin: int) -> int:
    at = begin + 1
    at += pattern[at : at + 1] == "^"
    at += pattern[at : at + 1] == "]"
    while pattern[at] != "]":
        at += 2 if pattern[at] == "\\" else 1
    return at + 1 - begin


class LogText:
    """The lines of a log, and what stands on the seams of wrapped ones."""

    def __init__(self, text: str) -> None:
        text = plain(text)
        rows = [
            (number, part)
            for number, row in enumerate(text.split("\n"), 1)
            if row
            for part in row.replace(SEAM, "\r").split("\r")
            if part
        ]
        entries = [*_lines(rows), *(_seams(rows) if len(text) <= _LARGEST_PASTE else ())]
        self._numbers = [number for number, _, _ in entries] or [1]
        self._rows = next((at for at, (_, _, seam) in enumerate(entries) if seam), len(entries))
        self._lines = [line for _, line, _ in entries] or [""]
        self._seams = [seam for _, _, seam in entries] or [0]
        self._starts: list[int] = []
        begin = 0
        for line in self._lines:
            self._starts.append(begin)
            begin += len(line) + 1
        self._text = "\n".join(self._lines)
        self._mentions: dict[str, list[int]] = {}

    @property
    def text(self) -> str:
        """All of it, as it is read: without colours; the joined seams, which say lines again, are ``joined``."""
        return self._text[: self._starts[self._rows]] if self._rows < len(self._starts) else self._text

    @property
    def joined(self) -> str:
        """The joined seams."""
        return self._text[self._starts[self._rows] :] if self._rows < len(self._starts) else ""

    def _entry(self, position: int) -> int:
        return bisect_right(self._starts, position) - 1

    def _hits(self, symptom: str) -> Iterator[tuple[int, re.Match[str]]]:
        """Yield each line that matches; what can be seen without the regular expression is seen so."""
        fixed, refused, pattern = fixed_text(symptom), set[str](), _compiled(symptom)
        position = self._text.find(fixed)
        while position >= 0:
            entry = self._entry(position)
            line = self._lines[entry]
            found = None if line in refused else pattern.search(line)
            if found and self._is_across(entry, found) and not _is_only_told_of(line, found.start()):
                yield entry, found
            else:
                refused.add(line)
            if entry + 1 == len(self._starts):
                return
            position = self._text.find(fixed, self._starts[entry + 1])

    def _is_across(self, entry: int, found: re.Match[str]) -> bool:
        """Return whether a match reaches over the seam of its entry, if it has one: each row was looked at alone."""
        seam = self._seams[entry]
        return not seam or found.start() < seam < found.end()

    def _mentioned(self, mention: str) -> list[int]:
        """Return the numbers of the lines that a pattern is in, in order."""
        if mention not in self._mentions:
            pattern = _compiled(mention, re.IGNORECASE | re.MULTILINE)
            found = {self._numbers[self._entry(match.start())] for match in pattern.finditer(self._text)}
            self._mentions[mention] = sorted(found)
        return self._mentions[mention]

    def _beside(self, number: int, mention: str, within: int) -> bool:
        numbers = self._mentioned(mention)
        at = bisect_left(numbers, number - within)
        return at < len(numbers) and numbers[at] <= number + within

    def around(self, number: int, within: int) -> str:
        """Return the lines at most ``within`` away from one; not those before it that success followed."""
        begin = bisect_left(self._numbers, number - within, 0, self._rows)
        here = bisect_left(self._numbers, number, begin, self._rows)
        end = bisect_right(self._numbers, number + within, here, self._rows)
        begin = next((at for at in range(here, begin, -1) if WENT_WELL.search(self._lines[at - 1])), begin)
        return "\n".join(self._lines[begin:end])

    def hits(self, symptoms: tuple[str, ...], beside: tuple[str, ...] = (), within: int = 0) -> Iterator[LogHit]:
        """Yield each line that matches a symptom, with every ``beside`` on one at most ``within`` lines away."""
        for symptom in symptoms:
            if fixed_text(symptom) not in self._text:
                continue
            for entry, found in self._hits(symptom):
                number = self._numbers[entry]
                if all(self._beside(number, item, within) for item in beside):
                    line = self._lines[entry]
                    begin = 0 if len(line) <= 200 else max(0, min(found.start() - 60, len(line) - 200))
                    yield LogHit(number, line[begin : begin + 200])


@lru_cache(maxsize=2048)
def _compiled(expression: str, flags: int = 0) -> re.Pattern[str]:
    return re.compile(expression, flags)


def _lines(rows: list[tuple[int, str]]) -> Iterator[tuple[int, str, int]]:
    for number, row in rows:
        line = " ".join(row.split())
        # A regular expression over a line of megabytes would take its square in time.
        for begin in range(0, max(len(line), 1), _PIECE):
            yield number, line[begin : begin + _PIECE + _OVERLAP], 0


def _seams(rows: list[tuple[int, str]]) -> Iterator[tuple[int, str, int]]:
    """Yield pairs of lines that a terminal or a tool may have broken in two, joined again, and where the seam is."""
    widest = max((len(row) for _, row in rows), default=0)
    edges = _TERMINALS | ({widest} if widest <= _WIDEST_TERMINAL else frozenset())
    for (number, row), (next_number, following) in pairwise(rows):
        begun = row.rstrip()
        if next_number > number + 1 or len(begun) > _WIDEST_TERMINAL or not begun:
            continue
        rest = " ".join(_MARGIN.sub("", following[:_WIDEST_TERMINAL]).split())
        if not rest or _NEW_ENTRY.match(rest):
            continue
        word = rest.partition(" ")[0]
        first = " ".join(begun.split())
        if len(begun) in edges:
            yield number, first + rest, len(first)
        if len(begun) + 1 + len(word) > _NARROWEST:
            yield number, f"{first} {rest}", len(first)


def _is_only_told_of(line: str, begin: int) -> bool:
    """Return whether a line speaks of the error at ``begin`` without one having happened."""
    if _PASSED.search(line) or _WRITTEN.match(line.lstrip()):
        return True
    before, after = line[:begin], line[begin:]
    told = min((at for at in (_quoted(before, after), _prose(before)) if at is not None), default=None)
    return told is not None and not _SAID.search(before, 0, told)


def _prose(before: str) -> int | None:
    found = _PROSE.search(before)
    return found.start() if found else None


def _quoted(before: str, after: str) -> int | None:
    """Return where a quotation begins that holds the error; what a program hands to a call is none.

    Nor is a whole line in quotes: HIP prints its errors so; nor a value of JSON, which stands behind its key.
    """
    for mark in ("`", '"', "**"):
        if before.count(mark) % 2 == 1 and mark in after:
            at = before.rfind(mark)
            whole = mark == '"' and not before[:at].strip() and after.rstrip().endswith(mark)
            if before[at - 1 : at] != "(" and not whole and not _KEY.match(before[:at]):
                return at
    return None
