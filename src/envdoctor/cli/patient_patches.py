"""What a fix has patched in an environment and its project, and how those files are by now."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from envdoctor.model.environment import InstalledEnvironment

__all__ = ["with_patches"]


def with_patches(environment: InstalledEnvironment) -> InstalledEnvironment:
    """Return the environment with the state of each file that a fix has patched."""
    if not environment.root or not os.path.isdir(f"{environment.root}/.envdoctor"):
        return environment
    from envdoctor.adapters.apply.records import read_record

    record = read_record(Path(environment.root))
    here = {item.name for item in environment.distributions}
    rows = tuple(
        (item.path, item.distribution, item.patches, item.state)
        for item in (record.patched if record is not None else ())
        if not item.distribution or item.distribution in here
    )
    return replace(environment, details={**environment.details, "patched": rows}) if rows else environment
