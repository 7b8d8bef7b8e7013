"""``envdoctor run``."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from envdoctor.ports import UsageError
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
    from envdoctor.adapters.apply.interpreters import python_of
    from envdoctor.adapters.apply.journal import list_journals
    from envdoctor.adapters.apply.records import read_record
    from envdoctor.verbs.run import find_program, start, variables_for

    environment = one_environment(env, command[0])
    python = python_of(environment)
    if not python.exists():
        raise UsageError(f"`{environment}` is no environment; `envdoctor fix` makes one, `--env` names another")
    if any(record.state == "open" for record in list_journals(environment)):
        sys.stderr.write("warning: a fix of this environment was cut short; `envdoctor undo` puts it back as it was\n")
    record = read_record(environment)
    variables = variables_for(
        os.environ,
        record.variables if record is not None else {},
        environment=str(environment),
        scripts=str(python.parent),
        separator=os.pathsep,
    )
    program = find_program(command[0], str(python.parent), variables["PATH"])
    if program is None:
        sys.stderr.write(f"error: `{command[0]}` is neither in `{environment}` nor on the PATH\n")
        raise typer.Exit(_NOT_FOUND)
    sys.stdout.flush()
    raise typer.Exit(start(program, command[1:], variables))
