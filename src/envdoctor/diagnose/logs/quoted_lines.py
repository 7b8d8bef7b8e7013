"""Whether a text only speaks of an error that stands in it, as a manual or somebody's answer does."""

from __future__ import annotations

import re
from collections.abc import Sequence

from envdoctor.diagnose.logs.log_lines import LogLine

__all__ = ["is_quoted"]

_IN_CODE = re.compile(
    r"File \"|Traceback \(most recent|\^\^|~~\^|raise \w|-->|\.\.\.$|at [^()]{1,200}\([^()]{1,300}:\d+\)|Cell In"
)
_WORDS = re.compile(r"\b[a-z]{2,}\b")
_OF_PROSE = re.compile(
    r"\b(?:if|when|may|might|can|could|should|usually|means?|ignore|harmless|known|fixed|fixes|instead|example|such as"
    r"|appears?|happens?|shows?|users?|please|this|these|that|then|because|the)\b",
    re.IGNORECASE,
)
_INTRODUCES = re.compile(r"[:,]$|\b(?:if|when|see|error|message|following|like|says?)\b", re.IGNORECASE)
_HAS_FAILED = re.compile(r"\b(?:could ?n[o']t|failed|unable to|cannot|can't|because of)\b", re.IGNORECASE)
_IN_CASE = re.compile(r"\b(?:if|when|whenever|may|might|sometimes|case)\b", re.IGNORECASE)
_OF_A_REPORT = re.compile(r"\b(?:I|I'm|I've|my|me|we|our|help)\b")


def is_quoted(lines: Sequence[LogLine], at: int) -> bool:
    """Return whether a text speaks of this line: sentences before and after it, and no program's output beside it."""
    before, after = lines[max(0, at - 3) : at], lines[at + 1 : at + 3]
    if not (before and after) or any(_IN_CODE.search(item.text) or item.level for item in (*before, *after)):
        return False
    beside = (before[-1].text, after[0].text)
    if any(map(_OF_A_REPORT.search, beside)) or not _INTRODUCES.search(beside[0]):
        return False
    if _HAS_FAILED.search(beside[0]) and not _IN_CASE.search(beside[0]):
        return False  # A program's own words for what has happened.
    return all(map(_is_prose, beside))


def _is_prose(text: str) -> bool:
    words = len(_WORDS.findall(text))
    return words >= 4 and _OF_PROSE.search(text) is not None and words * 3 >= len(text.split())
