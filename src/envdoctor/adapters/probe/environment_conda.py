"""conda's own records of an environment."""

from __future__ import annotations

import json
import re
from pathlib import Path

from envdoctor.adapters.probe.environment_metadata import read_text

__all__ = ["CondaPackage", "read_conda_packages"]

CondaPackage = tuple[str, str, str, str]
"""Name, version, build and channel."""

_FILE = re.compile(r"(.+)-([^-]+)-([^-]+)\.json$")


def read_conda_packages(root: Path) -> tuple[CondaPackage, ...]:
    """Return the packages of ``root/conda-meta``, by name; a record that cannot be read is told by its file name."""
    try:
        records = sorted(path for path in (root / "conda-meta").iterdir() if path.suffix == ".json")
    except OSError:
        return ()
    return tuple(package for path in records if (package := _read(path)) is not None)


def _read(path: Path) -> CondaPackage | None:
    match = _FILE.match(path.name)
    if match is None:
        return None
    channel = ""
    # The records list every file and run to megabytes; the channel alone is worth no more than their beginning.
    data = read_text(str(path), 16 * 1024) or b""
    found = re.search(rb'"channel"\s*:\s*("(?:[^"\\]|\\.)*")', data)
    if found:
        channel = str(json.loads(found[1])).rstrip("/")
        # `https://host/conda-forge/linux-64` and a token in it: the channel's own name is enough.
        parts = [
            part for part in channel.split("/") if part and not part.endswith(("-64", "-aarch64", "noarch", "-arm64"))
        ]
        channel = parts[-1] if parts else channel
    return match[1], match[2], match[3], channel
