"""What layers hand each other: the Protocols through which the core reaches the world, progress, and their errors."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, BinaryIO, Protocol, TypeAlias

if TYPE_CHECKING:
    from pathlib import Path

    from packaging.utils import NormalizedName

    from envdoctor.model.candidate import CoreMetadata, DistributionFile, ProjectPage
    from envdoctor.model.unknown import Unknown

__all__ = [
    "ArchiveReader",
    "DownloadFailed",
    "Index",
    "IndexUnavailable",
    "MetadataUnavailable",
    "Progress",
    "ProjectNotFound",
    "SilentProgress",
    "Tell",
    "UsageError",
    "open_typed",
    "refused_path",
]

_OF_THE_SYSTEM = frozenset(
    {
        *(errno.EACCES, errno.EPERM, errno.EROFS, errno.ENAMETOOLONG, errno.ELOOP, errno.ENOTDIR),
        *(errno.ENOSPC, errno.EIO, errno.EMFILE, errno.ENFILE, errno.ENOTCONN),
        *(errno.ETIMEDOUT, errno.EHOSTUNREACH, errno.ENETUNREACH),
        *(getattr(errno, name) for name in ("EDQUOT", "ESTALE", "EHOSTDOWN") if hasattr(errno, name)),
    }
)
_LONGEST_OF_WINDOWS = 259


class IndexUnavailable(Exception):
    """An index did not answer, or may not be asked (``--offline``) and the cache does not know."""

    def __init__(self, unknown: Unknown) -> None:
        super().__init__(unknown)
        self.unknown = unknown


class DownloadFailed(Exception):
    """A file could not be had."""


class ProjectNotFound(Exception):
    """The index has no such project (404)."""

    def __init__(self, name: str, index: str) -> None:
        super().__init__(f"{name} is not on index {index}")
        self.name = name
        self.index = index


class MetadataUnavailable(Exception):
    """A file's metadata could not be read without building it, or at all."""

    def __init__(self, unknown: Unknown) -> None:
        super().__init__(unknown)
        self.unknown = unknown


class Index(Protocol):
    """A simple repository API (PEP 503, 691, 700) with metadata; routing to bound indexes happens inside."""

    def page(self, name: NormalizedName) -> ProjectPage:
        """Return the project's files. Raises ProjectNotFound or IndexUnavailable. Repeated calls are free."""
        ...

    def prefetch_pages(self, names: Iterable[NormalizedName]) -> None:
        """Start fetching pages at once; never raises. ``page`` waits for what is in flight."""
        ...

    def metadata(self, file: DistributionFile) -> CoreMetadata:
        """Return core metadata, never by building. Raises MetadataUnavailable or IndexUnavailable."""
        ...

    def prefetch_metadata(self, files: Iterable[DistributionFile]) -> None:
        """Start fetching metadata at once; never raises."""
        ...


class ArchiveReader(Protocol):
    """Looks into a wheel or sdist without taking all of it."""

    def names(self, file: DistributionFile) -> tuple[str, ...]:
        """Return the member names of the archive. Raises MetadataUnavailable or IndexUnavailable."""
        ...

    def read(self, file: DistributionFile, member: str) -> bytes | None:
        """Return one member's bytes, None where there is none. Raises MetadataUnavailable or IndexUnavailable."""
        ...


Tell: TypeAlias = Callable[[str], None]
"""Says one sentence to the person who waits, at once; says nothing where they asked for quiet."""


class Progress(Protocol):
    """What long work says about itself; drawn on stderr, or nowhere."""

    def start(self, activity: str, total: int | None = None) -> None:
        """Announce an activity and, where known, its number of units."""
        ...

    def advance(self, activity: str, by: int = 1, note: str = "") -> None:
        """Report progress of an activity."""
        ...

    def finish(self, activity: str) -> None:
        """Close an activity."""
        ...

    def close(self) -> None:
        """Leave nothing behind on the screen."""
        ...


class SilentProgress:
    """Says nothing: ``--quiet``, a stderr that is no terminal, and the library."""

    def start(self, activity: str, total: int | None = None) -> None:
        """Do nothing."""

    def advance(self, activity: str, by: int = 1, note: str = "") -> None:
        """Do nothing."""

    def finish(self, activity: str) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Do nothing."""


class UsageError(Exception):
    """The command cannot start as it was given; every message says what is wrong, where, and what to do.

    Where something is not known that it cannot start without, that stands in the place of a message.
    """

    def __init__(self, *messages: str | Unknown) -> None:
        super().__init__("; ".join(map(str, messages)))
        self.messages: Sequence[str | Unknown] = messages


def refused_path(error: BaseException, *, windows: bool = os.name == "nt") -> str | None:
    """Return what is wrong with a path that the system refuses; None where an error tells of something else.

    What a person typed may lie in a folder that only another user enters, or be longer than a name can be; to ask
    whether it is there raises, then, and so does every verb that asks. No such path is a fault of ours.
    """
    if not isinstance(error, OSError) or error.filename is None:
        return None
    # What Windows says of shares and of long names is mostly this number, for POSIX has none for it.
    unnamed = error.errno == errno.EINVAL and getattr(error, "winerror", None) is not None
    if not unnamed and error.errno not in _OF_THE_SYSTEM:
        return None
    path = error.filename.decode(errors="replace") if isinstance(error.filename, bytes) else str(error.filename)
    long = windows and len(path) > _LONGEST_OF_WINDOWS
    way_on = "; a path of more than 259 characters needs `LongPathsEnabled` in the registry" if long else ""
    return f"`{path}` cannot be used: {error.strerror}{way_on}"


def open_typed(path: Path, *, windows: bool = os.name == "nt") -> BinaryIO:
    """Open a file that a person names, a pipe of their shell or a terminal, for its bytes. Raises OSError.

    To a named pipe nobody may ever write, and a device may have no end; a terminal has one, which Windows does not tell
    from a port.
    """
    # What a shell hands over stands in these two folders.
    if path.is_fifo() and not path.as_posix().startswith(("/dev/", "/proc/")):
        raise OSError(errno.EINVAL, "it is a named pipe, and no file")
    file = path.open("rb")
    if stat.S_ISCHR(os.fstat(file.fileno()).st_mode) and (windows or not file.isatty()):
        file.close()
        raise OSError(errno.EINVAL, "it is a device, which may have no end")
    return file
