"""Everything that stands in the way of a lock: what a person must correct, and what could not be known."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from envdoctor.lock.fault import LockFault, faults
from envdoctor.workflow.lock_refusals import hash_faults, left_out_unseen, misread, not_admitted, unread
from envdoctor.workflow.lock_unseen import direct_demands, out_of_reach, rests_on_the_unread, unread_versions

if TYPE_CHECKING:
    from envdoctor.model.project import Project
    from envdoctor.model.repair import Repair
    from envdoctor.model.requirement import Requirement
    from envdoctor.model.resolution import Resolution
    from envdoctor.model.target import Target
    from envdoctor.resolve.diagnosis import Diagnosis
    from envdoctor.workflow.check import CheckRequest, Prescription

__all__ = ["amiss", "obstacles", "obstacles_of", "repair_in_use"]


def amiss(project: Project, target: Target) -> tuple[LockFault, ...]:
    """Return what is wrong with the project's own files, whatever an index says."""
    python = not_admitted(project, target)
    return (*misread(project), *((python,) if python else ()))


def obstacles_of(request: CheckRequest, result: Prescription) -> tuple[LockFault, ...]:
    """Return what stands in the way of a lock of the resolution in use."""
    if result.diagnosis is None or request.project is None:
        return ()
    resolution, repair = result.diagnosis.resolution, repair_in_use(result.diagnosis)
    found = obstacles(request, result.diagnosis, resolution, repair, result.target)
    return (*amiss(request.project, result.target), *found)


def repair_in_use(diagnosis: Diagnosis) -> Repair | None:
    """Return the repair of the resolution in use, None where the requirements hold as they stand."""
    used = diagnosis.resolution.repair if diagnosis.resolution else None
    return next((repair for repair in diagnosis.repairs if repair.id == used), None)


def obstacles(
    request: CheckRequest,
    diagnosis: Diagnosis,
    resolution: Resolution | None,
    repair: Repair | None,
    target: Target,
    *,
    asked_for: bool = False,
) -> tuple[LockFault, ...]:
    """Return what stands in the way of a lock of this resolution.

    ``asked_for``: a person named the repair, so that what it leaves out is left out on purpose.
    """
    found = list(unread(diagnosis, _written(request)))
    if not asked_for:
        found += left_out_unseen(diagnosis, repair)
    if resolution is not None:
        found += _of_resolution(request, resolution, target)
    elif diagnosis.conflicts and not all(rests_on_the_unread(item, diagnosis) for item in diagnosis.conflicts):
        return tuple(found)  # What is known is enough to say no.
    found += unread_versions(diagnosis)
    found += out_of_reach(request.unreachable(), found)
    return tuple(found)


def _of_resolution(request: CheckRequest, resolution: Resolution, target: Target) -> Iterator[LockFault]:
    yield from faults(resolution)
    if request.index is not None:
        yield from direct_demands(resolution, request.index, target)
    if request.project is not None:
        yield from hash_faults(request.project, resolution, target)


def _written(request: CheckRequest) -> tuple[Requirement, ...]:
    project = request.project.requirements if request.project else ()
    return (*project, *(item.requirement for item in (request.profile.requires if request.profile else ())))
