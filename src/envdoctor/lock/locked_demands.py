"""Who asks for what in a lock: the same whether it is written for the first time or again.

An override that an earlier lock records replaces every demand that its authors make on a project, those that agree with
it too, and speaks itself as one more author. Written down, a demand that the version in use meets is in force, and a
lock is nobody's reason.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from packaging.pylock import is_valid_pylock_path

from envdoctor.model.origin import DistributionOrigin, FileOrigin

if TYPE_CHECKING:
    from envdoctor.model.override import Override
    from envdoctor.model.repair import Repair
    from envdoctor.model.requirement import Requirement
    from envdoctor.model.resolution import Resolution, ResolvedPackage

__all__ = ["demands_told_apart"]


def demands_told_apart(resolution: Resolution, repair: Repair | None) -> tuple[Resolution, Repair | None]:
    """Return both with each demand where it belongs: met and in force, or set aside."""
    packages = tuple(map(_package, resolution.packages))
    if repair is not None:
        repair = replace(repair, overrides=tuple(_override(item, resolution) for item in repair.overrides))
    return replace(resolution, packages=packages), repair


def _package(package: ResolvedPackage) -> ResolvedPackage:
    met = tuple(item for item in package.set_aside if _met(item, package))
    aside = tuple(item for item in package.set_aside if item not in met)
    wanted = [item for item in dict.fromkeys((*met, *package.wanted_by)) if not _of_a_lock(item)]
    return replace(package, wanted_by=tuple(sorted(wanted, key=_people_first)), set_aside=aside)


def _override(override: Override, resolution: Resolution) -> Override:
    package = resolution.get(override.requirement.name)
    if package is None:
        return override
    aside = tuple(item for item in override.sets_aside if not _met(item, package))
    # Where all of them are met, what the override speaks of is still its business.
    return override.resolved(override.requirement, aside) if aside else override


def _met(requirement: Requirement, package: ResolvedPackage) -> bool:
    if requirement.url or not requirement.extras <= package.extras:
        return False
    return requirement.specifier.contains(package.version, prereleases=True)


def _of_a_lock(requirement: Requirement) -> bool:
    origin = requirement.origin
    return isinstance(origin, FileOrigin) and is_valid_pylock_path(Path(origin.path))


def _people_first(requirement: Requirement) -> tuple[bool, str, int]:
    origin = requirement.origin
    if isinstance(origin, DistributionOrigin):
        return True, "", 0  # In the order in which they were found.
    return (False, origin.path, origin.line or 0) if isinstance(origin, FileOrigin) else (False, str(origin), 0)
