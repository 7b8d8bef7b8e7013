"""AMD: cards with their gfx names, ROCm, the HIP SDK, and what WSL needs.

Order of sources: the kernel's topology in ``/sys/class/kfd`` (cards), ``rocminfo`` in a child where the kernel shows
none (WSL has no ``/dev/kfd``), ``/opt/rocm/.info/version`` (ROCm), ``HIP_PATH`` on Windows. Formats: the kernel's
documentation of amdkfd, and ROCm's own tools.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from envdoctor.adapters.probe.cards import CardListing
from envdoctor.adapters.probe.host_machine import Machine, absent, known, unknown, unless_barred
from envdoctor.model.fact import Fact

__all__ = ["amd_cards", "gfx_name", "parse_hip_path", "parse_node", "parse_rocminfo", "rocm_facts"]

_NODES = "/sys/class/kfd/kfd/topology/nodes"
_LONGEST = 60
_NO_VERSION = "the folder's name does not say its version"
_NO_MODULE = "ROCk module is NOT loaded"
_WSL_DEVICE, _WSL_NVIDIA = "/dev/dxg", "/usr/lib/wsl/lib/nvidia-smi"
_AGENT = re.compile(r"^[^\S\n]*Agent \d+\s*$", re.MULTILINE)


def gfx_name(version: int) -> str:
    """Return the name of a ``gfx_target_version``: 100300 is gfx1030, 90010 is gfx90a."""
    return f"gfx{version // 10000}{version // 100 % 100:x}{version % 100:x}"


def parse_node(text: str) -> dict[str, int]:
    """Return the properties of one node of the topology."""
    pairs = (line.split() for line in text.splitlines())
    return {pair[0]: int(pair[1]) for pair in pairs if len(pair) == 2 and re.fullmatch(r"[0-9]{1,20}", pair[1])}


def parse_rocminfo(text: str) -> list[dict[str, Any]]:
    """Return the GPU agents that ``rocminfo`` lists."""
    cards: list[dict[str, Any]] = []
    for part in _AGENT.split(text)[1:]:
        rows = re.findall(r"^  ([A-Z][\w ]+):[^\S\n]+(.*)$", part, re.MULTILINE)
        fields = {key: value.strip() for key, value in rows}
        if fields.get("Device Type") == "GPU" and re.fullmatch(r"gfx[0-9a-f]+", fields.get("Name", "")):
            name = "".join(character for character in fields.get("Marketing Name", "") if character.isprintable())
            cards.append({"architecture": fields["Name"], "name": name[:120] or fields["Name"]})
    return cards


def parse_hip_path(path: str) -> str | None:
    r"""Return the version of the HIP SDK that ``HIP_PATH`` names: ``C:\Program Files\AMD\ROCm\6.2``."""
    match = re.search(r"[\\/]ROCm[\\/](\d+\.\d+(?:\.\d+)?)", path, re.IGNORECASE)
    return match[1] if match else None


def amd_cards(machine: Machine) -> CardListing:
    """Return the cards that ROCm computes on."""
    cards: list[tuple[str, Mapping[str, Any]]] = []
    hidden = machine.barrier(_NODES)
    for node in sorted(machine.entries(_NODES), key=lambda name: (len(name), name)):
        text = machine.text(f"{_NODES}/{node}/properties")
        if text is None:
            hidden = hidden or machine.barrier(f"{_NODES}/{node}/properties")
        version = parse_node(text or "").get("gfx_target_version", 0)
        if not version:
            continue  # a CPU
        name = machine.text(f"{_NODES}/{node}/name")
        cards.append((f"{_NODES}/{node}", {"architecture": gfx_name(version), "name": name or gfx_name(version),
                                           "memory_bytes": _memory(machine, node)}))  # fmt: skip
    if cards:
        return CardListing(tuple(cards))  # The kernel hides from a container the cards that are not its own.
    listing = _ask_rocminfo(machine)
    if listing is None and not hidden and machine.exists(_WSL_DEVICE) and not machine.exists(_WSL_NVIDIA):
        return CardListing(uncounted=f"{_WSL_DEVICE} is there, and no program that tells the cards behind it")
    return listing or CardListing(uncounted=hidden)


def _ask_rocminfo(machine: Machine) -> CardListing | None:
    """Return what ``rocminfo`` lists, None where it is not there."""
    program = machine.which("rocminfo")
    if program is None:
        return None
    outcome = machine.run([program])
    text = outcome.stdout.decode("utf-8", "replace")
    if outcome.status != "exited":
        return CardListing(uncounted=f"rocminfo: {outcome.detail}")
    cards = parse_rocminfo(text)
    if not cards and _NO_MODULE in text and not machine.exists(_WSL_DEVICE):
        return CardListing()  # Without the kernel's module there is no card for ROCm; WSL has none in any case.
    if not cards and (outcome.code != 0 or not _AGENT.search(text)):
        said = next((line.strip() for line in (text or outcome.stderr.decode("utf-8", "replace")).splitlines()), "")
        said = "".join(character for character in said if character.isprintable())[:120]
        return CardListing(uncounted=f"rocminfo says {f'`{said}`' if said else 'nothing'}")
    return CardListing(tuple(("rocminfo", card) for card in cards))


def _memory(machine: Machine, node: str) -> int | None:
    """Return the bytes of a card's own memory: banks of heap type 1 (visible) and 2 (not visible to the host)."""
    folder = f"{_NODES}/{node}/mem_banks"
    banks = [parse_node(machine.text(f"{folder}/{bank}/properties") or "") for bank in machine.entries(folder)]
    return sum(bank.get("size_in_bytes", 0) for bank in banks if bank.get("heap_type") in (1, 2)) or None


def rocm_facts(machine: Machine) -> Iterator[Fact]:
    """Yield ROCm's version, the driver's, and the libraries that advisories ask for."""
    if machine.system == "win32":
        yield from _hip_sdk(machine)
        return
    if machine.system != "linux":
        return
    yield _rocm(machine)
    yield _driver(machine)
    yield _wsl_runtime(machine)
    yield _package(machine, "libhsa-runtime64-1")
    yield _hip_library(machine)


def _driver(machine: Machine) -> Fact:
    folder = "/sys/module/amdgpu"
    driver = machine.text(f"{folder}/version")
    if driver:
        return known("amdgpu.version", driver, f"{folder}/version")
    if barrier := machine.barrier(folder) or machine.barrier(f"{folder}/version"):
        return unknown("amdgpu.version", folder, barrier)
    if not machine.exists(folder):
        return absent("amdgpu.version", folder)
    return known("amdgpu.version", f"kernel {machine.text('/proc/sys/kernel/osrelease') or ''}".strip(), "/sys/module")


def _rocm(machine: Machine) -> Fact:
    root = machine.environ.get("ROCM_PATH") or "/opt/rocm"
    for file in (f"{root}/.info/version", f"{root}/.info/version-dev"):
        text = machine.text(file)
        if text and (match := re.match(r"\d{1,9}(\.\d{1,9})+(?!\d)", text[:_LONGEST])):
            return known("rocm.version", match[0], file)
    if machine.exists(root):
        return unknown("rocm.version", root, f"{root} is there and does not say its version")
    return unless_barred(machine, "rocm.version", root)


def _wsl_runtime(machine: Machine) -> Fact:
    """ROCm reaches the card through WSL's /dev/dxg with a runtime of its own: librocdxg, or before it rocr4wsl."""
    root = machine.environ.get("ROCM_PATH") or "/opt/rocm"
    library = next((name for name in machine.entries(f"{root}/lib") if name.startswith("librocdxg.so")), None)
    if library:
        return known("rocm.wsl_runtime", library, f"{root}/lib")
    package = "hsa-runtime-rocr4wsl-amdgpu"
    if machine.exists(f"/var/lib/dpkg/info/{package}.list"):
        return known("rocm.wsl_runtime", package, "/var/lib/dpkg/info")
    return unless_barred(machine, "rocm.wsl_runtime", f"{root}/lib")


def _package(machine: Machine, name: str) -> Fact:
    folder = "/var/lib/dpkg/info"
    if not machine.exists(folder):
        return unknown(f"system.{name}", folder, machine.barrier(folder) or "this system has no dpkg")
    found = next((item for item in machine.entries(folder) if re.fullmatch(rf"{name}(:\w+)?\.list", item)), None)
    if found:
        return known(f"system.{name}", found.removesuffix(".list"), folder)
    return unless_barred(machine, f"system.{name}", folder)


def _hip_library(machine: Machine) -> Fact:
    name, file = "library.amdhip64_7", "libamdhip64.so.7"
    if file in machine.libraries():
        return known(name, file, "ld.so")
    folder = f"{machine.environ.get('ROCM_PATH') or '/opt/rocm'}/lib"
    if file in machine.entries(folder):
        return known(name, f"{folder}/{file}", folder)
    if reason := machine.loader_silent():
        return unknown(name, "ld.so", reason)
    return unless_barred(machine, name, folder)


def _hip_sdk(machine: Machine) -> Iterator[Fact]:
    path = machine.environ.get("HIP_PATH", "")
    version = parse_hip_path(path)
    if path:
        yield (
            known("rocm.version", version, "HIP_PATH") if version else unknown("rocm.version", "HIP_PATH", _NO_VERSION)
        )
        yield known("hip_sdk.path", path, "HIP_PATH")
    else:
        yield absent("rocm.version", "HIP_PATH")
        yield absent("hip_sdk.path", "HIP_PATH")
    system = machine.environ.get("SYSTEMROOT", "C:\\Windows").replace("\\", "/") + "/System32"
    found = machine.exists(f"{system}/amdhip64_7.dll")
    yield (
        known("library.amdhip64_7", f"{system}/amdhip64_7.dll", system)
        if found
        else unless_barred(machine, "library.amdhip64_7", system)
    )
