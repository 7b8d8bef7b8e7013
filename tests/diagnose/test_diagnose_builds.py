"""What a build was made for, by its label or by what is known of the wheel, against the target and the cards."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from diagnose_fixtures import (
    MemoryArchives,
    MemoryIndex,
    by_distribution,
    examination_of,
    file_of,
    require,
    resolution_of,
    resolved,
    target_of,
)
from packaging.utils import canonicalize_name
from packaging.version import Version

from envdoctor.diagnose.advisories.remedy_choice import addressed
from envdoctor.diagnose.engine import examine
from envdoctor.diagnose.examination import Examination
from envdoctor.diagnose.torch_choice import advice_for_card
from envdoctor.diagnose.wheel_facts import advice_for_torch
from envdoctor.model.build_label import read_label, torch_of_label
from envdoctor.model.candidate import BuildRisk
from envdoctor.model.fact import Fact, Facts, FactState
from envdoctor.model.finding import Finding, Severity
from envdoctor.model.origin import DistributionOrigin, FileOrigin
from envdoctor.model.project import Brought, FileOption, Project
from envdoctor.model.resolution import ResolvedPackage

ROCM = "linux/x86_64/3.12/rocm"
CUDA = "linux/x86_64/3.12/cuda"


def found(code: str, *packages: ResolvedPackage, target: str, **fields: Any) -> list[Finding]:
    fields.setdefault("facts", Facts())
    findings = examine(Examination(target=target_of(target), resolution=resolution_of(*packages), **fields))
    assert not [item for item in findings if item.name == "internal"]
    return [item for item in findings if item.rule == code]


@pytest.mark.parametrize(
    ("label", "words"),
    [
        ("cu128", "CUDA 12.8"),
        ("cu118", "CUDA 11.8"),
        ("cu92", "CUDA 9.2"),
        ("cu13", "CUDA 13"),
        ("rocm6.4", "ROCm 6.4"),
        ("rocm6.4.2.git76481f7c", "ROCm 6.4.2"),
        ("rocm10.1.0a20260811.bkc.20260813", "ROCm 10.1.0"),
        ("devrocm7.15.0", "ROCm 7.15.0"),
        ("git1a2b3c4d.rocm7.2", "ROCm 7.2"),
        ("rocmsdk20251116", "ROCm"),
        ("872d972e41.nv24.8", "CUDA"),
        ("xpu", "XPU"),
        ("cpu", "the CPU"),
        ("gitfc14c65", None),
        ("1a8f621", None),
        ("cute", None),
        (None, None),
    ],
)
def test_labels_are_read_as_what_they_are(label: str | None, words: str | None) -> None:
    found_label = read_label(label)
    assert (str(found_label) if found_label else None) == words


def test_releases_of_labels_are_numbers_and_no_versions() -> None:
    new, old, hashed = map(read_label, ("rocm10.1.0", "rocm7.15.0", "rocm7.15.git1234567"))
    assert new is not None
    assert old is not None
    assert hashed is not None
    assert new.release > old.release
    assert old.same_release(hashed)
    assert not old.same_release(new)


@pytest.mark.parametrize(
    ("target", "pin", "told"),
    [
        (ROCM, "torch==2.9.1", "a CUDA build (cu128)"),
        (ROCM, "torch==2.6.0+cpu", "a CPU-only build"),
        (ROCM, "torch==2.9.1+rocm6.4", None),
        (ROCM, "torch==2.6.0+rocm6.4.2.git76481f7c", None),
        (ROCM, "torch==2.9.1+xpu", "an XPU build (xpu)"),
        (ROCM, "torch==99.0", None),
        ("linux/x86_64/3.12/xpu", "torch==2.9.1", "a CUDA build (cu128)"),
        ("linux/x86_64/3.12/xpu", "torch==2.9.1+xpu", None),
        ("windows/x86_64/3.12/xpu", "torch==2.9.1", "a CPU-only build"),
        ("linux/x86_64/3.12/cuda", "torch==2.9.1+rocm6.4", "a ROCm build (rocm6.4)"),
        ("linux/x86_64/3.12/cuda", "torch==2.9.1", None),
        ("linux/aarch64/3.12/cuda", "torch==2.5.0a0+872d972e41.nv24.8", None),
        ("linux/x86_64/3.12/cpu", "torch==2.9.1", None),
        ("linux/x86_64/3.12/unknown", "torch==2.9.1", None),
        ("windows/x86_64/3.11/zluda", "torch==2.7.1+cu118", None),
        ("windows/x86_64/3.11/directml", "torch==2.4.1", None),
        ("macos/arm64/3.12/mps", "torch==2.9.1", None),
        ("macos/arm64/3.12/mps", "torch==2.9.1+cu128", "a CUDA build (cu128)"),
        ("linux/x86_64/3.11/coreml", "torch==2.7.0+cpu", None),
        ("linux/x86_64/3.11/coreml", "torch==2.7.0", "a CUDA build (cu126)"),
        (ROCM, "onnxruntime-gpu==1.23.2", "a CUDA build"),
        ("linux/x86_64/3.12/xpu", "onnxruntime-gpu==1.23.2", "a CUDA build"),
        ("linux/x86_64/3.12/cuda", "onnxruntime-gpu==1.23.2", None),
        ("windows/x86_64/3.11/directml", "onnxruntime-gpu==1.18.0", "a CUDA build"),
        ("windows/x86_64/3.11/directml", "onnxruntime-directml==1.24.4", None),
        ("windows/x86_64/3.11/directml", "bitsandbytes==0.49.2", None),
        (ROCM, "onnxruntime-gpu==99.0", None),
        ("linux/x86_64/3.12/cuda", "onnxruntime-migraphx==1.27.1", "a ROCm build"),
        (ROCM, "bitsandbytes==0.45.5", "a CUDA build"),
        (ROCM, "bitsandbytes==0.49.2", None),
        ("windows/x86_64/3.12/rocm", "bitsandbytes==0.49.2", "a CUDA build and an XPU build"),
        ("windows/x86_64/3.12/rocm", "bitsandbytes==0.50.2", None),
        ("linux/x86_64/3.12/xpu", "bitsandbytes==0.48.0", None),
        ("macos/arm64/3.12/mps", "bitsandbytes==0.50.2", "a CPU-only build"),
        (ROCM, "bitsandbytes==0.99.0", None),
    ],
)
def test_a_build_for_another_backend_is_named(target: str, pin: str, told: str | None) -> None:
    findings = found("RES202", resolved(pin), target=target)
    assert [f" is {told} on " in item.message for item in findings] == ([True] if told else [])
    assert all(item.message.endswith(f"backend is {target.rpartition('/')[2]}") for item in findings)


def test_the_remedy_names_a_release_that_has_the_backend() -> None:
    (finding,) = found("RES202", resolved("bitsandbytes==0.45.5"), target=ROCM)
    assert finding.severity is Severity.ERROR
    assert finding.remedy is not None
    assert finding.remedy.summary.startswith("take bitsandbytes>=0.49")
    (cpu,) = found("RES202", resolved("bitsandbytes==0.50.2"), target="macos/arm64/3.12/mps")
    assert cpu.severity is Severity.WARNING


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("linux/x86_64/3.12/xpu", "take bitsandbytes>=0.48,<=0.50.2, "),
        ("windows/x86_64/3.12/xpu", "take bitsandbytes>=0.48.2,<=0.50.2, "),
        ("windows/x86_64/3.12/rocm", "take bitsandbytes>=0.50,<=0.50.2, "),
    ],
)
def test_the_remedy_names_all_releases_that_have_the_backend(target: str, said: str) -> None:
    (finding,) = found("RES202", resolved("bitsandbytes==0.45.5"), target=target)
    assert finding.remedy is not None
    assert finding.remedy.summary.startswith(said)


@pytest.mark.parametrize(("torch", "said"), [("2.1.2+rocm5.6", True), ("2.9.1+rocm6.4", False)])
def test_the_remedy_says_that_the_release_needs_another_torch(torch: str, *, said: bool) -> None:
    wheels = ["bitsandbytes-0.45.5-py3-none-any.whl", "bitsandbytes-0.50.2-py3-none-any.whl"]
    index = MemoryIndex({"bitsandbytes": wheels}, {"bitsandbytes==0.50.2": ["torch<3,>=2.4"]})
    pins = (resolved("bitsandbytes==0.45.5"), resolved(f"torch=={torch}"))
    (finding,) = found("RES202", *pins, target=ROCM, index=index)
    assert finding.remedy is not None
    assert (f"it asks for torch<3,>=2.4, and the plan has {torch}" in finding.remedy.summary) is said


def test_version_py_tells_an_xpu_build() -> None:
    lines = ("__version__ = '2.9.1+xpu'", *(f"{name}: Optional[str] = None" for name in ("cuda", "hip")))
    text = "\n".join((*lines, "xpu: Optional[str] = '20250201'\n"))
    archives = MemoryArchives({"torch": {"torch/version.py": text}})
    assert not found("RES202", resolved("torch==2.9.1"), target="linux/x86_64/3.12/xpu", archives=archives)


@pytest.mark.parametrize(
    ("target", "pins", "subjects"),
    [
        ("linux/x86_64/3.12/cuda", ("torch==2.15.0", "torchaudio==2.11.0"), ["torchaudio"]),
        ("linux/x86_64/3.12/cuda", ("torch==2.15.0", "torchaudio==2.11.1", "torchvision==0.29.2"), []),
        ("linux/x86_64/3.12/cuda", ("torch==2.14.1", "torchaudio==2.11.1", "torchvision==0.29.1"), []),
        ("linux/x86_64/3.12/cuda", ("torch==2.14.0", "torchaudio==2.11.0", "torchvision==0.29.0"), []),
        ("linux/x86_64/3.12/cuda", ("torch==2.13.0+cu126", "torchaudio==2.11.0"), ["torchaudio"]),
        ("linux/x86_64/3.12/cpu", ("torch==2.13.0+cpu", "torchvision==0.28.0"), ["torchvision"]),
        ("linux/x86_64/3.12/cuda", ("torch==2.7.1+cu118", "torchaudio==2.7.1"), ["torchaudio"]),
        ("linux/x86_64/3.12/cuda", ("torch==2.7.1+cu128", "torchvision==0.22.1"), []),
        ("windows/x86_64/3.12/cuda", ("torch==2.14.0+cu130", "torchaudio==2.11.0"), []),
        ("windows/x86_64/3.12/cuda", ("torch==2.7.1+cu128", "torchvision==0.22.1"), ["torchvision"]),
        (
            ROCM,
            ("torch==2.6.0+rocm6.4.2.git76481f7c", "torchvision==0.21.0+rocm6.4.2.git4040d51f"),
            [],
        ),
        (ROCM, ("torch==2.12.0+rocm7.14.1", "torchvision==0.27.0+rocm7.14.0"), ["torchvision"]),
        ("windows/x86_64/3.12/rocm", ("torch==2.8.0a0+gitfc14c65", "torchvision==0.23.0a0+c85f008"), []),
    ],
)
def test_builds_are_compared_as_what_they_are(target: str, pins: tuple[str, ...], subjects: list[str]) -> None:
    findings = found("RES201", *map(resolved, pins), target=target)
    assert [item.subject for item in findings] == subjects


def test_what_metadata_admits_outranks_the_table() -> None:
    torch = resolved("torch==2.15.0+cu130")
    asks = by_distribution("torch>=2.11", "torchvision", "0.26.0")
    assert not found("RES201", torch, resolved("torchvision==0.26.0", dependencies=(asks,)), target=CUDA)
    pins = by_distribution("torch==2.11.0", "torchvision", "0.26.0")
    findings = found("RES201", torch, resolved("torchvision==0.26.0", dependencies=(pins,)), target=CUDA)
    assert [item.subject for item in findings] == ["torchvision"]


@pytest.mark.parametrize(
    ("facts", "pin", "severity"),
    [
        ({"vendor": "amd", "name": "AMD Radeon RX 9070 XT"}, "torch==2.9.1+cu128", Severity.WARNING),
        ({"vendor": "amd", "name": "AMD Radeon RX 9070 XT"}, "torch==2.12.0+rocm7.14.1", None),
        ({"vendor": "intel", "name": "Intel(R) Arc(TM) B580 Graphics"}, "torch==2.9.1+cu128", Severity.WARNING),
        ({"vendor": "intel", "name": "Intel(R) Arc(TM) B580 Graphics"}, "torch==2.9.1+xpu", None),
        ({"vendor": "intel", "name": "Intel(R) UHD Graphics 770"}, "torch==2.9.1+cu128", None),
        ({"vendor": "nvidia", "name": "NVIDIA GeForce RTX 4070"}, "torch==2.9.1+xpu", Severity.WARNING),
    ],
)
def test_a_planned_build_for_another_card_is_named_where_no_backend_is(
    facts: dict[str, str], pin: str, severity: Severity | None
) -> None:
    told = Facts([Fact(f"gpu[0].{key}", FactState.KNOWN, value, "test") for key, value in facts.items()])
    findings = found("GPU102", resolved(pin), target="windows/x86_64/3.12/unknown", facts=told)
    assert [item.severity for item in findings] == ([severity] if severity else [])
    named = found("GPU102", resolved(pin), target="windows/x86_64/3.12/cuda", facts=told)
    assert not named, "RES202 goes by the backend"


def _told_of_installed(pins: tuple[str, ...], target: str) -> set[str]:
    environment = examination_of({"installed": list(pins), "target": target})
    told = [item for item in examine(environment) if item.severity is not Severity.INFO]
    return {item.subject for item in told if item.rule in ("ABI008", "ADV006", "ADV007", "ADV010", "RES201")}


@pytest.mark.parametrize(
    ("target", "pins"),
    [
        # AMD's wheels for Linux: the hashes of the three differ by design.
        (ROCM, ("torch==2.6.0+rocm6.4.2.git76481f7c", "torchvision==0.21.0+rocm6.4.2.git4040d51f",
                "torchaudio==2.6.0+rocm6.4.2.gitd8831425", "pytorch-triton-rocm==3.2.0+rocm6.4.2.git4a1ad9a1")),
        ("windows/x86_64/3.12/rocm", ("torch==2.8.0a0+gitfc14c65", "torchvision==0.24.0a0+c85f008",
                                      "torchaudio==2.6.0a0+1a8f621")),
        ("windows/x86_64/3.12/rocm", ("torch==2.9.1+rocmsdk20260116", "torchvision==0.24.1+rocmsdk20260116",
                                      "torchaudio==2.9.1+rocmsdk20260116")),
        (ROCM, ("torch==2.13.0+rocm10.1.0a20260811.bkc.20260813", "torchvision==0.28.0+rocm10.1.0a20260811",
                "torchaudio==2.11.0+rocm10.1.0a20260810")),
        (ROCM, ("torch==2.14.0+rocm10.1.0", "torchvision==0.29.0+rocm10.1.0", "torchaudio==2.11.0.3+rocm10.1.0")),
        (ROCM, ("torch==2.10.0a0+rocm7.10.0a20251015", "torchvision==0.25.0a0+rocm7.10.0a20251015",
                "torchaudio==2.8.0a0+rocm7.10.0a20251015")),
        # AMD's torchvision of a series goes with each torch of it.
        ("windows/x86_64/3.12/rocm", ("torch==2.9.1+rocm7.12.0a20260421", "torchvision==0.24.0+rocm7.12.0a20260421",
                                      "torchaudio==2.9.0+rocm7.12.0a20260421")),
        (ROCM, ("torch==2.9.1+rocm7.12.0", "torchvision==0.24.0+rocm7.12.0")),
        # An image that builds all three from checkouts: the numbers are those of the files in them.
        (ROCM, ("torch==2.7.0a0+git295f2ed", "torchvision==0.21.0+7af6987", "triton==3.2.0+gite5be006a")),
        (ROCM, ("torch==2.7.0+gitf717b2a", "torchvision==0.21.0+7af6987", "torchaudio==2.6.0a0+1a8f621")),
        ("linux/aarch64/3.8/cuda", ("torch==2.1.0a0+41361538.nv23.6", "torchvision==0.16.1+fdea156",
                                    "torchaudio==2.1.0+6ea1133")),
        # torchvision built on a board beside the torch of an index: of its series.
        ("linux/aarch64/3.10/cuda", ("torch==2.4.0", "torchvision==0.19.1+6194369")),
        # What somebody has built of a release's branch is of its series.
        (CUDA, ("torch==2.8.0+cu129", "torchaudio==2.8.0a0+6e1c7fe", "torchvision==0.23.0a0+824e8c8")),
        # Nightlies are numbered apart until a release is near.
        (CUDA, ("torch==2.10.0.dev20251024+cu130", "torchvision==0.25.0.dev20251025+cu130",
                "torchaudio==2.8.0.dev20251025+cu130")),
        # NVIDIA's containers and Jetson wheels.
        ("linux/aarch64/3.10/cuda", ("torch==2.5.0a0+872d972e41.nv24.8", "torchvision==0.20.0a0+afc54f7",
                                     "torchaudio==2.5.0a0+56bc006")),
        ("linux/aarch64/3.10/cuda", ("torch==2.8.0", "torchvision==0.23.0", "torchaudio==2.8.0")),
        (CUDA, ("torch==2.7.0a0+ecf3bae40a.nv25.2", "torchvision==0.22.0a0", "torchaudio==2.6.0a0+c670ad8")),
        ("linux/x86_64/3.12/xpu", ("torch==2.8.0+xpu", "torchvision==0.23.0+xpu", "torchaudio==2.8.0+xpu")),
        ("linux/x86_64/3.11/xpu", ("torch==2.1.0.post2+cxx11.abi", "torchvision==0.16.0.post2+cxx11.abi",
                                   "torchaudio==2.1.0.post2+cxx11.abi")),
    ],
)  # fmt: skip
def test_what_a_vendor_builds_together_is_no_mismatch(target: str, pins: tuple[str, ...]) -> None:
    assert _told_of_installed(pins, target) == set()


@pytest.mark.parametrize(
    "pins",
    [
        ("torch==2.4.1+rocm6.1", "torchvision==0.16.1+fdea156"),
        ("torch==2.3.0a0+6ddf5cf85e.nv24.4", "torchvision==0.16.2"),
        ("torch==2.9.1+rocm7.12.0a20260421", "torchvision==0.25.0+rocm7.12.0a20260421"),
        ("torch==2.6.0+rocm6.2.4", "torchvision==0.20.1+rocm6.2.4"),
        # A container's torchvision stays where pip exchanges the torch that it was built with.
        ("torch==2.6.0+rocm6.2.4", "torchvision==0.20.0a0+8ea4772"),
        ("torch==2.5.1", "torchvision==0.21.0rc1"),
    ],
)
def test_a_torch_that_was_exchanged_below_a_build_from_source_is_told(pins: tuple[str, ...]) -> None:
    assert "torchvision" in _told_of_installed(pins, ROCM)


@pytest.mark.parametrize(
    ("target", "pins", "subjects"),
    [
        ("windows/x86_64/3.12/rocm", ("torch==2.9.0+rocmsdk20251116", "torchvision==0.24.0+cu128"), {"torchvision"}),
        (ROCM, ("torch==2.6.0+rocm6.4.2.git76481f7c", "torchaudio==2.6.0+rocm6.3"), {"torchaudio"}),
        (ROCM, ("torch==2.6.0+rocm6.4.2.git76481f7c", "torchaudio==2.5.1+rocm6.4.2.gitd8831425"), {"torchaudio"}),
        (CUDA, ("torch==2.10.0.dev20251024+cu130", "torchvision==0.25.0.dev20251025+cpu"), {"torchvision"}),
        ("linux/aarch64/3.10/cuda", ("torch==2.5.0a0+872d972e41.nv24.8", "torchvision==0.22.0"), {"torchvision"}),
    ],
)
def test_what_does_not_go_with_a_vendors_build_is_named(target: str, pins: tuple[str, ...], subjects: set[str]) -> None:
    assert _told_of_installed(pins, target) == subjects


@pytest.mark.parametrize(
    ("target", "pins", "cards", "told"),
    [
        (ROCM, ["torch==2.9.1", "torchvision==0.24.1+rocm6.4"], False, ["torch"]),
        (ROCM, ["torch==2.9.1+rocm6.4", "onnxruntime-gpu==1.23.2"], False, ["onnxruntime-gpu"]),
        (ROCM, ["torch==2.9.1+cu128"], True, []),  # GPU102 goes by the cards
        (CUDA, ["torch==2.9.1+cpu"], False, ["torch"]),
        ("windows/x86_64/3.11/cuda", ["torch==2.4.1"], False, []),  # ADV001 says it
        (CUDA, ["torch==2.9.1", "bitsandbytes==0.45.0"], False, []),
    ],
)
def test_what_is_installed_is_compared_with_the_backend_too(
    target: str, pins: list[str], cards: bool, told: list[str]
) -> None:
    facts = Facts([Fact("gpu[0].vendor", FactState.KNOWN, "nvidia", "test")] if cards else [])
    examination = examination_of({"target": target, "installed": pins})
    findings = [item for item in examine(replace(examination, facts=facts)) if item.rule == "RES202"]
    assert [item.subject for item in findings] == told
    assert all(item.severity is Severity.ERROR for item in findings)


@pytest.mark.parametrize(
    ("card", "arch", "advice"),
    [
        ("sm_120", "x86_64", "take torch>=2.7 from the cu128 index or a newer one"),
        ("sm_110", "aarch64", "take torch>=2.11 from the cu130 index or a newer one"),  # 2.10's matrix products fail
        ("sm_61", "x86_64", "take torch up to 2.14 from the cu126 index"),
        ("sm_70", "x86_64", "take torch up to 2.14 from the cu126 index"),
        ("sm_37", "x86_64", "take torch up to 2.7 from the cu118 index"),
        ("gfx1201", "x86_64", "take torch>=2.7 from the rocm6.3 index or a newer one"),
    ],
)
def test_the_advice_for_a_card_names_builds_that_have_its_code(card: str, arch: str, advice: str) -> None:
    assert advice_for_torch(card, arch).startswith(advice)


def _wheel(pin: str, *requires: str) -> ResolvedPackage:
    """A planned wheel that is for one platform, with what it requires."""
    name, _, version = pin.partition("==")
    filename = f"{name.replace('-', '_')}-{version}-cp312-cp312-manylinux_2_28_x86_64.whl"
    dependencies = tuple(by_distribution(text, name, version) for text in requires)
    return replace(resolved(pin), file=file_of(name, filename), dependencies=dependencies)


_XFORMERS = '{"version": {"cuda": 1208, "hip": null, "torch": "2.10.0+cu128"}}'


@pytest.mark.parametrize(
    ("pin", "requires", "members", "target", "told"),
    [
        ("xformers==0.0.34", ["torch"], {"xformers/cpp_lib.json": _XFORMERS}, ROCM, "a CUDA build"),
        ("xformers==0.0.34", ["torch"], {"xformers/cpp_lib.json": _XFORMERS}, CUDA, None),
        ("xformers==0.0.34", ["torch"], {"xformers/cpp_lib.json": _XFORMERS.replace("null", "640")}, ROCM, None),
        ("xformers==0.0.34", ["torch"], {"xformers/cpp_lib.json": "[]", "xformers/_C.so": ""}, ROCM, None),
        ("auto-gptq==0.7.1", ["torch"], {"autogptq_cuda_64.cpython-312-x86_64-linux-gnu.so": ""}, ROCM, "a CUDA build"),
        ("auto-gptq==0.7.1", ["torch"], {"autogptq_64.cpython-312-x86_64-linux-gnu.so": ""}, ROCM, None),
        ("some-ext==1.0", ["torch"], {"x/ext-torch24-cuda.so": "", "x/ext-torch24-cpu.so": ""}, ROCM, None),
        ("some-ext==1.0", ["torch"], {"x/stub_cuda.so": "", "x/stub_hip.so": ""}, ROCM, None),
        ("some-ext==1.0", [], {"x/stub_cuda.so": ""}, ROCM, None),  # not opened: nothing says that it needs a GPU
        ("bitsandbytes==0.99.0", ["torch"], {"b/libbitsandbytes_cuda121.so": "", "b/libb_cpu.so": ""}, ROCM, "a CUDA"),
        ("onnxruntime-gpu==99.0", [], {"o/libonnxruntime_providers_cuda.so": ""}, ROCM, "a CUDA build"),
        ("cupy-cuda12x==14.2.0", [], {}, ROCM, "a CUDA build"),
        ("nvidia-cublas-cu12==12.9.1.4", [], {}, ROCM, None),
        ("vllm==0.33.0", ["nvidia-cutlass-dsl"], {}, ROCM, "a CUDA build"),
        ("nvitop==1.4.0", ["nvidia-ml-py"], {}, ROCM, None),
        ("xgboost==3.4.1", ["nvidia-nccl-cu13"], {}, ROCM, None),
    ],
)
def test_what_a_planned_wheel_says_of_itself_tells_its_backend(
    pin: str, requires: list[str], members: dict[str, str], target: str, told: str | None
) -> None:
    name = pin.partition("==")[0]
    found_here = found("RES202", _wheel(pin, *requires), target=target, archives=MemoryArchives({name: members}))
    assert [f" is {told}" in item.message for item in found_here] == ([True] if told else [])


def test_what_goes_with_another_build_for_cuda_is_not_told_beside_it() -> None:
    vllm = _wheel("vllm==0.33.0", "nvidia-cutlass-dsl", "faiss-gpu-cu12")
    faiss = replace(_wheel("faiss-gpu-cu12==1.14.1"), wanted_by=(by_distribution("faiss-gpu-cu12", "vllm", "0.33.0"),))
    assert [item.subject for item in found("RES202", vllm, faiss, target=ROCM)] == ["vllm"]
    assert [item.subject for item in found("RES202", faiss, target=ROCM)] == ["faiss-gpu-cu12"]


_ONNX = {
    "onnxruntime": ["onnxruntime-1.31.1-cp312-cp312-manylinux_2_28_x86_64.whl"],
    "onnxruntime-migraphx": ["onnxruntime_migraphx-1.27.1-cp312-cp312-manylinux_2_34_x86_64.whl"],
    "onnxruntime-directml": ["onnxruntime_directml-1.24.4-cp312-cp312-win_amd64.whl"],
}


@pytest.mark.parametrize(
    ("target", "glibc", "card", "said"),
    [
        (ROCM, "2.39", "gfx1100", "take `onnxruntime-migraphx` in its place, which needs ROCm 7 with MIGraphX on"),
        (ROCM, "2.39", None, "the wheel brings neither; it is for gfx90a, "),
        (ROCM, "2.39", "gfx1032", "and gfx120*, and not for gfx1032"),
        (
            ROCM,
            "2.31",
            "gfx1100",
            "`onnxruntime-migraphx` needs glibc 2.34 or later, and the target is taken to have 2.31",
        ),
        (ROCM.replace("3.12", "3.11"), "2.39", "gfx1100", "has wheels for Python 3.12 here, and not for 3.11"),
        (ROCM.replace("linux", "windows"), "2.28", None, "take `onnxruntime-directml` in its place; `onnxruntime-mi"),
        ("linux/x86_64/3.12/xpu", "2.39", None, "; `onnxruntime-openvino` is not on the index"),
    ],
)
def test_an_advice_is_tried_against_the_target(target: str, glibc: str, card: str | None, said: str) -> None:
    fitted = target_of(target, gpu=card, glibc=glibc)
    examination = Examination(
        target=fitted, resolution=resolution_of(resolved("onnxruntime-gpu==1.23.2")), index=MemoryIndex(_ONNX)
    )
    (finding,) = [item for item in examine(examination) if item.rule == "RES202"]
    assert finding.remedy is not None
    assert said in finding.remedy.summary
    if "needs glibc" in said or "and not for" in said:
        assert finding.remedy.summary.startswith(("take `onnxruntime` in its place, on the CPU", "leave it out"))


def test_a_cpu_build_on_windows_is_sent_to_an_index_that_has_its_release() -> None:
    (finding,) = found("RES202", resolved("torch==2.13.0+cpu"), target="windows/x86_64/3.12/cuda")
    assert finding.remedy is not None
    assert "https://download.pytorch.org/whl/cu132" in finding.remedy.summary
    assert "torch 2.13.0 is there with cu126, cu129, cu130 and cu132" in finding.remedy.summary


@pytest.mark.parametrize(
    ("pin", "target", "card", "said"),
    [
        ("flash-attn==2.8.3", ROCM, "needs the ROCm toolkit (hipcc)", "FLASH_ATTENTION_TRITON_AMD_ENABLE=TRUE"),
        (
            "flash-attn==2.8.3",
            "linux/x86_64/3.12/xpu",
            "and the target's backend is xpu",
            "leave it out on this target",
        ),
        ("flash-attn==2.8.3", CUDA, "needs the CUDA toolkit (nvcc)", "or install what it needs"),
        ("tinycudann==1.7", ROCM, "and the target's backend is rocm", "it has kernels for CUDA alone"),
    ],
)
def test_a_build_is_told_by_what_it_makes_for_the_target(pin: str, target: str, card: str, said: str) -> None:
    (finding,) = found("RES102", resolved(pin, sdist=True), target=target)
    assert card in finding.message
    assert finding.remedy is not None
    assert said in finding.remedy.summary


@pytest.mark.parametrize(
    ("image", "pin", "said"),
    [
        ("x/y:2.3.1-cuda12.1-cudnn8-runtime", "flash-attn==2.8.3", True),
        ("x/y:2.3.1-cuda12.1-cudnn8-devel", "flash-attn==2.8.3", False),
        ("x/y:2.3.1-cuda12.1-cudnn8-runtime", "webrtcvad==2.0.10", False),
    ],
)
def test_an_image_without_a_compiler_is_told_where_kernels_are_built(image: str, pin: str, said: bool) -> None:
    torch = Brought(canonicalize_name("torch"), image, FileOrigin("Dockerfile", 1), Version("2.3.1"), label="cu121")
    plan, project = resolved(pin, sdist=True, risk=BuildRisk.COMPILER), Project(".", brought=(torch,))
    (finding,) = found("RES102", plan, target=CUDA, project=project)
    assert finding.remedy is not None
    told = f"`{image}` has neither nvcc nor a compiler: take `x/y:2.3.1-cuda12.1-cudnn8-devel`"
    assert (told in finding.remedy.summary) is said


def test_where_a_source_is_built_for_another_backend_no_wheel_for_cuda_is_advised() -> None:
    wheel = "xformers-0.0.29.post2-cp312-cp312-win_amd64.whl"
    index = MemoryIndex({"xformers": [wheel, wheel.replace("win_amd64", "manylinux_2_28_x86_64")]})
    for system, said in (("linux", "wheels of `xformers` are for CUDA"), ("windows", "leave it out on this target")):
        target = ROCM.replace("linux", system)
        (finding,) = found("RES102", resolved("xformers==0.0.28", sdist=True), target=target, index=index)
        assert finding.remedy is not None
        assert "0.0.29" not in finding.remedy.summary
        assert said in finding.remedy.summary


def test_a_cpu_build_beside_a_jetson_is_sent_to_the_index_of_its_board() -> None:
    card = {"gpu[0].vendor": "nvidia", "gpu[0].architecture": "sm_87", "gpu[0].name": "Jetson Orin"}
    facts = Facts(Fact(name, FactState.KNOWN, value, "test") for name, value in card.items())
    (finding,) = found("RES202", resolved("torch==2.6.0"), target="linux/aarch64/3.10/cuda", facts=facts)
    assert finding.remedy is not None
    assert "https://pypi.jetson-ai-lab.io/jp6/cu126/+simple/" in finding.remedy.summary


def test_both_rules_advise_the_same_of_a_family() -> None:
    index = MemoryIndex(_ONNX | {"onnxruntime-gpu": ["onnxruntime_gpu-1.23.2-cp312-cp312-win_amd64.whl"]})
    pins = (resolved("onnxruntime-gpu==1.23.2"), resolved("onnxruntime==1.31.1"))
    for code in ("RES202", "RES203"):
        (finding,) = found(code, *pins, target="windows/x86_64/3.12/rocm", index=index)
        assert finding.remedy is not None
        assert "take `onnxruntime-directml`" in finding.remedy.summary
        assert "`onnxruntime-migraphx` has wheels for Linux x86_64 alone" in finding.remedy.summary


RTX50 = "windows/x86_64/3.10/cuda"


@pytest.mark.parametrize(
    ("demand", "index", "held"),
    [
        ("torch==2.7.0", "cu128", False),
        ("torch<2.7,>=2.2.0", "cu13", True),
        ("torch>=2.2", "cu13", False),
    ],
)
def test_what_is_planned_and_asks_for_a_torch_counts_where_one_for_the_card_is_named(
    demand: str, index: str, held: bool
) -> None:
    asked = require("torch==2.4.0" if held else "torch")
    torch = resolved(
        "torch==2.4.0" if held else "torch==2.7.0", wanted_by=[asked, by_distribution(demand, "tts", "0.2")]
    )
    examination = Examination(
        target=target_of(RTX50, gpu="sm_120"),
        project=Project(".", requirements=(asked,)),
        resolution=resolution_of(torch, resolved("tts==0.2")),
    )
    (finding,) = [item for item in examine(examination) if item.rule == "RES202"]
    assert finding.remedy is not None
    assert f"whl/{index}" in finding.remedy.summary
    assert (f"`tts` 0.2 asks for `{demand}`, and must move" in finding.remedy.summary) is held


def test_who_asks_for_a_torch_without_the_cards_kernels_is_named_where_its_kernels_are_missed() -> None:
    torch = resolved("torch==2.4.0+cu121", wanted_by=[require("torch"), by_distribution("torch<2.7", "tts", "0.2")])
    examination = Examination(target=target_of("linux/x86_64/3.10/cuda", gpu="sm_120"), resolution=resolution_of(torch))
    (finding,) = [item for item in examine(examination) if item.rule == "RES208"]
    assert finding.remedy is not None
    assert "`tts` 0.2 asks for `torch<2.7`, and must move" in finding.remedy.summary


def test_an_advice_of_an_index_says_where_it_is() -> None:
    assert advice_for_torch("sm_120", "x86_64").endswith(" (https://download.pytorch.org/whl/cu128)")
    assert addressed("take torch from the cu126 or cu118 index.") == (
        "take torch from the cu126 or cu118 index "
        "(https://download.pytorch.org/whl/cu126, https://download.pytorch.org/whl/cu118)"
    )
    for text in ("take it from the cu126 index", "take what the default index has"):
        assert addressed(text, "pip install torch --index-url https://download.pytorch.org/whl/cu126") == text


@pytest.mark.parametrize(("jetpack", "python", "index"), [("6.2", "3.10", "jp6/cu126"), ("7.2", "3.12", "whl/cu")])
def test_a_jetsons_torch_is_that_of_its_jetpack(jetpack: str, python: str, index: str) -> None:
    card = {"gpu[0].vendor": "nvidia", "gpu[0].architecture": "sm_87", "host.jetpack": jetpack}
    facts = Facts(Fact(name, FactState.KNOWN, value, "test") for name, value in card.items())
    target = target_of(f"linux/aarch64/{python}/cuda")
    assert index in advice_for_card("sm_87", Examination(target=target, facts=facts))


def test_for_cuda_no_wheel_is_opened() -> None:
    archives = MemoryArchives({"auto-gptq": {"autogptq_cuda_64.so": ""}})
    assert not found("RES202", _wheel("auto-gptq==0.7.1", "torch"), target=CUDA, archives=archives)
    assert archives.opened == []


def test_what_comes_with_an_extra_says_whose() -> None:
    asked = require("jax[cuda12]")
    jax = resolved("jax==0.12.0", wanted_by=[asked])
    plugin = replace(
        _wheel("jax-cuda12-plugin==0.12.0"), wanted_by=(by_distribution("jax-cuda12-plugin", "jax", "0.12.0"),)
    )
    (finding,) = found("RES202", jax, plugin, target=ROCM)
    assert finding.remedy is not None
    assert finding.remedy.summary.endswith("; it comes with `jax[cuda12]` (requirements.txt:1) -> jax-cuda12-plugin")


@pytest.mark.parametrize(
    ("glibc", "said"), [("2.28", "take bitsandbytes>=0.49"), ("2.17", "needs glibc 2.24 or later")]
)
def test_a_release_that_is_advised_has_a_wheel_for_the_target(glibc: str, said: str) -> None:
    wheels = [f"bitsandbytes-{release}-py3-none-manylinux_2_24_x86_64.whl" for release in ("0.45.5", "0.50.2")]
    index = MemoryIndex({"bitsandbytes": wheels}, {})
    plan = resolution_of(resolved("bitsandbytes==0.45.5"))
    findings = examine(Examination(target=target_of(ROCM, glibc=glibc), resolution=plan, index=index))
    (finding,) = [item for item in findings if item.rule == "RES202"]
    assert finding.remedy is not None
    assert said in finding.remedy.summary


def test_of_two_that_are_installed_the_one_for_the_card_is_advised() -> None:
    data = {"target": ROCM, "installed": ["onnxruntime-gpu==1.23.2", "onnxruntime==1.23.2"], "gpu": "gfx1032"}
    (finding,) = [item for item in examine(examination_of(data)) if item.rule == "ENV005"]
    assert finding.remedy is not None
    assert "keep `onnxruntime`, which is the one for cpu" in finding.remedy.summary
    assert "`onnxruntime-migraphx` is for gfx90a" in finding.remedy.summary
    assert not any("migraphx" in str(command) for command in finding.remedy.commands)


@pytest.mark.parametrize(
    ("target", "pin", "says"),
    [
        ("windows/x86_64/3.12/rocm", "torch==2.6.0", "torch>=2.12"),
        ("linux/aarch64/3.12/cuda", "torch==2.8.0", "2.9 and later"),
        ("windows/x86_64/3.12/xpu", "torch==2.4.0", "2.6 and later"),
    ],
)
def test_what_holds_the_torch_that_is_advised_is_said(target: str, pin: str, says: str) -> None:
    version = pin.partition("==")[2]
    of_codec = require("torch<2.9", DistributionOrigin("codec", "1.0"))
    plan = [
        resolved(pin, wanted_by=[require(pin), of_codec]),
        resolved(f"torchaudio=={version}", wanted_by=[require(f"torchaudio=={version}")]),
    ]
    (finding,) = [one for one in found("RES202", *plan, target=target) if one.subject == "torch"]
    assert finding.remedy is not None
    assert says in finding.remedy.summary
    assert f"`{pin}` (" in finding.remedy.summary
    assert f"`torchaudio=={version}` (" in finding.remedy.summary
    assert ("`torch<2.9` (codec 1.0)" in finding.remedy.summary) is ("xpu" not in target)
    (free,) = found("RES202", resolved("torch==2.15.0+cpu", wanted_by=[require("torch")]), target=target)
    assert free.remedy is not None
    assert "must move" not in free.remedy.summary


def test_what_brings_the_one_that_holds_the_torch_is_said_too() -> None:
    pin = by_distribution("torchaudio==2.4.0", "codec", "1.0")
    plan = [
        resolved("torch==2.4.0", wanted_by=[require("torch"), by_distribution("torch<2.6", "codec", "1.0")]),
        resolved("codec==1.0", wanted_by=[by_distribution("codec", "singer", "3")]),
        resolved("singer==3", wanted_by=[require("singer")]),
        resolved("torchaudio==2.4.0", wanted_by=[pin]),
    ]
    (finding,) = [one for one in found("RES202", *plan, target="windows/x86_64/3.12/xpu") if one.subject == "torch"]
    assert finding.remedy is not None
    brought = "(codec 1.0, which comes with `singer` (requirements.txt:1))"
    assert f"`torch<2.6` {brought} and `torchaudio==2.4.0` {brought} must move with it, or go" in finding.remedy.summary
    rtx = [replace(plan[0], version=Version("2.4.0+cu121")), *plan[1:]]
    target = target_of("linux/x86_64/3.10/cuda", gpu="sm_120")
    held = examine(Examination(target=target, resolution=resolution_of(*rtx)))
    (other,) = [one for one in held if one.rule == "RES208" and one.subject == "torch"]
    assert other.remedy is not None
    assert "`codec` 1.0, which comes with `singer` (requirements.txt:1), asks for `torch<2.6`" in other.remedy.summary


@pytest.mark.parametrize("value", ["opencc", ":all:"])
def test_a_wheel_that_an_option_forbids_is_not_called_missing(value: str) -> None:
    wheel = "opencc-1.4.2-cp311-cp311-manylinux_2_17_x86_64.whl"
    option = FileOption("no-binary", value, FileOrigin("requirements.txt", 1))
    plan, target = resolved("opencc==1.4.2", sdist=True, risk=BuildRisk.COMPILER), "linux/x86_64/3.11/cuda"
    for options, told in (((option,), True), ((), False)):
        project = Project(".", options=options)
        (finding,) = found("RES102", plan, target=target, project=project, index=MemoryIndex({"opencc": [wheel]}))
        assert ("has no wheel for this target" in finding.message) is not told
        assert (f"as `--no-binary {value}` (requirements.txt:1) says" in finding.message) is told
        assert finding.remedy is not None
        assert finding.remedy.summary.startswith("take `opencc` out of `--no-binary") is told


@pytest.mark.parametrize(
    ("asks", "wheels", "said"),
    [
        (
            "av==10.*",
            ("12.0.0",),
            "`av` 12.0.0 has a wheel for this target, but `faster-whisper` 0.9.0 asks for `av==10.*`",
        ),
        ("av>=10,!=12.0.0", ("12.0.0", "13.1.0"), "`av` 13.1.0 has a wheel for this target; or"),
        ("av", ("12.0.0", "13.1.0"), "`av` 12.0.0 has a wheel for this target; or"),
    ],
)
def test_a_version_with_a_wheel_is_advised_where_what_asks_admits_it(asks: str, wheels: Any, said: str) -> None:
    files = ["av-10.0.0.tar.gz", *(f"av-{each}-cp311-cp311-manylinux2014_x86_64.whl" for each in wheels)]
    wanted = [by_distribution(asks, "faster-whisper", "0.9.0"), require("av<11")]
    plan = resolved("av==10.0.0", sdist=True, risk=BuildRisk.COMPILER, wanted_by=wanted)
    (finding,) = found("RES102", plan, target="linux/x86_64/3.11/cuda", index=MemoryIndex({"av": files}))
    assert finding.remedy is not None
    assert said in finding.remedy.summary


@pytest.mark.parametrize(
    ("label", "torch"),
    [
        ("cu12torch2.6cxx11abifalse", "==2.6.*"),
        ("cu128torch2.10.0.post1", "==2.10.*"),
        ("torch2.8", "==2.8.*"),
        ("cu128torch2.9.0andhigher.post4", ">=2.9.dev0"),
        ("pt25cu124", "==2.5.*"),
        ("cu124.torch26", "==2.6.*"),
        ("torch210", None),  # 2.1.0, or 2.10
        ("cu124", None),
        (None, None),
    ],
)
def test_a_label_may_name_the_torch_that_it_is_for(label: str | None, torch: str | None) -> None:
    assert torch_of_label(label) == torch


@pytest.mark.parametrize(
    ("pin", "told"),
    [
        ("flash-attn==2.7.4.post1+cu12torch2.6cxx11abifalse", True),
        ("flash-attn==2.8.3+cu12torch2.8cxx11abitrue", False),
        ("sageattention==2.2.0+cu128torch2.7.1.post1", True),
        ("sageattention==2.2.0+cu128torch2.6.0andhigher", False),
        ("flash-attn==2.8.3", False),
    ],
)
def test_what_names_another_torch_in_its_label_is_told(pin: str, told: bool) -> None:
    pins = [pin, "torch==2.8.0+cu128"]
    installed = examine(examination_of({"installed": pins, "target": CUDA}))
    assert ["ABI008" for item in installed if item.rule == "ABI008"] == ["ABI008"] * told
    planned = found("RES201", *map(resolved, pins), target=CUDA)
    assert [item.subject for item in planned] == [pin.partition("==")[0]] * told
