"""``envdoctor compare``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from envdoctor.cli import options as opt
from envdoctor.cli.messages import printable
from envdoctor.cli.output import write_document
from envdoctor.ports import UsageError

if TYPE_CHECKING:
    from envdoctor.verbs.compare import Change

app = typer.Typer(add_completion=False, rich_markup_mode=None)

_EPILOG = (
    "Examples: `envdoctor compare works.json broken.json` for two reports (`--format json`); "
    "`envdoctor compare ~/works/.venv ~/broken/.venv`; `envdoctor compare theirs.txt .venv` for a pasted `pip freeze`."
)


@app.command(epilog=_EPILOG)
def compare(
    before: Annotated[Path, typer.Argument(metavar="A", help="A report, an environment, or a listing of one.")],
    after: Annotated[Path, typer.Argument(metavar="B", help="Another of the same kind.")],
    as_json: Annotated[bool, typer.Option("--json", help="The same as `--format json`.")] = False,
    format: opt.PageFormatOption = opt.PageFormat.HUMAN,  # noqa: A002
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Show what hardly matters, too.")] = False,
) -> None:
    """Say what differs between two reports or two environments, and what of it matters."""
    from envdoctor.verbs.compare import between_environments, between_reports, read_environment, read_report

    one, other = read_report(before), read_report(after)
    if (one is None) != (other is None):
        report, other_one = (before, after) if other is None else (after, before)
        raise UsageError(f"`{report}` is a report and `{other_one}` is none: give two reports, or two environments")
    if one is not None and other is not None:
        changes = between_reports(one, other)
    else:
        changes = between_environments(read_environment(before), read_environment(after))
    if as_json or format is opt.PageFormat.JSON:
        write_document("comparison", changes=[asdict(item) for item in changes])
        return
    for line in _lines(changes, verbose=verbose):
        typer.echo(printable(line))


def _lines(changes: Sequence[Change], *, verbose: bool) -> Iterator[str]:
    if not changes:
        yield "no difference"
        return
    matter = [change for change in changes if change.matters]
    rest = [change for change in changes if not change.matters]
    if matter:
        yield "what matters"
        yield from (f"  {_line(change)}" for change in matter)
    if rest and verbose:
        yield "the rest"
        yield from (f"  {_line(change)}" for change in rest)
    elif rest:
        more, them = ("1 further difference that hardly matters", "it")
        if len(rest) > 1:
            more, them = (f"{len(rest)} further differences that hardly matter", "them")
        yield f"{more}; --verbose shows {them}"


def _line(change: Change) -> str:
    because = f" ({change.because})" if change.because else ""
    what = change.about if change.about == change.name else f"{change.about} {change.name}"
    return f"{what}: {change.before or 'absent'} -> {change.after or 'absent'}{because}"
