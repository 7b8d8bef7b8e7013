"""``explain``: why a package has its version, who wanted another, why requirements cannot be installed together."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from dataclasses import replace
from typing import Protocol, runtime_checkable

from packaging.specifiers import SpecifierSet
from packaging.utils import NormalizedName, canonicalize_name
from packaging.version import Version

from envdoctor.model.candidate import Rejection
from envdoctor.model.finding import Severity
from envdoctor.model.repair import Repair, repair_in_use
from envdoctor.model.report import Explained
from envdoctor.model.resolution import Explanation, OtherWish, ResolvedPackage
from envdoctor.ports import IndexUnavailable, ProjectNotFound
from envdoctor.resolve.dependency_graph import DependencyGraph
from envdoctor.resolve.diagnosis import Diagnosis
from envdoctor.resolve.explanation import explain
from envdoctor.verbs.check import diagnose_project, report_of
from envdoctor.verbs.check_request import CheckRequest

__all__ = ["explain_topic", "unknown_topic"]


@runtime_checkable
class _Dated(Protocol):
    """An index that remembers what a date (``--exclude-newer``) took out of its pages."""

    def too_new(self, name: NormalizedName) -> tuple[Rejection, ...]: ...


def explain_topic(request: CheckRequest, topic: str | None) -> Explained:
    """Explain a package (by name), a conflict (by id such as C1), or without a topic all conflicts."""
    result = diagnose_project(request)
    report = report_of(request, result, command="explain")
    diagnosis = result.diagnosis
    if topic is None or diagnosis is None:
        # What decides the verdict stays, so that it is the one of `check`; notes are not about conflicts.
        return Explained(replace(report, findings=tuple(f for f in report.findings if f.severity is not Severity.INFO)))
    chosen = tuple(conflict for conflict in report.conflicts if conflict.id.casefold() == topic.casefold())
    if chosen:
        repairs = tuple(repair for repair in report.repairs if chosen[0].id in repair.resolves)
        findings = tuple(item for item in report.findings if item.conflict == chosen[0].id)
        return Explained(replace(report, conflicts=chosen, repairs=repairs, findings=findings))
    name = canonicalize_name(topic)
    about = replace(report, findings=tuple(item for item in report.findings if canonicalize_name(item.subject) == name))
    if diagnosis.resolution is None or diagnosis.graph is None:
        return Explained(about, unknown_topic=not about.findings and name not in _met(request, diagnosis.graph))
    repair = repair_in_use(diagnosis.repairs, diagnosis.resolution)
    too_new = request.index.too_new if isinstance(request.index, _Dated) else None
    explanation = explain(diagnosis.resolution, diagnosis.graph, name, repair=repair, too_new=too_new)
    if explanation.package is None:
        return Explained(about, explanation, unknown_topic=explanation.absence is None)
    return Explained(
        about,
        explanation,
        tuple(_other_wishes(diagnosis, diagnosis.graph, explanation)),
        tuple(_not_of_its_index(request, explanation.package)),
        _reason(repair, explanation.package),
    )


def unknown_topic(topic: str, explained: Explained) -> str:
    """Return that nothing is known by the name of a topic, with names that are close to it."""
    resolution = explained.report.resolution
    names = {package.name for package in resolution.packages} if resolution else set()
    names.update(line.name for conflict in explained.report.conflicts for line in conflict.core)
    ids = [conflict.id for conflict in explained.report.conflicts]
    close = difflib.get_close_matches(topic.lower(), [*sorted(names), *ids], n=3)
    hint = f"; did you mean {' or '.join(f'`{name}`' for name in close)}?" if close else ""
    where = "of the resolution" if resolution else "that the requirements lead to"
    return f"`{topic}` is neither a package {where} nor a conflict{hint}"


def _met(request: CheckRequest, graph: DependencyGraph | None) -> set[NormalizedName]:
    """Return the projects that the requirements name, and those that a search met."""
    written = request.project.requirements if request.project is not None else ()
    return {*(line.name for line in written), *(graph.met if graph is not None else ())}


def _reason(repair: Repair | None, package: ResolvedPackage) -> str:
    """Return why the override of a package is there, where somebody said it."""
    overrides = repair.overrides if repair else ()
    return next((override.because for override in overrides if override.requirement.name == package.name), "")


def _not_of_its_index(request: CheckRequest, package: ResolvedPackage) -> Iterator[Version]:
    """Yield the default index's newer versions that do not stand in for one of the index that is out of reach."""
    if not package.file.stand_in or request.plain_index is None:
        return
    try:
        versions = request.plain_index.page(package.name).versions
    except (IndexUnavailable, ProjectNotFound):
        return
    newest = Version(package.version.public)
    yield from (version for version in reversed(versions) if version > newest and not version.is_prerelease)


def _other_wishes(diagnosis: Diagnosis, graph: DependencyGraph, explanation: Explanation) -> Iterator[OtherWish]:
    """Yield what the pins that the repair moved would have asked of the package."""
    package = explanation.package
    repair = repair_in_use(diagnosis.repairs, diagnosis.resolution)
    if package is None or repair is None:
        return
    for aside in (item for override in repair.overrides for item in override.sets_aside):
        pin = _pinned(aside.specifier)
        candidates = graph.candidates(aside.name)
        if pin is None or pin not in candidates.versions or aside.name == package.name:
            continue
        position = candidates.versions.index(pin)
        for edge in graph.edges(aside.name, position):
            demand = edge.requirement(candidates.versions[position])
            if demand.name == package.name and not demand.admits(package.version):
                yield OtherWish(demand, aside)


def _pinned(specifier: SpecifierSet) -> Version | None:
    for clause in specifier:
        if clause.operator in ("==", "===") and "*" not in clause.version:
            try:
                return Version(clause.version)
            except ValueError:
                return None
    return None
