"""What is not known, and why: one form from the index, the probe and the reader to the report.

It holds no sentences but those of others (``cause``); its own are made in ``render/reasons``.
"""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING

from envdoctor.model.dataclass import dataclass

if TYPE_CHECKING:
    from envdoctor.model.origin import Origin

__all__ = ["Subject", "SubjectKind", "Unknown", "UnknownKind"]


class SubjectKind(enum.Enum):
    """What something is said of."""

    PACKAGE = "package"
    FILE = "file"
    INDEX = "index"
    DEVICE = "device"
    KERNEL = "kernel"
    VARIABLE = "variable"
    INTERPRETER = "interpreter"
    ENVIRONMENT = "environment"
    PROJECT = "project"
    PROGRAM = "program"
    LOG = "log"
    RULE = "rule"


@dataclass(frozen=True, slots=True)
class Subject:
    """One thing by its name."""

    kind: SubjectKind
    name: str = ""
    version: str = ""
    """Of a package, where it is about that one version."""


class UnknownKind(enum.Enum):
    """Why something is not known."""

    OFFLINE = "offline"
    """No index may be asked, and the cache does not have it."""
    UNREACHABLE = "unreachable"
    """An index, or the server of a file, gave no answer."""
    BAD_ANSWER = "bad-answer"
    """It gave one that is not what was asked for."""
    NO_METADATA = "no-metadata"
    """A file's metadata is not there to be read."""
    BAD_METADATA = "bad-metadata"
    """It is there, and cannot be read or believed."""
    ONLY_A_BUILD = "only-a-build"
    """Only building the file would tell; to ask again brings nothing."""
    DIRECT_REFERENCE = "direct-reference"
    """A file at a URL, which is not fetched."""
    IN_IMAGE = "in-image"
    """An image has it already, in a build that is not told, or that no index has; the cause is the image."""
    MARKER = "marker"
    """A marker that cannot be evaluated."""
    NO_REQUIREMENT = "no-requirement"
    """A line of metadata that is no requirement."""
    NOT_UNDERSTOOD = "not-understood"
    """A text that is in none of the forms that are read."""
    OTHER_INDEX = "other-index"
    """Its packages come from an index that the main list does not name: the subject."""
    MAIN_LIST = "main-list"
    """It is judged with the main list, and nobody asked for that."""
    NEWER_LEVEL = "newer-level"
    """Only with a newer glibc or macOS than is assumed has it a file, and nothing tells the target's."""
    PYTHON_NOT_JUDGED = "python-not-judged"
    """It cannot be had for the nearest Python that is judged for; whether it can for the project's is not known."""
    NOT_RUN = "not-run"
    """What it needs failed before: the subject is what is why."""
    SEARCH_GIVEN_UP = "search-given-up"
    UNSOUND = "unsound"
    """A resolution that fails its own check: there is a fault in the resolver."""


@dataclass(frozen=True, slots=True)
class Unknown:
    """One thing that is not known; equal where the same is unknown for the same reason."""

    kind: UnknownKind
    subject: Subject
    index: str = ""
    """The index that would tell."""
    url: str = ""
    """Where it was asked, without secrets."""
    file: str = ""
    """The file that would tell."""
    status: int | None = None
    """Of an HTTP answer that is none."""
    cause: str = ""
    """Words of the system, the server or the reader, which are shown and never read; else the level that is needed:
    ``glibc 2.31``."""
    demand: str = ""
    """The line that it is about, as it is written."""
    origin: Origin | None = None

    @property
    def is_of_all(self) -> bool:
        """Whether it is about a resolution, or the search for one, and about no name."""
        return self.kind in _OF_ALL

    def about(self, mark: str = "") -> str:
        """Return what it is about, with ``mark`` around each name."""
        name, demand = f"{mark}{self.subject.name}{mark}", f"{mark}{self.demand}{mark}"
        if self.is_of_all:
            return _OF_ALL[self.kind]
        if not self.demand:
            return f"{name} {self.subject.version}".strip()
        if self.subject.version:
            return f"{name} {self.subject.version} requires {demand}"
        return f"{demand} ({self.origin})" if self.origin else demand

    @property
    def is_of_an_index(self) -> bool:
        """Whether an index, or the server of a file, was to tell it and did not."""
        return self.kind in _OF_AN_INDEX

    @property
    def may_be_asked_again(self) -> bool:
        """Return whether another try, or an index that answers, may tell."""
        return self.kind in _AGAIN


_OF_ALL = {UnknownKind.SEARCH_GIVEN_UP: "the search gave up", UnknownKind.UNSOUND: "the resolution"}
_OF_AN_INDEX = frozenset({UnknownKind.OFFLINE, UnknownKind.UNREACHABLE, UnknownKind.BAD_ANSWER})
_AGAIN = _OF_AN_INDEX | {UnknownKind.NO_METADATA, UnknownKind.BAD_METADATA}
