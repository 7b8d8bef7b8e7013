"""``envdoctor undo``."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from envdoctor.cli import options as opt
from envdoctor.cli.messages import say
from envdoctor.cli.output import write_document

app = typer.Typer(add_completion=False, rich_markup_mode=None)

_FAILED = 1
_EPILOG = (
    "Examples: `envdoctor undo` takes the last fix of `.venv` here back: packages, patched files, variables; an "
    "environment that the fix had made goes. `envdoctor undo --list` shows the fixes, `envdoctor undo ID` goes back to "
    "before one of them. What you changed after a fix is put aside, not thrown away."
)


@app.command(epilog=_EPILOG)
def undo(
    fix: Annotated[str | None, typer.Argument(metavar="[ID]", help="Go back to before this fix.")] = None,
    env: Annotated[
        Path | None,
        typer.Option(
            "--env",
            metavar="DIR",
            help="The environment, or its name where a profile made several. Default: .venv here, or all that the "
            "last fix here has treated.",
        ),
    ] = None,
    project: Annotated[
        Path | None,
        typer.Option(
            "--project",
            metavar="DIR",
            help="The project whose files come back: those that `repair` wrote, and patched ones where the environment "
            "does not lie in it.",
        ),
    ] = None,
    list_: Annotated[bool, typer.Option("--list", help="Show the fixes and change nothing.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="With --list: the rows alone, as JSON.")] = False,
    format: opt.PageFormatOption = opt.PageFormat.HUMAN,  # noqa: A002
    quiet: opt.QuietOption = False,
) -> None:
    """Take the last fix or written repair back, or a chosen one with all that came after it."""
    from envdoctor.render.treatment_text import event_text, fix_rows, fixes_text
    from envdoctor.verbs.undo import choose_fixes, find_fixes, take_back_fixes

    found = find_fixes(env, project, fix)
    in_json = format is opt.PageFormat.JSON
    if list_ and in_json and not as_json:
        write_document("fixes", fixes=fix_rows(found))
    elif list_:
        sys.stdout.write(json.dumps(fix_rows(found), indent=2) + "\n" if as_json else fixes_text(found))
    if list_:
        raise typer.Exit(0)
    chosen = choose_fixes(found, fix)
    went = [
        take_back_fixes(path, ids, project, lambda event: say(event_text(event)), quiet=quiet) for path, ids in chosen
    ]
    if in_json:
        done = zip(chosen, went, strict=True)
        write_document(
            "undo", taken_back=[{"environment": str(at), "ids": ids, "whole": all_} for (at, ids), all_ in done]
        )
    raise typer.Exit(0 if all(went) else _FAILED)
