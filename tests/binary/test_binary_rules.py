"""The rules over binaries: when they speak, and when they must not."""

from __future__ import annotations

import base64
import hashlib
import os
import struct
from dataclasses import replace

import pytest
from binary_samples import LINUX, elf, fatbin, macho, pe

from envdoctor.adapters.probe.binary_environment import scan_environment
from envdoctor.adapters.probe.binary_loader import parse_ld_cache
from envdoctor.diagnose.wheel_facts import builds_for
from envdoctor.model.environment import Interpreter
from envdoctor.model.finding import Severity
from envdoctor.model.target import Arch, Backend, OperatingSystem

SASS, PTX = 2, 1
EXTENSION = "_C.cpython-311-x86_64-linux-gnu.so"
NUMPY_1 = {".rodata": b"numpy.core._multiarray_umath\0module compiled against ABI version 0x%x"}


def told(findings):
    return [(finding.severity.value, finding.subject, finding.message) for finding in findings]


def torch_for_cpu(site):
    libraries = {f"torch/lib/{name}": elf(soname=name) for name in ("libc10.so", "libtorch.so", "libtorch_cpu.so")}
    site.add_files("torch", "2.13.0+cpu", libraries)


def test_abi001_companion_for_cuda_beside_torch_for_cpu(site, diagnose):
    torch_for_cpu(site)
    needs = elf(needed=("libc10.so", "libtorch_cpu.so", "libc10_cuda.so", "libcudart.so.13", "libc.so.6"))
    site.add_files("torchaudio", "2.11.0", {"torchaudio/lib/_torchaudio.abi3.so": needs})
    (finding,) = diagnose("ABI001")
    assert told([finding]) == [
        (
            "error",
            "torchaudio",
            "`torchaudio` needs `libc10_cuda.so`, `libcudart.so.13`, which nothing provides; `torch` is for the CPU",
        )
    ]
    assert finding.evidence[0].where == "torchaudio/lib/_torchaudio.abi3.so"
    assert "same index" in finding.remedy.summary


def test_abi001_names_the_other_cuda_that_is_there(site, diagnose):
    site.add_files("nvidia-cuda-runtime", "13.0", {"nvidia/cu13/lib/libcudart.so.13": elf(soname="libcudart.so.13")})
    site.add_files("kernels", "1", {f"kernels/{EXTENSION}": elf(needed=("libcudart.so.12",))})
    (finding,) = diagnose("ABI001")
    assert finding.message == (
        "`kernels` needs `libcudart.so.12`, which nothing provides; the environment has `libcudart.so.13`"
    )


def test_abi001_follows_what_an_extension_needs_in_turn(site, diagnose):
    site.add_files(
        "a",
        "1",
        {f"a/{EXTENSION}": elf(needed=("libinner.so",)), "a.libs/libinner.so": elf(needed=("libcudnn.so.8",))},
    )
    (finding,) = diagnose("ABI001")
    assert (finding.severity, finding.evidence[0].where) == (Severity.ERROR, "a.libs/libinner.so")


def test_abi001_on_windows(site, diagnose):
    site.add_files("torch", "2.4.1", {"torch/lib/c10.dll": pe(), "torch/lib/torch_cpu.dll": pe()})
    needs = pe(needed=("C10.dll", "cudart64_12.dll", "KERNEL32.dll", "python311.dll"), delayed=("cublas64_12.dll",))
    site.add_files("kernels", "1", {"kernels/_C.cp311-win_amd64.pyd": needs})
    (finding,) = diagnose("ABI001")
    assert "`cudart64_12.dll`" in finding.message
    assert "cublas" not in finding.message


def test_abi001_on_this_machine_asks_the_loader(site, diagnose):
    site.add_files("cv", "1", {f"cv/{EXTENSION}": elf(needed=("libGL.so.1", "libc.so.6", "libpython3.11.so.1.0"))})
    assert diagnose("ABI001") == []
    assert diagnose("ABI001", libraries=frozenset({"libGL.so.1"})) == []
    (finding,) = diagnose("ABI001", libraries=frozenset({"libz.so.1"}))
    assert finding.message == "`cv` needs `libGL.so.1`, which nothing provides"


def test_abi001_what_each_variant_lacks_is_missing_whichever_fits(site, diagnose):
    ffmpeg = {4: "libavutil.so.56", 5: "libavutil.so.57", 6: "libavutil.so.58"}
    core = {
        f"torchcodec/libtorchcodec_core{number}.so": elf(needed=("libnppicc.so.13", library, "libtorch_cpu.so"))
        for number, library in ffmpeg.items()
    }
    image = {"torchcodec/libtorchcodec_image.so": elf(needed=("libother.so.1",))}
    site.add_files("torchcodec", "0.11.1", {**core, **image})
    (finding,) = diagnose("ABI001", libraries=frozenset({"libavutil.so.57", "libother.so.1"}))
    assert told([finding]) == [("error", "torchcodec", "`torchcodec` needs `libnppicc.so.13`, which nothing provides")]
    assert finding.remedy.summary.startswith("install NPP of the CUDA toolkit")
    assert diagnose("ABI001", libraries=frozenset({"libnppicc.so.13", "libother.so.1"})) == []
    assert diagnose("ABI001") == []


@pytest.mark.skipif(os.name == "nt", reason="no ELF program runs on Windows, and its search path has no drives")
def test_abi001_pythons_library_is_where_the_interpreter_or_the_loader_has_it(site, diagnose, tmp_path):
    wants = {
        f"torchcodec/libtorchcodec_custom_ops{number}.so": elf(needed=("libpython3.11.so.1.0",)) for number in (6, 7)
    }
    site.add_files("torchcodec", "0.11.1", wants)
    (tmp_path / "base" / "bin").mkdir(parents=True)
    program = tmp_path / "base" / "bin" / "python3.11"

    def of(data: bytes, *libraries: str) -> list[str]:
        program.write_bytes(data)
        found = diagnose("ABI001", libraries=frozenset({"libz.so.1", *libraries}), executable=program)
        return [item.remedy.summary for item in found]

    (remedy,) = of(elf())
    assert remedy.startswith("install `libpython3.11` with the system's package manager")
    assert of(elf(needed=("$ORIGIN/../lib/libpython3.11.so.1.0",))) == []
    assert of(elf(), "libpython3.11.so.1.0") == []
    assert of(b"#!/bin/sh\n") == []
    assert len(of(elf(runpath="$ORIGIN/../lib"))) == 1
    (tmp_path / "base" / "lib").mkdir()
    (tmp_path / "base" / "lib" / "libpython3.11.so.1.0").write_bytes(elf())
    assert of(elf(runpath="$ORIGIN/../lib")) == of(elf(runpath="${ORIGIN}/../lib")) == []


_DESKTOP = "install `libgl1` with the system's package manager (the name is Debian's and Ubuntu's), or "


@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        ("opencv-python", "`opencv-python-headless`, which does without it, in the place of `opencv-python`"),
        ("pyglet", "another build of `pyglet`"),
    ],
)
def test_abi001_a_library_of_a_desktop_has_a_package_of_the_system(site, diagnose, name, remedy):
    files = {
        f"cv/{EXTENSION}": elf(needed=("libqt.so.5", "libpython3.11.so.1.0")),
        "cv.libs/libqt.so.5": elf(needed=("libGL.so.1",)),
    }
    site.add_files(name, "1", files)
    (finding,) = diagnose("ABI001", libraries=frozenset({"libz.so.1"}))
    assert finding.severity.value == "error"
    assert finding.remedy.summary == _DESKTOP + remedy


def test_abi001_leaves_drivers_variants_and_private_copies_alone(site, diagnose):
    site.add_files("driver-user", "1", {f"d/{EXTENSION}": elf(needed=("libcuda.so.1", "libnvidia-ml.so.1"))})
    variants = {f"bnb/libbnb_cuda{number}0.so": elf(needed=(f"libcublas.so.{number}",)) for number in (11, 12, 13)}
    site.add_files("bits", "1", variants)
    private = {
        f"ct/{EXTENSION}": elf(needed=("libcudnn-74a4c495.so.9.1.0",)),
        "ct.libs/libcudnn-74a4c495.so.9.1.0": elf(soname="libcudnn-74a4c495.so.9.1.0"),
    }
    site.add_files("ct", "1", private)
    assert diagnose("ABI001") == []


def test_abi001_parts_on_request_are_noted_and_variants_pass_in_silence(site, diagnose):
    provider = elf(needed=("libnvinfer.so.10",))
    pool = {"numba/np/ufunc/tbbpool.cpython-311-x86_64-linux-gnu.so": elf(needed=("libtbb.so.12",))}
    site.add_files("onnxruntime-gpu", "1.20", {"onnxruntime/capi/libonnxruntime_providers_tensorrt.so": provider})
    site.add_files("numba", "0.60", pool)
    site.add_files("nvshmem", "3", {"nvidia/nvshmem/lib/nvshmem_bootstrap_mpi.so.3": elf(needed=("libmpi.so.40",))})
    site.add_files("torchcodec", "1", {"torchcodec/libtorchcodec_core4.so": elf(needed=("libavutil.so.56",))})
    found = diagnose("ABI001", libraries=frozenset({"libc.so.6"}))
    assert [(finding.severity, finding.subject) for finding in found] == [(Severity.INFO, "onnxruntime-gpu")]


def test_abi001_a_library_that_nobody_needs_but_cuda_must_load_is_a_warning(site, diagnose):
    site.add_files("plugin", "1", {"plugin/libkernels.so": elf(needed=("libcudart.so.12",))})
    (finding,) = diagnose("ABI001")
    assert finding.severity is Severity.WARNING


def test_abi002_one_package_and_a_whole_environment(site, diagnose):
    site.add_files("right", "1", {f"right/{EXTENSION}": elf()})
    site.add_files("wrong", "1", {f"wrong/{EXTENSION}": elf(machine=183)})
    site.add_files("both", "1", {f"both/{EXTENSION}": elf(), "both/_C.abi3.so": elf(machine=183)})
    assert told(diagnose("ABI002")) == [
        ("error", "wrong", "`wrong` is built for Linux aarch64, and this is linux x86_64")
    ]
    (finding,) = diagnose("ABI002", target=replace(LINUX, os=OperatingSystem.WINDOWS))
    assert (finding.subject, finding.message[:3]) == ("environment", "all")
    assert diagnose("ABI002", target=None) == []


def test_abi002_a_foreign_library_that_nobody_imports_is_fine(site, diagnose):
    site.add_files("debugger", "1", {"debugger/attach_x86.so": elf(machine=3), "debugger/attach_amd64.dll": pe()})
    assert diagnose("ABI002") == []


def test_abi002_takes_the_interpreters_word_before_the_targets(site, diagnose):
    site.add_files("a", "1", {f"a/{EXTENSION}": elf(machine=183)})
    assert diagnose("ABI002", told=Interpreter("linux", "aarch64")) == []


def test_abi002_a_python_of_32_bits_on_a_machine_of_64_is_fine(site, diagnose):
    site.add_files("a", "1", {f"a/{EXTENSION}": elf(machine=3, wide=False)})
    assert diagnose("ABI002", source="probe", told=Interpreter("linux", "x86_64")) == []
    assert len(diagnose("ABI002")) == 1


def test_abi003_glibc(site, diagnose):
    site.add_files("new", "1", {f"new/{EXTENSION}": elf(glibc=("GLIBC_2.2.5", "GLIBC_2.34"))})
    site.add_files("old", "1", {f"old/{EXTENSION}": elf(glibc=("GLIBC_2.17",))})
    assert told(diagnose("ABI003", told=Interpreter(glibc="glibc 2.31"))) == [
        ("error", "new", "`new` needs glibc 2.34, and this machine has 2.31")
    ]
    assert diagnose("ABI003", told=Interpreter(glibc="glibc 2.36")) == []
    assert diagnose("ABI003") == []  # a level that is only assumed proves nothing
    assert len(diagnose("ABI003", facts={"host.glibc": "2.28"})) == 1


def test_abi003_macos(site, diagnose):
    site.add_files("mac", "1", {"mac/_C.cpython-311-darwin.so": macho(macos=(14, 0))})
    mac = replace(LINUX, os=OperatingSystem.MACOS, arch=Arch.ARM64, macos=(12, 0))
    old = diagnose("ABI003", target=mac, facts={"host.macos": "12.6.1"})
    assert told(old) == [("error", "mac", "`mac` needs macOS 14.0, and the target has 12.6")]
    assert diagnose("ABI003", target=mac, facts={"host.macos": "14.0"}) == []
    assert diagnose("ABI003", target=mac) == []


def test_abi004_python(site, diagnose):
    site.add_files("old", "1", {"old/_C.cpython-310-x86_64-linux-gnu.so": elf(), "old/_S.abi3.so": elf()})
    site.add_files("both", "1", {"both/_C.cpython-310-x86_64-linux-gnu.so": elf(), f"both/{EXTENSION}": elf()})
    site.add_files("free", "1", {"free/_C.cpython-311t-x86_64-linux-gnu.so": elf()})
    site.add_files("win", "1", {"win/native.pyd": pe(needed=("python312.dll",))})
    found = diagnose("ABI004")
    assert [(finding.subject, finding.message.split("for ")[1]) for finding in found] == [
        ("free", "cp311t, and the environment's Python is cp311"),
        ("old", "cp310, and the environment's Python is cp311"),
        ("win", "cp312, and the environment's Python is cp311"),
    ]
    assert found[1].remedy.commands == ('python -m pip install --force-reinstall --no-deps "old==1"',)


def test_abi004_the_stable_abi_is_not_for_free_threaded_pythons(site, diagnose):
    site.add_files("stable", "1", {"stable/_S.abi3.so": elf()})
    assert diagnose("ABI004") == []
    assert len(diagnose("ABI004", told=Interpreter(free_threaded=True))) == 1


@pytest.mark.parametrize(("numpy", "count"), [("2.1.0", 1), ("1.26.4", 0)])
def test_abi005_numpy(site, diagnose, numpy, count):
    site.add("numpy", numpy)
    site.add_files("old", "1", {f"old/{EXTENSION}": elf(sections=NUMPY_1)})
    site.add_files(
        "new",
        "1",
        {f"new/{EXTENSION}": elf(sections={".rodata": NUMPY_1[".rodata"] + b"\0numpy._core._multiarray_umath\0"})},
    )
    found = diagnose("ABI005")
    assert [finding.subject for finding in found] == ["old"] * count


def test_abi006_and_abi007_two_majors_in_one_process(site, diagnose):
    site.add_files("torch", "2.11.0", {f"torch/{EXTENSION}": elf(needed=("libcudart.so.13", "libcudnn.so.9"))})
    site.add_files("kernels", "1", {f"kernels/{EXTENSION}": elf(needed=("libcudart.so.12", "libcudnn.so.8"))})
    (cudnn,) = diagnose("ABI006")
    assert cudnn.message == "one process would load cuDNN 8 (`kernels`) and cuDNN 9 (`torch`)"
    (cuda,) = diagnose("ABI007")
    assert (cuda.subject, cuda.remedy.summary) == ("kernels", "take a build of `kernels` for CUDA 13")


def test_abi007_libraries_that_nobody_loads_are_fine(site, diagnose):
    site.add_files("nvidia-cublas-cu12", "12", {"nvidia/cublas/lib/libcublas.so.12": elf(needed=("libcudart.so.12",))})
    site.add_files("torch", "2.11.0", {f"torch/{EXTENSION}": elf(needed=("libcudart.so.13",))})
    assert diagnose("ABI007") == diagnose("ABI006") == []


def test_abi008_labels(site, diagnose):
    site.add("torch", "2.6.0+cu124")
    site.add("torchvision", "0.21.0+cpu")
    site.add("torchaudio", "2.6.0+cu124")
    site.add("torchcodec", "0.2.0")
    assert told(diagnose("ABI008")) == [
        (
            "error",
            "torchvision",
            "`torchvision` 0.21.0+cpu and `torch` 2.6.0+cu124 are different builds: for the CPU and for CUDA 12.4",
        )
    ]


@pytest.mark.parametrize(
    ("torch", "torchcodec", "told_of"),
    [
        ("cu130", "cpu", []),
        ("cu132", "cu130", []),
        ("cpu", "cu130", ["torchcodec"]),
        ("cu126", "cu130", ["torchcodec"]),
    ],
)
def test_abi008_a_torchcodec_for_the_cpu_loads_beside_each_torch(site, diagnose, torch, torchcodec, told_of):
    site.add("torch", f"2.13.0+{torch}")
    site.add("torchcodec", f"0.13.0+{torchcodec}")
    assert [finding.subject for finding in diagnose("ABI008")] == told_of


def test_gpu101_extension_for_another_card(site, diagnose):
    code = elf(sections={".nv_fatbin": fatbin((SASS, 110, 0))})
    site.add_files("thor", "1", {f"thor/{EXTENSION}": code})
    (finding,) = diagnose("GPU101", facts={"gpu[0].compute_capability": "9.0"})
    assert told([finding]) == [("error", "thor", "no kernel of `thor` runs on sm_90: it has sm_110 and no PTX")]
    assert "TORCH_CUDA_ARCH_LIST" in finding.remedy.summary
    assert "driver" not in finding.message + finding.remedy.summary
    assert diagnose("GPU101", facts={"gpu[0].compute_capability": "11.0"}) == []
    assert diagnose("GPU101") == []
    assert len(diagnose("GPU101", target=replace(LINUX, gpu_architecture="sm_120"))) == 1


def test_gpu101_judges_the_list_that_torch_gave_elsewhere(diagnose, site):
    facts = {"gpu[0].compute_capability": "12.0", "torch.arch_list": ["sm_50", "sm_80", "sm_90"]}
    (finding,) = diagnose("GPU101", facts={**facts, "torch.version": "2.6.0+cu124", "driver.version": "580.97"})
    assert finding.message == (
        "no kernel of `torch` 2.6.0+cu124 runs on sm_120: it has sm_50 to sm_90 and no PTX to fall back on"
    )
    assert finding.remedy.summary.startswith("take torch>=2.7 from the cu128 index or a newer one")
    assert diagnose("GPU101", facts={**facts, "torch.arch_list": ["sm_90", "compute_90"]}) == []
    site.add("torch", "2.6.0+cu124")
    assert diagnose("GPU101", facts=facts) == []


@pytest.mark.parametrize(
    ("card", "arch", "first"),
    [("sm_90", "x86_64", "cu118"), ("sm_120", "x86_64", "cu128"), ("sm_110", "aarch64", "cu130")],
)
def test_builds_of_torch_for_a_card(card, arch, first):
    assert builds_for(card, arch)[0] == first


def test_gpu101_ptx_saves_newer_cards(site, diagnose):
    site.add_files("a", "1", {f"a/{EXTENSION}": elf(sections={".nv_fatbin": fatbin((SASS, 80, 0), (PTX, 80, 0))})})
    assert diagnose("GPU101", facts={"gpu[0].compute_capability": "12.0"}) == []
    (finding,) = diagnose("GPU101", facts={"gpu[0].compute_capability": "7.5"})
    assert finding.message.endswith("it has sm_80, compute_80 and no PTX that it could compile")


def test_gpu101_one_library_of_several_is_noted(site, diagnose):
    files = {
        "vx/_C.abi3.so": elf(sections={".nv_fatbin": fatbin((SASS, 80, 0))}),
        "vx/_fa3.abi3.so": elf(sections={".nv_fatbin": fatbin((SASS, 90, 0x100000))}),
    }
    site.add_files("vx", "1", files)
    (finding,) = diagnose("GPU101", facts={"gpu[0].compute_capability": "8.6"})
    assert told([finding]) == [("info", "vx", "1 library of `vx` has no kernel for sm_86, others have")]


def test_gpu101_leaves_the_vendors_libraries_alone(site, diagnose):
    code = elf(sections={".nv_fatbin": fatbin((SASS, 52, 0))})
    site.add_files("nvidia-cublas-cu12", "12", {"nvidia/cublas/lib/libnvblas.so.12": code})
    assert diagnose("GPU101", facts={"gpu[0].compute_capability": "9.0"}) == []


def test_scan_stays_inside_the_environment_and_never_raises(site, tmp_path):
    (tmp_path / "outside.so").write_bytes(elf())
    site.add_files("evil", "1", {"evil/broken.abi3.so": b"\x7fELF" + bytes(8), "evil/text.so": b"INPUT ( -lfoo )"})
    record = site.folder / "evil-1.dist-info" / "RECORD"
    record.write_text(record.read_text() + "../../../outside.so,,\nmissing.so,,\n")
    scanned = scan_environment(site.environment(), live=False)
    assert len(scanned) == 0
    assert [reason for _, reason in scanned.unreadable] == ["is cut short", "No such file or directory"]


def test_scan_of_a_folder_without_file_lists(site):
    (site.folder / "bare").mkdir()
    (site.folder / "bare" / EXTENSION).write_bytes(elf())
    assert [item.name for item in scan_environment(site.environment(), live=False)] == [EXTENSION]


def test_loader_cache_is_read():
    names = b"libGL.so.1\0libz.so.1\0"
    start = 48 + 2 * 24
    entries = b"".join(struct.pack("<iIIIQ", 0x303, start + at, 0, 0, 0) for at in (0, 11))
    data = b"glibc-ld.so.cache1.1" + struct.pack("<II20x", 2, len(names)) + entries + names
    assert parse_ld_cache(data) == {"libGL.so.1", "libz.so.1"}
    assert parse_ld_cache(b"ld.so-1.7.0\0" + bytes(20) + data) == {"libGL.so.1", "libz.so.1"}
    assert parse_ld_cache(b"something else") == frozenset()


def test_loader_cache_libraries_of_another_machine_do_not_count():
    names = b"libGL.so.1\0libz.so.1\0liba.so.1\0"
    start = 48 + 3 * 24
    rows = ((0x303, 0), (0x3, 11), (0xA03, 21))
    entries = b"".join(struct.pack("<iIIIQ", flags, start + at, 0, 0, 0) for flags, at in rows)
    data = b"glibc-ld.so.cache1.1" + struct.pack("<II20x", 3, len(names)) + entries + names
    assert parse_ld_cache(data, "x86_64") == {"libGL.so.1"}
    assert parse_ld_cache(data, "aarch64") == {"liba.so.1"}
    assert parse_ld_cache(data, "riscv64") == {"libGL.so.1", "libz.so.1", "liba.so.1"}


@pytest.mark.parametrize(
    ("target", "libraries", "severity"),
    [
        (replace(LINUX, backend=Backend.CUDA), frozenset({"libc.so.6"}), Severity.WARNING),
        (replace(LINUX, backend=Backend.CUDA), None, Severity.INFO),
        (LINUX, frozenset({"libc.so.6"}), Severity.INFO),
    ],
)
def test_abi001_names_the_packages_that_onnxruntimes_provider_lacks(site, diagnose, target, libraries, severity):
    """The libraries that the provider of 1.31.1 asks for; without them the CPU does the work of a CUDA machine."""
    provider = elf(needed=("libcublasLt.so.13", "libcublas.so.13", "libcurand.so.10", "libcudart.so.13"))
    site.add_files("onnxruntime-gpu", "1.31.1", {"onnxruntime/capi/libonnxruntime_providers_cuda.so": provider})
    (finding,) = diagnose("ABI001", target=target, libraries=libraries)
    assert finding.severity is severity
    assert finding.remedy.summary.startswith(
        "install `nvidia-cublas==13.*`, `nvidia-curand==10.*` and `nvidia-cuda-runtime==13.*`, and call "
        "`onnxruntime.preload_dlls()`"
    )


def _hashed(site, name):
    """Write the hashes and sizes of what is there into a RECORD."""
    record = site.folder / f"{name}-1.dist-info" / "RECORD"
    rows = []
    for path in (line.partition(",")[0] for line in record.read_text().splitlines()):
        data = (site.folder / path).read_bytes()
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
        rows.append(f"{path},sha256={digest},{len(data)}\n")
    record.write_text("".join(rows))


@pytest.mark.parametrize(
    ("kept", "why"),
    [(0, "is neither ELF nor PE nor Mach-O"), (176, "has NULs where its dynamic section is")],
)
def test_env006_a_library_of_the_recorded_size_that_no_loader_takes_is_damaged(site, diagnose, kept, why):
    data = elf(needed=("libm.so.6",), sections={".rodata": bytes(range(256)) * 8})
    site.add_files("foo", "1", {f"foo/{EXTENSION}": data})
    _hashed(site, "foo")
    assert diagnose("ENV006") == []
    (site.folder / "foo" / EXTENSION).write_bytes(data[:kept] + bytes(len(data) - kept))
    (finding,) = diagnose("ENV006")
    assert (finding.severity, finding.subject) == (Severity.ERROR, "foo")
    assert f"{why}, and another content than recorded" in finding.evidence[0].what


def test_env006_what_was_delivered_as_no_library_is_no_damage(site, diagnose):
    site.add_files("tests", "1", {"tests/broken.so": b"\x7fELF" + bytes(8), "tests/nothing.dll": bytes(64)})
    _hashed(site, "tests")
    assert diagnose("ENV006") == []
