"""What an index has of a project: files, pages, metadata, versions that a target may use, and why others are not.

With the hashes that people write beside requirements (``--hash=sha256:...``), and the files that agree with them.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from envdoctor.model.dataclass import dataclass
from envdoctor.model.file_table import table_of
from envdoctor.model.unknown import Subject, SubjectKind, Unknown, UnknownKind

if TYPE_CHECKING:
    from packaging.utils import NormalizedName
    from packaging.version import Version

    from envdoctor.model.upload_limit import UploadLimit


__all__ = [
    "DIRECT_REFERENCE",
    "BuildRisk",
    "Candidate",
    "CoreMetadata",
    "DistributionFile",
    "FileKind",
    "MetadataSource",
    "ProjectPage",
    "Rejection",
    "RejectionKind",
    "agreeing",
    "comparable",
    "hashes_in",
    "malformed_hash",
    "unknown_file",
]

# pip's strong hashes, with the length of their digests in hexadecimal; it refuses all others.
# Source: pip, Secure installs: https://pip.pypa.io/en/stable/topics/secure-installs/
_LENGTHS = {"sha256": 64, "sha384": 96, "sha512": 128}
_HEXADECIMAL = re.compile(r"[0-9a-fA-F]+")


def malformed_hash(text: str) -> str | None:
    """Return what is wrong with ``algorithm:digest``, None where it is a hash that installers take."""
    algorithm, colon, digest = text.partition(":")
    if not colon or algorithm not in _LENGTHS:
        return f"it must begin with {', '.join(f'`{name}:`' for name in _LENGTHS)}"
    if len(digest) != _LENGTHS[algorithm] or not _HEXADECIMAL.fullmatch(digest):
        return f"a {algorithm} digest is {_LENGTHS[algorithm]} hexadecimal digits"
    return None


def hashes_in(url: str) -> tuple[tuple[str, str], ...]:
    """Return the hashes behind the ``#`` of an address: ``#sha256=...``, with other words or without."""
    pairs = (part.partition("=")[::2] for part in url.partition("#")[2].split("&"))
    return tuple((name, digest) for name, digest in pairs if name in _LENGTHS)


def safe_hashes(file: DistributionFile) -> dict[str, str]:
    """Return the digests that installers check; MD5 and SHA-1 prove nothing, and what is no digest fits no file."""
    return {name: digest for name, digest in file.hashes if malformed_hash(f"{name}:{digest}") is None}


def agreeing(files: Iterable[DistributionFile], hashes: Sequence[str]) -> tuple[DistributionFile, ...]:
    """Return the files that have one of the hashes."""
    wanted = {text.lower() for text in hashes}
    return tuple(file for file in files if any(f"{name}:{digest}".lower() in wanted for name, digest in file.hashes))


def comparable(files: Iterable[DistributionFile], hashes: Sequence[str]) -> bool:
    """Return whether the index gives, for any of the files, a digest of a kind that is asked for.

    A file that stands in for one of an index out of reach is another file.
    """
    kinds = {text.partition(":")[0] for text in hashes}
    return any(name in kinds for file in files if not file.stand_in for name, _ in file.hashes)


class FileKind(enum.Enum):
    """Kinds of distribution file."""

    WHEEL = "wheel"
    SDIST = "sdist"


class MetadataSource(enum.Enum):
    """Where core metadata was read."""

    SIDECAR = "sidecar"
    """The ``.metadata`` file beside a wheel (PEP 658, PEP 714)."""
    RANGE = "range"
    """HTTP ranges into the wheel."""
    WHEEL = "wheel"
    """The whole wheel."""
    PKG_INFO = "pkg-info"
    """An sdist's PKG-INFO with static ``Requires-Dist`` (PEP 643) or no dependencies to hide."""
    EGG_INFO = "egg-info"
    """An sdist's ``*.egg-info/requires.txt``: what its own build wrote at release time."""
    SIBLING = "sibling"
    """A wheel of the same version for another platform, where only building the sdist would tell."""


class BuildRisk(enum.Enum):
    """What building an sdist would need."""

    ANYWHERE = "builds-anywhere"
    """No native sources."""
    COMPILER = "needs-compiler"
    """C, C++, Cython, Rust or CMake sources."""
    FETCHES = "fetches-more"
    """Its build or its installation fetches what it is made of by itself, from where nothing here looks."""
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class DistributionFile:
    """One file of a project, as an index lists it (PEP 503, PEP 691, PEP 700)."""

    project: NormalizedName
    version: Version
    filename: str
    kind: FileKind
    url: str
    index: str = "default"
    """Name of the index: ``default`` or a profile's index name."""
    hashes: tuple[tuple[str, str], ...] = ()
    """``(algorithm, hexadecimal digest)`` pairs."""
    size: int | None = None
    """Bytes."""
    requires_python: str | None = None
    yanked: str | None = None
    """The reason (possibly empty) where the file is yanked (PEP 592), else None."""
    upload_time: str | None = None
    """ISO 8601, UTC."""
    sidecar: bool = False
    """The listing advertises a ``.metadata`` sidecar."""
    stand_in: bool = False
    """Stands in for a file of an index that could not be reached: good for diagnosis, never for a lock."""
    sidecar_hashes: tuple[tuple[str, str], ...] = ()
    """Hashes of the sidecar, where the listing gives them."""


@dataclass(frozen=True, slots=True)
class ProjectPage:
    """All files of one project as its index lists them; versions that are not PEP 440 are left out and counted."""

    name: NormalizedName
    files: Sequence[DistributionFile]
    """In the order of the page. Looking at each of them makes each of them: ask ``versions`` and ``of_version``."""
    index: str = "default"
    skipped: tuple[str, ...] = ()
    """File names whose version or name could not be read."""
    unread: Unknown | None = None
    """Why an index that may have more of the project could not be read; None where all of them were."""
    denied: tuple[Version, ...] = ()
    """Releases that the index which could not be read is known not to have."""
    too_new: tuple[Version, ...] = ()
    """Versions of which files were left out, since they are newer than a date that was given; oldest first."""
    limit: UploadLimit | None = None
    """What left them out."""

    @property
    def versions(self) -> tuple[Version, ...]:
        """Distinct versions, oldest first."""
        return table_of(self.files).versions

    def of_version(self, version: Version) -> tuple[DistributionFile, ...]:
        """Return the files of one version, in the order of the page."""
        return tuple(self.files[row] for row in table_of(self.files).rows_of(version))


@dataclass(frozen=True, slots=True)
class CoreMetadata:
    """The part of a distribution's core metadata that resolving needs."""

    name: NormalizedName
    version: Version
    requires_dist: tuple[str, ...] = ()
    """PEP 508 texts; legacy forms already mended, see ``mended``."""
    requires_python: str | None = None
    provides_extra: frozenset[str] = frozenset()
    source: MetadataSource = MetadataSource.SIDECAR
    mended: tuple[str, ...] = ()
    """Invalid lines as they stand in the file (``PyYAML (>=5.1.*)``), which were read as pip used to."""


DIRECT_REFERENCE = "direct reference"
"""In the place of an index's name: the file is where a requirement itself says."""


class RejectionKind(enum.Enum):
    """Why a file or version cannot be used."""

    TAG = "tag"
    REQUIRES_PYTHON = "requires-python"
    YANKED = "yanked"
    UNSURE = "unsure"
    """Nobody knows whether the index that is out of reach has it; only a pin takes it."""
    SOURCE_ONLY = "source-only"
    NO_BINARY = "no-binary"
    TOO_NEW = "too-new"
    NO_METADATA = "no-metadata"
    NOT_FOUND = "not-found"
    """The index has no such project."""


@dataclass(frozen=True, slots=True)
class Rejection:
    """One file or version that cannot be used, and why."""

    kind: RejectionKind
    project: NormalizedName
    version: Version | None = None
    filename: str | None = None
    detail: str = ""
    unknown: Unknown | None = None
    """Why its metadata could not be read, where that is the reason."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """One version of a project with the files that the target may use, best first."""

    project: NormalizedName
    version: Version
    files: tuple[DistributionFile, ...]
    yanked: bool = False

    @property
    def file(self) -> DistributionFile:
        """The preferred file: the best-ranked wheel, else the sdist."""
        return self.files[0]


def unknown_file(kind: UnknownKind, file: DistributionFile, cause: str = "") -> Unknown:
    """Return that a file of a version does not tell what it was asked."""
    subject = Subject(SubjectKind.PACKAGE, file.project, str(file.version))
    return Unknown(kind, subject, file.index, file=file.filename, cause=cause)
