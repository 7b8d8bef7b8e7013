"""What an image has before anything is installed: tried first, and unknown where no file of an index stands for it."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable

from packaging.version import Version

from envdoctor.model.candidate import FileKind
from envdoctor.model.project import Brought
from envdoctor.model.requirement import Requirement
from envdoctor.model.unknown import Subject, SubjectKind, Unknown, UnknownKind
from envdoctor.resolve.candidates import CandidateList
from envdoctor.resolve.edges import positions_of
from envdoctor.resolve.manifest import Manifest

__all__ = ["in_order", "is_of_image", "untold_build"]


def in_order(manifest: Manifest, candidates: CandidateList, bits: int) -> Iterable[int]:
    """Return positions in the order in which they are tried: an image's own, then the newest, as pip's options say."""
    own = _own(manifest.brought.get(candidates.name), candidates) & bits
    others = _newest_first(manifest, candidates, bits & ~own)
    return (*positions_of(own), *others) if own else others


def _newest_first(manifest: Manifest, candidates: CandidateList, bits: int) -> Iterable[int]:
    wanted = manifest.policy.prefer_wheel
    if candidates.name not in wanted and ":all:" not in wanted:
        return positions_of(bits)
    files = candidates.files
    return sorted(positions_of(bits), key=lambda position: files[position][0].kind is not FileKind.WHEEL)


def is_of_image(manifest: Manifest, candidates: CandidateList, position: int) -> bool:
    """Return whether a version is the one that the image has."""
    return bool(_own(manifest.brought.get(candidates.name), candidates) >> position & 1)


def untold_build(
    manifest: Manifest, candidates: CandidateList, applies: Callable[[Requirement], bool]
) -> Unknown | None:
    """Return why nothing is known of a project that the image has and that stays; None where it is known, or replaced.

    No file need be there for it, so what an index lacks for the target says nothing against it. With torch goes what
    was built for it.
    """
    brought = manifest.brought.get(candidates.name)
    if brought is None or brought.below is not None or candidates.opaque or _own(brought, candidates):
        return None
    lines = [line for line in manifest.requirements if line.name in (candidates.name, "torch") and applies(line)]
    if any(_replaces(line, manifest.brought[line.name]) for line in lines if line.name in manifest.brought):
        return None
    subject = Subject(SubjectKind.PACKAGE, candidates.name)
    return Unknown(UnknownKind.IN_IMAGE, subject, cause=brought.image, origin=brought.origin)


def _own(brought: Brought | None, candidates: CandidateList) -> int:
    """Return the bit of the version that is, or stands for, the image's; 0 where the index has none for the target.

    Where no more is told than what it is older than, those of all that may be it.
    """
    if brought is None or candidates.opaque:
        return 0
    if brought.below is not None:
        return (1 << bisect_left(candidates.versions, brought.below)) - 1
    if brought.version is None:
        return 0
    labelled = candidates.bits(Version(f"{brought.version}+{brought.label}")) if brought.label else 0
    return labelled or (candidates.bits(brought.version) if brought.in_index else 0)


def _replaces(line: Requirement, brought: Brought) -> bool:
    """Return whether an installer takes another build for this line, whatever the image's is.

    Where the version is not told, a pin to a release that the image's name does not speak of does: builders' own
    versions end in a label, or are pre-releases.
    """
    if line.url:
        return True
    if brought.version is not None:
        return not line.admits(brought.version)
    pins = [item.version for item in line.specifier if item.operator == "==" and not item.version.endswith(".*")]
    return any("+" in pin or not _speaks_of(brought.image, pin) for pin in pins)


def _speaks_of(image: str, version: str) -> bool:
    """Return whether an image's name has the minor release of a version: ``2.3`` in ``..._release_2.3.0``."""
    minor = re.escape(".".join(version.split(".")[:2]))
    return re.search(rf"(?<![\d.]){minor}(?!\d)", image) is not None
