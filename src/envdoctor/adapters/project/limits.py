"""How long a line, a version and a number of a project's files may be, and how much of them is told.

What is longer is a mistake or mischief: Python itself refuses to convert numbers of more than 4,300 digits.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from envdoctor.model.project import ReadingProblem

if TYPE_CHECKING:
    from collections.abc import Sequence

    from packaging.specifiers import SpecifierSet

__all__ = ["DEEPEST_INCLUDES", "beyond_limits", "bounded", "legible", "overlong"]

DEEPEST_INCLUDES = 50
"""Files that name each other, one inside the other."""
_LONGEST_LINE = 10_000
_LONGEST_VERSION = 200
_NUMBER = re.compile(rf"\d{{{_LONGEST_VERSION + 1}}}")
_SHOWN = 200
_SHOWN_MESSAGE = 600
_MOST_ALIKE = 100


def beyond_limits(text: str) -> str | None:
    """Return what is wrong with the length of a requirement, None where nothing is."""
    if len(text) > _LONGEST_LINE:
        return f"it is longer than {_LONGEST_LINE:,} characters"
    if len(text) > _LONGEST_VERSION and _NUMBER.search(text):
        return f"it has a number of more than {_LONGEST_VERSION} digits"
    return None


def overlong(specifier: SpecifierSet) -> str | None:
    """Return what is wrong with the length of a specifier's versions, None where nothing is."""
    if any(len(clause.version) > _LONGEST_VERSION for clause in specifier):
        return f"it has a version of more than {_LONGEST_VERSION} characters"
    return None


def legible(problem: ReadingProblem) -> ReadingProblem:
    """Return a problem that repeats no more of a line than a person would look at."""
    if len(problem.text) <= _SHOWN and len(problem.message) <= _SHOWN_MESSAGE:
        return problem
    text = _cut(problem.text, _SHOWN)
    message = problem.message.replace(problem.text, text) if len(problem.text) > _SHOWN else problem.message
    suggestions = tuple(each for each in problem.suggestions if len(each) <= _SHOWN)
    return replace(problem, text=text, message=_cut(message, _SHOWN_MESSAGE), suggestions=suggestions)


def bounded(problems: Sequence[ReadingProblem]) -> tuple[ReadingProblem, ...]:
    """Return the problems, of each kind no more than a hundred; the last of a kind says how many more there are."""
    kept: list[ReadingProblem] = []
    counts: dict[object, int] = {}
    for problem in problems:
        counts[problem.kind] = counts.get(problem.kind, 0) + 1
        if counts[problem.kind] <= _MOST_ALIKE:
            kept.append(problem)
    for at, problem in enumerate(kept):
        more = counts.pop(problem.kind, 0) - _MOST_ALIKE
        last = max((place for place, other in enumerate(kept) if other.kind is problem.kind), default=at)
        if more > 0:
            kept[last] = replace(kept[last], message=f"{kept[last].message} (and {more:,} more like this one)")
    return tuple(kept)


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - 1] + "\N{HORIZONTAL ELLIPSIS}"
