"""Small examinations, in memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatch
from typing import Any

from packaging.markers import Marker
from packaging.requirements import Requirement as Parsed
from packaging.utils import canonicalize_name
from packaging.version import Version

from envdoctor.diagnose.examination import Examination
from envdoctor.model.candidate import BuildRisk, CoreMetadata, DistributionFile, FileKind, ProjectPage, unknown_file
from envdoctor.model.environment import InstalledDistribution, InstalledEnvironment, InstalledFile
from envdoctor.model.fact import Fact, Facts, FactState
from envdoctor.model.origin import DistributionOrigin, FileOrigin, Origin
from envdoctor.model.project import Project, SourceFile
from envdoctor.model.requirement import Requirement
from envdoctor.model.resolution import Resolution, ResolvedPackage
from envdoctor.model.target import Arch, Backend, OperatingSystem, Target, TargetProperty
from envdoctor.model.unknown import UnknownKind
from envdoctor.ports import MetadataUnavailable, ProjectNotFound

PLAIN = "linux/x86_64/3.11/cpu"
OF_NOBODY = "linux/x86_64/3.11/unknown"
"""This machine, on which a log that somebody pasted is read."""


class MemorySources:
    """A project checkout that is a mapping; counts how often each file is given out."""

    def __init__(self, files: Mapping[str, str]) -> None:
        self.files = dict(files)
        self.reads: dict[str, int] = {}

    def _give(self, path: str) -> SourceFile:
        self.reads[path] = self.reads.get(path, 0) + 1
        return SourceFile(path, self.files[path])

    def python_files(self) -> Iterator[SourceFile]:
        yield from (self._give(path) for path in sorted(self.files) if path.endswith(".py"))

    def read(self, path: str) -> SourceFile | None:
        return self._give(path) if path in self.files else None

    def glob(self, pattern: str) -> Iterator[str]:
        loose = pattern.replace("**/", "")
        yield from (path for path in sorted(self.files) if fnmatch(path, pattern) or fnmatch(path, loose))


class MemoryIndex:
    """An index of pages and metadata that are mappings."""

    def __init__(self, files: Mapping[str, Iterable[str]], requires: Mapping[str, Iterable[str]] | None = None) -> None:
        self._files = files
        self._requires = requires or {}

    def page(self, name: str) -> ProjectPage:
        if name not in self._files:
            raise ProjectNotFound(name, "default")
        return ProjectPage(canonicalize_name(name), tuple(file_of(name, item) for item in self._files[name]))

    def prefetch_pages(self, names: Iterable[str]) -> None:
        """Nothing to do."""

    def metadata(self, file: DistributionFile) -> CoreMetadata:
        key = f"{file.project}=={file.version}"
        return CoreMetadata(file.project, file.version, tuple(self._requires.get(key, ())))

    def prefetch_metadata(self, files: Iterable[DistributionFile]) -> None:
        """Nothing to do."""


class MemoryArchives:
    """Archives whose members are mappings, by project name; counts what was looked into."""

    def __init__(self, members: Mapping[str, Mapping[str, str]]) -> None:
        self._members = members
        self.opened: list[str] = []

    def names(self, file: DistributionFile) -> tuple[str, ...]:
        self.opened.append(file.project)
        if file.project not in self._members:
            raise MetadataUnavailable(unknown_file(UnknownKind.NO_METADATA, file, "not recorded"))
        return tuple(self._members[file.project])

    def read(self, file: DistributionFile, member: str) -> bytes | None:
        if file.project not in self._members:
            raise MetadataUnavailable(unknown_file(UnknownKind.NO_METADATA, file, "not recorded"))
        text = self._members[file.project].get(member)
        return None if text is None else text.encode()


def target_of(text: str, *, wsl: bool = False, gpu: str | None = None, glibc: str = "2.28") -> Target:
    os, arch, python, backend = text.split("/")
    major, minor = python.split(".")
    level = glibc.split(".")
    return Target(
        OperatingSystem(os),
        Arch(arch),
        (int(major), int(minor)),
        Backend(backend),
        wsl=wsl,
        gpu_architecture=gpu,
        glibc=(int(level[0]), int(level[1])),
    )


def file_of(name: str, filename: str, *, yanked: bool = False, index: str = "default") -> DistributionFile:
    kind = FileKind.WHEEL if filename.endswith(".whl") else FileKind.SDIST
    stem = filename.split("-")[1] if kind is FileKind.WHEEL else filename.rsplit("-", 1)[1].removesuffix(".tar.gz")
    return DistributionFile(
        canonicalize_name(name),
        Version(stem),
        filename,
        kind,
        f"https://index.example/{filename}",
        index=index,
        yanked="" if yanked else None,
    )


def require(text: str, origin: Origin | None = None, **fields: Any) -> Requirement:
    parsed = Parsed(text)
    return Requirement(
        canonicalize_name(parsed.name),
        origin or FileOrigin("requirements.txt", 1),
        parsed.specifier,
        frozenset(map(canonicalize_name, parsed.extras)),
        Marker(str(parsed.marker)) if parsed.marker else None,
        text=text,
        **fields,
    )


def resolved(
    pin: str,
    *,
    sdist: bool = False,
    yanked: bool = False,
    index: str = "default",
    extras: Iterable[str] = (),
    wanted_by: Iterable[Requirement] | None = None,
    risk: BuildRisk | None = None,
    **fields: Any,
) -> ResolvedPackage:
    name, version = pin.split("==")
    stem = name.replace("-", "_")
    filename = f"{name}-{version}.tar.gz" if sdist else f"{stem}-{version}-cp311-cp311-any.whl"
    file = file_of(name, filename, yanked=yanked, index=index)
    wanted = tuple(wanted_by) if wanted_by is not None else (require(pin.split("+")[0] if "+" in pin else pin),)
    return ResolvedPackage(
        canonicalize_name(name),
        Version(version),
        file,
        (file,),
        extras=frozenset(extras),
        wanted_by=wanted,
        build_risk=risk,
        **fields,
    )


def by_distribution(text: str, name: str, version: str, *, coupling: bool = False) -> Requirement:
    return require(text, DistributionOrigin(name, version, coupling))


def resolution_of(*packages: ResolvedPackage, **fields: Any) -> Resolution:
    return Resolution(tuple(sorted(packages, key=lambda item: item.name)), **fields)


def _installed(pins: Iterable[str], files: Iterable[str] | None) -> InstalledEnvironment:
    rows = None if files is None else tuple(InstalledFile(path) for path in files)
    distributions = [
        InstalledDistribution(canonicalize_name(name), version, files=rows)
        for name, version in (pin.split("==") for pin in pins)
    ]
    return InstalledEnvironment(tuple(distributions))


def _facts(known: Mapping[str, object], absent: Iterable[str]) -> Facts:
    facts = [Fact(name, FactState.KNOWN, value, "test") for name, value in known.items()]
    return Facts([*facts, *(Fact(name, FactState.ABSENT) for name in absent)])


def examination_of(data: Mapping[str, Any]) -> Examination:
    """Build an examination from an example of an advisory file; a log's machine is known where `target` names it."""
    told = "target" in data or "log" not in data
    named = data.get("target", PLAIN if told else OF_NOBODY)
    target = target_of(named, wsl=data.get("wsl", False), gpu=data.get("gpu"), glibc=data.get("glibc", "2.28"))
    plan = None
    if "plan" in data:
        sdists, extras = data.get("sdist", ()), data.get("extras", {})
        packages = [
            resolved(pin, sdist=pin.split("==")[0] in sdists, extras=extras.get(pin.split("==")[0], ()))
            for pin in data["plan"]
        ]
        plan = resolution_of(*packages)
    asked = [require(pin, FileOrigin("requirements.txt", at)) for at, pin in enumerate(data.get("asked", ()), 1)]
    return Examination(
        target=target,
        project=Project(".", requirements=tuple(asked)) if asked else None,
        sources=MemorySources(data["sources"]) if "sources" in data else None,
        resolution=plan,
        environment=_installed(data["installed"], data.get("files")) if "installed" in data else None,
        facts=_facts(data.get("facts", {}), data.get("absent", ())),
        log=data.get("log"),
        assumed=frozenset() if told else frozenset(TargetProperty),
    )
