"""Looking through a downloaded archive before anything is made of it: no member may lead out of its folder."""

from __future__ import annotations

import configparser
import stat
import tarfile
import zipfile
from pathlib import Path

from envdoctor.adapters.apply.paths import fault_of_relative

__all__ = ["BadArchive", "check_sdist", "wheel_targets"]

_SCHEMES = ("purelib", "platlib", "scripts", "data", "headers")


class BadArchive(Exception):
    """An archive that must not be unpacked."""


def wheel_targets(path: Path) -> list[tuple[str, str]]:
    """Return what a wheel writes, as ``(scheme, relative path)``. Raises BadArchive."""
    targets = []
    try:
        with zipfile.ZipFile(path) as archive:
            for item in archive.infolist():
                _check_member(path.name, item.filename)
                if stat.S_ISLNK(item.external_attr >> 16):
                    raise BadArchive(f"{path.name}: `{item.filename}` is a link, which a wheel cannot hold")
                if not item.is_dir():
                    targets.append(_scheme(item.filename))
                if item.filename.endswith(".dist-info/entry_points.txt"):
                    targets += _scripts(archive.read(item).decode("utf-8", "replace"))
    except (zipfile.BadZipFile, OSError, EOFError) as error:
        raise BadArchive(f"{path.name}: not a wheel: {error}") from None
    for _, relative in targets:
        _check_member(path.name, relative)
    return targets


def check_sdist(path: Path) -> None:
    """Look through a source distribution. Raises BadArchive."""
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
                    raise BadArchive(f"{path.name}: `{item.name}` is neither a file nor a folder")
    except (tarfile.TarError, zipfile.BadZipFile, OSError, EOFError) as error:
        raise BadArchive(f"{path.name}: not a source distribution: {error}") from None


def _check_member(archive: str, name: str) -> None:
    fault = fault_of_relative(name)
    if fault:
        raise BadArchive(f"{archive}: member `{name}` {fault}")


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
        raise BadArchive(f"{archive}: `{name}` is a link that leads out of the archive (`{target}`)")


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
        parser.read_string(text)
    except configparser.Error:
        return []
    names = [
        name for group in ("console_scripts", "gui_scripts") if parser.has_section(group) for name in parser[group]
    ]
    return [("scripts", name) for name in names]
