"""NVIDIA: driver, cards and what they can do.

Order of sources: ``/proc/driver/nvidia`` (driver), NVML in a child (all), nvidia-smi in a child (all),
``/proc/driver/nvidia/gpus`` (names), a Jetson's model (name, capability). Formats: NVIDIA's driver README, the manual
of nvidia-smi, and NVML's reference.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from envdoctor.adapters.probe.gpu_other import drm_cards
from envdoctor.adapters.probe.host_machine import Machine, absent, known, unknown
from envdoctor.adapters.probe.host_system import jetson_of
from envdoctor.adapters.probe.interpreter_child import last_line
from envdoctor.model.dataclass import dataclass
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
_NO_CARDS = "No devices were found"
_PROC = "/proc/driver/nvidia/version"
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
    """What one source says of NVIDIA's driver and cards."""

    source: str
    driver: str | None = None
    cuda: str | None = None
    cards: tuple[Mapping[str, Any], ...] = ()
    failure: str | None = None
    """Why the source gave no answer."""
    uncounted: str | None = None
    """Why there may be more cards than these; with no cards, why it is not known whether there are any."""


def parse_proc_version(text: str) -> str | None:
    """Return the driver's version out of ``/proc/driver/nvidia/version``, of the closed or the open module."""
    match = re.search(r"NVRM version:.{0,200}?\s(\d{3,9}\.\d{1,9}(?:\.\d{1,9})?)\s", f"{text} ")
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
    except (ValueError, IndexError, TypeError, AttributeError, RecursionError):
        return NvidiaAnswer("nvml", failure="NVML's answer cannot be read")
    for key in ("error", "missing"):
        if key in answer:
            return NvidiaAnswer("nvml", failure=f"NVML: {answer[key]}")
    uncounted = f"NVML: {answer['uncounted']}" if "uncounted" in answer else None
    return NvidiaAnswer("nvml", _version(answer.get("driver")), _version(answer.get("cuda")), cards, None, uncounted)


def parse_smi(text: str, fields: Sequence[str] = _FIELDS) -> NvidiaAnswer:
    """Read the CSV of ``nvidia-smi --query-gpu=... --format=csv,noheader,nounits``; sizes are MiB."""
    cards: list[dict[str, Any]] = []
    driver = strange = None
    for line in text.splitlines():
        row = [item.strip() for item in line.split(",")]
        if len(row) == len(fields) and _number(row[0]) is not None:
            values = {key: item for key, item in zip(fields, row, strict=True) if _is_told(item)}
            driver = driver or _version(values.get("driver_version"))
            cards.append(_smi_card(values))
        elif line.strip() and not line.lstrip().lower().startswith("warning"):
            strange = strange or line
    if cards:
        # A card that has fallen off the bus has a line of its own: "Unable to determine the device handle for GPU".
        uncounted = f"nvidia-smi says {_first_words(strange)}" if strange else None
        return NvidiaAnswer("nvidia-smi", driver, None, tuple(cards), None, uncounted)
    if strange and strange.strip().startswith(_NO_CARDS):
        return NvidiaAnswer("nvidia-smi")
    return NvidiaAnswer("nvidia-smi", failure=f"nvidia-smi says {_first_words(text)}")


def _smi_card(values: Mapping[str, str]) -> dict[str, Any]:
    card: dict[str, Any] = {"index": _number(values["index"]), "name": _printable(values.get("name", "")) or None}
    if re.fullmatch(r"\d+\.\d", values.get("compute_cap", "")):
        card["compute_capability"] = values["compute_cap"]
    for key, name in (("memory.total", "memory_bytes"), ("memory.free", "memory_free_bytes")):
        size = _number(values.get(key, ""))
        if size is not None:
            card[name] = size << 20
    if "mig.mode.current" in values:
        card["mig"] = values["mig.mode.current"] == "Enabled"
    return card


def cuda_of_driver(version: str) -> str | None:
    """Return the newest CUDA that a driver runs without compatibility packages."""
    match = re.match(r"\d{1,9}", version)
    branch = int(match[0]) if match else 0
    return next((cuda for number, cuda in _BRANCHES if branch >= number), None)


def nvidia_facts(machine: Machine) -> Iterator[Fact]:
    """Yield the driver's facts, and those of the cards as ``gpu[0]`` and so on.

    ``gpu.count`` is among them, as unknown, where no source can tell whether there are cards.
    """
    text = machine.text(_PROC)
    proc = parse_proc_version(text or "")
    barrier = machine.barrier(_PROC) or (f"{_PROC} says no version" if text is not None and not proc else None)
    jetson = jetson_of(machine)
    answers = list(_answers(machine, driver_is_there=bool(proc or barrier)))
    good = [item for item in answers if item.failure is None]
    failures = "; ".join(item for item in (barrier, *(answer.failure for answer in answers)) if item)
    driver = proc or next((item.driver for item in good if item.driver), None)
    yield from _driver(machine, proc, driver, good, failures)
    cards = _cards(machine, good, jetson, failures)
    for position, card in enumerate(cards.cards):
        yield from _card_facts(f"gpu[{position}]", card, cards.source, failures)
    if cards.uncounted and machine.system != "win32":  # There the registry lists every vendor's cards.
        yield unknown("gpu.count", cards.source, cards.uncounted)


def _answers(machine: Machine, *, driver_is_there: bool) -> Iterator[NvidiaAnswer]:
    """Yield the answers of NVML, and of nvidia-smi where NVML has none."""
    if driver_is_there or machine.exists(f"{_WSL}/libnvidia-ml.so.1") or machine.system == "win32":
        answer = _ask_nvml(machine)
        if answer is not None:
            yield answer
            if answer.failure is None and answer.uncounted is None:
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
    text = outcome.stdout.decode("utf-8", "replace")
    if outcome.status == "exited" and outcome.code == 0:
        # On Windows, no such library means no such card.
        return None if machine.system == "win32" and text.startswith('{"missing"') else parse_nvml(text)
    return NvidiaAnswer("nvml", failure=f"NVML: {last_line(outcome.stderr) or outcome.detail}")


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
    if driver:
        source = _PROC if proc else next(item.source for item in good if item.driver)
        yield known("driver.version", driver, source)
        told = next((item for item in good if item.cuda), None)
        cuda = told.cuda if told else cuda_of_driver(driver)
        source = told.source if told else "the driver's branch"
        yield (
            known("driver.cuda", cuda, source)
            if cuda
            else unknown("driver.cuda", source, f"what CUDA driver {driver} runs is not known")
        )
    elif failures or good:
        source = good[-1].source if good else "nvidia-smi"
        for name in ("driver.version", "driver.cuda"):
            yield unknown(name, source, failures or f"{source} does not tell")
    else:
        looked = "nvml" if machine.system == "win32" else "/proc/driver/nvidia"
        yield absent("driver.version", looked)
        yield absent("driver.cuda", looked)


def _cards(machine: Machine, good: list[NvidiaAnswer], jetson: Mapping[str, Any] | None, failures: str) -> NvidiaAnswer:
    # The first that tells all cards, else the first that tells some.
    told = next((item for item in sorted(good, key=lambda item: bool(item.uncounted)) if _answered(item)), None)
    if told is None:
        told = _cards_of_proc(machine, "; ".join(item for item in (failures, *(i.uncounted for i in good)) if item))
    if jetson is None:
        return told
    # The one card of a Jetson: its tools may not know its capability, its model does.
    card = {"name": jetson["name"], "compute_capability": jetson["capability"], **_said(told.cards[:1])}
    source = told.source if told.cards else "device tree"
    return replace(told, source=source, cards=(card, *told.cards[1:]), uncounted=told.uncounted if told.cards else None)


def _answered(answer: NvidiaAnswer) -> bool:
    return bool(answer.cards) or answer.uncounted is None


def _said(cards: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    return {key: value for card in cards for key, value in card.items() if value is not None}


def _cards_of_proc(machine: Machine, failures: str) -> NvidiaAnswer:
    """Return the cards that the kernel's module lists; without a driver, why others may be there all the same."""
    folder = "/proc/driver/nvidia/gpus"
    texts = [machine.text(f"{folder}/{item}/information") for item in machine.entries(folder)]
    if texts:
        names = [{"name": _printable(parse_proc_information(text or "").get("Model", "")) or None} for text in texts]
        return NvidiaAnswer(folder, cards=tuple(names))
    reason = failures or machine.barrier(folder)
    if not reason and machine.exists(_PROC) and not machine.exists(folder):
        reason = f"the driver is there, and neither NVML nor nvidia-smi nor {folder} tells its cards"
    if not reason and machine.system == "linux":
        # A card that another driver runs: nouveau knows its number and none of what it can do.
        others = [f"{where}: {card['name']}" for where, card in drm_cards(machine, "nvidia")]
        reason = f"{', '.join(others)}: a card without NVIDIA's driver" if others else None
    return NvidiaAnswer(folder, uncounted=reason)


def _card_facts(prefix: str, card: Mapping[str, Any], source: str, failures: str) -> Iterator[Fact]:
    yield known(f"{prefix}.vendor", "nvidia", source)
    for key in _CARD_FACTS:
        if card.get(key) is not None:
            yield known(f"{prefix}.{key}", card[key], source)
        elif key == "mig" and card.get("name") and source in ("nvml", "nvidia-smi"):
            yield absent(f"{prefix}.mig", source)  # what most cards answer: there is no such mode
        else:
            yield unknown(f"{prefix}.{key}", source, failures or f"{source} does not tell")
    capability = str(card.get("compute_capability") or "")
    yield (
        known(f"{prefix}.architecture", f"sm_{capability.replace('.', '')}", source)
        if capability
        else unknown(f"{prefix}.architecture", source, failures or f"{source} does not tell")
    )


def _number(text: str) -> int | None:
    """Return a whole number of ordinary digits; what a broken program prints may be anything."""
    return int(text) if re.fullmatch(r"[0-9]{1,12}", text) else None


def _version(text: object) -> str | None:
    return text if isinstance(text, str) and re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9}){1,4}", text) else None


def _printable(text: str) -> str:
    return "".join(character for character in text if character.isprintable()).strip()[:120]


def _is_told(text: str) -> bool:
    return bool(text.strip()) and not text.strip().startswith("[")


def _first_words(text: str) -> str:
    line = next((item.strip() for item in text.splitlines() if item.strip()), "")
    return f"`{_printable(line)}`" if _printable(line) else "nothing"
