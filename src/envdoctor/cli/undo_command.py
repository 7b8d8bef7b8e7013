"""``envdoctor undo``."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from envdoctor.cli import options as opt
from envdoctor.cli.output import write_document

if TYPE_CHECKING:
    from envdoctor.verbs.undo import FixEntry

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
    from envdoctor.verbs.undo import choose_fixes, find_fixes, fix_rows, take_back_fixes

    found = find_fixes(env, project)
    in_json = format is opt.PageFormat.JSON
    if list_ and in_json and not as_json:
        write_document("fixes", fixes=fix_rows(found))
    elif list_:
        _list(found, as_json=as_json)
    if list_:
        raise typer.Exit(0)
    chosen = choose_fixes(found, fix)
    went = [take_back_fixes(path, ids, project, _say, quiet=quiet) for path, ids in chosen]
    if in_json:
        done = zip(chosen, went, strict=True)
        write_document(
            "undo", taken_back=[{"environment": str(at), "ids": ids, "whole": all_} for (at, ids), all_ in done]
        )
    raise typer.Exit(0 if all(went) else _FAILED)


def _list(found: Mapping[str, list[FixEntry]], *, as_json: bool) -> None:
    from envdoctor.verbs.undo import fix_rows

    if as_json:
        sys.stdout.write(json.dumps(fix_rows(found), indent=2) + "\n")
        return
    words = {"open": "cut short", "done": "in force", "undone": "taken back", "damaged": "its journal is damaged"}
    for name, entries in found.items():
        if len(found) > 1 and entries:
            sys.stdout.write(f"{name}\n")
        for entry in entries:
            profile = f", profile {entry.profile}" if entry.profile else ""
            sys.stdout.write(f"{entry.id}  {words[entry.state]}, {entry.time}{profile}\n")
            sys.stdout.writelines(f"    {line}\n" for line in entry.summary)
    if not any(found.values()):
        sys.stdout.write("no fixes\n")


def _say(text: str) -> None:
    sys.stderr.write(text + "\n")
