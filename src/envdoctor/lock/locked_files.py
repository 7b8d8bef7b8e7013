"""The files that a lock names: for an installer to take, and those of folders on this machine (`--find-links`)."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from packaging.pylock import Package, PackageSdist, PackageWheel, Pylock

from envdoctor.model.candidate import DistributionFile, safe_hashes
from envdoctor.model.resolution import Resolution
from envdoctor.model.step import PlannedFile

__all__ = ["path_from", "planned_files", "rebased", "with_local_hashes"]

_FileT = TypeVar("_FileT", PackageWheel, PackageSdist)


def with_local_hashes(resolution: Resolution, digest: Callable[[str], str | None]) -> Resolution:
    """Return the resolution with the SHA-256 of those files that no page gives one for, where they are on this machine.

    ``digest`` tells it of a `file:` URL, and None of any other.
    """

    def hashed(file: DistributionFile) -> DistributionFile:
        found = None if safe_hashes(file) or file.stand_in else digest(file.url)
        return replace(file, hashes=(("sha256", found),)) if found is not None else file

    packages = []
    for package in resolution.packages:
        files = tuple(map(hashed, package.files))
        file = next((each for each in files if each.url == package.file.url), package.file)
        packages.append(package if files == package.files else replace(package, file=file, files=files))
    return replace(resolution, packages=tuple(packages))


def path_from(folder: Path, root: Path, file: Path) -> str:
    """Return the path of a file as a lock in ``folder`` names it: relative where it lies in the project, else whole."""
    inside = any(file.is_relative_to(each) for each in (folder, root))
    return _leading_to(file, folder) if inside else file.as_posix()


def _leading_to(file: Path, folder: Path) -> str:
    """Return the path from a folder to a file, whole where none leads there: from one drive of Windows to another."""
    try:
        return Path(os.path.relpath(file, folder)).as_posix()
    except ValueError:
        return Path(os.path.abspath(file)).as_posix()  # noqa: PTH100 - no link is to be followed, and `..` goes


def rebased(document: Pylock, before: Path, now: Path) -> Pylock:
    """Return a lock of the folder ``before`` for the folder ``now``: its relative paths lead to the same files."""

    def moved(file: _FileT) -> _FileT:
        if file.path is None or Path(file.path).is_absolute():
            return file
        return replace(file, path=_leading_to(before / file.path, now))

    packages = [
        replace(
            package,
            wheels=list(map(moved, package.wheels)) if package.wheels else package.wheels,
            sdist=moved(package.sdist) if package.sdist is not None else None,
        )
        for package in document.packages
    ]
    return replace(document, packages=packages)


def planned_files(lock: Pylock, index_names: Mapping[str, str], folder: Path) -> tuple[PlannedFile, ...]:
    """Return one file for each package; ``index_names`` maps URLs to names. The lock speaks of one target alone.

    ``folder``: that of the lock, from which its paths lead.
    """
    return tuple(_planned(package, index_names, folder) for package in lock.packages)


def _planned(package: Package, index_names: Mapping[str, str], folder: Path) -> PlannedFile:
    file: PackageWheel | PackageSdist | None = package.wheels[0] if package.wheels else package.sdist
    index = package.index or ""
    return PlannedFile(
        name=package.name,
        version=str(package.version or ""),
        filename=file.filename if file else "",
        url=_address(file, folder) if file else "",
        hashes=tuple(file.hashes.items()) if file else (),
        size=file.size if file else None,
        index=index_names.get(index.rstrip("/"), index or "default"),
        sdist=isinstance(file, PackageSdist),
    )


def _address(file: PackageWheel | PackageSdist, folder: Path) -> str:
    return file.url or ((folder / file.path).resolve().as_uri() if file.path else "")
