"""A build for another GPU backend than the target's.

## What it does

Reads what a planned or installed wheel was really built for, and compares it with the target's backend: a CPU or ROCm
build where the target has CUDA, a CUDA build of torch, onnxruntime-gpu, xformers or bitsandbytes where it has ROCm,
XPU, MPS or Core ML, of onnxruntime-gpu where it has DirectML. The build of a planned torch is read out of
`torch/version.py` inside the wheel, that of what needs torch from the names of its libraries (xformers writes it down
itself), that of others from their names (`cupy-cuda12x`) and from NVIDIA's libraries that they require; where that
cannot be done, shipped tables answer, which end with the last release that was read.

What is advised in the place of a distribution is tried first: it has a wheel for the target's Python and system, and
its maker names the card; what it needs beside that is said.

## Why is this bad

Everything installs, `torch.cuda.is_available()` is False, and the work runs on the CPU or stops.

## Example

Every Windows wheel of torch on the default index is `+cpu`; so are the Linux aarch64 ones before 2.11. Its Linux x86_64
wheels are CUDA builds, which no AMD or Intel card can use.

## References

- PyTorch, Get started: https://pytorch.org/get-started/locally/
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from envdoctor.diagnose.examination import card_architectures, chain_to, silent
from envdoctor.diagnose.in_place_of import in_place_of, no_wheel
from envdoctor.diagnose.package_view import PackageView, Place, Scene, kept_by_image, scenes
from envdoctor.diagnose.remedies import with_indexes
from envdoctor.diagnose.rule import Rule
from envdoctor.diagnose.torch_choice import FROM_CONDA, advice_for_card, moved_too, way_through
from envdoctor.diagnose.torch_ways import BY_EXTRA
from envdoctor.diagnose.wheel_contents import devices_inside, devices_told, label_inside
from envdoctor.diagnose.wheel_facts import COMPANIONS, labels_with, shipped_wheel_facts
from envdoctor.model.build_label import read_label
from envdoctor.model.candidate import FileKind
from envdoctor.model.dataclass import dataclass
from envdoctor.model.finding import Evidence, Finding, Remedy, Severity, in_words
from envdoctor.model.index_url import label_of
from envdoctor.model.origin import DistributionOrigin
from envdoctor.model.target import Arch, Backend, OperatingSystem, Target, TargetProperty
from envdoctor.model.version_table import contains
from envdoctor.ports import IndexUnavailable, MetadataUnavailable, ProjectNotFound
from envdoctor.shipped import data_file

if TYPE_CHECKING:
    from packaging.version import Version

    from envdoctor.diagnose.examination import Examination
    from envdoctor.diagnose.wheel_facts import Devices
    from envdoctor.model.resolution import ResolvedPackage

_WORDS = {Backend.CUDA: "a CUDA build", Backend.ROCM: "a ROCm build", Backend.XPU: "an XPU build"}


@dataclass(frozen=True, slots=True)
class _Build:
    """What a package runs on."""

    made_for: str
    """``a CUDA build (cu128)``."""
    backends: frozenset[Backend]
    cpu_only: bool
    evidence: Evidence


def _label(examination: Examination, view: PackageView) -> tuple[str | None, str]:
    package = examination.resolution.get(view.name) if examination.resolution and view.place is Place.PLAN else None
    if view.name == "torch" and package is not None and not view.other_build:
        label = label_inside(examination.archives, package)
        if label is not None:
            return label, f"torch/version.py in {package.file.filename}"
    return view.label, view.label_source


def _devices(examination: Examination, view: PackageView, target: Target) -> Devices | None:
    """Return what a package's libraries are for: as the planned wheel says, else as the tables do."""
    package = examination.resolution.get(view.name) if examination.resolution and view.place is Place.PLAN else None
    known = shipped_wheel_facts().devices_of(view.name, view.version, target)
    if (
        package is None
        # torch is judged by its label, these beside it.
        or view.name in ("torch", *COMPANIONS)
        or package.file.filename.endswith("-any.whl")
        or view.source_only
    ):
        return known
    if target.backend is Backend.CUDA:
        return known  # What nobody knows is for CUDA, as nearly all is: no wheel need be opened.
    tabled = any(item.package == view.name for item in shipped_wheel_facts().devices)
    if tabled or _wants_torch(package):
        known = devices_inside(examination.archives, package, tabled=tabled) or known
    return known or devices_told(package)


def _wants_torch(package: ResolvedPackage) -> bool:
    return any(item.name == "torch" for item in package.dependencies)


def _build_of(examination: Examination, view: PackageView, target: Target) -> _Build | None:
    """Return what a package was built for, None where that is not known."""
    known = None if view.other_build else _devices(examination, view, target)
    if known is not None and not view.source_only:
        backends = frozenset(Backend(item) for item in known.backends)
        words = " and ".join(_WORDS[Backend(item)] for item in known.backends) or "a CPU-only build"
        where = "what is known of its wheels" if known in shipped_wheel_facts().devices else "read in the plan"
        return _Build(words, backends, not backends, Evidence(known.evidence, where))
    if view.name not in ("torch", "ctranslate2"):
        return None
    label, source = _label(examination, view)
    build = read_label(label)
    if build is None:
        return None
    if build.backend is Backend.CPU:
        # Wheels for macOS run on MPS, and a model is converted to Core ML on the CPU.
        mac = {Backend.MPS} if target.os is OperatingSystem.MACOS else set()
        backends, words = frozenset({Backend.COREML, *mac}), "a CPU-only build"
    else:
        both = {Backend.CUDA, Backend.ZLUDA} if build.backend is Backend.CUDA else {build.backend}
        backends, words = frozenset(both), f"{_WORDS[build.backend]} ({label})"
    return _Build(words, backends, build.backend is Backend.CPU, Evidence(f"build: {label}", source))


def _remedy(examination: Examination, name: str, version: Version, target: Target) -> Remedy:
    if name == "ctranslate2":
        return Remedy("there is no CUDA wheel for aarch64: place faster-whisper on the CPU, or build CTranslate2")
    if name == "torch":
        return Remedy(f"{_torch_for(examination, target, version)}{kept_by_image(examination, name)}")
    if name == "bitsandbytes":
        return Remedy(_newer_bitsandbytes(examination, target))
    advice = in_place_of(examination, name, target)
    return Remedy(f"{advice}{_coming_with(examination, name)}" if advice.startswith("leave it out") else advice)


def _coming_with(examination: Examination, name: str) -> str:
    """Return with what a planned package comes that no line asks for by name; empty where one does."""
    chain = chain_to(examination.resolution, name) if examination.resolution is not None else None
    return (
        f"; it comes with {chain}" if chain is not None and chain.root is not None and chain.root.name != name else ""
    )


def _torch_for(examination: Examination, target: Target, version: Version) -> str:
    three = "torch, torchaudio and torchvision"
    if target.backend is Backend.ZLUDA:
        return with_indexes(f"take the CUDA 11.8 builds of {three} from the cu118 index, 2.7.x is the last", "cu118")
    cards = card_architectures(examination)
    way = way_through(examination, target, cards)
    if way is not None and way.index is not None and (label_of(way.index.url) or target.backend is Backend.CUDA):
        return f"take {three} of {way.said}"
    if cards and target.backend is Backend.ROCM:
        return advice_for_card(cards[0], examination)
    if target.backend is Backend.ROCM and (target.os is OperatingSystem.WINDOWS or target.wsl):
        least = next(row["torch"] for row in data_file("torch-ways")["way"] if row.get("index") == BY_EXTRA)
        own = f"AMD's own index (repo.amd.com/rocm/whl-multi-arch, torch{least}), with the extra for the card"
        return f"take {three} of {own}{moved_too(examination, least)}"
    if target.backend is Backend.ROCM:
        return f"take {three} from one of PyTorch's ROCm indexes ({_address('rocm', 'rocmX.Y', version)}"
    if target.backend is Backend.XPU:
        index = "PyTorch's index for Intel (https://download.pytorch.org/whl/xpu)"
        return f"take {three} from {index}, 2.6 and later{moved_too(examination, '>=2.6')}"
    if target.backend in (Backend.MPS, Backend.COREML):
        return f"take {three} without a build label: wheels for macOS carry none"
    if target.arch.value == "aarch64":
        index = "the builds of the cu130 index (https://download.pytorch.org/whl/cu130, 2.9 and later)"
        return f"take torch 2.11 or later, or {index}{moved_too(examination, '>=2.9')}"
    return f"take {three} from one of PyTorch's CUDA indexes ({_address('cu', 'cuXYZ', version)}"


def _address(kind: str, pattern: str, version: Version) -> str:
    """Return the address of an index, and the labels with which a release of torch is there."""
    labels = [name for name in labels_with(version) if name.startswith(kind)]
    if not labels:
        return f"https://download.pytorch.org/whl/{pattern})"
    there = f"torch {version.public} is there with {in_words(labels)}, and `--gpu NAME` tells which is for the card"
    return f"https://download.pytorch.org/whl/{labels[-1]}); {there}"


def _newer_bitsandbytes(examination: Examination, target: Target) -> str:
    rows = [item for item in shipped_wheel_facts().devices if item.speaks_of("bitsandbytes", target)]
    fitting = [item.version for item in rows if target.backend.value in item.backends]
    if not fitting:
        return f"leave it out: no release that is known has a library for {target.backend.value} here"
    # Rows follow one another: from where the first begins to where the last ends.
    asked = ",".join((fitting[0].partition(",")[0], fitting[-1].rpartition(",")[2]))
    if against := no_wheel(examination, "bitsandbytes", target, asked):
        return f"leave it out: bitsandbytes{asked}, which has a library for {target.backend.value}, {against}"
    needs = _torch_asked_by(examination, asked)
    return f"take bitsandbytes{asked}, whose wheels have a library for {target.backend.value}{needs}"


def _torch_asked_by(examination: Examination, fitting: str) -> str:
    """Say which torch the newest of those releases asks for, where the one of the plan is none."""
    index, torch = examination.index, examination.resolution.get("torch") if examination.resolution else None
    if index is None or torch is None:
        return ""
    try:
        files = index.page(canonicalize_name("bitsandbytes")).files
        wheels = [file for file in files if file.kind is FileKind.WHEEL and contains(fitting, file.version)]
        newest = max(wheels, key=lambda file: file.version, default=None)
        lines = map(Requirement, index.metadata(newest).requires_dist if newest is not None else ())
        asked = next((line.specifier for line in lines if line.name == "torch" and line.marker is None), None)
    except (IndexUnavailable, MetadataUnavailable, ProjectNotFound, InvalidRequirement):
        return ""
    fits = asked is None or asked.contains(torch.version, prereleases=True)
    return "" if fits else f"; it asks for torch{asked}, and the plan has {torch.version}"


def _finding(examination: Examination, view: PackageView, build: _Build, target: Target) -> Finding:
    # Where an index did not answer, its build may be the one that an installer would take.
    unsure = view.index == "default" and any(True for _ in silent(examination)) and view.name == "torch"
    weak = unsure or (build.cpu_only and view.name != "torch")
    resolution = examination.resolution if view.place is Place.PLAN else None
    by_conda = view.other_build and build.cpu_only
    return RULE.finding(
        subject=view.name,
        message=(
            f"`{view.name}` {view.version} is {build.made_for} on {target.os.value} {target.arch.value}, "
            f"and the target's backend is {target.backend.value}"
        ),
        severity=Severity.WARNING if weak else RULE.severity,
        evidence=(build.evidence,),
        remedy=Remedy(FROM_CONDA) if by_conda else _remedy(examination, view.name, view.version, target),
        location=chain_to(resolution, view.name).location if resolution is not None else None,
        packages=(view.name,),
    )


def _find(examination: Examination) -> Iterator[Finding]:
    target = examination.target
    if target is None or target.backend in (Backend.CPU, Backend.UNKNOWN):
        return
    for scene in scenes(examination, shipped_wheel_facts()):
        if scene.place is Place.PLAN or (scene.place is Place.INSTALLED and _by_backend(examination)):
            yield from _in_scene(examination, scene, target)


def _by_backend(examination: Examination) -> bool:
    """Return whether an environment is judged by a backend that was named: where cards are known, GPU102 speaks."""
    return TargetProperty.BACKEND not in examination.assumed and not examination.facts.of_cards()


def _in_scene(examination: Examination, scene: Scene, target: Target) -> Iterator[Finding]:
    installed = scene.place is Place.INSTALLED
    wrong: dict[str, tuple[PackageView, _Build]] = {}
    for view in scene.packages.values():
        if view.name == "ctranslate2" and target.backend is not Backend.CUDA:
            continue
        build = _build_of(examination, view, target)
        if build is None or target.backend in build.backends:
            continue
        if target.backend is Backend.ZLUDA and view.name != "torch":
            continue
        if target.backend is Backend.DIRECTML and view.name in ("torch", "bitsandbytes"):
            continue  # torch-directml takes torch's CPU build, and bitsandbytes has a library for the CPU.
        if installed and build.cpu_only and (target.os is OperatingSystem.WINDOWS or target.arch is Arch.AARCH64):
            continue  # ADV001 and ADV002 say it, with where the right build is
        wrong[view.name] = view, build
    others = wrong.keys() - {"torch"}
    for view, build in wrong.values():
        if view.name not in others or not _comes_with(examination, view, others):
            yield _finding(examination, view, build, target)


def _comes_with(examination: Examination, view: PackageView, others: Collection[str]) -> bool:
    """Return whether only others of which the same is said ask for a planned package: it goes when they go."""
    planned = view.place is Place.PLAN and examination.resolution is not None
    package = examination.resolution.get(view.name) if planned and examination.resolution is not None else None
    origins = [item.origin for item in package.wanted_by] if package is not None else []
    owners = [canonicalize_name(item.name) for item in origins if isinstance(item, DistributionOrigin)]
    return bool(owners) and len(owners) == len(origins) and all(name in others for name in owners)


RULE = Rule.of(__name__, __doc__, Severity.ERROR, _find, needs={"target"}, ranks=Severity.WARNING)
