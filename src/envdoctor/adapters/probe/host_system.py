"""The system itself: what it is, which Jetson board, its memory and disk, WSL, and the devices that GPUs appear as.

Sources for Jetson: ``/proc/device-tree`` (compatible strings of the kernel's bindings), ``/etc/nv_tegra_release`` and
the archive of Jetson Linux releases, which says the JetPack of each.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from envdoctor.adapters.probe.host_machine import Machine, absent, known, unknown, unless_barred
from envdoctor.model.fact import Fact

__all__ = [
    "VARIABLES",
    "is_wsl",
    "jetpack_of",
    "jetson_facts",
    "jetson_of",
    "parse_meminfo",
    "parse_tegra_release",
    "system_facts",
]

_COMPATIBLE, _RELEASE = "/proc/device-tree/compatible", "/etc/nv_tegra_release"
_CHIPS = {
    "tegra264": ("11.0", "Thor"),
    "tegra234": ("8.7", "Orin"),
    "tegra194": ("7.2", "Xavier"),
    "tegra186": ("6.2", "TX2"),
    "tegra210": ("5.3", "Nano or TX1"),
}
_JETPACKS = (
    ((39, 2), "7.2"),
    ((38, 4), "7.1"),
    ((38, 2), "7.0"),
    ((36, 4, 4), "6.2.1"),
    ((36, 4, 3), "6.2"),
    ((36, 4), "6.1"),
    ((36, 3), "6.0"),
    ((36, 2), "6.0 DP"),
    ((35, 6, 1), "5.1.5"),
    ((35, 6), "5.1.4"),
    ((35, 5), "5.1.3"),
    ((35, 4), "5.1.2"),
    ((35, 3), "5.1.1"),
    ((35, 2), "5.1"),
    ((35, 1), "5.0.2"),
    ((34, 1), "5.0"),
    ((32, 7), "4.6"),
    ((32, 6), "4.6"),
    ((32, 5), "4.5"),
)


def parse_tegra_release(text: str) -> str | None:
    """Return the release of Jetson Linux: ``# R36 (release), REVISION: 4.3, ...`` is 36.4.3."""
    match = re.search(r"#\s*R(\d{1,9})\s*\(release\),\s*REVISION:\s*([\d.]{1,20})", text)
    return f"{match[1]}.{match[2]}" if match else None


def jetpack_of(release: str) -> str | None:
    """Return the JetPack that a release of Jetson Linux belongs to."""
    mine = tuple(int(part) for part in release.split(".") if re.fullmatch("[0-9]{1,6}", part))
    for lowest, jetpack in _JETPACKS:
        if mine[:1] == lowest[:1] and mine >= lowest:
            return jetpack
    return None


def jetson_of(machine: Machine) -> Mapping[str, Any] | None:
    """Return name and compute capability of the board's module, None where it is no Jetson."""
    compatible = machine.text(_COMPATIBLE) or ""
    chip = next((item for item in _CHIPS if f"nvidia,{item}" in compatible), None)
    if chip is None:
        return None
    capability, family = _CHIPS[chip]
    model = machine.text("/proc/device-tree/model") or f"NVIDIA Jetson {family}"
    return {"name": model, "capability": capability, "chip": chip}


def jetson_facts(machine: Machine) -> Iterator[Fact]:
    """Yield ``host.jetson`` (the model), ``host.tegra`` (the chip), ``host.l4t`` and ``host.jetpack``.

    In a container one of the two sources may be missing; what it would tell is unknown then.
    """
    board, text = jetson_of(machine), machine.text(_RELEASE)
    release = parse_tegra_release(text or "")
    barrier = machine.barrier(_COMPATIBLE) or (f"only {_RELEASE} is there" if release and board is None else None)
    if board is not None:
        yield known("host.jetson", board["name"], "/proc/device-tree/model")
        yield known("host.tegra", board["chip"], _COMPATIBLE)
    else:
        for name in ("host.jetson", "host.tegra"):
            yield unknown(name, _COMPATIBLE, barrier) if barrier else absent(name, "/proc/device-tree")
    jetpack = jetpack_of(release) if release else None
    if release:
        yield known("host.l4t", release, _RELEASE)
        yield (
            known("host.jetpack", jetpack, _RELEASE)
            if jetpack
            else unknown("host.jetpack", _RELEASE, f"which JetPack Jetson Linux {release} belongs to is not known")
        )
        return
    reason = machine.barrier(_RELEASE) or (f"{_RELEASE} says no release" if text is not None else None)
    if board is not None and reason is None:
        reason = f"{_RELEASE} is not there"
    for name in ("host.l4t", "host.jetpack"):
        yield unknown(name, _RELEASE, reason) if reason else absent(name, _RELEASE)


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
    sizes = {key: int(value) * 1024 for key, value in re.findall(r"^(\w+):\s+([0-9]{1,20}) kB", text, re.MULTILINE)}
    return sizes.get("MemTotal"), sizes.get("MemAvailable")


def system_facts(machine: Machine, disk_at: str = ".") -> Iterator[Fact]:
    """Yield the facts of the system; ``disk_at``: the folder whose disk counts."""
    yield known("os", _SYSTEMS.get(machine.system, machine.system), "sys.platform")
    yield known("arch", machine.architecture.lower().replace("amd64", "x86_64"), "platform.machine")
    if machine.system == "linux":
        yield from _linux(machine)
    else:
        yield known("host.wsl", False, "sys.platform")
        yield absent("host.glibc", "sys.platform")
    if machine.system == "darwin":
        level, source = platform.mac_ver()[0], "platform.mac_ver"
        yield known("host.macos", level, source) if level else unknown("host.macos", source, "does not tell")
    else:
        yield absent("host.macos", "sys.platform")
    yield from _memory(machine)
    yield _disk(disk_at)
    for name in VARIABLES:
        value = machine.environ.get(name)
        fact = f"environment.{name}"
        yield known(fact, value, "environment") if value is not None else absent(fact, "environment")


def _disk(folder: str) -> Fact:
    where = str(Path(folder).absolute())
    try:
        return known("host.disk_free_bytes", shutil.disk_usage(folder).free, where)
    except (OSError, ValueError) as error:
        return unknown("host.disk_free_bytes", where, getattr(error, "strerror", None) or str(error))


def _linux(machine: Machine) -> Iterator[Fact]:
    source = "/proc/version"
    version = machine.text(source)
    yield known("host.wsl", is_wsl(version), source) if version else _silent(machine, "host.wsl", source)
    source = "/proc/sys/kernel/osrelease"
    release = machine.text(source)
    yield known("host.kernel", release, source) if release else _silent(machine, "host.kernel", source)
    source = "/etc/os-release"
    pretty = re.search(r'^PRETTY_NAME="?(.+?)"?$', machine.text(source) or "", re.MULTILINE)
    yield known("host.distribution", pretty[1], source) if pretty else _silent(machine, "host.distribution", source)
    name, level = _libc()
    if machine.root != "/":
        yield unknown("host.glibc", "confstr", "the C library of another root was not asked")
    else:
        yield known("host.glibc", level, "confstr") if name == "glibc" else absent("host.glibc", "confstr")
    for device in _DEVICES:
        fact = f"device.{device}"
        yield known(fact, device, "/dev") if machine.exists(device) else unless_barred(machine, fact, device)


def _silent(machine: Machine, name: str, path: str) -> Fact:
    """Return a fact that every machine has, and whose file does not tell it here."""
    said = f"{path} does not tell" if machine.exists(path) else f"{path} is not there"
    return unknown(name, path, machine.barrier(path) or said)


def _libc() -> tuple[str, str]:
    """Return the C library's name and version; ``("", "")`` where it does not say (musl)."""
    with suppress(OSError, ValueError, AttributeError):
        name, _, level = str(os.confstr("CS_GNU_LIBC_VERSION")).partition(" ")
        return name, level
    return "", ""


def _memory(machine: Machine) -> Iterator[Fact]:
    total = available = None
    source, reason = "/proc/meminfo", ""
    if machine.system == "linux":
        total, available = parse_meminfo(machine.text("/proc/meminfo") or "")
        limit = _container_limit(machine)
        if limit is not None and (total is None or limit < total):
            total, source = limit, "/sys/fs/cgroup/memory.max"
    elif machine.system == "darwin":
        outcome = machine.run(["/usr/sbin/sysctl", "-n", "hw.memsize"], 1.0)
        text = outcome.stdout.decode("ascii", "replace").strip()
        total, source = int(text) if re.fullmatch(r"[0-9]{1,20}", text) else None, "sysctl hw.memsize"
        reason = outcome.detail if outcome.status != "exited" else ""
    else:
        total, source = _windows_memory(), "GlobalMemoryStatusEx"
    reason = reason or machine.barrier("/proc/meminfo") or "does not tell"
    for name, value in (("host.memory_bytes", total), ("host.memory_available_bytes", available)):
        where = "/proc/meminfo" if name == "host.memory_available_bytes" and machine.system == "linux" else source
        yield known(name, value, where) if value else unknown(name, where, reason)


def _container_limit(machine: Machine) -> int | None:
    text = machine.text("/sys/fs/cgroup/memory.max") or ""
    return int(text) if re.fullmatch(r"[0-9]{1,20}", text) else None


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
