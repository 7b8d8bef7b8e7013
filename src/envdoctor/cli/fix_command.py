"""``envdoctor fix``."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from envdoctor.adapters.terminal import fitted
from envdoctor.adapters.written_files import write_file
from envdoctor.cli import options as opt
from envdoctor.cli.messages import error, say, teller
from envdoctor.cli.output import write_page
from envdoctor.cli.progress import open_progress
from envdoctor.cli.streams import stopped_like_ctrl_c, write_out
from envdoctor.ports import UsageError
from envdoctor.render.plan_json import plan_json
from envdoctor.render.plan_text import plan_of_refusals, plans_text, unasked_lines
from envdoctor.render.reasons import refusals_text
from envdoctor.render.treatment_text import event_text
from envdoctor.verbs.environment_places import default_environment, python_there
from envdoctor.verbs.project_inputs import IndexChoice, TargetChoice
from envdoctor.verbs.session import Session, open_session
from envdoctor.verbs.treatment_result import Treated, report_of_all

if TYPE_CHECKING:
    from envdoctor.model.plan import Plan
    from envdoctor.verbs.treatment import Treatment

app = typer.Typer(add_completion=False, rich_markup_mode=None)

_FAILED = 1
_EPILOG = (
    "Examples: `envdoctor fix --profile xtts-zluda --dry-run` shows every step, every patch as a diff, and what is "
    "downloaded; `envdoctor fix --profile xtts-zluda` does it after one question (`--yes`: without) and `envdoctor "
    "undo` takes all of it back. The environment is `.venv` of the project unless `--env` names another; it is made "
    "where there is none. Whatever goes wrong, and whenever, the environment is put back as it was."
)


class InstallerChoice(str, Enum):
    """Installers that can be asked for."""

    AUTO = "auto"
    UV = "uv"
    PIP = "pip"


@app.command(epilog=_EPILOG)
def fix(
    project: opt.ProjectArgument = Path(),
    profile: opt.ProfileOption = None,
    env: Annotated[
        Path | None,
        typer.Option(
            "--env", metavar="DIR", help="The environment to treat or to make. Default: .venv in the project."
        ),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the plan (human or json), change nothing.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Go on without a question.")] = False,
    repair: Annotated[
        int | None, typer.Option("--repair", metavar="N", min=1, help="Take this repair of `check`'s list.")
    ] = None,
    installer: Annotated[
        InstallerChoice,
        typer.Option("--installer", case_sensitive=False, help="`auto`: uv where it is on the PATH, else pip."),
    ] = InstallerChoice.AUTO,
    python: Annotated[
        Path | None, typer.Option("--python", metavar="EXE", help="The interpreter to make a new environment with.")
    ] = None,
    allow_variable: Annotated[
        list[str] | None,
        typer.Option(
            "--allow-variable",
            metavar="NAME",
            help="Let the profile set this variable, although it can decide what code runs (PATH, LD_PRELOAD). May be "
            "repeated.",
        ),
    ] = None,
    no_smoke: Annotated[bool, typer.Option("--no-smoke", help="Do not run GPU kernels at the end.")] = False,
    substitute: opt.SubstituteOption = None,
    target_os: opt.TargetOsOption = None,
    target_arch: opt.TargetArchOption = None,
    target_python: opt.TargetPythonOption = None,
    target_backend: opt.BackendOption = None,
    index_url: opt.IndexUrlOption = None,
    cache_dir: opt.CacheDirOption = None,
    exclude_newer: opt.ExcludeNewerOption = None,
    format: opt.FormatOption = opt.Format.HUMAN,  # noqa: A002
    output: opt.OutputOption = None,
    color: opt.ColorOption = opt.Color.AUTO,
    quiet: opt.QuietOption = False,
    verbose: opt.VerboseOption = False,
) -> None:
    """Make or treat the environment, all or nothing; `undo` takes it back."""
    from envdoctor.verbs.treatment import Treatment, TreatmentOptions

    if dry_run and format.value not in ("human", "json"):
        raise UsageError(f"a plan is no report: `--dry-run` writes human or json, not {format.value}")
    session = open_session(
        project,
        profile,
        TargetChoice(target_os, target_arch, target_python, target_backend),
        IndexChoice(False, index_url, None, cache_dir, exclude_newer),
        progress=open_progress(quiet=quiet),
        tell=teller(quiet=quiet),
        substitute=substitute or (),
        python=python_there(project if project.is_dir() else project.parent, env, python),
    )
    options = TreatmentOptions(
        project=(project if project.is_dir() else project.parent).resolve(),
        environment=env.absolute() if env is not None else None,
        repair=repair,
        installer=installer.value,
        python=python,
        smoke=not no_smoke,
        verbose=verbose,
        json=format is opt.Format.JSON,
        yes=yes,
        allowed_variables=frozenset(allow_variable or ()),
    )
    with session:
        treatment = Treatment(session, options, say=lambda event: say(event_text(event)))
        plans = treatment.plans(dry_run=dry_run)
        if treatment.refusals:
            error(refusals_text(treatment.refusals))
            if dry_run and (options.json or treatment.patches is not None):
                _show(_shown(treatment, ()), output, color, to_stdout=True)
            raise typer.Exit(treatment.refused_code)
        refused = any(plan.refusals for plan in plans)
        if dry_run or refused or not yes:
            _show(_shown(treatment, plans), output if dry_run else None, color, to_stdout=dry_run)
        if dry_run or refused:
            raise typer.Exit(_FAILED if refused else 0)
        if not yes and any(plan.steps for plan in plans):
            session.progress.close()
            _ask()
        for line in unasked_lines(plans, treatment.typed.command("check")) if yes and not quiet else ():
            say(line)
        with _telling_what_is_left(treatment):
            with stopped_like_ctrl_c():
                results = treatment.apply(plans)
            code = _report(session, results, format=format, output=output, color=color, verbose=verbose, quiet=quiet)
    raise typer.Exit(code)


@contextmanager
def _telling_what_is_left(treatment: Treatment) -> Iterator[None]:
    """Let what stops a treatment say what is left of it."""
    try:
        yield
    except (KeyboardInterrupt, Exception) as stop:
        left = [event_text(event) for event in treatment.left_behind()]
        if isinstance(stop, KeyboardInterrupt):
            raise KeyboardInterrupt(*left) from None
        stop.__dict__["left_behind"] = left  # Said below what went wrong. A note would stand in a traceback, too.
        raise


def _shown(treatment: Treatment, plans: Sequence[Plan]) -> str:
    """Return the plans as text or JSON; where there is none, the reason takes its place."""
    options = treatment.options
    if treatment.refusals:
        place = options.environment or default_environment(options.project)
        plans = [treatment.patches or plan_of_refusals(str(place), str(options.project), treatment.refusals)]
    if options.json:
        return plan_json(plans)
    return plans_text(plans, treatment.typed.command("check"), verbose=options.verbose)


def _ask() -> None:
    if not sys.stdin.isatty():
        raise UsageError("there is nobody to ask: `--yes` goes on without a question, `--dry-run` shows the plan alone")
    if not typer.confirm("Go on?", default=False, err=True):
        say("nothing was changed")
        raise typer.Exit(0)


def _show(text: str, output: Path | None, color: opt.Color, *, to_stdout: bool) -> None:
    if output is not None:
        write_file(output, text)
    elif to_stdout and text.startswith(("{", "[")):
        write_out(text)
    elif to_stdout:
        write_page(text, color)
    else:
        sys.stderr.write(fitted(text.rstrip("\n"), sys.stderr) + "\n")
        sys.stderr.flush()


def _report(
    session: Session,
    results: Sequence[Treated],
    *,
    format: opt.Format,  # noqa: A002 - the option's own name
    output: Path | None,
    color: opt.Color,
    verbose: bool,
    quiet: bool,
) -> int:
    """Say how it went and return the exit code."""
    from envdoctor.cli.output import write_report

    session.progress.close()
    code = 0
    for result in results:
        for event in result.events if not quiet or result.failed else ():
            say(event_text(event))
        if result.refusals:
            error(f"the placement was not applied: {refusals_text(result.refusals)}")
        code = max(code, result.code)
    report = report_of_all([result.report for result in results if result.report is not None])
    if report is not None and (format is not opt.Format.HUMAN or output is not None or report.open_findings):
        told = write_report(
            report, format=format, output=output, fail_on=opt.FailOn.ERROR, color=color, verbose=verbose
        )
        code = max(code, told)
    return code
