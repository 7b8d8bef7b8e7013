"""``envdoctor rule``."""

from __future__ import annotations

import difflib
from typing import Annotated

import typer

from envdoctor.cli import options as opt
from envdoctor.cli.completion import rule_names
from envdoctor.cli.output import write_document, write_listing, write_page
from envdoctor.ports import UsageError

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command(epilog="Examples: `envdoctor rule` lists all; `envdoctor rule RES102` and `envdoctor rule source-only`.")
def rule(
    code: Annotated[
        str | None,
        typer.Argument(help="A rule's code or name, or an advisory's code or id.", autocompletion=rule_names),
    ] = None,
    format: opt.PageFormatOption = opt.PageFormat.HUMAN,  # noqa: A002
    color: opt.ColorOption = opt.Color.AUTO,
) -> None:
    """Show what a rule or advisory does, why it matters, and where the fact comes from; without CODE, list all."""
    from envdoctor.diagnose.documentation import catalogue, documentation

    rows = catalogue()
    as_json = format is opt.PageFormat.JSON
    known = [dict(zip(("code", "name", "severity", "summary"), row, strict=True)) for row in rows]
    if code is None:
        write_document("rules", rules=known) if as_json else write_listing(rows, color)
        return
    text = documentation(code)
    if text is None:
        names = [name for row in rows for name in row[:2]]
        close = difflib.get_close_matches(code, names, n=1) or difflib.get_close_matches(code.upper(), names, n=1)
        hint = f"; did you mean `{close[0]}`?" if close else "; `envdoctor rule` lists all"
        raise UsageError(f"no rule `{code}`{hint}")
    if as_json:
        wanted = code.casefold()
        found = next(row for row in known if wanted in (row["code"].casefold(), row["name"]))
        write_document("rule", **found, documentation=text)
    else:
        write_page(text, color, markdown=True)
