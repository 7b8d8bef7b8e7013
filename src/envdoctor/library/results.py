"""What the library's verbs return and raise."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field, fields
from typing import Any, Literal, TypeAlias, TypeVar, get_args

from envdoctor.model import report as model
from envdoctor.model.dataclass import dataclass
from envdoctor.render import RenderOptions, UnknownFormat, render
from envdoctor.render.json_document import report_dict
from envdoctor.render.reasons import worded
from envdoctor.render.untrusted import cleaned
from envdoctor.verbs.told_beside import told_beside

__all__ = ["WRONG_USE", "Error", "FormatName", "Lock", "Report", "as_kind", "listed"]

FormatName: TypeAlias = Literal["human", "json", "sarif", "junit", "github", "markdown", "html"]

WRONG_USE = 2


class Error(Exception):
    """What was asked for cannot be done; ``str`` of it is what the command line says.

    ``messages``: one for each thing that is wrong. ``exit_code``: that of the command line: 2 for wrong arguments and
    files that are not what they claim to be, 1 for requirements that cannot be locked, 3 where something is not known.
    """

    def __init__(self, messages: Sequence[str], exit_code: int, report: Report | None = None) -> None:
        super().__init__("\n".join(messages))
        self.messages = tuple(messages)
        self.exit_code = exit_code
        self.report = report
        """What was found, where requirements were refused a lock."""


@dataclass(frozen=True, slots=True)
class Report(model.Report):
    """What was found, as values; ``to_dict`` and ``text`` write it as the command line does."""

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON report (``envdoctor.report/1``) as Python values; ``envdoctor.schema()`` describes it."""
        return report_dict(self)

    def text(self, format: FormatName = "human", *, width: int = 80) -> str:  # noqa: A002 - the option's own name
        """Return the report in a format of ``--format``, without colours, ``width`` columns wide where that counts.

        Raises Error for another format.
        """
        try:
            return render(self, format, options=RenderOptions(width=width, **told_beside(self, format)))
        except UnknownFormat as error:
            raise Error((str(error),), WRONG_USE) from error

    def exit_code(self, fail_on: model.FailOn = "error") -> int:
        """Return what the command line would exit with: 0, 1, or 3 where not everything could be looked at.

        Raises Error for what ``--fail-on`` does not know.
        """
        if fail_on not in get_args(model.FailOn):
            raise Error((f"fail_on: `{fail_on}` is not one of {listed(get_args(model.FailOn))}",), WRONG_USE)
        return model.exit_code(self, fail_on)

    def _repr_html_(self) -> str:
        """Return the report as a notebook shows it: the page of ``--format html`` in a frame of its own."""
        from html import escape

        page = escape(self.text("html"), quote=True)
        return f'<iframe srcdoc="{page}" title="envdoctor" style="width: 100%; height: 40em; border: 0"></iframe>'


@dataclass(frozen=True, slots=True)
class Lock(Report):
    """The report of what was locked, and the files."""

    files: Mapping[str, str] = field(default_factory=dict)
    """The text of each file by its name; empty where the lock on disk still holds and no index may be asked."""
    changed: tuple[str, ...] = ()
    """Names of the files that were missing or different; with ``write`` they are written now."""


_Kind = TypeVar("_Kind", bound=Report)


def as_kind(kind: Callable[..., _Kind], report: model.Report) -> _Kind:
    """Return the report with its reasons in words, and nothing hidden in what packages supplied."""
    told = cleaned(worded(report))
    return kind(**{item.name: getattr(told, item.name) for item in fields(model.Report)})


def listed(values: Iterable[object]) -> str:
    """Return values in backticks, with commas."""
    return ", ".join(f"`{value}`" for value in values)
