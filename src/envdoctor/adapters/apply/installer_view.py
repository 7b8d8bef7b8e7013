"""What installers themselves see in an environment after the treatment."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from packaging.utils import canonicalize_name

from envdoctor.adapters.apply.installer_child import installer_environment, run_child
from envdoctor.adapters.apply.installers import Installer
from envdoctor.adapters.apply.interpreters import ask_python
from envdoctor.model.dataclass import dataclass

__all__ = ["InstallersWord", "ask_installers"]

_TIMEOUT_S = 120.0
# pip-api asks the pip of the interpreter that this variable names, and starts it when it is imported: so in a child.
_LIST = """
import json, pip_api
print(json.dumps({name: str(item.version) for name, item in pip_api.installed_distributions().items()}))
"""
_COMPLAINTS = (
    re.compile(r"^(?P<consumer>\S+) \S+ has requirement (?P<name>[A-Za-z0-9][A-Za-z0-9._-]*)"),
    re.compile(r"^(?P<consumer>\S+) \S+ requires (?P<name>[A-Za-z0-9][A-Za-z0-9._-]*), which is not installed"),
    re.compile(r"`(?P<consumer>[^`]+)` requires `(?P<name>[A-Za-z0-9][A-Za-z0-9._-]*)"),
)


@dataclass(frozen=True, slots=True)
class InstallersWord:
    """The answers of pip and of the installer that was used."""

    source: str
    """``pip 23.2.1`` or ``uv``."""
    versions: dict[str, str] | None
    """Normalised name to version; None where nobody could be asked."""
    complaints: tuple[tuple[str, str, str], ...] = ()
    """Consumer, what it asks for, and the line as it was written; names normalised."""


def ask_installers(environment_python: Path, installer: Installer) -> InstallersWord:
    """Ask pip (through pip-api) what it sees, where the environment has a pip; and the installer what does not fit."""
    facts = ask_python(environment_python)
    complaints = _complaints(environment_python, installer)
    if facts is None or facts.pip is None:
        listed = _json(installer.listing(environment_python), installer_environment())
        rows = listed if isinstance(listed, list) else None
        versions = {row["name"]: row["version"] for row in rows} if rows is not None else None
        return InstallersWord(installer.name, _normalised(versions), complaints)
    environment = {**installer_environment(), "PIPAPI_PYTHON_LOCATION": os.fspath(environment_python)}
    answer = _json([sys.executable, "-c", _LIST], environment)
    return InstallersWord(f"pip {facts.pip}", _normalised(answer if isinstance(answer, dict) else None), complaints)


def _json(argv: Sequence[str], environment: Mapping[str, str]) -> Any:
    try:
        done = subprocess.run(  # noqa: S603 - a list of arguments, no shell
            list(argv),
            env=dict(environment),
            capture_output=True,
            timeout=_TIMEOUT_S,
            check=False,
            stdin=subprocess.DEVNULL,
        )
        return json.loads(done.stdout)
    except (OSError, ValueError, RecursionError, subprocess.SubprocessError):
        return None


def _normalised(versions: Mapping[str, Any] | None) -> dict[str, str] | None:
    if versions is None:
        return None
    return {str(canonicalize_name(name)): str(version) for name, version in versions.items()}


def _complaints(python: Path, installer: Installer) -> tuple[tuple[str, str, str], ...]:
    try:
        result = run_child(installer.check(python), environment=installer_environment())
    except OSError:
        return ()
    found = []
    for line in result.output.splitlines():
        for pattern in _COMPLAINTS:
            match = pattern.search(line)
            if match is not None:
                consumer, name = canonicalize_name(match["consumer"]), canonicalize_name(match["name"])
                found.append((str(consumer), str(name), line.strip()))
                break
    return tuple(found)
