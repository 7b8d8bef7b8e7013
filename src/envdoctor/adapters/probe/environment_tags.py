"""What the wheels in a folder tell of the machine they were installed for, where no interpreter can be asked."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from envdoctor.model.environment import InstalledDistribution

__all__ = ["platform_of_tags", "python_of_tags"]

_PLATFORM = re.compile(r"(manylinux|musllinux|linux|win|macosx)(?:_?\d+)*(?:_(\w+))?$")
_SYSTEMS = {"manylinux": "linux", "musllinux": "linux", "linux": "linux", "win": "win32", "macosx": "darwin"}
_MACHINES = {"amd64": "x86_64", "x86_64": "x86_64", "aarch64": "aarch64", "arm64": "arm64"}


def python_of_tags(distributions: Iterable[InstalledDistribution]) -> tuple[int, int] | None:
    """Return the CPython that most compiled wheels of a bare folder were built for."""
    votes: Counter[tuple[int, int]] = Counter()
    for item in distributions:
        for tag in item.wheel_tags[:1]:
            interpreter, _, rest = tag.partition("-")
            # `cp310-abi3` says no more than "3.10 or later".
            if interpreter[:3] == "cp3" and interpreter[3:].isdigit() and rest.startswith(interpreter):
                votes[3, int(interpreter[3:])] += 1
    return votes.most_common(1)[0][0] if votes else None


def platform_of_tags(distributions: Iterable[InstalledDistribution]) -> dict[str, str]:
    """Return what most compiled wheels are for, as details of an environment; empty without any.

    ``wheel_platform`` as ``sys.platform`` says it, and ``wheel_machine``.
    """
    votes: Counter[tuple[str, str]] = Counter()
    for item in distributions:
        for tag in item.wheel_tags[:1]:
            match = _PLATFORM.match(tag.rpartition("-")[2])
            if match:
                votes[_SYSTEMS[match[1]], _MACHINES.get(match[2] or "", "")] += 1
    if not votes:
        return {}
    platform, machine = votes.most_common(1)[0][0]
    return {"wheel_platform": platform, **({"wheel_machine": machine} if machine else {})}
