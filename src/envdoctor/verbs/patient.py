"""The patient as the user points at it: an environment here, or one elsewhere by what is pasted of it."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from envdoctor.model.dataclass import dataclass
from envdoctor.model.environment import (
    EnvironmentLock,
    EnvironmentProblem,
    EnvironmentProblemKind,
    InstalledEnvironment,
    PatchedFile,
)
from envdoctor.model.fact import Facts
from envdoctor.ports import UsageError
from envdoctor.shell_line import shell_line
from envdoctor.verbs.pastes import Pastes, read_pastes

if TYPE_CHECKING:
    from envdoctor.lock.pylock_reader import LockedProject
    from envdoctor.model.binary import BinaryInventory
    from envdoctor.model.target import Target
    from envdoctor.model.unknown import Unknown

__all__ = ["Patient", "PatientChoice", "locked_of", "open_patient", "with_lock", "with_patches"]


def with_patches(environment: InstalledEnvironment) -> InstalledEnvironment:
    """Return the environment with the state of each file that a fix has patched, and the fixes that were cut short."""
    if not environment.root or not os.path.isdir(f"{environment.root}/.envdoctor"):
        return environment
    from envdoctor.adapters.apply.records import read_record
    from envdoctor.adapters.smoke.startup_hook import settings_in_force

    environment = _with_cuts(environment)
    record = read_record(Path(environment.root))
    here = {item.name for item in environment.distributions}
    rows = tuple(
        PatchedFile(item.path, item.distribution, item.patches, item.state)
        for item in (record.patched if record is not None else ())
        if not item.distribution or item.distribution in here
    )
    return replace(
        environment,
        patched=rows,
        settings=settings_in_force(environment.site_packages),
        settings_wanted=record.settings if record is not None else (),
    )


def _with_cuts(environment: InstalledEnvironment) -> InstalledEnvironment:
    from envdoctor.adapters.apply.journal import list_journals

    cut = [record for record in list_journals(Path(environment.root)) if record.state == "open"]
    problems = tuple(EnvironmentProblem(EnvironmentProblemKind.CUT_SHORT, record.id, "did not end") for record in cut)
    return replace(environment, problems=(*environment.problems, *problems)) if cut else environment


def with_lock(
    environment: InstalledEnvironment, beside: Path | None = None, target: Target | None = None
) -> InstalledEnvironment:
    """Return the environment with its lock: of its ``.envdoctor`` folder, else ``beside``, where it is for the target.

    A lock that cannot be read is passed over; the verbs that work with it say what is wrong with it.
    """
    own = Path(environment.root, ".envdoctor", "pylock.toml") if environment.root else None
    for path, for_target in ((own, None), (beside, target)):
        if path is not None and os.path.isfile(path):
            found = _read(path, for_target)
            if found is not None:
                return replace(environment, lock=found)
    return environment


def locked_of(environment: InstalledEnvironment | None, profile: str | None) -> LockedProject | None:
    """Return the lock that a fix left in the environment, for the same profile; None where there is none.

    It stands for the lock beside the project where that was not written or not kept.
    """
    if environment is None or not environment.root:
        return None
    from envdoctor.lock.pylock_reader import LockError, parse_lock

    path = Path(environment.root, ".envdoctor", "pylock.toml")
    try:
        locked = parse_lock(path.read_text(encoding="utf-8"), str(path))
    except (OSError, UnicodeDecodeError, LockError):
        return None
    return locked if locked.profile == profile else None


def _read(path: Path, target: Target | None) -> EnvironmentLock | None:
    from envdoctor.lock.joined import part_of
    from envdoctor.lock.pylock_reader import LockError, locked_project, read_pylock

    try:
        document = read_pylock(path.read_text(encoding="utf-8"), str(path))
        document = part_of(document, target) if target is not None else document
    except (OSError, UnicodeDecodeError, LockError):
        return None
    locked = locked_project(document, str(path))
    if target is not None and not locked.is_for(target):
        return None
    return EnvironmentLock(document, str(path), locked.overrides)


# Imported in a child when they are there: a broken one of these makes everything above it fail.
_IMPORTED = ("torch",)


@dataclass(frozen=True, slots=True)
class PatientChoice:
    """Options that say what the patient is, as typed."""

    env: Path | None = None
    python: Path | None = None
    installed: Path | None = None
    facts: Path | None = None
    log: Path | None = None
    imports: bool = True
    import_timeout_s: float = 30.0
    verify: bool = False
    """Whether to compare the contents of installed files with their recorded hashes."""
    machine: bool = True
    """Whether to measure this host and to read libraries, too."""
    gpu: bool = False
    """A card matters whatever is installed: a profile or a backend was named."""

    @property
    def given(self) -> bool:
        """Whether the user points at anything besides a project."""
        return any(item is not None for item in (self.env, self.python, self.installed, self.facts, self.log))


@dataclass(frozen=True, slots=True)
class Patient:
    """What was read of the patient."""

    environment: InstalledEnvironment | None = None
    facts: Facts = Facts()
    log: str | None = None
    binaries: BinaryInventory | None = None
    notes: tuple[str, ...] = ()
    """What of it was passed over, to be said on stderr."""
    not_read: tuple[Unknown, ...] = ()
    """What is wrong with pastes that were not understood, where others were."""


def open_patient(choice: PatientChoice) -> Patient:
    """Read all that the user points at, and measure what belongs to it. Raises UsageError.

    Facts that the user gives count for more than what is measured here.
    """
    if sum(item is not None for item in (choice.env, choice.python, choice.installed)) > 1:
        raise UsageError("`--env`, `--python` and `--installed` exclude each other")
    named = choice.env or choice.python
    if choice.verify and named is None:
        raise UsageError("`--verify` compares installed files; say with `--env` or `--python` whose")
    pastes = read_pastes(choice.installed, choice.facts, choice.log, alone=named is None)
    found = Patient(pastes.environment, pastes.facts, pastes.log) if named is None else _opened(choice, named, pastes)
    return replace(found, notes=(*pastes.notes, *found.notes), not_read=pastes.not_read)


def _opened(choice: PatientChoice, path: Path, pastes: Pastes) -> Patient:
    given, log = pastes.facts, pastes.log
    environment = _environment(path)
    verified: tuple[str, ...] = ()
    if choice.verify:
        environment, verified = _verified(environment)
    imported = _imports(environment, choice)
    if not choice.machine:
        return Patient(imported(), given, log, notes=verified)

    from envdoctor.verbs.patient_machine import libraries, machine_and_libraries, notes_on

    if len(given):
        # Facts of another machine are not mixed with this one's.
        return Patient(imported(), given, log, libraries(environment, given, gpu=choice.gpu), verified)
    facts, binaries = machine_and_libraries(environment, wanted=choice.gpu)
    notes = notes_on(facts) if len(facts) else ()
    return Patient(imported(), facts, log, binaries, (*verified, *notes))


def _environment(path: Path) -> InstalledEnvironment:
    from envdoctor.adapters.probe.installed_environment import EnvironmentNotFound, read_environment

    try:
        return with_patches(with_lock(read_environment(path)))
    except EnvironmentNotFound as error:
        raise UsageError(f"{error}{_cut_before(path)}") from error


def _cut_before(path: Path) -> str:
    """Return that a fix which was to make an environment did not come so far; empty where none was begun."""
    from envdoctor.adapters.apply.journal import list_journals

    if not any(record.state == "open" for record in list_journals(path)):
        return ""
    command = shell_line(["envdoctor", "undo", "--env", str(path)])
    return f"; a fix that was to make it was cut short: `{command}` takes it back"


def _verified(environment: InstalledEnvironment) -> tuple[InstalledEnvironment, tuple[str, ...]]:
    """Compare the contents of all files; return the environment with what differs, and what was looked at in words."""
    from envdoctor.adapters.probe.environment_contents import verify_contents

    found = verify_contents(environment.distributions, environment.problems)
    said = [f"compared the contents of {found.compared} installed files with their recorded hashes"]
    if found.passed_over:
        several = f" and {len(found.passed_over) - 3} more" if len(found.passed_over) > 3 else ""
        said.append(f"no hashes that hold are recorded for {', '.join(found.passed_over[:3])}{several}")
    return replace(environment, problems=(*environment.problems, *found.problems)), tuple(said)


def _imports(environment: InstalledEnvironment, choice: PatientChoice) -> Callable[[], InstalledEnvironment]:
    """Begin to import what is worth it in a child; the result is asked for when everything else has been read."""
    wanted = [name for name in _IMPORTED if _is_there(environment, name)] if choice.imports else []
    if not wanted or environment.executable is None:
        return lambda: environment
    from concurrent.futures import ThreadPoolExecutor

    from envdoctor.adapters.probe.interpreter import probe_imports

    pool = ThreadPoolExecutor(max_workers=1)
    running = pool.submit(probe_imports, environment, wanted, choice.import_timeout_s)
    pool.shutdown(wait=False)
    return running.result


def _is_there(environment: InstalledEnvironment, name: str) -> bool:
    """Return whether a module's distribution is installed, or its folder lies there without one."""
    if environment.get(name) is not None:
        return True
    return any(os.path.isfile(f"{folder}/{name}/__init__.py") for folder in environment.site_packages)
