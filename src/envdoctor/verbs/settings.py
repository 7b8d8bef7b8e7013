"""The ``[tool.envdoctor]`` table of pyproject.toml: the project's own profile and waivers."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime

from envdoctor.model.dataclass import dataclass
from envdoctor.toml_tables import Table

__all__ = ["Settings", "WaiverSetting", "parse_settings"]


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
        target_python=_text(table, "target-python"),
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
