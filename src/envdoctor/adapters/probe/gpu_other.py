"""Intel's and Apple's GPUs, and the adapters that Windows lists.

Sources: ``/sys/class/drm`` (PCI vendor, kernel driver), sysctl and its documented names on macOS, Windows' registry
class of display adapters.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from envdoctor.adapters.probe.cards import CardListing
from envdoctor.adapters.probe.host_machine import Machine

__all__ = [
    "DRM",
    "apple_card",
    "drm_cards",
    "nvidia_version_of_windows",
    "vendor_of",
    "windows_adapters",
]

Card = Mapping[str, Any]
_PCI = {"8086": "intel", "1002": "amd", "1022": "amd", "10de": "nvidia", "5143": "qualcomm", "4d4f4351": "qualcomm"}
_SOFTWARE = ("basic render", "basic display", "remote display", "parsec", "virtual", "meta ", "indirect")
DRM = "/sys/class/drm"
_CLASS = r"SYSTEM\CurrentControlSet\Control\Class\{4d36e968-e325-11ce-bfc1-08002be10318}"
_MOST_ADAPTERS = 32


def vendor_of(text: str) -> str:
    r"""Return the vendor that a PCI id (``PCI\\VEN_1002&DEV_73DF``) or an adapter's name speaks of."""
    if match := re.search(r"VEN_([0-9A-Fa-f]{4,8})", text):
        return _PCI.get(match[1].lower(), "other")
    lowered = text.lower()
    marks = {
        "nvidia": "nvidia",
        "geforce": "nvidia",
        "radeon": "amd",
        "amd": "amd",
        "intel": "intel",
        "adreno": "qualcomm",
    }
    return next((vendor for mark, vendor in marks.items() if mark in lowered), "other")


def nvidia_version_of_windows(version: str) -> str | None:
    """Return NVIDIA's own version of a Windows driver: ``32.0.15.8097`` is 580.97."""
    digits = version.replace(".", "")[-5:]
    return f"{digits[:3]}.{digits[3:]}" if version.count(".") == 3 and len(digits) == 5 and digits.isdigit() else None


def drm_cards(machine: Machine, vendor: str) -> list[tuple[str, Card]]:
    """Return the cards of one vendor that the kernel's graphics drivers show."""
    wanted = {key for key, name in _PCI.items() if name == vendor}
    cards: list[tuple[str, Card]] = []
    for entry in machine.entries(DRM):
        if not re.fullmatch(r"card\d+", entry):
            continue
        folder = f"{DRM}/{entry}/device"
        if (machine.text(f"{folder}/vendor") or "").removeprefix("0x") not in wanted:
            continue
        uevent = dict(
            line.split("=", 1) for line in (machine.text(f"{folder}/uevent") or "").splitlines() if "=" in line
        )
        device = (machine.text(f"{folder}/device") or "").removeprefix("0x")
        driver = uevent.get("DRIVER", "")
        cards.append(
            (folder, {"name": f"{vendor} {device} ({driver})" if driver else f"{vendor} {device}", "driver": driver})
        )
    return cards


def apple_card(machine: Machine) -> CardListing:
    """Return the GPU of an Apple chip; its memory is the system's."""
    if machine.system != "darwin":
        return CardListing()
    outcome = machine.run(["/usr/sbin/sysctl", "-n", "machdep.cpu.brand_string", "hw.memsize"], 1.0)
    lines = outcome.stdout.decode("utf-8", "replace").splitlines()
    if outcome.status != "exited" or not lines:
        return CardListing(uncounted=f"sysctl: {outcome.detail}")
    if not lines[0].startswith("Apple"):
        return CardListing()
    memory = int(lines[1]) if len(lines) > 1 and re.fullmatch(r"[0-9]{1,20}", lines[1].strip()) else None
    return CardListing((("sysctl", {"name": lines[0].strip(), "memory_bytes": memory, "vendor": "apple"}),))


def _adapter(name: str, identifier: str, version: object, memory: int | None) -> dict[str, Any] | None:
    """Return a card, None for what draws in software."""
    if any(mark in name.lower() for mark in _SOFTWARE) or identifier.upper().startswith(("ROOT\\", "SWD\\")):
        return None
    vendor = vendor_of(identifier) if "VEN_" in identifier else vendor_of(name)
    card: dict[str, Any] = {"name": name, "vendor": vendor}
    text = str(version).split(" ")[0] if version else ""
    if text:
        card["driver_version"] = (nvidia_version_of_windows(text) if vendor == "nvidia" else None) or text
    if memory:
        card["memory_bytes"] = memory
    return card


def windows_adapters(machine: Machine) -> list[dict[str, Any]]:
    """Return the adapters of this machine's registry; none on other systems."""
    if machine.system != "win32":
        return []
    import winreg  # exists there alone

    registry: Any = winreg
    cards = []
    with registry.OpenKey(registry.HKEY_LOCAL_MACHINE, _CLASS) as parent:
        for values in _class_entries(registry, parent):
            memory = values.get("HardwareInformation.qwMemorySize")
            card = _adapter(
                str(values.get("DriverDesc") or ""),
                str(values.get("MatchingDeviceId") or "").upper(),
                values.get("DriverVersion"),
                memory if isinstance(memory, int) else None,
            )
            if card is not None and card["name"]:
                cards.append(card)
    return cards


def _class_entries(registry: Any, parent: Any) -> Iterator[dict[str, Any]]:
    for index in range(_MOST_ADAPTERS):
        with suppress(OSError), registry.OpenKey(parent, f"{index:04d}") as key:
            count = registry.QueryInfoKey(key)[1]
            yield {name: value for name, value, _ in (registry.EnumValue(key, at) for at in range(count))}
