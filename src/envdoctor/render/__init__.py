"""One module per report format: text out of a Report, and nothing else read or written."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Literal, cast

from envdoctor.model.dataclass import dataclass

if TYPE_CHECKING:
    from envdoctor.model.repair import FileChange
    from envdoctor.model.report import Report

__all__ = ["FORMATS", "RenderOptions", "UnknownFormat", "render"]

# Each module is imported when its format is asked for: a hook that wants JSON loads no XML writer.
_MODULES = {
    "human": "envdoctor.render.human",
    "json": "envdoctor.render.json_document",
    "sarif": "envdoctor.render.sarif",
    "junit": "envdoctor.render.junit",
    "github": "envdoctor.render.github",
    "markdown": "envdoctor.render.markdown",
    "html": "envdoctor.render.html_page",
}

FORMATS: tuple[str, ...] = tuple(_MODULES)
"""Names that ``render`` and ``--format`` accept."""


class UnknownFormat(ValueError):
    """No renderer has that name."""

    def __init__(self, name: str) -> None:
        super().__init__(f"no format `{name}`; there are {', '.join(f'`{item}`' for item in FORMATS)}")
        self.name = name


@dataclass(frozen=True, slots=True)
class RenderOptions:
    """What the place that will show the text can do, and how much of it is wanted."""

    colour: bool = False
    """ANSI colours (``human`` alone); the caller has looked at ``NO_COLOR`` and at whether stdout is a terminal."""
    width: int = 80
    """Columns of the terminal; ``human`` uses from 40 to 200 of them, and for running text no more than 100."""
    links: bool = False
    """Whether places and addresses are links (OSC 8; ``human`` alone, and with colours)."""
    folder: str | None = None
    """The folder that places in the report are relative to, for links."""
    private: tuple[tuple[str, str], ...] = ()
    """Folders of who runs this, each with what a page for others (``html``) writes in its place."""
    date: str = ""
    """The day on which the report was made, for pages that are kept (``html``)."""
    folder_shown: str = ""
    """What ``human`` writes before such a path, so that it leads there from where the reader stands."""
    unicode: bool = True
    """False: ASCII alone."""
    encoding: str = "ascii"
    """Where ``unicode`` is false, letters that this encoding has stay as they are (``human`` alone)."""
    verbose: bool = False
    """Unfold what is folded."""
    show_waived: bool = False
    """List accepted findings too, in the formats made for reading; those for machines always carry them."""
    project_root: str | None = None
    """Prefix of the project inside the repository (``services/tts``), for formats that point at repository files."""
    fail_on: Literal["error", "warning", "never"] = "error"
    """What counts as a failure, for formats that tell failures from the rest (``junit``)."""
    rule_summaries: Mapping[str, str] = field(default_factory=dict)
    """One sentence for each rule code, for formats that carry a catalogue of rules (``sarif``)."""
    rule_pages: Mapping[str, str] = field(default_factory=dict)
    """The documentation in Markdown of each rule code, and of each advisory by its id (``sarif``)."""
    repair_changes: Mapping[str, tuple[FileChange, ...]] = field(default_factory=dict)
    """What each repair changes in the project's files, by its id, for formats that offer it (``sarif``, ``html``)."""


def render(report: Report, format: str, *, options: RenderOptions | None = None) -> str:  # noqa: A002
    """Return ``report`` as text that ends with a newline.

    Reasons get their words here, before any format has its say.
    Text that comes from packages is cleaned of control characters and escape sequences first, whatever the format.
    Raises UnknownFormat.
    """
    from envdoctor.render.reasons import worded
    from envdoctor.render.untrusted import cleaned

    if format not in _MODULES:
        raise UnknownFormat(format)
    module = importlib.import_module(_MODULES[format])
    return cast("str", module.render(cleaned(worded(report)), options or RenderOptions()))
