"""``envdoctor compare``."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from envdoctor.cli import options as opt
from envdoctor.cli.messages import printable
from envdoctor.cli.output import write_document
from envdoctor.ports import UsageError

app = typer.Typer(add_completion=False, rich_markup_mode=None)

_EPILOG = (
    "Examples: `envdoctor compare works.json broken.json` for two reports (`--format json`); "
    "`envdoctor compare ~/works/.venv ~/broken/.venv`; `envdoctor compare theirs.txt .venv` for a pasted `pip freeze`; "
    "`envdoctor compare reports/` for a folder of reports, one of each machine or rank: those that are not like the "
    "others come first."
)


@app.command(epilog=_EPILOG)
def compare(
    before: Annotated[Path, typer.Argument(metavar="A", help="A report, an environment, or a listing of one.")],
    after: Annotated[
        Path | None,
        typer.Argument(metavar="[B]", help="Another of the same kind. Without it, A is a folder of reports."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="The same as `--format json`.")] = False,
    format: opt.PageFormatOption = opt.PageFormat.HUMAN,  # noqa: A002
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Show what hardly matters, too.")] = False,
) -> None:
    """Say what differs between two reports, two environments or many reports, and what of it matters."""
    from envdoctor.render.comparison_text import change_lines, outlier_lines
    from envdoctor.verbs.compare import between_environments, between_reports, find_outliers, read_report, read_reports

    in_json = as_json or format is opt.PageFormat.JSON
    if after is None:
        outliers = find_outliers(read_reports(before))
        if in_json:
            write_document("outliers", reports=[asdict(item) for item in outliers])
            return
        lines = outlier_lines(outliers, verbose=verbose)
    else:
        one, other = read_report(before), read_report(after)
        if (one is None) != (other is None):
            report, other_one = (before, after) if other is None else (after, before)
            raise UsageError(f"`{report}` is a report and `{other_one}` is none: give two reports, or two environments")
        if one is not None and other is not None:
            changes = between_reports(one, other)
        else:
            changes = between_environments(before, after)
        if in_json:
            write_document("comparison", changes=[asdict(item) for item in changes])
            return
        lines = change_lines(changes, verbose=verbose)
    for line in lines:
        typer.echo(printable(line))
