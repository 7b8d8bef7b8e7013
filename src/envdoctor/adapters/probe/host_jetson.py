"""NVIDIA's Jetson boards: which module, which JetPack.

Sources: ``/proc/device-tree`` (compatible strings of the kernel's bindings), ``/etc/nv_tegra_release`` and the archive
of Jetson Linux releases, which says the JetPack of each.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from envdoctor.adapters.probe.host_machine import Machine, absent, known, unknown

if TYPE_CHECKING:
    from envdoctor.model.fact import Fact

__all__ = ["jetpack_of", "jetson_facts", "jetson_of", "parse_tegra_release"]

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
