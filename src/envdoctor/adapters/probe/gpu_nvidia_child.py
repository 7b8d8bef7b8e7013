"""Ask NVIDIA's management library (NVML) about the cards; run as a script in a child, never imported.

A driver can hang or kill a process that asks it; that process is this one. Prints one JSON object.
"""

import ctypes
import json
import sys
from typing import Any

_MIG_OFF = 0
_NAME_BYTES = 96


class _Memory(ctypes.Structure):
    _fields_ = [("total", ctypes.c_ulonglong), ("free", ctypes.c_ulonglong), ("used", ctypes.c_ulonglong)]


def _open(names: list[str]) -> Any:
    for name in names[:-1]:
        try:
            return ctypes.CDLL(name)
        except OSError:  # noqa: PERF203 - two names at most
            continue
    return ctypes.CDLL(names[-1])


def _text(function: Any, *arguments: Any) -> Any:
    buffer = ctypes.create_string_buffer(_NAME_BYTES)
    return buffer.value.decode("utf-8", "replace") if function(*arguments, buffer, _NAME_BYTES) == 0 else None


def _card(nvml: Any, index: int) -> Any:
    handle = ctypes.c_void_p()
    if nvml.nvmlDeviceGetHandleByIndex_v2(index, ctypes.byref(handle)) != 0:
        return {"index": index}
    major, minor, memory = ctypes.c_int(), ctypes.c_int(), _Memory()
    card = {"index": index, "name": _text(nvml.nvmlDeviceGetName, handle)}
    if nvml.nvmlDeviceGetCudaComputeCapability(handle, ctypes.byref(major), ctypes.byref(minor)) == 0:
        card["compute_capability"] = f"{major.value}.{minor.value}"
    if nvml.nvmlDeviceGetMemoryInfo(handle, ctypes.byref(memory)) == 0:
        card["memory_bytes"] = memory.total
        card["memory_free_bytes"] = memory.free
    current, pending = ctypes.c_uint(), ctypes.c_uint()
    if nvml.nvmlDeviceGetMigMode(handle, ctypes.byref(current), ctypes.byref(pending)) == 0:
        card["mig"] = current.value != _MIG_OFF
    return card


def _words(nvml: Any, status: int) -> str:
    text: bytes = nvml.nvmlErrorString(status) or b""
    return text.decode("utf-8", "replace") or f"error {status}"


def main(names: list[str]) -> Any:
    """Return what NVML says."""
    try:
        nvml = _open(names)
    except FileNotFoundError as error:  # Windows' word for it; elsewhere the loader says it in an OSError.
        return {"missing": str(error)}
    except OSError as error:
        return {"error": str(error)}
    nvml.nvmlErrorString.restype = ctypes.c_char_p
    status = nvml.nvmlInit_v2()
    if status != 0:
        return {"error": _words(nvml, status)}
    version, count = ctypes.c_int(), ctypes.c_uint()
    answer = {"driver": _text(nvml.nvmlSystemGetDriverVersion)}
    if nvml.nvmlSystemGetCudaDriverVersion(ctypes.byref(version)) == 0:
        answer["cuda"] = f"{version.value // 1000}.{version.value % 1000 // 10}"
    status = nvml.nvmlDeviceGetCount_v2(ctypes.byref(count))
    if status == 0:
        answer["cards"] = [_card(nvml, index) for index in range(count.value)]
    else:
        answer["uncounted"] = _words(nvml, status)
    return answer


if __name__ == "__main__":
    sys.stdout.write(json.dumps(main(sys.argv[1:])) + "\n")
