"""What the distributions of a listing require: the index is asked for the metadata of their versions."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from packaging.utils import canonicalize_name
from packaging.version import Version

from envdoctor.diagnose.surroundings import shows_conda
from envdoctor.model.candidate import DistributionFile, FileKind
from envdoctor.model.compatibility import KNOWN_PYTHONS, Compatibilities, can_use
from envdoctor.model.environment import EnvironmentKind, EnvironmentProblem, EnvironmentProblemKind
from envdoctor.model.file_table import tags_of
from envdoctor.model.target import OperatingSystem, Target
from envdoctor.ports import Index, IndexUnavailable, MetadataUnavailable, ProjectNotFound

if TYPE_CHECKING:
    from packaging.utils import NormalizedName

    from envdoctor.model.environment import InstalledDistribution, InstalledEnvironment

__all__ = ["python_of_wheels", "with_requirements"]

_NAME = re.compile(r"[A-Za-z0-9][\w.-]*")
_Release = tuple["NormalizedName", Version]


def with_requirements(
    environment: InstalledEnvironment, index: Index, target: Target | None = None
) -> InstalledEnvironment:
    """Return a listing with the requirements that the index has for its versions.

    Distributions that the index does not have in that version (local builds, editable installs) stay as they are,
    and so does an environment that is no listing. Never raises for what the index lacks or when it cannot be reached:
    what stays unknown is told as before.
    """
    if environment.kind is not EnvironmentKind.LISTING or any(item.requires_dist for item in environment.distributions):
        return environment
    wanted = [release for item in environment.distributions if (release := _release(item)) is not None]
    index.prefetch_pages({name for name, _ in wanted})
    files = dict(_files(wanted, index, target))
    index.prefetch_metadata(files.values())
    conda = shows_conda(environment)
    by_pip = {item.name for item in environment.distributions if _put_in_by_pip(item)}
    distributions = tuple(_filled(item, files, index, by_pip, conda=conda) for item in environment.distributions)
    filled = {
        item.name for item, before in zip(distributions, environment.distributions, strict=True) if item != before
    }
    if not filled:
        return environment
    open_ = tuple(item.name for item in environment.distributions if item.name not in filled)
    problems = list(_problems(environment, open_))
    chosen = not environment.partial and _is_choice(distributions)
    if chosen:
        named = environment.problems[0].subject if environment.problems else ""
        left_out = "the distributions that it leaves out"
        problems.append(EnvironmentProblem(EnvironmentProblemKind.NOT_TOLD, named, left_out))
    partial = environment.partial or chosen
    return replace(environment, distributions=distributions, problems=tuple(problems), partial=partial)


def python_of_wheels(environment: InstalledEnvironment, index: Index, target: Target) -> tuple[int, int]:
    """Return the Python that the wheels of a listing's versions are for, where nothing tells which one it has.

    That is the target's own where no other has wheels of more of them, else of those with the most the nearest to it.
    """
    wanted = [release for item in environment.distributions if (release := _release(item)) is not None]
    index.prefetch_pages({name for name, _ in wanted})
    wheels: dict[_Release, set[tuple[str, str | None]]] = {}
    for release, file in _each_file(wanted, index):
        if file.kind is FileKind.WHEEL and file.yanked is None:
            wheels.setdefault(release, set()).add((tags_of(file.filename) or "", file.requires_python))

    def without(python: tuple[int, int]) -> int:
        found = Compatibilities(replace(target, python=python, python_full=None))
        return sum(not any(_is_for(found, *kind) for kind in files) for files in wheels.values())

    return min(KNOWN_PYTHONS, key=lambda python: (without(python), abs(python[1] - target.python[1])))


def _is_for(found: Compatibilities, tags: str, requires_python: str | None) -> bool:
    return found.of(tags, requires_python, builds=True, pins_outrank_python_caps=False).rejection is None


def _is_choice(distributions: Sequence[InstalledDistribution]) -> bool:
    """Return whether as much is missing as listed, or more: rows that a person chose, and nothing that ever ran."""
    there = {item.name for item in distributions}
    plain = (text for item in distributions for text in item.requires_dist if ";" not in text)
    needed = {canonicalize_name(found[0]) for text in plain if (found := _NAME.match(text))}
    # What `pip list` says of itself is the last that somebody cuts out.
    return len(needed - there) >= (max(len(there), _FEW) if "pip" in there else len(there))


_FEW = 8


def _release(item: InstalledDistribution) -> _Release | None:
    """Return what to ask for; a build from elsewhere may have other requirements than the index's own."""
    if item.editable or item.direct_url:
        return None
    try:
        return item.name, Version(item.version)
    except ValueError:
        return None


def _files(
    wanted: Sequence[_Release], index: Index, target: Target | None
) -> Iterator[tuple[_Release, DistributionFile]]:
    files: dict[_Release, list[DistributionFile]] = {}
    for release, file in _each_file(wanted, index):
        files.setdefault(release, []).append(file)
    for release, those in files.items():
        yield release, min(those, key=lambda file: _distance(file, target))


def _each_file(wanted: Sequence[_Release], index: Index) -> Iterator[tuple[_Release, DistributionFile]]:
    for name, version in dict.fromkeys(wanted):
        try:
            page = index.page(name)
        except (ProjectNotFound, IndexUnavailable):
            continue
        yield from (((name, version), file) for file in page.files if file.version == version)


_SYSTEMS = {OperatingSystem.LINUX: "linux", OperatingSystem.WINDOWS: "win", OperatingSystem.MACOS: "macosx"}
_PYTHON = re.compile(r"(?:cp|py)(\d)(\d{0,2})")


def _distance(file: DistributionFile, target: Target | None) -> tuple[bool, bool, bool, int]:
    """Return how far a file is from the one that is installed, the least for the nearest.

    A wheel says without a build what it requires. Where none is for the target, its Python or its system's age is
    another than was assumed: of the wheels for its system the one for the newest Python counts.
    """
    if file.kind is not FileKind.WHEEL or target is None:
        return file.kind is not FileKind.WHEEL, False, False, 0
    tags = tags_of(file.filename) or ""
    pythons = [100 * int(major) + int(minor or 0) for major, minor in _PYTHON.findall(tags.partition("-")[0])]
    platform = tags.rpartition("-")[2]
    foreign = platform != "any" and _SYSTEMS[target.os] not in platform
    return False, not can_use(file, target), foreign, -max(pythons, default=0)


def _filled(
    item: InstalledDistribution,
    files: Mapping[_Release, DistributionFile],
    index: Index,
    by_pip: Collection[str],
    *,
    conda: bool,
) -> InstalledDistribution:
    release = _release(item)
    file = files.get(release) if release is not None else None
    if file is None or not _speaks_for(file, item, conda=conda):
        return item
    try:
        metadata = index.metadata(file)
    except (MetadataUnavailable, IndexUnavailable):
        return item
    requires = metadata.requires_dist
    if item.installer == "conda":
        # What conda put in, conda holds together, by names and versions of its own; what pip changed, it does not see.
        names = ((text, _NAME.match(text)) for text in requires)
        requires = tuple(text for text, found in names if found and canonicalize_name(found[0]) in by_pip)
    return replace(
        item,
        requires_dist=requires,
        requires_python=metadata.requires_python,
        provides_extra=tuple(sorted(metadata.provides_extra)),
        metadata_path=file.filename,
    )


_DASHES_WITH_BUILD = 5
"""``name-version-build-python-abi-platform.whl``."""


def _put_in_by_pip(item: InstalledDistribution) -> bool:
    """Return whether pip decides what of a distribution there is; conda's torch has NVIDIA's libraries of its own."""
    return item.installer != "conda" and not item.name.startswith("nvidia-")


def _speaks_for(file: DistributionFile, item: InstalledDistribution, *, conda: bool) -> bool:
    """Return whether a file's metadata holds for what is listed.

    Wheels with a build number (MKL's) are made anew for other libraries, and conda's builds are none of them.
    """
    numbered = file.kind is FileKind.WHEEL and file.filename.count("-") == _DASHES_WITH_BUILD
    return not (numbered and (item.installer == "conda" or (conda and item.installer is None)))


def _problems(environment: InstalledEnvironment, unfilled: tuple[str, ...]) -> Iterator[EnvironmentProblem]:
    for problem in environment.problems:
        if problem.kind is not EnvironmentProblemKind.REQUIREMENTS_NOT_TOLD:
            yield problem
        elif unfilled:
            shown = ", ".join(unfilled[:5]) + (f" and {len(unfilled) - 5} more" if len(unfilled) > 5 else "")
            yield replace(problem, detail=f"what these require: {shown}")
