"""Which of the requirements hold at the end, and which say the same thing twice."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from packaging.utils import NormalizedName

from envdoctor.model.requirement import Requirement

__all__ = ["duplicates", "separate_superseded"]


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


def duplicates(requirements: Iterable[Requirement]) -> tuple[tuple[Requirement, Requirement], ...]:
    """Return pairs of lines that ask for the same, each with the first line that does."""
    first: dict[tuple[object, ...], Requirement] = {}
    pairs: list[tuple[Requirement, Requirement]] = []
    for requirement in requirements:
        marker = str(requirement.marker) if requirement.marker else ""
        key = (
            requirement.name,
            requirement.specifier,
            requirement.extras,
            marker,
            requirement.url,
            requirement.kind,
            requirement.step,
            requirement.group,
        )
        earlier = first.setdefault(key, requirement)
        if earlier is not requirement and earlier.origin != requirement.origin:
            pairs.append((earlier, requirement))
    return tuple(pairs)
