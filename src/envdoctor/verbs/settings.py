"""The ``[tool.envdoctor]`` table of pyproject.toml: profile, waivers, and the advisories and profiles that it names.

A file may also be named by its address and its sha256. They are read and checked, and nothing of them is executed: a
profile's patches and steps still wait for `fix`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from datetime import date, datetime
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from envdoctor.model.dataclass import dataclass
from envdoctor.model.index_url import bare_url
from envdoctor.ports import UsageError
from envdoctor.toml_tables import Table

if TYPE_CHECKING:
    from envdoctor.diagnose.advisories.advisory import Advisory
    from envdoctor.model.profile import Profile

__all__ = [
    "Settings",
    "WaiverSetting",
    "further_advisories",
    "further_profile",
    "further_profiles",
    "parse_settings",
    "profile_called",
]

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


class _Named(NamedTuple):
    """A file, and what a person knows it by: the address where it was fetched, else its path."""

    path: Path
    source: str


def further_profile(name: str, settings: Settings, project: Path) -> Profile | None:
    """Return the profile of that name among those that are named, None where none is called so. Raises ProfileError."""
    found = (file for file in _files(settings, _PROFILES, project, "profiles") if file.path.stem == name)
    return next(map(_loaded, found), None)


def _loaded(file: _Named) -> Profile:
    """Return the profile of a file. Raises ProfileError, which names an address and not the cache's file for it."""
    from envdoctor.profile.load import load_profile
    from envdoctor.profile.validation import ProfileError

    try:
        return load_profile(str(file.path))
    except ProfileError as error:
        raise ProfileError(file.source if error.source == str(file.path) else error.source, error.faults) from error


def profile_called(name: str) -> Profile:
    """Return a profile by its name, or the path of its file. Raises UsageError."""
    from envdoctor.profile.load import load_profile
    from envdoctor.profile.validation import ProfileError

    try:
        return further_profile(name, Settings(), Path()) or load_profile(name)
    except ProfileError as error:
        raise UsageError(*str(error).splitlines()) from error


def further_profiles(settings: Settings, project: Path) -> tuple[Profile, ...]:
    """Return the profiles of the files and folders that are named. Raises UsageError for one that is broken."""
    files = _files(settings, _PROFILES, project, "profiles")
    return tuple(found for file in files if (found := _usable(file)) is not None)


def _usable(file: _Named) -> Profile | None:
    """Return the profile of a file, None where it is only a base for others. Raises UsageError."""
    from envdoctor.profile.validation import ProfileError

    try:
        return _loaded(file)
    except ProfileError as error:
        if any(fault.key_path == "profile.abstract" for fault in error.faults):
            return None
        raise UsageError(*str(error).splitlines()) from error


def _files(settings: Settings, variable: str, project: Path, key: str) -> Iterator[_Named]:
    """Yield the TOML files of what is named, relative to the project's pyproject.toml. Raises UsageError."""
    named = settings.profiles if key == "profiles" else settings.advisories
    root = project if project.is_dir() else project.parent
    here = f"pyproject.toml: `tool.envdoctor.{key}`"
    for address in (each for each in named if "://" in each):
        from envdoctor.adapters.index.download import named_file

        yield _Named(named_file(address, here, offline=settings.offline), bare_url(address.partition("#")[0]))
    places = [(root / each, here) for each in named if "://" not in each]
    places += [(Path(each), variable) for each in os.environ.get(variable, "").split(os.pathsep) if each]
    for place, who in places:
        if place.is_dir():
            files = (file for file in sorted(place.glob("*.toml")) if not file.name.endswith(".cases.toml"))
            for file in islice(files, _MOST_FILES):
                if not file.is_file():  # A named pipe keeps whoever reads it for ever.
                    raise UsageError(f"{who}: `{file}` is no file")
                yield _Named(file, str(file))
        elif place.is_file():
            yield _Named(place, str(place))
        else:
            raise UsageError(f"{who}: there is no file or folder `{place}`")


@dataclass(frozen=True, slots=True)
class WaiverSetting:
    """A finding that the project accepts."""

    rule: str
    """A rule's code or name, or an advisory's id."""
    reason: str
    subject: str | None = None
    """The package or file it is about; None: all of them."""
    expires: date | None = None
    """The last day it holds."""
    key: str = ""


@dataclass(frozen=True, slots=True)
class Settings:
    """What the project says about itself."""

    profile: str | None = None
    target_python: str | None = None
    requirements: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    waivers: tuple[WaiverSetting, ...] = ()
    profiles: tuple[str, ...] = ()
    """Further files and folders of profiles, relative to pyproject.toml."""
    advisories: tuple[str, ...] = ()
    """Further files and folders of advisories."""
    offline: bool = False
    """As typed: no address that they name is asked."""


def parse_settings(table: Table) -> Settings:
    """Return the settings; what is wrong with them is among the table's faults."""
    settings = Settings(
        profile=_text(table, "profile"),
        target_python=_python(table),
        requirements=_texts(table, "requirements"),
        groups=_texts(table, "groups"),
        waivers=_waivers(table),
        profiles=_texts(table, "profiles"),
        advisories=_texts(table, "advisories"),
    )
    table.done()
    return settings


def _waivers(table: Table) -> tuple[WaiverSetting, ...]:
    entries = table.take("waive")
    if not isinstance(entries, list):
        if entries is not None:
            table.fault("waive", "must be an array of tables, [[tool.envdoctor.waive]]")
        return ()
    waivers = []
    for position, entry in enumerate(entries):
        if not isinstance(entry, Mapping):
            table.fault(f"waive[{position}]", "must be a table with rule and reason")
            continue
        waiver = Table(entry, f"{table.path}.waive[{position}]", table.faults)
        for needed in ("rule", "reason"):
            if not waiver.has(needed):
                waiver.fault(needed, "missing; a waiver names its rule and its reason")
        waivers.append(
            WaiverSetting(
                rule=_text(waiver, "rule") or "",
                reason=_text(waiver, "reason") or "",
                subject=_text(waiver, "subject"),
                expires=_date(waiver),
                key=waiver.path,
            )
        )
        waiver.done()
    return tuple(waivers)


def _text(table: Table, key: str) -> str | None:
    value = table.take(key)
    if value is None:
        return None
    if not isinstance(value, str) or not value.strip():
        table.fault(key, "must be a non-empty string")
        return None
    return value


def _python(table: Table) -> str | None:
    text = _text(table, "target-python")
    if text is not None:
        from envdoctor.model.compatibility import read_python

        try:
            read_python(text)
        except ValueError as error:
            table.fault("target-python", str(error))
    return text


def _texts(table: Table, key: str) -> tuple[str, ...]:
    value = table.take(key)
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        table.fault(key, "must be an array of strings")
        return ()
    return tuple(value)


def _date(table: Table) -> date | None:
    value = table.take("expires")
    if value is None:
        return None
    if isinstance(value, datetime):
        return value.date()  # TOML has dates and moments; a waiver ends with a day
    if isinstance(value, date):
        return value
    try:
        return date.fromisoformat(str(value))
    except ValueError:
        table.fault("expires", f"`{value}` is not a date such as 2027-01-31")
        return None
