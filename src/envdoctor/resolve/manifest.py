"""What is to be resolved: people's requirements, the target, and what a profile says about them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from packaging.utils import NormalizedName
from packaging.version import Version

from envdoctor.model.candidate import DistributionFile
from envdoctor.model.dataclass import dataclass
from envdoctor.model.override import Override
from envdoctor.model.profile import Coupling, Exclusion
from envdoctor.model.project import Brought, Repository
from envdoctor.model.requirement import Requirement, holds
from envdoctor.model.target import OperatingSystem, Target
from envdoctor.model.unknown import Subject, SubjectKind, Unknown, UnknownKind

__all__ = ["Limits", "Manifest", "Policy", "untold_marker"]


@dataclass(frozen=True, slots=True)
class Policy:
    """Choices about which files and versions may be used."""

    prereleases: bool = False
    """Admit pre-releases of every project; else only where a person names one or nothing else exists."""
    no_build: frozenset[str] = frozenset()
    """Projects whose sdists may not be built; ``:all:`` for every project."""
    no_wheel: frozenset[str] = frozenset()
    """Projects whose wheels may not be used; ``:all:`` for every project but those that may not be built."""
    prefer_wheel: frozenset[str] = frozenset()
    """Projects of which an older version with a wheel goes before a newer one without (pip's ``--prefer-binary``)."""
    trust_pins_over_python_caps: bool = True
    """A pure-Python wheel that a person pins exactly is usable above an upper bound of its Requires-Python."""
    mended: bool = True
    """Use versions whose invalid metadata could be mended; pip 24.1 and later refuse them."""
    unread: bool = False
    """Where no version that is admitted can be read, take one that cannot, as if it asked for nothing.

    One that only the cache does not know is taken as an installer would take it: the newest first.
    """
    open_ended: frozenset[NormalizedName] = frozenset()
    """Projects of which any demand is met where an index that may have more of them could not be read."""
    couplings: bool = True
    """Hold together binaries that belong together although metadata does not say so; no installer does."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds on effort, so that nothing hangs: conflicts cut short say so, repairs are the best tried."""

    rounds: int = 100_000
    """Rounds of the search in one solve."""
    conflicts: int = 32
    conflict_solves: int = 400
    repairs: int = 10
    repair_solves: int = 60
    repair_cost: int = 12


@dataclass(frozen=True, slots=True)
class Manifest:
    """The whole input of a diagnosis."""

    requirements: tuple[Requirement, ...]
    """What people wrote, in the order of the files; constraints among them."""
    target: Target
    overrides: tuple[Override, ...] = ()
    """The profile's; conflicts are found as if they did not exist."""
    replaced: Mapping[NormalizedName, tuple[Requirement, ...]] = field(default_factory=dict)
    """The project's own overrides: what stands in place of every distribution's demand on a project."""
    exclusions: tuple[Exclusion, ...] = ()
    """Projects that are never installed: every demand on them vanishes."""
    couplings: tuple[Coupling, ...] = ()
    """The profile's, beside the shipped ones."""
    preferences: Mapping[NormalizedName, Version] = field(default_factory=dict)
    """Locked versions, kept wherever they still fit."""
    brought: Mapping[NormalizedName, Brought] = field(default_factory=dict)
    """What an image has before anything is installed, kept wherever it fits."""
    upgrade: frozenset[str] = frozenset()
    """Projects whose preference is dropped; ``:all:`` for every project."""
    described: Mapping[str, Repository] = field(default_factory=dict)
    """URLs of direct references, each with what its repository says; its requirements are among the lines."""
    placed: Mapping[NormalizedName, DistributionFile] = field(default_factory=dict)
    """Wheels at URLs that metadata asks for, in the place of what indexes have."""
    constraints: tuple[Requirement, ...] = ()
    """Bounds that no repair may set aside and no conflict names (a date, a user's own ``--python``)."""
    policy: Policy = Policy()
    limits: Limits = Limits()


_NEWER_MACOS = ((15, 0), (26, 0), (27, 0))


def untold_marker(requirement: Requirement, target: Target, counts: bool | None) -> Unknown | None:
    """Return why it is not known whether a written requirement counts; None where that is known.

    On macOS a marker may ask for the kernel (``platform_release``), and the release is only assumed.
    """
    assumed = target.level_assumed and target.os is OperatingSystem.MACOS and counts is not None
    others = [target.at_level(level) for level in _NEWER_MACOS if assumed and target.level and level > target.level]
    turned = any(holds(requirement.marker, other.marker_environment()) is (not counts) for other in others)
    if counts is not None and not turned:
        return None
    cause, subject = target.level_name if turned else "", Subject(SubjectKind.PACKAGE, requirement.name)
    return Unknown(UnknownKind.MARKER, subject, cause=cause, demand=str(requirement), origin=requirement.origin)
