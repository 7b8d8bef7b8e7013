"""A project as its files describe it."""

from __future__ import annotations

import enum
from dataclasses import field
from typing import TYPE_CHECKING

from envdoctor.model.compatibility import nearest_beyond
from envdoctor.model.dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping

    from packaging.markers import Marker
    from packaging.specifiers import SpecifierSet
    from packaging.utils import NormalizedName
    from packaging.version import Version

    from envdoctor.model.origin import FileOrigin
    from envdoctor.model.profile import Exclusion
    from envdoctor.model.requirement import GroupName, Requirement
    from envdoctor.model.target import Target

__all__ = [
    "BUILD_ISOLATION",
    "NO_BUILD_ISOLATION",
    "Brought",
    "FileLeftOut",
    "FileOption",
    "Group",
    "GroupChoice",
    "IndexOption",
    "IndexOptionKind",
    "InstallCommand",
    "LeftOut",
    "Project",
    "ReadingProblem",
    "ReadingProblemKind",
    "Repository",
    "SourceFile",
    "pips_isolation",
    "says_yes",
]


class ReadingProblemKind(enum.Enum):
    """What was wrong with a line or a file that could still be read further."""

    INVALID_REQUIREMENT = "invalid-requirement"
    """A line that is not a requirement: ``httpx==0.23.``"""
    UNKNOWN_OPTION = "unknown-option"
    """A line that pip refuses because of its options."""
    MISSING_FILE = "missing-file"
    """``-r`` or ``-c`` of a file that is not there."""
    MISSING_VARIABLE = "missing-variable"
    """``${NAME}`` that is not set."""
    ENCODING = "encoding"
    """UTF-16, a byte order mark, or bytes that had to be read as Latin-1."""
    DYNAMIC = "dynamic"
    """Requirements that only running code would tell (``setup.py``, ``dynamic = ["dependencies"]``)."""
    UNSUPPORTED = "unsupported"
    """A form that is understood but says nothing about versions (a local path, a VCS reference without metadata)."""
    OF_CONDA = "of-conda"
    """A package that conda's channels have and no Python index."""
    OUTSIDE_PROJECT = "outside-project"
    UNREAD = "unread"
    """A reference whose requirements are not known here: a remote file, a VCS URL, a local path that is not there."""
    IGNORED_OPTION = "ignored-option"
    """An option that pip accepts and then leaves aside, because of where it stands."""
    UNKNOWN_EXTRA = "unknown-extra"
    """An extra that the project does not define."""
    INVALID_URL = "invalid-url"
    """An index option whose URL nobody could open."""
    EMPTY = "empty"
    """Files that ask for nothing."""


@dataclass(frozen=True, slots=True)
class ReadingProblem:
    """Something in a project's file that is reported; the rest was read."""

    kind: ReadingProblemKind
    origin: FileOrigin
    message: str
    text: str = ""
    """The line as it stands."""
    suggestions: tuple[str, ...] = ()
    """What may have been meant; to ask, never to assume."""
    unexplained: bool = False
    """The message says that the text is invalid, and of the cause what a parser says."""
    harmless: bool = False
    """What was read is right all the same, in every tool but a few old ones."""
    group: GroupName | None = None
    """The group it stands in, where nobody asked for that group."""
    nameless: Requirement | None = None
    """Of a URL that does not tell its project: the requirement but for its name, which is empty."""


class IndexOptionKind(enum.Enum):
    """pip's options that name where packages come from."""

    INDEX_URL = "index-url"
    EXTRA_INDEX_URL = "extra-index-url"
    FIND_LINKS = "find-links"
    NO_INDEX = "no-index"


@dataclass(frozen=True, slots=True)
class IndexOption:
    """An index option of a file or of a pip command."""

    kind: IndexOptionKind
    url: str
    origin: FileOrigin
    step: int | None = None
    """The install command it belongs to; None: the whole file."""


NO_BUILD_ISOLATION, BUILD_ISOLATION = "no-build-isolation", "build-isolation"
_YES, _NO = frozenset({"y", "yes", "t", "true", "on", "1"}), frozenset({"n", "no", "f", "false", "off", "0"})


def pips_isolation(value: str) -> bool | None:
    """Return whether pip isolates builds by the value of ``PIP_NO_BUILD_ISOLATION``, None where it says neither.

    The value is that of isolation itself, and not of the option's name: ``0``, ``false``, ``no`` and ``off`` switch it
    off, ``1`` and ``yes`` leave it on, in pip's files too. So it is in pip 22.0, 23.2 and 26.3 (pip's issue 5735).
    """
    return True if says_yes(value) else False if value.strip().lower() in _NO else None


def says_yes(value: str) -> bool:
    """Return whether a variable or setting of pip or uv that is on or off is on."""
    return value.strip().lower() in _YES


@dataclass(frozen=True, slots=True)
class FileOption:
    """Another option of pip that a file or a command sets, and that bears on what may be chosen."""

    name: str
    """``pre``, ``prefer-binary``, ``require-hashes``, ``no-binary``, ``only-binary``, ``trusted-host``,
    ``no-build-isolation``, ``build-isolation`` (with the value that leaves it on), uv's ``extra-build-dependencies``,
    and the limits of ``model.upload_limit``."""
    value: str
    """Empty for a switch; ``no-build-isolation`` may name one package; of uv's, the package and what is
    added to its build requirements, or the package or index and its limit, with a space between."""
    origin: FileOrigin
    step: int | None = None


@dataclass(frozen=True, slots=True)
class InstallCommand:
    """A ``pip``, ``uv pip`` or ``conda`` command found in a script, in the order of the file."""

    step: int
    verb: str
    """``install`` or ``uninstall``."""
    arguments: tuple[str, ...]
    origin: FileOrigin
    requirement_files: tuple[str, ...] = ()
    quiet: bool = False
    checked: bool = True
    """False where the script goes on after the command has failed."""
    no_deps: bool = False
    upgrade: bool = False
    tool: str = "pip"
    """What installs: ``pip``, ``uv``, ``conda``, ``mamba``; or another, by its name."""
    called: tuple[FileOrigin, ...] = ()
    """Where the script that it stands in is run from another one."""
    torch_there: bool = False
    """It starts from an image that may have torch: its name says so, or is told only where the image is built."""

    @property
    def said(self) -> str:
        """The command in one line, as its tool is called."""
        return " ".join(("uv pip" if self.tool == "uv" else self.tool, *self.arguments))


@dataclass(frozen=True, slots=True)
class GroupChoice:
    """Which lists beside the main one decide with it."""

    extras: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    either: tuple[str, ...] = ()
    """Names of extras or groups: ``[tool.envdoctor] groups`` does not tell them apart."""
    only: tuple[str, ...] = ()
    """Groups that decide without the main list."""
    all_groups: bool = False


@dataclass(frozen=True, slots=True)
class Group:
    """A list beside the main one that nobody asked for: it is judged with the main list, and decides nothing."""

    name: GroupName
    requirements: tuple[Requirement, ...] = ()
    index_options: tuple[IndexOption, ...] = ()
    """Indexes that only it names."""
    alone: bool = False
    """It is judged without the main list: a list for another machine, or of another tool."""


class LeftOut(enum.Enum):
    """Why a file that lies there, or a line of a script, was not judged; the value says it to a reader."""

    OTHERS_NAMED = "other files are named in its place"
    ANOTHER_SYSTEM = "a script for another system"
    SCRIPT = "a script beside a list that says what is needed"
    LAUNCHER = "a script that starts the program and installs by itself"
    BRANCH = "in a branch of the script that excludes the one that is judged"
    FALLBACK = "runs only where an install before it has failed"
    STAGE = "in a stage of which the image takes nothing"
    IMAGE = "says how an image is built"
    NOTEBOOK = "a notebook beside a list that says what is needed"
    NESTED = "of a project inside the project"
    SEVERAL_CONSTRAINTS = "one of several constraints files"
    ANOTHER_TARGET = "a lock for another target"
    WRITTEN_BY_LOCK = "says what came out of a lock"
    OTHER_CONSTRAINTS = "constraints under a name of their own, which no list names"
    COMPILED = "the file compiled from it is read"
    TOO_MANY = "there are too many lists beside it"
    UNREADABLE = "cannot be read"
    DENIED = "permission denied"


@dataclass(frozen=True, slots=True)
class FileLeftOut:
    """A file, or a line of a script, that says what is needed, and that was seen and not judged."""

    path: str
    reason: LeftOut
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Repository:
    """What the repository of a VCS URL says of its project at that ref, without being built."""

    name: str | None = None
    version: str | None = None
    """None where only a build would tell it."""
    requirements: tuple[Requirement, ...] = ()
    """Of the main list; those of an extra carry it as their group."""
    pythons: SpecifierSet | None = None
    files: tuple[str, ...] = ()
    """URLs of the files that were read."""
    reason: str = ""
    """Why its requirements are not known; empty where they are."""


@dataclass(frozen=True, slots=True)
class Brought:
    """A distribution that an image has before a Dockerfile's first command."""

    name: NormalizedName
    image: str
    """The image as its line names it."""
    origin: FileOrigin
    version: Version | None = None
    """None where nothing tells it."""
    below: Version | None = None
    """It is older than this, where nothing tells which it is."""
    label: str = ""
    """The local label of that build, ``cu121``; empty where nothing tells it."""
    in_index: bool = False
    """The default index's wheel of that version for the target can stand for it."""


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A source file of the project."""

    path: str
    """Relative to the project root, forward slashes."""
    text: str


@dataclass(frozen=True, slots=True)
class Project:
    """Everything that was read of a project."""

    root: str
    """Directory that paths are relative to."""
    name: str | None = None
    requirements: tuple[Requirement, ...] = ()
    problems: tuple[ReadingProblem, ...] = ()
    files: tuple[str, ...] = ()
    """Files that were read, in order."""
    index_options: tuple[IndexOption, ...] = ()
    index_names: Mapping[str, str] = field(default_factory=dict)
    """What the files call the index of a URL, where they give it a name (``[[tool.uv.index]]``, sources of Poetry)."""
    substitutes: tuple[Exclusion, ...] = ()
    """What another distribution stands in for, as a person has asked: typed, or kept by the lock."""
    commands: tuple[InstallCommand, ...] = ()
    requires_python: SpecifierSet | None = None
    requires_python_origin: FileOrigin | None = None
    environment_python: SpecifierSet | None = None
    """The Python that a file makes an environment with (conda's, a Pipfile, ``.python-version``, a Dockerfile's image):
    what the project runs on, where nobody says otherwise."""
    environment_python_origin: FileOrigin | None = None
    duplicates: tuple[tuple[Requirement, Requirement], ...] = field(default=())
    """Pairs of lines that say the same thing twice: the first, and the one that repeats it."""
    settings: dict[str, object] = field(default_factory=dict, compare=False)
    """The ``[tool.envdoctor]`` table of pyproject.toml."""
    options: tuple[FileOption, ...] = ()
    overrides: tuple[Requirement, ...] = ()
    """``[tool.uv] override-dependencies``: what the project itself sets aside, on purpose."""
    superseded: tuple[Requirement, ...] = ()
    """Requirements of a script's earlier step whose package a later step uninstalls; no longer in force."""
    environments: tuple[tuple[Marker, FileOrigin], ...] = ()
    """``[tool.uv] environments``: the targets that the project is resolved for; none: all of them."""
    locked: Mapping[str, frozenset[NormalizedName]] = field(default_factory=dict)
    """Locks that were read as lists, each with every name in it, also of what comes from no index."""
    left_out: tuple[FileLeftOut, ...] = ()
    """Files that say what is needed and were not read."""
    unread: tuple[str, ...] = ()
    """References and files whose requirements could not be read: the diagnosis is not complete."""
    groups: tuple[Group, ...] = ()
    """Extras, dependency groups and files that nobody asked for."""
    asked: tuple[GroupName, ...] = ()
    """Those that decide with the main list."""
    described: tuple[tuple[str, Repository], ...] = ()
    """URLs of direct references, each with what its repository says."""
    brought: tuple[Brought, ...] = ()
    """What the image of the Dockerfile that is judged has already; an installer leaves it where it fits."""
    duplicates_left_out: int = 0
    """Repeated lines beyond those in ``duplicates``."""

    @property
    def chosen_python(self) -> tuple[SpecifierSet | None, FileOrigin | None]:
        """The Python that the files choose, and where: their environment's; a bound that admits none that is judged."""
        bound = self.requires_python
        if self.environment_python is None and bound is not None and nearest_beyond(bound):
            return bound, self.requires_python_origin
        return self.environment_python, self.environment_python_origin

    def unjudged_on(self, target: Target) -> bool:
        """Return whether the files choose a Python for which nothing is judged, and not only propose it."""
        wanted, where = self.chosen_python
        binds = where == self.requires_python_origin or target.python_assumed
        return wanted is not None and binds and nearest_beyond(wanted) is not None

    def lock_of(self, requirement: Requirement) -> str | None:
        """Return the lock that pins a requirement, None where a person wrote it."""
        path = getattr(requirement.origin, "path", None)
        return path if path in self.locked else None
