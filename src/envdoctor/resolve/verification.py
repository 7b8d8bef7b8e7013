"""Checks a finished resolution against the metadata itself, sharing nothing with the search.

Everything is read and parsed again and compared version by version: no positions, no memos, no engine of the search.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import lru_cache
from typing import Any, TypeAlias

from packaging.requirements import InvalidRequirement
from packaging.requirements import Requirement as Pep508
from packaging.utils import NormalizedName, canonicalize_name
from packaging.version import Version
from resolvelib import AbstractProvider, BaseReporter, ResolutionImpossible, Resolver
from resolvelib.structs import RequirementInformation

from envdoctor.model.candidate import DistributionFile
from envdoctor.model.dataclass import dataclass
from envdoctor.model.origin import DistributionOrigin
from envdoctor.model.requirement import Requirement, RequirementKind, may_hold
from envdoctor.model.resolution import Resolution, ResolvedPackage, Unmet
from envdoctor.model.target import Target
from envdoctor.ports import Index, IndexUnavailable, MetadataUnavailable
from envdoctor.resolve.requires_dist import Couplings, may_count

__all__ = ["Objection", "Promise", "rederive", "unmet"]


Objection: TypeAlias = Unmet | ResolvedPackage
"""What stands against a resolution: a demand that it breaks, or a package that nothing asks for."""


@dataclass(frozen=True, slots=True)
class Promise:
    """A resolution, and what it is to keep."""

    resolution: Resolution
    requirements: tuple[Requirement, ...]
    """Those of people that are in force, and bounds."""
    target: Target
    index: Index
    couplings: Couplings
    ignored: Callable[[NormalizedName, NormalizedName], bool] = lambda _owner, _dependency: False
    """Which demands of metadata, ``(owner, dependency)``, are set aside; what follows from binaries never is."""
    absent: frozenset[NormalizedName] = frozenset()
    """Projects that are rightly not there: excluded, or unknown."""
    replaced: Mapping[NormalizedName, tuple[Requirement, ...]] = field(default_factory=dict)
    """The project's own overrides, which stand in place of what distributions ask for."""
    instead: Mapping[NormalizedName, Requirement] = field(default_factory=dict)
    """What a distribution that asks for an excluded project gets in its place."""

    def asked_by(self, package: ResolvedPackage, extras: Iterable[str]) -> Iterator[Requirement]:
        """Yield what a package with some of its extras asks for; what is set aside asks for any version that is there.

        Nothing is known of what a package without metadata asks for.
        """
        lines = self._lines(package)
        if lines is None:
            return
        stated: set[str] = set()
        for asked, at_url in _applicable(lines, frozenset(extras), self.target, package.name, package.version):
            name = asked.name
            stated.add(name)
            if name in self.instead and self.instead[name].name != package.name:
                origin = DistributionOrigin(package.name, str(package.version), instead_of=name)
                yield replace(self.instead[name], origin=origin)
            for demand, elsewhere in self._in_force(asked, at_url=at_url):
                if name in self.absent or (elsewhere and self.resolution.get(name) is None):
                    continue  # What comes from a URL need not be on an index.
                if self.couplings.is_binary(package.name, name) or not self.ignored(package.name, name):
                    yield demand
                elif self.resolution.get(name) is not None:
                    yield Requirement(name, asked.origin, extras=asked.extras)
        origin = DistributionOrigin(package.name, str(package.version), coupling=True)
        for name, specifier in self.couplings.demands(package.name, package.version, frozenset(stated)):
            if name not in self.absent:
                yield Requirement(name, origin, specifier)

    def _in_force(self, asked: Requirement, *, at_url: bool) -> Iterator[tuple[Requirement, bool]]:
        """Yield what counts of a demand, each with whether a URL says where it lies."""
        if asked.name not in self.replaced:
            yield asked, at_url
        environment = self.target.marker_environment()
        for override in self.replaced.get(asked.name, ()):
            if may_hold(override.marker, environment):
                yield replace(asked, specifier=override.specifier), bool(override.url)

    def _lines(self, package: ResolvedPackage) -> tuple[str, ...] | None:
        return next((lines for file in package.files if (lines := self._lines_of(file)) is not None), None)

    def _lines_of(self, file: DistributionFile) -> tuple[str, ...] | None:
        try:
            return self.index.metadata(file).requires_dist
        except (MetadataUnavailable, IndexUnavailable):
            return None


def unmet(promise: Promise) -> tuple[Unmet, ...]:
    """Return every requirement in force that the resolution breaks; empty when it is sound."""
    packages = promise.resolution.packages
    versions = {package.name: package.version for package in packages}
    asked = [
        requirement
        for requirement in promise.requirements
        if requirement.name in versions
        or (requirement.kind is RequirementKind.REQUIRE and requirement.name not in promise.absent)
    ]
    for package in packages:
        asked.extend(promise.asked_by(package, package.extras))
    found = [(requirement, versions.get(requirement.name)) for requirement in asked]
    return tuple(
        Unmet(requirement, version)
        for requirement, version in found
        if version is None or not requirement.admits(version)
    )


@lru_cache(maxsize=4_096)
def _applicable(
    lines: tuple[str, ...], extras: frozenset[str], target: Target, owner: NormalizedName, version: Version
) -> tuple[tuple[Requirement, bool], ...]:
    """Return the demands of a version that count, each with whether a URL says where it lies.

    The resolutions of one diagnosis have most versions in common.
    """
    origin = DistributionOrigin(owner, str(version))
    found = []
    environments = [target.marker_environment(extra) for extra in ("", *sorted(extras))]
    for line in lines:
        parsed = _parsed(line) if may_count(line, extras) else None
        if parsed is None:
            continue
        if any(may_hold(parsed.marker, environment) for environment in environments):
            wanted = frozenset(map(canonicalize_name, parsed.extras))
            asked = Requirement(canonicalize_name(parsed.name), origin, parsed.specifier, extras=wanted)
            found.append((asked, bool(parsed.url)))
    return tuple(found)


@lru_cache(maxsize=32_768)
def _parsed(line: str) -> Pep508 | None:
    try:
        return Pep508(line)
    except InvalidRequirement:
        return None


def rederive(promise: Promise) -> tuple[Objection, ...]:
    """Resolve anew with resolvelib, the resolution's pins as the only candidates; return what stands against it.

    What a pin asks for is read and parsed again. Empty where resolvelib arrives at the same packages; else the demand
    that it broke on, or the packages that nothing asks for.
    """
    provider = _PinsAlone(promise)
    met: set[_Node] = set()
    try:
        while asked := provider.turn():
            met.update(Resolver(provider, BaseReporter()).resolve(asked, max_rounds=_ROUNDS).mapping)
    except ResolutionImpossible as impossible:
        broken = [cause.requirement.written for cause in impossible.causes if not cause.requirement.holds]
        first = [*broken, *provider.broken_bounds()][0]
        package = provider.pins.get(first.name)
        return (Unmet(first, package.version if package else None),)
    return tuple(package for package in promise.resolution.packages if (package.name, "") not in met)


_ROUNDS = 100_000
"""Never reached: a round takes one name, and no name has a second candidate."""
_AT_ONCE = 32
"""Demands of one turn: resolvelib looks at every name of its turn in every round, and of hundreds each is as good."""

_Node: TypeAlias = tuple[NormalizedName, str]
"""A project and one of its extras; the extra is empty for the project itself."""


@dataclass(frozen=True, slots=True)
class _Asked:
    node: _Node
    written: Requirement
    holds: bool
    """Whether the pin answers it: asked once, for resolvelib asks again in every round."""


class _PinsAlone(AbstractProvider[_Asked, _Node, _Node]):
    """A world in which each project has one version: a candidate is its node."""

    def __init__(self, promise: Promise) -> None:
        self.pins = {package.name: package for package in promise.resolution.packages}
        self._promise = promise
        self._bounds: dict[NormalizedName, list[Requirement]] = {}
        self._answered: set[_Node] = set()
        for requirement in promise.requirements:
            if requirement.kind is not RequirementKind.REQUIRE:
                self._bounds.setdefault(requirement.name, []).append(requirement)
        self._later = self._news(self._asked_by_people())
        self._room = 0

    def _asked_by_people(self) -> Iterator[_Asked]:
        """Yield the requirements that something must answer."""
        for item in self._promise.requirements:
            if item.kind is RequirementKind.REQUIRE and item.name not in self._promise.absent:
                yield from self._nodes(item)

    def turn(self) -> list[_Asked]:
        """Return what is asked for next; nothing is left when everything was derived."""
        asked, self._later = self._later[:_AT_ONCE], self._later[_AT_ONCE:]
        self._room = _AT_ONCE - len(asked)
        return asked

    def _news(self, asked: Iterable[_Asked]) -> list[_Asked]:
        """Return what says anything new: nothing is taken back here, so a node that is asked for stays asked for."""
        found = []
        for item in asked:
            if not item.holds or item.node not in self._answered:
                found.append(item)
                self._answered.add(item.node)
        return found

    def broken_bounds(self) -> list[Requirement]:
        """Return the bounds that the pins do not keep."""
        return [bound for bounds in self._bounds.values() for bound in bounds if not self._holds(bound)]

    def _nodes(self, requirement: Requirement) -> Iterator[_Asked]:
        for extra in ("", *sorted(requirement.extras)):
            yield _Asked((requirement.name, extra), requirement, self._holds(requirement))

    def _holds(self, requirement: Requirement) -> bool:
        package = self.pins.get(requirement.name)
        return package is not None and requirement.admits(package.version)

    def identify(self, requirement_or_candidate: _Asked | _Node) -> _Node:
        """Return the node."""
        return (
            requirement_or_candidate.node if isinstance(requirement_or_candidate, _Asked) else requirement_or_candidate
        )

    def narrow_requirement_selection(
        self,
        identifiers: Iterable[_Node],
        resolutions: Mapping[_Node, _Node],
        candidates: Mapping[_Node, Iterator[_Node]],
        information: Mapping[_Node, Iterator[RequirementInformation[_Asked, _Node]]],
        backtrack_causes: Sequence[RequirementInformation[_Asked, _Node]],
    ) -> Iterable[_Node]:
        """Hand over one name: with one candidate for each, the order decides nothing."""
        del resolutions, candidates, information, backtrack_causes
        return [next(iter(identifiers))]

    def get_preference(
        self,
        identifier: _Node,
        resolutions: Mapping[_Node, _Node],
        candidates: Mapping[_Node, Iterator[_Node]],
        information: Mapping[_Node, Iterator[RequirementInformation[_Asked, _Node]]],
        backtrack_causes: Sequence[RequirementInformation[_Asked, _Node]],
    ) -> Any:
        """Take the names as they come."""
        del identifier, resolutions, candidates, information, backtrack_causes
        return 0

    def find_matches(
        self,
        identifier: _Node,
        requirements: Mapping[_Node, Iterator[_Asked]],
        incompatibilities: Mapping[_Node, Iterator[_Node]],
    ) -> Iterable[_Node]:
        """Return the pin, or nothing where it does not answer all that is asked of it."""
        kept = all(map(self._holds, self._bounds.get(identifier[0], ())))
        kept = kept and all(requirement.holds for requirement in requirements[identifier])
        return [identifier] if kept and not any(incompatibilities[identifier]) else []

    def is_satisfied_by(self, requirement: _Asked, candidate: _Node) -> bool:
        """Return whether the pin answers a requirement."""
        del candidate
        return requirement.holds

    def get_dependencies(self, candidate: _Node) -> Iterable[_Asked]:
        """Return what the pin asks for, as far as there is room in this turn; an extra also asks for its project."""
        name, extra = candidate
        package = self.pins[name]
        itself = Requirement(name, DistributionOrigin(name, str(package.version)))
        asked = [itself] if extra else []
        asked.extend(self._promise.asked_by(package, (extra,) if extra else ()))
        found = self._news(node for item in asked for node in self._nodes(item))
        now, later = found[: self._room], found[self._room :]
        self._room -= len(now)
        self._later += later
        return now
