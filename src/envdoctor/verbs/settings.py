"""The ``[tool.envdoctor]`` table of pyproject.toml: the project's own profile and waivers."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

__all__ = ["Settings", "SettingsError", "WaiverSetting", "parse_settings"]

_KEYS = ("profile", "waive", "target-python", "groups", "requirements")
_WAIVER_KEYS = ("rule", "subject", "reason", "expires")


class SettingsError(Exception):
    """Faults of the table; each message carries its key path."""

    def __init__(self, faults: tuple[str, ...]) -> None:
        super().__init__("; ".join(faults))
        self.faults = faults


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


def parse_settings(table: Mapping[str, Any]) -> Settings:
    """Return the settings. Raises SettingsError with every fault at once."""
    faults: list[str] = []
    _unknown_keys(table, _KEYS, "tool.envdoctor", faults)
    settings = Settings(
        profile=_text(table, "profile", "tool.envdoctor", faults),
        target_python=_text(table, "target-python", "tool.envdoctor", faults),
        requirements=_texts(table, "requirements", faults),
        groups=_texts(table, "groups", faults),
        waivers=_waivers(table.get("waive", []), faults),
    )
    if faults:
        raise SettingsError(tuple(faults))
    return settings


def _waivers(entries: Any, faults: list[str]) -> tuple[WaiverSetting, ...]:
    if not isinstance(entries, list):
        faults.append("tool.envdoctor.waive: must be an array of tables, [[tool.envdoctor.waive]]")
        return ()
    waivers = []
    for position, entry in enumerate(entries):
        key = f"tool.envdoctor.waive[{position}]"
        if not isinstance(entry, Mapping):
            faults.append(f"{key}: must be a table with rule and reason")
            continue
        _unknown_keys(entry, _WAIVER_KEYS, key, faults)
        missing = [needed for needed in ("rule", "reason") if needed not in entry]
        faults.extend(f"{key}.{needed}: missing; a waiver names its rule and its reason" for needed in missing)
        waivers.append(
            WaiverSetting(
                rule=_text(entry, "rule", key, faults) or "",
                reason=_text(entry, "reason", key, faults) or "",
                subject=_text(entry, "subject", key, faults),
                expires=_date(entry, key, faults),
                key=key,
            )
        )
    return tuple(waivers)


def _unknown_keys(table: Mapping[str, Any], known: tuple[str, ...], path: str, faults: list[str]) -> None:
    for name in table:
        if name not in known:
            close = difflib.get_close_matches(name, known, n=1)
            hint = f"; did you mean `{close[0]}`?" if close else f"; known keys: {', '.join(known)}"
            faults.append(f"{path}.{name}: unknown key{hint}")


def _text(table: Mapping[str, Any], key: str, path: str, faults: list[str]) -> str | None:
    value = table.get(key)
    if value is None:
        return None
    if not isinstance(value, str) or not value.strip():
        faults.append(f"{path}.{key}: must be a non-empty string")
        return None
    return value


def _texts(table: Mapping[str, Any], key: str, faults: list[str]) -> tuple[str, ...]:
    value = table.get(key, [])
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        faults.append(f"tool.envdoctor.{key}: must be an array of strings")
        return ()
    return tuple(value)


def _date(table: Mapping[str, Any], path: str, faults: list[str]) -> date | None:
    value = table.get("expires")
    if value is None:
        return None
    if isinstance(value, datetime):
        return value.date()  # TOML has dates and moments; a waiver ends with a day
    if isinstance(value, date):
        return value
    try:
        return date.fromisoformat(str(value))
    except ValueError:
        faults.append(f"{path}.expires: `{value}` is not a date such as 2027-01-31")
        return None
