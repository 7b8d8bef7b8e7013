"""The log that `--log` names: its end where it is large, since errors stand there."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from envdoctor.model.environment import PatchedFile
from envdoctor.model.fact import Facts
from envdoctor.ports import UsageFault

if TYPE_CHECKING:
    from envdoctor.lock.pylock_reader import LockedProject
    from envdoctor.model.binary import BinaryInventory
    from envdoctor.model.environment import InstalledEnvironment

__all__ = ["Patient", "PatientChoice", "locked_of", "open_patient", "read_log_file", "with_lock", "with_patches"]

_LARGEST = 16 * 1024 * 1024
"""Bytes; more of a log is not looked at."""


def read_log_file(path: Path) -> str:
    """Return a log; of one above 16 MB the end, with an empty line for each line before it, so that numbers hold.

    UTF-16, as PowerShell's redirection writes it, is read too. Raises UsageFault for what cannot be read or is no text.
    """
    try:
        begin, end, lines = _ends(path)
    except OSError as error:
        raise UsageFault(f"--log: cannot read `{path}`: {error.strerror or error}") from error
    encoding = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}.get(begin[:2])
    if encoding is None and b"\0" in begin:
        raise UsageFault(f"--log: `{path}` is not a text file")
    return "\n" * lines + end.decode(encoding or "utf-8", "replace").removeprefix("\ufeff")


def _ends(path: Path) -> tuple[bytes, bytes, int]:
    """Return a file's first bytes, its end, and how many lines there are before that end; it may be a pipe."""
    lines = 0
    with path.open("rb") as file:
        if stat.S_ISCHR(os.fstat(file.fileno()).st_mode) and not file.isatty():
            raise OSError(errno.EINVAL, "it is a device, which may have no end")
        end = file.read(_LARGEST)
        begin = end[:4096]
        while more := file.read(_LARGEST):
            # An even number is left out, since in UTF-16 a character has two bytes or four.
            left_out = len(end) + len(more) - _LARGEST
            left_out += left_out % 2
            lines += end.count(b"\n", 0, left_out)
            end = end[left_out:] + more
    return begin, end, lines


def with_patches(environment: InstalledEnvironment) -> InstalledEnvironment:
    """Return the environment with the state of each file that a fix has patched."""
    if not environment.root or not os.path.isdir(f"{environment.root}/.envdoctor"):
        return environment
    from envdoctor.adapters.apply.records import read_record

    record = read_record(Path(environment.root))
    here = {item.name for item in environment.distributions}
    rows = tuple(
        PatchedFile(item.path, item.distribution, item.patches, item.state)
        for item in (record.patched if record is not None else ())
        if not item.distribution or item.distribution in here
    )
    return replace(environment, patched=rows) if rows else environment


def with_lock(environment: InstalledEnvironment, *beside: Path) -> InstalledEnvironment:
    """Return the environment with its lock: of its ``.envdoctor`` folder, else the first of ``beside`` that is there.

    A lock that cannot be read is passed over; the verbs that work with it say what is wrong with it.
    """
    own = (Path(environment.root, ".envdoctor", "pylock.toml"),) if environment.root else ()
    for path in (*own, *beside):
        if os.path.isfile(path):
            found = _read(path)
            if found is not None:
                return replace(environment, details={**environment.details, **found})
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


def _read(path: Path) -> dict[str, object] | None:
    from packaging.pylock import Pylock, PylockValidationError

    from envdoctor.lock.pylock_reader import LockError, parse_lock, tomllib

    try:
        text = path.read_text(encoding="utf-8")
        locked = parse_lock(text, str(path))
        document = Pylock.from_dict(tomllib.loads(text))
    except (OSError, UnicodeDecodeError, LockError, PylockValidationError):
        return None
    return {"lock": document, "lock_path": str(path), "overrides": tuple(_overrides(locked))}


def _overrides(locked: LockedProject) -> Iterator[str]:
    """Yield what the lock sets aside: ``consumer -> requirement``, or the requirement where it replaces everybody's."""
    for item in locked.overrides:
        if not item.replaces:
            yield item.requirement
        yield from (f"{consumer} -> {item.requirement}" for consumer in item.replaces)


# Imported in a child when they are there: a broken one of these makes everything above it fail.
_IMPORTED = ("torch",)
_LARGEST_TEXT = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class PatientChoice:
    """Options as typed."""

    env: Path | None = None
    python: Path | None = None
    installed: Path | None = None
    facts: Path | None = None
    log: Path | None = None
    imports: bool = True
    import_timeout_s: float = 30.0
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
    """What was read."""

    environment: InstalledEnvironment | None = None
    facts: Facts = Facts()  # noqa: RUF009 - immutable
    log: str | None = None
    binaries: BinaryInventory | None = None
    notes: tuple[str, ...] = ()
    """What of it was passed over, to be said on stderr."""


def open_patient(choice: PatientChoice) -> Patient:
    """Read all that the user points at, and measure what belongs to it. Raises UsageFault.

    Facts that the user gives count for more than what is measured here.
    """
    if sum(item is not None for item in (choice.env, choice.python, choice.installed)) > 1:
        raise UsageFault("`--env`, `--python` and `--installed` exclude each other")
    given, notes = _facts(choice.facts)
    patient = _opened(choice, given, _log(choice.log))
    return replace(patient, notes=(*notes, *patient.notes))


def _opened(choice: PatientChoice, given: Facts, log: str | None) -> Patient:
    if choice.installed is not None:
        listing, facts = _listing(choice.installed)
        return Patient(listing, facts.merged(given), log)
    path = choice.env or choice.python
    if path is None:
        return Patient(None, given, log)
    environment = _environment(path)
    imported = _imports(environment, choice)
    if not choice.machine:
        return Patient(imported(), given, log)

    from envdoctor.verbs.patient_machine import libraries, machine_and_libraries, notes_on

    if len(given):
        # Facts of another machine are not mixed with this one's.
        return Patient(imported(), given, log, libraries(environment, given, gpu=choice.gpu))
    facts, binaries = machine_and_libraries(environment, wanted=choice.gpu)
    return Patient(imported(), facts, log, binaries, tuple(notes_on(facts)) if len(facts) else ())


def _environment(path: Path) -> InstalledEnvironment:
    from envdoctor.adapters.probe.installed_environment import EnvironmentNotFound, read_environment

    try:
        return with_patches(with_lock(read_environment(path)))
    except EnvironmentNotFound as error:
        raise UsageFault(str(error)) from error


def _imports(environment: InstalledEnvironment, choice: PatientChoice) -> Callable[[], InstalledEnvironment]:
    """Begin to import what is worth it in a child; the result is asked for when everything else has been read."""
    wanted = [name for name in _IMPORTED if _is_there(environment, name)] if choice.imports else []
    if not wanted or environment.executable is None:
        return lambda: environment
    from concurrent.futures import ThreadPoolExecutor

    from envdoctor.adapters.probe.interpreter_imports import probe_imports

    pool = ThreadPoolExecutor(max_workers=1)
    running = pool.submit(probe_imports, environment, wanted, choice.import_timeout_s)
    pool.shutdown(wait=False)
    return running.result


def _is_there(environment: InstalledEnvironment, name: str) -> bool:
    """Return whether a module's distribution is installed, or its folder lies there without one."""
    if environment.get(name) is not None:
        return True
    return any(os.path.isfile(f"{folder}/{name}/__init__.py") for folder in environment.site_packages)


def _listing(path: Path) -> tuple[InstalledEnvironment, Facts]:
    """Return what a listing names, and what it says of the machine."""
    from envdoctor.adapters.probe.listing import ListingError, facts_of_listing, read_listing

    text = _text(path, "--installed")
    try:
        return read_listing(text, str(path)), facts_of_listing(text)
    except ListingError as error:
        raise UsageFault(str(error)) from error


def _facts(path: Path | None) -> tuple[Facts, tuple[str, ...]]:
    """Return the facts of a file, and notes on those that are not known here."""
    if path is None:
        return Facts(), ()
    from envdoctor.adapters.probe.host_facts_file import FactsFileError, read_facts, unknown_names

    try:
        facts = read_facts(_text(path, "--facts"), str(path))
        return facts, tuple(unknown_names(facts, str(path)))
    except FactsFileError as error:
        raise UsageFault(str(error)) from error


def _log(path: Path | None) -> str | None:
    if path is None:
        return None

    return read_log_file(path)


def _text(path: Path, option: str) -> str:
    """Return a text file; UTF-16 as PowerShell's redirection writes it too."""
    try:
        with path.open("rb") as stream:
            # A device may have no end.
            data = stream.read(_LARGEST_TEXT)
    except OSError as error:
        raise UsageFault(f"{option}: cannot read `{path}`: {error.strerror or error}") from error
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return data.decode("utf-16", "replace")
    if b"\0" in data[:4096]:
        raise UsageFault(f"{option}: `{path}` is not a text file")
    return data.decode("utf-8-sig", "replace")
