"""The environments of a profile: one, or several with their own packages, each with a launcher."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from envdoctor.model.dataclass import dataclass
from envdoctor.ports import UsageError
from envdoctor.verbs.check_request import CheckRequest

__all__ = [
    "EnvironmentPart",
    "as_script",
    "default_environment",
    "launcher",
    "one_environment",
    "parts_of",
    "python_there",
    "treated_here",
    "typed_environment",
    "write_launchers",
]


@dataclass(frozen=True, slots=True)
class EnvironmentPart:
    """One environment to treat."""

    environment: Path
    request: CheckRequest


def default_environment(project: Path) -> Path:
    """Return where a project's environment is unless ``--env`` names another."""
    return project / ".venv"


def python_there(project: Path, environment: Path | None, executable: Path | None) -> tuple[int, int] | None:
    """Return the Python of the environment that is named or lies there, else that of the interpreter that is named.

    Raises UsageError for an interpreter that does not run.
    """
    from envdoctor.adapters.apply.interpreters import ask_python, python_of

    if executable is not None and ask_python(executable) is None:
        raise UsageError(f"`--python`: `{executable}` does not run, or is no CPython")
    place = environment or default_environment(project)
    there = python_of(place) if place.is_dir() else executable
    facts = ask_python(there) if there is not None else None
    return facts.python if facts is not None else None


def parts_of(requests: Sequence[CheckRequest], project: Path, environment: Path | None) -> list[EnvironmentPart]:
    """Return the environments that the profile asks for: ``.venv``, or ``.venv-<name>`` for each of several."""
    base = environment or default_environment(project)
    return [
        EnvironmentPart(base.with_name(f"{base.name}-{item.part}") if item.part else base, item) for item in requests
    ]


def write_launchers(parts: Sequence[EnvironmentPart]) -> list[str]:
    """Write, into each of several environments, a script that runs a command in it with its variables.

    Returns where the scripts are.
    """
    written: list[str] = []
    for part in parts if len(parts) > 1 else ():
        name, text = launcher(part.environment, sys.executable, windows=os.name == "nt")
        path = part.environment / ".envdoctor" / name
        path.write_bytes(as_script(text, windows=os.name == "nt"))
        path.chmod(0o755)
        written.append(str(path))
    return written


def launcher(environment: Path, executable: str, *, windows: bool) -> tuple[str, str]:
    """Return name and text of the script that runs a command in an environment, for ``cmd`` or a POSIX shell."""
    if windows:
        # A percent sign is doubled in a batch file; the rest of a path is plain between double quotes.
        quoted = executable.replace("%", "%%")
        return "run.cmd", f'@"{quoted}" -m envdoctor run --env "%~dp0.." -- %*\r\n'
    here = shlex.quote(str(environment))
    return "run", f'#!/bin/sh\nexec {shlex.quote(executable)} -m envdoctor run --env {here} -- "$@"\n'


def as_script(text: str, *, windows: bool, of_console: str = "oem") -> bytes:
    """Return a script's bytes: ``cmd`` reads them as the console does, and as UTF-8 where that lacks a letter."""
    if not windows:
        return text.encode("utf-8", "surrogateescape")
    try:
        return text.encode(of_console)
    except (UnicodeError, LookupError):
        return f"@chcp 65001 >nul\r\n{text}".encode("utf-8", "surrogatepass")


def treated_here(folder: Path) -> list[Path]:
    """Return ``.venv`` of a folder where a fix has treated it, else each ``.venv-<name>`` that one has made there."""
    base = default_environment(folder)
    return [base] if _treated(base) else sorted(path for path in folder.glob(f"{base.name}-*") if _treated(path))


def _treated(environment: Path) -> bool:
    return (environment / ".envdoctor" / "journal").is_dir()


def typed_environment(env: Path) -> Path:
    """Return the environment that was typed: a folder, or the name of one of several (``main`` for ``.venv-main``)."""
    path = env.absolute()
    base = default_environment(path.parent)
    named = base.with_name(f"{base.name}-{path.name}")
    return named if not path.exists() and named.is_dir() else path


def one_environment(env: Path | None, command: str | None = None) -> Path:
    """Return the environment to work in. Raises UsageError where several could be meant.

    ``command``: of several, the only one that has this program is the right one.
    """
    if env is not None:
        return typed_environment(env)
    base = default_environment(Path.cwd())
    found = [base] if base.exists() else treated_here(Path.cwd())
    if len(found) < 2:
        return found[0] if found else base
    if command is not None:
        having = [path for path in found if _has(path, command)]
        if len(having) == 1:
            return having[0]
    names = ", ".join(f"`{path.name}`" for path in found)
    raise UsageError(f"there are several environments here, {names}: name one with `--env`")


def _has(environment: Path, command: str) -> bool:
    from envdoctor.adapters.apply.interpreters import python_of

    return shutil.which(command, path=str(python_of(environment).parent)) is not None
