"""What ``fix`` is asked, and what planning gives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from envdoctor.model.dataclass import dataclass
from envdoctor.model.override import Override
from envdoctor.model.plan import Plan
from envdoctor.model.refusal import Refusal
from envdoctor.model.report import Report
from envdoctor.model.step import PlannedFile
from envdoctor.verbs.check_request import CheckRequest
from envdoctor.verbs.lock import LockChoice

__all__ = ["FixRequest", "Prepared"]


@dataclass(frozen=True, slots=True)
class FixRequest:
    """What is to be treated, and where."""

    check: CheckRequest
    environment: str
    index_urls: Mapping[str, str]
    choice: LockChoice = LockChoice()
    allowed_variables: frozenset[str] = frozenset()
    """Variables that the profile may set although they can decide what code runs: the user has said so."""
    moved: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Components that kernels sent away from the GPU, where they were run, each with the reasons."""
    found_settings: tuple[str, ...] = ()
    """Settings that the profile does not name and under which alone kernels passed here."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A plan, or why there is none."""

    report: Report | None = None
    plan: Plan | None = None
    files: tuple[PlannedFile, ...] = ()
    locks: Mapping[str, str] = field(default_factory=dict)
    """The lock and its companions, by file name."""
    overrides: tuple[Override, ...] = ()
    """What was set aside on purpose: an installer that complains of it is right, and nothing is wrong."""
    refusals: tuple[Refusal, ...] = ()
    """Why there is none."""
    complete: bool = True
    """False where the index could not be asked for all of it."""
    left: tuple[str, ...] = ()
    """The notes of the plan that are told also of who is not shown it: what was changed, and is not put back."""
