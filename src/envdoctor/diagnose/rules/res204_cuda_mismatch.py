"""Parts that were built for different CUDA or cuDNN majors.

## What it does

Reports parts of one resolution that were built for different CUDA or cuDNN majors: onnxruntime-gpu beside torch,
ctranslate2's cuDNN beside torch's, `nvidia-*-cu12` beside `nvidia-*-cu13`.

## Why is this bad

One of them finds no library that it can load and falls back to the CPU, or two copies of one library meet in a
process, which then aborts.

## Example

onnxruntime-gpu 1.31 needs CUDA 13; torch 2.7 brings CUDA 12.

## References

- ONNX Runtime, CUDA execution provider: https://onnxruntime.ai/docs/execution-providers/CUDA-ExecutionProvider.html
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from packaging.version import Version

from envdoctor.diagnose.advisories.vocabulary import shipped_tables
from envdoctor.diagnose.examination import Examination
from envdoctor.diagnose.package_view import Scene
from envdoctor.diagnose.pairing import misfits, plan_scene
from envdoctor.diagnose.rule import Rule
from envdoctor.model.finding import Evidence, Finding, Remedy, Severity
from envdoctor.model.target import Backend
from envdoctor.model.version_table import contains

# What a process loads. Others of NVIDIA's packages bring files for several CUDA releases side by side.
_NVIDIA = re.compile(
    r"nvidia-(?:cublas|cuda-(?:runtime|nvrtc|cupti)|cudnn|cufft|curand|cusolver|cusparse|cusparselt|nccl|nvjitlink|"
    r"nvtx|nvshmem)-cu(\d{2})"
)


def _finding(packages: Sequence[str], message: str, evidence: tuple[Evidence, ...], remedy: str) -> Finding:
    return RULE.finding(
        subject=packages[0],
        message=message,
        evidence=evidence,
        remedy=Remedy(remedy),
        packages=tuple(packages),
    )


def _onnxruntime(scene: Scene) -> Iterator[Finding]:
    table = shipped_tables()["onnxruntime-gpu-cuda"]
    gpu, torch = scene.get("onnxruntime-gpu"), scene.get("torch")
    wanted = table.wanted(gpu.version) if gpu else None
    if gpu is None or torch is None or torch.cuda_major is None or wanted is None:
        return
    if not contains(wanted, Version(str(torch.cuda_major))):
        major = wanted.removeprefix("==")
        yield _finding(
            (gpu.name, torch.name),
            f"`onnxruntime-gpu` {gpu.version} needs CUDA {major}, "
            f"and `torch` {torch.version} brings CUDA {torch.cuda_major}",
            (
                Evidence(table.evidence, "table onnxruntime-gpu-cuda"),
                Evidence(f"torch build {torch.label}", torch.label_source),
            ),
            f"take the `onnxruntime-gpu` that was built for CUDA {torch.cuda_major}",
        )


def _nvidia(scene: Scene) -> Iterator[Finding]:
    majors: dict[str, list[str]] = {}
    for name in scene.packages:
        if match := _NVIDIA.fullmatch(name):
            majors.setdefault(match.group(1), []).append(name)
    if len(majors) > 1:
        sides = " beside ".join(f"CUDA {major} ({', '.join(names[:3])})" for major, names in sorted(majors.items()))
        yield _finding(
            sorted(name for names in majors.values() for name in names),
            f"the resolution has libraries of {sides}",
            tuple(Evidence(", ".join(names), f"CUDA {major}") for major, names in sorted(majors.items())),
            "keep the libraries that torch asks for",
        )


def _find(examination: Examination) -> Iterator[Finding]:
    scene = plan_scene(examination)
    if scene is None or examination.target is None or examination.target.backend is not Backend.CUDA:
        return
    yield from _onnxruntime(scene)
    yield from _nvidia(scene)
    if examination.target.arch.value != "x86_64":
        return
    for item in misfits(scene, ("ctranslate2-torch",)):
        cudnn = "9" if item.wanted.startswith(">=") else "8"
        yield _finding(
            (item.subject.name, item.object.name),
            f"`ctranslate2` {item.subject.version} loads cuDNN {cudnn}, "
            f"and `torch` {item.object.version} brings another",
            (Evidence(item.table.evidence, "table ctranslate2-torch"),),
            "ctranslate2 4.4.0 goes with torch below 2.4, 4.5.0 and later with torch 2.4 and later",
        )


RULE = Rule.of(__name__, __doc__, Severity.WARNING, _find, needs={"resolution", "target"}, ranks=True)
