"""The environments of a profile: one, or several with their own packages, each with a launcher."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from envdoctor.model.profile import EnvironmentSpec
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


def parts_of(request: CheckRequest, project: Path, environment: Path | None) -> list[EnvironmentPart]:
    """Return the environments that the profile asks for: ``.venv``, or ``.venv-<name>`` for each of several."""
    base = environment or default_environment(project)
    specs = request.profile.environments if request.profile is not None else ()
    if not specs:
        return [EnvironmentPart(base, request)]
    return [
        EnvironmentPart(base.with_name(f"{base.name}-{spec.name}"), _restricted(request, spec), spec.name)
        for spec in specs
    ]


def _restricted(request: CheckRequest, spec: EnvironmentSpec) -> CheckRequest:
    """Return the request with the requirements that an environment takes: of its files, and on its packages."""
    project = request.project
    if project is not None and (spec.requirements or spec.packages):
        kept = tuple(
            item
            for item in project.requirements
            if getattr(item.origin, "path", None) in spec.requirements or item.name in spec.packages
        )
        project = replace(project, requirements=kept)
    choices = request.python_choices
    if spec.python is not None:
        wanted = choices or (request.target.python,)
        choices = tuple(python for python in wanted if spec.python.contains(f"{python[0]}.{python[1]}.0"))
        choices = choices or wanted
    target = replace(request.target, python=choices[0]) if choices else request.target
    return replace(request, project=project, python_choices=choices, target=target, locked=None)


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
