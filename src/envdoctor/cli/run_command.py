"""``envdoctor run``."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from envdoctor.cli import options as opt
from envdoctor.cli.messages import error, say
from envdoctor.cli.output import write_document
from envdoctor.ports import UsageError
from envdoctor.verbs.environment_places import one_environment

if TYPE_CHECKING:
    from envdoctor.adapters.apply.answering import Answer

app = typer.Typer(add_completion=False, rich_markup_mode=None)

_NOT_FOUND = 127
_EPILOG = (
    "Examples: `envdoctor run -- python app.py --device cpu`; `envdoctor run --env .venv-rvc -- python -m rvc`. "
    "The exit code is the command's own; with `--answers` it is 0 where the address answered, else 1."
)


@app.command(epilog=_EPILOG, context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
def run(
    command: Annotated[list[str], typer.Argument(metavar="-- COMMAND ...", help="The command and its arguments.")],
    env: Annotated[
        Path | None,
        typer.Option(
            "--env",
            metavar="DIR",
            help="The environment, or its name where a profile made several. Default: .venv here, else the only one "
            "that has the command.",
        ),
    ] = None,
    answers: Annotated[
        str | None,
        typer.Option(
            "--answers",
            metavar="URL",
            help="Try the start: wait until this address answers (`http://127.0.0.1:8010`), then end the command.",
        ),
    ] = None,
    time_limit: Annotated[
        float, typer.Option("--time-limit", metavar="S", min=1, help="How long `--answers` waits, in seconds.")
    ] = 600,
    format: opt.PageFormatOption = opt.PageFormat.HUMAN,  # noqa: A002
) -> None:
    """Start a command in the environment, with the profile's variables; `--format json` prints it instead."""
    from envdoctor.verbs.run import changed_variables, command_in, start, try_start
    from envdoctor.verbs.undo import is_cut_short

    environment = one_environment(env, command[0])
    program, variables = command_in(environment, command[0])
    if is_cut_short(environment):
        say("warning: a fix of this environment was cut short; `envdoctor undo` puts it back as it was")
    if program is None:
        error(f"`{command[0]}` is neither in `{environment}` nor on the PATH")
        raise typer.Exit(_NOT_FOUND)
    if format is opt.PageFormat.JSON and answers is not None:
        raise UsageError("`--format json` starts nothing, and `--answers` waits for what was started")
    if format is opt.PageFormat.JSON:
        changes = changed_variables(os.environ, variables)
        write_document("run", environment=str(environment), command=[program, *command[1:]], variables=changes)
        return
    sys.stdout.flush()
    if answers is not None:
        found = try_start([program, *command[1:]], variables, answers, time_limit)
        _say_answer(found, answers)
        raise typer.Exit(0 if found.is_well else 1)
    raise typer.Exit(start(program, command[1:], variables))


def _say_answer(found: Answer, url: str) -> None:
    if found.is_well:
        say(f"note: `{url}` answers ({found.status}) {found.seconds:.0f} s after the start; the command was ended")
    elif found.ended_with is not None:
        told = f"the command ended with {found.ended_with} before `{url}` answered"
        error(f"{told}; `envdoctor check --log FILE` reads what it printed")
    elif found.status is not None:
        error(f"`{url}` answers with {found.status}, a failure of the program's own; the command was ended")
    else:
        error(f"`{url}` did not answer in {found.seconds:.0f} s; the command was ended")
