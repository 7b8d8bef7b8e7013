"""A profile: one stack on one kind of target, declared."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import field

from packaging.specifiers import SpecifierSet
from packaging.utils import NormalizedName

from envdoctor.model.dataclass import dataclass
from envdoctor.model.origin import ProfileOrigin
from envdoctor.model.override import Override, OverrideSource, nothing_instead
from envdoctor.model.requirement import Requirement, RequirementKind
from envdoctor.model.target import Arch, Backend, OperatingSystem, Target

__all__ = [
    "BoundIndex",
    "Caution",
    "Coupling",
    "CouplingRule",
    "EnvironmentSpec",
    "Exclusion",
    "ListedProfile",
    "Patch",
    "PatchKind",
    "PlacementRule",
    "Profile",
    "ProfileRequirement",
    "ProfileTarget",
    "SetAttribute",
    "SmokeSpec",
    "SystemNeed",
]


@dataclass(frozen=True, slots=True)
class ProfileTarget:
    """The machines that a profile is for."""

    os: OperatingSystem
    arch: Arch
    python: SpecifierSet
    """Interpreters that the stack accepts; the newest that resolves is chosen unless the user names one."""
    backend: Backend
    glibc: tuple[int, int] | None = None
    macos: tuple[int, int] | None = None
    gpu_architectures: tuple[str, ...] = ()
    """``sm_110``, ``gfx1030``: what the cards of this profile are, where it says so."""
    wsl: bool = False
    preferred_python: tuple[int, int] | None = None
    """Where the newest interpreter that resolves is not the one to take."""

    def serves(self, target: Target) -> bool:
        """Return whether its builds are for a target's system and processor; those for no GPU always are."""
        same = self.os is target.os and (self.arch is Arch.X86_64) is (target.arch is Arch.X86_64)
        return same or self.backend is Backend.CPU


@dataclass(frozen=True, slots=True)
class ProfileRequirement:
    """A requirement that the profile adds (or only bounds, with ``kind = constraint``)."""

    requirement: Requirement
    because: str
    evidence: str = ""


@dataclass(frozen=True, slots=True)
class Exclusion:
    """A project that must not be installed."""

    name: NormalizedName
    because: str
    evidence: str = ""
    stubs: tuple[str, ...] = ()
    """Modules for which an empty stand-in is written, where something asks whether they exist."""
    instead: Requirement | None = None
    """Another distribution with the same module, for whoever asks for this one, where that one has a wheel."""
    origin: ProfileOrigin | None = field(default=None, compare=False)
    """Where it was written; so for the other entries of arrays of tables."""
    source: OverrideSource = OverrideSource.PROFILE

    def override(self) -> Override:
        """Return the exclusion as the override that it is: nothing instead of whatever anybody asks for."""
        origin = self.origin or ProfileOrigin("", f"exclude {self.name}")
        nothing = nothing_instead(Requirement(self.name, origin))
        because, evidence = self.because, self.evidence
        return Override(nothing, because=because, source=self.source, evidence=evidence, instead=self.instead)


class CouplingRule(enum.Enum):
    """How coupled binaries must agree."""

    SAME_VERSION = "same-version"
    SAME_MINOR = "same-minor"
    TABLE = "table"
    """As the shipped coupling table says."""


@dataclass(frozen=True, slots=True)
class Coupling:
    """Binaries that belong together although metadata does not say so."""

    names: tuple[NormalizedName, ...]
    rule: CouplingRule
    because: str = ""
    origin: ProfileOrigin | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class BoundIndex:
    """An extra index; the packages named come from there alone."""

    name: str
    url: str
    packages: tuple[NormalizedName, ...]
    because: str = ""
    local_label: str | None = None
    """Start of its files' local version label (``cu118``), where the index uses one."""
    flat: bool = False
    """True: one page that lists files (pip's ``--find-links``), not a simple repository."""
    place: str = ""
    """Where a project's file names it; ``origin`` is that of a profile's."""
    origin: ProfileOrigin | None = field(default=None, compare=False)


class PatchKind(enum.Enum):
    """Structural edits of a source file."""

    GUARD_IMPORT = "guard-import"
    STUB_FUNCTION = "stub-function"
    REPLACE_FUNCTION = "replace-function"
    SET_ATTRIBUTE = "set-attribute"
    SET_ARGUMENT = "set-argument"
    REPLACE_REQUIREMENT = "replace-requirement"
    REPLACE_TEXT = "replace-text"
    REMOVE_FILE = "remove-file"
    """The files go (into the journal's backup); for what an installed package brings and must not."""


@dataclass(frozen=True, slots=True)
class Patch:
    """One edit of the project's, or an installed package's, sources; refused where the file is not as expected."""

    kind: PatchKind
    files: tuple[str, ...]
    """Globs relative to ``root``; no absolute path and no ``..``."""
    because: str
    root: str = "project"
    """``project``, or ``site-packages``."""
    function: str | None = None
    """Dotted name of a function, for stub-function and for the scope of set-*."""
    module: str | None = None
    """The module whose import is guarded."""
    fallback: str | None = None
    """Python source of the names to define when the import fails."""
    attribute: str | None = None
    argument: str | None = None
    call: str | None = None
    value: str | None = None
    find: str | None = None
    """Exact text for replace-text; it must occur ``count`` times."""
    replace: str | None = None
    count: int | None = None
    requirement: str | None = None
    when: str | None = None
    """A condition on the resolution, such as ``torch>=2.6``."""
    optional: bool = False
    """True: a project without that file is fine."""
    evidence: str = ""
    name: str | None = None
    """What plans and child profiles call it."""
    source: str | None = None
    """Python source of the new definition, for replace-function; ``function`` names the one that goes."""
    symptom: str = ""
    """What a person sees without it."""
    component: str | None = None
    """Applied only where the placement of this component moves it; None: always."""
    origin: ProfileOrigin | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class SystemNeed:
    """Something outside Python that the stack needs."""

    name: str
    """``ffmpeg``, ``espeak-ng``, ``cmake``, ``hip-sdk``, ``driver``, ..."""
    because: str
    only_for: tuple[str, ...] = ()
    """Packages whose build or use needs it; empty for the stack as a whole."""
    install: Mapping[str, str] = field(default_factory=dict)
    """How to get it, by operating system or package manager."""
    minimum: str | None = None
    evidence: str = ""
    origin: ProfileOrigin | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class SetAttribute:
    """Where a placement takes effect."""

    file: str | None = None
    attribute: str | None = None
    environment: str | None = None
    argument: str | None = None
    function: str | None = None
    """Dotted name of the function in ``file`` that assigns ``attribute``."""
    value: str | None = None
    """What to set where it is not the device's name (``-1`` for CUDA_VISIBLE_DEVICES)."""


@dataclass(frozen=True, slots=True)
class PlacementRule:
    """A component, the kernels it needs, and where it goes when one of them fails."""

    component: str
    needs: tuple[str, ...]
    otherwise: str = "cpu"
    always: bool = False
    """True: the component goes there whatever the kernels say."""
    set: SetAttribute | None = None
    because: str = ""
    evidence: str = ""
    origin: ProfileOrigin | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class SmokeSpec:
    """Kernels and workloads that prove the stack, with the settings that its backend wants."""

    kernels: tuple[str, ...] = ()
    workloads: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EnvironmentSpec:
    """One of several environments of a profile, where one cannot serve."""

    name: str
    python: SpecifierSet | None = None
    backend: Backend | None = None
    """What runs its tensors, where that is not the profile's."""
    requirements: tuple[str, ...] = ()
    packages: tuple[NormalizedName, ...] = ()
    because: str = ""


@dataclass(frozen=True, slots=True)
class Caution:
    """What a careful person is told before taking the profile; without a condition it always applies."""

    text: str
    evidence: str = ""
    when: str | None = None
    """A condition on what is resolved or installed, such as ``torch>=2.6``."""
    python: SpecifierSet | None = None
    file: str | None = None
    """A glob: only where the project has such a file."""
    os: OperatingSystem | None = None
    several_cards: bool = False
    """Only where more than one card is known."""

    @property
    def has_condition(self) -> bool:
        """Whether it is for some projects, targets or machines alone."""
        return any((self.when, self.python, self.file, self.os, self.several_cards))


@dataclass(frozen=True, slots=True)
class Profile:
    """One stack on one kind of target."""

    name: str
    summary: str
    target: ProfileTarget
    source: str = ""
    """The file it was read from; shipped profiles say ``profiles/<name>.toml``."""
    extends: str | None = None
    documentation: str = ""
    recognise: tuple[str, ...] = ()
    """Files (globs) whose presence marks the project."""
    recognise_packages: tuple[NormalizedName, ...] = ()
    """Requirements that mark the project."""
    requirement_files: tuple[str, ...] = ()
    """Files of the user's checkout to read; empty: whatever the project has."""
    requires: tuple[ProfileRequirement, ...] = ()
    excludes: tuple[Exclusion, ...] = ()
    overrides: tuple[Override, ...] = ()
    couplings: tuple[Coupling, ...] = ()
    indexes: tuple[BoundIndex, ...] = ()
    patches: tuple[Patch, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    system: tuple[SystemNeed, ...] = ()
    smoke: SmokeSpec = SmokeSpec()
    placements: tuple[PlacementRule, ...] = ()
    environments: tuple[EnvironmentSpec, ...] = ()
    cautions: tuple[Caution, ...] = ()
    """What this profile cannot do, said plainly."""
    place: str = ""
    """Where its checkout lies inside another project, relative to that one's root; its paths are from there."""

    @property
    def required(self) -> tuple[NormalizedName, ...]:
        """Names of what it adds to any project, sorted; not what it only bounds."""
        added = {item.requirement.name for item in self.requires if item.requirement.kind is RequirementKind.REQUIRE}
        return tuple(sorted(added))


@dataclass(frozen=True, slots=True)
class ListedProfile:
    """What a list of profiles shows of one, and by what its projects are recognised; the rest of it is not read."""

    name: str
    summary: str
    target: ProfileTarget
    recognise: tuple[str, ...]
    recognise_packages: tuple[NormalizedName, ...]
    requirement_files: tuple[str, ...]
    required: tuple[NormalizedName, ...]
    """What it adds; of one stack's profiles, that of which a project asks for it already is meant."""
