"""A CPU build where the target has a GPU.

## What it does

Reads what build a planned wheel really is, and reports a CPU build where the target has a GPU backend that needs
CUDA or HIP. The build is read out of `torch/version.py` inside the wheel; where that cannot be done, a shipped table
of what is known of the default index's wheels answers.

## Why is this bad

Everything installs, `torch.cuda.is_available()` is False, and the work runs on the CPU or stops.

## Example

Every Windows wheel of torch on the default index is `+cpu`; so are the Linux aarch64 ones before 2.11.

## References

- PyTorch, Get started: https://pytorch.org/get-started/locally/
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from envdoctor.diagnose.chains import chain_to
from envdoctor.diagnose.pairing import plan_scene
from envdoctor.diagnose.rule import Rule
from envdoctor.model.candidate import FileKind
from envdoctor.model.finding import Evidence, Finding, Remedy, Severity
from envdoctor.model.target import Backend
from envdoctor.ports import ArchiveReader, IndexUnavailable, MetadataUnavailable

if TYPE_CHECKING:
    from envdoctor.diagnose.examination import Examination
    from envdoctor.diagnose.package_view import PackageView
    from envdoctor.model.resolution import ResolvedPackage

_NEEDS_GPU_BUILD = (Backend.CUDA, Backend.ZLUDA, Backend.ROCM)
_VERSION = re.compile(r"__version__\s*=\s*['\"][^'\"+]*\+?([\w.]*)['\"]")
_CUDA = re.compile(r"^cuda\s*(?::[^=]*)?=\s*(?:['\"]([\d.]+)['\"]|None)", re.MULTILINE)
_HIP = re.compile(r"^hip\s*(?::[^=]*)?=\s*['\"]([\d.]+)", re.MULTILINE)


def _read_build(archives: ArchiveReader, package: ResolvedPackage) -> str | None:
    """Return ``cpu``, ``cu126`` or ``rocm6.3`` as torch/version.py says; None where it says nothing."""
    try:
        data = archives.read(package.file, "torch/version.py")
    except (MetadataUnavailable, IndexUnavailable):
        return None
    text = data.decode("utf-8", "replace") if data else ""
    if hip := _HIP.search(text):
        return f"rocm{hip.group(1)}"
    cuda = _CUDA.search(text)
    if cuda is None:
        return None
    if cuda.group(1):
        return "cu" + "".join(cuda.group(1).split(".")[:2])
    label = _VERSION.search(text)
    return label.group(1) if label and label.group(1) else "cpu"


def _build(examination: Examination, view: PackageView) -> tuple[str | None, str]:
    package = examination.resolution.get(view.name) if examination.resolution else None
    readable = package is not None and package.file.kind is FileKind.WHEEL and not package.file.stand_in
    if view.name == "torch" and readable and package is not None and examination.archives is not None:
        label = _read_build(examination.archives, package)
        if label is not None:
            return label, f"torch/version.py in {package.file.filename}"
    return view.label, view.label_source


def _remedy(examination: Examination, name: str) -> Remedy:
    target = examination.target
    if name == "ctranslate2":
        return Remedy("there is no CUDA wheel for aarch64: place faster-whisper on the CPU, or build CTranslate2")
    if target and target.backend is Backend.ZLUDA:
        return Remedy(
            "take the CUDA 11.8 builds of torch, torchaudio and torchvision from the cu118 index (2.7.x is the last)"
        )
    if target and target.backend is Backend.ROCM:
        return Remedy("take torch, torchaudio and torchvision from a ROCm index")
    if target and target.arch.value == "aarch64":
        return Remedy("take torch 2.11 or later, or the builds of the cu130 index")
    return Remedy("take torch, torchaudio and torchvision from a CUDA index")


def _find(examination: Examination) -> Iterator[Finding]:
    scene, target, resolution = plan_scene(examination), examination.target, examination.resolution
    if scene is None or target is None or resolution is None or target.backend not in _NEEDS_GPU_BUILD:
        return
    for name in ("torch", "ctranslate2"):
        view = scene.get(name)
        if view is None or (name == "ctranslate2" and target.backend is not Backend.CUDA):
            continue
        label, source = _build(examination, view)
        if label != "cpu":
            continue
        chain = chain_to(resolution, name)
        yield Finding(
            rule=RULE.code,
            name=RULE.name,
            severity=RULE.severity if name == "torch" else Severity.WARNING,
            subject=name,
            message=(
                f"`{name}` {view.version} is a CPU-only build on {target.os.value} {target.arch.value}, "
                f"and the target's backend is {target.backend.value}"
            ),
            evidence=(Evidence(f"build: {label}", source),),
            remedy=_remedy(examination, name),
            location=chain.location,
        )


RULE = Rule(
    code="RES202",
    name="cpu-only-build",
    severity=Severity.ERROR,
    summary="A CPU build where the target has a GPU",
    find=_find,
    documentation=__doc__ or "",
    needs=frozenset({"resolution", "target"}),
    ranks=True,
)
