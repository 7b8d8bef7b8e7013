"""What of the target nobody told: of an environment that is somewhere else, this machine's own is a guess."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from envdoctor.diagnose.examination import Examination
    from envdoctor.model.environment import InstalledEnvironment

__all__ = ["assumed_of", "is_assumed"]


def assumed_of(environment: InstalledEnvironment | None) -> frozenset[str]:
    """Return the properties of the target that were neither typed nor measured: ``python``, ``os``, ``arch``..."""
    told = environment.details.get("assumed") if environment is not None else None
    return told if isinstance(told, frozenset) else frozenset()


def is_assumed(examination: Examination, kind: str) -> bool:
    """Return whether a property of the target was neither typed nor measured, so that it proves nothing."""
    return kind in assumed_of(examination.environment)
