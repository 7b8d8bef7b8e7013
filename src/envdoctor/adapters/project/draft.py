"""The draft that the readers of a project's files fill, what they hand each other with it, and their one error."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import field, replace
from pathlib import Path

from packaging.markers import Marker
from packaging.specifiers import SpecifierSet
from packaging.utils import NormalizedName
from packaging.version import Version

from envdoctor.adapters.project.decoding import (
    NotText,
    ProjectFileError,
    beyond_limits,
    decode,
    file_bytes,
    impostor,
    legible,
    overlong,
)
from envdoctor.adapters.project.submodules import in_empty_submodule
from envdoctor.model.compatibility import admitted_minors
from envdoctor.model.dataclass import dataclass
from envdoctor.model.index_url import bare_url, index_fault
from envdoctor.model.origin import FileOrigin
from envdoctor.model.project import (
    Brought,
    FileLeftOut,
    FileOption,
    GroupChoice,
    IndexOption,
    IndexOptionKind,
    InstallCommand,
    LeftOut,
    ReadingProblem,
    ReadingProblemKind,
)
from envdoctor.model.requirement import GroupName, Requirement, RequirementKind

__all__ = ["Circumstances", "Draft", "LocalProject", "ProjectFileError", "TextFile"]


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What a requirement takes from the place that asked for its file."""

    kind: RequirementKind = RequirementKind.REQUIRE
    group: GroupName | None = None
    step: int | None = None
    no_deps: bool = False
    index_url: str | None = None
    included_from: FileOrigin | None = None


@dataclass(frozen=True, slots=True)
class TextFile:
    """A file that was read; ``shown`` is its path relative to the project root."""

    path: Path
    shown: str
    text: str


@dataclass(frozen=True, slots=True)
class LocalProject:
    """A directory that a ``-e .`` line asks for, to be read as a project of its own."""

    directory: Path
    extras: tuple[str, ...]
    origin: FileOrigin
    circumstances: Circumstances
    text: str
    apart: GroupName | None = None
    """The group that names it, where nobody asked for that group."""


@dataclass(slots=True)
class Apart:
    """What was read of a group that nobody asked for."""

    requirements: list[Requirement] = field(default_factory=list)
    index_options: list[IndexOption] = field(default_factory=list)
    alone: bool = False


@dataclass(slots=True)
class Draft:
    """The project as far as it has been read."""

    root: Path
    boundary: Path
    """No file above this directory is opened because another file says so."""
    variables: Mapping[str, str]
    environment: Mapping[str, str] | None = None
    backend: str = ""
    choice: GroupChoice = GroupChoice()
    named: Path | None = None
    """The one file that the user names: without it there is nothing to judge."""
    name: str | None = None
    requirements: list[Requirement] = field(default_factory=list)
    overrides: list[Requirement] = field(default_factory=list)
    environments: list[tuple[Marker, FileOrigin]] = field(default_factory=list)
    problems: list[ReadingProblem] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    index_options: list[IndexOption] = field(default_factory=list)
    index_names: dict[str, str] = field(default_factory=dict)
    options: list[FileOption] = field(default_factory=list)
    commands: list[InstallCommand] = field(default_factory=list)
    removals: list[tuple[int, NormalizedName]] = field(default_factory=list)
    local_projects: list[LocalProject] = field(default_factory=list)
    requires_python: SpecifierSet | None = None
    requires_python_origin: FileOrigin | None = None
    environment_python: SpecifierSet | None = None
    environment_python_origin: FileOrigin | None = None
    environment_python_binds: bool = True
    """False where the file that says it decides nothing else."""
    brought: tuple[Brought, ...] = ()
    settings: dict[str, object] = field(default_factory=dict)
    identities: dict[Path, tuple[NormalizedName, Version | None]] = field(default_factory=dict)
    """Name and version that the folders of projects state, as far as they were read; no version that a build tells."""
    workspaces: dict[Path, Mapping[NormalizedName, Path]] = field(default_factory=dict)
    """Members by name, of the workspace with its root in a folder; to find them takes time."""
    members: tuple[Path, ...] = ()
    """Folders of the workspace that the project is the root of."""
    metadata_read: bool = False
    """Whether the project's own pyproject.toml, setup.cfg or setup.py has been read."""
    left_out: list[FileLeftOut] = field(default_factory=list)
    locked: dict[str, frozenset[NormalizedName]] = field(default_factory=dict)
    known_groups: dict[GroupName, None] = field(default_factory=dict)
    used_groups: dict[GroupName, None] = field(default_factory=dict)
    apart: dict[GroupName, Apart] = field(default_factory=dict)
    reading_apart: GroupName | None = None
    """The group that is being read and that nobody asked for: what is read now decides nothing."""
    asks_for_none: bool = False
    """A file says in so many words that there are no requirements: a ``[project]`` table without dependencies."""
    read_already: set[tuple[object, ...]] = field(default_factory=set)
    _texts: dict[Path, TextFile] = field(default_factory=dict)

    def shown(self, path: Path) -> str:
        """Return a path relative to the root with forward slashes; ``..`` where it lies beside it."""
        here = path.absolute()
        for ups, base in enumerate((self.root, *self.root.parents)):
            if here.is_relative_to(base):
                return "../" * ups + here.relative_to(base).as_posix()
            if base == self.boundary:
                break
        return here.as_posix()

    def files_read(self) -> frozenset[Path]:
        """Return the paths of the files that were read."""
        return frozenset(self._texts)

    def load(self, path: Path, *, json_refused: bool = True) -> TextFile:
        """Read a text file once. Raises ProjectFileError."""
        if path in self._texts:
            return self._texts[path]
        shown = self.shown(path)
        try:
            data = file_bytes(path, shown)
        except ProjectFileError as error:
            if not error.denied or path == self.named:
                raise
            self.deny(path)
            text_file = self._texts[path] = TextFile(path, shown, "")
            return text_file
        what = impostor(data, json_refused=json_refused)
        if what is not None:
            raise ProjectFileError(shown, 1, f"not what it claims to be: this is {what}")
        try:
            decoded = decode(data)
        except NotText as error:
            raise ProjectFileError(shown, None, f"not what it claims to be: {error}") from error
        if decoded.note:
            place = FileOrigin(shown, 1)
            encoding = ReadingProblem(ReadingProblemKind.ENCODING, place, decoded.note, harmless=decoded.mark_alone)
            self.keep_problem(encoding)
        text_file = TextFile(path, shown, decoded.text)
        self._texts[path] = text_file
        self.files.append(shown)
        return text_file

    def deny(self, path: Path, why: str | None = None) -> None:
        """Note a file or folder that this user may not read, or that cannot be: the rest is judged without it."""
        shown = self.shown(path)
        if any(one.path == shown for one in self.left_out):
            return
        self.left_out.append(FileLeftOut(shown, LeftOut.UNREADABLE if why else LeftOut.DENIED, why or ""))
        said = f"cannot be read ({why})" if why else "may not be read (permission denied)"
        message = f"`{shown}` {said}; what it asks for is not known"
        self.problem(ReadingProblemKind.UNREAD, FileOrigin(shown), message, shown)

    def is_denied(self, path: Path) -> bool:
        """Return whether this user may not read a file, and note it: no reader has to know an empty text."""
        try:
            if path != self.named and os.path.isfile(path):
                path.open("rb").close()
        except PermissionError:
            self.deny(path)
            return True
        except OSError:
            pass  # Its reader says what is wrong with it.
        return False

    def problem(
        self,
        kind: ReadingProblemKind,
        origin: FileOrigin,
        message: str,
        text: str = "",
        suggestions: tuple[str, ...] = (),
    ) -> None:
        """Note something that is reported while the rest goes on."""
        self.keep_problem(ReadingProblem(kind, origin, message, text, suggestions))

    def keep_problem(self, problem: ReadingProblem) -> None:
        """Keep a problem, with no more of a long line than can be looked at."""
        self.problems.append(replace(legible(problem), group=self.reading_apart))

    def add(self, read: Requirement | ReadingProblem, circumstances: Circumstances) -> None:
        """Keep a requirement, with its circumstances, or the problem that stands in its place."""
        if isinstance(read, ReadingProblem):
            nameless = read.nameless and _standing(read.nameless, circumstances)
            self.keep_problem(replace(read, nameless=nameless))
            return
        too_long = overlong(read.specifier)
        if too_long is not None and isinstance(read.origin, FileOrigin):
            message = f"`{read}` is not a valid requirement: {too_long}"
            self.problem(ReadingProblemKind.INVALID_REQUIREMENT, read.origin, message, str(read))
            return
        kept = self.requirements if self.reading_apart is None else self.apart[self.reading_apart].requirements
        kept.append(_standing(read, circumstances))

    def add_index(self, kind: IndexOptionKind, url: str, origin: FileOrigin, step: int | None = None) -> None:
        """Keep an index option, or the problem of a URL that nobody could open."""
        fault = index_fault(url)
        if fault is not None:
            self.problem(
                ReadingProblemKind.INVALID_URL,
                origin,
                f"`{bare_url(url)}` is not the URL of an index: {fault}",
                bare_url(url),
            )
            return
        self.keep_index(IndexOption(kind, url, origin, step))

    def name_index(self, url: str, name: object) -> None:
        """Remember what a file calls the index of a URL; the first name counts."""
        if isinstance(name, str) and name:
            self.index_names.setdefault(url, name)

    def keep_index(self, option: IndexOption) -> None:
        """Keep an index option, of the project or of the group that is being read."""
        apart = self.apart.get(self.reading_apart) if self.reading_apart else None
        (self.index_options if apart is None else apart.index_options).append(option)

    def keep_option(self, option: FileOption) -> None:
        """Keep another option of pip, unless it stands in a group that decides nothing."""
        if self.reading_apart is None:
            self.options.append(option)

    @contextmanager
    def reading(self, group: GroupName, *, asked: bool) -> Iterator[None]:
        """Read a group: with the main list where it is asked for, else apart from it."""
        before = self.reading_apart
        if asked and before is None:
            self.used_groups[group] = None
        elif not asked and before is None:
            self.apart.setdefault(group, Apart())
            self.reading_apart = group
        try:
            yield
        finally:
            self.reading_apart = before

    def identify(self, folder: Path, name: NormalizedName | None, version: Version | None) -> None:
        """Keep what a folder's project is called; the first file that says it has the word."""
        if name is not None:
            self.identities.setdefault(folder, (name, version))

    def set_python(self, text: str, origin: FileOrigin) -> None:
        """Keep a ``requires-python``; the first file that says one has the word."""
        try:
            specifier = SpecifierSet("" if beyond_limits(text) else text)
        except ValueError:
            specifier = None
        if specifier is None or beyond_limits(text) or overlong(specifier):
            message = f"`{text}` is not a version specifier for Python"
            self.problem(ReadingProblemKind.INVALID_REQUIREMENT, origin, message, text)
            return
        if self.requires_python is None:
            self.requires_python, self.requires_python_origin = specifier, origin

    def set_environment_python(self, specifier: SpecifierSet, origin: FileOrigin, *, binds: bool = True) -> None:
        """Keep the Python that an environment is made with: the first file that says one has the word.

        All lines of one file hold together. ``binds``: the project asks for no other Python than that.
        """
        before, where = self.environment_python, self.environment_python_origin
        if not str(specifier):
            return
        if before is None or where is None:
            self.environment_python, self.environment_python_origin = specifier, origin
            self.environment_python_binds = binds and self.reading_apart is None
        elif where.path == origin.path:
            self.environment_python, self.environment_python_origin = before & specifier, origin

    def python_bound(self) -> tuple[SpecifierSet | None, FileOrigin | None]:
        """Return what the project asks of a Python, and where: ``requires-python`` and a conda file's line together."""
        asked = self.requires_python
        conda = self.environment_python if self.environment_python_binds else None
        if asked is None or conda is None:
            return (asked, self.requires_python_origin) if conda is None else (conda, self.environment_python_origin)
        both = asked & conda
        narrower = admitted_minors(both) != admitted_minors(asked)
        return both, self.environment_python_origin if narrower else self.requires_python_origin

    def included(self, reference: str, base: Path, origin: FileOrigin, text: str) -> Path | None:
        """Find the file that another file names; None, and a problem, where it may not or cannot be opened."""
        written = Path(reference.replace("\\", "/"))
        try:
            path = (base / written).resolve()
            inside = path.is_relative_to(self.boundary)
            there = inside and path.is_file()
        except (OSError, RuntimeError, ValueError):
            inside, there, path = True, False, base / "invalid"
        if not inside:
            message = f"`{reference}` lies outside the project and is not read"
            self.problem(ReadingProblemKind.OUTSIDE_PROJECT, origin, message, text)
            return None
        if not there:
            message = in_empty_submodule(self.boundary, path, reference) or f"there is no file `{reference}`"
            self.problem(ReadingProblemKind.MISSING_FILE, origin, message, text)
            return None
        return path


def _standing(read: Requirement, circumstances: Circumstances) -> Requirement:
    return replace(
        read,
        kind=circumstances.kind,
        group=circumstances.group,
        step=circumstances.step,
        no_deps=circumstances.no_deps,
        index_url=read.index_url or circumstances.index_url,
    )
