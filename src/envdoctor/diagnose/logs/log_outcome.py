"""Whether a log without a failure shows an outcome at all."""

from __future__ import annotations

import re

from envdoctor.diagnose.logs.log_failures import WENT_WELL
from envdoctor.diagnose.logs.log_lines import lines_of_log

__all__ = ["tells_nothing"]

_ENDED_WELL = re.compile(
    rf"(?:{WENT_WELL.pattern})|=* ?\d+ passed\b.* in [\d.]+ ?s|Audited \d+ packages? in"
    r"|Requirement already satisfied: |Successfully (?:built|tagged|uninstalled) |No dependencies to install or update"
    r"|# All requested packages already installed|Writing lock file$"
    r"|Process finished with exit code 0\b"
)
"""At the beginning of a line, and nothing begun after it: the program ended as it should."""
_BEGINS = re.compile(
    r"(?:Collecting|Downloading(?! package )|Using cached|Building wheels?|Preparing metadata|Getting requirements"
    r"|Installing \w+|Resolving dependencies|Solving environment|Updating dependencies|Looking in indexes"
    r"|Processing \S*[/\\]|Obtaining|Cloning"
    r"|Collecting package metadata|Fetching) ?"
)
_OF_A_PROGRAM = re.compile(
    r"\b(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR)\b|\d%|\|.*\||[=~]=|\[[\w:. -]+\]|\w\.\w+:\d+"
    r"|\b(?:pip3?|uv|conda) install\b|\bpython3? -|^\s*[$>#] ?\S"
    r"|[\w-][-_ ]v?\d+\.\d+|\w=\S|^\s*[+|*-]{3,}|/\w+/\w|\b[A-Z]:\\"
)
_OF_A_PERSON = re.compile(
    r"\b(?:I'm|I've|[Mm]y|[Ww]e|[Oo]ur|[Hh]elp me|[Pp]lease help)\b"
    r"|\bI (?:am|have|get|got|see|saw|try|tried|can|cannot|can't|do|don't|installed|want|need|run|ran|use|used)\b"
)
"""Words about a program, which are not its own; and a question, behind what an address asks with."""
_SENTENCE = re.compile(r"[a-z] [a-z]+ [a-z]+")


def tells_nothing(text: str) -> bool:
    """Return whether a log without a failure shows no outcome: a cut install, or a person's words in a log's place.

    What a program printed to its end, or what it went on printing, is an outcome, and so is an install that succeeded.
    """
    lines = lines_of_log(text)
    begun = max((line.number for line in lines if _BEGINS.match(line.text)), default=0)
    if any(line.number > begun and _ENDED_WELL.match(line.text) for line in lines):
        return False
    said = [line.text for line in lines]
    return bool(begun) or any(map(_is_of_a_person, said)) or not any(map(_OF_A_PROGRAM.search, said))


def _is_of_a_person(text: str) -> bool:
    asks = text.endswith("?") and _SENTENCE.search(text, 1 + max(map(text.rfind, "=&/")))
    return bool(asks) or _OF_A_PERSON.search(text) is not None
