"""The lock that an environment was built from: what a fix left in it, or the lock beside the project."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from envdoctor.lock.reading import LockedProject
    from envdoctor.model.environment import InstalledEnvironment

__all__ = ["locked_of", "with_lock"]


def with_lock(environment: InstalledEnvironment, *beside: Path) -> InstalledEnvironment:
    """Return the environment with its lock: of its ``.envdoctor`` folder, else the first of ``beside`` that is there.

    A lock that cannot be read is passed over; the verbs that work with it say what is wrong with it.
    """
    own = (Path(environment.root, ".envdoctor", "pylock.toml"),) if environment.root else ()
    for path in (*own, *beside):
        if os.path.isfile(path):
            found = _read(path)
            if found is not None:
                return replace(environment, details={**environment.details, **found})
    return environment


def locked_of(environment: InstalledEnvironment | None, profile: str | None) -> LockedProject | None:
    """Return the lock that a fix left in the environment, for the same profile; None where there is none.

    It stands for the lock beside the project where that was not written or not kept.
    """
    if environment is None or not environment.root:
        return None
    from envdoctor.lock.reading import LockError, parse_lock

    path = Path(environment.root, ".envdoctor", "pylock.toml")
    try:
        locked = parse_lock(path.read_text(encoding="utf-8"), str(path))
    except (OSError, UnicodeDecodeError, LockError):
        return None
    return locked if locked.profile == profile else None


def _read(path: Path) -> dict[str, object] | None:
    from packaging.pylock import Pylock, PylockValidationError

    from envdoctor.lock.reading import LockError, parse_lock, tomllib

    try:
        text = path.read_text(encoding="utf-8")
        locked = parse_lock(text, str(path))
        document = Pylock.from_dict(tomllib.loads(text))
    except (OSError, UnicodeDecodeError, LockError, PylockValidationError):
        return None
    return {"lock": document, "lock_path": str(path), "overrides": tuple(_overrides(locked))}


def _overrides(locked: LockedProject) -> Iterator[str]:
    """Yield what the lock sets aside: ``consumer -> requirement``, or the requirement where it replaces everybody's."""
    for item in locked.overrides:
        if not item.replaces:
            yield item.requirement
        yield from (f"{consumer} -> {item.requirement}" for consumer in item.replaces)
