"""Why one request gets no lock: its files, what is not known, and its resolution."""

from __future__ import annotations

from collections.abc import Iterator

from envdoctor.lock.lock_refusals import (
    amiss,
    direct_demands,
    for_want_of_a_file,
    given_up,
    hash_refusals,
    left_out_unseen,
    not_pinned,
    out_of_reach,
    rests_on_the_unread,
    unread,
    unread_versions,
    unsound,
)
from envdoctor.model.refusal import Refusal
from envdoctor.model.repair import Repair, repair_in_use
from envdoctor.model.requirement import Requirement
from envdoctor.model.resolution import Resolution
from envdoctor.model.target import Target
from envdoctor.resolve.diagnosis import Diagnosis
from envdoctor.verbs.check_request import CheckRequest, Diagnosed

__all__ = ["refusals_in_use", "refusals_of"]


def refusals_in_use(request: CheckRequest, result: Diagnosed) -> tuple[Refusal, ...]:
    """Return why the resolution in use gets no lock."""
    if result.diagnosis is None or request.project is None:
        return ()
    resolution = result.diagnosis.resolution
    repair = repair_in_use(result.diagnosis.repairs, resolution)
    found = refusals_of(request, result.diagnosis, resolution, repair, result.target)
    return (*amiss(request.project, result.target), *found)


def refusals_of(
    request: CheckRequest,
    diagnosis: Diagnosis,
    resolution: Resolution | None,
    repair: Repair | None,
    target: Target,
    *,
    asked_for: bool = False,
) -> tuple[Refusal, ...]:
    """Return why this resolution gets no lock.

    ``asked_for``: a person named the repair, so that what it leaves out is left out on purpose.
    """
    found = [*unsound(diagnosis), *for_want_of_a_file(diagnosis), *given_up(diagnosis, resolution)]
    found += unread(diagnosis, _written(request))
    if not asked_for:
        found += left_out_unseen(diagnosis, repair)
    if resolution is not None:
        found += _of_resolution(request, resolution, target)
    elif diagnosis.conflicts and not all(rests_on_the_unread(item, diagnosis) for item in diagnosis.conflicts):
        return tuple(found)  # What is known is enough to say no.
    found += unread_versions(diagnosis)
    found += out_of_reach(request.unreachable(), found)
    return tuple(found)


def _of_resolution(request: CheckRequest, resolution: Resolution, target: Target) -> Iterator[Refusal]:
    yield from not_pinned(resolution)
    if request.index is not None:
        yield from direct_demands(resolution, request.index, target)
    if request.project is not None:
        yield from hash_refusals(request.project, resolution, target)


def _written(request: CheckRequest) -> tuple[Requirement, ...]:
    project = request.project.requirements if request.project else ()
    return (*project, *(item.requirement for item in (request.profile.requires if request.profile else ())))
