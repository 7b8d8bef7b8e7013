"""``envdoctor check``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from envdoctor.cli import options as opt
from envdoctor.cli.messages import teller
from envdoctor.cli.output import write_report
from envdoctor.cli.progress import open_progress
from envdoctor.verbs.check_either import check_either
from envdoctor.verbs.index_choice import IndexChoice
from envdoctor.verbs.patient import PatientChoice
from envdoctor.verbs.target_choice import TargetChoice

app = typer.Typer(add_completion=False, rich_markup_mode=None)

_EPILOG = (
    "Examples: `envdoctor check` judges the project here for this machine; "
    "`envdoctor check ~/xtts-webui --profile xtts-zluda` judges it for Windows with an AMD card, on any machine; "
    "`envdoctor check --format sarif -o report.sarif` is for CI. "
    "Exit codes: 0 nothing at or above --fail-on; 1 findings, or no way to resolve; 2 usage; 3 could not check; "
    "4 a fault of our own."
)


@app.command(epilog=_EPILOG)
def check(
    project: opt.OptionalProjectArgument = None,
    profile: opt.ProfileOption = None,
    target_os: opt.TargetOsOption = None,
    target_arch: opt.TargetArchOption = None,
    target_python: opt.TargetPythonOption = None,
    target_backend: opt.BackendOption = None,
    gpu: opt.GpuOption = None,
    glibc: opt.GlibcOption = None,
    macos: opt.MacosOption = None,
    env: Annotated[
        Path | None,
        typer.Option("--env", metavar="DIR", help="Look into this venv, conda environment or site-packages folder."),
    ] = None,
    python: Annotated[
        Path | None, typer.Option("--python", metavar="EXE", help="Look into this interpreter's environment.")
    ] = None,
    installed: Annotated[
        Path | None,
        typer.Option(
            "--installed",
            metavar="FILE",
            help="An environment elsewhere: what pip, uv, Poetry or conda lists, or torch's collect_env text.",
        ),
    ] = None,
    facts: opt.FactsOption = None,
    log: Annotated[
        Path | None,
        typer.Option("--log", metavar="FILE", help="Match an install log or traceback against the known failures."),
    ] = None,
    verify: Annotated[
        bool, typer.Option("--verify", help="Compare the contents of installed files with their recorded hashes, too.")
    ] = False,
    no_imports: Annotated[
        bool, typer.Option("--no-imports", help="Do not import torch in the environment's interpreter to see it work.")
    ] = False,
    import_timeout: Annotated[
        float,
        typer.Option(
            "--import-timeout", metavar="S", help="Seconds that such an import may take.", callback=opt.seconds
        ),
    ] = 30.0,
    extra: opt.ExtraOption = None,
    group: opt.GroupOption = None,
    only_group: opt.OnlyGroupOption = None,
    all_groups: opt.AllGroupsOption = False,
    offline: opt.OfflineOption = False,
    index_url: opt.IndexUrlOption = None,
    recorded_index: opt.RecordedOption = None,
    cache_dir: opt.CacheDirOption = None,
    exclude_newer: opt.ExcludeNewerOption = None,
    format: opt.FormatOption = opt.Format.HUMAN,  # noqa: A002
    output: opt.OutputOption = None,
    color: opt.ColorOption = opt.Color.AUTO,
    fail_on: opt.FailOnOption = opt.FailOn.ERROR,
    show_waived: Annotated[bool, typer.Option("--show-waived", help="List what waivers and the lock accept.")] = False,
    quiet: opt.QuietOption = False,
    verbose: opt.VerboseOption = False,
) -> None:
    """Find every conflict, missing wheel and known failure of a project for a target, in one run."""
    target = TargetChoice(target_os, target_arch, target_python, target_backend, gpu, glibc, macos)
    choice = IndexChoice(offline, index_url, recorded_index, cache_dir, exclude_newer)
    looked_at = PatientChoice(
        env,
        python,
        installed,
        facts,
        log,
        imports=not no_imports,
        import_timeout_s=import_timeout,
        verify=verify,
        gpu=profile is not None or target_backend is not None,
    )
    groups = opt.group_choice(extra, group, only_group, all_groups=all_groups)
    progress, tell = open_progress(quiet=quiet), teller(quiet=quiet)
    report = check_either(project, profile, target, choice, looked_at, groups, progress=progress, tell=tell)
    code = write_report(
        report, format=format, output=output, fail_on=fail_on, color=color, verbose=verbose, show_waived=show_waived
    )
    raise typer.Exit(code)
