"""``envdoctor explain``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from envdoctor.cli import options as opt
from envdoctor.cli.messages import teller
from envdoctor.cli.output import write_page, write_report
from envdoctor.cli.progress import open_progress
from envdoctor.cli.streams import write_out
from envdoctor.ports import UsageError
from envdoctor.verbs.next_command import with_whole_commands
from envdoctor.verbs.project_inputs import IndexChoice, TargetChoice, project_of
from envdoctor.verbs.session import open_session

app = typer.Typer(add_completion=False, rich_markup_mode=None)

_EPILOG = (
    "Examples: `envdoctor explain av --profile xtts-zluda` in a checkout; `envdoctor explain ~/xtts-webui C1 "
    "--profile xtts-zluda` for a conflict of `check`'s list; without a topic, all conflicts."
)


@app.command(epilog=_EPILOG)
def explain(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[PROJECT] [PACKAGE|CONFLICT]",
            help="The project (default: the current directory), and the package or conflict to explain.",
            show_default=False,
        ),
    ] = None,
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
    format: opt.PageFormatOption = opt.PageFormat.HUMAN,  # noqa: A002
    color: opt.ColorOption = opt.Color.AUTO,
    quiet: opt.QuietOption = False,
    verbose: opt.VerboseOption = False,
) -> None:
    """Say why a package has its version and who wanted another, or why requirements cannot be installed together."""
    from envdoctor.render.explanation_text import explanation_lines
    from envdoctor.verbs.explain import explain_topic, unknown_topic
    from envdoctor.verbs.profile_environments import together

    project, topic = _told_apart(words or [])
    target = TargetChoice(target_os, target_arch, target_python, target_backend, gpu, glibc, macos)
    choice = IndexChoice(offline, index_url, recorded_index, cache_dir, exclude_newer)
    progress, tell = open_progress(quiet=quiet), teller(quiet=quiet)
    groups = opt.group_choice(extra, group, only_group, all_groups=all_groups)
    project = project_of(project, tell)
    with open_session(project, profile, target, choice, progress=progress, tell=tell, groups=groups) as session:
        # `voice:C1` is the conflict C1 of the environment `voice`; anything else is asked of every environment.
        parts = {request.part: request for request in session.requests}
        named, _, rest = (topic or "").partition(":")
        asked = {named: rest} if named and named in parts else dict.fromkeys(parts, topic)
        answers = {part: explain_topic(parts[part], text) for part, text in asked.items()}
    known = {part: answer for part, answer in answers.items() if not answer.unknown_topic}
    if not known:
        raise UsageError(unknown_topic(topic or "", next(iter(answers.values()))))
    told = [answer.report for answer in known.values() if answer.explanation is None]
    if format is opt.PageFormat.JSON and len(told) < len(known):
        from envdoctor.render.explanation_json import explanation_json

        write_out(explanation_json(known))
        return
    if told:
        write_report(
            with_whole_commands(together(told), session.typed),
            format=opt.Format(format.value),
            output=None,
            fail_on=opt.FailOn.NEVER,
            color=color,
            verbose=verbose,
        )
    lines = [
        line
        for part, answer in known.items()
        if answer.explanation is not None
        for line in (
            *([f"environment {part}:"] if part else []),
            *explanation_lines(answer, answer.explanation, verbose=verbose),
        )
    ]
    if lines:
        write_page("\n".join(lines), color)


def _told_apart(words: list[str]) -> tuple[Path, str | None]:
    """Return project and topic: two words are both; one is a project where such a path exists."""
    if len(words) > 2:
        raise UsageError("explain takes a project and one package or conflict")
    if len(words) == 2:
        return Path(words[0]), words[1]
    if not words:
        return Path(), None
    return (Path(words[0]), None) if Path(words[0]).exists() else (Path(), words[0])
