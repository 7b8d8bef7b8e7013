"""The files that a lock names, one for each package, for an installer to take."""

from __future__ import annotations

from collections.abc import Mapping

from packaging.pylock import Package, PackageSdist, PackageWheel, Pylock

from envdoctor.model.step import PlannedFile

__all__ = ["planned_files"]


def planned_files(lock: Pylock, index_names: Mapping[str, str]) -> tuple[PlannedFile, ...]:
    """Return one file for each package; ``index_names`` maps URLs to names. The lock speaks of one target alone."""
    return tuple(_planned(package, index_names) for package in lock.packages)


def _planned(package: Package, index_names: Mapping[str, str]) -> PlannedFile:
    file: PackageWheel | PackageSdist | None = package.wheels[0] if package.wheels else package.sdist
    index = package.index or ""
    return PlannedFile(
        name=package.name,
        version=str(package.version or ""),
        filename=file.filename if file else "",
        url=(file.url if file else None) or "",
        hashes=tuple(file.hashes.items()) if file else (),
        size=file.size if file else None,
        index=index_names.get(index.rstrip("/"), index or "default"),
        sdist=isinstance(file, PackageSdist),
    )
