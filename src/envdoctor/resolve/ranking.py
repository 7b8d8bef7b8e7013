"""Which repair is better: the known failures each is at fault for, what it moves, and the cautions that go with it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from packaging.specifiers import Specifier
from packaging.utils import NormalizedName, canonicalize_name
from packaging.version import Version

from envdoctor.model.candidate import BuildRisk, FileKind
from envdoctor.model.finding import Finding
from envdoctor.model.origin import ProfileOrigin
from envdoctor.model.override import Override
from envdoctor.model.repair import Repair
from envdoctor.model.requirement import Requirement
from envdoctor.model.resolution import Resolution, ResolvedPackage
from envdoctor.resolve.dependency_graph import DependencyGraph
from envdoctor.resolve.edges import base_name, highest, release_series
from envdoctor.resolve.offer import Offer, evidence_for
from envdoctor.resolve.relaxations import Element
from envdoctor.resolve.repairs import is_combined
from envdoctor.resolve.solver import Line
from envdoctor.shipped import same_module

__all__ = ["blamed", "lowered", "raised", "rank", "telling", "with_cautions"]

_MOST_FAILURES = 3


def with_cautions(graph: DependencyGraph, offer: Offer, offers: Sequence[Offer]) -> Offer:
    """Return one offer among all with its cautions: first what fails, then what is left out, old, or must be built."""
    if offer.repair is None:
        return offer
    overrides, resolution = offer.repair.overrides, offer.resolution
    left_out = [*_given_up(offer.repair), *_left_out(graph, offer.repair, resolution)]
    found = [*_failures(offer), *left_out, *_older(overrides, resolution), *_newer(overrides, resolution)]
    cautions = tuple(dict.fromkeys([*found, *_builds(offer, offers), *_on_trust(graph)]))
    return replace(offer, repair=replace(offer.repair, cautions=cautions))


def _failures(offer: Offer) -> Iterator[str]:
    for failure in offer.avoidable[:_MOST_FAILURES]:
        yield f"known to fail: {failure.message} ({failure.rule})"
    more = [failure.rule for failure in offer.avoidable[_MOST_FAILURES:]]
    if more:
        yield f"known to fail besides: {', '.join(dict.fromkeys(more))}"


def _given_up(repair: Repair) -> Iterator[str]:
    for aside in repair.given_up():
        origin = aside.origin
        whose = f"profile `{origin.name}` requires" if isinstance(origin, ProfileOrigin) else "its profile requires"
        yield f"{whose} `{aside.name}`: what the profile is for is lost without it; another Python may have it"


def _left_out(graph: DependencyGraph, repair: Repair, resolution: Resolution) -> Iterator[str]:
    """Yield what is left out: nobody decided that it is not needed."""
    for override in repair.overrides:
        name = override.requirement.name
        if override.from_profile or override.because or resolution.get(name) is not None or name in graph.unknown:
            continue
        if name in graph.missing:
            yield f"no index has `{name}`, and it is left out"
        elif not graph.candidates(name).all:
            yield f"`{name}` has no version for this target and is left out"
        elif same := next((other for other in same_module(name) if resolution.get(canonicalize_name(other))), None):
            for_it = same_module(name)[same].get(graph.manifest.target.backend.value) == name
            own = f", and `{name}` is the one for {graph.manifest.target.backend.value}" if for_it else ""
            yield f"`{name}` is left out: `{same}` gives the same module{own}"
        else:
            yield f"`{name}` is left out: what imports it will not run"


def _older(overrides: Sequence[Override], resolution: Resolution) -> Iterator[str]:
    for package, aside in lowered(overrides, resolution):
        known = _known_to_work(package.name, aside, resolution)
        yield f"`{package.name}` {package.version} is older than {aside.origin} asks for (`{aside}`){known}"


def _newer(overrides: Sequence[Override], resolution: Resolution) -> Iterator[str]:
    for package, aside in raised(overrides, resolution):
        known = _known_to_work(package.name, aside, resolution) or ", and may fail"
        yield f"`{package.name}` {package.version} is not what {aside.origin} asks for (`{aside}`){known}"


def _known_to_work(name: NormalizedName, aside: Requirement, resolution: Resolution) -> str:
    """Return words for what vouches for a demand that is set aside, none where nothing does."""
    evidence = evidence_for(aside.asked_by, name, resolution) if aside.asked_by is not None else None
    return f"; known to work: {evidence}" if evidence is not None else ""


def _builds(offer: Offer, offers: Sequence[Offer]) -> Iterator[str]:
    """Yield what must be built where another repair needs no such build, or what the repair itself chose."""
    everywhere = frozenset[NormalizedName].intersection(
        *(frozenset(package.name for package in other.hard_builds()) for other in offers)
    )
    for package in offer.hard_builds():
        if package.name in offer.moved or package.name not in everywhere:
            yield f"`{package.name}` {package.version} has no wheel for this target and {_needs(package)}"


def _needs(package: ResolvedPackage) -> str:
    if package.build_risk is BuildRisk.FETCHES:
        return "fetches more by itself"
    return "needs a compiler" if package.build_risk is BuildRisk.COMPILER else "must be built"


def _on_trust(graph: DependencyGraph) -> Iterator[str]:
    for name in sorted(graph.unknown.keys() - graph.unreached - graph.described.keys()):
        yield f"`{name}` is a direct reference: what it requires is not known"
    for name in sorted(graph.unreached):
        yield f"`{name}` could not be looked up: what it requires is not known"


def blamed(graph: DependencyGraph, offers: Sequence[Offer]) -> list[Offer]:
    """Return the offers with the failures and the builds that each is at fault for, and those it could have avoided.

    Where anything is known to fail, a repair works that has none of these and gives no distribution an older major
    version than it asks for: nobody tries those, so nobody reports that they fail.
    """
    shared = _shared_by_all(offers)
    found = []
    for offer in offers:
        hard = tuple(offer.hard_builds())
        builds = [package for package in hard if _has_wheel(graph, package.name)]
        moved = _dragged(graph, offer) if offer.failures or hard else frozenset()
        at_fault = tuple(failure for failure in offer.failures if not moved.isdisjoint(failure.packages))
        avoidable = tuple(f for f in offer.failures if f in at_fault or _key(f) not in shared)
        builds = [package for package in builds if package.name in moved]
        builds += [package for package in hard if package not in builds and _is_brought(package, moved, offers)]
        found.append(replace(offer, at_fault=at_fault, avoidable=avoidable, builds=tuple(builds)))
    return [replace(offer, behind=bool(offer.avoidable) or _too_old(offer)) for offer in found]


def _shared_by_all(offers: Sequence[Offer]) -> frozenset[tuple[str, str]]:
    """Return the failures that every offer has: no choice among them avoids those."""
    keys = [frozenset(map(_key, offer.failures)) for offer in offers]
    return frozenset.intersection(*keys) if keys else frozenset()


def _key(failure: Finding) -> tuple[str, str]:
    """Return what makes it the same failure in two resolutions."""
    return failure.rule, failure.subject


def _too_old(offer: Offer) -> bool:
    return offer.repair is not None and another_series(offer.repair.overrides, offer.resolution)


def _is_brought(package: ResolvedPackage, moved: frozenset[NormalizedName], offers: Sequence[Offer]) -> bool:
    """Return whether only what a repair moves asks for a package, and another repair does without it."""
    asked = bool(package.wanted_by) and all(demand.asked_by in moved for demand in package.wanted_by)
    others = (other.resolution for other in offers if not other.leaves_out)
    return asked and any(other.get(package.name) is None for other in others)


def _has_wheel(graph: DependencyGraph, name: NormalizedName) -> bool:
    """Return whether the newest version that the target could use needs no build."""
    candidates = graph.candidates(name)
    newest = graph.newest(name)
    return newest < len(candidates.versions) and candidates.files[newest][0].kind is FileKind.WHEEL


def _dragged(graph: DependencyGraph, offer: Offer) -> frozenset[NormalizedName]:
    """Return what a repair moves, and what that keeps from its newest version in turn."""
    held_by = {p.name: _holders(graph, p, offer) for p in offer.resolution.packages if p.name not in offer.moved}
    found = set(offer.moved)
    while new := {name for name, holders in held_by.items() if name not in found and not found.isdisjoint(holders)}:
        found |= new
    return frozenset(found)


def _holders(graph: DependencyGraph, package: ResolvedPackage, offer: Offer) -> set[NormalizedName]:
    """Return the projects that keep another from its newest version: by demands on it, or by its own on them."""
    position = graph.newest(package.name)
    newest = graph.candidates(package.name).versions[position]
    if package.version == newest and not offer.unmet:
        return set()
    found = {
        maker for demand in package.wanted_by if (maker := demand.asked_by) is not None and not demand.admits(newest)
    }
    if package.version != newest and graph.loaded(package.name, position):
        for edge in graph.edges(package.name, position):
            name = base_name(edge.dependency)
            if not edge.bits & _taken(graph, offer, name):
                found.add(name)
    return found


def _taken(graph: DependencyGraph, offer: Offer, name: NormalizedName) -> int:
    """Return the position that an offer takes of a project; any, where it takes none."""
    package = offer.resolution.get(name)
    return graph.candidates(name).bits(package.version) if package is not None else -1


_LOWER_BOUNDS = (">=", ">", "~=", "==", "===")


def lowered(overrides: Iterable[Override], resolution: Resolution) -> Iterator[tuple[ResolvedPackage, Requirement]]:
    """Yield the packages that end below what somebody asked for, with the demand; not where a profile says why."""
    for override in overrides:
        package = resolution.get(override.requirement.name)
        if package is None or override.from_profile or override.because:
            continue
        yield from ((package, aside) for aside in override.sets_aside if _bound_above(package.version, aside))


def raised(overrides: Iterable[Override], resolution: Resolution) -> Iterator[tuple[ResolvedPackage, Requirement]]:
    """Yield the packages that end above, or between, what metadata asks for; not where a profile says why."""
    for override in overrides:
        package = resolution.get(override.requirement.name)
        if package is None or override.from_profile or override.because:
            continue
        for aside in override.sets_aside:
            if aside.asked_by is not None and _bound_above(package.version, aside) is None:
                yield package, aside


def another_series(overrides: Iterable[Override], resolution: Resolution) -> bool:
    """Return whether somebody gets an older major version than the least asked for (of 0.x: an older minor one).

    A person's pin of one version is no such bound: it says what was there, and not what is needed.
    """
    return any(
        (aside.asked_by is not None or not aside.is_pin)
        and (bound := _bound_above(package.version, aside)) is not None
        and release_series(bound) != release_series(package.version)
        for package, aside in lowered(overrides, resolution)
    )


def _bound_above(version: Version, requirement: Requirement) -> Version | None:
    """Return the lower bound that a version does not reach, None where it does."""
    if requirement.admits(version):
        return None
    bounds = (_bound(clause) for clause in requirement.specifier if clause.operator in _LOWER_BOUNDS)
    # Of one version with two build labels, or with none, neither is older.
    return max((bound for bound in bounds if bound and _public(version) < _public(bound)), default=None)


def _bound(clause: Specifier) -> Version | None:
    try:
        return Version(clause.version.removesuffix(".*"))
    except ValueError:
        return None


def _public(version: Version) -> Version:
    return Version(version.public) if version.local else version


def rank(graph: DependencyGraph, lines: Sequence[Line], offer: Offer) -> tuple[object, ...]:
    """Return what sorts offers, best first."""
    overruled = [element for element in offer.elements if not _of_project(lines, element)]
    vouched = bool(offer.repair and offer.repair.from_profile)
    numbers = sorted(-element for element in offer.elements if isinstance(element, int))
    demands = sorted(element for element in offer.elements if not isinstance(element, int))
    return (
        not offer.sound,
        not offer.verified,
        offer.behind,
        len(offer.builds),
        offer.leaves_out,
        not vouched and not all(map(offer.is_vouched, overruled)),
        max(len(offer.avoidable), offer.behind),
        offer.repair.cost if offer.repair else 0,
        not vouched,
        len(overruled),
        len(offer.avoidable),
        _below(graph, lines, offer),
        sum(1 for _ in offer.hard_builds()),
        _away(graph, lines, offer),
        numbers,
        demands,
    )


def _of_project(lines: Sequence[Line], element: Element) -> bool:
    """Return whether a line gives way; one installed without its dependencies counts as metadata overruled.

    The project does that on purpose: it wants that version, and not what its metadata asks for.
    """
    return isinstance(element, int) and not lines[element].requirement.no_deps


def _below(graph: DependencyGraph, lines: Sequence[Line], offer: Offer) -> int:
    """Return how many of the replaced demands end below what they asked for."""
    return sum(position < (bits & -bits).bit_length() - 1 for _, position, bits in _ended(graph, lines, offer))


def _away(graph: DependencyGraph, lines: Sequence[Line], offer: Offer) -> int:
    """Return how many versions away from what they asked for the replaced lines end."""
    return sum(
        abs(position - highest(bits))
        for element, position, bits in _ended(graph, lines, offer)
        if isinstance(element, int)
    )


def _ended(graph: DependencyGraph, lines: Sequence[Line], offer: Offer) -> Iterator[tuple[Element, int, int]]:
    """Yield each replaced demand with the position it ended at and the positions it asked for."""
    for element in offer.elements:
        name, wanted = _asked(graph, lines, offer, element)
        candidates = graph.candidates(name)
        package = offer.resolution.get(name)
        bits = wanted & candidates.all
        if package is not None and bits:
            yield element, candidates.versions.index(package.version), bits


def _asked(graph: DependencyGraph, lines: Sequence[Line], offer: Offer, element: Element) -> tuple[NormalizedName, int]:
    """Return the project that an element speaks of, and the positions it asked for."""
    if isinstance(element, int):
        requirement = lines[element].requirement
        return requirement.name, graph.bits(requirement.name, requirement.specifier)
    owner, name = element
    package = offer.resolution.get(owner)
    bits = -1
    for requirement in package.dependencies if package else ():
        if requirement.name == name:
            bits &= graph.bits(name, requirement.specifier)
    return name, bits


def telling(ranked: Sequence[Offer]) -> Iterator[Offer]:
    """Yield the offers, best first, that tell something new.

    None that only combines what others exchange, and where one runs, none that overrules distributions without need.
    """
    seen: list[frozenset[Element]] = []
    for offer in ranked:
        profile = offer.repair is not None and offer.repair.from_profile
        needless = offer.overrules and (ranked[0].runs or (offer.avoidable and not ranked[0].avoidable))
        if not profile and (needless or is_combined(offer.elements, seen)):
            continue
        seen.append(offer.elements)
        yield offer
