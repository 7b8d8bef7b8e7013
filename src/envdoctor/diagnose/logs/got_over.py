"""What a program got over: it says which other way it takes, and comes to its end without a further failure."""

from __future__ import annotations

import re
import sys
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import field, replace
from itertools import takewhile

from packaging.utils import NormalizedName, canonicalize_name

from envdoctor.diagnose.logs.log_lines import LogLine
from envdoctor.install_words import left_by_installs
from envdoctor.model.dataclass import dataclass
from envdoctor.model.finding import Severity
from envdoctor.shipped import data_file

__all__ = ["ENDS", "WENT_WELL", "Course", "course_of", "is_typed"]

_PUT_IN = r"Successfully installed|Installed \d+ packages? in|Executing transaction: (?:[-\\|/] )?done"
WENT_WELL = re.compile(
    rf"{_PUT_IN}|No broken requirements found"
    r"|Successfully (?:loaded|imported|started|completed|converted|exported|saved)|Running on local URL"
    r"|Application startup complete|Uvicorn running on|To see the GUI go to|Build succeeded|BUILD SUCCESSFUL"
    r"|(?<!=)=+ \d+ passed(?:, \d+ (?:warnings?|skipped|xfailed))* in|All checks passed"
    r"|^(?:All )?[Dd]one[.!]?$|Finished successfully|(?:Training"
    r"|Installation|Setup|Conversion) (?:is )?(?:complete|finished|done)|Startup time: |&&&& PASSED"
)
"""A failure before such a line was got over."""
_OF_AN_INSTALLER = re.compile(rf"{_PUT_IN}|No broken requirements found")
"""It tells nothing of what failed under another command, nor of a package that was not put in."""
_NEAR = 12
"""Lines between a failure and the words about what comes instead."""
_AGAIN = re.compile(
    r"\b(?:retrying|(?:will|trying|attempting) (?:[\w-]+ ){0,8}(?:retry|resume)|trying again"
    r"|attempt (?:[2-9]|\d\d)(?! failed))\b(?! with (?!flexible))",
    re.IGNORECASE,
)
"""The same is done once more, or goes on where it stopped: nothing is lost."""
_ELSE = r"(?:CPU|eager|sdpa|math|tiled|float32|fp32|full precision)"
_OTHERWISE = re.compile(
    r"\b(?:retrying with|attempt \d\d? with|again (?:in|with|on|at)|recover(?:ing|ed)? from"
    r"|fall(?:ing|s)? ?back|fell back|fallback to|using \S.{0,60} instead|continuing without"
    rf"|(?:us|try|runn|continu)ing (?:it |again )?(?:(?:on|with|in|the|a) ){{0,3}}{_ELSE}"
    rf"|(?:switch|mov|chang)(?:ing|ed) (?:[\w-]+ ){{0,5}}to (?:the )?{_ELSE}"
    r"|(?:reduc|lower|decreas|halv)(?:ing|ed) (?:the )?(?:[\w-]+ ){0,2}(?:\w{0,20}size|tiles?|batch|chunks?|layers"
    r"|resolution))\b",
    re.IGNORECASE,
)
_NO_WAY = re.compile(
    r"\b(?:you|please|consider|should|could|might|may|try (?:to|setting)|giv(?:e|ing) up|gave up|exceeded|no more"
    r"|(?:retry|fall ?back|falling back)(?:ing)? (?:is|was|failed)"
    r"|(?:not|never|no|without) (?:a )?(?:fall|retry)\w{0,10})\b",
    re.IGNORECASE,
)
"""Advice, or what was not done."""
ENDS = re.compile(
    rf"{WENT_WELL.pattern}|\bexit(?:ed with)? (?:code|status):? 0\b"
    r"|\b(?:[Ss]aved|[Ww]rote|[Ww]ritten|[Ee]xported|[Ff]inished|[Cc]ompleted?"
    r"|[Gg]enerated|[Ss]ucce(?:ss\w*|eded)|[Dd]one|DONE)\b"
    r"|\bPrompt executed in \d|\bstarted in \d|\|\s+200 \|"
)
"""What programs write at the end of their work."""
_PROMPT = re.compile(
    r"(?:\([\w.-]+\) ?)?(?:\[?[\w.-]{1,60}@[\w.-]{1,60}[:~ ]\S{0,200} ?[$#%] |(?:ba|z)?sh-[\d.]+[$#] |[\u276f\u279c] "
    r"|\$ |PS [A-Z]:\\|[A-Z]:\\[^>]{0,200}>|>>> |In \[\d+\]|[%>] (?:sudo |pip3? |python|uv |conda |cd |\.[/\\]))"
)
"""Somebody typed the next command: what it does is not what the program before it went on to do."""
_NO_END = re.compile(
    r"\b(?:not|no|never|nothing|fail\w*|errors?|abort\w*|incomplete|cannot|could|crash\w*|emergency|core|dump\w*|traceback)\b"
    r"|n't\b|\b0 (?:out )?of \d",
    re.IGNORECASE,
)
_LAST_BAR = re.compile(r"\b100%\|")
_NOT_PUT_IN = re.compile(
    r"(?:Failed building wheel for|Could not build wheels for|satisfies the requirement|No matching distribution found"
    r" for|Failed to build(?! installable\b)) `?([A-Za-z][\w.-]*(?![\w.-])(?!\S*\+)(?: [A-Za-z][\w.-]*(?=[ ,]|$))*)"
)
"""How pip and uv end where a package could not be put in; a build with a label is another than one without."""
_NOT_THERE = re.compile(r"\bNo module named '?(\w+)(?![\w.])")
_TYPED = re.compile(r"(?:In \[\d+\]:|[^>$#%\u276f\u279c]{0,300}[>$#%\u276f\u279c]) ?[!%]?(.*)")
"""What stands behind a prompt."""
_STARTERS = frozenset({"sudo", "python", "python3", "py", "uv"})
"""Words that start the same program, or another's module."""
_BOUND = re.compile(r"[=<>~!\[]")
_AFTERWORDS = 3
"""Lines behind that in which they say once more that something failed."""


@dataclass(frozen=True, slots=True)
class Course:
    """How a log goes on after its failures; all by the numbers of lines."""

    failures: tuple[tuple[int, int], ...]
    ways: tuple[tuple[int, Severity | None], ...]
    """Lines before the program's end that tell what is done instead, and how bad that is; None: it is over."""
    cured: frozenset[int] = frozenset()
    """Lines that tell of a failure which a good end of what had failed followed."""
    services: Mapping[int, str] = field(default_factory=dict)
    """Whose container printed a line, where `docker compose` says so."""
    put_in: Mapping[NormalizedName, tuple[int, str]] = field(default_factory=dict)
    """The line in which each package was put in last, and the version."""
    brought: frozenset[int] = frozenset()
    """Lines about a module that is not found and that a later install brought."""
    aside: frozenset[int] = frozenset()
    """Lines of tracebacks that a program caught and tells of only to who looks for a fault."""
    left: int = 0
    """Where the last failure begins that was not got over; 0 where each was."""

    def got_over(self, number: int) -> Severity | None:
        """Return how bad what a line tells still is, None where the log does not show that the program got over it."""
        if number in self.aside:
            return Severity.INFO if number > self.left else None
        way, how = (self.left, Severity.INFO) if number in self.brought else self.way(number)
        return how if way >= self.left else None

    def way(self, number: int) -> tuple[int, Severity | None]:
        """Return the first line that tells what was done instead, where an end came after it, and how bad that is."""
        at = bisect_right(self.failures, (number, sys.maxsize)) - 1
        begin = max(number, self.failures[at][1]) if at >= 0 else number
        found = bisect_left(self.ways, begin, key=_number)
        rest = (self.ways[at] for at in range(found, len(self.ways)))
        near = takewhile(lambda way: way[0] <= begin + _NEAR, rest)
        own = (way for way in near if self.services.get(way[0]) == self.services.get(number))
        return next(own, (0, None))


def _number(way: tuple[int, Severity | None]) -> int:
    return way[0]


def course_of(lines: Sequence[LogLine], failures: Sequence[tuple[int, int]]) -> Course:
    """Return how a log goes on after its ``failures``, each given by its first and last line, in order."""
    last = {name: (line.number, version) for line in lines for name, version in left_by_installs(line.text)[0].items()}
    brought = frozenset(_brought(lines, last))
    numbers = {number for _, number in failures}
    later = brought | _put_in_later(lines, numbers, last)
    services = {line.number: line.service for line in lines if line.service}
    cured = frozenset(_cured(lines, numbers, last))
    course = Course(tuple(failures), tuple(_ways(lines, later))[::-1], cured, services, last, brought)
    return replace(course, left=next((begin for begin, _ in reversed(failures) if not course.way(begin)[1]), 0))


def _ways(lines: Sequence[LogLine], later: Collection[int]) -> Iterator[tuple[int, Severity | None]]:
    """Yield, last first, the lines that tell another way, where an end comes before the next command that is typed.

    ``later``: lines about what a later command did.
    """
    ended = {lines[-1].service} if lines and _LAST_BAR.search(lines[-1].text) else set[str]()
    for line in reversed(lines):
        typed = _PROMPT.match(line.text) is not None
        how = _way_of(line.text) if line.service in ended else None
        how = Severity.INFO if line.number in later else how
        if typed or how:
            yield line.number, how
        if typed:
            ended.clear()
        elif line.service not in ended and _is_end(line.text):
            ended.add(line.service)


def _cured(
    lines: Sequence[LogLine], failures: Collection[int], last: Mapping[NormalizedName, tuple[int, str]]
) -> Iterator[int]:
    """Yield those of the lines ``failures`` that a good end of what had failed followed.

    The end of an installer is none for another command, nor for a package that it has not put in; what another service
    of `docker compose` does well is none for this one. ``last``: the line in which each package is put in last.
    """
    ran, installed = set[str](), dict[str, set[tuple[str, ...] | None]]()
    for line, command in zip(reversed(lines), reversed(list(_commands(lines))), strict=True):
        if WENT_WELL.search(line.text):
            if _OF_AN_INSTALLER.search(line.text):
                installed.setdefault(line.service, set()).add(command)
            else:
                ran.add(line.service)
        names = (canonicalize_name(name) for match in _NOT_PUT_IN.finditer(line.text) for name in match[1].split())
        if any(last.get(name, (0, ""))[0] < line.number for name in names):
            installed.pop(line.service, None)
        if line.number in failures and (line.service in ran or command in installed.get(line.service, ())):
            yield line.number


def _commands(lines: Sequence[LogLine]) -> Iterator[tuple[str, ...] | None]:
    """Yield for each line the words of the command that was typed before it, None before the first one."""
    command: tuple[str, ...] | None = None
    for line in lines:
        if _PROMPT.match(line.text):
            typed = _TYPED.match(line.text)
            words = (typed[1] if typed else line.text).replace("'", "").replace('"', "").split()
            bare = (_BOUND.split(word)[0] for word in words if not word.startswith("-") and "://" not in word)
            command = tuple(word for word in bare if word not in _STARTERS)
        yield command


def is_typed(text: str) -> bool:
    """Return whether a line is a prompt, with or without a command behind it."""
    return _PROMPT.match(f"{text} ") is not None


def _is_end(text: str) -> bool:
    return ENDS.search(text) is not None and not _NO_END.search(text)


def _brought(lines: Sequence[LogLine], last: Mapping[NormalizedName, tuple[int, str]]) -> Iterator[int]:
    """Yield the lines that miss a module which a later install brings; ``last``: where each package is put in last."""
    for line in lines if last else ():
        for name in _NOT_THERE.findall(line.text):
            names = (canonicalize_name(name), *data_file("import-names")["modules"].get(name, ()))
            if any(last.get(each, (0, ""))[0] > line.number for each in names):
                yield line.number


def _put_in_later(
    lines: Sequence[LogLine], failures: Collection[int], last: Mapping[NormalizedName, tuple[int, str]]
) -> frozenset[int]:
    """Return the lines about packages that could not be put in and that a later install put in, whoever began it.

    ``last``: the line in which each package is put in last.
    """
    found, until = set[int](), 0
    for line in lines if last else ():
        names = [canonicalize_name(name) for match in _NOT_PUT_IN.finditer(line.text) for name in match[1].split()]
        if names or _PROMPT.match(line.text):
            put_in = bool(names) and all(last.get(name, (0, ""))[0] > line.number for name in names)
            until = line.number + _AFTERWORDS if put_in else 0
        if line.number <= until and (names or line.number in failures):
            found.add(line.number)
    return frozenset(found)


def _way_of(text: str) -> Severity | None:
    if _NO_WAY.search(text) or _PROMPT.match(text):
        return None
    if _OTHERWISE.search(text):
        return Severity.WARNING
    return Severity.INFO if _AGAIN.search(text) else None
