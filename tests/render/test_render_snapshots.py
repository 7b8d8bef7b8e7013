"""Whole outputs: every report as JSON, which holds all that it says, and three that need every part of the others.

Of a page that is its body: style and script are files of their own, and say nothing of a report.

Set ``ENVDOCTOR_WRITE_SNAPSHOTS=1`` to write the files anew, then read the difference.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from render_reports import REPORTS

from envdoctor.render import FORMATS, RenderOptions, render

SNAPSHOTS = Path(__file__).parent / "snapshots"
SUFFIXES = {"human": "txt", "github": "github.txt", "junit": "junit.xml", "sarif": "sarif.json", "markdown": "md"}
VARIANTS = {
    "human-narrow-ascii": ("human", RenderOptions(width=40, unicode=False)),
    "human-colour-verbose": ("human", RenderOptions(width=100, colour=True, verbose=True, show_waived=True)),
    "markdown-verbose": ("markdown", RenderOptions(verbose=True, show_waived=True)),
}
VERSIONED = {"json": "json_document", "sarif": "sarif", "html": "html_page"}
SHOWN_IN_ALL = ("xtts", "nasty", "finding_kinds")
CASES = {name: (name, RenderOptions()) for name in FORMATS} | VARIANTS


def check_snapshot(path: Path, text: str) -> None:
    if os.environ.get("ENVDOCTOR_WRITE_SNAPSHOTS"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode("utf-8"))
    assert path.exists(), f"no snapshot {path.name}; write it with ENVDOCTOR_WRITE_SNAPSHOTS=1"
    assert text == path.read_bytes().decode("utf-8")


@pytest.mark.parametrize(
    ("name", "case"), [(name, case) for name in REPORTS for case in CASES if case == "json" or name in SHOWN_IN_ALL]
)
def test_whole_output_is_as_recorded(name: str, case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    format_, options = CASES[case]
    if format_ in VERSIONED:
        monkeypatch.setattr(f"envdoctor.render.{VERSIONED[format_]}.__version__", "0.0.0")
    suffix = SUFFIXES.get(format_, format_)
    text = render(REPORTS[name], format_, options=options)
    check_snapshot(SNAPSHOTS / case / f"{name}.{suffix}", _body(text) if format_ == "html" else text)


def _body(page: str) -> str:
    """Return what a page says, without what every page is dressed in."""
    _, body, rest = page.partition("<body>\n")
    said, script, _ = rest.partition("<script>")
    assert body
    assert script
    return said
