"""What ``fix`` is asked, what it must know of this machine, and what planning gives."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from envdoctor.model.candidate import DistributionFile
from envdoctor.model.override import Override
from envdoctor.model.plan import PatchPreview, Plan
from envdoctor.model.profile import Patch
from envdoctor.model.refusal import Refusal
from envdoctor.model.report import Report
from envdoctor.model.step import PlannedFile, WriteStub
from envdoctor.model.target import Target
from envdoctor.planning.fix_refusals import EnvironmentState
from envdoctor.verbs.check_request import CheckRequest
from envdoctor.verbs.lock import LockChoice

__all__ = ["FixPorts", "FixRequest", "Prepared"]


class FixPorts(Protocol):
    """What planning a treatment must know of this machine; nothing in here changes anything."""

    def look(self, environment: str) -> EnvironmentState:
        """Return what is at a place."""
        ...

    def find_python(self, wanted: Sequence[tuple[int, int]]) -> tuple[str, tuple[int, int]] | None:
        """Return an interpreter of the first wanted version that there is."""
        ...

    def installer(self, state: EnvironmentState) -> tuple[str, str, bool]:
        """Return the installer's name, a word on which it is, and whether it refuses invalid legacy metadata.

        Raises RuntimeError where there is none, with what to do about it.
        """
        ...

    def preview(
        self,
        patches: Sequence[Patch],
        arriving: Sequence[DistributionFile],
        state: EnvironmentState,
        *,
        builds: bool,
        leaving: Collection[str] = (),
    ) -> PatchPreview:
        """Apply patches in memory, and take back those of earlier fixes; ``leaving``: distributions that go."""
        ...

    def stubs(
        self,
        wanted: Sequence[WriteStub],
        arriving: Sequence[DistributionFile],
        state: EnvironmentState,
        leaving: Collection[str],
    ) -> tuple[tuple[WriteStub, ...], tuple[Refusal, ...]]:
        """Return the stand-ins to write, and why others must not be; ``leaving``: distributions that go."""
        ...

    def missing_needs(self, needs: Sequence[str]) -> tuple[str, ...]:
        """Return what of a build's needs is not here."""
        ...

    def disk_free(self, environment: str) -> int | None:
        """Return the free bytes."""
        ...

    def other_machine(self, target: Target) -> str | None:
        """Return how this machine differs from the target, None where it is one."""
        ...


@dataclass(frozen=True, slots=True)
class FixRequest:
    """What is to be treated, and where."""

    check: CheckRequest
    environment: str
    index_urls: Mapping[str, str]
    choice: LockChoice = LockChoice()  # noqa: RUF009 - immutable
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
