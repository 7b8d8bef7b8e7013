"""``envdoctor undo``."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from envdoctor.cli import options as opt

if TYPE_CHECKING:
    from envdoctor.adapters.apply.restore import Restored
    from envdoctor.verbs.undo import FixEntry

app = typer.Typer(add_completion=False, rich_markup_mode=None)

_FAILED = 1
_WAIT_S = 60.0
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
    as_json: Annotated[bool, typer.Option("--json", help="With --list: as JSON.")] = False,
    quiet: opt.QuietOption = False,
) -> None:
    """Take the last fix or written repair back, or a chosen one with all that came after it."""
    from envdoctor.verbs.undo import choose_fixes, find_fixes

    found = find_fixes(env, project)
    if list_:
        _list(found, as_json=as_json)
        raise typer.Exit(0)
    chosen = choose_fixes(found, fix)
    raise typer.Exit(max([_take_back(path, ids, project, quiet=quiet) for path, ids in chosen]))


def _list(found: Mapping[str, list[FixEntry]], *, as_json: bool) -> None:
    if as_json:
        rows = [
            {
                "id": e.id,
                "environment": name,
                "state": e.state,
                "time": e.time,
                "profile": e.profile,
                "steps": list(e.summary),
            }
            for name, entries in found.items()
            for e in entries
        ]
        sys.stdout.write(json.dumps(rows, indent=2) + "\n")
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


def _take_back(environment: Path, ids: tuple[str, ...], project: Path | None, *, quiet: bool) -> int:
    from envdoctor.adapters.apply.holding import hold_environment
    from envdoctor.adapters.apply.lock_file import Busy
    from envdoctor.adapters.apply.reach import OutOfReach
    from envdoctor.adapters.apply.restore import take_back

    problems = False
    try:
        with hold_environment(environment, wait_s=_WAIT_S, say=_say):
            here = None if environment.is_relative_to(Path.cwd()) else Path.cwd()
            for name, restored in take_back(environment, ids, project or here):
                problems = problems or bool(restored.problems)
                for line in _lines(name, restored):
                    if not quiet or restored.problems:
                        _say(line)
    except OutOfReach as error:
        _say(f"error: {error.strerror}; nothing was changed")
        return _FAILED
    except Busy as error:
        _say(f"error: {error}")
        return _FAILED
    except OSError as error:
        place = f" (`{error.filename}`)" if error.filename else ""
        _say(f"error: {error.strerror or error}{place}; `envdoctor undo` can be run again")
        return _FAILED
    return _FAILED if problems else 0


def _lines(name: str, restored: Restored) -> list[str]:
    done = [f"{_files(restored.files)} restored"] if restored.files or not restored.environment_removed else []
    done += [f"{_files(restored.removed)} removed"] if restored.removed else []
    done += ["the environment that it had made is gone"] if restored.environment_removed else []
    lines = [f"took back {name}: {', '.join(done)}"]
    lines += [f"note: what was changed after the fix is kept in `{place}`" for place in restored.kept]
    lines += [f"warning: {problem}" for problem in restored.problems]
    return lines


def _files(number: int) -> str:
    return f"{number} file{'' if number == 1 else 's'}"


def _say(text: str) -> None:
    sys.stderr.write(text + "\n")
