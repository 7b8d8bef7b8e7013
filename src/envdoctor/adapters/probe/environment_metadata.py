"""A lean reader of installed metadata: the headers that rules need, as text, nothing imported.

Sources: core metadata 2.4, the binary distribution format, "Recording installed projects" (PEP 376, PEP 627),
PEP 610 (direct_url.json) and setuptools' egg-info layout.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import field

from packaging.utils import canonicalize_name

from envdoctor.model.build_label import label_in_source
from envdoctor.model.dataclass import dataclass
from envdoctor.model.environment import InstalledDistribution

__all__ = ["Headers", "is_forbidden", "is_gone", "parse_headers", "read_distribution", "read_egg_requires", "read_text"]

_CHUNK = 16 * 1024
# Without waiting: where a pipe stands for a file nobody may ever write to it.
_READING = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0)
# Long descriptions stand behind the headers; folded ones inside them are cut here.
_HEADER_LIMIT = 1024 * 1024
_TEXT_LIMIT = 4 * 1024 * 1024
_INTERESTING = {
    b"name",
    b"version",
    b"requires-dist",
    b"requires",
    b"requires-python",
    b"provides-extra",
}
_TELL_THEIR_BUILD = frozenset({"torch", "torchvision", "torchaudio", "torchcodec"})
_EDITABLE = re.compile(rb'"editable"\s*:\s*true')


@dataclass(slots=True)
class Headers:
    """The headers of a METADATA or PKG-INFO file that matter here."""

    name: str | None = None
    version: str | None = None
    requires_dist: list[str] = field(default_factory=list)
    requires_python: str | None = None
    provides_extra: list[str] = field(default_factory=list)


def read_text(path: str, limit: int = _TEXT_LIMIT) -> bytes | None:
    """Return at most ``limit`` bytes of a file, None where it cannot be opened."""
    try:
        handle = os.open(path, _READING)
    except OSError:
        return None
    try:
        chunks, left = [], limit
        while left > 0:
            chunk = os.read(handle, min(left, 256 * 1024))
            if not chunk:
                break
            chunks.append(chunk)
            left -= len(chunk)
    except OSError:
        return None
    else:
        return b"".join(chunks)
    finally:
        os.close(handle)


def is_forbidden(path: str) -> bool:
    """Return whether a file or folder is there, or may be, and this user may not read it."""
    try:
        os.close(os.open(path, _READING))
    except PermissionError:
        return True
    except OSError:
        return False
    return False


def is_gone(path: str) -> bool:
    """Return whether nothing is there; what may not be looked at is not gone."""
    try:
        os.stat(path)  # noqa: PTH116 - strings alone here
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return True
    except OSError:
        return False
    return False


def _read_headers(path: str) -> bytes | None:
    """Return a metadata file up to the blank line that ends its headers, None where it cannot be read."""
    try:
        handle = os.open(path, _READING)
    except OSError:
        return None
    try:
        data = b""
        while len(data) < _HEADER_LIMIT:
            chunk = os.read(handle, _CHUNK)
            data += chunk
            if not chunk:
                return data
            ends = [end for end in (data.find(b"\n\n"), data.find(b"\n\r\n")) if end >= 0]
            if ends:
                return data[: min(ends) + 1]
    except OSError:
        return None
    else:
        return data
    finally:
        os.close(handle)


def parse_headers(data: bytes) -> Headers:
    """Read the headers out of ``data``; folded lines are joined, anything unknown is passed over."""
    headers = Headers()
    key, value = b"", b""
    for line in data.removeprefix(b"\xef\xbb\xbf").split(b"\n"):
        if line[:1] in (b" ", b"\t"):
            if key in _INTERESTING:
                value = value.rstrip() + b" " + line.strip()
            continue
        if key in _INTERESTING:
            _take(headers, key, value)
        key, _, value = line.partition(b":")
        key = key.lower()
    if key in _INTERESTING:
        _take(headers, key, value)
    return headers


def _take(headers: Headers, key: bytes, raw: bytes) -> None:
    value = raw.strip().decode("utf-8", "replace")
    if not value:
        return
    if key in (b"requires-dist", b"requires"):
        headers.requires_dist.append(value)
    elif key == b"provides-extra":
        headers.provides_extra.append(canonicalize_name(value))
    elif key == b"requires-python":
        headers.requires_python = value
    elif key == b"name":
        headers.name = headers.name or value
    else:
        headers.version = headers.version or value


def read_distribution(folder: str, entry: str) -> InstalledDistribution | None:
    """Read ``folder/entry``, a ``.dist-info`` or ``.egg-info`` (folder or file).

    Returns None where there is no metadata with a name and a version in it.
    """
    # Strings, not pathlib: this runs for every distribution and pathlib doubles the time.
    path = f"{folder}/{entry}"
    if entry.endswith(".dist-info"):
        data = _read_headers(f"{path}/METADATA")
    else:
        data = _read_headers(f"{path}/PKG-INFO")
        if data is None:
            data = _read_headers(path)
    headers = parse_headers(data) if data else Headers()
    if not headers.name or not headers.version:
        return None
    if entry.endswith(".dist-info"):
        return _from_dist_info(folder, path, headers)
    requires, extras = read_egg_requires(read_text(f"{path}/requires.txt") or b"")
    return InstalledDistribution(
        name=canonicalize_name(headers.name),
        version=headers.version,
        requires_dist=tuple(headers.requires_dist or requires),
        requires_python=headers.requires_python,
        location=folder,
        metadata_path=path,
        installer=None,
        top_level=_lines(read_text(f"{path}/top_level.txt")),
        provides_extra=tuple(headers.provides_extra or extras),
    )


def _from_dist_info(folder: str, path: str, headers: Headers) -> InstalledDistribution:
    try:
        with os.scandir(path) as entries:
            present = {entry.name for entry in entries}
    except OSError:
        present = set()

    def content(name: str) -> bytes | None:
        return read_text(f"{path}/{name}") if name in present else None

    direct_url = content("direct_url.json")
    installer = content("INSTALLER")
    name, version = canonicalize_name(headers.name or ""), headers.version or ""
    own = read_text(f"{folder}/{name}/version.py") if name in _TELL_THEIR_BUILD and "+" not in version else None
    return InstalledDistribution(
        name=name,
        version=version,
        build_label=(label_in_source(own.decode("utf-8", "replace")) or "") if own else "",
        requires_dist=tuple(headers.requires_dist),
        requires_python=headers.requires_python,
        location=folder,
        metadata_path=path,
        installer=installer.decode("utf-8", "replace").strip() or None if installer else None,
        direct_url=direct_url.decode("utf-8", "replace") if direct_url else None,
        editable=bool(direct_url and _EDITABLE.search(direct_url)),
        top_level=_lines(content("top_level.txt")),
        wheel_tags=tuple(_wheel_tags(content("WHEEL") or b"")),
        provides_extra=tuple(headers.provides_extra),
    )


def _lines(data: bytes | None) -> tuple[str, ...]:
    if not data:
        return ()
    return tuple(line.strip() for line in data.decode("utf-8", "replace").splitlines() if line.strip())


def _wheel_tags(data: bytes) -> Iterator[str]:
    for line in data.split(b"\n"):
        if line[:4].lower() == b"tag:":
            yield line[4:].strip().decode("utf-8", "replace")


def read_egg_requires(data: bytes) -> tuple[list[str], list[str]]:
    """Turn setuptools' ``requires.txt`` into ``Requires-Dist`` texts and the names of the extras.

    A section ``[extra:marker]`` holds for that extra where the marker does; either part may be missing.
    """
    requires: list[str] = []
    extras: dict[str, None] = {}
    condition = ""
    for line in _lines(data):
        if line.startswith("[") and line.endswith("]"):
            extra, _, marker = line[1:-1].partition(":")
            if extra:
                extras.setdefault(canonicalize_name(extra))
            condition = " and ".join(_conditions(extra, marker))
        elif not line.startswith("#"):
            requires.append(f"{line} ; {condition}" if condition else line)
    return requires, list(extras)


def _conditions(extra: str, marker: str) -> Iterable[str]:
    if marker:
        yield f"({marker})" if extra else marker
    if extra:
        yield f'extra == "{extra}"'
