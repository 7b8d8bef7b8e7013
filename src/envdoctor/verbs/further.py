"""Advisories and profiles of others: files and folders that pyproject.toml or a variable names.

A file may also be named by its address and its sha256. They are read and checked, and nothing of them is executed: a
profile's patches and steps still wait for `fix`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from envdoctor.ports import UsageError

if TYPE_CHECKING:
    from envdoctor.diagnose.advisories.advisory import Advisory
    from envdoctor.model.profile import Profile
    from envdoctor.verbs.settings import Settings

__all__ = ["further_advisories", "further_profile", "further_profiles", "profile_called"]

_ADVISORIES, _PROFILES = "ENVDOCTOR_ADVISORIES", "ENVDOCTOR_PROFILES"
_MOST_FILES = 500


def further_advisories(settings: Settings, project: Path) -> tuple[Advisory, ...]:
    """Return the advisories of the files and folders that are named. Raises UsageError with every fault of them."""
    files = list(_files(settings, _ADVISORIES, project, "advisories"))
    if not files:
        return ()
    from envdoctor.diagnose.advisories.book import InvalidAdvisories, read_further

    try:
        return read_further(files)
    except InvalidAdvisories as error:
        raise UsageError(*error.faults) from error


def further_profile(name: str, settings: Settings, project: Path) -> str | None:
    """Return the file of a profile of that name among those that are named, None where none is called so."""
    found = (file for file in _files(settings, _PROFILES, project, "profiles") if file.stem == name)
    return next((str(file) for file in found), None)


def profile_called(name: str) -> Profile:
    """Return a profile by its name, or the path of its file. Raises UsageError."""
    from envdoctor.profile.load import load_profile
    from envdoctor.profile.validation import ProfileError
    from envdoctor.verbs.settings import Settings

    try:
        return load_profile(further_profile(name, Settings(), Path()) or name)
    except ProfileError as error:
        raise UsageError(*str(error).splitlines()) from error


def further_profiles(settings: Settings, project: Path) -> tuple[Profile, ...]:
    """Return the profiles of the files and folders that are named. Raises UsageError for one that is broken."""
    files = _files(settings, _PROFILES, project, "profiles")
    return tuple(found for file in files if (found := _usable(file)) is not None)


def _usable(file: Path) -> Profile | None:
    """Return the profile of a file, None where it is only a base for others. Raises UsageError."""
    from envdoctor.profile.load import load_profile
    from envdoctor.profile.validation import ProfileError

    try:
        return load_profile(str(file))
    except ProfileError as error:
        if any(fault.key_path == "profile.abstract" for fault in error.faults):
            return None
        raise UsageError(*str(error).splitlines()) from error


def _files(settings: Settings, variable: str, project: Path, key: str) -> Iterator[Path]:
    """Yield the TOML files of what is named, relative to the project's pyproject.toml. Raises UsageError."""
    named = settings.profiles if key == "profiles" else settings.advisories
    root = project if project.is_dir() else project.parent
    here = f"pyproject.toml: `tool.envdoctor.{key}`"
    for address in (each for each in named if "://" in each):
        from envdoctor.adapters.index.named_files import named_file

        yield named_file(address, here, offline=settings.offline)
    places = [(root / each, here) for each in named if "://" not in each]
    places += [(Path(each), variable) for each in os.environ.get(variable, "").split(os.pathsep) if each]
    for place, who in places:
        if place.is_dir():
            files = (file for file in sorted(place.glob("*.toml")) if not file.name.endswith(".cases.toml"))
            yield from islice(files, _MOST_FILES)
        elif place.is_file():
            yield place
        else:
            raise UsageError(f"{who}: there is no file or folder `{place}`")
