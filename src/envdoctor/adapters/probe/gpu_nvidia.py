"""NVIDIA: driver, cards and what they can do.

Order of sources: ``/proc/driver/nvidia`` (driver), NVML in a child (all), nvidia-smi in a child (all),
``/proc/driver/nvidia/gpus`` (names), a Jetson's model (name, capability). Formats: NVIDIA's driver README, the manual
of nvidia-smi, and NVML's reference.
"""

from __future__ import annotations

import csv
import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from envdoctor.adapters.probe.host_jetson import jetson_of
from envdoctor.adapters.probe.host_machine import Machine, absent, known, unknown

if TYPE_CHECKING:
    from envdoctor.model.fact import Fact

__all__ = [
    "NvidiaAnswer",
    "cuda_of_driver",
    "nvidia_facts",
    "parse_nvml",
    "parse_proc_information",
    "parse_proc_version",
    "parse_smi",
]

_FIELDS = ("index", "name", "driver_version", "compute_cap", "memory.total", "memory.free", "mig.mode.current")
_OLD_FIELDS = tuple(item for item in _FIELDS if item not in ("compute_cap", "mig.mode.current"))
_WSL = "/usr/lib/wsl/lib"
_CARD_FACTS = ("name", "compute_capability", "memory_bytes", "memory_free_bytes", "mig")
# The CUDA that each driver branch came with; it runs that and every older one. (NVIDIA, CUDA release notes, table 3.)
_BRANCHES = (
    (580, "13.0"), (575, "12.9"), (570, "12.8"), (565, "12.7"), (560, "12.6"), (555, "12.5"), (550, "12.4"),
    (545, "12.3"), (535, "12.2"), (530, "12.1"), (525, "12.0"), (520, "11.8"), (515, "11.7"), (510, "11.6"),
    (495, "11.5"), (470, "11.4"), (465, "11.3"), (460, "11.2"), (455, "11.1"), (450, "11.0"), (440, "10.2"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class NvidiaAnswer:
    """What one source says."""

    source: str
    driver: str | None = None
    cuda: str | None = None
    cards: tuple[Mapping[str, Any], ...] = ()
    failure: str | None = None
    """Why the source gave no answer."""


def parse_proc_version(text: str) -> str | None:
    """Return the driver's version out of ``/proc/driver/nvidia/version``, of the closed or the open module."""
    match = re.search(r"NVRM version:.*?\s(\d{3,}\.\d+(?:\.\d+)?)\s", f"{text} ")
    return match[1] if match else None


def parse_proc_information(text: str) -> dict[str, str]:
    """Return the fields of ``/proc/driver/nvidia/gpus/*/information``."""
    pairs = (line.partition(":") for line in text.splitlines() if ":" in line)
    return {key.strip(): value.strip() for key, _, value in pairs}


def parse_nvml(text: str) -> NvidiaAnswer:
    """Read what the child that asks NVML prints."""
    try:
        answer = json.loads(text.strip().splitlines()[-1])
        cards = tuple(dict(item) for item in answer.get("cards", ()))
    except (ValueError, IndexError, TypeError, AttributeError):
        return NvidiaAnswer("nvml", failure="NVML's answer cannot be read")
    if "error" in answer:
        return NvidiaAnswer("nvml", failure=f"NVML: {answer['error']}")
    return NvidiaAnswer("nvml", answer.get("driver"), answer.get("cuda"), cards)


def parse_smi(text: str, fields: Sequence[str] = _FIELDS) -> NvidiaAnswer:
    """Read the CSV of ``nvidia-smi --query-gpu=... --format=csv,noheader,nounits``; sizes are MiB."""
    cards: list[dict[str, Any]] = []
    driver = None
    for row in csv.reader(text.splitlines(), skipinitialspace=True):
        if len(row) != len(fields) or not row[0].strip().isdigit():
            continue
        values = {key: item.strip() for key, item in zip(fields, row, strict=True) if _is_told(item)}
        driver = driver or values.get("driver_version")
        card: dict[str, Any] = {"index": int(row[0]), "name": values.get("name")}
        if re.fullmatch(r"\d+\.\d", values.get("compute_cap", "")):
            card["compute_capability"] = values["compute_cap"]
        for key, name in (("memory.total", "memory_bytes"), ("memory.free", "memory_free_bytes")):
            if values.get(key, "").isdigit():
                card[name] = int(values[key]) << 20
        if "mig.mode.current" in values:
            card["mig"] = values["mig.mode.current"] == "Enabled"
        cards.append(card)
    if not cards:
        return NvidiaAnswer("nvidia-smi", failure=f"nvidia-smi says {_first_words(text)}")
    return NvidiaAnswer("nvidia-smi", driver, None, tuple(cards))


def cuda_of_driver(version: str) -> str | None:
    """Return the newest CUDA that a driver runs without compatibility packages."""
    match = re.match(r"\d+", version)
    branch = int(match[0]) if match else 0
    return next((cuda for number, cuda in _BRANCHES if branch >= number), None)


def nvidia_facts(machine: Machine, first: int = 0) -> Iterator[Fact]:
    """Yield the driver's facts, and those of the cards as ``gpu[first]`` and so on."""
    proc = parse_proc_version(machine.text("/proc/driver/nvidia/version") or "")
    jetson = jetson_of(machine)
    answers = list(_answers(machine, proc))
    good = [item for item in answers if item.failure is None]
    driver = proc or next((item.driver for item in good if item.driver), None)
    failures = "; ".join(item.failure for item in answers if item.failure)
    yield from _driver(machine, proc, driver, good, failures)
    cards = _cards(machine, good, jetson)
    for position, card in enumerate(cards.cards):
        yield from _card_facts(f"gpu[{first + position}]", card, cards.source, failures)


def _answers(machine: Machine, proc: str | None) -> Iterator[NvidiaAnswer]:
    """Yield the answers of NVML, and of nvidia-smi where NVML has none."""
    if proc or machine.exists(f"{_WSL}/libnvidia-ml.so.1") or machine.system == "win32":
        answer = _ask_nvml(machine)
        if answer is not None:
            yield answer
            if answer.failure is None:
                return
    program = machine.which("nvidia-smi")
    if program is None and machine.root == "/" and machine.exists(f"{_WSL}/nvidia-smi"):
        program = f"{_WSL}/nvidia-smi"
    if program is not None:
        yield _ask_smi(machine, program)


def _ask_nvml(machine: Machine) -> NvidiaAnswer | None:
    if machine.root != "/":
        return None
    names = ["nvml.dll"] if machine.system == "win32" else [f"{_WSL}/libnvidia-ml.so.1", "libnvidia-ml.so.1"]
    script = str(Path(__file__).with_name("gpu_nvidia_child.py"))
    outcome = machine.run([sys.executable, "-I", "-S", script, *names])
    if outcome.status == "exited" and outcome.code == 0:
        return parse_nvml(outcome.stdout.decode("utf-8", "replace"))
    if outcome.status == "exited" and machine.system == "win32":
        return None  # no such library: no such card
    return NvidiaAnswer("nvml", failure=f"NVML: {_last_line(outcome.stderr) or outcome.detail}")


def _ask_smi(machine: Machine, program: str) -> NvidiaAnswer:
    for fields in (_FIELDS, _OLD_FIELDS):
        outcome = machine.run([program, f"--query-gpu={','.join(fields)}", "--format=csv,noheader,nounits"])
        text = outcome.stdout.decode("utf-8", "replace")
        if outcome.status != "exited":
            return NvidiaAnswer("nvidia-smi", failure=f"nvidia-smi: {outcome.detail}")
        if "not a valid field" not in text + outcome.stderr.decode("utf-8", "replace"):
            return parse_smi(text or outcome.stderr.decode("utf-8", "replace"), fields)
    return NvidiaAnswer("nvidia-smi", failure="nvidia-smi knows none of the fields")


def _driver(
    machine: Machine, proc: str | None, driver: str | None, good: list[NvidiaAnswer], failures: str
) -> Iterator[Fact]:
    source = "/proc/driver/nvidia/version" if proc else good[0].source if good else ""
    if driver:
        yield known("driver.version", driver, source)
        told = next((item for item in good if item.cuda), None)
        cuda = told.cuda if told else cuda_of_driver(driver)
        if cuda:
            yield known("driver.cuda", cuda, told.source if told else "the driver's branch")
    elif failures:
        yield unknown("driver.version", "nvidia-smi", failures)
    else:
        looked = "nvml" if machine.system == "win32" else "/proc/driver/nvidia"
        yield absent("driver.version", looked)
        yield absent("driver.cuda", looked)


def _cards(machine: Machine, good: list[NvidiaAnswer], jetson: Mapping[str, Any] | None) -> NvidiaAnswer:
    told = next((item for item in good if item.cards), None)
    if told is None:
        folder = "/proc/driver/nvidia/gpus"
        texts = [machine.text(f"{folder}/{item}/information") for item in machine.entries(folder)]
        names = [{"name": parse_proc_information(text).get("Model")} for text in texts if text]
        told = NvidiaAnswer(folder, cards=tuple(names))
    if jetson is None:
        return told
    # The one card of a Jetson: its tools may not know its capability, its model does.
    card = {"name": jetson["name"], "compute_capability": jetson["capability"], **(told.cards[0] if told.cards else {})}
    return replace(told, source=told.source if told.cards else "device tree", cards=(card, *told.cards[1:]))


def _card_facts(prefix: str, card: Mapping[str, Any], source: str, failures: str) -> Iterator[Fact]:
    yield known(f"{prefix}.vendor", "nvidia", source)
    for key in _CARD_FACTS:
        if card.get(key) is not None:
            yield known(f"{prefix}.{key}", card[key], source)
        elif key == "compute_capability":
            yield unknown(f"{prefix}.{key}", source, failures or f"{source} does not tell")
    if card.get("compute_capability"):
        yield known(f"{prefix}.architecture", f"sm_{str(card['compute_capability']).replace('.', '')}", source)


def _is_told(text: str) -> bool:
    return bool(text.strip()) and not text.strip().startswith("[")


def _first_words(text: str) -> str:
    line = next((item.strip() for item in text.splitlines() if item.strip()), "")
    printable = "".join(character for character in line if character.isprintable())[:120]
    return f"`{printable}`" if printable else "nothing"


def _last_line(data: bytes) -> str:
    lines = [line.strip() for line in data.decode("utf-8", "replace").splitlines() if line.strip()]
    return lines[-1][:200] if lines else ""
