"""``lock``: a project's resolution as the files that stand beside the project, or why there are none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from packaging.pylock import Pylock

from envdoctor import __version__
from envdoctor.adapters.index.archive_bytes import digest_of_local, local_path
from envdoctor.diagnose.host_needs import card_against
from envdoctor.lock.lock_refusals import amiss, left_open, nothing_there, with_hashes
from envdoctor.lock.locked_files import path_from, with_local_hashes
from envdoctor.lock.pylock_reader import holds, locked_project, unchanged
from envdoctor.lock.pylock_writer import build_pylock, constraints_text, demands_told_apart, lock_text, overrides_text
from envdoctor.model.dataclass import dataclass
from envdoctor.model.finding import in_words
from envdoctor.model.override import Override
from envdoctor.model.project import ReadingProblem
from envdoctor.model.refusal import Refusal, RefusalKind
from envdoctor.model.repair import Repair, repair_in_use
from envdoctor.model.report import Report, Setting
from envdoctor.model.resolution import Resolution
from envdoctor.model.target import Backend, Target
from envdoctor.model.unknown import Unknown
from envdoctor.ports import UsageError
from envdoctor.resolve.diagnosis import Diagnosis
from envdoctor.verbs.check import diagnose_project, report_of
from envdoctor.verbs.check_request import CheckRequest
from envdoctor.verbs.profile_environments import together
from envdoctor.verbs.project_index import overrides_of_project
from envdoctor.verbs.project_inputs import lock_name
from envdoctor.verbs.refused_lock import refusals_of
from envdoctor.verbs.resolver_input import manifest_of
from envdoctor.verbs.waivers import accepted_by_lock

__all__ = [
    "LockChoice",
    "LockOutcome",
    "lock",
    "lock_all",
    "refused_code",
    "stale_files",
    "write_files",
]


@dataclass(frozen=True, slots=True)
class LockChoice:
    """Which repair to lock."""

    repair: int | None = None
    """Its number, 1 for R1; None: the one in use."""
    none: bool = False
    """Lock the requirements as they stand, or fail."""
    where_needed: bool = False
    """The repair is for requirements in conflict; others, of another environment, need none."""


@dataclass(frozen=True, slots=True)
class LockOutcome:
    """The files to write, or why there are none."""

    report: Report
    files: Mapping[str, str]
    """File name to text; empty where something stands in the way."""
    refusals: tuple[Refusal, ...] = ()
    repair: Repair | None = None
    kept: tuple[str, ...] = ()
    """Names of the files on disk that still hold, where only the lock could be asked; ``files`` is empty then."""
    left_open: tuple[Unknown, ...] = ()
    """What is not known of what is locked."""
    problems: tuple[ReadingProblem, ...] = ()
    """Those of the project's files."""
    chosen_before: bool = False
    """The repair is the one that the lock on disk has."""
    parts: tuple[tuple[str, LockOutcome], ...] = ()
    """Each environment's own, with its name, where there are several."""
    overrides: tuple[Override, ...] = ()
    """What the lock sets aside: the repair's, and the project's own."""
    resolution: Resolution | None = None
    """What is locked, with the hashes that the project asks for."""
    document: Pylock | None = None


def lock(request: CheckRequest, choice: LockChoice, index_urls: Mapping[str, str]) -> LockOutcome:
    """Return the lock and its companions for a request; nothing is written here."""
    request = _for_the_same_backend(request)
    result = diagnose_project(request, repair=choice.repair)
    report = report_of(request, result, command="lock")
    if result.diagnosis is None or request.project is None:
        nothing = Refusal(RefusalKind.CONFLICT, message="there is no project to lock")
        return LockOutcome(report, {}, refusals=(nothing,))
    if choice.where_needed and not result.diagnosis.conflicts:
        choice = LockChoice()
    refusals = amiss(request.project, result.target)
    repair: Repair | None = None
    none: Refusal | None = None
    resolution: Resolution | None = None
    if result.by_lock:
        refusals += tuple(Refusal(RefusalKind.UNKNOWN, name, "not in the cache") for name in result.by_lock)
    else:
        resolution, repair, none = _choose(result.diagnosis, choice)
        resolution = with_local_hashes(resolution, digest_of_local) if resolution is not None else None
        refusals += _refusals(request, choice, result.diagnosis, resolution, repair, result.target, index_urls)
    if refusals:
        if not any(refusal.wrong for refusal in refusals) and choice == LockChoice() and _still_the_lock(request):
            return LockOutcome(report, {}, kept=_file_names(request))
        return LockOutcome(report, {}, refusals=refusals, repair=repair)
    if resolution is None:
        return LockOutcome(report, {}, refusals=(none,) if none is not None else ())
    resolution = with_hashes(request.project, resolution, result.target)
    resolution, repair = demands_told_apart(resolution, repair)
    return replace(
        _written(request, choice, report, resolution, repair, result.target, index_urls),
        left_open=left_open(result.diagnosis),
        problems=request.project.problems,
        chosen_before=choice == LockChoice() and _chosen(request, choice, result.target),
    )


def _for_the_same_backend(request: CheckRequest) -> CheckRequest:
    """Return the request for the backend that the lock on disk was made for, where nothing and nobody names another."""
    target, before = request.target, request.locked
    if before is None or target.backend is not Backend.UNKNOWN:
        return request
    named = (replace(target, backend=each, backend_named=True) for each in Backend if each is not Backend.UNKNOWN)
    made = [each.backend for each in named if before.is_for(each, request.python_choices)]
    # One without a table of its target is for every backend.
    if len(made) != 1 or card_against(made[0], request.facts):
        return request
    told = (*request.scope.target_facts, Setting("backend", made[0].value, before.path))
    scope = replace(request.scope, target_facts=told)
    return replace(request, target=replace(target, backend=made[0]), scope=scope)


def _refusals(
    request: CheckRequest,
    choice: LockChoice,
    diagnosis: Diagnosis,
    resolution: Resolution | None,
    repair: Repair | None,
    target: Target,
    index_urls: Mapping[str, str],
) -> tuple[Refusal, ...]:
    nowhere = nothing_there(diagnosis, resolution, request.index, index_urls.get("default"))
    if nowhere is not None:
        return (nowhere,)
    return refusals_of(request, diagnosis, resolution, repair, target, asked_for=_chosen(request, choice, target))


def _chosen(request: CheckRequest, choice: LockChoice, target: Target) -> bool:
    """Return whether a person chose the repair, now or when the lock on disk was written for the target."""
    before = request.lock_for(target)
    return choice.repair is not None or (choice == LockChoice() and before is not None and before.chosen)


def _still_the_lock(request: CheckRequest) -> bool:
    """Return whether, where no index may be asked, the lock on disk is for what is written now."""
    if request.project is None or request.locked is None or not request.offline or request.upgrade:
        return False
    manifest = manifest_of(request.project, request.target, profile=request.profile, locked=request.locked)
    return unchanged(manifest, request.locked) and holds(manifest, request.locked, request.python_choices)


def _file_names(request: CheckRequest) -> tuple[str, str, str]:
    """Return the names of lock, constraints and overrides."""
    name = lock_name(request.profile.name if request.profile else None, request.part, request.groups)
    label = name or "project"
    return f"pylock.{name}.toml" if name else "pylock.toml", f"constraints.{label}.txt", f"overrides.{label}.txt"


def _choose(diagnosis: Diagnosis, choice: LockChoice) -> tuple[Resolution | None, Repair | None, Refusal | None]:
    if choice.none:
        if diagnosis.conflicts:
            message = f"{_clashing(diagnosis)} cannot be installed together, and `--no-repair` allows no other"
            return None, None, Refusal(RefusalKind.CONFLICT, message=message)
        return diagnosis.resolution, None, None
    if choice.repair is not None:
        wanted = f"R{choice.repair}"
        for repair in diagnosis.repairs:
            if repair.id == wanted:
                return diagnosis.resolutions[wanted], repair, None
        known = ", ".join(repair.id for repair in diagnosis.repairs) or "none"
        return None, None, Refusal(RefusalKind.NO_REPAIR, message=f"there is no repair {wanted}; repairs: {known}")
    resolution = diagnosis.resolution
    if resolution is None:
        message = "no repair was found after which the requirements resolve"
        if diagnosis.conflicts:
            message = f"{_clashing(diagnosis)} cannot be installed together, and {_no_way_out(diagnosis)}"
        return None, None, Refusal(RefusalKind.CONFLICT, message=message)
    return resolution, repair_in_use(diagnosis.repairs, resolution), None


def _no_way_out(diagnosis: Diagnosis) -> str:
    lost = {f"`{aside.name}`": None for repair in diagnosis.repairs for aside in repair.given_up()}
    return f"every repair leaves out {', '.join(lost)}, which the profile requires" if lost else "no repair was found"


def _clashing(diagnosis: Diagnosis) -> str:
    """Return the lines of the first conflict, and how many conflicts there are besides."""
    members = [f"`{item}` ({item.origin})" for item in diagnosis.conflicts[0].core]
    more = len(diagnosis.conflicts) - 1
    others = f" (and {more} more conflict{'s' if more > 1 else ''})" if more else ""
    return f"{in_words(members)}{others}"


def lock_all(requests: Sequence[CheckRequest], choice: LockChoice, index_urls: Mapping[str, str]) -> LockOutcome:
    """Return the locks of all environments as one outcome; without files where one of them has none.

    A repair that is asked for is that of each environment which needs any.
    """
    choice = replace(choice, where_needed=choice.repair is not None and len(requests) > 1)
    outcomes = [lock(request, choice, index_urls) for request in requests]
    if len(outcomes) == 1:
        return replace(outcomes[0], report=together([outcomes[0].report]))
    named = [(request.part, outcome) for request, outcome in zip(requests, outcomes, strict=True)]
    refusals = tuple(_refusals_of_all(named))
    files = {name: text for outcome in outcomes for name, text in outcome.files.items()}
    return LockOutcome(
        together([outcome.report for outcome in outcomes]),
        {} if refusals else files,
        refusals=refusals,
        kept=() if refusals or files else tuple(name for outcome in outcomes for name in outcome.kept),
        parts=tuple(named),
    )


_OF_ITS_OWN = (RefusalKind.CONFLICT, RefusalKind.NO_REPAIR)


def _refusals_of_all(named: Sequence[tuple[str, LockOutcome]]) -> Iterator[Refusal]:
    """Yield every refusal once: what stands in the way of all of them as it is, others with their environment."""
    common = [
        refusal
        for refusal in named[0][1].refusals
        if refusal.kind not in _OF_ITS_OWN and all(refusal in outcome.refusals for _, outcome in named)
    ]
    yield from common
    for part, outcome in named:
        for refusal in outcome.refusals:
            if refusal not in common:
                yield replace(refusal, environment=part)


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
    overrides = repair.overrides if repair else ()
    if request.project is not None:
        spoken_of = {override.name for override in overrides}
        overrides += tuple(overrides_of_project(request.project, resolution, spoken_of))
    name = request.profile.name if request.profile else None
    document = build_pylock(
        resolution,
        target,
        created_by=f"envdoctor {__version__.partition('.')[0]}.{__version__.split('.')[1]}",
        profile=name,
        overrides=overrides,
        index_urls=index_urls,
        chosen=_chosen(request, choice, target),
        way=request.way,
        place=lambda url: _place(request, url),
    )
    own, constraints, overriding = _file_names(request)
    files = {
        own: lock_text(document),
        constraints: constraints_text(resolution, name, constraints),
        overriding: overrides_text(overrides, resolution, name, overriding),
    }
    settled = accepted_by_lock(report.findings, report.conflicts, locked_project(document, own))
    report = replace(report, findings=settled)
    return LockOutcome(report, files, repair=repair, overrides=overrides, resolution=resolution, document=document)


def _place(request: CheckRequest, url: str) -> str | None:
    file = local_path(url)
    if file is None or request.project is None:
        return None
    root = Path(request.project.root).resolve()
    return path_from((request.lock_folder or root).resolve(), root, file.resolve())


def refused_code(refusals: Sequence[Refusal]) -> int:
    """Return the exit code for why there is no lock: 2 for no such repair, 1, or 3 where it is not known."""
    if any(item.kind is RefusalKind.NO_REPAIR for item in refusals):
        return 2
    return 1 if any(item.wrong or item.kind is RefusalKind.CONFLICT for item in refusals) else 3


def stale_files(folder: Path, files: Mapping[str, str]) -> list[str]:
    """Return the names of files that are missing on disk, or not what would be written now."""
    stale = []
    for name, text in files.items():
        try:
            same = (folder / name).read_text(encoding="utf-8") == text
        except (OSError, UnicodeDecodeError):
            same = False
        if not same:
            stale.append(name)
    return stale


def write_files(folder: Path, files: Mapping[str, str]) -> None:
    """Write the files into a folder, which is made where there is none. Raises UsageError."""
    from envdoctor.adapters.written_files import write_together

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"cannot write into `{folder}`: {error.strerror or error}") from error
    write_together({folder / name: text for name, text in files.items()})
