"""What is inside distribution files: metadata, names, members; the cheapest way first, and each thing once.

For a wheel: its sidecar, HTTP ranges, the whole file. For an sdist: the whole file, read as text.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from packaging.utils import canonicalize_name
from packaging.version import Version

from envdoctor.adapters.index.archive_bytes import (
    GONE,
    ArchiveBytes,
    HttpBytes,
    LocalBytes,
    NoBytes,
    Refused,
    local_path,
    matches,
)
from envdoctor.adapters.index.cache import Cache
from envdoctor.adapters.index.file_servers import METADATA_LIMIT, Refusals, Sidecars, unreached, unread
from envdoctor.adapters.index.metadata_text import (
    MetadataRecord,
    OnlyABuild,
    UnreadableMetadata,
    read_headers,
    record_of,
)
from envdoctor.adapters.index.transport import AGAIN, ATTEMPTS, Transport, TransportError
from envdoctor.adapters.index.zip_directory import BadArchive, Window, ZipDirectory, read_directory, read_member
from envdoctor.adapters.read_files import read_file
from envdoctor.model.candidate import BuildRisk, DistributionFile, FileKind, MetadataSource, hashes_in
from envdoctor.model.index_url import bare_url
from envdoctor.model.unknown import UnknownKind
from envdoctor.ports import IndexUnavailable, MetadataUnavailable

if TYPE_CHECKING:
    from envdoctor.adapters.index.sdist import SdistContents

__all__ = ["FileReader", "file_key"]

MEMBER_LIMIT = 64 * 1024 * 1024
"""Bytes of one member."""
_SDIST_LIMIT = 256 * 1024 * 1024
_STRONG = ("sha256", "sha512", "sha384", "blake2b", "sha3_256")
_NOTHING = Window(0, b"")
_OTHER_THAN_NAMED = "its hash is not the one that its address names"


def file_key(file: DistributionFile) -> str:
    """Return the key of a file's content: its hash, else its URL; of a file of this machine, its state as well."""
    path = local_path(file.url) if file.url.startswith("file:") else None
    if path is not None:
        return f"{_named(file, file.hashes)}#{_state(path)}"
    hashes = dict(file.hashes)
    return next((f"{name}:{hashes[name]}" for name in _STRONG if name in hashes), "") or _named(file)


def _named(file: DistributionFile, listed: tuple[tuple[str, str], ...] = ()) -> str:
    # What follows the path may be a signature, which has no place on a disk; with the name it is still one file.
    told = "".join(f"#{name}={digest}" for name, digest in (*hashes_in(file.url), *listed))
    return f"{bare_url(file.url)}#{file.filename}{told}"


def _state(path: Path) -> str:
    """Return what tells a file's content from what was there before: whoever lists its hash may have done so long ago.

    Of a file that is not there, nothing: it is not read either.
    """
    try:
        there = path.stat()
    except OSError:
        return ""
    return f"{there.st_size} bytes of {there.st_mtime_ns}"


class FileReader:
    """Reads files of one or more indexes through one cache. Thread-safe."""

    def __init__(self, transport: Transport, cache: Cache, offline: bool, impatient: Iterable[str] = ()) -> None:
        self._transport = transport
        self._cache = cache
        self._offline = offline
        self._impatient = frozenset(impatient)
        self._sidecars = Sidecars(transport, cache)
        self._last_sdist: tuple[str, bytes] | None = None
        self.refusals = Refusals()

    def record(self, file: DistributionFile) -> MetadataRecord:
        """Return metadata. Raises MetadataUnavailable or IndexUnavailable."""
        try:
            if file.kind is FileKind.SDIST:
                record = self.sdist(file).metadata()
            else:
                record = self._from_sidecar(file) or self._from_wheel(file)
        except OnlyABuild as error:
            raise unread(file, str(error), UnknownKind.ONLY_A_BUILD) from None
        except UnreadableMetadata as error:
            raise unread(file, str(error)) from None
        self.refusals.forget(file)
        if file.kind is FileKind.WHEEL:  # the texts of an sdist are kept instead: how they are read may change
            self._cache.put_part(file_key(file), "metadata", record.encode())
        return record

    def names(self, file: DistributionFile) -> tuple[str, ...]:
        """Return member names. Raises MetadataUnavailable or IndexUnavailable."""
        if file.kind is FileKind.SDIST:
            return self.sdist(file).names
        return tuple(name for name in self._directory(file)[0].members if not name.endswith("/"))

    def read(self, file: DistributionFile, member: str) -> bytes | None:
        """Return a member's bytes. Raises MetadataUnavailable or IndexUnavailable."""
        part = "member:" + member
        stored = self._cache.parts((file_key(file),), part).get(file_key(file))
        if stored is not None:
            return stored
        if file.kind is FileKind.SDIST:
            content = self._sdist_member(file, member)
        else:
            content = self._wheel_member(file, member, MEMBER_LIMIT)
        if content is not None and len(content) <= 1024 * 1024:
            self._cache.put_part(file_key(file), part, content)
        return content

    def risk(self, file: DistributionFile) -> BuildRisk:
        """Grade what building needs; a wheel needs nothing. Raises MetadataUnavailable or IndexUnavailable."""
        return BuildRisk.ANYWHERE if file.kind is FileKind.WHEEL else self.sdist(file).risk()

    def sdist(self, file: DistributionFile) -> SdistContents:
        """Return an sdist's names and texts. Raises MetadataUnavailable or IndexUnavailable."""
        # Four decompressors, which a run without sdists does not need.
        from envdoctor.adapters.index.sdist import SdistContents, UnreadableSdist, read_sdist

        key = file_key(file)
        stored = self._cache.parts((key,), "sdist").get(key)
        if stored is not None:
            try:
                return SdistContents.decode(stored)
            except (ValueError, TypeError, zlib.error):
                pass
        try:
            contents = read_sdist(self._sdist_bytes(file), file.filename)
        except UnreadableSdist as error:
            raise unread(file, str(error)) from None
        self._cache.put_part(key, "sdist", contents.encode())
        return contents

    def _sdist_member(self, file: DistributionFile, member: str) -> bytes | None:
        from envdoctor.adapters.index.sdist import UnreadableSdist, read_sdist_member

        contents = self.sdist(file)
        if member not in contents.names:
            return None
        kept = contents.texts.get(member.partition("/")[2])
        if kept is not None and "\ufffd" not in kept:
            return kept.encode()
        try:
            return read_sdist_member(self._sdist_bytes(file), file.filename, member, MEMBER_LIMIT)
        except UnreadableSdist as error:
            raise unread(file, str(error)) from None

    def _sdist_bytes(self, file: DistributionFile) -> bytes:
        """Return the whole archive, its hash checked; the last one is kept for members read after metadata."""
        last = self._last_sdist
        if last is not None and last[0] == file_key(file):
            return last[1]
        path = local_path(file.url)
        if path is not None:
            try:
                content = read_file(path, _SDIST_LIMIT)
            except OSError as error:
                raise unread(file, error.strerror or str(error)) from None
        else:
            content = self._download(file)
        if not matches(content, file.hashes):
            raise unread(file, "its hash is not the one that the index lists")
        self._last_sdist = (file_key(file), content)
        return content

    def _download(self, file: DistributionFile) -> bytes:
        self._online(file)
        try:
            reply = self._transport.get(file.url, {"Accept-Encoding": "identity"}, _SDIST_LIMIT, self._patient(file))
        except TransportError as error:
            raise self._broken(file, error) from None
        if reply.cut:
            raise unread(file, f"it is larger than {_SDIST_LIMIT // 1024**2} MiB")
        if reply.status != 200:
            raise self._refused(file, reply.status)
        return reply.content

    def _from_sidecar(self, file: DistributionFile) -> MetadataRecord | None:
        """Read the sidecar where the listing offers one, or once per server where it says nothing."""
        if local_path(file.url) is not None or not self._sidecars.worth_asking(file):
            return None
        self._online(file)
        try:
            content = self._sidecars.fetch(file, patient=self._patient(file))
        except TransportError as error:
            raise self._broken(file, error) from None
        if content is None:
            return None
        if not matches(content, file.sidecar_hashes):
            raise unread(file, "its sidecar's hash is not the one that the index lists")
        try:
            return _wheel_record(file, content, MetadataSource.SIDECAR)
        except UnreadableMetadata:
            if file.sidecar:
                raise
            # Some servers answer anything that they do not know with a page of their own.
            self._sidecars.forget(file)
            return None

    def _from_wheel(self, file: DistributionFile) -> MetadataRecord:
        directory, window, source = self._directory(file)
        candidates = [
            name for name in directory.members if name.endswith(".dist-info/METADATA") and name.count("/") == 1
        ]
        if not candidates:
            raise unread(file, "it has no dist-info/METADATA", UnknownKind.NO_METADATA)
        if len(candidates) > 1:
            raise unread(file, "it has several dist-info folders, and installers refuse it")
        content = self._extract(file, directory, candidates[0], window, source, METADATA_LIMIT)
        whole = isinstance(source, HttpBytes) and source.whole is not None
        return _wheel_record(file, content, MetadataSource.WHEEL if whole else MetadataSource.RANGE)

    def _wheel_member(self, file: DistributionFile, member: str, limit: int) -> bytes | None:
        directory, window, source = self._directory(file)
        if member not in directory.members:
            return None
        return self._extract(file, directory, member, window, source, limit)

    def _directory(self, file: DistributionFile) -> tuple[ZipDirectory, Window, ArchiveBytes]:
        source = self._source(file)
        key = file_key(file)
        stored = self._cache.parts((key,), "directory").get(key)
        if stored is not None:
            try:
                return ZipDirectory.decode(stored), _NOTHING, source
            except (ValueError, TypeError, zlib.error):
                pass
        self._online(file)
        with self._told(file):
            if isinstance(source, LocalBytes):
                _check(file, source)
            directory, window = read_directory(source.tail(), source.fetch)
        whole = source.whole if isinstance(source, HttpBytes) else None
        if whole is not None and not matches(whole, file.hashes):
            raise unread(file, "its hash is not the one that the index lists")
        if whole is not None and not matches(whole, hashes_in(file.url)):
            raise unread(file, _OTHER_THAN_NAMED)
        self._cache.put_part(key, "directory", directory.encode())
        return directory, window, source

    def _extract(
        self,
        file: DistributionFile,
        directory: ZipDirectory,
        name: str,
        window: Window,
        source: ArchiveBytes,
        limit: int,
    ) -> bytes:
        def fetch(start: int, stop: int) -> bytes:
            self._online(file)
            return source.fetch(start, stop)

        with self._told(file):
            return read_member(directory.members[name], name, window, fetch, limit)

    @contextmanager
    def _told(self, file: DistributionFile) -> Iterator[None]:
        """Tell what keeps a wheel from being read as what it means for the file."""
        try:
            yield
        except TransportError as error:
            raise self._broken(file, error) from None
        except Refused as error:
            raise self._refused(file, error.status) from None
        except (NoBytes, BadArchive) as error:
            raise unread(file, str(error)) from None

    def _source(self, file: DistributionFile) -> ArchiveBytes:
        path = local_path(file.url)
        if path is not None:
            return LocalBytes(path)
        return HttpBytes(self._transport, file.url, file.size, self._patient(file))

    def _patient(self, file: DistributionFile) -> bool:
        return file.stand_in or file.index not in self._impatient

    def _online(self, file: DistributionFile) -> None:
        if self._offline and local_path(file.url) is None:
            raise unreached(file, "", UnknownKind.OFFLINE)
        refused = self.refusals.reason(file)
        if refused is not None:
            raise unreached(file, refused, UnknownKind.BAD_ANSWER)

    def _broken(self, file: DistributionFile, error: TransportError) -> IndexUnavailable:
        if not (error.left_alone or error.unreachable):
            self.refusals.count(file, str(error), requests=ATTEMPTS)
        return unreached(file, str(error))

    def _refused(self, file: DistributionFile, status: int) -> MetadataUnavailable | IndexUnavailable:
        """Return what an answer without the file means: it is gone, or its server cannot or will not give it now."""
        reason = f"its server answered {status}"
        self.refusals.count(file, reason, requests=ATTEMPTS if status in AGAIN else 1)
        if status in GONE:
            return unread(file, reason, UnknownKind.NO_METADATA)
        return unreached(file, reason, UnknownKind.BAD_ANSWER)


def _check(file: DistributionFile, source: LocalBytes) -> None:
    """Compare a file of this machine with the hashes that are told of it. Raises MetadataUnavailable or NoBytes."""
    if not source.matches(hashes_in(file.url)):
        raise unread(file, _OTHER_THAN_NAMED)
    if not source.matches(file.hashes):
        raise unread(file, "its hash is not the one that the index lists")


def _wheel_record(file: DistributionFile, content: bytes, source: MetadataSource) -> MetadataRecord:
    """Read a wheel's metadata. Raises UnreadableMetadata, also for that of another version, which installers refuse."""
    headers = read_headers(content)
    own = canonicalize_name(headers.name) == file.project and _may_be(file.version, headers.version)
    if not own and not file.stand_in:
        raise UnreadableMetadata(
            f"its metadata is that of `{headers.name} {headers.version}`, and installers refuse it"
        )
    return record_of(headers.requires_dist, headers.requires_python, headers.provides_extra, source)


def _may_be(version: Version, told: str) -> bool:
    try:
        return Version(told) == version
    except ValueError:  # Also of more digits than Python reads.
        return True  # What is wrong with such metadata is another matter.
