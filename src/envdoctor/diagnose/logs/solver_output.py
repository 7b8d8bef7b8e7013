"""What Poetry and PDM print where they find no solution."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from envdoctor.diagnose.logs.log_lines import LogLine
from envdoctor.diagnose.logs.resolver_failure import (
    ResolverFailure,
    demand_of,
    folded,
    in_log,
    of_poetry,
    requirement_of,
)
from envdoctor.model.origin import DistributionOrigin
from envdoctor.model.requirement import Requirement

__all__ = ["failures_of_pdm", "failures_of_poetry"]

_MOST_LINES = 120
_NAME = r"(?<![\w.-])[A-Za-z0-9][\w.-]*(?![\w.-])(?:\[[\w, -]*\])?"
_WITH = rf"{_NAME}(?: \([^()]*\))?"
_POETRY_NEEDS = re.compile(
    rf"(?:every version of )?({_WITH}) (?:depends on|requires) (?:both"
    rf" )?({_WITH})(?: and ({_WITH})(?!\[| \(| depends| requires))?"
)
_POETRY_PYTHON = re.compile(
    r"- ([\w.-]+) requires Python ([^,]+(?:,[<>=!~ ][^,]+)*), so"
    r" it will not be (?:satisfied|installable) for Python (.+)$"
)


def failures_of_poetry(lines: Sequence[LogLine]) -> Iterator[ResolverFailure]:
    """Yield Poetry's refusals."""
    begin = None
    for at, line in enumerate(lines):
        if found := _POETRY_PYTHON.match(line.text):
            core = requirement_of(found[1], in_log(line.number))
            why = f"needs Python {found[2]}, and the project admits {found[3]}, too"
            remedy = f"narrow the project's `python` to what `{found[1]}` admits, or take another version of it"
            yield ResolverFailure(line.number, line.number, line.text, (core,) if core else (), (), why, remedy)
        if line.text.startswith("Because ") and (begin is None or at - begin > _MOST_LINES):
            begin = at
        if "version solving failed" in line.text:
            first = begin if begin is not None else at
            yield _of_poetry(" ".join(item.text for item in lines[first : at + 1]), lines[first].number, line.number)
            begin = None
        elif line.text.startswith("We can conclude") or "we can conclude that" in line.text:
            # uv's words.
            begin = None


def _of_poetry(words: str, begin: int, end: int) -> ResolverFailure:
    # What a sentence ends with follows from what it begins with.
    said = re.sub(
        rf",\s+(?:every version of )?{_NAME}(?: \([^()]*\))? (?:requires|is forbidden|is incompatible)[^.]*\.",
        " ;",
        words,
    )
    core, demands = [], []
    for match in _POETRY_NEEDS.finditer(said):
        consumer = re.match(rf"({_NAME})(?: \(([^()]*)\))?", match[1])
        assert consumer is not None  # noqa: S101 - the pattern above holds this one
        for text in filter(None, (match[2], match[3])):
            if re.match(r"Python\b", text):
                continue
            # The project alone stands there without a version.
            if consumer[2] is None and not match[0].startswith("every version of "):
                core.append(of_poetry(text, in_log(begin)))
            else:
                origin = DistributionOrigin(consumer[1].lower(), consumer[2] or "")
                demands.append(of_poetry(text, origin))
    return ResolverFailure(
        begin,
        end,
        words,
        folded(filter(None, core)),
        tuple(item for item in demands if item is not None),
        *_poetry_why(said, core),
    )


_CLAUSE = r"[<>=!~]+ ?[^\s,;]+"


def _poetry_why(said: str, core: Sequence[Requirement | None]) -> tuple[str, str]:
    """Return why one requirement cannot be met; empty texts for a conflict of several."""
    if sum(item is not None for item in core) > 1:
        return "", ""
    if found := re.search(rf"requires Python ({_CLAUSE}(?:, ?{_CLAUSE})*)", said):
        return (
            f"needs Python {found[1].replace(' ', '')}, and the project admits others",
            "narrow the project's `python`, or take another version",
        )
    if "doesn't match any versions" in said:
        return "is met by no version that the index has", "ask for a version that the index has"
    if found := re.search(rf"no versions of {_NAME} match ([<>=!~*][^\s,;]*(?:,[<>=!~][^\s,;]*)*)", said):
        return f"is met by no version that the index has: none is {found[1]}", "ask for a version that the index has"
    return "", ""


_PDM_ROW = re.compile(r"(.+?) \(from (.+?)\)$")


def failures_of_pdm(lines: Sequence[LogLine]) -> Iterator[ResolverFailure]:
    """Yield PDM's refusals."""
    for at, line in enumerate(lines):
        if "ResolutionImpossible]" not in line.text and "because of the following conflicts" not in line.text:
            continue
        core, demands, end, words = list[Requirement](), list[Requirement](), at, [line.text]
        for end in range(at + 1, min(len(lines), at + 40)):
            found = _PDM_ROW.match(lines[end].text)
            words.append(lines[end].text)
            if found is None:
                if core or demands:
                    break
                continue
            name, _, version = found[2].partition("@")
            item = (
                demand_of(name, version, found[1]) if version else requirement_of(found[1], in_log(lines[end].number))
            )
            if item is not None:
                (demands if version else core).append(item)
        if core or demands:
            wanting = (
                requirement_of(f"{name}=={version}", in_log(line.number)) for name, version in _consumers(demands)
            )
            core += [item for item in wanting if item is not None]
            yield ResolverFailure(line.number, lines[end].number, " ".join(words), folded(core), tuple(demands))
            return


def _consumers(demands: Sequence[Requirement]) -> list[tuple[str, str]]:
    found = [(item.origin.name, item.origin.version) for item in demands if isinstance(item.origin, DistributionOrigin)]
    return list(dict.fromkeys(found))
