"""Running an installer: a list of arguments, no shell, its output read line by line and kept within bounds."""

from __future__ import annotations

import os
import subprocess
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from envdoctor.adapters.apply import planted_faults
from envdoctor.adapters.process_tree import ProcessTree
from envdoctor.model.dataclass import dataclass

__all__ = ["ChildFailed", "installer_environment", "run_child"]

_KEPT_LINES = 200
_LINE_LIMIT = 2000
_DIVERTING = (
    "PIP_TARGET",
    "PIP_PREFIX",
    "PIP_ROOT",
    "PIP_USER",
    "PIP_REQUIRE_VIRTUALENV",
    "PIP_CONSTRAINT",
    "PIP_DRY_RUN",
    "PIP_PYTHON",
    "PYTHONPATH",
    "PYTHONHOME",
    "PYTHONSTARTUP",
    "UV_PROJECT_ENVIRONMENT",
    "UV_PYTHON",
    "UV_TARGET",
    "UV_PREFIX",
    "UV_CONSTRAINT",
    "UV_OVERRIDE",
    "UV_SYSTEM_PYTHON",
    "__PYVENV_LAUNCHER__",
)
"""Variables that would send an install elsewhere, or change what is installed."""


@dataclass(frozen=True, slots=True)
class ChildResult:
    """How a child ended."""

    code: int
    output: str
    """The last lines of what it wrote."""


class ChildFailed(Exception):
    """An installer ended with an error."""

    def __init__(self, what: str, result: ChildResult) -> None:
        super().__init__(f"{what} failed (exit status {result.code})")
        self.result = result


def installer_environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return this process's variables without those that would divert an install; ``extra`` comes on top."""
    environment = {name: value for name, value in os.environ.items() if name not in _DIVERTING}
    environment.update(
        {
            "PYTHONNOUSERSITE": "1",
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONUNBUFFERED": "1",
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            "PIP_NO_INPUT": "1",
            "NO_COLOR": "1",
        }
    )
    environment.update(extra or {})
    return environment


def run_child(
    argv: Sequence[str],
    *,
    environment: Mapping[str, str] | None = None,
    on_line: Callable[[str], None] | None = None,
    hold: int | None = None,
) -> ChildResult:
    """Run to the end. ``hold``: a descriptor (the lock) that the child keeps open. Raises OSError if it cannot start.

    When this process is interrupted, the child is ended and waited for before the interruption goes on.
    """
    kept: deque[str] = deque(maxlen=_KEPT_LINES)
    handed = (hold,) if hold is not None and os.name == "posix" else ()
    # Without a session of its own on POSIX: Ctrl-C in the terminal reaches it, too.
    tree = ProcessTree(
        argv,
        session=False,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=dict(environment) if environment is not None else installer_environment(),
        pass_fds=handed,
    )
    child = tree.process
    assert child.stdout is not None  # noqa: S101 - it is a pipe
    try:
        planted_faults.point()
        for raw in iter(lambda: child.stdout.readline(_LINE_LIMIT) if child.stdout else b"", b""):
            line = raw.decode("utf-8", "replace").rstrip()
            kept.append(line)
            planted_faults.point()
            if on_line is not None and line:
                on_line(line)
        code = child.wait()
    except BaseException:
        _end(tree)
        raise
    finally:
        child.stdout.close()
    return ChildResult(code, "\n".join(kept))


def _end(tree: ProcessTree) -> None:
    child = tree.process
    if os.name == "posix":
        child.terminate()
        with suppress(subprocess.TimeoutExpired):
            child.wait(timeout=10)
            return
    tree.kill()
    child.wait()
