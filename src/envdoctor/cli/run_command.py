"""``envdoctor run``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from envdoctor.cli.messages import error, say
from envdoctor.verbs.environment_places import one_environment

app = typer.Typer(add_completion=False, rich_markup_mode=None)

_NOT_FOUND = 127
_EPILOG = (
    "Examples: `envdoctor run -- python app.py --device cpu`; `envdoctor run --env .venv-rvc -- python -m rvc`. "
    "The exit code is the command's own."
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
) -> None:
    """Start a command inside the environment, with the profile's variables."""
    from envdoctor.verbs.earlier_fixes import is_cut_short
    from envdoctor.verbs.run import command_in, start

    environment = one_environment(env, command[0])
    program, variables = command_in(environment, command[0])
    if is_cut_short(environment):
        say("warning: a fix of this environment was cut short; `envdoctor undo` puts it back as it was")
    if program is None:
        error(f"`{command[0]}` is neither in `{environment}` nor on the PATH")
        raise typer.Exit(_NOT_FOUND)
    sys.stdout.flush()
    raise typer.Exit(start(program, command[1:], variables))
