"""What a resolution was made without: the metadata and indexes that did not come, and demands that nobody can follow.

A diagnosis may go on without them and say so. A lock would install something else than was asked for.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from packaging.requirements import InvalidRequirement
from packaging.requirements import Requirement as Pep508
from packaging.utils import canonicalize_name

from envdoctor.model.refusal import Refusal, RefusalKind
from envdoctor.model.requirement import may_hold
from envdoctor.ports import IndexUnavailable, MetadataUnavailable

if TYPE_CHECKING:
    from envdoctor.model.candidate import Rejection
    from envdoctor.model.conflict import Conflict
    from envdoctor.model.resolution import Resolution, ResolvedPackage
    from envdoctor.model.target import Target
    from envdoctor.model.unknown import Unknown
    from envdoctor.ports import Index
    from envdoctor.resolve.diagnosis import Diagnosis

__all__ = ["direct_demands", "left_open", "out_of_reach", "rests_on_the_unread", "unread_versions"]


def unread_versions(diagnosis: Diagnosis) -> Iterator[Refusal]:
    """Yield the versions, in use or passed over, whose metadata did not come.

    What only a build would tell is not among them: to ask again brings nothing, so the lock is written and says it.
    """
    for rejection in _left_open(diagnosis):
        if rejection.unknown is not None and rejection.unknown.may_be_asked_again:
            yield Refusal(RefusalKind.UNKNOWN, rejection.project, unknown=rejection.unknown)


def left_open(diagnosis: Diagnosis) -> tuple[Unknown, ...]:
    """Return what is not known and stands in no lock's way: what only a build would tell, lines that say nothing."""
    refused = {refusal.unknown for refusal in unread_versions(diagnosis)} | set(diagnosis.on_trust)
    return tuple(unknown for unknown in diagnosis.unknowns if unknown not in refused)


def _left_open(diagnosis: Diagnosis) -> Iterator[Rejection]:
    """Yield the rejections that leave something open; the others lie beside every way that was taken."""
    for rejection in diagnosis.rejections:
        if rejection.unknown in diagnosis.unknowns:
            yield rejection


def out_of_reach(unreachable: Iterable[Unknown], known: Iterable[Refusal]) -> Iterator[Refusal]:
    """Yield the indexes that did not answer and of which no other refusal speaks."""
    spoken_of = {refusal.index for refusal in known}
    for unknown in unreachable:
        if unknown.index not in spoken_of:
            yield Refusal(RefusalKind.UNKNOWN, place=unknown.url, index=unknown.index, unknown=unknown)


def direct_demands(resolution: Resolution, index: Index, target: Target) -> Iterator[Refusal]:
    """Yield the demands of distributions for a file at a URL: the index's file of that name need not be the same."""
    for package in resolution.packages:
        for demand in _direct(package, index, target):
            name = canonicalize_name(demand.name)
            met = resolution.get(name)
            if met is not None and package.name not in met.overruled:
                yield Refusal(
                    RefusalKind.DIRECT_REFERENCE,
                    name,
                    f"{package.name} {package.version} asks for `{demand}`, a direct reference; an index's file need "
                    "not be the same; an override in a profile can say which version to take",
                )


def _direct(package: ResolvedPackage, index: Index, target: Target) -> Iterator[Pep508]:
    try:
        lines = index.metadata(package.file).requires_dist
    except (MetadataUnavailable, IndexUnavailable):
        return
    for line in lines:
        if "@" not in line:
            continue
        with contextlib.suppress(InvalidRequirement):
            demand = Pep508(line)
            environments = [target.marker_environment(extra) for extra in ("", *package.extras)]
            if demand.url and any(may_hold(demand.marker, each) for each in environments):
                yield demand


def rests_on_the_unread(conflict: Conflict, diagnosis: Diagnosis) -> bool:
    """Return whether a version that could not be read may be the whole reason of a conflict."""
    unread = {rejection.project for rejection in _left_open(diagnosis)}
    sides = conflict.clash.sides
    named: set[str] = {conflict.clash.package, *(item.name for item in conflict.core)}
    named |= {name for side in sides for name in (side.requirement.name, *side.via)}
    return bool(unread & named)
