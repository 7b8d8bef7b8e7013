"""A lock on disk, read back: its versions are preferred, its overrides count as accepted, and it may still hold.

Where the cache does not know the project and no index may be asked, the lock alone tells. It was a whole resolution
when it was written, and what distributions require never changes afterwards. So as long as everything that people
write now is met by its versions, or was set aside in it on purpose, it still holds. Whether something better exists,
and what conflicts with what, a lock cannot tell.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Any

from packaging.markers import Marker
from packaging.requirements import InvalidRequirement
from packaging.requirements import Requirement as Pep508
from packaging.specifiers import SpecifierSet
from packaging.utils import NormalizedName, canonicalize_name
from packaging.version import Version

from envdoctor.lock.locked_way import LockedWay, way_of_row
from envdoctor.model.compatibility import admits, may_hold_on
from envdoctor.model.dataclass import dataclass
from envdoctor.model.origin import (
    CommandLineOrigin,
    DistributionOrigin,
    FileOrigin,
    Origin,
    ProfileOrigin,
    written_by_a_person,
)
from envdoctor.model.override import Override, OverrideSource
from envdoctor.model.requirement import Requirement, RequirementKind, endless_number, may_hold
from envdoctor.model.target import Backend, Target
from envdoctor.resolve.manifest import Manifest
from envdoctor.toml_tables import TomlError, read_toml

if TYPE_CHECKING:
    from packaging.pylock import Package, PackageSdist, PackageWheel, Pylock

__all__ = [
    "LockError",
    "LockedProject",
    "demand_of_text",
    "holds",
    "locked_project",
    "meets",
    "override_of_row",
    "parse_lock",
    "read_pylock",
    "target_row",
    "unchanged",
    "unmet",
]


def holds(manifest: Manifest, locked: LockedProject, choices: tuple[tuple[int, int], ...] = ()) -> bool:
    """Return whether the lock is for this target and meets everything that applies there; ``choices`` as for unmet."""
    return unmet(manifest, locked, choices) == ()


def unmet(
    manifest: Manifest, locked: LockedProject, choices: tuple[tuple[int, int], ...] = ()
) -> tuple[Requirement, ...] | None:
    """Return what applies to this target and what the lock does not meet, None where it is for no such target.

    ``choices`` are the interpreters that the target may have besides its own.
    """
    targets = [manifest.target.for_python(python) for python in (manifest.target.python, *choices)]
    target = next((each for each in targets if locked.targets and locked.is_for(each)), None)
    if target is None:
        return None
    environment = target.marker_environment()
    excluded = {item.name for item in manifest.exclusions}
    wanted = [
        item
        for item in (*manifest.requirements, *(override.requirement for override in manifest.overrides))
        if item.name not in excluded and may_hold(item.marker, environment)
    ]
    return tuple(item for item in wanted if not meets(item, locked))


def unchanged(manifest: Manifest, locked: LockedProject) -> bool:
    """Return whether the lock knows no line that nobody writes any more; with ``holds``, it is still the lock."""
    overriding = [override.requirement for override in manifest.overrides]
    return locked.written <= {str(item) for item in (*manifest.requirements, *overriding)}


def meets(requirement: Requirement, locked: LockedProject) -> bool:
    """Return whether the lock has what a person's requirement asks for, or set it aside."""
    text = str(requirement)
    if text in locked.set_aside:
        return True
    version = locked.versions.get(requirement.name)
    if version is None:
        return requirement.kind is RequirementKind.CONSTRAINT
    if requirement.extras or requirement.url:
        return text in locked.written  # What an extra brings, only the lock's own writing of that line tells.
    return requirement.admits(version)


_OF_A_DISTRIBUTION = re.compile(r"[\w.-]+ \d[\w.+!-]*")
"""An origin such as ``torchaudio 2.4.1``; those of files and profiles have a colon."""
_OF_A_LINE = re.compile(r"(?P<path>.*):(?P<line>0|[1-9][0-9]{0,8})", re.DOTALL)
_OF_A_PROFILE = re.compile(r"profile (?P<name>[^:]+): (?P<key>.+)")


_WORDS = ("os", "arch", "python", "backend")


class LockError(Exception):
    """A file that is not a valid lock; the message carries path and key path or line."""


@dataclass(frozen=True, slots=True)
class LockedProject:
    """What a lock says."""

    path: str
    versions: Mapping[NormalizedName, Version]
    overrides: tuple[Override, ...] = ()
    chosen: bool = False
    """A person chose the repair (``lock --repair N``): its overrides stand in place of the profile's."""
    profile: str | None = None
    hashes: Mapping[NormalizedName, frozenset[str]] = field(default_factory=dict)
    """``algorithm:hex`` digests of each package's files."""
    files: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """The same digests by file name."""
    targets: tuple[Mapping[str, str], ...] = ()
    """What it was made for, as ``target_row`` has it; several for a joined lock, none for one of another tool."""
    environments: tuple[Marker, ...] = ()
    requires_python: SpecifierSet = SpecifierSet()
    written: frozenset[str] = frozenset()
    """The requirements of people (project files, profile, command line) that it was made from, as they were written."""
    set_aside: frozenset[str] = frozenset()
    """Those of them that its overrides replace."""
    way: LockedWay | None = None
    """The index of the torch that a card got, with which it was made."""

    def is_for(self, target: Target, choices: Iterable[tuple[int, int]] = ()) -> bool:
        """Return whether the lock was made for the target: what it accepts counts nowhere else.

        ``choices`` are the interpreters that the target may have besides its own. What cards are driven by is no other
        target, as long as nobody names it.
        """
        return any(self._is_for(target.for_python(python)) for python in (target.python, *choices))

    @property
    def made_for(self) -> str:
        """What it was made for, in words."""
        rows = [
            f"{row['os']} {row['arch']}, Python {row['python']}, "
            + (row["backend"] if row["backend"] != Backend.UNKNOWN.value else "no GPU backend named")
            for row in self.targets
        ]
        others = [str(marker) for marker in self.environments] or [f"Python {self.requires_python}"]
        return " and ".join(rows or others)

    def _is_for(self, target: Target) -> bool:
        if not self.targets:
            made = not self.environments or any(may_hold_on(marker, target) for marker in self.environments)
            return made and admits(self.requires_python, target.python)
        mine = target_row(target)
        told = mine if target.backend_named else {key: text for key, text in mine.items() if key != "backend"}
        return any(told.items() <= row.items() for row in self.targets)


def target_row(target: Target) -> dict[str, str]:
    """Return a target as the lock's own table has it."""
    return {
        "os": target.os.value,
        "arch": target.arch.value,
        "python": target.python_version,
        "backend": target.backend.value,
    }


def parse_lock(text: str, path: str) -> LockedProject:
    """Return what the text of a lock says. Raises LockError with path and place."""
    return locked_project(read_pylock(text, path), path)


def read_pylock(text: str, path: str) -> Pylock:
    """Return the document of a pylock file. Raises LockError with path and place."""
    try:
        data = read_toml(text)
    except TomlError as error:
        reason = "it is nested too deeply for a lock" if error.too_deep else f"not TOML: {error}"
        raise LockError(f"{path}: {reason}") from error
    from packaging.pylock import Pylock, PylockValidationError  # takes long, and many a project has no lock

    try:
        return Pylock.from_dict(data)
    except PylockValidationError as error:
        raise LockError(f"{path}: not a valid PEP 751 lock: {error}") from error


def locked_project(document: Pylock, path: str) -> LockedProject:
    """Return what a lock says, read from a file or just made."""
    tool = _table(document.tool or {}, "envdoctor")
    rows = tool.get("overrides")
    found = [override_of_row(row, path) for row in (rows if isinstance(rows, list) else ())]
    overrides = tuple(override for override in found if override is not None)
    packages = [(package, _table(package.tool or {}, "envdoctor")) for package in document.packages]
    asked = [_split(text) for _, table in packages for text in _texts(table, "wanted-by")]
    aside = [_split(text) for _, table in packages for text in _texts(table, "sets-aside")]
    # What an override leaves out is no package of the lock.
    aside += [(str(demand), demand.origin) for override in overrides for demand in override.sets_aside]
    set_aside = frozenset(text for text, origin in aside if written_by_a_person(origin))
    return LockedProject(
        path=path,
        versions={package.name: package.version for package in document.packages if package.version is not None},
        overrides=overrides,
        chosen=tool.get("chosen") is True,
        profile=_string(tool, "profile"),
        hashes={package.name: _digests(_files(package)) for package in document.packages},
        files={file.filename: _digests([file]) for package in document.packages for file in _files(package)},
        targets=tuple(_targets(tool)),
        environments=tuple(document.environments or ()),
        requires_python=document.requires_python or SpecifierSet(),
        written=set_aside | {text for text, origin in asked if written_by_a_person(origin)},
        set_aside=set_aside,
        way=way_of_row(tool.get("way"), path),
    )


def _targets(tool: Mapping[str, Any]) -> Iterator[Mapping[str, str]]:
    """Yield the target, or those of a joined lock; what lacks one of its words says nothing."""
    several = tool.get("targets")
    for row in (tool.get("target"), *(several if isinstance(several, list) else ())):
        if isinstance(row, Mapping) and all(isinstance(row.get(key), str) for key in _WORDS):
            yield {key: row[key] for key in _WORDS}


def override_of_row(row: object, path: str) -> Override | None:
    """Return what ``pylock_writer.override_row`` wrote; None for what cannot be read: the table is disposable."""
    text = row.get("requirement") if isinstance(row, Mapping) else None
    if not isinstance(row, Mapping) or not isinstance(text, str) or endless_number(text):
        return None
    try:
        parsed = Pep508(text)
    except InvalidRequirement:
        return None
    name = canonicalize_name(parsed.name)
    extras = frozenset(canonicalize_name(extra) for extra in parsed.extras)
    origin = FileOrigin(path)
    sources = {"from-profile": OverrideSource.PROFILE, "from-project": OverrideSource.PROJECT}
    return Override(
        Requirement(name, origin, parsed.specifier, extras, parsed.marker, parsed.url, text=text),
        sets_aside=tuple(demand_of_text(demand, name) for demand in _texts(row, "sets-aside")),
        because=_string(row, "because") or "",
        source=next((sources[key] for key in sources if row.get(key) is True), OverrideSource.LOCK),
        replaces=_texts(row, "replaces"),
    )


def demand_of_text(text: str, name: NormalizedName) -> Requirement:
    """Return the requirement of ``torch==2.7 (requirements.txt:1)``, which is one of the project ``name``.

    Requirements are compared by their text: a line that moves within its file is still the line that was accepted. What
    is no PEP 508 (``librosa = "0.9.2"`` of a Poetry project) has its text alone.
    """
    written, origin = _split(text)
    if endless_number(written):
        return Requirement(name, origin, text=written)
    try:
        parsed = Pep508(written)
    except InvalidRequirement:
        return Requirement(name, origin, text=written)
    extras = frozenset(canonicalize_name(extra) for extra in parsed.extras)
    return Requirement(name, origin, parsed.specifier, extras, parsed.marker, parsed.url, text=written)


def _split(text: str) -> tuple[str, Origin]:
    """Return the requirement and the origin of ``requirement (origin)``; either may have brackets of its own."""
    body = text.removesuffix(")")
    places = [match.start() for match in re.finditer(r" \(", body)]
    at = next((at for at in places if _balanced(body[:at]) and _balanced(body[at + 2 :])), None)
    if at is None:
        written, _, origin = body.partition(" (")
        return written, _origin(origin)
    return body[:at], _origin(body[at + 2 :])


def _balanced(text: str) -> bool:
    depth = 0
    for char in text:
        depth += (char == "(") - (char == ")")
        if depth < 0:
            return False
    return depth == 0


def _origin(text: str) -> Origin:
    """Return the origin that is written so; where a file is included from, the lock does not tell."""
    if _OF_A_DISTRIBUTION.fullmatch(text):
        name, _, version = text.partition(" ")
        return DistributionOrigin(name, version)
    profile = _OF_A_PROFILE.fullmatch(text)
    if profile:
        return ProfileOrigin(profile["name"], profile["key"])
    if text.startswith("--"):
        return CommandLineOrigin(text)
    line = _OF_A_LINE.fullmatch(text)
    return FileOrigin(line["path"], int(line["line"])) if line else FileOrigin(text)


def _texts(entry: Mapping[str, Any], key: str) -> tuple[str, ...]:
    value = entry.get(key)
    return tuple(map(str, value)) if isinstance(value, list) else ()


def _files(package: Package) -> list[PackageWheel | PackageSdist]:
    return [*(package.wheels or ()), *([package.sdist] if package.sdist else ())]


def _digests(files: Iterable[PackageWheel | PackageSdist]) -> frozenset[str]:
    return frozenset(f"{name}:{digest}" for file in files for name, digest in file.hashes.items())


def _table(data: Mapping[str, Any], *keys: str) -> Mapping[str, Any]:
    for key in keys:
        value = data.get(key)
        if not isinstance(value, Mapping):
            return {}
        data = value
    return data


def _string(table: Mapping[str, Any], key: str) -> str | None:
    value = table.get(key)
    return value if isinstance(value, str) else None
