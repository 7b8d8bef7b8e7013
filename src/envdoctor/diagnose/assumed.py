"""What nobody told of an environment that is somewhere else: this machine's own would be a guess."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from envdoctor.diagnose.examination import Examination
    from envdoctor.model.environment import InstalledEnvironment

__all__ = ["assumed_kinds", "assumed_of", "is_assumed", "left_out"]

# `pip freeze` leaves out what it takes for a part of Python.
_NOT_FROZEN = frozenset({"pip", "setuptools", "wheel", "distribute"})
_CHOICES = frozenset({"collect_env", "facts", "log"})
"""Sources that name a choice of distributions only."""


def assumed_of(environment: InstalledEnvironment | None) -> frozenset[str]:
    """Return the properties of the target that were neither typed nor measured: ``python``, ``os``, ``arch``..."""
    told = environment.details.get("assumed") if environment is not None else None
    return told if isinstance(told, frozenset) else frozenset()


def assumed_kinds(examination: Examination) -> frozenset[str]:
    """Return the properties of an examination's target that were neither typed nor measured."""
    return assumed_of(examination.environment) if examination.assumed is None else examination.assumed


def is_assumed(examination: Examination, kind: str) -> bool:
    """Return whether a property of the target was neither typed nor measured, so that it proves nothing."""
    return kind in assumed_kinds(examination)


def left_out(environment: InstalledEnvironment) -> Callable[[str], bool]:
    """Return whether a distribution that is not listed may be there all the same, as a question about its name."""
    if environment.source in _CHOICES:
        return lambda _: True
    return _NOT_FROZEN.__contains__ if environment.source == "pip freeze" else lambda _: False
