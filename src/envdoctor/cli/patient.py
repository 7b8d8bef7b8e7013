"""The patient as the user points at it: an environment here, a listing of one elsewhere, facts, a log."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from envdoctor.cli.errors import UsageFault
from envdoctor.model.environment import InstalledEnvironment
from envdoctor.model.fact import Facts
from envdoctor.model.target import Arch, OperatingSystem, Target

__all__ = ["Patient", "PatientChoice", "fitted", "open_patient"]

# Imported in a child when they are there: a broken one of these makes everything above it fail.
_IMPORTED = ("torch",)
_LARGEST_LOG = 16 * 1024 * 1024
_OLDEST, _NEWEST = (3, 8), (3, 14)


@dataclass(frozen=True, slots=True)
class PatientChoice:
    """Options as typed."""

    env: Path | None = None
    python: Path | None = None
    installed: Path | None = None
    facts: Path | None = None
    log: Path | None = None
    imports: bool = True
    import_timeout_s: float = 60.0

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


def open_patient(choice: PatientChoice) -> Patient:
    """Read all that the user points at. Raises UsageFault."""
    if sum(item is not None for item in (choice.env, choice.python, choice.installed)) > 1:
        raise UsageFault("`--env`, `--python` and `--installed` exclude each other")
    return Patient(_environment(choice), _facts(choice.facts), _log(choice.log))


def fitted(target: Target, patient: Patient) -> Target:
    """Return the target with what the environment at hand says of its Python and system."""
    environment = patient.environment
    if environment is None:
        return target
    if environment.python is not None and _OLDEST <= environment.python <= _NEWEST:
        target = replace(target, python=environment.python, python_full=environment.python_full)
    system = patient.facts.value("os")
    if isinstance(system, str) and system in {item.value for item in OperatingSystem}:
        target = replace(target, os=OperatingSystem(system))
    machine = str(patient.facts.value("arch") or "").lower()
    arm = Arch.AARCH64 if target.os is OperatingSystem.LINUX else Arch.ARM64
    known = {"x86_64": Arch.X86_64, "amd64": Arch.X86_64, "aarch64": arm, "arm64": arm}
    return replace(target, arch=known.get(machine, target.arch), probed=environment.executable is not None)


def _environment(choice: PatientChoice) -> InstalledEnvironment | None:
    if choice.installed is not None:
        return _listing(choice.installed)
    path = choice.env or choice.python
    if path is None:
        return None
    from envdoctor.adapters.probe.environment import EnvironmentNotFound, read_environment

    try:
        environment = read_environment(path)
    except EnvironmentNotFound as error:
        raise UsageFault(str(error)) from error
    wanted = [name for name in _IMPORTED if environment.get(name) is not None] if choice.imports else []
    if not wanted:
        return environment
    from envdoctor.adapters.probe.interpreter_imports import probe_imports

    return probe_imports(environment, wanted, choice.import_timeout_s)


def _listing(path: Path) -> InstalledEnvironment:
    from envdoctor.adapters.probe.listing import ListingError, read_listing

    try:
        return read_listing(_text(path, "--installed"), str(path))
    except ListingError as error:
        raise UsageFault(str(error)) from error


def _facts(path: Path | None) -> Facts:
    if path is None:
        return Facts()
    from envdoctor.adapters.probe.host_facts_file import FactsFileError, read_facts

    try:
        return read_facts(_text(path, "--facts"), str(path))
    except FactsFileError as error:
        raise UsageFault(str(error)) from error


def _log(path: Path | None) -> str | None:
    return None if path is None else _text(path, "--log")


def _text(path: Path, option: str) -> str:
    """Return a text file; UTF-16 as PowerShell's redirection writes it too."""
    try:
        data = path.read_bytes()[:_LARGEST_LOG]
    except OSError as error:
        raise UsageFault(f"{option}: cannot read `{path}`: {error.strerror or error}") from error
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return data.decode("utf-16", "replace")
    if b"\0" in data[:4096]:
        raise UsageFault(f"{option}: `{path}` is not a text file")
    return data.decode("utf-8-sig", "replace")
