"""Which requirements are in force once all files are read: overrides, what is superseded, repetitions, local paths."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from urllib.parse import unquote, urlsplit

from packaging.utils import NormalizedName, canonicalize_name
from packaging.version import Version

from envdoctor.adapters.project.draft import Circumstances, Draft, LocalProject
from envdoctor.adapters.project.pip_command import INTO
from envdoctor.adapters.project.requirements_file import is_project
from envdoctor.adapters.project.specification import is_remote
from envdoctor.adapters.project.submodules import in_empty_submodule
from envdoctor.model.index_url import file_path
from envdoctor.model.origin import FileOrigin
from envdoctor.model.project import ReadingProblem, ReadingProblemKind
from envdoctor.model.requirement import Requirement, RequirementKind, both_markers, holds, may_hold

__all__ = [
    "duplicates",
    "named_beside",
    "overridden",
    "separate_superseded",
    "settle_by_name",
    "settle_local_places",
    "several_places",
]

_ARCHIVES = frozenset({".whl", ".gz", ".zip", ".bz2", ".tgz", ".xz"})
_DRIVE = re.compile(r"^(?:file:/*)?[A-Za-z]:[\\/]")


def settle_local_places(draft: Draft) -> None:
    """Read what a path or ``file:`` URL leads to, in the requirement's place; name what is not there."""
    for group, apart in draft.apart.items():
        with draft.reading(group, asked=False):
            apart.requirements[:] = [one for each in apart.requirements for one in _settled(draft, each)]
    draft.requirements[:] = [one for each in draft.requirements for one in _settled(draft, each)]


def _settled(draft: Draft, requirement: Requirement) -> list[Requirement]:
    origin = requirement.origin
    if requirement.url is None or is_remote(requirement.url) or not isinstance(origin, FileOrigin):
        return [requirement]
    if _of_another_system(requirement.url) or not may_hold(requirement.marker, draft.environment):
        return [requirement]
    path = _located(draft, requirement.url, origin)
    if path is None:
        return [requirement]
    try:
        there, folder = path.exists(), path.is_dir()
    except (OSError, ValueError):
        there, folder = False, False
    project = folder and path.is_relative_to(draft.boundary) and is_project(path)
    submodule = None if project else in_empty_submodule(draft.boundary, path, requirement.url.partition("#")[0])
    if not there or submodule is not None:
        return _gone(draft, requirement, origin, path, submodule)
    if project:
        standing = Circumstances(requirement.kind, requirement.group, requirement.step, requirement.no_deps)
        extras = tuple(sorted(requirement.extras))
        draft.local_projects.append(LocalProject(path, extras, origin, standing, str(requirement), draft.reading_apart))
        return []
    return [requirement]


def settle_by_name(draft: Draft, read: Iterable[LocalProject]) -> None:
    """Take the projects that lines install from a folder for what others ask for by their names, as pip does."""
    here: dict[NormalizedName, tuple[LocalProject, Version | None]] = {}
    for local in read:
        if local.apart is None and local.directory in draft.identities:
            name, version = draft.identities[local.directory]
            here.setdefault(name, (local, version))
    if here:
        draft.requirements[:] = [line for line in draft.requirements if not _is_given(draft, line, here)]


def _is_given(
    draft: Draft, line: Requirement, here: Mapping[NormalizedName, tuple[LocalProject, Version | None]]
) -> bool:
    """Return whether a folder gives what a line asks for, or the two have been said to be at odds."""
    origin, (local, version) = line.origin, here.get(line.name, (None, None))
    if local is None or line.url is not None or not isinstance(origin, FileOrigin):
        return False
    step, group = local.circumstances.step, local.circumstances.group
    there = step == line.step or (step is not None and line.step is not None and step < line.step)
    if not there or group not in (None, line.group) or not may_hold(line.marker, draft.environment):
        return False
    if version is None and line.specifier:
        message = f"whether the project at `{local.text}` has a version that `{line}` admits, only a build of it tells"
        draft.problem(ReadingProblemKind.UNREAD, origin, message, str(line))
    elif version is not None and not line.admits(version):
        message = f"it asks for the project at `{local.text}`, which is version {version}: nothing installs both"
        draft.problem(ReadingProblemKind.INVALID_REQUIREMENT, origin, message, str(line))
    elif line.extras:
        standing = Circumstances(line.kind, line.group, line.step, line.no_deps)
        extras = tuple(sorted(line.extras))
        draft.local_projects.append(LocalProject(local.directory, extras, origin, standing, str(line)))
    return True


def _of_another_system(url: str) -> bool:
    """Return whether a path can only be one of Windows, and this is another system."""
    return os.name != "nt" and bool(_DRIVE.match(url))


def _located(draft: Draft, url: str, origin: FileOrigin) -> Path | None:
    """Return the path of a URL or path, None where it depends on something else.

    ``${PROJECT_ROOT}`` is PDM's word for the project's folder, ``{root:uri}`` hatch's.
    """
    text = url.replace("${PROJECT_ROOT}", draft.root.as_posix()).replace("{root:uri}", draft.root.as_uri())
    text = text.partition("#")[0]
    if "${" in text or "{root" in text:
        return None
    if text.startswith("file:"):
        try:
            if os.name != "nt" and urlsplit(text).netloc not in ("", "localhost"):
                return None
            whole = file_path(text) if text.startswith("file://") else None
        except ValueError:  # Nobody can read where it leads: `file://[`.
            return None
        text = whole or unquote(text.removeprefix("file:"))
    try:
        return (draft.root / Path(origin.path).parent / text.replace("\\", "/")).resolve()
    except (OSError, RuntimeError, ValueError):
        return None


def _gone(
    draft: Draft, requirement: Requirement, origin: FileOrigin, path: Path, submodule: str | None
) -> list[Requirement]:
    """Report a place that is not there. The name stays, so that the rest can be judged, unless it is the project's own.

    What an index has under the name of a folder of the project is another project.
    """
    place = (requirement.url or "").partition("#")[0]
    own = path.is_relative_to(draft.boundary) and path.suffix.lower() not in _ARCHIVES
    here = f"there is no directory `{draft.shown(path)}`, which `{requirement.name}` is to come from"
    message = here if own else f"`{place}` does not exist here: a path of another machine cannot be installed from"
    draft.problem(ReadingProblemKind.MISSING_FILE, origin, submodule or message, str(requirement))
    return [] if own else [replace(requirement, url=None)]


_MOST_PAIRS = 100
"""Pairs of repeated lines that are told one by one."""
_MOST_NAMED = 20
"""Lines for one package that earlier ones are held against."""
_METADATA = ("pyproject.toml", "setup.py", "setup.cfg")


def separate_superseded(draft: Draft) -> tuple[tuple[Requirement, ...], tuple[Requirement, ...]]:
    """Split into those in force and those whose package a later step of the script uninstalls or replaces."""
    last: dict[NormalizedName, int] = {}
    for step, name in draft.removals:
        last[name] = max(step, last.get(name, 0))
    anew = {command.step for command in draft.commands if command.upgrade}
    apart = {one.step for one in draft.commands if any(map(INTO.match, one.arguments))}
    named: dict[NormalizedName, list[Requirement]] = {}
    superseded: set[int] = set()
    for at, line in sorted(enumerate(draft.requirements), key=lambda each: -(each[1].step or 0)):
        if line.step is None:
            continue
        later = named.setdefault(line.name, []) if line.step not in apart else []
        removed = line.step < last.get(line.name, 0)
        if removed or any(_replaces(one, line, draft.environment, anew=one.step in anew) for one in later):
            superseded.add(at)
        elif len(later) < _MOST_NAMED and line.step not in apart:
            later.append(line)
    return (
        tuple(line for at, line in enumerate(draft.requirements) if at not in superseded),
        tuple(line for at, line in enumerate(draft.requirements) if at in superseded),
    )


def _replaces(later: Requirement, line: Requirement, environment: Mapping[str, str] | None, *, anew: bool) -> bool:
    """Return whether an installer puts what a later step asks for in the place of what a line has asked for.

    It leaves what is there and fits. What a project's own metadata asks for, it breaks.
    """
    own = line.origin.path.rpartition("/")[2] if isinstance(line.origin, FileOrigin) else ""
    if own in _METADATA or later.step == line.step or later.kind is RequirementKind.CONSTRAINT or later.conda:
        return False
    if not (later.marker is None or (environment and holds(later.marker, environment))):
        return False
    if later.url or line.url:
        return _place(later) != _place(line) and bool(later.url or later.is_pin) and bool(line.url or line.specifier)
    asks = bool(line.specifier) and line.specifier != later.specifier
    return asks and (anew or (line.specifier & later.specifier).is_unsatisfiable())


def overridden(requirements: Iterable[Requirement], overrides: Sequence[Requirement]) -> tuple[Requirement, ...]:
    """Return people's lines with the project's overrides in the place of what they replace; bounds stay."""
    names = {override.name for override in overrides}
    found: list[Requirement] = []
    for line in requirements:
        if line.name not in names or line.kind is RequirementKind.CONSTRAINT:
            found.append(line)
            continue
        found += [
            replace(
                line,
                origin=override.origin,
                specifier=override.specifier,
                marker=both_markers(line.marker, override.marker),
                url=override.url,
                text=override.text,
                hashes=(),
            )
            for override in overrides
            if override.name == line.name
        ]
    return tuple(found)


def duplicates(requirements: Iterable[Requirement]) -> tuple[tuple[tuple[Requirement, Requirement], ...], int]:
    """Return pairs of lines that ask for the same, each with the first line that does, and how many more there are."""
    first: dict[tuple[object, ...], Requirement] = {}
    pairs: list[tuple[Requirement, Requirement]] = []
    more = 0
    for requirement in requirements:
        earlier = first.setdefault(_saying(requirement), requirement)
        if earlier is requirement or earlier.origin == requirement.origin:
            continue
        if len(pairs) < _MOST_PAIRS:
            pairs.append((earlier, requirement))
        else:
            more += 1
    return tuple(pairs), more


def _saying(requirement: Requirement) -> tuple[object, ...]:
    return (
        requirement.name,
        requirement.specifier,
        requirement.extras,
        str(requirement.marker) if requirement.marker else "",
        requirement.url,
        requirement.kind,
        requirement.step,
        requirement.group,
    )


def several_places(requirements: Iterable[Requirement]) -> Iterator[tuple[Requirement, Requirement]]:
    """Yield pairs that ask for one package from two URLs or paths at once, which no installer can do."""
    first: dict[tuple[object, ...], Requirement] = {}
    for requirement in requirements:
        if not requirement.url or requirement.kind is not RequirementKind.REQUIRE:
            continue
        marker = str(requirement.marker) if requirement.marker else ""
        earlier = first.setdefault((requirement.name, marker, requirement.step), requirement)
        if _place(earlier) != _place(requirement):
            yield earlier, requirement


def _place(requirement: Requirement) -> str:
    return (requirement.url or "").partition("#")[0].rstrip("/")


def named_beside(problems: Iterable[ReadingProblem], requirements: Sequence[Requirement]) -> Iterator[Requirement]:
    """Yield references without a name whose repository is called like a project that another line asks for.

    They are taken for that project: what the index has of it says nothing of what the reference will bring.
    """
    asked = {requirement.name for requirement in requirements if requirement.url is None}
    for problem in problems:
        if problem.kind is not ReadingProblemKind.UNREAD or problem.group is not None or not problem.suggestions:
            continue
        name, is_reference, url = problem.suggestions[0].partition(" @ ")
        if is_reference and canonicalize_name(name) in asked:
            yield Requirement(canonicalize_name(name), problem.origin, url=url, text=problem.text)
