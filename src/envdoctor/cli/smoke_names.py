"""Names of kernels, workloads and settings in a profile's file, held against those that there are."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from envdoctor.profile.fault import Fault, did_you_mean

__all__ = ["unknown_names"]


def unknown_names(path: Path) -> tuple[Fault, ...]:
    """Return a fault for each name that is none; nothing for what is wrong with the file otherwise."""
    from envdoctor.lock.reading import tomllib
    from envdoctor.profile.lines import Lines
    from envdoctor.profile.load import LARGEST_BYTES

    try:
        with path.open("rb") as stream:
            # What is longer has been refused as a profile.
            text = stream.read(LARGEST_BYTES).decode("utf-8-sig")
        document = tomllib.loads(text)
    except (OSError, ValueError, RecursionError):
        return ()
    lines = Lines(text)
    return tuple(Fault(fault.key_path, fault.message, lines.of(fault.key_path)) for fault in _faults(document))


def _faults(document: dict[str, Any]) -> Iterator[Fault]:
    from envdoctor.adapters.smoke import catalogue

    kernels = tuple(entry.name for entry in catalogue.KERNELS)
    workloads = tuple(entry.name for entry in catalogue.WORKLOADS)
    smoke = document.get("smoke")
    if isinstance(smoke, dict):
        for key, kind, known in (
            ("kernels", "kernel", kernels),
            ("workloads", "workload", workloads),
            ("settings", "setting", catalogue.SETTINGS),
        ):
            yield from _unknown(smoke.get(key), f"smoke.{key}", kind, known)
    placements = document.get("placement")
    for number, rule in enumerate(placements if isinstance(placements, list) else ()):
        if isinstance(rule, dict):
            yield from _unknown(rule.get("needs"), f"placement[{number}].needs", "kernel", (*kernels, *workloads))


def _unknown(names: Any, key_path: str, kind: str, known: tuple[str, ...]) -> Iterator[Fault]:
    for number, name in enumerate(names if isinstance(names, list) else ()):
        if isinstance(name, str) and name not in known:
            hint = did_you_mean(name, known) or "; `envdoctor smoke --list` names the kernels and workloads"
            yield Fault(f"{key_path}[{number}]", f"there is no {kind} `{name}`{hint}")
