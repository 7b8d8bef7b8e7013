"""What is known of wheels without opening them: builds, kernels, families that share files, what sdists need."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from functools import lru_cache
from typing import Any

from packaging.utils import NormalizedName, canonicalize_name
from packaging.version import Version

from envdoctor.diagnose.remedies import with_indexes
from envdoctor.model.binary import GpuCode
from envdoctor.model.build_label import read_label
from envdoctor.model.dataclass import dataclass
from envdoctor.model.target import Backend, OperatingSystem, Target
from envdoctor.model.version_table import contains
from envdoctor.shipped import data_file, torch_labels

__all__ = [
    "COMPANIONS",
    "BuildNeed",
    "Devices",
    "Family",
    "KernelSet",
    "WheelFacts",
    "advice_for_torch",
    "builds_for",
    "code_of",
    "has_kernels",
    "labels_with",
    "shipped_wheel_facts",
    "torches_for",
]

COMPANIONS = ("torchaudio", "torchvision", "torchcodec")
"""Packages that have builds of their own for each of torch's."""


@dataclass(frozen=True, slots=True)
class _Build:
    package: str
    os: str
    arch: tuple[str, ...]
    version: str
    label: str


@dataclass(frozen=True, slots=True)
class Devices:
    """GPU backends that a wheel's libraries are for; all of them run on the CPU, too."""

    package: str
    version: str
    backends: tuple[str, ...]
    evidence: str
    os: str = ""
    arch: tuple[str, ...] = ()
    cards: tuple[str, ...] = ()
    """Patterns of the architectures that it is for; empty where its maker names none."""
    needs: str = ""
    """What it needs beside it, in words."""

    def speaks_of(self, package: str, target: Target) -> bool:
        """Return whether the row is about a package's wheels for a target."""
        here = not self.os or self.os == target.os.value
        return self.package == package and here and (not self.arch or target.arch.value in self.arch)


@dataclass(frozen=True, slots=True)
class KernelSet:
    """GPU architectures that builds of one label carry."""

    package: str
    label: str
    version: str
    architectures: tuple[str, ...]
    ptx: str | None = None
    """The architecture of the PTX that they carry, which newer cards can compile."""
    arch: tuple[str, ...] = ()
    evidence: str = ""
    flaw: str = ""
    """Why they are not advised although they run."""


@dataclass(frozen=True, slots=True)
class Family:
    """Distributions that own the same files."""

    names: tuple[str, ...]
    tree: str
    """The folder that they share."""
    keep: str
    """Which one to keep, in words."""
    by_backend: Mapping[str, str] = field(default_factory=dict)
    """Which one is for which GPU backend."""
    apart: str = ""
    """What sets builds of one version apart, in words, where all give the same module; empty where they do not."""
    alike: tuple[str, ...] = ()
    """Those of which that is true; none: all."""
    any_release: bool = False  # It is true of releases of different numbers, too.

    def is_one_module(self, found: Mapping[str, str]) -> bool:
        """Return whether these distributions, by name with versions, give the same module, whichever is last."""
        versions = {version.partition("+")[0] for version in found.values()}
        same = bool(self.apart) and (self.any_release or len(versions) == 1)
        return same and set(found) <= set(self.alike or self.names)


_WITHOUT_CUDA = (Backend.ROCM, Backend.XPU, Backend.DIRECTML, Backend.MPS, Backend.COREML)


@dataclass(frozen=True, slots=True)
class BuildNeed:
    """What building an sdist takes."""

    package: str
    needs: tuple[str, ...]
    """Keys of ``shipped.build_tools``."""
    version: str = ""
    instead: str = ""
    """A way around the build."""
    python: str = ""
    """Pythons of which the row speaks; empty: all."""
    fails: str = ""
    """Why no build can succeed, in words."""
    lacks: str = ""
    """What a build that succeeds leaves out and the wheels have."""
    substitute: str = ""
    """Another distribution with the same module and with wheels."""
    elsewhere: Mapping[str, str] = field(default_factory=dict)
    """Backends beside CUDA for which a build with kernels is of use, or these on one system, and what to know of it."""

    @property
    def way_around(self) -> str:
        """What to do instead of the build, in words; empty where nothing is known."""
        typed = f"`envdoctor lock --substitute {self.package}` takes it, as `envdoctor fix` does with that option"
        option = f"; {typed}" if self.substitute else ""
        return f"{self.instead}{option}"

    def is_in_vain(self, target: Target | None) -> bool:
        """Return whether what it makes is of no use on the target: kernels for CUDA on macOS, or for an Intel card."""
        if "cuda-toolkit" not in self.needs or target is None:
            return False
        without = target.backend in _WITHOUT_CUDA and self.told_of(target) is None
        return without or target.os is OperatingSystem.MACOS

    def told_of(self, target: Target) -> str | None:
        """Return what to know of a build for the target's backend, where that is another than CUDA; None: no such."""
        name = target.backend.value
        return self.elsewhere.get(name, self.elsewhere.get(f"{name} on {target.os.value}"))

    def wheels_are_for_cuda(self, target: Target) -> bool:
        """Return whether wheels, where there are any, are of no use on the target."""
        return "cuda-toolkit" in self.needs and target.backend in _WITHOUT_CUDA

    def on(self, target: Target | None) -> tuple[str, ...]:
        """Return what the build takes on a target: for ROCm its own toolkit in the place of CUDA's."""
        if target is None or self.told_of(target) is None:
            return self.needs
        found = ("rocm-toolkit" if key == "cuda-toolkit" else key for key in self.needs)
        return tuple(key for key in found if key != "rocm-toolkit" or target.backend is Backend.ROCM)


@dataclass(frozen=True, slots=True)
class WheelFacts:
    """What the shipped tables say of wheels."""

    builds: tuple[_Build, ...]
    devices: tuple[Devices, ...]
    kernels: tuple[KernelSet, ...]
    families: tuple[Family, ...]
    needs: Mapping[str, tuple[BuildNeed, ...]]

    def build_label(self, package: str, version: Version, target: Target) -> str | None:
        """Return the build label of the default index's wheel for ``target``, None where it is not known."""
        for item in self.builds:
            if item.package != package or item.os != target.os.value or target.arch.value not in item.arch:
                continue
            if contains(item.version, version):
                return item.label
        return None

    def torch_for_cuda(self, cuda: int, target: Target) -> str | None:
        """Return the newest releases of torch that the default index has for a CUDA major, as a specifier."""
        rows = (item for item in self.builds if item.package == "torch" and item.os == target.os.value)
        fitting = [item.version for item in rows if target.arch.value in item.arch and _major(item.label) == cuda]
        return fitting[-1] if fitting else None

    def devices_of(self, package: str, version: Version, target: Target) -> Devices | None:
        """Return what the libraries of a wheel for ``target`` are for, None where it is not known."""
        rows = (item for item in self.devices if item.speaks_of(package, target))
        return next((item for item in rows if contains(item.version, version)), None)

    def kernel_set(self, package: str, label: str, version: Version, arch: str) -> KernelSet | None:
        """Return the architectures of a build, None where they are not known."""
        for item in self.kernels:
            fits = item.package == package and item.label == label and contains(item.version, version)
            if fits and (not item.arch or arch in item.arch):
                return item
        return None

    @property
    def substitutes(self) -> Mapping[NormalizedName, NormalizedName]:
        """The known substitutes, by the name of what they stand in for."""
        rows = (row for rows in self.needs.values() for row in rows if row.substitute)
        return {canonicalize_name(row.package): canonicalize_name(row.substitute) for row in rows}

    def build_need(self, package: str, version: Version, target: Target | None = None) -> BuildNeed | None:
        """Return what building that version takes on the target, None where it is not known."""
        python = Version(target.python_version) if target else None
        for item in self.needs.get(package, ()):
            if contains(item.version, version) and (not item.python or (python and contains(item.python, python))):
                return item
        return None

    def failing(self, package: str, version: str) -> BuildNeed | None:
        """Return why no build of that version can succeed on any Python, None where one may; no version: not known."""
        need = self.build_need(package, Version(version)) if version else None
        return need if need is not None and need.fails else None


@lru_cache(maxsize=1)
def shipped_wheel_facts() -> WheelFacts:
    """Return the tables of ``advisories/data/wheels.toml`` and ``build-needs.toml``."""
    wheels = data_file("wheels")
    needs: dict[str, tuple[BuildNeed, ...]] = {}
    for row in data_file("build-needs")["need"]:
        texts = {key: row.get(key, "") for key in ("version", "instead", "python", "fails", "lacks", "substitute")}
        need = BuildNeed(row["package"], tuple(row["needs"]), elsewhere=row.get("elsewhere", {}), **texts)
        needs[need.package] = (*needs.get(need.package, ()), need)
    return WheelFacts(
        builds=tuple(
            _Build(row["package"], row["os"], tuple(row["arch"]), row["version"], row["label"])
            for row in wheels["build"]
        ),
        devices=tuple(
            Devices(
                row["package"],
                row["version"],
                tuple(row["backends"]),
                row["evidence"],
                row.get("os", ""),
                tuple(row.get("arch", ())),
                tuple(row.get("cards", ())),
                row.get("needs", ""),
            )
            for row in wheels["devices"]
        ),
        kernels=tuple(
            KernelSet(
                row["package"],
                row["label"],
                row.get("version", ""),
                tuple(row["architectures"]),
                row.get("ptx"),
                tuple(row.get("arch", ())),
                row["evidence"],
                row.get("flaw", ""),
            )
            for row in wheels["kernels"]
        ),
        families=tuple(Family(**_frozen(row)) for row in wheels["family"]),
        needs=needs,
    )


def _frozen(row: Mapping[str, Any]) -> dict[str, Any]:
    return {key: tuple(value) if isinstance(value, list) else value for key, value in row.items()}


def code_of(architectures: tuple[str, ...], ptx: str | None = None) -> GpuCode:
    """Return the code that a list such as ``torch.cuda.get_arch_list()`` speaks of."""
    listed_ptx = tuple(item for item in architectures if item.startswith("compute_"))
    more = (f"compute_{ptx.partition('_')[2]}",) if ptx else ()
    return GpuCode(
        sass=tuple(item for item in architectures if item.startswith("sm_")),
        ptx=(*listed_ptx, *more),
        amd=tuple(item.partition(":")[0] for item in architectures if item.startswith("gfx")),
    )


def builds_for(card: str, arch: str | None = None) -> tuple[str, ...]:
    """Return the labels of torch's builds that run on ``card`` (on machines of ``arch``), the oldest release first."""
    fits = (item.label for item in _kernels(arch) if not item.flaw and _has_code(item, card))
    return tuple(sorted(dict.fromkeys(fits), key=_release_of))


def _kernels(arch: str | None) -> list[KernelSet]:
    rows = shipped_wheel_facts().kernels
    return [item for item in rows if item.package == "torch" and (arch is None or not item.arch or arch in item.arch)]


def _has_code(kernels: KernelSet, card: str) -> bool:
    return code_of(kernels.architectures, kernels.ptx).runs_on(card) is True


def has_kernels(label: str, card: str, arch: str | None) -> bool:
    """Return whether builds of a label have machine code for a card, and not only PTX that its driver compiles."""
    rows = [item for item in _kernels(arch) if item.label == label and not item.flaw]
    return any(code_of(item.architectures).runs_on(card) is True for item in rows)


def _major(label: str) -> int | None:
    build = read_label(label)
    return build.release[0] if build is not None and build.backend is Backend.CUDA and build.release else None


def _release_of(label: str) -> tuple[int, ...]:
    build = read_label(label)
    return build.release if build is not None else ()


def labels_with(torch: Version) -> tuple[str, ...]:
    """Return the labels of PyTorch's indexes that are known to have a release of torch."""
    release = Version(f"{torch.major}.{torch.minor}")
    return tuple(life.name for life in torch_labels().values() if life.has(release))


def advice_for_torch(card: str, arch: str | None = None) -> str:
    """Return what to install: ``take torch>=2.7 from the cu128 index or a newer one, and ...``."""
    labels = builds_for(card, arch)
    together = "and the torchaudio and torchvision of the same release and label"
    if not labels:
        return f"take a build of torch with {card}, {together}"
    known = sorted({item.label for item in _kernels(arch) if item.label[:2] == labels[0][:2]}, key=_release_of)
    if labels[-1] != known[-1]:
        # Newer builds leave the card out: of those that do not, the one that goes on longest.
        best = max(labels, key=lambda label: max(torches_for(label, card, arch), default=Version("0")))
        last = max(torches_for(best, card, arch), default=None)
        which = f"torch up to {last}" if last else "torch"
        return with_indexes(f"take {which} from the {best} index, {together}: later builds leave the card out", best)
    # From here on, every label has code for it.
    kept = next(label for at, label in enumerate(labels) if labels[at:] == tuple(known[known.index(label) :]))
    first = min(torches_for(kept, card, arch), default=None)
    which = f"torch>={first}" if first else "torch"
    return with_indexes(f"take {which} from the {kept} index or a newer one, {together}", kept)


def torches_for(label: str, card: str, arch: str | None) -> list[Version]:
    """Return the minor releases of torch whose builds of a label are known to have code for a card, and no flaw."""
    life = torch_labels().get(label)
    rows = [item for item in _kernels(arch) if item.label == label and not item.flaw and _has_code(item, card)]
    if life is None:
        return []
    minors = [Version(f"1.{minor}") for minor in range(10, 14)]
    minors += [Version(f"2.{minor}") for minor in range(life.newest.minor + 1)]
    return [each for each in minors if life.has(each) and any(contains(item.version, each) for item in rows)]
