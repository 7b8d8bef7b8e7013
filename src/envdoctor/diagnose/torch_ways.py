"""The ways from a card to a torch that runs on it, best first, with why each can or cannot be gone.

The table is ``advisories/data/torch-ways.toml``; which label of PyTorch's indexes has kernels for a card is told by the
tables of wheels and labels.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from fnmatch import fnmatch
from typing import TYPE_CHECKING, Any

from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

from envdoctor.diagnose.wheel_facts import builds_for, has_kernels, shipped_wheel_facts, torches_for
from envdoctor.model.build_label import read_label
from envdoctor.model.dataclass import dataclass
from envdoctor.model.profile import BoundIndex
from envdoctor.model.target import Backend
from envdoctor.shipped import data_file, torch_labels

if TYPE_CHECKING:
    from envdoctor.model.target import Target

__all__ = ["BY_EXTRA", "Card", "TorchChoice", "TorchWay", "ways_of"]

BY_EXTRA = "amd-rocm-multi-arch"
"""AMD's index, as the table calls it, whose torch has a card's kernels by an extra."""
_PATCHES = range(4)
_IN_WSL = ("gfx110", "gfx115", "gfx120")
_FLOORS = {13: "580", 12: "525", 11: "450"}
"""The oldest driver of each CUDA major: NVIDIA, CUDA compatibility, minor version compatibility."""
_DRIVERS_OF_CARDS = {"sm_100": "570", "sm_120": "570", "sm_110": "580", "sm_121": "580"}
"""The first driver branch that knows a card which is newer than the CUDA of some builds: NVIDIA's release notes."""
_PYTHONS = tuple(
    (Version(first), SpecifierSet(pythons))
    for first, pythons in (
        ("2.15", ">=3.11,<3.16"),
        ("2.9", ">=3.10,<3.15"),
        ("2.5", ">=3.9,<3.14"),
        ("2.2", ">=3.8,<3.13"),
        ("2.0", ">=3.8,<3.12"),
    )
)
"""From which torch on which Pythons have wheels; file names of the default index."""


@dataclass(frozen=True, slots=True)
class Card:
    """A card as far as it is known."""

    vendor: str
    """``nvidia``, ``amd``, ``intel`` or ``apple``; empty where there is none."""
    architecture: str = ""
    """``sm_120``, ``gfx1100``."""
    name: str = ""
    cuda: str = ""
    """The newest CUDA that its driver supports: ``12.4``."""
    jetpack: str = ""
    """``7.2`` of a Jetson board, where it is known."""

    def __str__(self) -> str:
        known = (
            f"{self.name} ({self.architecture})" if self.name and self.architecture else self.name or self.architecture
        )
        return known or {"nvidia": "an NVIDIA card", "amd": "an AMD card", "intel": "an Intel card"}.get(
            self.vendor, "no card that is known"
        )


@dataclass(frozen=True, slots=True)
class TorchWay:
    """One way to a torch for a card."""

    backend: Backend
    words: str
    index: BoundIndex | None = None
    """Where torch and what belongs to it come from; None: the default index."""
    requires: tuple[str, ...] = ()
    """What is asked for beside the project's own lines."""
    because: str = ""
    against: str = ""
    """Why it cannot be gone; empty where it can."""
    evidence: str = ""
    moves: bool = False
    """It has no torch that is asked for: torch has to move."""

    @property
    def said(self) -> str:
        """The way without its backend."""
        place = f", index {self.index.url}" if self.index is not None else ""
        asked = f", {' and '.join(f'`{item}`' for item in self.requires)}" if self.requires else ""
        why = self.against or self.because
        return f"{self.words}{asked}{place}{f' ({why})' if why else ''}"

    def __str__(self) -> str:
        return f"{self.backend.value}: {self.said}"


@dataclass(frozen=True, slots=True)
class TorchChoice:
    """The card that was judged, and the ways to a torch for it, best first."""

    card: Card
    ways: tuple[TorchWay, ...]

    @property
    def taken(self) -> TorchWay | None:
        """The first way that can be gone; None where torch has nothing for the system."""
        return next((way for way in self.ways if not way.against), None)

    def __str__(self) -> str:
        taken = self.taken
        if taken is None:
            return f"torch for {self.card}: nothing is known"
        others = [str(way) for way in self.ways if way is not taken]
        rest = f"; else {'; '.join(others)}" if others else ""
        return f"torch for {self.card}: {taken}{rest}"


def ways_of(card: Card, target: Target, wanted: SpecifierSet) -> tuple[TorchWay, ...]:
    """Return the ways of a card's vendor on the target's system, best first; ``wanted``: the torch that is asked for.

    The last is the CPU. Ways that cannot be gone are among them, with the reason.
    """
    found: list[TorchWay] = []
    for row in data_file("torch-ways")["way"]:
        if target.os.value not in row["os"] or row["vendor"] not in ("", card.vendor):
            continue
        if target.arch.value not in row.get("arch", (target.arch.value,)):
            continue
        if row.get("special") and not _is_of(card, row["cards"]):
            continue
        if row["backend"] == "directml" and card.vendor not in ("amd", "intel", "nvidia"):
            continue
        if row["backend"] == "cpu" and any(way.backend is Backend.CPU and not way.against for way in found):
            continue
        way = replace(_way(row, card, target, wanted), evidence=row["evidence"])
        if way.backend is not Backend.CPU or not way.against:
            found.append(way)
    return tuple(found)


def _way(row: Mapping[str, Any], card: Card, target: Target, wanted: SpecifierSet) -> TorchWay:
    backend = Backend(row["backend"])
    against = _against(row, card, target)
    if against:
        return TorchWay(backend, row["words"], against=against)
    if "labels" in row:
        return _by_label(row, card, target, wanted)
    told = [_needs(row, target)]
    if _is_of(card, row.get("lacking", ())):
        told = [f"{told[0]} {row['lacks']}"]
    there = _torches(row)
    moves = bool(there) and not any(_meet(SpecifierSet(each), wanted) for each in there)
    if moves:
        has = f"torch{' or '.join(there)}"
        told.insert(0, f"torch has to move: the project asks for torch{wanted}, and this way has {has}")
    index = _pytorch(row["label"]) if "label" in row else _own_index(row, card)
    requires = tuple(_bounded(item.format(gpu=card.architecture), row) for item in row.get("requires", ()))
    if index is not None and there and not any(item.startswith("torch") for item in requires):
        requires = (_bounded("torch", row), *requires)
    return TorchWay(backend, row["words"], index, requires, "; ".join(filter(None, told)), moves=moves)


def _torches(row: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the releases of torch that a row has, as specifiers of which one holds; none where it says nothing."""
    found = row.get("torch", ())
    return (found,) if isinstance(found, str) else tuple(found)


def _bounded(requirement: str, row: Mapping[str, Any]) -> str:
    """Return a requirement with the releases of torch that a row has, where it asks for torch out of its own index."""
    of_torch = requirement == "torch" or requirement.startswith("torch[")
    one = _torches(row)
    return f"{requirement}{one[0]}" if of_torch and len(one) == 1 else requirement


def _is_of(card: Card, patterns: Iterable[str]) -> bool:
    return any(fnmatch(card.architecture, pattern) for pattern in patterns)


def _needs(row: Mapping[str, Any], target: Target) -> str:
    needs = row.get("needs", {}).get(target.os.value, "")
    return f"needs {needs}" if needs else ""


def _against(row: Mapping[str, Any], card: Card, target: Target) -> str:
    """Return why a row cannot hold for card and target; empty where it can."""
    if "python" in row and not SpecifierSet(row["python"]).contains(target.python_version):
        return f"for Python {row['python']}, and it is {target.python_version}"
    if "jetpack" in row and card.jetpack and card.jetpack.partition(".")[0] != row["jetpack"]:
        return f"for JetPack {row['jetpack']}, and it is {card.jetpack}"
    if target.wsl and row["backend"] == "rocm" and not card.architecture.startswith(_IN_WSL):
        return f"in WSL ROCm knows RDNA3 and RDNA4 alone, and the card is {card.architecture or 'not known'}"
    if "names" in row and not re.search(row["names"], card.name, re.IGNORECASE):
        return "not for this card: Arc, Core Ultra with Arc graphics and the Max series have builds"
    patterns = [*row.get("cards", ()), *row.get("more", {}).get(target.os.value, ())]
    if patterns and not card.architecture:
        return "the card's architecture is not known; `--gpu gfx1100` tells it"
    if patterns and not _is_of(card, patterns):
        return f"no builds are known for {card.architecture}"
    return ""


def _by_label(row: Mapping[str, Any], card: Card, target: Target, wanted: SpecifierSet) -> TorchWay:
    """Return the way through the label of PyTorch's indexes that suits card, driver, Python and the torch asked for."""
    backend = Backend(row["backend"])
    if not card.architecture:
        return TorchWay(backend, row["words"], against="the card's architecture is not known; `--gpu` tells it")
    arch = target.arch.value
    labels = [label for label in builds_for(card.architecture, arch) if label.startswith(row["labels"])]
    labels = [label for label in labels if label in torch_labels()]
    if not labels:
        return TorchWay(backend, row["words"], against=f"no build of PyTorch's own indexes is for {card.architecture}")
    driven = [label for label in labels if _driver_admits(label, card)]
    if not driven:
        against = f"the driver supports CUDA {card.cuda}, and kernels for {card.architecture} begin with {labels[0]}"
        return TorchWay(backend, row["words"], against=against)
    fitting = {label: _newest(label, card, target, wanted) for label in driven}
    asked = [label for label in driven if fitting[label] is not None]
    if asked:
        best = _best(asked, fitting, target)
        return TorchWay(backend, row["words"], _pytorch(best), because=_because(best, card, fitting[best], arch))
    free = {label: _newest(label, card, target, SpecifierSet()) for label in driven}
    known = [label for label in driven if free[label] is not None]
    if not known:
        against = f"no torch with kernels for {card.architecture} is known for Python {target.python_version}"
        return TorchWay(backend, row["words"], against=against)
    best = _best(known, free, target)
    releases = [each for label in known for each in torches_for(label, card.architecture, arch)]
    first = min((each for each in releases if _python_fits(each, target)), default=None)
    moved = (
        f"torch has to move: none of torch{wanted} has kernels for {card.architecture} and wheels for Python "
        f"{target.python_version}, from {first} on there are; "
    )
    return TorchWay(
        backend, row["words"], _pytorch(best), because=moved + _because(best, card, free[best], arch), moves=True
    )


def _best(labels: list[str], newest: Mapping[str, Version | None], target: Target) -> str:
    """Return the label with the newest torch; of several the one that the default index has, else the newest label."""
    top = max(version for label in labels if (version := newest[label]) is not None)
    equal = [label for label in labels if newest[label] == top]
    usual = shipped_wheel_facts().build_label("torch", top, target)
    return usual if usual in equal else equal[-1]


def _newest(label: str, card: Card, target: Target, wanted: SpecifierSet) -> Version | None:
    """Return the newest minor release of torch with that label which is asked for and has wheels for the Python."""
    releases = [
        each
        for each in torches_for(label, card.architecture, target.arch.value)
        if admits(wanted, each, label) and _python_fits(each, target)
    ]
    return max(releases, default=None)


def admits(wanted: SpecifierSet, minor: Version, label: str) -> bool:
    """Return whether bounds admit some patch release of a minor one, with the label of its build."""
    return any(wanted.contains(f"{minor}.{patch}+{label}", prereleases=True) for patch in _PATCHES)


def _python_fits(minor: Version, target: Target) -> bool:
    return next((spec.contains(target.python_version) for first, spec in _PYTHONS if minor >= first), True)


def _driver_admits(label: str, card: Card) -> bool:
    build = read_label(label)
    if build is None or build.backend is not Backend.CUDA or not card.cuda[:1].isdigit():
        return True
    return build.release[0] <= int(card.cuda.partition(".")[0])


def _because(label: str, card: Card, newest: Version | None, arch: str) -> str:
    build = read_label(label)
    floor = _FLOORS.get(build.release[0]) if build and build.backend is Backend.CUDA else None
    floor = max(floor, _DRIVERS_OF_CARDS.get(card.architecture, floor)) if floor else None
    driver = f"; needs driver {floor} or later" if floor and not card.cuda else ""
    own = has_kernels(label, card.architecture, arch)
    code = "kernels" if own else "no kernels but PTX, which the card's driver compiles,"
    return f"its wheels of torch {newest} have {code} for {card.architecture}{driver}"


def _meet(one: SpecifierSet, other: SpecifierSet) -> bool:
    """Return whether some release of torch is in both."""
    minors = [f"2.{minor}.{patch}" for minor in range(20) for patch in _PATCHES]
    return any(
        one.contains(each) and (other.contains(each) or other.contains(f"{each}+cu118", prereleases=True))
        for each in [*minors, "1.13.1"]
    )


def _pytorch(label: str) -> BoundIndex:
    row = data_file("torch-ways")["pytorch"]
    names = tuple(canonicalize_name(name) for name in row["packages"])
    return BoundIndex(f"pytorch-{label}", row["url"].format(label=label), names, local_label=label)


def _own_index(row: Mapping[str, Any], card: Card) -> BoundIndex | None:
    if "url" not in row:
        return None
    names = tuple(canonicalize_name(name.format(gpu=card.architecture)) for name in row["packages"])
    return BoundIndex(row["index"], row["url"], names, local_label=row.get("label"))
