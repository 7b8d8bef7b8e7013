"""``smoke`` as typed: kernels, backend, interpreter and target are chosen, and the kernels run."""

from __future__ import annotations

import difflib
import os
import shutil
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from envdoctor.adapters.smoke.runner import ChildRunner
from envdoctor.model.profile import Profile
from envdoctor.model.report import Report
from envdoctor.model.target import Backend, Target
from envdoctor.ports import Progress, UsageError
from envdoctor.verbs import project_inputs
from envdoctor.verbs import smoke as verb
from envdoctor.verbs.profile_environments import environment_of
from envdoctor.verbs.project_inputs import TargetChoice
from envdoctor.verbs.ranks import read_rank
from envdoctor.verbs.smoke import UnknownKernel, chosen_kernels
from envdoctor.verbs.undo import Say

__all__ = [
    "choose_backend",
    "choose_kernels",
    "choose_target",
    "find_interpreter",
    "list_kernels",
    "smoke",
]

_STAND_IN = "cpu-as:"
_ACTIVITY = "kernels"


def smoke(
    env: Path | None,
    python: Path | None,
    profile: str | None,
    *,
    backend: str | None,
    kernels: Sequence[str],
    all_devices: bool,
    bisect: bool,
    timeout_scale: float,
    time_limit_s: float,
    progress: Progress,
    say: Say,
) -> Report:
    """Return the report of kernels that ran in the interpreter that was meant. Raises UsageError."""
    chosen = project_inputs.pick_profile(profile, project_inputs.load_settings(Path()), Path())
    chosen = environment_of(chosen, env) if chosen is not None else None
    names = choose_kernels(chosen, kernels)
    wanted_backend = choose_backend(backend)
    interpreter = find_interpreter(env, python)
    rank = read_rank(os.environ)
    try:
        report = verb.smoke(
            _open_runner(interpreter, names, progress, time_limit_s),
            profile=chosen,
            target=choose_target(chosen, interpreter),
            backend=wanted_backend,
            kernels=kernels,
            device=rank.local_rank if rank is not None else None,
            all_devices=all_devices,
            bisect=bisect,
            timeout_scale=timeout_scale,
            time_limit_s=time_limit_s,
        )
    except OSError as error:
        raise UsageError(f"`{interpreter}` does not start: {error.strerror or error}") from error
    finally:
        progress.close()
    if env is not None and chosen is not None:
        from envdoctor.verbs.fix_smoke import differing

        for event in differing(env, chosen, report):
            say(event)
    return _with_found_backend(report)


def choose_kernels(profile: Profile | None, asked: Sequence[str]) -> tuple[str, ...]:
    """Return the kernels that will run. Raises UsageError with close names for those that do not exist."""
    from envdoctor.adapters.smoke import kernel_catalogue

    try:
        return chosen_kernels(kernel_catalogue.names(), profile, asked)
    except UnknownKernel as error:
        where = "--kernel" if asked or profile is None else f"profile `{profile.name}`"
        faults = [f"{where}: no kernel `{name}`{_close(name, kernel_catalogue.names())}" for name in error.names]
        raise UsageError(*faults) from error


def _close(name: str, known: Sequence[str]) -> str:
    close = difflib.get_close_matches(name.lower(), known, n=3)
    listed = " or ".join(f"`{item}`" for item in close)
    return f"; did you mean {listed}?" if close else "; `envdoctor smoke --list` names them"


def choose_backend(name: str | None) -> str | None:
    """Return the backend as typed. Raises UsageError with close names for one that does not exist."""
    known = ("auto", *(item.value for item in Backend if item is not Backend.UNKNOWN))
    if name is None:
        return None
    # `cpu-as:NAME` lets a CPU play a device's part; it is for tests of this program.
    plain = name.lower().removeprefix(_STAND_IN)
    if plain in known:
        return name.lower()
    close = difflib.get_close_matches(plain, known, n=1)
    hint = f"; did you mean `{close[0]}`?" if close else f"; there are {', '.join(known)}"
    raise UsageError(f"--backend: no backend `{name}`{hint}")


def list_kernels(names: Sequence[str]) -> list[tuple[str, ...]]:
    """Return a row for each kernel: name, family, type, tolerance, and the reason for that."""
    from envdoctor.adapters.smoke import kernel_catalogue

    entries = [kernel_catalogue.find(name) for name in names]
    return [
        (item.name, item.family, item.dtype, f"{item.tolerance:.0e}" if item.tolerance else "exact", item.because)
        for item in entries
    ]


def find_interpreter(env: Path | None, python: Path | None) -> Path:
    """Return the interpreter to ask: as typed, else the active environment's, else the one on PATH, else this one."""
    from envdoctor.adapters.probe.environment_layout import EnvironmentNotFound, find_layout

    if env is not None and python is not None:
        raise UsageError("`--env` and `--python` exclude each other")
    typed = env or python
    active = next((os.environ[name] for name in ("VIRTUAL_ENV", "CONDA_PREFIX") if os.environ.get(name)), None)
    path = typed or (Path(active) if active else None)
    if path is None:
        return Path(shutil.which("python") or shutil.which("python3") or sys.executable)
    try:
        layout = find_layout(path)
    except EnvironmentNotFound as error:
        raise UsageError(str(error)) from error
    if layout.executable is None or not layout.runnable:
        raise UsageError(f"`{path}` has no Python that can be started here; kernels need one")
    return layout.executable.absolute()


def choose_target(profile: Profile | None, interpreter: Path) -> Target:
    """Return the target: this machine with the interpreter's Python, and the profile's backend.

    A profile's own system would be said of kernels that never ran there.
    """
    from envdoctor.adapters.probe.environment_layout import EnvironmentNotFound, find_layout

    target, _ = project_inputs.pick_target(TargetChoice(), None, project_inputs.load_settings(Path()))
    if profile is not None:
        own, _ = project_inputs.pick_target(TargetChoice(), profile, project_inputs.load_settings(Path()))
        # Of the profile's system, its own words on libc, WSL and cards hold.
        target = own if (own.os, own.arch) == (target.os, target.arch) else replace(target, backend=own.backend)
    try:
        python = find_layout(interpreter).python
    except EnvironmentNotFound:
        python = None
    return replace(target, python=python, python_full=None) if python else target


def _with_found_backend(report: Report) -> Report:
    """Return the report with the target's backend as it was found."""
    found = next((fact.value for fact in report.facts if fact.name == "smoke.backend"), None)
    if report.target is None or report.profile is not None or found not in {item.value for item in Backend}:
        return report
    return replace(report, target=replace(report.target, backend=Backend(found), probed=True))


def _open_runner(interpreter: Path, names: Sequence[str], progress: Progress, time_limit: float) -> ChildRunner:
    """Return what runs kernels in an interpreter and tells of each."""
    from envdoctor.adapters.smoke.runner import ChildRunner

    awaited, deadline = set(names), time.monotonic() + time_limit

    def finished(kernel: str, _: str) -> None:
        # A kernel is tried again under other settings; those trials are no further units.
        progress.advance(_ACTIVITY, 1 if kernel in awaited else 0, f"{kernel}, {_left(deadline)}")
        awaited.discard(kernel)

    progress.start(_ACTIVITY, len(names))
    return ChildRunner(interpreter, finished)


def _left(deadline: float) -> str:
    return f"at most {max(0, round(deadline - time.monotonic()))} s left"
