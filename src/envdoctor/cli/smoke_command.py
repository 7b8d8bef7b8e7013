"""``envdoctor smoke``."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated

import typer

from envdoctor.cli import options as opt
from envdoctor.cli.messages import note
from envdoctor.cli.output import write_document, write_listing, write_report
from envdoctor.cli.progress import open_progress
from envdoctor.ports import UsageError

app = typer.Typer(add_completion=False, rich_markup_mode=None)

_EPILOG = (
    "Examples: `envdoctor smoke --env .venv` runs every kernel on what torch offers; "
    "`envdoctor smoke --env .venv --profile xtts-zluda` runs what that stack needs and says where its parts can run; "
    "`envdoctor smoke --kernel stft --kernel conv1d --backend cuda` asks for two. "
    "Exit codes: 0 all passed; 1 a kernel failed; 2 usage; 3 not everything could be asked."
)


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
    listed: Annotated[
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
    time_limit: Annotated[
        float,
        typer.Option(
            "--time-limit",
            metavar="SECONDS",
            help="For all of it; what there is no time left for is skipped, and the report says so. 0.1 to 86400.",
            callback=opt.seconds,
        ),
    ] = 600.0,
    format: opt.FormatOption = opt.Format.HUMAN,  # noqa: A002
    output: opt.OutputOption = None,
    color: opt.ColorOption = opt.Color.AUTO,
    fail_on: opt.FailOnOption = opt.FailOn.ERROR,
    quiet: opt.QuietOption = False,
    verbose: opt.VerboseOption = False,
) -> None:
    """Run small GPU kernels in an environment, compare them with a reference, and say what can run where."""
    from envdoctor.render.treatment_text import event_text
    from envdoctor.verbs.project_inputs import load_settings, pick_profile
    from envdoctor.verbs.smoke_inputs import choose_kernels, list_kernels
    from envdoctor.verbs.smoke_inputs import smoke as run_kernels

    if listed:
        chosen = pick_profile(profile, load_settings(Path()), Path())
        rows = list_kernels(choose_kernels(chosen, kernels or ()))
        if format is not opt.Format.JSON:
            return write_listing(rows, color)
        names = ("name", "family", "dtype", "tolerance", "because")
        return write_document("kernels", kernels=[dict(zip(names, row, strict=True)) for row in rows])
    if not math.isfinite(timeout_scale):
        raise UsageError(f"--timeout-scale: `{timeout_scale}` is no factor; give a number such as 5")
    report = run_kernels(
        env,
        python,
        profile,
        backend=backend,
        kernels=kernels or (),
        all_devices=all_devices,
        bisect=not no_bisect,
        timeout_scale=timeout_scale,
        time_limit_s=time_limit,
        progress=open_progress(quiet=quiet),
        say=lambda event: note(event_text(event)),
    )
    code = write_report(report, format=format, output=output, fail_on=fail_on, color=color, verbose=verbose)
    raise typer.Exit(code)
