"""``envdoctor check``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from envdoctor.cli import options as opt
from envdoctor.cli.composition import IndexChoice, TargetChoice
from envdoctor.cli.output import write_report
from envdoctor.cli.session import open_session
from envdoctor.model.report import Report, Verdict

app = typer.Typer(add_completion=False, rich_markup_mode=None)

_EPILOG = (
    "Examples: `envdoctor check` judges the project here for this machine; "
    "`envdoctor check ~/xtts-webui --profile xtts-zluda` judges it for Windows with an AMD card, on any machine; "
    "`envdoctor check --format sarif -o report.sarif` is for CI. "
    "Exit codes: 0 nothing at or above --fail-on; 1 findings, or no way to resolve; 2 usage; 3 could not check."
)


@app.command(epilog=_EPILOG)
def check(
    project: opt.ProjectArgument = Path(),
    profile: opt.ProfileOption = None,
    target_os: opt.TargetOsOption = None,
    target_arch: opt.TargetArchOption = None,
    target_python: opt.TargetPythonOption = None,
    target_backend: opt.BackendOption = None,
    offline: opt.OfflineOption = False,
    index_url: opt.IndexUrlOption = None,
    recorded_index: opt.RecordedOption = None,
    cache_dir: opt.CacheDirOption = None,
    exclude_newer: opt.ExcludeNewerOption = None,
    format: opt.FormatOption = opt.Format.HUMAN,  # noqa: A002
    output: opt.OutputOption = None,
    fail_on: opt.FailOnOption = opt.FailOn.ERROR,
    show_waived: Annotated[bool, typer.Option("--show-waived", help="List what waivers and the lock accept.")] = False,
    quiet: opt.QuietOption = False,
    verbose: opt.VerboseOption = False,
) -> None:
    """Find every conflict, missing wheel and known failure of a project for a target, in one run."""
    from envdoctor.workflow.check import check as run_check

    session = open_session(
        project,
        profile,
        TargetChoice(target_os, target_arch, target_python, target_backend),
        IndexChoice(offline, index_url, recorded_index, cache_dir, exclude_newer),
        quiet=quiet,
    )
    with session:
        report = run_check(session.request)
    report = replace(report, next_command=_next(report, project))
    code = write_report(report, format=format, output=output, fail_on=fail_on, verbose=verbose, show_waived=show_waived)
    raise typer.Exit(code)


def _next(report: Report, project: Path) -> str | None:
    if report.verdict is Verdict.HEALTHY or report.resolution is None:
        return None
    option = f" --profile {report.profile}" if report.profile else ""
    return f"envdoctor lock {project}{option}"
