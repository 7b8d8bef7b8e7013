"""Everything that stands in the way of a lock: what a person must correct, and what could not be known.

A diagnosis may go on without the metadata and indexes that did not come, and without demands that nobody can follow,
and say so. A lock would install something else than was asked for.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from dataclasses import replace

from packaging.requirements import InvalidRequirement
from packaging.requirements import Requirement as Pep508
from packaging.utils import canonicalize_name
from packaging.version import Version

from envdoctor.model.candidate import DIRECT_REFERENCE, Rejection, agreeing, comparable, malformed_hash, safe_hashes
from envdoctor.model.compatibility import admits
from envdoctor.model.conflict import Conflict
from envdoctor.model.origin import FileOrigin
from envdoctor.model.override import OverrideSource
from envdoctor.model.project import Project, ReadingProblem, ReadingProblemKind
from envdoctor.model.refusal import Refusal, RefusalKind
from envdoctor.model.repair import Repair
from envdoctor.model.requirement import Requirement, RequirementKind, may_hold
from envdoctor.model.resolution import Resolution, ResolvedPackage
from envdoctor.model.target import Target
from envdoctor.model.unknown import Unknown, UnknownKind
from envdoctor.ports import Index, IndexUnavailable, MetadataUnavailable, ProjectNotFound
from envdoctor.resolve.diagnosis import Diagnosis
from envdoctor.resolve.solver import any_version

__all__ = [
    "amiss",
    "direct_demands",
    "for_want_of_a_file",
    "given_up",
    "hash_refusals",
    "left_open",
    "left_out_unseen",
    "not_pinned",
    "nothing_there",
    "out_of_reach",
    "rests_on_the_unread",
    "unread",
    "unread_versions",
    "unsound",
    "with_hashes",
]


def unread_versions(diagnosis: Diagnosis) -> Iterator[Refusal]:
    """Yield the versions, in use or passed over, whose metadata did not come.

    What only a build would tell is not among them: to ask again brings nothing, so the lock is written and says it.
    """
    for rejection in _left_open(diagnosis):
        if rejection.unknown is not None and rejection.unknown.may_be_asked_again:
            yield Refusal(RefusalKind.UNKNOWN, rejection.project, unknown=rejection.unknown)


def left_open(diagnosis: Diagnosis) -> tuple[Unknown, ...]:
    """Return what is not known and stands in no lock's way: what only a build would tell, lines that say nothing."""
    refused = {refusal.unknown for refusal in unread_versions(diagnosis)} | set(diagnosis.on_trust)
    return tuple(unknown for unknown in diagnosis.unknowns if unknown not in refused)


def _left_open(diagnosis: Diagnosis) -> Iterator[Rejection]:
    """Yield the rejections that leave something open; the others lie beside every way that was taken."""
    for rejection in diagnosis.rejections:
        if rejection.unknown in diagnosis.unknowns:
            yield rejection


def out_of_reach(unreachable: Iterable[Unknown], known: Iterable[Refusal]) -> Iterator[Refusal]:
    """Yield the indexes that did not answer and of which no other refusal speaks."""
    spoken_of = {refusal.index for refusal in known}
    for unknown in unreachable:
        if unknown.index not in spoken_of:
            yield Refusal(RefusalKind.UNKNOWN, place=unknown.url, index=unknown.index, unknown=unknown)


def direct_demands(resolution: Resolution, index: Index, target: Target) -> Iterator[Refusal]:
    """Yield the demands of distributions for a file at a URL: the index's file of that name need not be the same."""
    for package in resolution.packages:
        for demand in _direct_demands(package, index, target):
            name = canonicalize_name(demand.name)
            met = resolution.get(name)
            if met is not None and package.name not in met.overruled:
                yield Refusal(
                    RefusalKind.DIRECT_REFERENCE,
                    name,
                    f"{package.name} {package.version} asks for `{demand}`, a direct reference; an index's file need "
                    "not be the same; an override in a profile can say which version to take",
                )


def _direct_demands(package: ResolvedPackage, index: Index, target: Target) -> Iterator[Pep508]:
    try:
        lines = index.metadata(package.file).requires_dist
    except (MetadataUnavailable, IndexUnavailable):
        return
    for line in lines:
        if "@" not in line:
            continue
        with contextlib.suppress(InvalidRequirement):
            demand = Pep508(line)
            environments = [target.marker_environment(extra) for extra in ("", *package.extras)]
            if demand.url and any(may_hold(demand.marker, each) for each in environments):
                yield demand


def rests_on_the_unread(conflict: Conflict, diagnosis: Diagnosis) -> bool:
    """Return whether a version that could not be read may be the whole reason of a conflict."""
    unread = {rejection.project for rejection in _left_open(diagnosis)}
    sides = conflict.clash.sides
    named: set[str] = {conflict.clash.package, *(item.name for item in conflict.core)}
    named |= {name for side in sides for name in (side.requirement.name, *side.via)}
    return bool(unread & named)


def amiss(project: Project, target: Target) -> tuple[Refusal, ...]:
    """Return what is wrong with the project's own files, whatever an index says."""
    python = not_admitted(project, target)
    return (*misread(project), *((python,) if python else ()))


_WRONG = frozenset(
    {
        ReadingProblemKind.INVALID_REQUIREMENT,
        ReadingProblemKind.MISSING_FILE,
        ReadingProblemKind.MISSING_VARIABLE,
        ReadingProblemKind.UNKNOWN_OPTION,
        ReadingProblemKind.OUTSIDE_PROJECT,
    }
)
_UNKNOWN = frozenset({ReadingProblemKind.DYNAMIC, ReadingProblemKind.UNREAD})
_KNOWN_PROJECT = canonicalize_name("pip")
"""A project that every index of the usual kind has."""


def misread(project: Project) -> tuple[Refusal, ...]:
    """Return what could not be read of the project's files; the rest alone is not what the project asks for."""
    found = [_of_problem(problem) for problem in project.problems if problem.kind in _WRONG | _UNKNOWN]
    for requirement in project.requirements:
        for text in requirement.hashes:
            reason = malformed_hash(text)
            if reason is not None:
                found.append(
                    _of_line(
                        RefusalKind.FILE, requirement, f"`--hash={text[:80]}` is no hash that installers take: {reason}"
                    )
                )
    return tuple(found)


def _of_problem(problem: ReadingProblem) -> Refusal:
    message = problem.message.rstrip(".")
    if problem.kind is ReadingProblemKind.DYNAMIC:
        message += "; write the requirements down where they can be read (`[project] dependencies`)"
    elif problem.suggestions:
        message += f"; was {' or '.join(f'`{item}`' for item in problem.suggestions[:3])} meant?"
    kind = RefusalKind.FILE if problem.kind in _WRONG else RefusalKind.UNREAD
    return Refusal(kind, message=message, place=str(problem.origin))


def not_admitted(project: Project, target: Target) -> Refusal | None:
    """Return a refusal where the project rules the target's Python out, or chooses one for which nothing is judged."""
    unjudged = project.unjudged_on(target)
    wanted, where = project.chosen_python if unjudged else (project.requires_python, project.requires_python_origin)
    if wanted is None or admits(wanted, target.python):
        return None
    origin = where or FileOrigin(project.name or "the project")
    message = f"the project requires Python `{wanted}`, and the target has {target.python_version}"
    message = f"the project is to have Python `{wanted}`, for which nothing is judged" if unjudged else message
    kind = RefusalKind.UNREAD if unjudged else RefusalKind.PYTHON
    return Refusal(kind, message=f"{message}; `--target-python` names another", place=str(origin))


def unread(diagnosis: Diagnosis, written: Iterable[Requirement]) -> Iterator[Refusal]:
    """Yield what the resolution leaves out because nothing is known of it: direct references, and unread pages."""
    direct = {requirement.name: requirement for requirement in written if requirement.url}
    for package in diagnosis.resolution.packages if diagnosis.resolution else ():
        if package.file.index == DIRECT_REFERENCE and package.name in direct:
            yield _direct(direct[package.name], _NO_FILE, package.version)
    told = set()
    for unknown in diagnosis.on_trust:
        name = canonicalize_name(unknown.subject.name)
        told.add(name)
        if name in direct:
            yield _direct(direct[name], ": what it requires is not known without fetching it")
        else:
            yield Refusal(RefusalKind.UNKNOWN, name, unknown=unknown)
    for name in diagnosis.graph.described if diagnosis.graph is not None else ():
        if name not in told and name in direct:
            yield _direct(direct[name], _NO_FILE)


_NO_FILE = ", and a lock names files of an index with their hashes"


def _direct(line: Requirement, why: str, version: Version | None = None) -> Refusal:
    """Return why a direct reference is not locked; ``version``: the one it is of, where it could be looked at."""
    later = "install it after the lock" if version else "leave it out here and install it after the lock"
    example = f"`{line.name}=={version or '1.0'}`"
    message = f"`{line}` is a direct reference{why}; take a version of an index, such as {example}, or {later}"
    return _of_line(RefusalKind.DIRECT_REFERENCE, line, message)


def unsound(diagnosis: Diagnosis) -> Iterator[Refusal]:
    """Yield what a resolution breaks that fails its own check: whatever it is good for, it is no lock."""
    for unknown in diagnosis.unknowns:
        if unknown.kind is UnknownKind.UNSOUND:
            yield Refusal(RefusalKind.UNKNOWN, unknown=unknown)


def for_want_of_a_file(diagnosis: Diagnosis) -> Iterator[Refusal]:
    """Yield what has a file for a newer system than is assumed alone, or may have one for a Python that is not judged.

    Whether a lock could be installed, nobody knows.
    """
    for unknown in diagnosis.unknowns:
        if unknown.kind in (UnknownKind.NEWER_LEVEL, UnknownKind.PYTHON_NOT_JUDGED):
            yield Refusal(RefusalKind.UNKNOWN, unknown.subject.name, unknown=unknown)


def given_up(diagnosis: Diagnosis, resolution: Resolution | None) -> Iterator[Refusal]:
    """Yield why there is no resolution where the search met its limit: nobody knows whether there is one.

    Conflicts that were found are known, whatever else was not looked at to the end.
    """
    if resolution is not None or diagnosis.conflicts:
        return
    stops = [unknown for unknown in diagnosis.unknowns if unknown.kind is UnknownKind.SEARCH_GIVEN_UP]
    yield from (Refusal(RefusalKind.UNKNOWN, unknown=unknown) for unknown in stops[:1])


def nothing_there(
    diagnosis: Diagnosis, resolution: Resolution | None, index: Index | None, url: str | None
) -> Refusal | None:
    """Return a refusal where the index has none of the projects, and not even one that every index has."""
    if url is None or index is None or not diagnosis.missing or (resolution is not None and resolution.packages):
        return None
    try:
        index.page(_KNOWN_PROJECT)
    except ProjectNotFound:
        names = ", ".join(f"`{name}`" for name in diagnosis.missing[:3])
        more = f" and {len(diagnosis.missing) - 3} more" if len(diagnosis.missing) > 3 else ""
        message = f"has no {names}{more}, nor `pip`: is it the URL of a package index?"
        return Refusal(RefusalKind.NO_INDEX, message=message, place=url)
    except IndexUnavailable as error:
        return Refusal(RefusalKind.UNKNOWN, place=url, unknown=error.unknown)
    return None


def left_out_unseen(diagnosis: Diagnosis, repair: Repair | None) -> Iterator[Refusal]:
    """Yield a person's own lines that a repair would drop: no index has their project, or no version can be used."""
    if repair is None:
        return
    number = repair.id.removeprefix("R")
    for override in repair.overrides:
        for aside in override.sets_aside:
            if not _asks(aside):
                continue
            if aside.name in diagnosis.missing:
                message = f"no index has `{aside.name}`; correct `{aside}`, or name the index that has it"
                yield _of_line(RefusalKind.NO_PROJECT, aside, message)
            elif override.leaves_out and override.source is OverrideSource.SEARCH:
                usable = diagnosis.graph is not None and any_version(diagnosis.graph, aside.name)
                why = "holds together with the rest" if usable else "can be used on this target"
                message = (
                    f"nothing that `{aside}` admits {why}; correct it, exclude `{aside.name}` in "
                    f"a profile, or leave it out on purpose with `--repair {number}`"
                )
                yield _of_line(RefusalKind.NO_PROJECT, aside, message)


def _asks(requirement: Requirement) -> bool:
    return requirement.kind is RequirementKind.REQUIRE and requirement.origin.kind != "distribution"


def hash_refusals(project: Project, resolution: Resolution, target: Target) -> Iterator[Refusal]:
    """Yield the versions whose files have none of the hashes that the project asks for."""
    for package, requirement in _hashed(project, resolution, target):
        if agreeing(package.files, requirement.hashes):
            continue
        known = comparable(package.files, requirement.hashes)
        said = "has a hash that it asks for" if known else "has a hash of that kind on its index"
        kind = RefusalKind.WRONG_HASH if known else RefusalKind.NO_HASH
        yield _of_line(kind, requirement, f"no file of `{package.name}` {package.version} {said}")


def with_hashes(project: Project, resolution: Resolution, target: Target) -> Resolution:
    """Return the resolution with those files alone whose hashes the project asks for, where it asks for any."""
    allowed: dict[str, list[Requirement]] = {}
    for package, requirement in _hashed(project, resolution, target):
        allowed.setdefault(package.name, []).append(requirement)
    packages = []
    for package in resolution.packages:
        files = package.files
        for requirement in allowed.get(package.name, ()):
            files = agreeing(files, requirement.hashes)
        packages.append(replace(package, file=files[0], files=files) if files and files != package.files else package)
    return replace(resolution, packages=tuple(packages))


def _hashed(project: Project, resolution: Resolution, target: Target) -> Iterator[tuple[ResolvedPackage, Requirement]]:
    environment = target.marker_environment()
    for requirement in project.requirements:
        package = resolution.get(requirement.name)
        if package is not None and requirement.hashes and may_hold(requirement.marker, environment):
            yield package, requirement


def _of_line(kind: RefusalKind, requirement: Requirement, message: str) -> Refusal:
    return Refusal(kind, requirement.name, message, place=str(requirement.origin))


def not_pinned(resolution: Resolution) -> Iterator[Refusal]:
    """Yield every package that a lock could not pin: no hash, or a file that only stands in for another's."""
    for package in resolution.packages:
        file = package.file
        if file.stand_in:
            message = f"index `{file.index}` could not be reached, so no hash of its files is known"
            yield Refusal(RefusalKind.UNKNOWN, package.name, message, index=file.index)
        elif not safe_hashes(file):
            message = f"`{file.filename}` has no hash on index `{file.index}`"
            yield Refusal(RefusalKind.NO_HASH, package.name, message)
