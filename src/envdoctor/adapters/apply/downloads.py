"""Downloading the files of a lock, and looking through each before anything is made of it.

No member may lead out of its folder.
"""

from __future__ import annotations

import configparser
import csv
import hashlib
import os
import re
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import BinaryIO, Protocol

from envdoctor.adapters.apply import planted_faults
from envdoctor.adapters.apply.paths import fault_of_relative
from envdoctor.adapters.ini_text import read_ini
from envdoctor.model.step import PlannedFile

__all__ = ["Fetch", "WrongFile", "check_sdist", "download_all", "wheel_targets"]

_LARGEST_TEXT = 64 * 1024 * 1024
"""Bytes of a list in a wheel: those of real ones have a few MiB, and a small archive can hold gigabytes."""
_SCHEMES = ("purelib", "platlib", "scripts", "data", "headers")


_RESERVED = frozenset({"pyvenv.cfg", ".envdoctor", "conda-meta"})
_OWN_SCRIPT = re.compile(r"(pythonw?[0-9.]*|activate(\.[a-z0-9]+)?)(\.exe)?")


def wheel_targets(path: Path) -> list[tuple[str, str]]:
    """Return what a wheel writes, as ``(scheme, relative path)``. Raises WrongFile."""
    targets = []
    try:
        with zipfile.ZipFile(path) as archive:
            for item in archive.infolist():
                _check_member(path.name, item.filename)
                if stat.S_ISLNK(item.external_attr >> 16):
                    raise WrongFile(f"{path.name}: `{item.filename}` is a link, which a wheel cannot hold")
                if not item.filename.endswith("/"):
                    targets.append(_scheme(item.filename))
                if item.filename.endswith(".dist-info/entry_points.txt"):
                    targets += _scripts(_text(archive, item))
                if item.filename.endswith(".dist-info/RECORD"):
                    _check_record(path.name, _text(archive, item))
    except (zipfile.BadZipFile, zlib.error, csv.Error, RuntimeError, OSError, EOFError, ValueError) as error:
        # RuntimeError: an encrypted member, or a compression that nobody knows. ValueError: a name that is no UTF-8.
        raise WrongFile(f"{path.name}: not a wheel: {error}") from None
    for scheme, relative in targets:
        _check_member(path.name, relative)
        _check_reserved(path.name, scheme, relative)
    return targets


def _text(archive: zipfile.ZipFile, item: zipfile.ZipInfo) -> str:
    if item.file_size > _LARGEST_TEXT:
        raise ValueError(f"`{item.filename}` is larger than {_LARGEST_TEXT >> 20} MiB")
    return archive.read(item).decode("utf-8", "replace")


def check_sdist(path: Path) -> None:
    """Look through a source distribution. Raises WrongFile."""
    try:
        if path.suffix == ".zip":
            with zipfile.ZipFile(path) as archive:
                for entry in archive.infolist():
                    _check_member(path.name, entry.filename)
            return
        with tarfile.open(path) as packed:
            for item in packed:
                _check_member(path.name, item.name)
                if item.issym() or item.islnk():
                    base = Path(item.name).parent.as_posix() + "/" if item.issym() else ""
                    _check_link(path.name, item.name, base, item.linkname)
                elif not (item.isfile() or item.isdir()):
                    raise WrongFile(f"{path.name}: `{item.name}` is neither a file nor a folder")
    except (tarfile.TarError, zipfile.BadZipFile, zlib.error, OSError, EOFError, ValueError) as error:
        raise WrongFile(f"{path.name}: not a source distribution: {error}") from None


def _check_member(archive: str, name: str) -> None:
    fault = fault_of_relative(name)
    if fault:
        raise WrongFile(f"{archive}: member `{name}` {fault}")


def _check_record(archive: str, text: str) -> None:
    """Refuse a list of files that an uninstall would follow out of the environment."""
    for row in csv.reader(text.splitlines()):
        fault = fault_of_relative(row[0]) if row else None
        if fault:
            raise WrongFile(f"{archive}: its RECORD names `{row[0]}`, which {fault}")


def _check_reserved(archive: str, scheme: str, relative: str) -> None:
    """Refuse files that make an environment what it is, and our own."""
    parts = [part.lower() for part in relative.replace("\\", "/").split("/") if part not in ("", ".")]
    script = parts[-1] if scheme == "scripts" or (scheme == "data" and parts[:1] in (["bin"], ["scripts"])) else ""
    if (scheme == "data" and parts[:1] and parts[0] in _RESERVED) or _OWN_SCRIPT.fullmatch(script):
        raise WrongFile(f"{archive}: it would write over the environment's own `{relative}`")


def _check_link(archive: str, name: str, base: str, target: str) -> None:
    parts: list[str] = []
    outside = target.startswith(("/", "\\"))
    for part in (base + target).split("/"):
        if part == "..":
            outside = outside or not parts
            parts = parts[:-1]
        elif part not in ("", "."):
            parts.append(part)
    if outside:
        raise WrongFile(f"{archive}: `{name}` is a link that leads out of the archive (`{target}`)")


def _scheme(name: str) -> tuple[str, str]:
    top, _, rest = name.partition("/")
    if top.endswith(".data"):
        scheme, _, inner = rest.partition("/")
        if scheme in _SCHEMES and inner:
            return scheme, inner
    return "purelib", name


def _scripts(text: str) -> list[tuple[str, str]]:
    parser = configparser.ConfigParser(delimiters=("=",), interpolation=None, strict=False)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    try:
        read_ini(parser, text)
    except configparser.Error:
        return []
    names = [
        name for group in ("console_scripts", "gui_scripts") if parser.has_section(group) for name in parser[group]
    ]
    return [("scripts", name) for name in names]


_AT_ONCE = 4


class Fetch(Protocol):
    """Brings the bytes of a URL."""

    def __call__(self, url: str, size: int | None, into: BinaryIO, advance: Callable[[int], None]) -> None:
        """Write all of a file. Raises DownloadFailed or OSError."""
        ...


class WrongFile(Exception):
    """A file is not what the lock says, or must not be unpacked."""


def download_all(
    files: Sequence[PlannedFile], folder: Path, fetch: Fetch, advance: Callable[[int, str], None]
) -> dict[str, list[tuple[str, str]]]:
    """Fetch and check files; return by file name what each wheel will write.

    Raises DownloadFailed, WrongFile or OSError.
    """
    folder.mkdir(parents=True, exist_ok=True)

    def one(file: PlannedFile) -> list[tuple[str, str]]:
        return _one(file, folder, fetch, advance)

    with ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="download") as pool:
        jobs = {file.filename: pool.submit(one, file) for file in files}
        try:
            return {name: job.result() for name, job in jobs.items()}
        except BaseException:
            for job in jobs.values():
                job.cancel()
            raise


def _one(file: PlannedFile, folder: Path, fetch: Fetch, advance: Callable[[int, str], None]) -> list[tuple[str, str]]:
    if fault_of_relative(file.filename) or "/" in file.filename or "\\" in file.filename:
        raise WrongFile(f"`{file.filename}` is not a file name")
    path = folder / file.filename
    wanted = file.best_hash
    if wanted is None:
        raise WrongFile(f"`{file.filename}` has no hash in the lock")
    planted_faults.point()
    with path.open("wb") as into:
        fetch(file.url, file.size, into, lambda count: advance(count, file.filename))
        into.flush()
        os.fsync(into.fileno())
    planted_faults.point(writes=True)
    with path.open("rb") as data:
        digest = hashlib.new(wanted[0])
        while block := data.read(1024 * 1024):
            digest.update(block)
    if digest.hexdigest() != wanted[1].lower():
        path.unlink()
        raise WrongFile(
            f"`{file.filename}` from index `{file.index}` is not what the lock says: {wanted[0]} is "
            f"{digest.hexdigest()}, expected {wanted[1]}"
        )
    if file.sdist:
        check_sdist(path)
        return []
    return wheel_targets(path)
