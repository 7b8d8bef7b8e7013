"""The machine that torch's collect_env text describes, as facts.

Source: ``torch/utils/collect_env.py`` for the headings.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from envdoctor.adapters.probe.card_names import capability_of_name
from envdoctor.adapters.probe.gpu_nvidia import cuda_of_driver
from envdoctor.model.fact import Fact, Facts, FactState

__all__ = ["facts_of_collect_env"]

_CARD = re.compile(r"^GPU (\d+): (.+?)(?: \(UUID.*)?$", re.MULTILINE)
_SYSTEMS = (("windows", "windows"), ("mac", "macos"), ("darwin", "macos"), ("linux", "linux"), ("ubuntu", "linux"))


def facts_of_collect_env(fields: Mapping[str, str]) -> Facts:
    """Return what the headings tell: system, driver, cards, torch's own version and CUDA."""
    return Facts(_facts({str(key): str(value) for key, value in fields.items()}))


def _facts(fields: Mapping[str, str]) -> Iterator[Fact]:
    platform = f"{fields.get('Python platform', '')} {fields.get('OS', '')}".lower()
    system = next((name for mark, name in _SYSTEMS if mark in platform), None)
    if system:
        yield _known("os", system)
    machine = next((name for name in ("x86_64", "amd64", "aarch64", "arm64") if name in platform), None)
    if machine:
        yield _known("arch", {"amd64": "x86_64"}.get(machine, machine))
    if "microsoft" in platform or "wsl" in platform:
        yield _known("host.wsl", value=True)
    yield from _torch(fields)
    driver = re.match(r"\d{1,9}(\.\d{1,9}){1,3}(?!\d)", fields.get("Nvidia driver version", ""))
    if driver:
        yield _known("driver.version", driver[0])
        if cuda := cuda_of_driver(driver[0]):
            yield Fact("driver.cuda", FactState.KNOWN, cuda, "the driver's branch")
    yield from _cards(fields.get("GPU models and configuration", ""))


def _torch(fields: Mapping[str, str]) -> Iterator[Fact]:
    if fields.get("PyTorch version", "")[:1].isdigit():
        yield _known("torch.version", fields["PyTorch version"])
    if fields.get("CUDA used to build PyTorch", "")[:1].isdigit():
        yield _known("torch.cuda", fields["CUDA used to build PyTorch"])
    if fields.get("Is CUDA available") in ("True", "False"):
        yield _known("torch.is_available", value=fields["Is CUDA available"] == "True")


def _cards(text: str) -> Iterator[Fact]:
    cards = _CARD.findall(text)
    if not cards and re.search(r"\(gfx\w+\)", text):
        # ROCm's are named without a number, one to a line.
        cards = [(str(number), line.strip()) for number, line in enumerate(text.strip().splitlines())]
    for number, name in cards:
        prefix = f"gpu[{number}]."
        yield _known(f"{prefix}name", name)
        if re.search(r"gfx\w+|AMD|Radeon|Instinct", name):
            yield _known(f"{prefix}vendor", "amd")
            if gfx := re.search(r"gfx[0-9a-f]+", name):
                yield _known(f"{prefix}architecture", gfx[0])
            continue
        yield _known(f"{prefix}vendor", "nvidia")
        if capability := capability_of_name(name):
            yield Fact(f"{prefix}compute_capability", FactState.KNOWN, capability, "the card's name")
            architecture = f"sm_{capability.replace('.', '')}"
            yield Fact(f"{prefix}architecture", FactState.KNOWN, architecture, "the card's name")
    if cards:
        yield _known("gpu.count", len(cards))


def _known(name: str, value: object) -> Fact:
    return Fact(name, FactState.KNOWN, value, "collect_env")
