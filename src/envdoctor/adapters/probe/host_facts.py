"""All facts of this host, each with its source; every source is bounded in time and none can take us down."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from envdoctor.adapters.probe.cards import CardListing
from envdoctor.adapters.probe.gpu_amd import amd_cards, rocm_facts
from envdoctor.adapters.probe.gpu_nvidia import cuda_of_driver, nvidia_facts
from envdoctor.adapters.probe.gpu_other import DRM, apple_card, drm_cards, windows_adapters
from envdoctor.adapters.probe.gpu_zluda import zluda_facts
from envdoctor.adapters.probe.host_machine import Machine, absent, collected, known, unknown
from envdoctor.adapters.probe.host_overrides import OverrideError, overridden, read_overrides
from envdoctor.adapters.probe.host_system import jetson_facts, system_facts
from envdoctor.adapters.probe.host_tools import library_facts, tool_facts
from envdoctor.model.fact import Fact, Facts, FactState

__all__ = ["facts_of", "probe_host"]

_CARD_KEYS = ("name", "architecture", "memory_bytes", "driver", "driver_version")
_OWN_S = 0.5
"""Seconds for our own work after the last child."""


def probe_host(
    *,
    timeout_s: float = 5.0,
    environ: Mapping[str, str] | None = None,
    disk_at: str = ".",
    zluda_folders: Iterable[str] = (),
) -> Facts:
    """Measure this host. Takes no longer than about ``timeout_s`` seconds, and fails at nothing that it meets.

    Raises OverrideError for a variable of ours that is wrong.

    ``environ``: the variables that count; this process's own by default. ``disk_at``: the folder whose disk is
    measured. ``zluda_folders``: where ZLUDA's libraries may stand in for CUDA's, besides PATH (``torch/lib``).
    """
    variables = dict(os.environ if environ is None else environ)
    child_s = min(3.0, timeout_s * 0.6)
    machine = Machine(environ=variables, deadline=time.monotonic() + timeout_s, child_s=child_s)
    return facts_of(machine, disk_at=disk_at, zluda_folders=zluda_folders)


def facts_of(machine: Machine, *, disk_at: str = ".", zluda_folders: Iterable[str] = ()) -> Facts:
    """Return all facts of a machine, overrides applied. Raises OverrideError before anything is measured."""
    if faults := read_overrides(machine.environ).faults:
        raise OverrideError(faults)
    sources: dict[str, Callable[[], Iterator[Fact]]] = {
        "system": lambda: system_facts(machine, disk_at),
        "jetson": lambda: jetson_facts(machine),
        "nvidia": lambda: nvidia_facts(machine),
        "amd": lambda: _amd(machine),
        "other": lambda: _others(machine),
        "rocm": lambda: rocm_facts(machine),
        "zluda": lambda: zluda_facts(machine, zluda_folders),
        "tools": lambda: tool_facts(machine),
        "libraries": lambda: library_facts(machine),
    }
    until = machine.deadline + machine.grace_s + _OWN_S
    found = dict(collected(sources, until, lambda name, reason: [unknown(f"probe.{name}", name, reason)]))
    cards = _numbered(found.pop("nvidia"), found.pop("amd"), found.pop("other"))
    measured = [*(fact for facts in found.values() for fact in facts), *cards]
    return Facts(overridden(measured, machine.environ))


def _amd(machine: Machine) -> Iterator[Fact]:
    if machine.system != "linux":
        return
    listing = amd_cards(machine)
    cards = listing.cards or drm_cards(machine, "amd")
    for index, (source, card) in enumerate(cards):
        yield from _card_facts(index, {**card, "vendor": "amd"}, source, listing.uncounted)
    if not cards and (reason := listing.uncounted or machine.barrier(DRM)):
        yield unknown("gpu.count", "rocminfo", reason)


def _others(machine: Machine) -> Iterator[Fact]:
    listings = (
        CardListing(tuple((source, {**card, "vendor": "intel"}) for source, card in drm_cards(machine, "intel"))),
        apple_card(machine),
        _windows(machine),
    )
    for index, (source, card) in enumerate(item for listing in listings for item in listing.cards):
        yield from _card_facts(index, card, source)
        if card["vendor"] == "nvidia" and card.get("driver_version"):
            yield known("driver.version", card["driver_version"], source)
            if cuda := cuda_of_driver(card["driver_version"]):
                yield known("driver.cuda", cuda, "the driver's branch")
    for reason in (item.uncounted for item in listings):
        if reason:
            yield unknown("gpu.count", "all sources", reason)


def _windows(machine: Machine) -> CardListing:
    try:
        return CardListing(tuple(("registry", card) for card in windows_adapters(machine)))
    except (ImportError, OSError) as error:
        return CardListing(uncounted=f"the registry's display adapters: {getattr(error, 'strerror', None) or error}")


def _card_facts(index: int, card: Mapping[str, Any], source: str, failure: str | None = None) -> Iterator[Fact]:
    yield known(f"gpu[{index}].vendor", card["vendor"], source)
    for key in _CARD_KEYS:
        if card.get(key):
            yield known(f"gpu[{index}].{key}", card[key], source)
        elif key == "memory_bytes" or (key == "architecture" and card["vendor"] == "amd"):
            yield unknown(f"gpu[{index}].{key}", source, failure or f"{source} does not tell")


def _numbered(*sources: list[Fact]) -> Iterator[Fact]:
    """Yield the cards of all sources under one numbering, NVIDIA's first; what Windows lists twice counts once.

    The driver as Windows lists it counts where NVIDIA's own library did not answer.
    """
    nvidia, *others = sources
    count = _count(nvidia)
    answered = any(fact.name == "driver.version" and fact.state is FactState.KNOWN for fact in nvidia)
    yield from (fact for fact in nvidia if fact.name != "gpu.count")
    for facts in others:
        skipped = 0
        for index in range(_count(facts)):
            mine = [fact for fact in facts if fact.name.startswith(f"gpu[{index}].")]
            if (
                count
                and _count(nvidia)
                and any(fact.value == "nvidia" and fact.name.endswith("vendor") for fact in mine)
            ):
                skipped += 1
                continue
            number = count + index - skipped
            yield from (replace(fact, name=fact.name.replace(f"gpu[{index}]", f"gpu[{number}]", 1)) for fact in mine)
        yield from (
            fact for fact in facts if not fact.name.startswith("gpu") and not (answered and "driver." in fact.name)
        )
        count += _count(facts) - skipped
    silent = [fact for facts in sources for fact in facts if fact.name.startswith(("gpu.count", "probe."))]
    counted = _counted(count, list(dict.fromkeys(str(fact.reason) for fact in silent)))
    yield replace(counted, timed_out=any(fact.timed_out for fact in silent))


def _counted(count: int, reasons: list[str]) -> Fact:
    """Return ``gpu.count``: absent where every source was looked at and none has a card, unknown where one was not."""
    if reasons:
        return unknown("gpu.count", "all sources", "; ".join([*([f"{count} found"] if count else []), *reasons]))
    return known("gpu.count", count, "all sources") if count else absent("gpu.count", "all sources")


def _count(facts: list[Fact]) -> int:
    return sum(fact.name.endswith("].vendor") for fact in facts)
