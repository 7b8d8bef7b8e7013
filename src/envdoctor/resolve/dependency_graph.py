"""What an index has for one manifest, read as far as it is asked for: candidates, metadata and demands."""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from dataclasses import replace
from itertools import islice
from typing import Any

from packaging.requirements import Requirement as Pep508
from packaging.specifiers import SpecifierSet
from packaging.utils import NormalizedName, canonicalize_name

from envdoctor.model.candidate import CoreMetadata, DistributionFile, ProjectPage, Rejection, RejectionKind
from envdoctor.model.compatibility import can_use
from envdoctor.model.project import Repository
from envdoctor.model.requirement import Requirement, RequirementKind, holds
from envdoctor.model.resolution import ResolvedPackage
from envdoctor.model.unknown import Subject, SubjectKind, Unknown, UnknownKind
from envdoctor.ports import Index, IndexUnavailable, MetadataUnavailable, ProjectNotFound
from envdoctor.resolve.brought import in_order, untold_build
from envdoctor.resolve.candidates import CandidateList, Selector, pins, stands_in_elsewhere, wheel_at, why_no_wheel
from envdoctor.resolve.edges import Edge, highest, nodes_of, positions_of
from envdoctor.resolve.manifest import Manifest, untold_marker
from envdoctor.resolve.requires_dist import Couplings, MetadataLines

__all__ = ["DependencyGraph"]


class DependencyGraph:
    """Reads an index for one manifest and remembers everything.

    Candidates, sets of positions and edges do not depend on which requirements a solve takes in, so conflicts
    that differ only in what they leave out are compared on the same ground.
    """

    def __init__(self, manifest: Manifest, index: Index) -> None:
        self.manifest = manifest
        self.index = index
        self.couplings = Couplings(manifest.couplings) if manifest.policy.couplings else Couplings.none()
        self.excluded = frozenset(exclusion.name for exclusion in manifest.exclusions)
        self.instead = {item.name: item.instead for item in manifest.exclusions if item.instead is not None}
        """What a distribution that asks for an excluded project gets in its place."""
        self.selector = Selector(manifest.target, manifest.policy)
        self.unknowns: dict[Unknown, None] = {}
        """What could not be checked, in the order it was met."""
        self.missing: set[NormalizedName] = set()
        """Projects that no index has."""
        self.unknown: dict[NormalizedName, Unknown] = {}
        """Projects of which no version is known: direct references, and pages that could not be fetched."""
        self.lacking: dict[NormalizedName, Unknown] = {}
        """Projects of which a version is asked for that only an index which could not be read may have, and why."""
        self.at_urls: dict[NormalizedName, dict[str, None]] = {}
        """URLs that metadata asks for, by the project that is to come from there."""
        self.by_name: set[NormalizedName] = {line.name for line in manifest.requirements if not line.url}
        """Projects that a line, or a version that was looked at, asks for without saying where it lies."""
        self.described: dict[NormalizedName, Repository] = {}
        """Those of them whose requirements stand among the lines, for their repository says them."""
        self.unreadable: dict[tuple[NormalizedName, int], Rejection] = {}
        """Versions without metadata."""
        self.made: dict[tuple[str, int], tuple[tuple[Requirement, Edge], ...]] = {}
        """What ``resolver`` made of the edges of versions."""
        self.asked: dict[tuple[str, int], tuple[Any, frozenset[tuple[str, int]]]] = {}
        """The same as the search engine takes it (see ``clauses``)."""
        written = (*manifest.requirements, *manifest.constraints, *(o.requirement for o in manifest.overrides))
        self._written: dict[NormalizedName, list[Requirement]] = {}
        for requirement in written:
            self._written.setdefault(requirement.name, []).append(requirement)
        self._environment = manifest.target.marker_environment()
        self.metadata_lines = MetadataLines(manifest.target, self.unknowns)
        self._candidates: dict[NormalizedName, CandidateList] = {}
        self._bits: dict[tuple[NormalizedName, str], int] = {}
        self._eligible: dict[NormalizedName, tuple[int, int]] = {}
        self._metadata: dict[tuple[NormalizedName, int], CoreMetadata | None] = {}
        self._edges: dict[tuple[str, int], tuple[Edge, ...]] = {}
        self._prefetched: set[tuple[NormalizedName, int, int]] = set()

    def applies(self, requirement: Requirement) -> bool:
        """Return whether a written requirement counts on the target."""
        return requirement.name not in self.excluded and self.counts(requirement)

    def counts(self, requirement: Requirement) -> bool:
        """Return whether the marker of a written requirement holds on the target; one that says nothing counts."""
        if requirement.marker is None:
            return True
        counts = holds(requirement.marker, self._environment)
        unknown = untold_marker(requirement, self.manifest.target, counts)
        if unknown is not None:
            self.unknowns[unknown] = None
        return counts is not False

    def candidates(self, name: NormalizedName) -> CandidateList:
        """Return the candidates of a project; a project that no index has gets an empty list."""
        known = self._candidates.get(name)
        if known is None:
            known = self._read(name)
            untold = untold_build(self.manifest, known, self.applies)
            known = self._candidates[name] = known if untold is None else self._closed(name, untold)
        return known

    @property
    def met(self) -> frozenset[NormalizedName]:
        """Projects whose candidates were asked for."""
        return frozenset(self._candidates)

    def _read(self, name: NormalizedName) -> CandidateList:
        subject = Subject(SubjectKind.PACKAGE, name)
        written = (r for r in self._written.get(name, ()) if r.url and r.kind is RequirementKind.REQUIRE)
        direct = next((r for r in written if self.applies(r)), None)
        if direct is not None:
            wheel = wheel_at(name, direct.url or "")
            unusable = wheel is not None and not can_use(wheel, self.manifest.target)
            there = self.ask(wheel) if wheel is not None and not unusable else None
            if wheel is not None and not isinstance(there, Unknown):
                return self.selector.select(ProjectPage(name, (wheel,)))
            told = self.manifest.described.get(direct.url or "")
            cause = (
                there.cause if isinstance(there, Unknown) else told.reason if told else why_no_wheel(direct.url or "")
            )
            self.unknown[name] = Unknown(UnknownKind.DIRECT_REFERENCE, subject, cause=cause, origin=direct.origin)
            if told is not None and not told.reason:
                self.described[name] = told
            return CandidateList(name, (), (), None, opaque=True)
        placed = self.manifest.placed.get(name)
        if placed is not None:
            return self.selector.select(ProjectPage(name, (placed,)))
        try:
            page = self.index.page(name)
        except ProjectNotFound:
            return CandidateList(name, (), (), None)
        except IndexUnavailable as error:
            return self._closed(name, error.unknown)
        if page.unread is not None and name in self.manifest.policy.open_ended:
            return self._closed(name, page.unread)
        return self.selector.select(page)

    def _closed(self, name: NormalizedName, why: Unknown) -> CandidateList:
        self.unknown[name] = replace(why, subject=Subject(SubjectKind.PACKAGE, name))
        self.unknowns[self.unknown[name]] = None
        return CandidateList(name, (), (), None, opaque=True)

    @property
    def unreached(self) -> frozenset[NormalizedName]:
        """Projects whose page could not be fetched."""
        direct = UnknownKind.DIRECT_REFERENCE
        return frozenset(name for name, unknown in self.unknown.items() if unknown.kind is not direct)

    def bits(self, name: NormalizedName, specifier: SpecifierSet) -> int:
        """Return the positions that ``specifier`` admits, or the ghost bit where it admits none."""
        key = (name, str(specifier))
        found = self._bits.get(key)
        if found is None:
            candidates = self.candidates(name)
            found = self._bits[key] = candidates.admitted(specifier, *self._eligibility(name))
            if candidates.page is None and not candidates.opaque:
                self.missing.add(name)
            if found == candidates.ghost and candidates.page is not None:
                self._look_for(candidates.page, specifier)
            if name in self.described:
                self._hold_against(name, specifier)
        return found

    def _look_for(self, page: ProjectPage, specifier: SpecifierSet) -> None:
        """Note where a demand is for a version of which nothing was read, be it for another target or build."""
        if page.unread is None:
            return
        wanted = SpecifierSet(",".join(str(each).partition("+")[0] for each in specifier))
        fitting = [each for each in page.versions if wanted.contains(each.public, prereleases=True)]
        # What has no label says nothing of builds with one.
        of_kind = [each for each in fitting if each.local] if "+" in str(specifier) else fitting
        told = not all(stands_in_elsewhere(page, each, self.manifest.target) for each in of_kind)
        if not told and not any(wanted.filter(page.denied, prereleases=True)):
            self.lacking[page.name] = replace(page.unread, subject=Subject(SubjectKind.PACKAGE, page.name))

    def _hold_against(self, name: NormalizedName, specifier: SpecifierSet) -> None:
        """Note where a demand is not met by the version that a repository says, or by one that only a build tells."""
        version = self.described[name].version
        if version is not None and specifier.contains(version, prereleases=True):
            return
        if specifier:
            says = f"its repository says version {version}" if version else "only a build would tell its version"
            self.unknown[name] = replace(self.unknown[name], cause=f"{says}, and `{specifier}` is asked for")

    def _eligibility(self, name: NormalizedName) -> tuple[int, int]:
        known = self._eligible.get(name)
        if known is None:
            written = [requirement.specifier for requirement in self._written.get(name, ())]
            prereleases = self.manifest.policy.prereleases
            known = self._eligible[name] = self.candidates(name).eligible(written, prereleases=prereleases)
        return known

    def by_rank(self, name: NormalizedName, bits: int) -> Iterable[int]:
        """Return positions in the order in which they are tried: an image's own, then the newest, as pip has it."""
        return in_order(self.manifest, self.candidates(name), bits)

    def newest(self, name: NormalizedName) -> int:
        """Return the position of the newest version that the target could use, pre-releases only where admitted."""
        stable, _ = self._eligibility(name)
        return highest(stable or self.candidates(name).all or 1)

    def metadata(self, name: NormalizedName, position: int) -> CoreMetadata | None:
        """Return a version's metadata, None where it cannot be read; see ``usable``."""
        key = (name, position)
        if key not in self._metadata:
            candidates = self.candidates(name)
            self._metadata[key] = None if candidates.opaque else self._fetch(candidates, position)
        return self._metadata[key]

    def metadata_of(self, package: ResolvedPackage) -> CoreMetadata | None:
        """Return the metadata of a package of a resolution."""
        return self.metadata(package.name, highest(self.candidates(package.name).bits(package.version)))

    def _fetch(self, candidates: CandidateList, position: int) -> CoreMetadata | None:
        reasons: list[Unknown] = []
        for file in candidates.files[position]:
            found = self.ask(file)
            if isinstance(found, CoreMetadata):
                return found
            reasons.append(found)
        version = candidates.versions[position]
        # The file may stand in for another's, whose version is not its own.
        unknown = replace(reasons[0], subject=Subject(SubjectKind.PACKAGE, candidates.name, str(version)))
        rejection = Rejection(RejectionKind.NO_METADATA, candidates.name, version, unknown=unknown)
        self.unreadable[candidates.name, position] = rejection
        return None

    def ask(self, file: DistributionFile) -> CoreMetadata | Unknown:
        """Return the metadata of a file, or why it is not known."""
        try:
            return self.index.metadata(file)
        except (MetadataUnavailable, IndexUnavailable) as error:
            return error.unknown

    def usable(self, name: NormalizedName, position: int) -> bool:
        """Return whether a version may be chosen: one without metadata only where a person pins it.

        With ``policy.unread`` also one that only the cache does not know: an installer would read it.
        """
        candidates = self.candidates(name)
        if candidates.opaque:
            return True
        metadata = self.metadata(name, position)
        if metadata is not None:
            return self.manifest.policy.mended or not metadata.mended
        if self.manifest.policy.unread and self._only_not_cached(name, position):
            return True
        version = candidates.versions[position]
        return any(pins(r.specifier, version) for r in self._written.get(name, ()))

    def hoped_for(self, name: NormalizedName, position: int) -> bool:
        """Return whether a version may be chosen in want of any that can be read."""
        return self.manifest.policy.unread and self.metadata(name, position) is None

    def _only_not_cached(self, name: NormalizedName, position: int) -> bool:
        rejection = self.unreadable.get((name, position))
        unknown = rejection.unknown if rejection is not None else None
        return unknown is not None and unknown.kind is UnknownKind.OFFLINE

    def loaded(self, name: NormalizedName, position: int) -> bool:
        """Return whether the metadata of a version has been looked at."""
        return self._metadata.get((name, position)) is not None

    def edges(self, node: str, position: int) -> tuple[Edge, ...]:
        """Return what a version asks for on the target, couplings included."""
        key = (node, position)
        found = self._edges.get(key)
        if found is None:
            found = self._edges[key] = self._build(node, position)
        return found

    def asks_for(self, node: str, position: int) -> tuple[NormalizedName, ...]:
        """Return the projects that a version asks for, without reading their pages."""
        name, _, extra = node.rstrip("]").partition("[")
        metadata = self.metadata(NormalizedName(name), position)
        wanted = self.metadata_lines.wanted(metadata, extra) if metadata else []
        names = [canonicalize_name(parsed.name) for parsed in wanted]
        named = [self.instead[name].name if name in self.instead else name for name in names]
        return tuple(name for name in named if name not in self.excluded and name not in self._candidates)

    def _build(self, node: str, position: int) -> tuple[Edge, ...]:
        name, _, extra = node.rstrip("]").partition("[")
        project = NormalizedName(name)
        metadata = self.metadata(project, position)
        tie: tuple[Edge, ...] = ()
        if extra:
            tie = (Edge(project, name, 1 << position, SpecifierSet(), structural=True),)
        if metadata is None:
            return tie
        wanted = self.metadata_lines.wanted(metadata, extra)
        names = [canonicalize_name(parsed.name) for parsed in wanted]
        demands = () if extra else self.couplings.demands(project, metadata.version, frozenset(names))
        self.index.prefetch_pages([n for n in (*names, *(d for d, _ in demands)) if n not in self._candidates])
        edges = list(tie)
        for parsed in wanted:
            edges.extend(self._edges_of(project, parsed))
        for dependency, specifier in demands:
            if dependency not in self.excluded:
                bits = self.bits(dependency, specifier)
                edges.append(Edge(project, dependency, bits, specifier, coupling=True, hard=True))
        return tuple(edges)

    def _edges_of(self, owner: NormalizedName, parsed: Pep508) -> Iterable[Edge]:
        name = canonicalize_name(parsed.name)
        said = self.manifest.replaced.get(name)
        if name in self.excluded:
            yield from self._edges_instead(owner, name)
        elif said is None:
            yield from self._edges_to(owner, name, parsed)
        else:
            for override in filter(self.counts, said):
                asked = copy(parsed)
                asked.specifier, asked.url = override.specifier, override.url
                yield from (replace(edge, stated=parsed) for edge in self._edges_to(owner, name, asked))

    def _edges_to(self, owner: NormalizedName, name: NormalizedName, parsed: Pep508) -> Iterable[Edge]:
        extras = frozenset(canonicalize_name(extra) for extra in parsed.extras)
        if parsed.url:
            self.at_urls.setdefault(name, {})[parsed.url] = None
        else:
            self.by_name.add(name)
        known = self.candidates(name)
        if parsed.url and not (known.all or known.opaque or name in self.manifest.placed):
            return  # It comes from the URL: that no index has it keeps nothing from it.
        bits = (known.all or known.ghost) if parsed.url else self.bits(name, parsed.specifier)
        hard = self.couplings.is_binary(owner, name)
        for node in nodes_of(name, extras):
            if node != owner or parsed.specifier:
                yield Edge(owner, node, bits, parsed.specifier, extras, hard=hard)

    def _edges_instead(self, owner: NormalizedName, name: NormalizedName) -> Iterable[Edge]:
        """Yield the demand on what stands in for an excluded project; versions of this one say nothing of that one."""
        other = self.instead.get(name)
        if other is not None and other.name != owner:
            bits = self.bits(other.name, other.specifier)
            for node in nodes_of(other.name, other.extras):
                yield Edge(owner, node, bits, other.specifier, other.extras, instead_of=name)

    def prefetch(self, name: NormalizedName, bits: int, count: int = 1) -> None:
        """Start fetching the metadata of the newest ``count`` versions in a set."""
        if (name, bits, count) in self._prefetched:
            return
        self._prefetched.add((name, bits, count))
        candidates = self.candidates(name)
        newest = () if candidates.opaque else islice(positions_of(bits & candidates.all), count)
        wanted = [candidates.files[position][0] for position in newest if (name, position) not in self._metadata]
        if wanted:
            self.index.prefetch_metadata(wanted)
