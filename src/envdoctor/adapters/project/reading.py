"""Read a project, whatever form it has."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from packaging.utils import canonicalize_name

from envdoctor.adapters.project.discovery import Form, form_of, look_into
from envdoctor.adapters.project.draft import Circumstances, Draft, LocalProject, ProjectFileError
from envdoctor.adapters.project.in_force import duplicates, separate_superseded, several_places
from envdoctor.adapters.project.limits import bounded
from envdoctor.adapters.project.pyproject import read_pyproject
from envdoctor.adapters.project.requirements_file import read_requirements_file
from envdoctor.model.origin import FileOrigin
from envdoctor.model.project import Project, ReadingProblemKind
from envdoctor.model.requirement import Requirement, RequirementKind

__all__ = ["read_project"]

_UNREAD = frozenset(
    {
        ReadingProblemKind.UNREAD,
        ReadingProblemKind.DYNAMIC,
        ReadingProblemKind.MISSING_FILE,
        ReadingProblemKind.OUTSIDE_PROJECT,
    }
)
_NAMED_AS_LIST = re.compile(r"require|constraint|deps|\.(?:txt|in|pip)$", re.I)
_CONSTRAINTS = re.compile(r"constraints?([-_][^.]*)?\.txt")


def read_project(
    path: Path,
    *,
    files: Sequence[str] = (),
    target_environment: Mapping[str, str] | None = None,
    groups: Sequence[str] = (),
    variables: Mapping[str, str] | None = None,
) -> Project:
    """Read a directory, one of its files, or a script into what they ask for.

    ``files``, relative to the directory, are read in place of what is found there. ``target_environment`` is the
    target's marker environment: it chooses between install scripts for different systems; no requirement is dropped
    by its marker here. ``groups`` names extras and dependency groups to include. ``variables`` are the environment
    variables for ``${NAME}``, those of this process by default.

    Raises ProjectFileError for a path that is no project, a file that is not what it claims to be, and syntax errors
    of a whole file; a bad line is a problem of the result.
    """
    root, single = _root(path)
    draft = Draft(
        root=root,
        boundary=_boundary(root),
        variables=os.environ if variables is None else variables,
        environment=target_environment,
        groups=tuple(groups),
    )
    others: tuple[Path, ...] = ()
    if single is not None:
        _read_one(draft, single, Circumstances(), alone=True)
        _check_claim(draft, single)
    elif files:
        _read_named(draft, files)
    else:
        others = _read_directory(draft, str(path))
    _read_local_projects(draft)
    _check_groups(draft, str(path))
    return _finished(draft, others)


def _root(path: Path) -> tuple[Path, Path | None]:
    try:
        resolved = path.resolve(strict=True)
        if resolved.is_dir():
            return resolved, None
        # The name counts for the form, so a link keeps its own.
        return path.absolute().parent.resolve(), path.absolute().parent.resolve() / path.name
    except FileNotFoundError as error:
        raise ProjectFileError(str(path), None, "there is no such file or directory") from error
    except PermissionError as error:
        raise ProjectFileError(str(path), None, "it may not be read (permission denied)") from error
    except NotADirectoryError as error:
        raise ProjectFileError(str(path), None, "a part of this path is a file, not a directory") from error
    except (OSError, RuntimeError, ValueError) as error:
        loop = "loop" in str(error).lower() or "symbolic" in str(error).lower()
        reason = "its symbolic links form a loop" if loop else str(error)
        raise ProjectFileError(str(path), None, f"it cannot be read: {reason}") from error


def _boundary(root: Path) -> Path:
    """Return the checkout that the root lies in: files may include others of the same repository."""
    for directory in (root, *root.parents):
        if (directory / ".git").exists():
            return directory
    return root


def _check_claim(draft: Draft, path: Path) -> None:
    """Refuse a file without a list's name in which not one line is a requirement. Raises ProjectFileError."""
    read = draft.requirements or draft.index_options or draft.options or draft.local_projects
    wrong = [each for each in draft.problems if each.kind is ReadingProblemKind.INVALID_REQUIREMENT]
    if form_of(path) is not Form.REQUIREMENTS or _NAMED_AS_LIST.search(path.name) or read or not wrong:
        return
    message = f"not what it claims to be: no line of it is a requirement (the first: `{wrong[0].text[:80]}`)"
    raise ProjectFileError(draft.shown(path), wrong[0].origin.line, message)


def _read_named(draft: Draft, files: Sequence[str]) -> None:
    for name in files:
        path = draft.root / name.replace("\\", "/")
        _read_one(draft, path, Circumstances(), alone=len(files) == 1)
    pyproject = draft.root / "pyproject.toml"
    if pyproject.is_file() and draft.shown(pyproject) not in draft.files:
        read_pyproject(draft, pyproject, Circumstances(), groups=draft.groups, dependencies=False)


def _read_directory(draft: Draft, shown: str) -> tuple[Path, ...]:
    found = look_into(draft.root, shown, draft.environment)
    for script in found.scripts:
        _read_one(draft, script, Circumstances(), alone=not found.candidates and not found.lists)
    # A script that installs the project itself says where the list is.
    done = any(local.directory == draft.root for local in draft.local_projects)
    for candidate in found.candidates:
        if form_of(candidate) is Form.PYPROJECT:
            known = read_pyproject(draft, candidate, Circumstances(), groups=draft.groups, dependencies=not done)
            done = done or known
        elif not done:
            done = _read_candidate(draft, candidate)
    if not done:
        for path in found.lists:
            _read_one(draft, path, Circumstances(), alone=False)
    constraints = _read_constraints(draft, found.others)
    return tuple(path for path in found.others if path != constraints)


def _read_constraints(draft: Draft, beside: Sequence[Path]) -> Path | None:
    """Read the constraints file of the directory where there is just one, and return it.

    Several are for several Pythons or days, and only a person knows which. `constraints.<profile>.txt` is written by
    `envdoctor lock` and says what came out, not what was asked for.
    """
    own = [path for path in beside if _CONSTRAINTS.fullmatch(path.name.lower())]
    if len(own) != 1 or draft.shown(own[0]) in draft.files:
        return None
    _read_one(draft, own[0], Circumstances(), alone=False)
    return own[0]


def _read_candidate(draft: Draft, path: Path) -> bool:
    """Read a file unless a script has brought it in already; return whether it asks for anything."""
    if draft.shown(path) in draft.files:
        return True
    before = len(draft.requirements) + len(draft.problems) + len(draft.local_projects)
    _read_one(draft, path, Circumstances(), alone=False)
    return len(draft.requirements) + len(draft.problems) + len(draft.local_projects) > before


def _read_one(draft: Draft, path: Path, circumstances: Circumstances, *, alone: bool) -> None:
    form = form_of(path)
    if form is Form.CONSTRAINTS and not alone:
        circumstances = replace(circumstances, kind=RequirementKind.CONSTRAINT)
    if form in {Form.REQUIREMENTS, Form.CONSTRAINTS}:
        read_requirements_file(draft, path, circumstances)
    elif form is Form.PYPROJECT:
        if not read_pyproject(draft, path, circumstances, groups=draft.groups):
            _read_setuptools(draft, path.parent, circumstances, draft.groups)
    elif form is Form.SETUP_CFG:
        from envdoctor.adapters.project.setup_cfg import read_setup_cfg

        read_setup_cfg(draft, path, circumstances, groups=draft.groups)
    elif form is Form.SETUP_PY:
        from envdoctor.adapters.project.setup_py import read_setup_py

        read_setup_py(draft, path, circumstances, groups=draft.groups)
    elif form is Form.CONDA:
        from envdoctor.adapters.project.conda_environment import read_conda_environment

        read_conda_environment(draft, path, circumstances)
    elif form is Form.PIPFILE:
        from envdoctor.adapters.project.poetry import read_pipfile

        read_pipfile(draft, path, circumstances, groups=draft.groups)
    elif form is Form.PYTHON_SCRIPT:
        from envdoctor.adapters.project.script_metadata import read_script

        read_script(draft, path, circumstances)
    else:
        from envdoctor.adapters.project.install_script import read_install_script

        read_install_script(draft, path, dockerfile=form is Form.DOCKERFILE, required=alone)


def _read_setuptools(draft: Draft, directory: Path, circumstances: Circumstances, groups: tuple[str, ...]) -> None:
    """Read setup.cfg, and setup.py where that says nothing: what ``dynamic`` leaves to setuptools."""
    from envdoctor.adapters.project.setup_cfg import read_setup_cfg
    from envdoctor.adapters.project.setup_py import read_setup_py

    for name, read in (("setup.cfg", read_setup_cfg), ("setup.py", read_setup_py)):
        path = directory / name
        before = len(draft.requirements) + len(draft.problems)
        if path.is_file():
            read(draft, path, circumstances, groups=groups)
        if len(draft.requirements) + len(draft.problems) > before:
            return


def _read_local_projects(draft: Draft) -> None:
    done: set[Path] = set()
    while draft.local_projects:
        local = draft.local_projects.pop(0)
        if local.directory not in done:
            done.add(local.directory)
            _read_local_project(draft, local)


def _read_local_project(draft: Draft, local: LocalProject) -> None:
    circumstances = replace(local.circumstances, included_from=local.origin)
    if circumstances.no_deps:
        message = f"`{local.text}` is installed without its dependencies"
        draft.problem(ReadingProblemKind.UNSUPPORTED, local.origin, message, local.text)
        return
    pyproject = local.directory / "pyproject.toml"
    if pyproject.is_file() and draft.shown(pyproject) in draft.files and local.directory == draft.root:
        draft.files.remove(draft.shown(pyproject))
    own = local.directory == draft.root
    groups = (*local.extras, *(draft.groups if own else ()))
    known = pyproject.is_file() and read_pyproject(draft, pyproject, circumstances, groups=groups, settings=own)
    if not known:
        _read_setuptools(draft, local.directory, circumstances, groups)
    for extra in local.extras:
        if str(canonicalize_name(extra)) not in draft.used_groups:
            message = f"the project at `{local.text}` has no extra `{extra}`"
            draft.problem(ReadingProblemKind.UNKNOWN_EXTRA, local.origin, message, local.text)


def _check_groups(draft: Draft, shown: str) -> None:
    for group in draft.groups:
        if str(canonicalize_name(group)) not in draft.used_groups:
            there = ", ".join(f"`{name}`" for name in sorted(draft.known_groups)) or "none"
            raise ProjectFileError(shown, None, f"there is no group or extra `{group}`; there are: {there}")


def _finished(draft: Draft, others: tuple[Path, ...]) -> Project:
    in_force, superseded = separate_superseded(draft.requirements, draft.removals)
    _note_several_places(draft, in_force)
    _note_nothing(draft)
    repeated, more_repeated = duplicates(in_force)
    problems = tuple(dict.fromkeys(draft.problems))
    bound, bound_origin = draft.python_bound()
    return Project(
        root=str(draft.root),
        name=draft.name,
        requirements=in_force,
        problems=bounded(problems),
        files=tuple(dict.fromkeys(draft.files)),
        index_options=tuple(dict.fromkeys(draft.index_options)),
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
        files_not_read=tuple(name for name in map(draft.shown, others) if name not in draft.files),
        unread=tuple(dict.fromkeys(each.text or each.origin.path for each in problems if each.kind in _UNREAD)),
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
    draft.problem(ReadingProblemKind.EMPTY, FileOrigin(draft.files[0]), f"the project asks for nothing: {names}")
