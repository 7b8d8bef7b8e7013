"""Binaries are read, never loaded: each format, made-up files and what compilers write."""

from __future__ import annotations

import contextlib
import shutil
import struct
import subprocess
import zlib
from pathlib import Path

import pytest
from binary_samples import elf, fatbin, hip_bundle, macho, pe, universal
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from envdoctor.adapters.probe.binary_reader import BinaryUnreadable, extension_tag, read_binary
from envdoctor.adapters.probe.fatbin import zstd_head
from envdoctor.model.binary import Binary, BinaryFormat, GpuCode

PTX, SASS = 1, 2


def write(folder: Path, name: str, data: bytes) -> Binary:
    path = folder / name
    path.write_bytes(data)
    return read_binary(path, numpy=True)


@pytest.mark.parametrize("wide", [True, False])
@pytest.mark.parametrize("order", ["<", ">"])
def test_binary_elf_headers(tmp_path, wide, order):
    data = elf(
        needed=("libcudart.so.12", "libc.so.6"),
        soname="libfoo.so.1",
        runpath="$ORIGIN:$ORIGIN/../lib",
        glibc=("GLIBC_2.2.5", "GLIBC_2.34", "GLIBC_2.9"),
        wide=wide,
        order=order,
    )
    found = write(tmp_path, "libfoo.so.1", data)
    assert found.format is BinaryFormat.ELF
    assert found.architectures == ("x86_64",)
    assert found.needed == ("libcudart.so.12", "libc.so.6")
    assert found.soname == "libfoo.so.1"
    assert found.search == ("$ORIGIN", "$ORIGIN/../lib")
    assert found.glibc == (2, 34)
    assert not found.extension


def test_binary_pe_headers_agree_with_pefile(tmp_path):
    pefile = pytest.importorskip("pefile")
    data = pe(needed=("python311.dll", "c10.dll"), delayed=("nvcuda.dll",), machine=0xAA64)
    found = write(tmp_path, "_C.pyd", data)
    assert (found.format, found.architectures) == (BinaryFormat.PE, ("arm64",))
    assert (found.needed, found.optional) == (("python311.dll", "c10.dll"), ("nvcuda.dll",))
    assert (found.extension, found.python) == (True, "cp311")
    with pefile.PE(data=data) as other:
        assert [item.dll.decode() for item in other.DIRECTORY_ENTRY_IMPORT] == list(found.needed)


def test_binary_macho_headers_agree_with_macholib(tmp_path):
    macholib = pytest.importorskip("macholib.MachO")
    arm = macho(needed=("@rpath/libc10.dylib",), weak=("/usr/lib/libz.dylib",), rpath="@loader_path", macos=(11, 0))
    intel = macho(cpu=0x01000007, needed=("@rpath/libc10.dylib",), macos=(10, 15))
    found = write(tmp_path, "_C.cpython-311-darwin.so", universal((0x01000007, intel), (0x0100000C, arm)))
    assert found.architectures == ("x86_64", "arm64")
    assert (found.needed, found.optional, found.search) == (
        ("@rpath/libc10.dylib",),
        ("/usr/lib/libz.dylib",),
        ("@loader_path",),
    )
    assert (found.macos, found.python) == ((11, 0), "cp311")
    other = macholib.MachO(str(tmp_path / "_C.cpython-311-darwin.so"))
    assert len(other.headers) == 2


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "is neither ELF nor PE nor Mach-O"),
        (b"hello world", "is neither ELF nor PE nor Mach-O"),
        (elf()[:40], "is cut short"),
        (b"\x7fELF" + bytes(60), "has an ELF header of no known class"),
        (b"MZ" + bytes(100), "starts like a DOS program and is no PE file"),
        (b"\xca\xfe\xba\xbe\x00\x00\x00\x41" + bytes(64), "starts like a universal Mach-O file and is none"),
        (macho(needed=("a",))[:40], "is cut short"),
    ],
)
def test_binary_that_is_none_says_why(tmp_path, data, reason):
    with pytest.raises(BinaryUnreadable, match=reason):
        write(tmp_path, "x.so", data)


def test_binary_that_is_not_there(tmp_path):
    with pytest.raises(BinaryUnreadable, match="No such file"):
        read_binary(tmp_path / "none.so")


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(data=st.data())
def test_binary_with_changed_bytes_never_raises_anything_else(tmp_path, data):
    samples = (
        elf(needed=("a", "b"), glibc=("GLIBC_2.1",), sections={".nv_fatbin": fatbin((SASS, 90, 0))}),
        elf(sections={".hip_fatbin": hip_bundle("gfx1030", "gfx90a:xnack-")}),
        pe(needed=("a.dll",), delayed=("b.dll",), sections={".nv_fatb": fatbin((PTX, 80, 0))}),
        universal((7, macho(needed=("a",), macos=(12, 0)))),
    )
    changed = bytearray(data.draw(st.sampled_from(samples)))
    for _ in range(data.draw(st.integers(1, 12))):
        changed[data.draw(st.integers(0, min(len(changed), 6000) - 1))] = data.draw(st.integers(0, 255))
    with contextlib.suppress(BinaryUnreadable):
        write(tmp_path, "x.so", bytes(changed[: data.draw(st.integers(1, len(changed)))]))


@pytest.mark.parametrize(
    ("name", "tag"),
    [
        ("_C.cpython-311-x86_64-linux-gnu.so", "cp311"),
        ("_C.cpython-313t-darwin.so", "cp313t"),
        ("_C.cpython-38d-x86_64-linux-gnu.so", "cp38"),
        ("_C.cp310-win_amd64.pyd", "cp310"),
        ("_C.abi3.so", "abi3"),
        ("_C.pypy310-pp73-x86_64-linux-gnu.so", "pypy310"),
        ("libfoo.so", None),
        ("libfoo.so.1", None),
        ("foo.cp310.py", None),
    ],
)
def test_binary_extension_tag(name, tag):
    assert extension_tag(name) == tag


def test_binary_numpy_by_the_import_code(tmp_path):
    check = b"module compiled against ABI version 0x%x but this version of numpy is 0x%x\0"
    one = elf(sections={".rodata": b"numpy.core._multiarray_umath\0_ARRAY_API\0" + check})
    two = elf(sections={".rodata": b"numpy._core._multiarray_umath\0numpy.core._multiarray_umath\0" + check})
    soft = elf(sections={".rodata": b"numpy.core.multiarray\0_ARRAY_API\0"})
    rust = elf(
        sections={".rodata": b"numpy.core.multiarray_ARRAY_APImodule compiled against ABI version but this version"}
    )
    found = [write(tmp_path, "a.abi3.so", data).numpy for data in (one, two, soft, rust)]
    # The last two are how pybind11 and Rust's numpy crate ask, which run with either.
    assert found == ["1", "2", None, None]


def test_binary_numpy_in_a_universal_file(tmp_path):
    constants = b"numpy.core._multiarray_umath\0module compiled against ABI version 0x%x\0"
    data = universal((0x01000007, macho()), (0x0100000C, macho(needed=("a",), constants=constants)))
    assert write(tmp_path, "a.abi3.so", data).numpy == "1"


def test_fatbin_lists_machine_code_and_ptx(tmp_path):
    section = fatbin() + fatbin((SASS, 80, 0x11), (SASS, 90, 0x100011), (PTX, 90, 0x8011), payload=72)
    section += bytes(-len(section) % 8) + fatbin((SASS, 120, 0x1200011), header=112)
    found = write(tmp_path, "a.so", elf(sections={".nv_fatbin": section})).gpu
    assert found == GpuCode(("sm_80", "sm_90a", "sm_120f"), ("compute_90",))


@pytest.mark.parametrize("name", [".nv_fatbin", "__nv_relfatbin"])
def test_fatbin_with_padding_is_complete_and_with_other_bytes_is_not(tmp_path, name):
    part = fatbin((SASS, 80, 0))
    padded = write(tmp_path, "a.so", elf(sections={name: part + bytes(256) + part})).gpu
    assert padded == GpuCode(("sm_80",), (), (), complete=True)
    strange = write(tmp_path, "b.so", elf(sections={name: part + b"\x01" * 256 + part})).gpu
    assert strange.sass == ("sm_80",)
    assert not strange.complete
    assert strange.runs_on("sm_90") is None


def test_fatbin_in_pe(tmp_path):
    found = write(tmp_path, "a.dll", pe(sections={".nv_fatb": fatbin((SASS, 75, 0), (PTX, 75, 0))})).gpu
    assert found == GpuCode(("sm_75",), ("compute_75",))


def test_hip_bundles_plain_and_compressed(tmp_path):
    plain = hip_bundle("gfx1030", "gfx90a:sramecc+:xnack-") + hip_bundle("gfx1100", "gfx11-generic")
    found = write(tmp_path, "a.so", elf(sections={".hip_fatbin": plain})).gpu
    assert found.amd == ("gfx1030", "gfx11-generic", "gfx1100", "gfx90a")
    packed = zlib.compress(hip_bundle("gfx942"))
    header = b"CCOB" + struct.pack("<HHIIQ", 2, 0, 24 + len(packed), 4096, 0)
    found = write(tmp_path, "b.so", elf(sections={".hip_fatbin": header + packed})).gpu
    assert (found.amd, found.complete) == (("gfx942",), True)
    strange = b"CCOB" + struct.pack("<HHIIQ", 2, 7, 64, 4096, 0) + bytes(40)
    assert not write(tmp_path, "c.so", elf(sections={".hip_fatbin": strange})).gpu.complete


def zstd_frame(data: bytes) -> bytes:
    """Return a zstd frame of one block that is not compressed (RFC 8878, 3.1.1)."""
    block = (len(data) << 3 | 1).to_bytes(3, "little") + data
    return b"\x28\xb5\x2f\xfd" + b"\xa0" + struct.pack("<I", len(data)) + block


@pytest.mark.parametrize("version", [2, 3])
def test_hip_bundles_compressed_by_zstd(tmp_path, version):
    if zstd_head(zstd_frame(b"x"), 10) is None:
        pytest.skip("nothing on this host reads zstd")
    form, size = ("<HHIIQ", 24) if version == 2 else ("<HHQQQ", 32)
    packed = [zstd_frame(hip_bundle(name)) for name in ("gfx942", "gfx1201")]
    bundles = [b"CCOB" + struct.pack(form, version, 1, size + len(item), 8192, 0) + item for item in packed]
    aligned = bundles[0].ljust(-(-len(bundles[0]) // 4096) * 4096, b"\0") + bundles[1]
    # The last bundle is not padded, and other sections follow it.
    found = write(tmp_path, "a.so", elf(sections={".hip_fatbin": aligned, ".data": b"\x01" * 9000})).gpu
    assert (found.amd, found.complete) == (("gfx1201", "gfx942"), True)
    broken = bundles[0][:-100] + bytes(100)
    cut = write(tmp_path, "b.so", elf(sections={".hip_fatbin": b"CCOB" + broken[4:40]})).gpu
    assert not cut.complete


@pytest.mark.parametrize("limit", [1, 10, 100000])
def test_zstd_head_is_bounded_and_never_raises(limit):
    whole = zstd_head(zstd_frame(b"abc" * 1000), limit)
    if whole is None:
        pytest.skip("nothing on this host reads zstd")
    assert whole == (b"abc" * 1000)[:limit]
    assert zstd_head(b"\x28\xb5\x2f\xfd\xff\xff\xff", limit) in (None, b"")
    assert zstd_head(b"not a frame", limit) is None


@pytest.mark.parametrize(
    ("code", "card", "runs"),
    [
        (GpuCode(("sm_80", "sm_86")), "sm_89", True),
        (GpuCode(("sm_86",)), "sm_80", False),
        (GpuCode(("sm_80", "sm_90")), "sm_120", False),
        (GpuCode(("sm_80",), ("compute_90",)), "sm_120", True),
        (GpuCode(("sm_80",), ("compute_120",)), "sm_90", False),
        (GpuCode(("sm_90a",)), "sm_90", True),
        (GpuCode(("sm_100a",)), "sm_103", False),
        (GpuCode(("sm_100f",)), "sm_103", True),
        (GpuCode((), ("compute_90a",)), "sm_100", False),
        (GpuCode((), ("compute_100f",)), "sm_120", False),
        (GpuCode(amd=("gfx1030",)), "gfx1030", True),
        (GpuCode(amd=("gfx1030",)), "gfx1031", False),
        (GpuCode(amd=("gfx10-3-generic",)), "gfx1031", True),
        (GpuCode(amd=("gfx90a",)), "gfx90a:xnack-", True),
        (GpuCode(amd=("gfx1030",)), "sm_90", None),
        (GpuCode(("sm_80",)), "gfx1030", None),
        (GpuCode(), "sm_90", None),
    ],
)
def test_gpu_code_runs_on(code, card, runs):
    assert code.runs_on(card) is runs


@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not here")
def test_binary_that_gcc_wrote(tmp_path):
    elffile = pytest.importorskip("elftools.elf.elffile")
    source = tmp_path / "a.c"
    source.write_text("#include <math.h>\ndouble f(double x) { return pow(x, x); }\n")
    target = tmp_path / "libf.so.1"
    command = ["gcc", "-shared", "-fPIC", "-Wl,-soname,libf.so.1", "-Wl,-rpath,$ORIGIN/lib", "-Wl,--no-as-needed"]
    subprocess.run([*command, "-o", target, source, "-lm"], check=True, timeout=60)
    found = read_binary(target)
    with target.open("rb") as file:
        dynamic = elffile.ELFFile(file).get_section_by_name(".dynamic")
        needed = tuple(tag.needed for tag in dynamic.iter_tags() if tag.entry.d_tag == "DT_NEEDED")
    assert found.needed == needed
    assert "libm.so.6" in needed
    assert (found.soname, found.search) == ("libf.so.1", ("$ORIGIN/lib",))
    assert found.glibc is not None


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is not here")
@pytest.mark.parametrize(
    ("options", "sass", "ptx"),
    [
        (("-gencode", "arch=compute_110,code=sm_110"), ("sm_110",), ()),
        (("-gencode", "arch=compute_90a,code=[sm_90a,compute_90a]"), ("sm_90a",), ("compute_90a",)),
        (("-gencode", "arch=compute_80,code=[sm_80,compute_80]", "-rdc=true"), ("sm_80",), ("compute_80",)),
        (("-gencode", "arch=compute_120f,code=sm_120f", "--compress-mode=none"), ("sm_120f",), ()),
    ],
)
def test_fatbin_that_nvcc_wrote(tmp_path, options, sass, ptx):
    source = tmp_path / "k.cu"
    source.write_text("__global__ void k(float *a) { a[threadIdx.x] *= 2; }\nvoid f() { k<<<1, 32>>>(nullptr); }\n")
    target = tmp_path / "libk.so"
    command = ["nvcc", "-shared", "-Xcompiler", "-fPIC", "-cudart", "none", *options, "-o", target, source]
    done = subprocess.run(command, timeout=120, capture_output=True, text=True)
    if "Unsupported gpu architecture" in done.stderr or "unsupported" in done.stderr.lower():
        pytest.skip("this nvcc does not know that architecture")
    assert done.returncode == 0, done.stderr
    assert read_binary(target).gpu == GpuCode(sass, ptx)
