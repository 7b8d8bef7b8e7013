"""``lock``: a prescription as the files that stand beside a project."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from envdoctor import __version__
from envdoctor.lock.companions import constraints_text, overrides_text
from envdoctor.lock.document import LockFault, build_pylock, faults, lock_text
from envdoctor.lock.reading import parse_lock
from envdoctor.model.project import Project
from envdoctor.model.repair import Repair
from envdoctor.model.report import Report
from envdoctor.model.resolution import Resolution
from envdoctor.model.target import Target
from envdoctor.resolve.diagnosis import Diagnosis
from envdoctor.workflow.by_lock import unchanged
from envdoctor.workflow.check import CheckRequest, prescribe, report_of
from envdoctor.workflow.lock_notes import lock_notes
from envdoctor.workflow.lock_refusals import (
    hash_faults,
    left_out_unseen,
    misread,
    not_admitted,
    nothing_there,
    unread,
    with_hashes,
)
from envdoctor.workflow.prescription import problem_of
from envdoctor.workflow.waivers import accepted_by_lock

__all__ = ["LockChoice", "LockOutcome", "lock"]


@dataclass(frozen=True, slots=True)
class LockChoice:
    """Which repair to lock."""

    repair: int | None = None
    """Its number, 1 for R1; None: the one in use."""
    none: bool = False
    """Lock the requirements as they stand, or fail."""


@dataclass(frozen=True, slots=True)
class LockOutcome:
    """The files to write, or why there are none."""

    report: Report
    files: Mapping[str, str]
    """File name to text; empty where something stands in the way."""
    faults: tuple[LockFault, ...] = ()
    refusal: str | None = None
    repair: Repair | None = None
    kept: tuple[str, ...] = ()
    """Names of the files on disk that still hold, where only the lock could be asked; ``files`` is empty then."""
    no_such_repair: bool = False
    """The repair that was asked for is none of the list; ``refusal`` names those there are."""
    notes: tuple[str, ...] = ()
    """What a person should know of the lock that is written."""


def lock(request: CheckRequest, choice: LockChoice, index_urls: Mapping[str, str]) -> LockOutcome:
    """Return the lock and its companions for a request; nothing is written here."""
    result = prescribe(request)
    report = report_of(request, result, command="lock")
    if result.diagnosis is None or request.project is None:
        return LockOutcome(report, {}, refusal="there is no project to lock")
    amiss = _amiss(request.project, result.target)
    if result.by_lock and not amiss:
        if choice == LockChoice() and _still_the_lock(request):
            return LockOutcome(report, {}, kept=_file_names(request))
        return LockOutcome(report, {}, faults=tuple(LockFault(name, "not in the cache") for name in result.by_lock))
    resolution, repair, refusal = _choose(result.diagnosis, choice)
    wrong = (*amiss, *_faults(request, choice, result.diagnosis, resolution, repair, result.target, index_urls))
    if wrong:
        return LockOutcome(report, {}, faults=wrong, repair=repair)
    if resolution is None:
        return LockOutcome(report, {}, refusal=refusal, no_such_repair=choice.repair is not None)
    resolution = with_hashes(request.project, resolution, result.target)
    return _written(request, choice, report, resolution, repair, result.target, index_urls)


def _amiss(project: Project, target: Target) -> tuple[LockFault, ...]:
    python = not_admitted(project, target)
    return (*misread(project), *((python,) if python else ()))


def _faults(
    request: CheckRequest,
    choice: LockChoice,
    diagnosis: Diagnosis,
    resolution: Resolution | None,
    repair: Repair | None,
    target: Target,
    index_urls: Mapping[str, str],
) -> tuple[LockFault, ...]:
    nowhere = nothing_there(diagnosis, resolution, request.index, index_urls.get("default"))
    if nowhere is not None:
        return (nowhere,)
    project = request.project
    written = [*(project.requirements if project else ())]
    written += [item.requirement for item in request.profile.requires] if request.profile else []
    found = list(unread(diagnosis, written))
    if choice.repair is None:
        found += left_out_unseen(diagnosis, repair)
    if resolution is not None:
        found += faults(resolution)
        found += hash_faults(project, resolution, target) if project else ()
    return tuple(found)


def _written(
    request: CheckRequest,
    choice: LockChoice,
    report: Report,
    resolution: Resolution,
    repair: Repair | None,
    target: Target,
    index_urls: Mapping[str, str],
) -> LockOutcome:
    """Return the files, and a report in which what the lock settles counts as accepted."""
    name = request.profile.name if request.profile else None
    document = build_pylock(
        resolution,
        target,
        created_by=f"envdoctor {__version__.partition('.')[0]}.{__version__.split('.')[1]}",
        profile=name,
        repair=repair,
        index_urls=index_urls,
        chosen=choice.repair is not None or (choice == LockChoice() and bool(request.locked and request.locked.chosen)),
    )
    label = name or "project"
    texts = lock_text(document), constraints_text(resolution, label), overrides_text(repair, resolution, label)
    files = dict(zip(_file_names(request), texts, strict=True))
    lock_name = next(iter(files))
    settled = accepted_by_lock(report.findings, report.conflicts, parse_lock(files[lock_name], lock_name))
    report = replace(report, findings=settled)
    return LockOutcome(report, files, repair=repair, notes=lock_notes(report, resolution, repair))


def _still_the_lock(request: CheckRequest) -> bool:
    if request.project is None or request.locked is None:
        return False
    problem = problem_of(request.project, request.target, profile=request.profile, locked=request.locked)
    return unchanged(problem, request.locked)


def _file_names(request: CheckRequest) -> tuple[str, str, str]:
    """Return the names of lock, constraints and overrides."""
    name = request.profile.name if request.profile else None
    label = name or "project"
    return f"pylock.{name}.toml" if name else "pylock.toml", f"constraints.{label}.txt", f"overrides.{label}.txt"


def _choose(diagnosis: Diagnosis, choice: LockChoice) -> tuple[Resolution | None, Repair | None, str | None]:
    if choice.none:
        if diagnosis.conflicts:
            return None, None, "the requirements cannot hold together as they stand, and `--no-repair` allows no other"
        return diagnosis.resolution, None, None
    if choice.repair is not None:
        wanted = f"R{choice.repair}"
        for repair in diagnosis.repairs:
            if repair.id == wanted:
                return diagnosis.resolutions[wanted], repair, None
        known = ", ".join(repair.id for repair in diagnosis.repairs) or "none"
        return None, None, f"there is no repair {wanted}; repairs: {known}"
    resolution = diagnosis.resolution
    if resolution is None:
        return None, None, "no repair was found after which the requirements resolve"
    in_use = next((repair for repair in diagnosis.repairs if repair.id == resolution.repair), None)
    return resolution, in_use, None
