"""Wheels at URLs that metadata asks for (``name @ https://...whl``): read where they lie, they take the index's place.

A version that asks for one is found by resolving, so what lies there counts from the next search on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from packaging.requirements import Requirement as Pep508
from packaging.utils import NormalizedName, canonicalize_name, parse_wheel_filename

from envdoctor.model.candidate import DIRECT_REFERENCE, CoreMetadata, DistributionFile
from envdoctor.model.compatibility import can_use
from envdoctor.model.resolution import Resolution, ResolvedPackage
from envdoctor.model.unknown import Subject, SubjectKind, Unknown, UnknownKind
from envdoctor.resolve.candidates import wheel_at, why_no_wheel
from envdoctor.resolve.dependency_graph import DependencyGraph
from envdoctor.resolve.edges import highest

__all__ = ["demands_at_urls", "left_at_urls", "placed_files"]


def placed_files(graph: DependencyGraph, resolution: Resolution | None) -> Mapping[NormalizedName, DistributionFile]:
    """Return the readable wheels that the versions in use ask for; without a resolution, those that any asks for."""
    if resolution is None:
        if graph.missing:
            _read_newest(graph)
        asked = [(name, next(iter(urls))) for name, urls in graph.at_urls.items() if len(urls) == 1]
    else:
        asked = [(canonicalize_name(line.name), line.url or "") for _, line in demands_at_urls(graph, resolution)]
    found = {name: _file_at(graph, name, url) for name, url in asked if name not in graph.unknown}
    return {name: file for name, file in found.items() if isinstance(file, DistributionFile)}


def left_at_urls(graph: DependencyGraph, resolution: Resolution | None) -> Iterator[Unknown]:
    """Yield the demands of versions in use for a file at a URL that is not in use: an index's may be another."""
    for package, line in demands_at_urls(graph, resolution) if resolution is not None else ():
        name = canonicalize_name(line.name)
        met = resolution.get(name) if resolution is not None else None
        aside = met is not None and package.name in met.overruled and name not in graph.manifest.replaced
        if name in graph.unknown or aside:
            continue
        elsewhere = name in graph.manifest.placed and met is not None and met.file.url != line.url
        if met is not None and met.file.index == DIRECT_REFERENCE and not elsewhere:
            continue
        subject = Subject(SubjectKind.PACKAGE, package.name, str(package.version))
        there = _file_at(graph, name, line.url or "")
        if isinstance(there, Unknown):
            yield replace(there, subject=subject, demand=str(line))
            continue
        cause = "another version asks for another file" if elsewhere else "no version goes with what lies there"
        yield Unknown(UnknownKind.DIRECT_REFERENCE, subject, demand=str(line), cause=cause)


def demands_at_urls(graph: DependencyGraph, resolution: Resolution) -> Iterator[tuple[ResolvedPackage, Pep508]]:
    """Yield the versions in use whose metadata asks for a file at a URL, each with that line."""
    replaced = graph.manifest.replaced
    said = [item for items in replaced.values() for item in items if item.url and graph.applies(item)]
    for package in resolution.packages:
        for line in graph.metadata_lines.direct_in(graph.metadata_of(package), package.extras):
            if canonicalize_name(line.name) not in graph.excluded | replaced.keys():
                yield package, line
        asked = {demand.name for demand in package.dependencies}
        yield from ((package, Pep508(item.pep508)) for item in said if item.name in asked)


def _read_newest(graph: DependencyGraph) -> None:
    """Read what the newest versions of what people ask for need: what no index has may be to come from a URL there."""
    for line in graph.manifest.requirements:
        admitted = graph.bits(line.name, line.specifier) & graph.candidates(line.name).all
        if admitted and graph.applies(line):
            graph.edges(line.name, highest(admitted))


def _file_at(graph: DependencyGraph, name: NormalizedName, url: str) -> DistributionFile | Unknown:
    """Return the wheel at a URL, or why it says nothing: it may not be usable, and that is known of it."""
    wheel = wheel_at(name, url)
    if wheel is None:
        return Unknown(UnknownKind.DIRECT_REFERENCE, Subject(SubjectKind.PACKAGE, name), cause=why_no_wheel(url))
    called = parse_wheel_filename(wheel.filename)[0]
    if called != name:
        cause = f"the wheel there is one of `{called}`"
        return Unknown(UnknownKind.DIRECT_REFERENCE, Subject(SubjectKind.PACKAGE, name), cause=cause)
    found = graph.ask(wheel) if can_use(wheel, graph.manifest.target) else None
    return wheel if found is None or isinstance(found, CoreMetadata) else found
