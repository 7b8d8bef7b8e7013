"""Writing what was made, to a file or as the terminal takes it."""

from __future__ import annotations

import os
import shutil
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from envdoctor.adapters.terminal import follows_links, output_encoding, wants_colour
from envdoctor.adapters.written_files import write_file
from envdoctor.cli.options import Color, FailOn, Format
from envdoctor.cli.streams import write_out
from envdoctor.model.report import Report, exit_code
from envdoctor.shell_line import path_from_here

if TYPE_CHECKING:
    from collections.abc import Sequence

    from envdoctor.render import RenderOptions

__all__ = ["write_document", "write_listing", "write_page", "write_report"]


_WIDTH_OF_FILES = 100


def write_report(
    report: Report,
    *,
    format: Format,  # noqa: A002 - the option's own name
    output: Path | None,
    fail_on: FailOn,
    color: Color = Color.AUTO,
    verbose: bool = False,
    show_waived: bool = False,
) -> int:
    """Write the report and return the exit code of the command; places are shown from where the caller stands."""
    from envdoctor.render import render
    from envdoctor.verbs.ranks import filled_in, read_rank
    from envdoctor.verbs.told_beside import told_beside

    report = replace(report, rank=read_rank(os.environ))
    output = filled_in(output, report.rank) if output is not None else None
    options = replace(
        reading_options(color, to_file=output is not None),
        folder_shown=_shown(report.scope.root) if output is None else "",
        verbose=verbose,
        show_waived=show_waived,
        fail_on=fail_on.value,
        **told_beside(report, format.value),
    )
    text = render(report, format.value, options=options)
    text = text if text.endswith("\n") else text + "\n"
    code = exit_code(report, fail_on.value)
    if output is not None:
        write_file(output, text)
    else:
        write_out(text)
    return code


def reading_options(color: Color, *, to_file: bool = False) -> RenderOptions:
    """Return what the place that will show a text for people can do."""
    from envdoctor.render import RenderOptions

    if to_file:
        return RenderOptions(width=_WIDTH_OF_FILES)
    colour = wants_colour(color.value)
    width = shutil.get_terminal_size((80, 24)).columns
    encoding = output_encoding()
    unicode = encoding.startswith("utf")
    return RenderOptions(colour, width, links=colour and follows_links(), unicode=unicode, encoding=encoding)


def write_listing(rows: Sequence[tuple[str, ...]], color: Color) -> None:
    """Write rows in columns: wrapped and coloured for a person, one line each for a pipe."""
    if _is_looked_at(color):
        from envdoctor.render.human.pages import listing

        write_out(listing(rows, reading_options(color)))
        return
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ("  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows)
    write_out("\n".join(lines) + "\n")


def write_document(kind: str, **values: object) -> None:
    """Write a JSON document that is no report, with the schema ``envdoctor.KIND/1``."""
    from envdoctor.render.plain_values import document

    write_out(document(kind, **values))


def write_page(text: str, color: Color, *, markdown: bool = False) -> None:
    """Write a text that is no report: wrapped and coloured for a person, as it is for a pipe."""
    if not _is_looked_at(color):
        write_out(f"{text.rstrip()}\n")
        return
    from envdoctor.render.human import pages

    write_out((pages.document if markdown else pages.outline)(text, reading_options(color)))


def _is_looked_at(color: Color) -> bool:
    return color is Color.ALWAYS or sys.stdout.isatty()


def _shown(root: str) -> str:
    """Return what stands before a path of the project that leads there from the current folder, as short as can be."""
    if not root:
        return ""
    folder = Path(root)
    try:
        shown = min(path_from_here(folder), folder, key=lambda each: len(str(each)))
    except OSError:  # The current folder is gone.
        shown = folder
    return "" if shown == Path() else f"{shown.as_posix().rstrip('/')}/"
