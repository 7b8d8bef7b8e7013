"""What a fix leaves in ``<environment>/.envdoctor``: the lock it was built from, its variables, what it patched."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import Any, Literal

from envdoctor.adapters.apply.durable import digest_of
from envdoctor.adapters.apply.journal import own_folder
from envdoctor.model.dataclass import dataclass

__all__ = ["PATCH_RECORD", "PatchRecord", "read_record", "shell_scripts"]

ENVIRONMENT_RECORD = "environment.json"
LOCK_RECORD = "pylock.toml"
PATCH_RECORD = "patches.json"


@dataclass(frozen=True, slots=True)
class PatchRecord:
    """A file that a fix has patched."""

    root: str
    """``project`` or ``site-packages``."""
    path: str
    patches: tuple[str, ...]
    before: str
    after: str | None
    """SHA-256 that the patch left; None where it took the file away."""
    distribution: str = ""
    real: str = ""
    """Where it is."""

    @property
    def state(self) -> Literal["patched", "reverted", "changed", "gone"]:
        """``reverted``: a re-install or an update brought the old file back."""
        digest = digest_of(Path(self.real))
        if digest == self.after:
            return "patched"
        if digest is None:
            return "gone"
        return "reverted" if digest == self.before else "changed"


@dataclass(frozen=True, slots=True)
class FixRecord:
    """What is known of the fix that an environment came out of."""

    lock_text: str | None = None
    profile: str | None = None
    project: str = ""
    variables: Mapping[str, str] = field(default_factory=dict)
    brought: Mapping[str, str] = field(default_factory=dict)
    """Version by name of the packages that fixes put where nothing was."""
    patched: tuple[PatchRecord, ...] = ()
    moved: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Components that kernels sent away from the GPU, each with the reasons."""
    settings: tuple[str, ...] = ()
    """What is set at each start of its Python, once torch is imported."""
    found_settings: tuple[str, ...] = ()
    """Those of them that kernels called for here, and not the profile."""
    details: Mapping[str, Any] = field(default_factory=dict)
    """The whole of ``environment.json``."""


def read_record(environment: Path) -> FixRecord | None:
    """Return what a fix left, None where there was none."""
    own = own_folder(environment)
    details = _json(own / ENVIRONMENT_RECORD)
    if not isinstance(details, dict):
        return None
    return FixRecord(
        lock_text=_text(own / LOCK_RECORD),
        profile=details.get("profile"),
        project=str(details.get("project", "")),
        variables=_texts(details.get("variables")),
        brought=_texts(details.get("brought")),
        patched=tuple(_patched(own / PATCH_RECORD)),
        moved=_lists(details.get("moved")),
        settings=_names(details.get("settings")),
        found_settings=_names(details.get("found_settings")),
        details=details,
    )


def _texts(value: Any) -> dict[str, str]:
    return {str(name): str(text) for name, text in value.items()} if isinstance(value, dict) else {}


def _names(value: Any) -> tuple[str, ...]:
    return tuple(map(str, value)) if isinstance(value, list) else ()


def _lists(value: Any) -> dict[str, tuple[str, ...]]:
    rows = value.items() if isinstance(value, dict) else ()
    return {str(name): tuple(str(text) for text in texts) for name, texts in rows if isinstance(texts, list)}


def _patched(path: Path) -> list[PatchRecord]:
    rows = _json(path)
    found = [_row(row) for row in rows] if isinstance(rows, list) else []
    return [item for item in found if item is not None]


def _row(row: Any) -> PatchRecord | None:
    try:
        return PatchRecord(**{**row, "patches": tuple(row["patches"])})
    except (TypeError, KeyError):
        return None


def _json(path: Path) -> Any:
    text = _text(path)
    try:
        return json.loads(text) if text is not None else None
    except (ValueError, RecursionError):
        return None


def _text(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None


def shell_scripts(variables: Mapping[str, str], *, windows: bool) -> dict[str, str]:
    """Return a script's text by file name: for POSIX shells, and on Windows for PowerShell too."""
    ordered = sorted(variables.items())
    scripts = {"variables.sh": "".join(f"export {name}={shlex.quote(value)}\n" for name, value in ordered)}
    if windows:
        scripts["variables.ps1"] = "".join(f"$env:{name} = '{_powershell(value)}'\n" for name, value in ordered)
    return scripts


def _powershell(value: str) -> str:
    """Return a value for single quotes; PowerShell takes typographic ones for quotes as well."""
    return "".join(character * 2 if character in "'\u2018\u2019\u201a\u201b" else character for character in value)
