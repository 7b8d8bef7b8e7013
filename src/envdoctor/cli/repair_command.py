"""``envdoctor repair``."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Annotated

import typer

from envdoctor.adapters.terminal import keep_line_ends
from envdoctor.cli import options as opt
from envdoctor.cli.messages import teller
from envdoctor.cli.output import write_document
from envdoctor.cli.progress import open_progress
from envdoctor.ports import Tell, UsageError
from envdoctor.shell_line import shell_line
from envdoctor.verbs.project_inputs import IndexChoice, TargetChoice, project_of
from envdoctor.verbs.project_repair import ProjectRepair
from envdoctor.verbs.session import open_session

app = typer.Typer(add_completion=False, rich_markup_mode=None)

_BY_HAND = 1
_EPILOG = (
    "Examples: `envdoctor repair` shows the repair in use as a diff of requirements files, pyproject.toml or "
    "environment.yml; `envdoctor repair 2 ~/xtts-webui --write` makes the changes of the second one, and `envdoctor "
    "undo --project ~/xtts-webui` takes them back."
)


@app.command(epilog=_EPILOG)
def repair(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[N] [PROJECT]",
            help="The number of the repair in check's list (default: the one in use), and the project (default: the "
            "current directory).",
            show_default=False,
        ),
    ] = None,
    write: Annotated[bool, typer.Option("--write", help="Change the files; `envdoctor undo` takes it back.")] = False,
    profile: opt.ProfileOption = None,
    target_os: opt.TargetOsOption = None,
    target_arch: opt.TargetArchOption = None,
    target_python: opt.TargetPythonOption = None,
    target_backend: opt.BackendOption = None,
    gpu: opt.GpuOption = None,
    glibc: opt.GlibcOption = None,
    macos: opt.MacosOption = None,
    extra: opt.ExtraOption = None,
    group: opt.GroupOption = None,
    only_group: opt.OnlyGroupOption = None,
    all_groups: opt.AllGroupsOption = False,
    offline: opt.OfflineOption = False,
    index_url: opt.IndexUrlOption = None,
    recorded_index: opt.RecordedOption = None,
    cache_dir: opt.CacheDirOption = None,
    exclude_newer: opt.ExcludeNewerOption = None,
    format: Annotated[  # noqa: A002
        opt.PageFormat, typer.Option("--format", "-f", case_sensitive=False, help="A diff (`git apply`), or JSON.")
    ] = opt.PageFormat.HUMAN,
    quiet: opt.QuietOption = False,
) -> None:
    """Show a repair as a diff of the files that people wrote; with --write, change them."""
    from envdoctor.render.reasons import why_no_repair
    from envdoctor.verbs.check import diagnose_project, report_of
    from envdoctor.verbs.project_inputs import load_settings, read
    from envdoctor.verbs.project_repair import chosen_repair, code_without_repair, project_repair, write_repair

    number, project = _told_apart(words or [])
    target = TargetChoice(target_os, target_arch, target_python, target_backend, gpu, glibc, macos)
    choice = IndexChoice(offline, index_url, recorded_index, cache_dir, exclude_newer)
    progress, tell = open_progress(quiet=quiet), teller(quiet=quiet)
    groups = opt.group_choice(extra, group, only_group, all_groups=all_groups)
    project = project_of(project, tell)
    with open_session(project, profile, target, choice, progress=progress, tell=tell, groups=groups) as session:
        if len(session.requests) > 1:
            raise UsageError("the profile makes several environments, and a repair of one is not yet written for all")
        request = session.requests[0] if session.requests else session.request
        report = report_of(request, diagnose_project(request), command="repair")
        chosen = chosen_repair(report, number)
        if chosen is None:
            tell(why_no_repair(report))
            if format is opt.PageFormat.JSON:
                write_document("repair", repair=None, files=[], cautions=[], by_hand=[], written=False)
            raise typer.Exit(code_without_repair(report))
        made = project_repair(_root(project), chosen, report.scope)
        if write and made.changes and request.project is not None:
            write_repair(
                _root(project),
                made,
                request.project,
                lambda: read(project, request.profile, load_settings(project), request.target, groups),
                tell,
            )
    written = write and bool(made.changes)
    if format is opt.PageFormat.JSON:
        write_document("repair", **made.document(written=written))
    else:
        keep_line_ends()
        sys.stdout.writelines(change.diff() for change in made.changes)
        _tell(made, project, tell, write=write)
    raise typer.Exit(_BY_HAND if made.by_hand else 0)


def _root(project: Path) -> Path:
    return project if project.is_dir() else project.parent


def _told_apart(words: list[str]) -> tuple[int | None, Path]:
    """Return number and project: `2`, `R2` are numbers unless a folder here has that name."""
    if len(words) > 2:
        raise UsageError("repair takes the number of a repair and a project")
    number = re.fullmatch(r"[Rr]?([1-9]\d*)", words[0]) if words else None
    if number is None or (len(words) == 1 and Path(words[0]).exists()):
        if len(words) == 2:
            raise UsageError(f"`{words[0]}` is no number of a repair")
        return None, Path(words[0]) if words else Path()
    return int(number[1]), Path(words[1]) if len(words) == 2 else Path()


def _tell(made: ProjectRepair, project: Path, say: Tell, *, write: bool) -> None:
    for caution in made.repair.cautions:
        say(f"caution: {caution}")
    for left in made.by_hand:
        say(f"by hand: {left}")
    names = ", ".join(f"`{change.path}`" for change in made.changes)
    if names and write:
        say(f"repair {made.repair.id} is written to {names}; `{_undo(project)}` takes it back")
    elif names:
        say(f"nothing is changed yet; --write changes {names}")
    elif not made.by_hand:
        say(f"your files already say what repair {made.repair.id} asks for")


def _undo(project: Path) -> str:
    root = _root(project)
    return shell_line(["envdoctor", "undo", *([] if root == Path() else ["--project", str(root)])])
