"""The system itself: what it is, how much memory and disk it has, WSL and the devices that GPUs appear as."""

from __future__ import annotations

import os
import platform
import re
import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from envdoctor.adapters.probe.host_machine import Machine, absent, known, unknown

if TYPE_CHECKING:
    from envdoctor.model.fact import Fact

__all__ = ["VARIABLES", "is_wsl", "parse_meminfo", "system_facts"]

_SYSTEMS = {"linux": "linux", "darwin": "macos", "win32": "windows"}
_DEVICES = ("/dev/dxg", "/dev/kfd", "/dev/nvidiactl", "/dev/accel", "/dev/dri")
VARIABLES = (
    "CUDA_HOME",
    "CUDA_PATH",
    "CUDA_VISIBLE_DEVICES",
    "DISABLE_ADDMM_CUDA_LT",
    "HIP_PATH",
    "HIP_VISIBLE_DEVICES",
    "HSA_ENABLE_DXG_DETECTION",
    "HSA_OVERRIDE_GFX_VERSION",
    "LD_LIBRARY_PATH",
    "PHONEMIZER_ESPEAK_LIBRARY",
    "PYTHONUTF8",
    "PYTORCH_CUDA_ALLOC_CONF",
    "PYTORCH_ENABLE_MPS_FALLBACK",
    "ROCM_PATH",
    "ROCR_VISIBLE_DEVICES",
    "TORCH_CUDA_ARCH_LIST",
)
"""Environment variables that decide how GPUs are found and used."""


def is_wsl(version: str) -> bool:
    """Return whether ``/proc/version`` is that of a kernel of the Windows Subsystem for Linux."""
    return "microsoft" in version.lower()


def parse_meminfo(text: str) -> tuple[int | None, int | None]:
    """Return total and available bytes out of ``/proc/meminfo``."""
    sizes = {key: int(value) * 1024 for key, value in re.findall(r"^(\w+):\s+(\d+) kB", text, re.MULTILINE)}
    return sizes.get("MemTotal"), sizes.get("MemAvailable")


def system_facts(machine: Machine, disk_at: str = ".") -> Iterator[Fact]:
    """Yield the facts of the system; ``disk_at``: the folder whose disk counts."""
    yield known("os", _SYSTEMS.get(machine.system, machine.system), "sys.platform")
    yield known("arch", machine.architecture.lower().replace("amd64", "x86_64"), "platform.machine")
    if machine.system == "linux":
        yield from _linux(machine)
    else:
        yield known("host.wsl", False, "sys.platform")
    if machine.system == "darwin":
        level = platform.mac_ver()[0]
        yield known("host.macos", level, "platform.mac_ver") if level else absent("host.macos", "platform.mac_ver")
    yield from _memory(machine)
    with suppress(OSError):
        yield known("host.disk_free_bytes", shutil.disk_usage(disk_at).free, str(Path(disk_at).absolute()))
    for name in VARIABLES:
        value = machine.environ.get(name)
        fact = f"environment.{name}"
        yield known(fact, value, "environment") if value is not None else absent(fact, "environment")


def _linux(machine: Machine) -> Iterator[Fact]:
    version = machine.text("/proc/version") or ""
    yield known("host.wsl", is_wsl(version), "/proc/version")
    release = machine.text("/proc/sys/kernel/osrelease")
    if release:
        yield known("host.kernel", release, "/proc/sys/kernel/osrelease")
    pretty = re.search(r'^PRETTY_NAME="?(.*?)"?$', machine.text("/etc/os-release") or "", re.MULTILINE)
    if pretty:
        yield known("host.distribution", pretty[1], "/etc/os-release")
    name, level = _libc()
    if name == "glibc" and machine.root == "/":
        yield known("host.glibc", level, "confstr")
    for device in _DEVICES:
        fact = f"device.{device}"
        yield known(fact, device, "/dev") if machine.exists(device) else absent(fact, "/dev")


def _libc() -> tuple[str, str]:
    """Return the C library's name and version; ``("", "")`` where it does not say (musl)."""
    with suppress(OSError, ValueError, AttributeError):
        name, _, level = str(os.confstr("CS_GNU_LIBC_VERSION")).partition(" ")
        return name, level
    return "", ""


def _memory(machine: Machine) -> Iterator[Fact]:
    total = available = None
    source = "/proc/meminfo"
    if machine.system == "linux":
        total, available = parse_meminfo(machine.text("/proc/meminfo") or "")
        limit = _container_limit(machine)
        if limit is not None and (total is None or limit < total):
            total, source = limit, "/sys/fs/cgroup/memory.max"
    elif machine.system == "darwin":
        outcome = machine.run(["/usr/sbin/sysctl", "-n", "hw.memsize"], 1.0)
        text = outcome.stdout.decode("ascii", "replace").strip()
        total, source = int(text) if text.isdigit() else None, "sysctl hw.memsize"
    else:
        total, source = _windows_memory(), "GlobalMemoryStatusEx"
    yield known("host.memory_bytes", total, source) if total else unknown("host.memory_bytes", source, "does not tell")
    if available:
        yield known("host.memory_available_bytes", available, "/proc/meminfo")


def _container_limit(machine: Machine) -> int | None:
    text = machine.text("/sys/fs/cgroup/memory.max") or ""
    return int(text) if text.isdigit() else None


def _windows_memory() -> int | None:
    import ctypes

    sizes = ("total", "free", "page", "free_page", "virtual", "free_virtual", "extended")

    class Status(ctypes.Structure):
        _fields_ = (
            ("length", ctypes.c_ulong),
            ("load", ctypes.c_ulong),
            *((name, ctypes.c_ulonglong) for name in sizes),
        )

    windll = getattr(ctypes, "windll", None)
    if windll is None:
        return None
    status = Status(length=ctypes.sizeof(Status))
    return int(status.total) if windll.kernel32.GlobalMemoryStatusEx(ctypes.byref(status)) else None
