"""Reading a directory: which of its files decide, which are judged beside them, and which are only named."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from envdoctor.adapters.project.discovery import Found, denied_below, is_own_lock, look_into, nested_files
from envdoctor.adapters.project.draft import Circumstances, Draft, ProjectFileError
from envdoctor.adapters.project.file_names import is_lock, is_plain_list, is_side_list
from envdoctor.adapters.project.forms import read_one, read_setuptools
from envdoctor.adapters.project.group_choice import Wanted
from envdoctor.adapters.project.pyproject import read_pyproject
from envdoctor.model.project import FileLeftOut, LeftOut
from envdoctor.model.requirement import GroupKind, GroupName

__all__ = ["read_directory"]

_CONSTRAINTS = re.compile(r"constraints?([-_][^.]*)?\.txt")
_OUR_HEAD = b"# Constraints of profile "
_MOST_APART = 30
"""Files beside the main ones that are read."""


def read_directory(draft: Draft, shown: str) -> None:
    """Read a directory's files into the draft. Raises ProjectFileError.

    What pyproject.toml (or setup.cfg, setup.py) and requirements.txt ask for holds together. An install script counts
    where no such metadata says what is needed, conda's file, a Pipfile and other lists where none of these does; what
    else lies there is read apart or named.
    """
    found = look_into(draft.root, shown, draft.environment)
    wanted = Wanted.own(draft.choice)
    declared = _read_metadata(draft, found, wanted)
    if wanted.main:
        _read_lists(draft, found, declared=declared)
        _read_constraints(draft, found)
    for path in (*found.conda, *found.lists, *_named(found, "pipfile", "pixi.toml")):
        _read_apart(draft, found, path)
    for path in found.locks:
        if not is_own_lock(path):
            _read_apart(draft, found, path)
    _name_the_rest(draft, found)
    for folder in denied_below(draft.root):
        draft.deny(folder)


def _named(found: Found, *names: str) -> tuple[Path, ...]:
    return tuple(found.standard[name] for name in names if name in found.standard)


def _read_metadata(draft: Draft, found: Found, wanted: Wanted) -> bool:
    """Read what describes the project as a package; return whether that asks for anything."""
    known, draft.metadata_read = False, True
    before = _asked_so_far(draft)
    for path in _named(found, "pyproject.toml"):
        known = read_pyproject(draft, path, Circumstances(), wanted=wanted)
    if not known and _named(found, "setup.cfg", "setup.py"):
        read_setuptools(draft, draft.root, Circumstances(), wanted)
    return _asked_so_far(draft) > before


def _asked_so_far(draft: Draft) -> int:
    return len(draft.requirements) + len(draft.problems) + len(draft.local_projects)


def _read_lists(draft: Draft, found: Found, *, declared: bool) -> None:
    lists = _named(found, "requirements.txt")
    if not declared:
        alone = not (lists or found.conda or found.chosen or _named(found, "pipfile", "pixi.toml"))
        for script in found.scripts:
            read_one(draft, script, Circumstances(), alone=alone)
    # A script that installs the project itself says where the list is.
    whole = any(local.directory == draft.root for local in draft.local_projects)
    for path in lists:
        if not whole:
            declared = _read_unless_read(draft, path) or declared
    others = (*_named(found, "pixi.toml"), *found.conda[:1], *_named(found, "pipfile"))
    if any(is_plain_list(path) for path in found.chosen):
        others = ()  # A list by the usual name is not hidden by a file of another tool.
    for path in others:
        declared = declared or whole or _read_unless_read(draft, path)
    if not declared and not whole:
        for path in found.chosen:
            _read_unless_read(draft, path)
    if not draft.files:
        for path in found.last_resort:
            read_one(draft, path, Circumstances(), alone=True)


def _read_unless_read(draft: Draft, path: Path) -> bool:
    """Read a file unless a script has brought it in already; return whether it asks for anything."""
    if draft.shown(path) in draft.files:
        return True
    before = _asked_so_far(draft)
    read_one(draft, path, Circumstances(), alone=False)
    return _asked_so_far(draft) > before


def _read_constraints(draft: Draft, found: Found) -> None:
    """Read the constraints file of the directory where there is just one.

    Several are for several Pythons or days, and only a person knows which. `constraints.<profile>.txt` is written by
    `envdoctor lock` and says what came out, not what was asked for; where its head says so, it is no file to name.
    """
    own = [path for path in found.constraints if _CONSTRAINTS.fullmatch(path.name.lower())]
    for path in found.constraints:
        if draft.shown(path) in draft.files or _written_by_lock(path):
            continue
        if own == [path]:
            read_one(draft, path, Circumstances(), alone=False)
        else:
            reason = LeftOut.SEVERAL_CONSTRAINTS if path in own else LeftOut.WRITTEN_BY_LOCK
            draft.left_out.append(FileLeftOut(draft.shown(path), reason))


def _written_by_lock(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(len(_OUR_HEAD)) == _OUR_HEAD
    except OSError:
        return False


def _read_apart(draft: Draft, found: Found, path: Path) -> None:
    """Read a list that decides nothing: one for tests counts with the main list, one for another machine alone."""
    shown = draft.shown(path)
    if shown in draft.files:
        return
    compiled = path.suffix.lower() == ".in" and path.with_suffix(".txt") in (*found.lists, *found.standard.values())
    if compiled:
        draft.left_out.append(FileLeftOut(shown, LeftOut.COMPILED))
        return
    if len(draft.apart) >= _MOST_APART:
        draft.left_out.append(FileLeftOut(shown, LeftOut.TOO_MANY))
        return
    group = GroupName(GroupKind.FILE, shown)
    try:
        with draft.reading(group, asked=False):
            draft.apart[group].alone = not is_side_list(path) and not is_lock(path)
            read_one(draft, path, Circumstances(group=group), alone=False)
    except ProjectFileError as error:
        draft.files[:] = [name for name in draft.files if name != shown]
        draft.left_out.append(FileLeftOut(shown, LeftOut.UNREADABLE, error.message))


def _name_the_rest(draft: Draft, found: Found) -> None:
    """Name what says what is needed and was not read."""
    script = LeftOut.SCRIPT if draft.requirements else LeftOut.ANOTHER_SYSTEM
    reasons: Iterable[tuple[Iterable[Path], LeftOut]] = (
        (found.scripts, script),
        (found.other_scripts, LeftOut.ANOTHER_SYSTEM),
        (found.images, LeftOut.IMAGE),
        (found.notebooks, LeftOut.NOTEBOOK),
        (nested_files(draft.root, draft.files_read()), LeftOut.NESTED),
    )
    seen = {one.path for one in draft.left_out} | set(draft.files)
    for paths, reason in reasons:
        for path in paths:
            shown = draft.shown(path)
            if shown not in seen:
                seen.add(shown)
                draft.left_out.append(FileLeftOut(shown, reason))
