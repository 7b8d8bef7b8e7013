"""An index as the project's own settings make it count: demands that it overrides, and packages without their demands.

uv's ``override-dependencies`` take the place of every demand on a package; ``pip install --no-deps`` installs a package
and leaves its demands aside. Both are the project's own words, and no conflict is found in what they set aside.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from packaging.requirements import InvalidRequirement
from packaging.requirements import Requirement as Pep508
from packaging.utils import NormalizedName, canonicalize_name

from envdoctor.model.project import Project
from envdoctor.model.requirement import Requirement, RequirementKind, both_markers, may_hold

if TYPE_CHECKING:
    from envdoctor.model.candidate import CoreMetadata, DistributionFile, ProjectPage
    from envdoctor.model.target import Target
    from envdoctor.ports import Index

__all__ = ["ProjectIndex", "as_the_project_says"]


def as_the_project_says(index: Index, project: Project, target: Target) -> Index:
    """Return the index, with the demands of its metadata as the project's own settings leave them."""
    alone = without_demands(project, target)
    if not project.overrides and not alone:
        return index
    return ProjectIndex(index, project.overrides, alone)


def without_demands(project: Project, target: Target) -> frozenset[NormalizedName]:
    """Return the packages that every line which asks for them installs with ``--no-deps``."""
    environment = target.marker_environment()
    whole: set[NormalizedName] = set()
    bare: set[NormalizedName] = set()
    for line in project.requirements:
        if line.kind is RequirementKind.REQUIRE and may_hold(line.marker, environment):
            (bare if line.no_deps else whole).add(line.name)
    return frozenset(bare - whole)


class ProjectIndex:
    """Hands everything on to another index, but the demands that a project sets aside."""

    def __init__(
        self, inner: Index, overrides: Sequence[Requirement] = (), alone: frozenset[NormalizedName] = frozenset()
    ) -> None:
        self.inner = inner
        self._overrides: dict[NormalizedName, list[Requirement]] = {}
        for override in overrides:
            self._overrides.setdefault(override.name, []).append(override)
        self._alone = alone
        self._known: dict[str, CoreMetadata] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def page(self, name: NormalizedName) -> ProjectPage:
        """Return the project's files; see ``Index``."""
        return self.inner.page(name)

    def prefetch_pages(self, names: Iterable[NormalizedName]) -> None:
        """Start fetching pages; see ``Index``."""
        self.inner.prefetch_pages(names)

    def prefetch_metadata(self, files: Iterable[DistributionFile]) -> None:
        """Start fetching metadata; see ``Index``."""
        self.inner.prefetch_metadata(files)

    def stated(self, file: DistributionFile) -> CoreMetadata:
        """Return core metadata with nothing set aside."""
        return self.inner.metadata(file)

    def metadata(self, file: DistributionFile) -> CoreMetadata:
        """Return core metadata with the demands that count; see ``Index``."""
        if file.filename not in self._known:
            found = self.inner.metadata(file)
            lines = () if found.name in self._alone else tuple(self._lines(found.requires_dist))
            self._known[file.filename] = replace(found, requires_dist=lines)
        return self._known[file.filename]

    def _lines(self, lines: Iterable[str]) -> Iterator[str]:
        for line in lines:
            try:
                parsed = Pep508(line)
            except InvalidRequirement:
                yield line
                continue
            overrides = self._overrides.get(canonicalize_name(parsed.name))
            if overrides is None:
                yield line
                continue
            extras = f"[{','.join(sorted(parsed.extras))}]" if parsed.extras else ""
            for override in overrides:
                marker = both_markers(parsed.marker, override.marker)
                body = f" @ {override.url} " if override.url else str(override.specifier)
                yield f"{override.name}{extras}{body}" + (f" ; {marker}" if marker else "")
