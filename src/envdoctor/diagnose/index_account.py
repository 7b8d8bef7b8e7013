"""What an index says of how it was asked, beside its pages; an index that says nothing of it is taken to be whole."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from packaging.version import Version

    from envdoctor.diagnose.examination import Examination
    from envdoctor.model.candidate import CoreMetadata, DistributionFile
    from envdoctor.model.unknown import Unknown
    from envdoctor.ports import Index

__all__ = ["Outbid", "outbid", "silent", "stated"]


class Outbid(NamedTuple):
    """A project that the default index has, and an extra one in a higher version."""

    project: str
    index_name: str
    version: Version
    default_version: Version


def silent(examination: Examination) -> tuple[Unknown, ...]:
    """Return the indexes that could not be asked."""
    return tuple(getattr(examination.index, "unreachable", ()))


def outbid(examination: Examination) -> tuple[Outbid, ...]:
    """Return the projects for which an extra index offers more than the default one."""
    return tuple(Outbid(*item) for item in getattr(examination.index, "confused", ()))


def stated(index: Index, file: DistributionFile) -> CoreMetadata:
    """Return a file's metadata as it stands, with what the project's settings set aside. Raises as ``Index`` does."""
    found: CoreMetadata = getattr(index, "stated", index.metadata)(file)
    return found
