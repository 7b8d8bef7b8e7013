"""The lines of a log that tell of a failure, whatever failed: what a person would point at.

A line counts where a program stopped or refused: a traceback's last line, an error of a compiler, a linker, an
installer, a crash. What its writer calls a warning, what was caught and followed by success, and what a text quotes
does not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

from envdoctor.diagnose.logs.failure_words import (
    AFTERMATH,
    CAUSE_BELOW,
    CHAIN,
    DOES_WITHOUT,
    EXCEPTION,
    IN_PASSING,
    MAY_TELL,
    NO_FAILURE,
    NOTHING,
    OF_A_NODE,
    OF_FAILING,
    PROBE,
    TELLING,
    WRAPPER,
)
from envdoctor.diagnose.logs.got_over import Course, course_of, is_typed
from envdoctor.diagnose.logs.log_lines import LogLine, lines_of_log, plain
from envdoctor.diagnose.logs.quoted_lines import is_quoted
from envdoctor.model.dataclass import dataclass
from envdoctor.model.finding import Severity

__all__ = ["LogFailure", "course_of_log", "failures_of", "is_exception"]

_NEAR = 12
"""Lines; what stands so near belongs to the same failure."""
_MOST = 60
"""Failures of one log that are looked at, the last ones."""
_LONGEST_TRACEBACK = 2000
_LONGEST_QUOTE = 300
_HEADER = "Traceback (most recent call last)"
_OF_SEARCHING = ("trace", "debug")
_OF_A_FRAME = ('File "', "[Previous line repeated")


@dataclass(frozen=True, slots=True)
class LogFailure:
    """One failure: the line to quote, and where it begins and ends."""

    number: int
    line: str
    begin: int
    end: int
    told: tuple[tuple[int, str], ...]
    """Every line that tells of it, with its number."""
    is_wrapper: bool = False
    """It only says that something inside failed."""


@dataclass(frozen=True, slots=True)
class _Told:
    number: int
    text: str
    weight: int
    """3: an exception that ended a traceback; 2: any other that says what failed; 1: a wrapper; 0: caught, and told of
    only to who looks for a fault."""
    begin: int


def failures_of(text: str) -> tuple[LogFailure, ...]:
    """Return the failures that a log ends in, first to last; those that success followed are left out."""
    if not MAY_TELL.search(plain(text)):
        return ()
    told = [item for item in _read(text)[1] if item.weight]
    if not told:
        return ()
    course = course_of_log(text)
    left = [item for item in told if item.number not in course.cured or re.match(OF_A_NODE, item.text)]
    left = [item for item in left if course.got_over(item.number) is not Severity.INFO]
    return tuple(_together(left)[-_MOST:])


@lru_cache(maxsize=2)
def course_of_log(text: str) -> Course:
    """Return what the log's program went on to do after its failures."""
    lines, told = _read(text)
    course = course_of(lines, [(item.begin, item.number) for item in told if item.weight])
    aside = (number for item in told if not item.weight for number in range(item.begin, item.number + 1))
    return replace(course, aside=frozenset(aside))


@lru_cache(maxsize=2)
def _read(text: str) -> tuple[Sequence[LogLine], Sequence[_Told]]:
    lines = lines_of_log(text)
    return lines, list(_told(lines))


def _told(lines: Sequence[LogLine]) -> Iterator[_Told]:
    at, caught = 0, False
    while at < len(lines):
        line = lines[at]
        if "Traceback (most recent call last)" in line.text and not _ends_a_header(line.text):
            end = _end_of_traceback(lines, at)
            caught = _is_caught(lines, at) or (caught and lines[at - 1].text.startswith(CHAIN))
            if not caught and not NO_FAILURE.match(lines[end].text):
                weight = 1 if WRAPPER.match(lines[end].text) else 3
                yield _Told(lines[end].number, _with_cause(lines, end), weight, line.number)
            elif caught and lines[at - 1].level in _OF_SEARCHING:
                yield _Told(lines[end].number, "", 0, line.number)
            at = end + 1
            continue
        if (line.is_grave or MAY_TELL.search(line.text)) and not _is_of_probe(lines, at):
            weight = 0 if IN_PASSING.match(line.text) and _goes_on(lines, at, at) else _weight(line)
            if weight and not (EXCEPTION.match(line.text) and is_quoted(lines, at)):
                yield _Told(line.number, _with_message(lines, at), weight, line.number)
        at += 1


def _with_cause(lines: Sequence[LogLine], at: int) -> str:
    """Return the line, with the next one where it says that the cause stands there."""
    text, below = lines[at].text, lines[at + 1] if at + 1 < len(lines) else None
    is_cause = below is not None and below.number == lines[at].number + 1
    return f"{text} {below.text}" if below and is_cause and text.endswith(CAUSE_BELOW) else text


def _with_message(lines: Sequence[LogLine], at: int) -> str:
    """Return the line; of a class that stands alone, as Poetry and rich write it, and of CMake, with what is below."""
    line, below = lines[at], lines[at + 1] if at + 1 < len(lines) else None
    if line.text.endswith(CAUSE_BELOW):
        return _with_cause(lines, at)
    if below is not None and line.text.startswith("CMake Error at ") and line.text.endswith(":"):
        return f"{line.text} {below.text}" if below.indent > line.indent else line.text
    if below is None or not re.fullmatch(r"[\w.]+", line.text) or below.number > line.number + 2:
        return line.text
    return f"{line.text}: {below.text}" if below.indent == line.indent > 0 else line.text


def _ends_a_header(text: str) -> bool:
    """Return whether this is IPython's header, where the exception's name stands first and its frames are no block."""
    return bool(re.match(r"\w+(?:Error|Exception)\s{3,}Traceback", text))


def _unquoted(line: LogLine, head: LogLine) -> LogLine:
    """Return a line without the mark that a mail program puts before what it quotes, where the traceback has it."""
    if not (head.text.startswith("> ") and line.text.startswith(">")):
        return line
    rest = line.text[1:].removeprefix(" ")
    return replace(line, indent=len(rest) - len(rest.lstrip()), text=rest.lstrip())


def _end_of_traceback(lines: Sequence[LogLine], at: int) -> int:
    """Return where the traceback's exception stands; where it was cut off, its last line."""
    head, last = lines[at], min(len(lines), at + _LONGEST_TRACEBACK) - 1
    boxed, group = head.text.startswith(("╭", "+--")), head.text.startswith("+ ")
    found = at
    for end in range(at + 1, last + 1):
        line = _unquoted(lines[end], head)
        if group and line.text[:1] in "|+":
            found = end if EXCEPTION.match(line.text.lstrip("|+- ")) else found
        elif group:
            return found
        elif (boxed and line.text[:1] in "│╰|+╭") or _is_of_frames(line, lines[end - 1], head):
            continue
        else:
            return end - 1 if "Traceback (most recent call last)" in line.text else end
    return found if group else last


def _is_of_frames(line: LogLine, before: LogLine, head: LogLine) -> bool:
    """Return whether a line of a traceback comes before its exception, also where it was pasted without its blanks."""
    if line.indent > head.indent or line.text.startswith(_OF_A_FRAME):
        return True
    bare = before.indent <= head.indent and before.text.startswith('File "')
    return bare and not EXCEPTION.match(line.text)


def _is_caught(lines: Sequence[LogLine], at: int) -> bool:
    """Return whether who wrote a traceback calls it no failure, on its line or on the one before."""
    before = lines[at - 1] if at and lines[at].number - lines[at - 1].number <= 1 else None
    if lines[at].level == "info" and at + 1 < len(lines) and lines[at + 1].level == "info":
        return False  # One that logs what another prints does so line by line; its own message has one beginning.
    if lines[at].is_mild:
        return True
    if before is None or DOES_WITHOUT.search(before.text):
        return before is not None
    return (
        before.is_mild and OF_FAILING.search(before.text) is not None and _goes_on(lines, at, _end_of_chain(lines, at))
    )


def _end_of_chain(lines: Sequence[LogLine], at: int) -> int:
    """Return where the last of the tracebacks ends that are chained to this one."""
    end = _end_of_traceback(lines, at)
    while end + 2 < len(lines) and lines[end + 1].text.startswith(CHAIN) and lines[end + 2].text.startswith(_HEADER):
        end = _end_of_traceback(lines, end + 2)
    return end


def _goes_on(lines: Sequence[LogLine], at: int, end: int) -> bool:
    """Return whether the program that wrote the lines ``at`` to ``end`` prints more after them."""
    for line in lines[end + 1 :]:
        if is_typed(line.text):
            return False
        if not (AFTERMATH.match(line.text) or WRAPPER.match(line.text) or line.indent > lines[at].indent):
            return True
    return False


def _is_of_probe(lines: Sequence[LogLine], at: int) -> bool:
    """Return whether a line tells how a trial of DeepSpeed's ended: nothing that is built fails with it."""
    first = at - 1 if at and lines[at].text.startswith("collect2: error") else at
    if not PROBE.match(lines[first].text):
        return False
    rest = (line.text for line in lines[first + 1 : first + _NEAR] if not line.text.startswith("collect2: error"))
    return not any(map(WRAPPER.match, rest))


def is_exception(text: str) -> bool:
    """Return whether a line begins with the class of an exception, behind the mark of pytest or of a quotation."""
    return EXCEPTION.match(_unmarked(text)) is not None


def _unmarked(text: str) -> str:
    return text.removeprefix("E   ").removeprefix("> ")


def _weight(line: LogLine) -> int:
    text = _unmarked(line.text)
    if line.is_mild or NOTHING.match(text) or NO_FAILURE.match(text):
        return 0
    if WRAPPER.match(text):
        return 1
    if EXCEPTION.match(text) or TELLING.match(text):
        return 2
    return 1 if line.is_grave else 0


def _quote(text: str) -> str:
    """Return at most 300 characters; what a long line ends with is nearest to the cause."""
    return text if len(text) <= _LONGEST_QUOTE else f"{text[:140]} ... {text[-155:]}"


def _together(told: Sequence[_Told]) -> list[LogFailure]:
    """Return the failures that stand apart; the last exception speaks for its chain, else the first that tells."""
    groups: list[list[_Told]] = []
    for item in told:
        if groups and item.begin - groups[-1][-1].number <= _NEAR:
            groups[-1].append(item)
        else:
            groups.append([item])
    found = []
    for group in groups:
        best = max(item.weight for item in group)
        chosen = [item for item in group if item.weight == best]
        quoted = chosen[-1] if best == 3 else chosen[0]
        rows = tuple((item.number, _quote(item.text)) for item in group)
        found.append(LogFailure(quoted.number, _quote(quoted.text), group[0].begin, group[-1].number, rows, best == 1))
    return found
