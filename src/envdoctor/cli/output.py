"""Where a project lies within its repository: annotations and SARIF name files from the repository's root."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from envdoctor.adapters.written_files import write_file
from envdoctor.cli.options import FailOn, Format
from envdoctor.cli.streams import write_out
from envdoctor.model.report import exit_code

if TYPE_CHECKING:
    from envdoctor.model.report import Report

__all__ = ["place_in_repository", "write_report"]


def place_in_repository(project: Path) -> str | None:
    """Return the project's folder relative to the root of its repository, with forward slashes; None for the root.

    The root is the closest folder upwards with a ``.git`` in it; where there is none, the folder that a CI job names
    (``GITHUB_WORKSPACE``, ``CI_PROJECT_DIR``), else the current one. None also where the project is not below it.
    """
    try:
        folder = (project if project.is_dir() else project.parent).resolve()
    except OSError:
        # The current folder is gone.
        return None
    above = next((each for each in (folder, *folder.parents) if os.path.exists(each / ".git")), None)
    named = os.environ.get("GITHUB_WORKSPACE") or os.environ.get("CI_PROJECT_DIR")
    root = above or Path(named or ".").resolve()
    if folder == root or not folder.is_relative_to(root):
        return None
    return folder.relative_to(root).as_posix()


_WIDEST = 100


def write_report(
    report: Report,
    *,
    format: Format,  # noqa: A002 - the option's own name
    output: Path | None,
    fail_on: FailOn,
    verbose: bool = False,
    show_waived: bool = False,
    root: str | None = None,
) -> int:
    """Write the report and return the exit code of the command."""
    from envdoctor.render import RenderOptions, render

    options = RenderOptions(
        colour=output is None and _wants_colour(),
        width=_width() if output is None else _WIDEST,
        unicode=output is not None or _speaks_unicode(),
        verbose=verbose,
        show_waived=show_waived,
        project_root=root,
        fail_on=fail_on.value,
        rule_summaries=_summaries(report) if format in (Format.SARIF, Format.HTML) else {},
    )
    text = render(report, format.value, options=options)
    text = text if text.endswith("\n") else text + "\n"
    code = exit_code(report, fail_on.value)
    if output is not None:
        write_file(output, text)
    else:
        write_out(text)
    return code


def _summaries(report: Report) -> dict[str, str]:
    from envdoctor.diagnose.rulebook import rule

    codes = {finding.rule for finding in report.findings}
    known = {code: rule(code) for code in sorted(codes)}
    return {code: found.summary for code, found in known.items() if found is not None}


def _wants_colour() -> bool:
    """Return whether colours are shown: on a terminal, unless ``NO_COLOR`` is set; elsewhere where ``FORCE_COLOR`` is.

    Source: https://no-color.org and https://force-color.org; a variable that is set to nothing counts as not set.
    """
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR", "0") not in ("", "0"):
        return True
    return sys.stdout.isatty() and os.environ.get("TERM") != "dumb"


def _width() -> int:
    return min(_WIDEST, shutil.get_terminal_size((80, 24)).columns)


def _speaks_unicode() -> bool:
    encoding = (getattr(sys.stdout, "encoding", None) or "ascii").lower().replace("-", "")
    return encoding.startswith("utf")
