"""``lock``: a prescription as the files that stand beside a project."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from envdoctor import __version__
from envdoctor.lock.companions import constraints_text, overrides_text
from envdoctor.lock.document import LockFault, build_pylock, faults, lock_text
from envdoctor.model.repair import Repair
from envdoctor.model.report import Report
from envdoctor.model.resolution import Resolution
from envdoctor.resolve.diagnosis import Diagnosis
from envdoctor.workflow.by_lock import unchanged
from envdoctor.workflow.check import CheckRequest, prescribe, report_of
from envdoctor.workflow.prescription import problem_of

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


def lock(request: CheckRequest, choice: LockChoice, index_urls: Mapping[str, str]) -> LockOutcome:
    """Return the lock and its companions for a request; nothing is written here."""
    result = prescribe(request)
    report = report_of(request, result, command="lock")
    if result.diagnosis is None:
        return LockOutcome(report, {}, refusal="there is no project to lock")
    if result.by_lock:
        if choice == LockChoice() and _still_the_lock(request):
            return LockOutcome(report, {}, kept=_file_names(request))
        return LockOutcome(report, {}, faults=tuple(LockFault(name, "not in the cache") for name in result.by_lock))
    resolution, repair, refusal = _choose(result.diagnosis, choice)
    if resolution is None:
        return LockOutcome(report, {}, refusal=refusal)
    wrong = (*_unread(result.diagnosis, request), *faults(resolution))
    if wrong:
        return LockOutcome(report, {}, faults=wrong, repair=repair)
    name = request.profile.name if request.profile else None
    document = build_pylock(
        resolution,
        result.target,
        created_by=f"envdoctor {__version__.partition('.')[0]}.{__version__.split('.')[1]}",
        profile=name,
        repair=repair,
        index_urls=index_urls,
        chosen=choice.repair is not None or (choice == LockChoice() and bool(request.locked and request.locked.chosen)),
    )
    label = name or "project"
    texts = lock_text(document), constraints_text(resolution, label), overrides_text(repair, resolution, label)
    return LockOutcome(report, dict(zip(_file_names(request), texts, strict=True)), repair=repair)


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


def _unread(diagnosis: Diagnosis, request: CheckRequest) -> list[LockFault]:
    """Return what the resolution leaves out because its page could not be read: a lock without it would be wrong."""
    written = [*(request.project.requirements if request.project else ())]
    written += [item.requirement for item in request.profile.requires] if request.profile else []
    direct = {requirement.name for requirement in written if requirement.url}
    reasons = {name: reason for name, _, reason in (text.partition(": ") for text in diagnosis.incomplete)}
    unread = [name for name in diagnosis.unknown if name not in direct]
    return [LockFault(name, reasons.get(f"`{name}`", "its page could not be read")) for name in unread]


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
