"""Read a project, whatever form it has."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from envdoctor.adapters.project.decoding import bounded
from envdoctor.adapters.project.discovery import enter
from envdoctor.adapters.project.draft import Circumstances, Draft, LocalProject, ProjectFileError
from envdoctor.adapters.project.file_names import Form, form_of
from envdoctor.adapters.project.folder import name_others, read_directory, read_one, read_setuptools
from envdoctor.adapters.project.group_choice import Wanted
from envdoctor.adapters.project.in_force import (
    duplicates,
    named_beside,
    overridden,
    separate_superseded,
    settle_by_name,
    settle_local_places,
    several_places,
)
from envdoctor.adapters.project.pyproject import read_pyproject
from envdoctor.adapters.project.toml_document import glance, stated
from envdoctor.adapters.project.uv_settings import read_uv_file
from envdoctor.adapters.project.uv_sources import workspace_root
from envdoctor.adapters.read_files import special
from envdoctor.model.origin import FileOrigin
from envdoctor.model.project import Group, GroupChoice, Project, ReadingProblemKind
from envdoctor.model.requirement import GroupKind, GroupName, Requirement

__all__ = ["read_metadata_of", "read_project"]

_UNREAD = frozenset(
    {
        ReadingProblemKind.UNREAD,
        ReadingProblemKind.DYNAMIC,
        ReadingProblemKind.MISSING_FILE,
        ReadingProblemKind.OUTSIDE_PROJECT,
        ReadingProblemKind.EMPTY,
    }
)
_NAMED_AS_LIST = re.compile(r"require|constraint|deps|\.(?:txt|in|pip)$", re.I)


def read_project(
    path: Path,
    *,
    files: Sequence[str] = (),
    more: Sequence[str] = (),
    target_environment: Mapping[str, str] | None = None,
    target_backend: str = "",
    choice: GroupChoice = GroupChoice(),  # noqa: B008 - immutable
    variables: Mapping[str, str] | None = None,
) -> Project:
    """Read a directory, one of its files, or a script into what they ask for.

    ``files``, relative to the directory, are read in place of what is found there, and ``more`` besides.
    ``target_environment`` is the target's marker environment: it chooses between install scripts for different systems;
    no requirement is dropped by its marker here. ``target_backend`` chooses between branches of a script.
    ``choice`` names the extras and dependency groups that decide.
    ``variables`` are the environment variables for ``${NAME}``, those of this process by default.

    Raises ProjectFileError for a path that is no project, a file that is not what it claims to be, and syntax errors
    of a whole file; a bad line is a problem of the result.
    """
    root, single = _root(path)
    draft = Draft(
        root=root,
        boundary=_boundary(root),
        variables=os.environ if variables is None else variables,
        environment=target_environment,
        backend=target_backend,
        choice=choice,
        named=single,
    )
    if single is not None:
        read_one(draft, single, Circumstances(), alone=True)
        _check_claim(draft, single)
    elif files:
        _read_named(draft, files)
        name_others(draft, str(path))
    else:
        read_directory(draft, str(path))
    for name in more:
        if draft.shown(draft.root / name) not in draft.files:
            read_one(draft, draft.root / name, Circumstances(), alone=False)
    read_uv_file(draft)
    _read_local_projects(draft)
    _check_groups(draft, str(path))
    _read_python_version(draft)
    return _finished(draft)


def _root(path: Path) -> tuple[Path, Path | None]:
    try:
        resolved = path.resolve(strict=True)
        if resolved.is_dir():
            os.scandir(resolved).close()  # What may not be listed is not empty.
            enter(resolved)
            return resolved, None
        # The name counts for the form, so a link keeps its own.
        return path.absolute().parent.resolve(), path.absolute().parent.resolve() / path.name
    except FileNotFoundError as error:
        # What a shell hands over (`/dev/stdin`, `/dev/fd/63`) has no path of its own.
        what = special(path.stat().st_mode) if os.path.exists(path) else None
        message = f"this is {what}, not a file" if what else "there is no such file or directory"
        raise ProjectFileError(str(path), None, message) from error
    except PermissionError as error:
        raise ProjectFileError(str(path), None, "it may not be read (permission denied)") from error
    except NotADirectoryError as error:
        raise ProjectFileError(str(path), None, "a part of this path is a file, not a directory") from error
    except (OSError, RuntimeError, ValueError) as error:
        loop = "loop" in str(error).lower() or "symbolic" in str(error).lower()
        reason = "its symbolic links form a loop" if loop else getattr(error, "strerror", None) or str(error)
        raise ProjectFileError(str(path), None, f"it cannot be read: {reason}") from error


def _boundary(root: Path) -> Path:
    """Return the checkout, or uv's workspace, that the root lies in: files may include others of the same."""
    for directory in (root, *root.parents):
        if (directory / ".git").exists():
            return directory
    return workspace_root(root) or root


def _check_claim(draft: Draft, path: Path) -> None:
    """Refuse a file without a list's name in which not one line is a requirement. Raises ProjectFileError."""
    read = draft.requirements or draft.index_options or draft.options or draft.local_projects
    wrong = [each for each in draft.problems if each.kind is ReadingProblemKind.INVALID_REQUIREMENT]
    if form_of(path) is not Form.REQUIREMENTS or _NAMED_AS_LIST.search(path.name) or read or not wrong:
        return
    message = f"not what it claims to be: no line of it is a requirement (the first: `{wrong[0].text[:80]}`); "
    message += "`check --log` reads a log, `check --installed` a listing"
    raise ProjectFileError(draft.shown(path), wrong[0].origin.line, message)


def _read_named(draft: Draft, files: Sequence[str]) -> None:
    for name in files:
        path = draft.root / name.replace("\\", "/")
        read_one(draft, path, Circumstances(), alone=len(files) == 1)
    pyproject = draft.root / "pyproject.toml"
    if pyproject.is_file() and draft.shown(pyproject) not in draft.files:
        read_pyproject(draft, pyproject, Circumstances(), wanted=Wanted.own(draft.choice), dependencies=False)


def _read_local_projects(draft: Draft) -> None:
    """Read what lines lead to, and then the members of the workspace that no line leads to: one lock is for all."""
    done: dict[tuple[Path, GroupName | None], LocalProject] = {}
    while _more_local_projects(draft, done):
        local = draft.local_projects.pop(0)
        place = (local.directory, local.apart)
        known = done.get(place)
        more = tuple(extra for extra in local.extras if known is None or extra not in known.extras)
        if known is None or more:
            done[place] = local if known is None else replace(known, extras=(*known.extras, *more))
            before = draft.reading_apart
            draft.reading_apart = local.apart
            try:
                _read_local_project(draft, replace(local, extras=more), main=known is None)
            finally:
                draft.reading_apart = before


def _more_local_projects(draft: Draft, done: Mapping[tuple[Path, GroupName | None], LocalProject]) -> bool:
    settle_local_places(draft)
    settle_by_name(draft, done.values())
    if not draft.local_projects and not draft.choice.only:
        origin = FileOrigin(draft.shown(draft.root / "pyproject.toml"))
        draft.local_projects += [
            LocalProject(folder, (), origin, Circumstances(), folder.name)
            for folder in draft.members
            if folder != draft.root and (folder, None) not in done
        ]
    return bool(draft.local_projects)


def _read_local_project(draft: Draft, local: LocalProject, *, main: bool) -> None:
    """Read what a line asks of a folder; without ``main``, the extras alone."""
    if local.circumstances.no_deps:
        draft.identify(local.directory, *stated(glance(local.directory / "pyproject.toml")))
        message = f"`{local.text}` is installed without its dependencies"
        draft.problem(ReadingProblemKind.UNSUPPORTED, local.origin, message, local.text)
        return
    if local.directory == draft.root:
        read_metadata_of(draft, local, _wanted_of_root(draft, local))
        extras = draft.known_groups
    else:
        known, used, draft.known_groups = draft.known_groups, dict(draft.used_groups), {}
        read_metadata_of(draft, local, replace(_wanted_of_another(draft, local), main=main))
        extras, draft.known_groups, draft.used_groups = draft.known_groups, known, used
    there = {canonicalize_name(group.name) for group in extras if group.kind is GroupKind.EXTRA}
    for extra in local.extras:
        if canonicalize_name(extra) not in there:
            message = f"the project at `{local.text}` has no extra `{extra}`"
            draft.problem(ReadingProblemKind.UNKNOWN_EXTRA, local.origin, message, local.text)


def _wanted_of_another(draft: Draft, local: LocalProject) -> Wanted:
    """Return what is read of another project; where it is a member of the workspace, all that it offers."""
    if local.directory in draft.members and local.apart is None:
        return Wanted.of_member(local.extras, draft.shown(local.directory))
    return Wanted.of_line(local.extras)


def _wanted_of_root(draft: Draft, local: LocalProject) -> Wanted:
    """Return what a line such as ``-e .[gpu]`` still asks of the project that is being read."""
    extras = Wanted.of_line(local.extras)
    if draft.metadata_read:
        if local.apart is None:
            draft.apart = {
                group: apart for group, apart in draft.apart.items() if group.of or not extras.asks_for(group)
            }
        return replace(extras, main=False)
    draft.metadata_read = local.apart is None
    choice = replace(draft.choice, extras=(*draft.choice.extras, *local.extras))
    return replace(Wanted.own(choice), apart=local.apart is None)


def read_metadata_of(draft: Draft, local: LocalProject, wanted: Wanted) -> None:
    """Read what a folder's pyproject.toml, setup.cfg or setup.py asks for. Raises ProjectFileError."""
    circumstances = replace(local.circumstances, included_from=local.origin)
    own = local.directory == draft.root
    pyproject = local.directory / "pyproject.toml"
    known = pyproject.is_file() and read_pyproject(draft, pyproject, circumstances, wanted=wanted, settings=own)
    if not known:
        read_setuptools(draft, local.directory, circumstances, wanted)


def _check_groups(draft: Draft, shown: str) -> None:
    """Refuse a group or extra that is not there. Raises ProjectFileError."""
    choice = draft.choice
    for names, kinds, what in (
        (choice.extras, (GroupKind.EXTRA,), "extra"),
        ((*choice.groups, *choice.only), (GroupKind.GROUP,), "group"),
        (choice.either, (GroupKind.EXTRA, GroupKind.GROUP), "group or extra"),
    ):
        known = [group.name for group in draft.known_groups if group.kind in kinds]
        for name in names:
            if canonicalize_name(name) not in map(canonicalize_name, known):
                there = ", ".join(f"`{one}`" for one in sorted(set(known))) or "none"
                raise ProjectFileError(shown, None, f"there is no {what} `{name}`; there are: {there}")


def _finished(draft: Draft) -> Project:
    in_force, superseded = separate_superseded(draft)
    _note_several_places(draft, in_force)
    _note_nothing(draft)
    repeated, more_repeated = duplicates(in_force)
    problems = tuple(dict.fromkeys(draft.problems))
    bound, bound_origin = draft.python_bound()
    return Project(
        root=str(draft.root),
        name=draft.name,
        requirements=overridden([*in_force, *named_beside(problems, in_force)], draft.overrides),
        problems=bounded(problems),
        files=tuple(dict.fromkeys(draft.files)),
        index_options=tuple(dict.fromkeys(draft.index_options)),
        index_names=draft.index_names,
        commands=tuple(draft.commands),
        requires_python=bound,
        requires_python_origin=bound_origin,
        environment_python=draft.environment_python,
        environment_python_origin=draft.environment_python_origin,
        duplicates=repeated,
        settings=draft.settings,
        options=tuple(draft.options),
        overrides=tuple(draft.overrides),
        superseded=superseded,
        environments=tuple(draft.environments),
        locked=draft.locked,
        left_out=tuple(one for one in draft.left_out if one.path not in draft.files),
        groups=tuple(
            Group(name, overridden(apart.requirements, draft.overrides), tuple(apart.index_options), apart.alone)
            for name, apart in draft.apart.items()
            if apart.requirements
        ),
        asked=tuple(draft.used_groups),
        brought=draft.brought,
        unread=tuple(
            dict.fromkeys(
                each.text or each.origin.path for each in problems if each.kind in _UNREAD and each.group is None
            )
        ),
        duplicates_left_out=more_repeated,
    )


def _note_several_places(draft: Draft, requirements: Sequence[Requirement]) -> None:
    for first, second in several_places(requirements):
        if isinstance(second.origin, FileOrigin):
            message = f"`{second.name}` is asked for from two places, here and at {first.origin}"
            draft.problem(ReadingProblemKind.INVALID_REQUIREMENT, second.origin, message, str(second))


def _note_nothing(draft: Draft) -> None:
    """Say that there is nothing to look at, unless a file says in so many words that there are no requirements."""
    if draft.requirements or draft.problems or draft.commands or draft.asks_for_none or not draft.files:
        return
    names = ", ".join(f"`{name}`" for name in dict.fromkeys(draft.files))
    draft.problem(ReadingProblemKind.EMPTY, FileOrigin(draft.files[0]), f"no requirements found in {names}")


_CPYTHON = re.compile(r"^(?:cpython[-@])?(?P<minor>[0-9]{1,2}\.[0-9]{1,3})(?P<patch>\.[0-9]{1,3})?(?:[-+].*)?$")
_HIGHEST = 6
"""Folders above the project in which the file counts, as far as its checkout goes."""


def _read_python_version(draft: Draft) -> None:
    """Keep the first Python of the nearest ``.python-version``, where no other file says what makes an environment."""
    if draft.environment_python is not None:
        return
    for folder in (draft.root, *list(draft.root.parents)[:_HIGHEST]):
        if not folder.is_relative_to(draft.boundary):
            return
        file = folder / ".python-version"
        if file.is_file():
            _keep_python(draft, file)
            return


def _keep_python(draft: Draft, path: Path) -> None:
    try:
        file = draft.load(path)
    except ProjectFileError:
        return  # It names a Python and no requirement: nothing of the project is lost with it.
    for number, line in enumerate(file.text.splitlines(), start=1):
        match = _CPYTHON.match(line.partition("#")[0].strip())
        if match is not None:
            version = match["minor"] + (match["patch"] or "")
            exact = SpecifierSet(f"=={version}" if match["patch"] else f"=={version}.*")
            draft.set_environment_python(exact, FileOrigin(file.shown, number), binds=False)
            return
