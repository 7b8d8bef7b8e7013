"""Which of the requirements hold at the end, and which say the same thing twice."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from packaging.utils import NormalizedName, canonicalize_name

from envdoctor.model.project import ReadingProblem, ReadingProblemKind
from envdoctor.model.requirement import Requirement, RequirementKind, both_markers

__all__ = ["duplicates", "named_beside", "overridden", "separate_superseded", "several_places"]

_MOST_PAIRS = 100
"""Pairs of repeated lines that are told one by one."""


def separate_superseded(
    requirements: Sequence[Requirement], removals: Sequence[tuple[int, NormalizedName]]
) -> tuple[tuple[Requirement, ...], tuple[Requirement, ...]]:
    """Split into those in force and those whose package a later step of the script uninstalls."""
    last: dict[NormalizedName, int] = {}
    for step, name in removals:
        last[name] = max(step, last.get(name, 0))

    def gone(requirement: Requirement) -> bool:
        return requirement.step is not None and requirement.step < last.get(requirement.name, 0)

    return (
        tuple(requirement for requirement in requirements if not gone(requirement)),
        tuple(requirement for requirement in requirements if gone(requirement)),
    )


def overridden(requirements: Iterable[Requirement], overrides: Sequence[Requirement]) -> tuple[Requirement, ...]:
    """Return people's lines with the project's overrides in the place of what they replace; bounds stay."""
    names = {override.name for override in overrides}
    found: list[Requirement] = []
    for line in requirements:
        if line.name not in names or line.kind is RequirementKind.CONSTRAINT:
            found.append(line)
            continue
        found += [
            replace(
                line,
                origin=override.origin,
                specifier=override.specifier,
                marker=both_markers(line.marker, override.marker),
                url=override.url,
                text=override.text,
                hashes=(),
            )
            for override in overrides
            if override.name == line.name
        ]
    return tuple(found)


def duplicates(requirements: Iterable[Requirement]) -> tuple[tuple[tuple[Requirement, Requirement], ...], int]:
    """Return pairs of lines that ask for the same, each with the first line that does, and how many more there are."""
    first: dict[tuple[object, ...], Requirement] = {}
    pairs: list[tuple[Requirement, Requirement]] = []
    more = 0
    for requirement in requirements:
        earlier = first.setdefault(_saying(requirement), requirement)
        if earlier is requirement or earlier.origin == requirement.origin:
            continue
        if len(pairs) < _MOST_PAIRS:
            pairs.append((earlier, requirement))
        else:
            more += 1
    return tuple(pairs), more


def _saying(requirement: Requirement) -> tuple[object, ...]:
    return (
        requirement.name,
        requirement.specifier,
        requirement.extras,
        str(requirement.marker) if requirement.marker else "",
        requirement.url,
        requirement.kind,
        requirement.step,
        requirement.group,
    )


def several_places(requirements: Iterable[Requirement]) -> Iterator[tuple[Requirement, Requirement]]:
    """Yield pairs that ask for one package from two URLs or paths at once, which no installer can do."""
    first: dict[tuple[object, ...], Requirement] = {}
    for requirement in requirements:
        if not requirement.url or requirement.kind is not RequirementKind.REQUIRE:
            continue
        marker = str(requirement.marker) if requirement.marker else ""
        earlier = first.setdefault((requirement.name, marker, requirement.step), requirement)
        if _place(earlier) != _place(requirement):
            yield earlier, requirement


def _place(requirement: Requirement) -> str:
    return (requirement.url or "").partition("#")[0].rstrip("/")


def named_beside(problems: Iterable[ReadingProblem], requirements: Sequence[Requirement]) -> Iterator[Requirement]:
    """Yield references without a name whose repository is called like a project that another line asks for.

    They are taken for that project: what the index has of it says nothing of what the reference will bring.
    """
    asked = {requirement.name for requirement in requirements if requirement.url is None}
    for problem in problems:
        if problem.kind is not ReadingProblemKind.UNREAD or problem.group is not None or not problem.suggestions:
            continue
        name, is_reference, url = problem.suggestions[0].partition(" @ ")
        if is_reference and canonicalize_name(name) in asked:
            yield Requirement(canonicalize_name(name), problem.origin, url=url, text=problem.text)
