"""An index in memory: a table of projects, versions and what they require."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from packaging.requirements import Requirement as Pep508
from packaging.utils import NormalizedName, canonicalize_name
from packaging.version import Version

from envdoctor.model.candidate import (
    CoreMetadata,
    DistributionFile,
    FileKind,
    MetadataSource,
    ProjectPage,
    unknown_file,
)
from envdoctor.model.finding import Finding, Severity
from envdoctor.model.origin import FileOrigin
from envdoctor.model.requirement import Requirement, RequirementKind
from envdoctor.model.target import Arch, OperatingSystem, Target
from envdoctor.model.unknown import UnknownKind
from envdoctor.ports import MetadataUnavailable, ProjectNotFound

LINUX = Target(os=OperatingSystem.LINUX, arch=Arch.X86_64, python=(3, 11))
WINDOWS = Target(os=OperatingSystem.WINDOWS, arch=Arch.X86_64, python=(3, 11))
JETSON = Target(os=OperatingSystem.LINUX, arch=Arch.AARCH64, python=(3, 12))


class MemoryIndex:
    """An ``Index`` over a table; remembers which metadata was asked for."""

    def __init__(self, table: Mapping[str, Mapping[str, Any]]) -> None:
        self._pages: dict[NormalizedName, ProjectPage] = {}
        self._metadata: dict[str, CoreMetadata | None] = {}
        self.asked: set[str] = set()
        for name, versions in table.items():
            project = canonicalize_name(name)
            files: list[DistributionFile] = []
            for version, entry in versions.items():
                files.extend(self._files(project, version, entry))
            self._pages[project] = ProjectPage(project, tuple(files))

    def _files(self, project: NormalizedName, version: str, entry: Any) -> Iterable[DistributionFile]:
        details: Mapping[str, Any] = entry if isinstance(entry, Mapping) else {"requires": entry}
        tags = details.get("tags", ["py3-none-any"]) if details.get("wheel", True) else []
        stem = project.replace("-", "_")
        names = [f"{stem}-{version}-{tag}.whl" for tag in tags]
        if details.get("sdist", not tags):
            names.append(f"{stem}-{version}.tar.gz")
        requires = list(details.get("requires", []))
        for extra, lines in details.get("extras", {}).items():
            for line in lines:
                parsed = Pep508(line)
                own = f" and ({parsed.marker})" if parsed.marker else ""
                parsed.marker = None
                requires.append(f"{parsed} ; extra == '{extra}'{own}")
        for filename in names:
            self._metadata[filename] = (
                None
                if details.get("no_metadata")
                else CoreMetadata(
                    name=project,
                    version=Version(version),
                    requires_dist=tuple(requires),
                    provides_extra=frozenset(details.get("extras", {})),
                    source=MetadataSource.SIDECAR,
                    mended=tuple(details.get("mended", ())),
                )
            )
            yield DistributionFile(
                project=project,
                version=Version(version),
                filename=filename,
                kind=FileKind.WHEEL if filename.endswith(".whl") else FileKind.SDIST,
                url=f"https://index.example/{filename}",
                requires_python=details.get("requires_python"),
                yanked="" if details.get("yanked") else None,
                upload_time=details.get("upload_time"),
            )

    def page(self, name: NormalizedName) -> ProjectPage:
        if name not in self._pages:
            raise ProjectNotFound(name, "default")
        return self._pages[name]

    def prefetch_pages(self, names: Iterable[NormalizedName]) -> None:
        pass

    def metadata(self, file: DistributionFile) -> CoreMetadata:
        self.asked.add(f"{file.project} {file.version}")
        found = self._metadata.get(file.filename)
        if found is None:
            raise MetadataUnavailable(unknown_file(UnknownKind.NO_METADATA, file, "no metadata"))
        return found

    def prefetch_metadata(self, files: Iterable[DistributionFile]) -> None:
        self.asked.update(f"{file.project} {file.version}" for file in files)


def read(*texts: str, path: str = "requirements.txt", constraint: bool = False) -> tuple[Requirement, ...]:
    """Return requirements as a reader of a file would."""
    found = []
    for line, text in enumerate(texts, 1):
        parsed = Pep508(text)
        found.append(
            Requirement(
                name=canonicalize_name(parsed.name),
                origin=FileOrigin(path, line),
                specifier=parsed.specifier,
                extras=frozenset(canonicalize_name(extra) for extra in parsed.extras),
                marker=parsed.marker,
                url=parsed.url,
                text=text,
                kind=RequirementKind.CONSTRAINT if constraint else RequirementKind.REQUIRE,
            )
        )
    return tuple(found)


def breakage(rule: str, message: str, *packages: str) -> Finding:
    """Return what is known to break with some packages, the first of which it is about."""
    return Finding(rule, "known", Severity.ERROR, packages[0], message, packages=packages)
