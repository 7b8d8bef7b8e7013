"""Requirements files, with the files and local projects that they name, read into the draft as pip reads them."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path

from envdoctor.adapters.project.decoding import DEEPEST_INCLUDES
from envdoctor.adapters.project.draft import Circumstances, Draft, LocalProject
from envdoctor.adapters.project.requirement_lines import (
    InvalidOptions,
    LineOptions,
    LogicalLine,
    expand,
    logical_lines,
    parse_options,
    split_options,
)
from envdoctor.adapters.project.specification import local_path, looks_like_path, names_itself, parse_line, split_extras
from envdoctor.adapters.project.submodules import in_empty_submodule
from envdoctor.model.dataclass import dataclass
from envdoctor.model.origin import FileOrigin
from envdoctor.model.project import FileOption, IndexOption, IndexOptionKind, ReadingProblemKind
from envdoctor.model.requirement import RequirementKind

__all__ = [
    "PROJECT_FILES",
    "Reference",
    "add_requirement",
    "include_requirements",
    "is_project",
    "read_requirement_text",
    "read_requirements_file",
]

_CONDITION = re.compile(r"^;?[\s(]*(?:sys_platform|platform_\w+|python_\w+|os_name|implementation_\w+|extra)\b")
PROJECT_FILES = ("pyproject.toml", "setup.cfg", "setup.py")


@dataclass(frozen=True, slots=True)
class Reference:
    """A path as a line names it, relative to ``directory``."""

    text: str
    directory: Path
    origin: FileOrigin
    circumstances: Circumstances
    written: str
    editable: bool = False

    @property
    def of_script(self) -> bool:
        """Return whether a script names it: its folders may come into being only when it runs."""
        return self.circumstances.step is not None


def is_project(folder: Path) -> bool:
    """Return whether pip could install a folder."""
    return any(os.path.isfile(folder / name) for name in PROJECT_FILES)


def read_local_reference(draft: Draft, reference: Reference) -> bool:
    """Keep the local project, or a problem. False where the path tells its project by its name, or is an archive."""
    body, extras = split_extras(reference.text.partition(";")[0])
    try:
        found = (reference.directory / body.replace("\\", "/")).resolve()
        inside = found.is_relative_to(draft.boundary)
        folder, there = inside and found.is_dir(), inside and found.exists()
    except (OSError, RuntimeError, ValueError):
        return False
    if folder and is_project(found):
        draft.local_projects.append(
            LocalProject(
                found, extras, reference.origin, reference.circumstances, reference.written, draft.reading_apart
            )
        )
        return True
    if names_itself(body) or body.lower().endswith(".whl") or (there and not folder):
        return False
    gone = not os.path.exists(found)
    message = in_empty_submodule(draft.boundary, found, body) if gone or folder else None
    if message is not None:
        kind = ReadingProblemKind.UNREAD if reference.of_script else ReadingProblemKind.MISSING_FILE
        draft.problem(kind, reference.origin, message, reference.written)
        return True
    kind, message = _fault(body, reference, inside=inside, folder=folder, gone=gone)
    draft.problem(kind, reference.origin, message, reference.written)
    return True


def _fault(
    body: str, reference: Reference, *, inside: bool, folder: bool, gone: bool
) -> tuple[ReadingProblemKind, str]:
    if reference.of_script:
        message = f"`{body}` is not a project in this checkout; its requirements are not known"
        return ReadingProblemKind.UNREAD, message
    if folder:
        message = f"the directory `{body}` has no pyproject.toml and no setup.py, so pip cannot install it"
        return ReadingProblemKind.INVALID_REQUIREMENT, message
    if not looks_like_path(body) and not reference.editable:
        message = f"`{body}` is neither a requirement nor a path that is there"
        return ReadingProblemKind.INVALID_REQUIREMENT, message
    if gone and body.startswith(".") and ";" not in reference.text:
        what = "directory" if reference.editable else "file or directory"
        return ReadingProblemKind.MISSING_FILE, f"there is no {what} `{body}`, so pip cannot install it"
    if not inside:
        return ReadingProblemKind.OUTSIDE_PROJECT, f"`{body}` lies outside the project and is not read"
    if reference.editable:
        return ReadingProblemKind.MISSING_FILE, f"there is no directory `{body}`"
    return ReadingProblemKind.UNREAD, f"there is no `{body}` here; its requirements are not known"


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a line stands and what it inherits."""

    directory: Path
    origin: FileOrigin
    circumstances: Circumstances
    chain: tuple[Path, ...]
    raw: str


def read_requirements_file(
    draft: Draft, path: Path, circumstances: Circumstances, chain: tuple[Path, ...] = ()
) -> None:
    """Read a file and what it includes into the draft. Raises ProjectFileError."""
    identity = path.resolve()
    key = (identity, circumstances.kind, circumstances.step, circumstances.group, draft.reading_apart)
    if key in draft.read_already:
        return
    draft.read_already.add(key)
    file = draft.load(path)
    for line in logical_lines(file.text):
        origin = FileOrigin(file.shown, line.number, circumstances.included_from)
        place = _Place(path.parent, origin, circumstances, (*chain, identity), line.text)
        _read_line(draft, line, place)


def read_requirement_text(
    draft: Draft, text: str, directory: Path, origin: FileOrigin, circumstances: Circumstances
) -> None:
    """Read one line in pip's form that stands in another file. Raises ProjectFileError for a file it includes."""
    for line in logical_lines(text):
        _read_line(draft, line, _Place(directory, origin, circumstances, (), line.text))


def include_requirements(
    draft: Draft, reference: str, directory: Path, origin: FileOrigin, circumstances: Circumstances
) -> None:
    """Read a requirements file that another file names. Raises ProjectFileError."""
    _include(draft, reference, circumstances.kind, _Place(directory, origin, circumstances, (), reference))


def _read_line(draft: Draft, line: LogicalLine, place: _Place) -> None:
    expanded, missing = expand(line.text, draft.variables) if "$" in line.text else (line.text, ())
    for name in missing:
        message = f"the environment variable `{name}` is not set"
        draft.problem(ReadingProblemKind.MISSING_VARIABLE, place.origin, message, line.text)
    body, option_text = split_options(expanded)
    written = split_options(line.text)[0]
    try:
        options = parse_options(option_text) if option_text else None
    except InvalidOptions as error:
        message = f"pip does not accept this line: {error}"
        draft.problem(ReadingProblemKind.UNKNOWN_OPTION, place.origin, message, line.text)
        return
    if options is None:
        add_requirement(draft, body, place.directory, place.origin, place.circumstances, written=written)
        return
    if options.ignored:
        words = " ".join(options.ignored)
        message = f"pip ignores `{words}` after the options of this line; put it on a line of its own"
        if body and _CONDITION.match(words):
            message = f"pip ignores the condition `{words}` here: it belongs before the options of this line"
        draft.problem(ReadingProblemKind.IGNORED_OPTION, place.origin, message, line.text, (words,))
    if body:
        _note_ignored_options(draft, options, option_text, place)
        add_requirement(
            draft,
            body,
            place.directory,
            place.origin,
            place.circumstances,
            written=written,
            hashes=options.several("hashes"),
        )
    else:
        _apply_options(draft, options, place)


def _note_ignored_options(draft: Draft, options: LineOptions, option_text: str, place: _Place) -> None:
    if not options.of_file:
        return
    message = (
        f"pip ignores `{option_text[:200]}` behind a requirement: options that count for the whole file, such as an "
        "index, stand on a line before all requirements"
    )
    draft.problem(ReadingProblemKind.IGNORED_OPTION, place.origin, message, place.raw, (option_text,))


def _apply_options(draft: Draft, options: LineOptions, place: _Place) -> None:
    editables = options.several("editables")
    if editables:
        add_requirement(
            draft, editables[0], place.directory, place.origin, place.circumstances, written=place.raw, editable=True
        )
        return
    # pip takes one file of a line: requirements before constraints.
    included = options.several("requirements")[:1] or options.several("constraints")[:1]
    if included:
        kind = RequirementKind.REQUIRE if options.several("requirements") else RequirementKind.CONSTRAINT
        _include(draft, included[0], kind, place)
        return
    _keep_options(draft, options, place)


def _include(draft: Draft, reference: str, kind: RequirementKind, place: _Place) -> None:
    if "://" in reference:
        message = f"`{reference}` is a remote file and is not fetched"
        draft.problem(ReadingProblemKind.UNREAD, place.origin, message, place.raw)
        return
    path = draft.included(reference, place.directory, place.origin, place.raw)
    if path is None:
        return
    if path in place.chain:
        message = (
            f"`{reference}` includes itself"
            if path == place.chain[-1]
            else f"`{reference}` is already being read: the files include each other"
        )
        draft.problem(ReadingProblemKind.INVALID_REQUIREMENT, place.origin, message, place.raw)
        return
    if len(place.chain) >= DEEPEST_INCLUDES:
        message = f"`{reference}` is not read: {DEEPEST_INCLUDES} files already include each other up to here"
        draft.problem(ReadingProblemKind.INVALID_REQUIREMENT, place.origin, message, place.raw)
        return
    circumstances = replace(place.circumstances, kind=kind, included_from=place.origin)
    read_requirements_file(draft, path, circumstances, place.chain)


def _keep_options(draft: Draft, options: LineOptions, place: _Place) -> None:
    step = place.circumstances.step
    for name, kind in (
        ("index_url", IndexOptionKind.INDEX_URL),
        ("extra_index_urls", IndexOptionKind.EXTRA_INDEX_URL),
        ("find_links", IndexOptionKind.FIND_LINKS),
    ):
        for url in options.several(name):
            if kind is IndexOptionKind.FIND_LINKS and step is None and _is_gone(url, place.directory):
                message = f"there is no file or folder `{url}`: pip leaves this `--find-links` aside"
                draft.problem(ReadingProblemKind.IGNORED_OPTION, place.origin, message, place.raw)
            else:
                draft.add_index(kind, url, place.origin, step)
    if options.switch("no_index"):
        draft.keep_index(IndexOption(IndexOptionKind.NO_INDEX, "", place.origin, step))
    for name in ("pre", "prefer_binary", "require_hashes"):
        if options.switch(name):
            draft.keep_option(FileOption(name.replace("_", "-"), "", place.origin, step))
    for name, option in (("no_binary", "no-binary"), ("only_binary", "only-binary"), ("trusted_hosts", "trusted-host")):
        for value in options.several(name):
            draft.keep_option(FileOption(option, value, place.origin, step))


def _is_gone(url: str, directory: Path) -> bool:
    """Return whether a relative path leads nowhere, from the file that names it and from where pip may be run."""
    path = url.replace("\\", "/")
    if ":" in path or "$" in path or path.startswith(("/", "~")):
        return False
    return not any(os.path.exists(base / path) for base in (directory, Path.cwd()))


def add_requirement(
    draft: Draft,
    text: str,
    directory: Path,
    origin: FileOrigin,
    circumstances: Circumstances,
    *,
    written: str = "",
    editable: bool = False,
    hashes: tuple[str, ...] = (),
) -> None:
    """Read one requirement as pip would take it in ``directory``, a local project's directory included."""
    if "://" not in text and (
        local_path(text) is not None or (editable and os.path.isdir(directory / split_extras(text)[0]))
    ):
        standing = Reference(text, directory, origin, circumstances, written or text, editable)
        if read_local_reference(draft, standing):
            return
    read = parse_line(text, origin, written=written, editable=editable)
    if hashes and not hasattr(read, "message"):
        read = replace(read, hashes=tuple(value.replace("=", ":", 1) for value in hashes))
    draft.add(read, circumstances)
