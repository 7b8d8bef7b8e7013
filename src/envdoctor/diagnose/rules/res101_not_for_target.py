"""A requirement that no file of the index can meet on the target.

## What it does

Reports a requirement that alone cannot be met on the target: no version that it admits has a file for it, or the
index has no project of that name.

## Why is this bad

`pip` says "No matching distribution found" and lists versions that another Python or platform would see.

## Example

`torch==2.0.1` on Python 3.12: its wheels stop at 3.11. The remedy says which Pythons have a file on the target's
platform or, where none has, which newer glibc or macOS has one, or for which platforms there are wheels, and the
nearest versions that the target has. Of a name that no index has, it asks whether a well-known one was meant.

## References

- PyPA, Platform compatibility tags: https://packaging.python.org/specifications/platform-compatibility-tags/
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from packaging.utils import canonicalize_name
from packaging.version import Version

from envdoctor.diagnose.advisories.vocabulary import shipped_tables
from envdoctor.diagnose.examination import Examination, line_of
from envdoctor.diagnose.file_reach import (
    Reach,
    elsewhere_marker,
    named_by_link,
    pythons_in_words,
    reach_of,
    span_in_words,
    with_file,
)
from envdoctor.diagnose.module_owners import family_of, meant_by, one_to_keep
from envdoctor.diagnose.rule import Rule
from envdoctor.diagnose.wheel_facts import shipped_wheel_facts
from envdoctor.model.candidate import DistributionFile, ProjectPage, RejectionKind
from envdoctor.model.compatibility import admits, can_use
from envdoctor.model.conflict import Conflict
from envdoctor.model.dataclass import dataclass
from envdoctor.model.finding import Command, Evidence, Finding, Remedy, Severity, in_words
from envdoctor.model.origin import DistributionOrigin
from envdoctor.model.project import IndexOptionKind, Project, ReadingProblemKind
from envdoctor.model.requirement import admits_nothing
from envdoctor.model.target import Backend, OperatingSystem, Target, dotted
from envdoctor.ports import Index, IndexUnavailable, ProjectNotFound

_MOST = 3
_TAGS = frozenset({RejectionKind.TAG, RejectionKind.REQUIRES_PYTHON})


@dataclass(frozen=True, slots=True)
class _Files:
    """What the index has of the package that cannot be had: the versions that were asked for, and the others."""

    target: Target
    asked: tuple[Version, ...]
    """Oldest first."""
    reach: Reach
    """Of all versions asked for together."""
    below: Version | None
    """The nearest older version with a file for the target."""
    above: Version | None
    newest: Version | None
    """The newest version with one, where it is not ``above``."""
    plain: str = ""
    """The distribution with the same module for this system, else for the CPU, that has a file for the target."""


def _read(examination: Examination, conflict: Conflict) -> _Files | None:
    """Return what the page says, None where nothing is known or the versions asked for are not what fails."""
    index, target = examination.index, examination.target
    if index is None or target is None:
        return None
    by_version = _by_version(index, conflict)
    asked = _asked(by_version, conflict)
    refused = {item.filename for item in conflict.clash.rejections if item.kind is RejectionKind.SOURCE_ONLY}
    files = [file for version in asked for file in by_version[version] if file.filename not in refused]
    reach = reach_of(files, target)
    if not asked or target.python in reach.pythons or (refused and not reach.pythons):
        return None
    facts = shipped_wheel_facts()
    usable = sorted(
        version
        for version, of_version in by_version.items()
        if not version.is_prerelease
        and any(can_use(file, target) for file in of_version)
        and (not refused or str(version) in conflict.clash.available)
        and not facts.failing(conflict.clash.package, str(version))
    )
    above = [item for item in usable if item > asked[-1]]
    below = [item for item in usable if item < asked[0]]
    nearest = (below[-1] if below else None, above[0] if above else None, above[-1] if len(above) > 1 else None)
    there = with_file(asked, by_version, reach, target)
    return _Files(target, there, reach, *nearest, _plain(index, conflict.clash.package, target))


def _plain(index: Index, name: str, target: Target) -> str:
    family = family_of([name])
    plain = one_to_keep(family, Backend.CPU.value) if family else None
    if family and target.os is OperatingSystem.WINDOWS and target.backend in (Backend.CUDA, Backend.ZLUDA):
        plain = f"{name}-windows" if f"{name}-windows" in family.names else plain
    if plain is None or plain == name:
        return ""
    page = _page(index, plain)
    files = page.files if page is not None else ()
    return plain if any(can_use(file, target) and not file.version.is_prerelease for file in files) else ""


def _page(index: Index | None, name: str) -> ProjectPage | None:
    try:
        return index.page(canonicalize_name(name)) if index is not None else None
    except (IndexUnavailable, ProjectNotFound):
        return None


def _by_version(index: Index, conflict: Conflict) -> dict[Version, list[DistributionFile]]:
    """Return the files of each version, none where the page cannot be read; of a link the one that it names."""
    found: dict[Version, list[DistributionFile]] = {}
    page = _page(index, conflict.clash.package)
    for file in named_by_link(conflict.clash) or (page.files if page is not None else ()):
        found.setdefault(file.version, []).append(file)
    return found


def _asked(versions: Iterable[Version], conflict: Conflict) -> list[Version]:
    """Return the versions that all sides agree with, pre-releases too, oldest first."""
    specifiers = [side.requirement.specifier for side in conflict.clash.sides]
    return sorted(item for item in versions if all(one.contains(item, prereleases=True) for one in specifiers))


def _pre_release(examination: Examination, conflict: Conflict) -> Version | None:
    """Return the newest version that would do, where only pre-releases do and nobody asks for one."""
    index, target = examination.index, examination.target
    if index is None or target is None:
        return None
    by_version = _by_version(index, conflict)
    usable = [item for item in _asked(by_version, conflict) if any(can_use(file, target) for file in by_version[item])]
    return usable[-1] if usable and all(item.is_prerelease for item in usable) else None


def _place(target: Target) -> str:
    return f"{target.os.value} {target.arch.value}"


def _nearest(name: str, files: _Files) -> str:
    """Return which versions the target has, nearest first; empty where it has none."""
    near = [str(item) for item in (files.below, files.above) if item]
    if not near:
        return ""
    last = f", the newest is {files.newest}" if files.newest else ""
    verb = "is" if len(near) == 1 else "are"
    return f"the nearest `{name}` with a file for this target {verb} {in_words(near)}{last}{_pair(name, files)}"


def _pair(name: str, files: _Files) -> str:
    """Return which torch goes with the nearest version, since moving one of the family alone tears it apart."""
    nearest = files.above or files.below
    table = shipped_tables().get(f"{name}-torch")
    wanted = table.wanted(nearest) if table and nearest else None
    return f" (`{name}` {nearest} was built for torch{wanted}: move both)" if wanted else ""


def _found_elsewhere(project: Project | None, conflict: Conflict) -> str:
    """Return what to do where no index is to have it: a path leads nowhere, or no index may be asked; else empty."""
    line, name = conflict.core[0], conflict.clash.package
    for problem in project.problems if project is not None else ():
        if problem.kind is ReadingProblemKind.MISSING_FILE and problem.origin == line.origin:
            return f"put the file where {line.origin} says, or ask for a version that an index has"
    for option in project.index_options if project is not None else ():
        if option.kind is IndexOptionKind.NO_INDEX:
            return f"put a file of `{name}` where `--find-links` says, or leave out `--no-index` ({option.origin})"
    return ""


def _remedy(
    examination: Examination, conflict: Conflict, files: _Files | None, shared: Sequence[tuple[int, int]]
) -> Remedy:
    name, before = conflict.clash.package, _pre_release(examination, conflict)
    if conflict.clash.is_nowhere:
        if way := _found_elsewhere(examination.project, conflict):
            return Remedy(way)
        meant = " or ".join(f"`{item}`" for item in meant_by(name))
        other = "look up the project's name, or name the index that has it"
        return Remedy(f"ask for {meant}, if that is what is meant; else {other}" if meant else other)
    for origin in (side.requirement.origin for side in conflict.clash.sides):
        need = (
            shipped_wheel_facts().failing(origin.name, origin.version)
            if isinstance(origin, DistributionOrigin)
            else None
        )
        if need is not None and need.instead:
            return Remedy(f"{need.instead}: `{origin}` cannot be installed, {need.fails}")
    if (page := _too_new(examination, conflict)) is not None and page.limit is not None:
        near = _near(conflict, *(late := _asked(page.too_new, conflict)))
        have = f"{page.limit} leaves out `{name}` {span_in_words(late)}, which its index has: {page.limit.way_out}"
        return Remedy(f"{have}; {near}" if near else have)
    if name == conflict.core[0].name and admits_nothing(conflict.core[0].specifier):
        return Remedy(f"no version can be within `{conflict.core[0].specifier}`: correct the line")
    if before is not None:
        have = f"only pre-releases of `{name}` agree with that, the newest is {before}"
        return Remedy(f"{have}: ask for it by name (`{name}=={before}`), as some installers would take it unasked")
    if files is None:
        return Remedy(_another_version(examination, conflict) or _LAST)
    near, asked = _nearest(name, files), span_in_words(files.asked)
    if files.reach.pythons:
        have = f"{pythons_in_words(files.reach.pythons)} has `{name}` {asked} on {_place(files.target)}"
        newest = pythons_in_words((shared or files.reach.pythons)[-1:])
        way = f"{have}: make the environment with {newest}"
        words = f"{way}; on Python {files.target.python_version}, {near}" if near else way
        return Remedy(words, commands=(Command("check", f"{shared[-1][0]}.{shared[-1][1]}"),) if shared else ())
    if files.reach.level:
        return Remedy(_newer_system(name, files, files.reach.level, near))
    where = in_words(files.reach.platforms) or "no platform at all"
    source = "a source distribution" if files.reach.source else "no source distribution"
    have = f"no Python helps: `{name}` {asked} has wheels for {where}, and {source}"
    marker = f"keep the line off this target with the marker `; {elsewhere_marker(files.reach, files.target)}`"
    mine = name == conflict.core[0].name and conflict.core[0].marker is None
    own = marker if mine else f"do without `{name}` on this target"
    if files.plain:
        where = "" if files.plain.endswith("-windows") else ", on the CPU"
        own = f"take `{files.plain}` in its place on this target: it gives the same module{where}"
    return Remedy(f"{have}; {near}; or {own}" if near else f"{have}; {own}")


def _newer_system(name: str, files: _Files, newer: tuple[int, int], near: str) -> str:
    """Return which newer glibc or macOS has a file, and with which Python where the target's has none there either."""
    option, level = files.target.level_option, dotted(newer)
    asked, system = span_in_words(files.asked), f"{files.target.level_name} {level} or later"
    have, said = f"`{name}` {asked} has a file for {_place(files.target)} with {system}", f"--{option} {level}"
    if pythons := files.reach.with_level:
        have += f" and {pythons_in_words(pythons)} alone"
        said += f" --target-python {pythons[-1][0]}.{pythons[-1][1]}"
    way = f"{have}: where the machine has that, say `{said}`"
    other = f"take `{files.plain}` in its place, on the CPU" if files.plain else near
    return f"{way}; else {other}" if other else way


_LAST = "choose a version, or a Python, for which there is a file"


def _another_version(examination: Examination, conflict: Conflict) -> str:
    """Return the versions that the target has nearest to a pin which the index does not have; else empty."""
    name, clash = conflict.clash.package, conflict.clash
    pins = [clause.version for side in clash.sides for clause in side.requirement.specifier if clause.operator == "=="]
    if clash.rejections or not clash.available or len(pins) != 1 or "*" in pins[0]:
        return ""
    pin = Version(pins[0])
    lacks = f"its index has no `{name}` {pin}"
    if closed := _closed(examination, name):
        lacks = f"index `{closed}` could not be reached; by what is known here it has no `{name}` {pin}"
    return f"{lacks}; {_near(conflict, pin)}"


def _near(conflict: Conflict, *wanted: Version) -> str:
    """Return which versions nearest to others (oldest first) the target can have; empty where it can have none."""
    there = sorted(map(Version, conflict.clash.available))
    near = [str(v) for v in ([v for v in there if v < wanted[0]][-1:] + [v for v in there if v > wanted[-1]][:1])]
    verb, them = "is" if len(near) == 1 else "are", "it" if len(wanted) == 1 else "them"
    return f"nearest to {them} {verb} {in_words(near)}, which this target can have" if near else ""


def _too_new(examination: Examination, conflict: Conflict) -> ProjectPage | None:
    """Return the index's page where a date left out of it all versions that were asked for."""
    page = _page(examination.index, conflict.clash.package)
    return page if page and _asked(page.too_new, conflict) and not _asked(page.versions, conflict) else None


def _closed(examination: Examination, name: str) -> str:
    """Return the index of a project that could not be asked, so that tables tell what it has; empty where it could."""
    page = _page(examination.index, name)
    standing = next((file.index for file in page.files if file.stand_in), "") if page is not None else ""
    return standing or (page.unread.index if page is not None and page.unread is not None else "")


def _evidence(conflict: Conflict, files: _Files | None) -> Iterator[Evidence]:
    yield Evidence(f"`{conflict.core[0]}` ({conflict.core[0].origin})", of_conflict=True)
    for side in conflict.clash.sides:
        if side.via:
            yield Evidence(f"{side.requirement.origin} needs `{side.requirement.pep508}`", " -> ".join(side.via))
    rejections = conflict.clash.rejections
    if files is not None:
        yield from _covered(conflict.clash.package, files)
        rejections = tuple(item for item in rejections if item.kind not in _TAGS)
    for rejection in rejections[:_MOST]:
        yield Evidence(f"{rejection.filename or rejection.version}: {rejection.kind.value} {rejection.detail}".rstrip())
    if len(rejections) > _MOST:
        yield Evidence(f"{len(rejections) - _MOST} more files that the target cannot use")


def _covered(name: str, files: _Files) -> Iterator[Evidence]:
    called = f"{name} {span_in_words(files.asked)}"
    wheels = in_words(files.reach.platforms) or "no platform"
    source = "" if files.reach.source else "; no source distribution"
    yield Evidence(f"{called}: wheels for {wheels}{source}", "file names")
    pythons: Sequence[tuple[int, int]] = files.reach.pythons
    have = pythons_in_words(pythons) if pythons else "no Python"
    yield Evidence(f"{called} on {_place(files.target)}: {have}", "file names and requires-python")


def _shared_pythons(read: Sequence[_Files | None]) -> list[tuple[int, int]]:
    """Return the Pythons that would have a file of all that has one on another Python, oldest first."""
    of_each = [set(files.reach.pythons) for files in read if files is not None and files.reach.pythons]
    return sorted(set.intersection(*of_each)) if of_each else []


def _of_profile(examination: Examination, python: tuple[int, int]) -> bool:
    """Return whether the profile, where there is one, is for that Python."""
    return examination.profile is None or admits(examination.profile.target.python, python)


def _why(conflict: Conflict, examination: Examination) -> str:
    """Return what the message says after the requirement that cannot be met."""
    where = f"cannot be met on {examination.target or 'this target'}"
    if conflict.clash.is_nowhere:
        meant = " or ".join(f"`{item}`" for item in meant_by(conflict.clash.package))
        question = f"; did you mean {meant}?" if meant else ""
        return f"{where}: no index has a project called `{conflict.clash.package}`{question}"
    available = conflict.clash.available[:5]
    return f"{where}; it could have {', '.join(available)}" if available else where


def _find(examination: Examination) -> Iterator[Finding]:
    conflicts = [item for item in examination.conflicts if len(item.core) == 1]
    read = [_read(examination, conflict) for conflict in conflicts]
    shared = [python for python in _shared_pythons(read) if _of_profile(examination, python)]
    for conflict, files in zip(conflicts, read, strict=True):
        line = conflict.core[0]
        what = f"`{line}`" if conflict.clash.package == line.name else f"`{line}` (through `{conflict.clash.package}`)"
        yield RULE.finding(
            subject=conflict.clash.package,
            message=f"{what} {_why(conflict, examination)}",
            evidence=tuple(_evidence(conflict, files)),
            remedy=_remedy(examination, conflict, files, shared),
            location=line_of(line),
            conflict=conflict.id,
        )


RULE = Rule.of(__name__, __doc__, Severity.ERROR, _find, needs={"conflicts"})
