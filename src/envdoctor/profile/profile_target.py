"""Which interpreters a profile accepts, the target that it is for, and which of its cautions apply there."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from envdoctor.model.compatibility import admitted_minors
from envdoctor.model.profile import Caution, Profile
from envdoctor.model.target import OperatingSystem, Target

__all__ = ["applying", "meets", "python_choices", "target_for"]


def python_choices(profile: Profile) -> list[tuple[int, int]]:
    """Return the CPython versions that a profile accepts: the preferred one, then newest first."""
    choices = list(reversed(admitted_minors(profile.target.python)))
    preferred = profile.target.preferred_python
    if preferred in choices:
        choices.sort(key=lambda version: version != preferred)
    return choices


def target_for(profile: Profile) -> Target:
    """Return the target of a profile, with the first of `python_choices`.

    A GPU architecture is taken from the profile only where it names a single one.
    """
    declared = profile.target
    architectures = declared.gpu_architectures
    target = Target(
        os=declared.os,
        arch=declared.arch,
        python=python_choices(profile)[0],
        backend=declared.backend,
        gpu_architecture=architectures[0] if len(architectures) == 1 else None,
        wsl=declared.wsl,
    )
    level = declared.macos if declared.os is OperatingSystem.MACOS else declared.glibc
    return target.at_level(level) if level is not None else replace(target, level_assumed=True)


def applying(
    profile: Profile, target: Target | None, versions: Mapping[str, str], cards: int, has_file: Callable[[str], bool]
) -> Iterator[Caution]:
    """Yield the cautions that apply, in the profile's order.

    ``versions``: by name, of what is resolved or installed; ``cards``: how many are known; ``has_file``: whether the
    project has a file that a glob names.
    """
    system = target.os if target is not None else profile.target.os
    for caution in profile.cautions:
        if _holds(caution, system, versions, cards) and (caution.file is None or has_file(_placed(caution, profile))):
            yield caution


def _placed(caution: Caution, profile: Profile) -> str:
    return f"{profile.place}/{caution.file}" if profile.place else str(caution.file)


def _holds(caution: Caution, system: OperatingSystem, versions: Mapping[str, str], cards: int) -> bool:
    if caution.os is not None and caution.os is not system:
        return False
    if caution.several_cards and cards < 2:
        return False
    if caution.python is not None:
        version = versions.get("python")
        return version is not None and caution.python.contains(version, prereleases=True)
    return caution.when is None or meets(caution.when, versions)


def meets(condition: str, versions: Mapping[str, str]) -> bool:
    """Return whether a condition of a profile, such as ``torch>=2.6``, holds for versions by name."""
    wanted = Requirement(condition)
    version = versions.get(canonicalize_name(wanted.name))
    known = version is not None and re.match(r"\d", version) is not None
    return known and wanted.specifier.contains(version or "", prereleases=True)
