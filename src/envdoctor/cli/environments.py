"""The environments of a profile: one, or several with their own packages, each with a launcher."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from envdoctor.model.profile import EnvironmentSpec
from envdoctor.workflow.check import CheckRequest

__all__ = ["EnvironmentPart", "default_environment", "parts_of", "write_launchers"]


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
        folder = part.environment / ".envdoctor"
        if os.name == "nt":
            text = f'@"{os.sys.executable}" -m envdoctor run --env "%~dp0.." -- %*\r\n'  # type: ignore[attr-defined]
            (folder / "run.cmd").write_text(text, encoding="utf-8", newline="")
            written.append(str(folder / "run.cmd"))
            continue
        import sys

        launcher = folder / "run"
        here = shlex.quote(str(part.environment))
        launcher.write_text(
            f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m envdoctor run --env {here} -- "$@"\n', encoding="utf-8"
        )
        launcher.chmod(0o755)
        written.append(str(launcher))
    return written
