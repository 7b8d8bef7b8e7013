"""Which Pythons and platforms the files of some versions are for, read from file names and requires-python."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from packaging.tags import Tag
from packaging.utils import canonicalize_name, parse_wheel_filename
from packaging.version import Version

from envdoctor.model.candidate import DistributionFile, FileKind
from envdoctor.model.compatibility import KNOWN_PYTHONS, can_use
from envdoctor.model.conflict import Clash
from envdoctor.model.dataclass import dataclass
from envdoctor.model.finding import in_words
from envdoctor.model.target import Arch, OperatingSystem, Target

__all__ = ["Reach", "elsewhere_marker", "named_by_link", "pythons_in_words", "reach_of", "span_in_words", "with_file"]

_SYSTEMS = (("win", "Windows"), ("macosx", "macOS"), ("manylinux", "Linux"), ("musllinux", "Linux (musl)"))
_MACHINES = (
    ("x86_64", "x86_64"),
    ("amd64", "x86_64"),
    ("aarch64", "aarch64"),
    ("arm64", "arm64"),
    ("universal2", "universal"),
    ("win32", "32-bit"),
    ("i686", "32-bit"),
)
_LEVEL = re.compile(r"(?:manylinux|macosx)_(\d+)_(\d+)_")


@dataclass(frozen=True, slots=True)
class Reach:
    """What a set of files covers."""

    pythons: tuple[tuple[int, int], ...]
    """Pythons that have a file on the target's platform, oldest first."""
    platforms: tuple[str, ...]
    """Platforms that have a wheel for some Python."""
    source: bool
    """There is a source distribution."""
    level: tuple[int, int] | None = None
    """The oldest newer system that has a file, where no Python helps: the glibc or macOS."""
    with_level: tuple[tuple[int, int], ...] = ()
    """Pythons that have a file there, oldest first; empty where the target's own is one of them."""


def reach_of(files: Iterable[DistributionFile], target: Target) -> Reach:
    """Return what the files cover; ``target`` gives the platform for which Pythons are counted."""
    kept = list(files)
    pythons = _pythons(kept, target)
    platforms = dict.fromkeys(name for file in kept if file.kind is FileKind.WHEEL for name in _platforms(file))
    source = any(file.kind is FileKind.SDIST for file in kept)
    level, there = (None, ()) if pythons else _level(kept, target)
    return Reach(pythons, tuple(sorted(platforms)), source, level, there)


def with_file(
    versions: Iterable[Version], files: Mapping[Version, Iterable[DistributionFile]], reach: Reach, target: Target
) -> tuple[Version, ...]:
    """Return the versions that have a file for one of the Pythons that are reached, all of them where none is."""
    kept = tuple(versions)
    others = [target.for_python(python) for python in reach.pythons]
    return tuple(one for one in kept if any(can_use(file, other) for file in files[one] for other in others)) or kept


def named_by_link(clash: Clash) -> list[DistributionFile]:
    """Return the wheel that cannot be used, where a link names it: no index is asked for what it has; else nothing."""
    name, url = (
        canonicalize_name(clash.package),
        next((s.requirement.url for s in clash.sides if s.requirement.url), ""),
    )
    refused = [(item.version, item.filename) for item in clash.rejections if url and item.filename]
    return [DistributionFile(name, version, file, FileKind.WHEEL, url) for version, file in refused if version]


def elsewhere_marker(reach: Reach, target: Target) -> str:
    """Return a marker that is true everywhere but on machines like the target's."""
    environment, os = target.marker_environment(), target.os
    system, machine = (f"{name} != '{environment[name]}'" for name in ("sys_platform", "platform_machine"))
    if os is OperatingSystem.LINUX and target.arch is not Arch.X86_64:
        return machine
    # Where the same system has wheels for another processor, those machines keep the line.
    others = any(name.lower().startswith(os.value) for name in reach.platforms)
    return f"{system} or {machine}" if others else system


def _pythons(files: Sequence[DistributionFile], target: Target) -> tuple[tuple[int, int], ...]:
    every = [target.for_python(python) for python in KNOWN_PYTHONS]
    return tuple(other.python for other in every if any(can_use(file, other) for file in files))


def _level(
    files: Sequence[DistributionFile], target: Target
) -> tuple[tuple[int, int] | None, tuple[tuple[int, int], ...]]:
    """Return the oldest newer system that has a file for the target's Python, else for others, and for which."""
    now = target.level
    if now is None:
        return None, ()
    named = {(int(item[1]), int(item[2])) for file in files for item in _LEVEL.finditer(file.filename)}
    newer = {level: target.at_level(level) for level in sorted(item for item in named if item > now)}
    for level, other in newer.items():
        if any(can_use(file, other) for file in files):
            return level, ()
    found = ((level, pythons) for level, other in newer.items() if (pythons := _pythons(files, other)))
    return next(found, (None, ()))


def _tags(file: DistributionFile) -> frozenset[Tag]:
    try:
        return parse_wheel_filename(file.filename)[3]
    except ValueError:
        return frozenset()


def _platforms(file: DistributionFile) -> Iterable[str]:
    for tag in _tags(file):
        system = next((name for prefix, name in _SYSTEMS if tag.platform.startswith(prefix)), None)
        if system is None:
            system = "Linux" if tag.platform.startswith("linux") else ""
        machine = next((name for part, name in _MACHINES if tag.platform.endswith(part)), "")
        yield f"{system} {machine}".strip() or ("any platform" if tag.platform == "any" else tag.platform)


def pythons_in_words(pythons: Sequence[tuple[int, int]]) -> str:
    """Return ``Python 3.8 to 3.12``, ``Python 3.8, 3.10 and 3.11`` or ``Python 3.12``."""
    names = [f"{major}.{minor}" for major, minor in pythons]
    unbroken = all(after[1] - before[1] == 1 for before, after in pairwise(pythons))
    return f"Python {names[0]} to {names[-1]}" if len(names) > 2 and unbroken else f"Python {in_words(names)}"


def span_in_words(versions: Sequence[Version]) -> str:
    """Return ``0.8.1 to 0.9.1``, or the one version, without build labels; oldest first."""
    names = list(dict.fromkeys(item.public for item in versions))
    return names[0] if len(names) == 1 else f"{names[0]} to {names[-1]}"
