"""What a lock alone can tell, where the cache does not know the project and no index may be asked.

A lock was a whole resolution when it was written, and what distributions require never changes afterwards. So as long
as everything that people write now is met by its versions, or was set aside in it on purpose, it still holds. Whether
something better exists, and what conflicts with what, a lock cannot tell.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from envdoctor.model.requirement import Requirement, RequirementKind, may_hold
from envdoctor.resolve.manifest import Manifest

if TYPE_CHECKING:
    from envdoctor.lock.pylock_reader import LockedProject

__all__ = ["holds", "meets", "unchanged"]


def holds(manifest: Manifest, locked: LockedProject, choices: tuple[tuple[int, int], ...] = ()) -> bool:
    """Return whether the lock is for this target and meets everything that applies there.

    ``choices`` are the interpreters that the target may have besides its own.
    """
    targets = [manifest.target, *(replace(manifest.target, python=python, python_full=None) for python in choices)]
    target = next((each for each in targets if locked.targets and locked.is_for(each)), None)
    if target is None:
        return False
    environment = target.marker_environment()
    excluded = {item.name for item in manifest.exclusions}
    wanted = [
        item
        for item in (*manifest.requirements, *(override.requirement for override in manifest.overrides))
        if item.name not in excluded and may_hold(item.marker, environment)
    ]
    return all(meets(item, locked) for item in wanted)


def unchanged(manifest: Manifest, locked: LockedProject) -> bool:
    """Return whether the lock knows no line that nobody writes any more; with ``holds``, it is still the lock."""
    overriding = [override.requirement for override in manifest.overrides]
    return locked.written <= {str(item) for item in (*manifest.requirements, *overriding)}


def meets(requirement: Requirement, locked: LockedProject) -> bool:
    """Return whether the lock has what a person's requirement asks for, or set it aside."""
    text = str(requirement)
    if text in locked.set_aside:
        return True
    version = locked.versions.get(requirement.name)
    if version is None:
        return requirement.kind is RequirementKind.CONSTRAINT
    if requirement.extras or requirement.url:
        return text in locked.written  # What an extra brings, only the lock's own writing of that line tells.
    return requirement.specifier.contains(version, prereleases=True)
