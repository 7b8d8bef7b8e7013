"""Judges the lists beside the main one: extras, dependency groups and files that nobody asked for.

Each is judged with the main list, or alone where it stands for itself. All at once is tried first: what holds together
with every other list holds by itself. None of it decides the verdict.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice

from packaging.utils import NormalizedName, canonicalize_name
from packaging.version import Version

from envdoctor.model.candidate import agreeing, comparable
from envdoctor.model.compatibility import admits, admitted_minors
from envdoctor.model.conflict import Conflict, GroupOutcome
from envdoctor.model.index_url import bare_url
from envdoctor.model.origin import FileOrigin
from envdoctor.model.project import Group, Project
from envdoctor.model.requirement import GroupKind, GroupName, Requirement, RequirementKind, may_hold
from envdoctor.model.resolution import Resolution
from envdoctor.model.target import Arch, OperatingSystem, Target
from envdoctor.model.unknown import Subject, SubjectKind, Unknown, UnknownKind
from envdoctor.ports import Index
from envdoctor.resolve.diagnosis import Diagnosis, resolve_or_conflicts
from envdoctor.resolve.manifest import Limits, Manifest
from envdoctor.verbs.resolver_input import with_newer_level, without_unjudged

__all__ = ["judge_groups"]

_LIMITS = Limits(conflicts=4, conflict_solves=120)
_PLACES = (
    (OperatingSystem.LINUX, Arch.X86_64),
    (OperatingSystem.WINDOWS, Arch.X86_64),
    (OperatingSystem.MACOS, Arch.ARM64),
    (OperatingSystem.LINUX, Arch.AARCH64),
)


def judge_groups(
    project: Project,
    manifest: Manifest,
    conflicts: Sequence[Conflict],
    known: Resolution | None,
    index: Index,
    *,
    main: bool = True,
) -> tuple[GroupOutcome, ...]:
    """Return what came out for each list that nobody asked for.

    ``manifest`` is that of the main list, ``conflicts`` and ``known`` what came out for it: lines in conflict already
    are left out, so that each list shows its own faults alone. Where the main list itself was not asked for (no
    ``main``), nothing is said of extras: nobody installs one without it.
    """
    left = {group.name for group in project.groups if not main and group.name.kind is GroupKind.EXTRA}
    judged = tuple(group for group in project.groups if group.name not in left)
    bench = _Bench(replace(project, groups=judged), manifest, conflicts, known, index)
    found = {outcome.name: outcome for outcome in bench.outcomes()}
    unknown = Unknown(UnknownKind.MAIN_LIST, Subject(SubjectKind.PROJECT, project.name or ""))
    each = {group.name: found.get(group.name) or GroupOutcome(group.name, unknown=unknown) for group in project.groups}
    for lock in project.locked:
        if lacks := tuple(_lacking(project, lock, manifest.target)):
            name = GroupName(GroupKind.FILE, lock)
            each[name] = replace(each.get(name) or GroupOutcome(name), lacks=lacks)
    return tuple(each.values())


_LOCKED_FROM = {"pipfile.lock": "Pipfile"}
"""The file whose lines a lock has; others are of pyproject.toml."""


def _lacking(project: Project, lock: str, target: Target) -> Iterator[Requirement]:
    """Yield what the file that a lock is made of asks for on the target, and what the lock does not name."""
    if lock.startswith("pylock."):
        return  # Nobody knows of which file it was made.
    environment, bound = target.marker_environment(), project.requires_python
    if bound is not None and not admits(bound, target.python):
        return  # Nor is it made for such a Python.
    if project.environments and not any(may_hold(marker, environment) for marker, _ in project.environments):
        return
    own = canonicalize_name(project.name or "")
    for line in project.requirements:
        mine = isinstance(line.origin, FileOrigin) and line.origin.path == _LOCKED_FROM.get(
            lock.lower(), "pyproject.toml"
        )
        plain = line.kind is not RequirementKind.CONSTRAINT and line.group is None and line.name != own
        if mine and plain and line.name not in project.locked[lock] and may_hold(line.marker, environment):
            yield line


class _Bench:
    """The main list, as groups are laid beside it."""

    def __init__(
        self,
        project: Project,
        manifest: Manifest,
        conflicts: Sequence[Conflict],
        known: Resolution | None,
        index: Index,
    ) -> None:
        self._project = project
        self._index = index
        in_conflict = {line for conflict in conflicts for line in conflict.core}
        versions: dict[NormalizedName, Version] = dict(manifest.preferences)
        versions.update((package.name, package.version) for package in (known.packages if known else ()))
        self._main = replace(
            manifest,
            requirements=tuple(line for line in manifest.requirements if line not in in_conflict),
            preferences=versions,
            # A version that cannot be read is no reason to find fault with what decides nothing.
            policy=replace(manifest.policy, unread=True),
            limits=_LIMITS,
        )

    def outcomes(self) -> Iterator[GroupOutcome]:
        together: list[Group] = []
        for group in self._project.groups:
            other = self._other_index(group)
            if other is not None:
                yield GroupOutcome(group.name, unknown=other)
            elif group.alone:
                yield self._alone(group)
            elif group.name.kind is GroupKind.FILE:
                # A lock pins everything: it would stand against every other list.
                yield from self._halved((group,))
            else:
                together.append(group)
        yield from self._halved(together)

    def _other_index(self, group: Group) -> Unknown | None:
        """Return why a group cannot be judged with the indexes that the main list names, None where it can."""
        urls = {option.url for option in self._project.index_options}
        urls |= {line.index_url for line in self._project.requirements if line.index_url}
        own = [option.url for option in group.index_options]
        own += [line.index_url for line in group.requirements if line.index_url]
        others = [url for url in own if url not in urls]
        if not others:
            return None
        url = bare_url(others[0])
        return Unknown(UnknownKind.OTHER_INDEX, Subject(SubjectKind.INDEX, url), url=url)

    def _halved(self, groups: Sequence[Group]) -> Iterator[GroupOutcome]:
        """Judge all at once, and where that does not hold each half by itself."""
        if not groups:
            return
        lines = [line for group in groups for line in group.requirements]
        found = self._laid(lines, self._main)
        if len(groups) == 1:
            yield self._said(groups[0], found, self._main)
        elif found.resolution is not None:
            for group in groups:
                yield self._said(group, found, self._main)
        else:
            middle = len(groups) // 2
            yield from self._halved(groups[:middle])
            yield from self._halved(groups[middle:])

    def _alone(self, group: Group) -> GroupOutcome:
        manifest = replace(self._main, requirements=(), preferences={})
        return self._said(group, self._laid(group.requirements, manifest), manifest)

    def _laid(self, lines: Iterable[Requirement], manifest: Manifest) -> Diagnosis:
        return resolve_or_conflicts(replace(manifest, requirements=(*manifest.requirements, *lines)), self._index)

    def _said(self, group: Group, found: Diagnosis, manifest: Manifest) -> GroupOutcome:
        if found.unknowns:
            return GroupOutcome(group.name, unknown=found.unknowns[0])
        own = set(group.requirements)
        mine = tuple(conflict for conflict in found.conflicts if own.intersection(conflict.core))
        if mine:
            asked = replace(manifest, requirements=(*manifest.requirements, *group.requirements))
            _, found = with_newer_level(asked, found, lambda other: resolve_or_conflicts(other, self._index))
            found = without_unjudged(found, self._project, manifest.target)
            mine = tuple(conflict for conflict in found.conflicts if own.intersection(conflict.core))
            if not mine and found.unknowns:
                return GroupOutcome(group.name, unknown=found.unknowns[-1])
        if mine and group.name.kind is GroupKind.EXTRA and self._holds_where_it_is_published(group, manifest):
            return GroupOutcome(group.name)
        elsewhere = self._elsewhere(group, manifest) if mine else ""
        return GroupOutcome(group.name, mine, elsewhere, tuple(_without_file(group, found.resolution)))

    def _holds_where_it_is_published(self, group: Group, manifest: Manifest) -> bool:
        """Whether an extra holds with what its own file requires: who installs the package sees no other list.

        The root of a workspace, which leads to its members, is none of their files.
        """
        far = 1 if group.name.of else None
        files = {path for line in group.requirements for path in islice(_files_of(line), far)}
        published = tuple(line for line in manifest.requirements if files.intersection(_files_of(line)))
        if not published or len(published) == len(manifest.requirements):
            return False
        found = self._laid(group.requirements, replace(manifest, requirements=published))
        return found.resolution is not None and not found.unknowns

    def _elsewhere(self, group: Group, manifest: Manifest) -> str:
        """Return the first other target for which the group holds."""
        for target in self._other_targets(manifest.target):
            found = self._laid(group.requirements, replace(manifest, target=target, preferences={}))
            if found.resolution is not None and not found.unknowns:
                return f"{target.os.value} {target.arch.value}, Python {target.python_version}"
        return ""

    def _other_targets(self, target: Target) -> Iterator[Target]:
        for system, arch in _PLACES:
            if (system, arch) != (target.os, target.arch):
                yield replace(target.on_system(system), arch=arch, wsl=False)
        bound = self._project.requires_python
        for python in reversed(admitted_minors(bound) if bound is not None else ()):
            if python != target.python:
                yield target.for_python(python)


def _without_file(group: Group, resolution: Resolution | None) -> Iterator[str]:
    """Yield the projects of a lock of which it has no file that the target can use."""
    for line in group.requirements:
        package = resolution.get(line.name) if resolution is not None else None
        if package is not None and comparable(package.files, line.hashes) and not agreeing(package.files, line.hashes):
            yield line.name


def _files_of(line: Requirement) -> Iterator[str]:
    """Yield the file of a line, and the files that include it."""
    origin = line.origin if isinstance(line.origin, FileOrigin) else None
    while origin is not None:
        yield origin.path
        origin = origin.included_from
