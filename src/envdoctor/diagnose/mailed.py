"""Requirements for an environment that is known by a list of versions only: the index still has the metadata."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from packaging.version import InvalidVersion, Version

from envdoctor.model.candidate import DistributionFile, FileKind
from envdoctor.ports import Index, IndexUnavailable, MetadataUnavailable, ProjectNotFound

if TYPE_CHECKING:
    from packaging.utils import NormalizedName

    from envdoctor.model.environment import EnvironmentProblem, InstalledDistribution, InstalledEnvironment

__all__ = ["with_requirements"]


def with_requirements(environment: InstalledEnvironment, index: Index) -> InstalledEnvironment:
    """Return a listing with the requirements that the index has for its versions.

    Distributions that the index does not have in that version (local builds, editable installs) stay as they are,
    and so does an environment that is no listing. Never raises for what the index lacks or when it cannot be reached:
    what stays unknown is told as before.
    """
    if environment.details.get("kind") != "listing" or any(item.requires_dist for item in environment.distributions):
        return environment
    wanted = {item.name: version for item in environment.distributions if (version := _version(item)) is not None}
    index.prefetch_pages(wanted)
    files = dict(_files(wanted, index))
    index.prefetch_metadata(files.values())
    distributions = tuple(_filled(item, files, index) for item in environment.distributions)
    filled = {
        item.name for item, before in zip(distributions, environment.distributions, strict=True) if item != before
    }
    if not filled:
        return environment
    details = {**environment.details, "requirements_from_index": len(filled)}
    open_ = tuple(item.name for item in environment.distributions if item.name not in filled)
    return replace(
        environment, distributions=distributions, details=details, problems=tuple(_problems(environment, open_))
    )


def _version(item: InstalledDistribution) -> Version | None:
    """Return the version to ask for; a build from elsewhere may have other requirements than the index's own."""
    if item.editable or item.direct_url:
        return None
    try:
        return Version(item.version)
    except InvalidVersion:
        return None


def _files(wanted: dict[NormalizedName, Version], index: Index) -> Iterator[tuple[str, DistributionFile]]:
    for name, version in wanted.items():
        try:
            page = index.page(name)
        except (ProjectNotFound, IndexUnavailable):
            continue
        files = [file for file in page.files if file.version == version]
        # Wheels of one release hardly ever differ in what they require, and say it without a build.
        files.sort(key=lambda file: file.kind is not FileKind.WHEEL)
        if files:
            yield name, files[0]


def _filled(item: InstalledDistribution, files: dict[str, DistributionFile], index: Index) -> InstalledDistribution:
    file = files.get(item.name)
    if file is None:
        return item
    try:
        metadata = index.metadata(file)
    except (MetadataUnavailable, IndexUnavailable):
        return item
    return replace(
        item,
        requires_dist=metadata.requires_dist,
        requires_python=metadata.requires_python,
        provides_extra=tuple(sorted(metadata.provides_extra)),
        metadata_path=file.filename,
    )


def _problems(environment: InstalledEnvironment, unfilled: tuple[str, ...]) -> Iterator[EnvironmentProblem]:
    for problem in environment.problems:
        if problem.kind != "not-known" or not problem.detail.startswith("what the distributions require"):
            yield problem
        elif unfilled:
            shown = ", ".join(unfilled[:5]) + (f" and {len(unfilled) - 5} more" if len(unfilled) > 5 else "")
            yield replace(problem, detail=f"what these require: {shown}")
