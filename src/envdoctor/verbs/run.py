"""``run``: the variables with which a command finds itself in an environment, and its start."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from envdoctor.adapters.apply.interpreters import python_of
from envdoctor.adapters.apply.records import read_record
from envdoctor.ports import UsageError

if TYPE_CHECKING:
    from envdoctor.adapters.apply.answering import Answer

__all__ = ["changed_variables", "command_in", "start", "try_start", "variables_for"]

_LEADING_OUT = ("PYTHONHOME", "__PYVENV_LAUNCHER__", "CONDA_PREFIX", "CONDA_DEFAULT_ENV")


def command_in(environment: Path, name: str) -> tuple[str | None, Mapping[str, str]]:
    """Return where a command is, None where it is nowhere, and its variables. Raises UsageError for no environment."""
    python = python_of(environment)
    if not python.exists():
        raise UsageError(f"`{environment}` is no environment; `envdoctor fix` makes one, `--env` names another")
    record, scripts = read_record(environment), str(python.parent)
    recorded = record.variables if record is not None else {}
    variables = variables_for(os.environ, recorded, environment=str(environment), scripts=scripts, separator=os.pathsep)
    return _find_program(name, scripts, variables["PATH"]), variables


def variables_for(
    current: Mapping[str, str], recorded: Mapping[str, str], *, environment: str, scripts: str, separator: str
) -> dict[str, str]:
    """Return the variables of a command: this process's, the environment first on the PATH, then the profile's.

    ``PYTHONPATH`` of the caller goes, unless the profile sets one: it would bring another project's modules in.
    """
    variables = {name: value for name, value in current.items() if name not in (*_LEADING_OUT, "PYTHONPATH")}
    path = variables.get("PATH", "")
    variables["PATH"] = f"{scripts}{separator}{path}" if path else scripts
    variables["VIRTUAL_ENV"] = environment
    if os.name == "nt":
        # There `Path` and `PATH` are one.
        recorded = {name.upper(): value for name, value in recorded.items()}
    return {**variables, **recorded}


def changed_variables(current: Mapping[str, str], variables: Mapping[str, str]) -> dict[str, str | None]:
    """Return what a command's variables differ in from the current ones; None for what is taken away."""
    names = sorted({name for name in (*current, *variables) if current.get(name) != variables.get(name)})
    return {name: variables.get(name) for name in names}


def _find_program(name: str, scripts: str, path: str) -> str | None:
    """Return where a command is: in the environment's ``scripts``, else on the ``path``; on Windows by PATHEXT.

    Windows looks into the current folder before the path, and what lies in a project is not to come first.
    """
    own = shutil.which(os.path.join(scripts, name)) if not os.path.dirname(name) else None  # noqa: PTH118, PTH120
    return own or shutil.which(name, path=path)


def start(program: str, arguments: Sequence[str], variables: Mapping[str, str]) -> int:
    """Start a command in this process's place. Returns, on Windows alone, its exit code. Raises OSError."""
    command = [program, *arguments]
    if os.name == "posix":
        os.execve(program, command, variables)  # noqa: S606 - a list of arguments, no shell
    import subprocess

    # Windows has no exec that keeps the console and the exit code: the child is waited for. Ctrl-C and Ctrl-Break come
    # to both, and it is the command that answers them.
    for name in ("SIGINT", "SIGBREAK"):
        signal.signal(getattr(signal, name), lambda _number, _frame: None)
    code = subprocess.run(command, env=dict(variables), check=False).returncode  # noqa: S603
    return code - (1 << 32) if code >= 1 << 31 else code


def try_start(command: Sequence[str], variables: Mapping[str, str], url: str, limit_s: float) -> Answer:
    """Start a command, wait until an address answers, and end it. Raises UsageError."""
    from urllib.parse import urlsplit

    from envdoctor.adapters.apply.answering import status_at, wait_for_answer

    try:
        parts = urlsplit(url)
        is_address = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_address = False
    if not is_address:
        raise UsageError(f"--answers: `{url}` is no address such as `http://127.0.0.1:8010`")
    if status_at(url) is not None:
        raise UsageError(f"--answers: something answers at `{url}` already; end it, or take another port")
    try:
        return wait_for_answer(command, variables, url, limit_s)
    except OSError as error:
        raise UsageError(f"`{command[0]}` could not be started: {error.strerror or error}") from error
