"""The environments of a profile: one, or several with their own packages, each with a launcher."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from envdoctor.workflow.check import CheckRequest

__all__ = ["EnvironmentPart", "default_environment", "launcher", "parts_of", "write_launchers"]


@dataclass(frozen=True, slots=True)
class EnvironmentPart:
    """One environment to treat."""

    environment: Path
    request: CheckRequest
    label: str = ""


def default_environment(project: Path) -> Path:
    """Return where a project's environment is unless ``--env`` names another."""
    return project / ".venv"


def parts_of(requests: Sequence[CheckRequest], project: Path, environment: Path | None) -> list[EnvironmentPart]:
    """Return the environments that the profile asks for: ``.venv``, or ``.venv-<name>`` for each of several."""
    base = environment or default_environment(project)
    return [
        EnvironmentPart(base.with_name(f"{base.name}-{item.part}") if item.part else base, item, item.part)
        for item in requests
    ]


def write_launchers(parts: Sequence[EnvironmentPart]) -> list[str]:
    """Write, into each of several environments, a script that runs a command in it with its variables.

    Returns where the scripts are.
    """
    written: list[str] = []
    for part in parts if len(parts) > 1 else ():
        name, text = launcher(part.environment, sys.executable, windows=os.name == "nt")
        path = part.environment / ".envdoctor" / name
        path.write_text(text, encoding="utf-8", newline="")
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
