"""Lines that only tell of an error: manuals, change logs, lists of commits, searches, tests that passed."""

from __future__ import annotations

import re

__all__ = ["is_only_told_of"]

_PASSED = re.compile(r"\b(?:PASSED|XFAIL|SKIPPED)\b|\.\.\. ok$")
"""What a test runner says of a test whose name, or whose example, is an error's text."""
_WRITTEN = re.compile(
    r"(?:[-*\N{BULLET}] (?!\w+(?:Error|Exception): )|#{1,6} |\|.*\|$|\*\*"
    r"|(?:commit )?[0-9a-f]{7,40} (?![\w.]*(?:Error|Exception): )[A-Za-z]"
    r"|[\w./\\-]+\.(?:md|rst|adoc|html?|ipynb)(?::\d+)?[:-])"
)
"""How lists, headings, tables, bold text, commits and finds in manuals begin."""
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


def is_only_told_of(line: str, begin: int) -> bool:
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

    Nor is a whole line in quotes: HIP prints its errors so.
    """
    for mark in ("`", '"', "**"):
        if before.count(mark) % 2 == 1 and mark in after:
            at = before.rfind(mark)
            whole = mark == '"' and not before[:at].strip() and after.rstrip().endswith(mark)
            if before[at - 1 : at] != "(" and not whole:
                return at
    return None
