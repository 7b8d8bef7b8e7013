"""``envdoctor init``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from envdoctor.cli import options as opt
from envdoctor.cli.messages import say, teller
from envdoctor.cli.output import write_document

app = typer.Typer(add_completion=False, rich_markup_mode=None)

_EPILOG = (
    "Examples: `envdoctor init` here; `envdoctor init --profile rvc-zluda`; `envdoctor init --no-hook` leaves "
    "pre-commit alone. What a file has already is kept as it is. `pre-commit install` makes git run the hook."
)


@app.command(epilog=_EPILOG)
def init(
    project: opt.ProjectArgument = Path(),
    profile: opt.ProfileOption = None,
    no_hook: Annotated[bool, typer.Option("--no-hook", help="Write no hook for pre-commit.")] = False,
    format: opt.PageFormatOption = opt.PageFormat.HUMAN,  # noqa: A002
    quiet: opt.QuietOption = False,
) -> None:
    """Write the project's settings, with comments, and a pre-commit hook."""
    from envdoctor.adapters.written_files import write_together
    from envdoctor.ports import UsageError
    from envdoctor.verbs.init import files_of_init, next_of_init, profile_for

    if not project.is_dir():
        raise UsageError(f"`{project}` is no folder")
    files = files_of_init(project, profile_for(project, profile, teller(quiet=quiet)), hook=not no_hook)
    write_together(files)
    if format is opt.PageFormat.JSON:
        write_document("init", written=[str(path) for path in files])
        return
    if not quiet:
        for line in (*(f"wrote {path}" for path in files), *next_of_init(project, files)):
            say(line)
