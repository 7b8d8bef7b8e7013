"""``envdoctor lock``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from envdoctor.cli import options as opt
from envdoctor.cli.messages import error, note, say, teller
from envdoctor.cli.output import write_report
from envdoctor.cli.progress import open_progress
from envdoctor.ports import UsageError
from envdoctor.render.lock_text import lock_notes, refusal_lines
from envdoctor.verbs.lock import LockOutcome
from envdoctor.verbs.next_command import Typed, after_lock, after_refusals, which_lock, with_whole_commands
from envdoctor.verbs.patient import PatientChoice, open_patient
from envdoctor.verbs.project_inputs import IndexChoice, TargetChoice, project_of
from envdoctor.verbs.session import open_session

app = typer.Typer(add_completion=False, rich_markup_mode=None)

_FAILED = 1
_COULD_NOT_CHECK = 3
_EPILOG = (
    "Examples: `envdoctor lock --profile xtts-zluda` writes pylock.xtts-zluda.toml, constraints.xtts-zluda.txt and "
    "overrides.xtts-zluda.txt beside the project; `envdoctor lock --profile xtts-zluda --check` fails if they are not "
    "what would be written now. Install with `uv pip sync pylock.xtts-zluda.toml`, or with "
    "`pip install --no-deps -r pylock.xtts-zluda.toml` (pip 26.3 or later)."
)


@app.command(epilog=_EPILOG)
def lock(
    project: opt.ProjectArgument = Path(),
    profile: opt.ProfileOption = None,
    output_dir: Annotated[
        Path | None, typer.Option("--output-dir", metavar="DIR", help="Where to write. Default: beside the project.")
    ] = None,
    repair: Annotated[
        int | None, typer.Option("--repair", metavar="N", min=1, help="Lock this repair of `check`'s list.")
    ] = None,
    no_repair: Annotated[
        bool, typer.Option("--no-repair", help="Lock the requirements as they stand, or fail.")
    ] = False,
    upgrade: Annotated[
        list[str] | None,
        typer.Option("--upgrade", metavar="[PKG]", help="Leave the lock's versions behind: of one package, or of all."),
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing; exit 1 if the files are not what would be written now.")
    ] = False,
    substitute: opt.SubstituteOption = None,
    join: Annotated[
        list[Path] | None,
        typer.Option("--join", metavar="LOCK", help="Put locks of several targets together as pylock.all.toml."),
    ] = None,
    target_os: opt.TargetOsOption = None,
    target_arch: opt.TargetArchOption = None,
    target_python: opt.TargetPythonOption = None,
    target_backend: opt.BackendOption = None,
    gpu: opt.GpuOption = None,
    glibc: opt.GlibcOption = None,
    macos: opt.MacosOption = None,
    facts: opt.FactsOption = None,
    extra: opt.ExtraOption = None,
    group: opt.GroupOption = None,
    only_group: opt.OnlyGroupOption = None,
    all_groups: opt.AllGroupsOption = False,
    offline: opt.OfflineOption = False,
    index_url: opt.IndexUrlOption = None,
    recorded_index: opt.RecordedOption = None,
    cache_dir: opt.CacheDirOption = None,
    exclude_newer: opt.ExcludeNewerOption = None,
    format: opt.FormatOption = opt.Format.HUMAN,  # noqa: A002
    output: opt.OutputOption = None,
    color: opt.ColorOption = opt.Color.AUTO,
    quiet: opt.QuietOption = False,
    verbose: opt.VerboseOption = False,
) -> None:
    """Write the resolution down: a PEP 751 lock with hashes, constraints, and overrides."""
    from envdoctor.verbs.joined_lock import join_again, joined_files
    from envdoctor.verbs.lock import LockChoice, lock_all

    if repair is not None and no_repair:
        raise UsageError("`--repair` and `--no-repair` exclude each other")
    project = project_of(project, teller(quiet=quiet))
    folder = output_dir or (project if project.is_dir() else project.parent)
    if join:
        raise typer.Exit(_compared(joined_files(join, folder), folder, join_again(join), check=check, quiet=quiet))
    session = open_session(
        project,
        profile,
        TargetChoice(target_os, target_arch, target_python, target_backend, gpu, glibc, macos),
        IndexChoice(offline, index_url, recorded_index, cache_dir, exclude_newer),
        progress=open_progress(quiet=quiet),
        tell=teller(quiet=quiet),
        patient=open_patient(PatientChoice(facts=facts)) if facts is not None else None,
        lock_folder=output_dir,
        upgrade=frozenset(upgrade or ()),
        substitute=substitute or (),
        groups=opt.group_choice(extra, group, only_group, all_groups=all_groups),
    )
    with session:
        outcome = lock_all(session.requests, LockChoice(repair, no_repair), session.index_urls)
    typed = replace(session.typed, facts=facts).judged_for(session.request.target, outcome.report.target)
    if format is not opt.Format.HUMAN or output is not None:
        report = with_whole_commands(outcome.report, typed)
        write_report(report, format=format, output=output, fail_on=opt.FailOn.NEVER, color=color, verbose=verbose)
    chosen = which_lock(repair, upgrade or (), no_repair=no_repair)
    raise typer.Exit(_settled(outcome, typed, folder, chosen, check=check, quiet=quiet))


def _settled(
    outcome: LockOutcome, typed: Typed, folder: Path, chosen: Sequence[str], *, check: bool, quiet: bool
) -> int:
    """Write the files, or compare them, or say why there are none; return the exit code."""
    from envdoctor.verbs.lock import refused_code

    if outcome.refusals:
        for line in refusal_lines(outcome.refusals, typed.command("check")):
            error(line)
        code = refused_code(outcome.refusals)
        for line in after_refusals(typed, outcome.refusals) if code == _COULD_NOT_CHECK else ():
            say(line)
        return code
    if outcome.kept:
        return _kept(outcome.kept, folder, typed.online().command("lock", *chosen), quiet=quiet)
    for text in () if quiet else _notes(outcome, typed):
        note(text)
    again, after = typed.command("lock", *chosen), after_lock(outcome.report, typed)
    return _compared(outcome.files, folder, again, after, check=check, quiet=quiet)


def _compared(
    files: Mapping[str, str], folder: Path, again: str, after: Iterable[str] = (), *, check: bool, quiet: bool
) -> int:
    """Write files, or say which of them are not what would be written; return the exit code."""
    from envdoctor.verbs.lock import stale_files, write_files

    stale = stale_files(folder, files)
    if check:
        return _checked(stale, folder, again)
    write_files(folder, {name: files[name] for name in stale})
    told = (f"{'wrote' if name in stale else 'unchanged'} {folder / name}" for name in files)
    for line in () if quiet else (*told, *after):
        say(line)
    return 0


def _notes(outcome: LockOutcome, typed: Typed) -> Iterator[str]:
    """Yield what a person should know of the lock that is written, or of each environment's."""
    for part, each in outcome.parts or (("", outcome),):
        if each.resolution is None:
            continue
        notes = list(
            lock_notes(
                with_whole_commands(each.report, typed),
                each.resolution,
                each.repair,
                each.left_open,
                each.problems,
                from_lock=each.chosen_before,
                check=typed.command("check"),
            )
        )
        yield from [f"environment `{part}`:", *notes] if part and notes else notes


def _kept(names: Sequence[str], folder: Path, again: str, *, quiet: bool) -> int:
    """Say that the lock alone was asked; return 1 where a file that belongs to it is missing."""
    missing = [name for name in names if not (folder / name).is_file()]
    if not missing and not quiet:
        note("judged by the lock alone, for the cache does not know the projects; what is written holds with it")
    return _checked(missing, folder, again)


def _checked(stale: list[str], folder: Path, again: str) -> int:
    for name in stale:
        state = "is not what would be written now" if (folder / name).exists() else "is missing"
        error(f"`{folder / name}` {state}")
    if stale:
        say(f"next: {again}")
    return _FAILED if stale else 0
