"""ZLUDA in place: libraries with CUDA's names that are ZLUDA's.

ZLUDA's DLLs carry its name in their strings and need AMD's HIP runtime (``amdhip64_*.dll``) where NVIDIA's never do. A
file is known by either; its headers and at most 64 MiB of it are read, nothing is loaded.
"""

from __future__ import annotations

import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

from envdoctor.adapters.probe.binary_reader import BinaryUnreadable, read_binary
from envdoctor.adapters.probe.host_machine import Machine, absent, known, unknown
from envdoctor.model.fact import Fact

__all__ = ["zluda_facts", "zluda_library"]

_NAMES = ("libcuda.so.1", "libcuda.so")
_STAND_INS = ("nvcuda.dll", "cublas64_11.dll", "cublas64_12.dll", "cusparse64_11.dll", "cusparse64_12.dll",
              "nvrtc64_112_0.dll", "nvrtc64_120_0.dll", "cudnn64_8.dll", "cudnn64_9.dll", "cufft64_10.dll",
              "cufft64_11.dll", "cublas.dll", "cusparse.dll", "nvrtc.dll", "cublasLt64_11.dll", "nvml.dll")  # fmt: skip
_MARKS = (b"ZLUDA", b"zluda")
_READ_LIMIT = 64 << 20
_HIP = ("amdhip64", "libamdhip64")


def zluda_library(path: Path) -> tuple[bool, str | None]:
    """Return whether a library is ZLUDA's, and the HIP runtime that it asks for. Never raises."""
    try:
        binary = read_binary(path, gpu=False)
    except BinaryUnreadable:
        return False, None
    asked = (*binary.needed, *binary.optional)
    hip = next((name for name in asked if name.lower().startswith(_HIP)), None)
    if hip is not None:
        return True, hip.lower()
    try:
        with path.open("rb") as file:
            data = file.read(_READ_LIMIT)
    except OSError:
        return False, None
    loaded = next((name for name in (b"amdhip64_7.dll", b"amdhip64_6.dll", b"amdhip64.dll") if name in data), None)
    return any(mark in data for mark in _MARKS), loaded.decode() if loaded else None


def zluda_facts(machine: Machine, folders: Iterable[str] = ()) -> Iterator[Fact]:
    """Yield what of ZLUDA lies in the folders, by default those of ZLUDA_PATH and PATH on Windows.

    ``folders``: more of them, such as ``torch/lib`` of an environment, where ZLUDA's DLLs take the place of CUDA's.
    """
    places = [*folders, *_own_folders(machine)]
    theirs: list[str] = []
    hip = hidden = None
    for place in dict.fromkeys(places):
        for name in (*_STAND_INS, *_NAMES):
            path = Path(place, name)
            barrier = _barrier(path)
            is_zluda, asked = zluda_library(path) if barrier == "" else (False, None)
            if is_zluda:
                theirs.append(str(path))
                hip = hip or asked
            hidden = hidden or barrier
    if theirs:
        yield known("zluda.libraries", theirs, "the files' headers and strings")
        yield (
            known("zluda.hip_library", hip, theirs[0])
            if hip
            else unknown("zluda.hip_library", theirs[0], "the files do not name it")
        )
        return
    for fact in ("zluda.libraries", "zluda.hip_library"):
        looked = "ZLUDA_PATH and PATH"
        yield unknown(fact, looked, hidden) if hidden else absent(fact, looked)


def _barrier(path: Path) -> str | None:
    """Return "" for a file that can be read, None where there is none, else why it cannot be looked at."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            return None
        path.open("rb").close()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError) as error:
        return f"{path}: {getattr(error, 'strerror', None) or error}"
    return ""


def _own_folders(machine: Machine) -> list[str]:
    named = [machine.environ[key] for key in ("ZLUDA_PATH", "ZLUDA_HOME") if machine.environ.get(key)]
    if machine.system != "win32":
        return named
    return [*named, *(item for item in machine.environ.get("PATH", "").split(";") if "zluda" in item.lower())]
