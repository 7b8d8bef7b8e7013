"""``envdoctor smoke``."""

from __future__ import annotations

import difflib
import math
import os
import shutil
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from envdoctor.cli import options as opt
from envdoctor.cli.messages import note
from envdoctor.cli.output import write_listing, write_report
from envdoctor.cli.progress import SilentProgress, StderrProgress, open_progress
from envdoctor.model.profile import Profile
from envdoctor.model.report import Report
from envdoctor.model.target import Backend, Target
from envdoctor.ports import UsageError
from envdoctor.verbs import project_inputs
from envdoctor.verbs.project_inputs import TargetChoice

if TYPE_CHECKING:
    from envdoctor.verbs.smoke import SmokeRunner

app = typer.Typer(add_completion=False, rich_markup_mode=None)

_EPILOG = (
    "Examples: `envdoctor smoke --env .venv` runs every kernel on what torch offers; "
    "`envdoctor smoke --env .venv --profile xtts-zluda` runs what that stack needs and says where its parts can run; "
    "`envdoctor smoke --kernel stft --kernel conv1d --backend cuda` asks for two. "
    "Exit codes: 0 all passed; 1 a kernel failed; 2 usage; 3 not everything could be asked."
)
_ACTIVITY = "kernels"
_STAND_IN = "cpu-as:"


def _scale(value: float) -> float:
    # NaN would be in any range that an option can be given.
    if not 0.01 <= value <= 1000:
        raise typer.BadParameter(f"{value:g} is not in the range 0.01<=x<=1000")
    return value


@app.command(epilog=_EPILOG)
def smoke(
    env: Annotated[
        Path | None,
        typer.Option(
            "--env",
            metavar="DIR",
            help="The venv or conda environment whose torch is asked. Default: the active one, else the `python` on "
            "PATH.",
        ),
    ] = None,
    python: Annotated[
        Path | None, typer.Option("--python", metavar="EXE", help="The interpreter whose torch is asked.")
    ] = None,
    profile: opt.ProfileOption = None,
    backend: Annotated[
        str | None,
        typer.Option(
            "--backend",
            metavar="NAME",
            help="auto, cuda, rocm, zluda, directml, mps, xpu, coreml or cpu. Default: the profile's, else auto.",
        ),
    ] = None,
    kernels: Annotated[
        list[str] | None,
        typer.Option("--kernel", "-k", metavar="NAME", help="A kernel or workload; may be repeated. Default: all."),
    ] = None,
    all_devices: Annotated[bool, typer.Option("--all-devices", help="Run them on every device, one by one.")] = False,
    list_kernels: Annotated[
        bool, typer.Option("--list", help="List the kernels and workloads with their tolerances; run nothing.")
    ] = False,
    no_bisect: Annotated[
        bool, typer.Option("--no-bisect", help="Do not try a failing kernel again under other settings.")
    ] = False,
    timeout_scale: Annotated[
        float,
        typer.Option(
            "--timeout-scale",
            metavar="FACTOR",
            help="A factor on every kernel's time limit, 0.01 to 1000.",
            callback=_scale,
        ),
    ] = 1.0,
    format: opt.FormatOption = opt.Format.HUMAN,  # noqa: A002
    output: opt.OutputOption = None,
    color: opt.ColorOption = opt.Color.AUTO,
    fail_on: opt.FailOnOption = opt.FailOn.ERROR,
    quiet: opt.QuietOption = False,
    verbose: opt.VerboseOption = False,
) -> None:
    """Run small GPU kernels in an environment, compare them with a reference, and say what can run where."""
    from envdoctor.verbs import smoke as verb

    chosen = project_inputs.pick_profile(profile, project_inputs.load_settings(Path()), Path())
    names = _names(chosen, kernels or ())
    if list_kernels:
        write_listing(_listing(names), color)
        return
    if not math.isfinite(timeout_scale):
        raise UsageError(f"--timeout-scale: `{timeout_scale}` is no factor; give a number such as 5")
    wanted_backend = _backend(backend)
    interpreter = _interpreter(env, python)
    progress = open_progress(quiet=quiet)
    try:
        report = verb.smoke(
            _runner(interpreter, names, progress),
            profile=chosen,
            target=_target(chosen, interpreter),
            backend=wanted_backend,
            kernels=kernels or (),
            all_devices=all_devices,
            bisect=not no_bisect,
            timeout_scale=timeout_scale,
        )
    except OSError as error:
        raise UsageError(f"`{interpreter}` does not start: {error.strerror or error}") from error
    finally:
        progress.close()
    if env is not None and chosen is not None:
        from envdoctor.verbs.fix_smoke import differing

        for line in differing(env, chosen, report):
            note(line)
    code = write_report(_measured(report), format=format, output=output, fail_on=fail_on, color=color, verbose=verbose)
    raise typer.Exit(code)


def _names(profile: Profile | None, asked: Sequence[str]) -> tuple[str, ...]:
    """Return the kernels that will run. Raises UsageError with close names for those that do not exist."""
    from envdoctor.adapters.smoke import kernel_catalogue
    from envdoctor.verbs.smoke import UnknownKernel, chosen_kernels

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


def _backend(name: str | None) -> str | None:
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


def _listing(names: Sequence[str]) -> list[tuple[str, ...]]:
    from envdoctor.adapters.smoke import kernel_catalogue

    entries = [kernel_catalogue.find(name) for name in names]
    return [
        (item.name, item.family, item.dtype, f"{item.tolerance:.0e}" if item.tolerance else "exact", item.because)
        for item in entries
    ]


def _interpreter(env: Path | None, python: Path | None) -> Path:
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


def _target(profile: Profile | None, interpreter: Path) -> Target:
    """Return the target: the profile's, else this machine with the interpreter's Python."""
    from envdoctor.adapters.probe.environment_layout import EnvironmentNotFound, find_layout

    target, _ = project_inputs.pick_target(TargetChoice(), profile, project_inputs.load_settings(Path()))
    if profile is not None:
        return target
    try:
        python = find_layout(interpreter).python
    except EnvironmentNotFound:
        python = None
    return replace(target, python=python, python_full=None) if python else target


def _runner(interpreter: Path, names: Sequence[str], progress: SilentProgress | StderrProgress) -> SmokeRunner:
    from envdoctor.adapters.smoke.runner import ChildRunner

    awaited = set(names)

    def finished(kernel: str, _: str) -> None:
        # A kernel is tried again under other settings; those trials are no further units.
        progress.advance(_ACTIVITY, 1 if kernel in awaited else 0, kernel)
        awaited.discard(kernel)

    progress.start(_ACTIVITY, len(names))
    return ChildRunner(interpreter, finished)


def _measured(report: Report) -> Report:
    """Return the report with the target's backend as it was found."""
    found = next((fact.value for fact in report.facts if fact.name == "smoke.backend"), None)
    if report.target is None or report.profile is not None or found not in {item.value for item in Backend}:
        return report
    return replace(report, target=replace(report.target, backend=Backend(found), probed=True))
