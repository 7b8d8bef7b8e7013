"""What pip prints where it refuses: a conflict, or a requirement without a file; pip-tools passes it on."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from envdoctor.diagnose.logs.log_lines import LogLine
from envdoctor.diagnose.logs.resolver_failure import ResolverFailure, demand_of, folded, in_log, requirement_of
from envdoctor.model.requirement import Requirement

__all__ = ["failures_of_pip"]

_CANNOT = re.compile(r"ERROR: Cannot install (.+?) because these package versions have conflicting dependencies")
_ASKED = re.compile(r"The user requested (?:\(constraint\) )?(.+?)(?: \(from .*\))?$")
_NEEDS = re.compile(r"([A-Za-z0-9][\w.-]*)(?:\[[^\]]*\])? (\S+) depends on (.+?)$")
_FROM_LINE = re.compile(
    r"(?:Collecting|Processing|Requirement already satisfied:"
    r"|Obtaining) (\S.*?)(?: in \S+)? \(from (-[rc] \S+ \(line \d+\))\)"
)
_NO_MATCH = re.compile(r"ERROR: No matching distribution found for (.+?)(?: \(from .*\))?$")
_NO_VERSION = re.compile(
    r"ERROR: Could not find a version that satisfies the requirement"
    r" (.+?)(?: \(from (?!versions).*?\))? \(from versions: (.*)\)"
)
_OTHER_PYTHON = re.compile(r"ERROR: Ignored the following versions that require a different python version: (.*)")
_REFUSED = re.compile(r"ERROR: Package '([^']+)' requires a different Python: (\S+) not in '([^']+)'")
_WRONG_WHEEL = re.compile(r"ERROR: (\S+\.whl) is not a supported wheel on this platform")
_MOST_VERSIONS = 6


def failures_of_pip(lines: Sequence[LogLine]) -> Iterator[ResolverFailure]:
    """Yield pip's refusals."""
    from_lines: dict[str, str] | None = None
    for at, line in enumerate(lines):
        if not line.text.startswith("ERROR: "):
            continue
        if found := _CANNOT.match(line.text):
            if from_lines is None:
                from_lines = {place: text for text, place in _from_lines(lines)}
            yield _conflict(lines, at, found[1], from_lines)
        elif found := _NO_MATCH.match(line.text):
            yield _unmatched(lines, at, found[1])
        elif found := _REFUSED.match(line.text):
            yield _alone(
                line, found[1], f"needs Python {found[3]}, and this is {found[2]}", "take a Python that it admits"
            )
        elif found := _WRONG_WHEEL.match(line.text):
            name = found[1].replace("\\", "/").rsplit("/", 1)[-1]
            yield _alone(
                line,
                name.split("-")[0],
                f"was given as `{name}`, which is a wheel for another Python or platform",
                "take the wheel whose tags fit (`python -m pip debug --verbose` lists them)",
            )


def _alone(line: LogLine, text: str, why: str, remedy: str) -> ResolverFailure:
    core = requirement_of(text, in_log(line.number))
    return ResolverFailure(line.number, line.number, line.text, (core,) if core else (), (), why, remedy)


def _conflict(lines: Sequence[LogLine], at: int, named: str, from_lines: dict[str, str]) -> ResolverFailure:
    head = lines[at]
    end, asked, needs = at + 1, [], []
    while end < len(lines) and end < at + 400:
        text = lines[end].text
        if found := _ASKED.match(text):
            asked.append(re.sub(r" and (?=[<>=!~])", ",", found[1]))
        elif found := _NEEDS.match(text):
            # `transformers<4.43 and >=4.42` is how pip writes a list of bounds.
            needs.append((found[1], found[2], re.sub(r" and (?=[<>=!~])", ",", found[3])))
        elif "ResolutionImpossible" in text or lines[end].level or text.startswith("Successfully "):
            break
        end += 1
    core: list[Requirement | None] = [
        requirement_of(text, in_log(head.number, _place_of(text, from_lines))) for text in asked
    ]
    for item in re.split(r", | and ", named):
        if item.startswith("-"):
            core.append(requirement_of(from_lines.get(item, ""), in_log(head.number, item)))
        else:
            core.append(requirement_of(item, in_log(head.number, _place_of(item, from_lines))))
    known = [item for item in core if item is not None]
    if any(item.startswith("-") and item not in from_lines for item in re.split(r", | and ", named)):
        # pip names a line of a file: whoever needs something and was not named is what stands there.
        names = {item.name for item in known}
        others = (requirement_of(name, in_log(head.number)) for name, _, _ in needs)
        known += [item for item in others if item is not None and item.name not in names]
    demands = [item for name, version, text in needs if (item := demand_of(name, version, text)) is not None]
    versions: dict[str, tuple[str, ...]] = {}
    for name, version, _ in needs:
        versions[name.lower()] = tuple(dict.fromkeys((*versions.get(name.lower(), ()), version)))
    tried = {name: several for name, several in versions.items() if len(several) > 1}
    words = " ".join(item.text for item in lines[at:end] if not item.text[:1].isdigit())
    number = lines[min(end, len(lines) - 1)].number
    return ResolverFailure(head.number, number, words, _least(known, tried), tuple(demands), versions=tried)


def _least(core: list[Requirement], tried: dict[str, tuple[str, ...]]) -> tuple[Requirement, ...]:
    """Return each line once; of a project that pip tried in several versions, its name alone was asked for."""
    bare = [item for item in core if item.name not in tried]
    for name in tried:
        of_name = [item for item in core if item.name == name]
        if of_name:
            # Where a file's line is known, that is what was asked for.
            best = next((item for item in of_name if item.origin.kind == "file"), None)
            bare.append(best or requirement_of(name, of_name[0].origin) or of_name[0])
    return folded(bare)


def _from_lines(lines: Sequence[LogLine]) -> Iterator[tuple[str, str]]:
    for line in lines:
        if "(from -" in line.text and (found := _FROM_LINE.match(line.text)):
            yield found[1], found[2]


def _place_of(text: str, from_lines: dict[str, str]) -> str:
    return next((place for place, asked in from_lines.items() if asked == text), "")


def _unmatched(lines: Sequence[LogLine], at: int, text: str) -> ResolverFailure:
    line, begin, versions, others = lines[at], lines[at].number, "", ""
    for item in lines[max(0, at - 4) : at]:
        if found := _NO_VERSION.match(item.text):
            begin, versions = min(begin, item.number), found[2]
        elif found := _OTHER_PYTHON.match(item.text):
            begin, others = min(begin, item.number), found[1]
    core = requirement_of(text, in_log(line.number))
    have = [item.strip() for item in versions.split(",") if item.strip() not in ("", "none")]
    if have:
        shown = ", ".join(have[-_MOST_VERSIONS:])
        why = f"has no file for that Python and platform; the newest versions that have one are {shown}"
        remedy = "take one of these versions, or a Python for which the one that was asked for has a file"
    else:
        why = "has no file at all for that Python and platform, or the index that was asked does not have it"
        remedy = "see for which Pythons and platforms it has files, and whether its name and index are right"
    if others:
        why += f"; other versions need another Python: {others[:120]}"
    words = " ".join(item.text for item in lines[max(0, at - 4) : at + 1] if item.text.startswith("ERROR: "))
    return ResolverFailure(begin, line.number, words, (core,) if core else (), (), why, remedy)
