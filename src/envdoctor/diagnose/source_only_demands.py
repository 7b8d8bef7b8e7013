"""What pins that a repair moves would have demanded, where that is source only."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

from packaging.requirements import InvalidRequirement
from packaging.requirements import Requirement as ParsedRequirement
from packaging.utils import NormalizedName, canonicalize_name
from packaging.version import Version

from envdoctor.model.candidate import DistributionFile, FileKind
from envdoctor.model.compatibility import can_use
from envdoctor.model.dataclass import dataclass
from envdoctor.model.origin import DistributionOrigin, written_by_a_person
from envdoctor.model.requirement import Requirement, may_hold
from envdoctor.ports import Index, IndexUnavailable, MetadataUnavailable, ProjectNotFound

if TYPE_CHECKING:
    from envdoctor.diagnose.examination import Examination
    from envdoctor.model.target import Target

__all__ = ["SourceOnlyDemand", "demands_of_moved_pins"]

_UNANSWERED = (IndexUnavailable, MetadataUnavailable, ProjectNotFound)


@dataclass(frozen=True, slots=True)
class SourceOnlyDemand:
    """A pin of a person demands versions of a project that are source only on the target."""

    name: NormalizedName
    version: Version
    filename: str
    pin: Requirement
    demand: Requirement


def _pinned(requirement: Requirement) -> Version | None:
    exact = [item for item in requirement.specifier if item.operator == "==" and not item.version.endswith("*")]
    return Version(exact[0].version) if exact and written_by_a_person(requirement.origin) else None


def _moved_pins(examination: Examination) -> Iterator[tuple[Requirement, Version]]:
    """Exact pins of people that the resolution does not hold to, or that stand in a conflict."""
    candidates: list[Requirement] = [item for conflict in examination.conflicts for item in conflict.core]
    candidates += [
        item for repair in examination.repairs for override in repair.overrides for item in override.sets_aside
    ]
    if examination.resolution:
        candidates += [item for package in examination.resolution.packages for item in package.set_aside]
    for requirement in dict.fromkeys(candidates):
        version = _pinned(requirement)
        package = examination.resolution.get(requirement.name) if examination.resolution else None
        if version is not None and (package is None or package.version != version):
            yield requirement, version


def _source_only(index: Index, wanted: ParsedRequirement, target: Target) -> DistributionFile | None:
    """Return the newest sdist that meets ``wanted``, None where a wheel does or nothing is known."""
    page = index.page(canonicalize_name(wanted.name))
    newest: DistributionFile | None = None
    # The newest first: it mostly has a wheel, and a large page is then not looked through.
    for version in filter(wanted.specifier.contains, reversed(page.versions)):
        files = [item for item in page.of_version(version) if can_use(item, target)]
        if any(item.kind is FileKind.WHEEL for item in files):
            return None
        newest = newest or next(iter(files), None)
    return newest


def _in_force(texts: Iterable[str], target: Target) -> Iterator[ParsedRequirement]:
    environment = target.marker_environment()
    for text in texts:
        with suppress(InvalidRequirement):
            wanted = ParsedRequirement(text)
            if wanted.specifier and may_hold(wanted.marker, environment):
                yield wanted


def _demands(index: Index, pin: Requirement, version: Version, target: Target) -> Iterator[SourceOnlyDemand]:
    files = index.page(pin.name).of_version(version)
    wheels = [item for item in files if item.kind is FileKind.WHEEL]
    if not files:
        return
    metadata = index.metadata((wheels or files)[0])
    demanded = list(_in_force(metadata.requires_dist, target))
    index.prefetch_pages([canonicalize_name(item.name) for item in demanded])
    for wanted in demanded:
        try:
            sdist = _source_only(index, wanted, target)
        except _UNANSWERED:
            continue
        if sdist is not None:
            origin = DistributionOrigin(pin.name, str(version))
            demand = Requirement(canonicalize_name(wanted.name), origin, wanted.specifier)
            yield SourceOnlyDemand(demand.name, sdist.version, sdist.filename, pin, demand)


def demands_of_moved_pins(examination: Examination) -> Iterator[SourceOnlyDemand]:
    """Yield what the moved pins demand and the target could only build, from pages and metadata of the index."""
    index, target = examination.index, examination.target
    if index is None or target is None:
        return
    for pin, version in _moved_pins(examination):
        with suppress(*_UNANSWERED):
            yield from _demands(index, pin, version, target)
