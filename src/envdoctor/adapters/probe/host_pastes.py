"""What people paste of a machine, as facts: nvidia-smi, rocminfo, hipInfo, dxdiag, lspci, macOS' profiler and the like.

A paste may hold several of them, between prompts and sentences. Each fact's source is the program that said it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from envdoctor.adapters.probe.card_pastes import (
    MIB,
    Said,
    card_of,
    fields_of,
    maker_in,
    read_hipinfo,
    read_nvidia_csv,
    read_nvidia_smi,
    read_rocm_smi,
    read_rocminfo,
)
from envdoctor.adapters.probe.cards import architecture_of_amd_name, capability_of_name, vendor_of_name
from envdoctor.adapters.probe.gpu_nvidia import cuda_of_driver
from envdoctor.adapters.probe.host_system import jetpack_of, parse_tegra_release
from envdoctor.adapters.probe.host_values import UnfitValue, value_of
from envdoctor.adapters.probe.listing_parts import plain_text
from envdoctor.adapters.probe.listing_torch import collect_env_fields, facts_of_collect_env, is_collect_env
from envdoctor.adapters.probe.program_reports import as_collect_env
from envdoctor.model.fact import Fact, Facts, FactState

__all__ = ["facts_of_paste", "what_it_is"]


def facts_of_paste(text: str) -> Facts | None:
    """Return what a pasted text says of a machine, None where it is none of the texts that are known."""
    text = plain_text(text)
    found: dict[str, Fact] = {}
    cards = 0
    for source, read in _READERS:
        rows = list(read(text))
        first = sum(name == "card" for name, _ in rows)
        # What one program has said of the cards, another does not say again.
        rows = [row for row in rows if not (cards and row[0] in _OF_A_CARD)]
        cards = cards or first
        for fact in _facts(rows, source):
            found.setdefault(fact.name, fact)
    report = text if is_collect_env(text) else as_collect_env(text)
    if report is not None and not all(row.startswith(("PyTorch version: ", "[pip3]")) for row in report.splitlines()):
        for fact in facts_of_collect_env(collect_env_fields(report)):
            found.setdefault(fact.name, fact)
    if "NVIDIA-SMI has failed" in text:
        reason = "nvidia-smi says that it could not talk to the driver: none is loaded, or it is being updated"
        found.setdefault("driver.version", Fact("driver.version", FactState.UNKNOWN, None, "nvidia-smi", reason=reason))
    return Facts([*_derived(list(found.values())), *found.values()]) if found else None


_OF_A_CARD = frozenset(
    {"card", "name", "vendor", "architecture", "memory_bytes", "memory_free_bytes", "driver_version"}
)


def _facts(rows: list[Said], source: str) -> Iterator[Fact]:
    number = -1
    for name, value in rows:
        if name == "card":
            number += 1
            continue
        called = f"gpu[{number}].{name}" if name in _OF_A_CARD else name
        try:
            yield Fact(called, FactState.KNOWN, value_of(called, value), source)
        except UnfitValue:
            continue
    if number >= 0:
        yield Fact("gpu.count", FactState.KNOWN, number + 1, source)


def _derived(facts: list[Fact]) -> Iterator[Fact]:
    """Yield what a card's name and a driver's version mean, where the paste does not say it itself."""
    said = {fact.name: fact for fact in facts}
    for fact in facts:
        prefix, dot, key = fact.name.rpartition(".")
        if dot and key == "name" and prefix.startswith("gpu["):
            yield from _of_name(prefix, str(fact.value), said)
        elif fact.name == "driver.version" and "driver.cuda" not in said and (cuda := cuda_of_driver(str(fact.value))):
            yield Fact("driver.cuda", FactState.KNOWN, cuda, "the driver's branch")


def _of_name(prefix: str, name: str, said: dict[str, Fact]) -> Iterator[Fact]:
    told = said.get(f"{prefix}.vendor")
    vendor = told.value if told else vendor_of_name(name)
    if vendor and told is None:
        yield Fact(f"{prefix}.vendor", FactState.KNOWN, vendor, "the card's name")
    if f"{prefix}.architecture" in said:
        return
    if vendor == "nvidia" and (capability := capability_of_name(name)):
        yield Fact(f"{prefix}.compute_capability", FactState.KNOWN, capability, "the card's name")
        yield Fact(f"{prefix}.architecture", FactState.KNOWN, f"sm_{capability.replace('.', '')}", "the card's name")
    elif vendor == "amd" and (architecture := architecture_of_amd_name(name)):
        yield Fact(f"{prefix}.architecture", FactState.KNOWN, architecture, "the card's name")


def _dxdiag(text: str) -> Iterator[Said]:
    if "DirectX Version" not in text and "Display Devices" not in text:
        return
    fields = fields_of(text)
    system = fields.get("Operating System", "")
    if "Windows" in system:
        yield "os", "windows"
        arm = re.search(r"\bARM64\b|Snapdragon|Qualcomm", f"{system} {fields.get('Processor', '')}")
        yield "arch", "arm64" if arm else "x86_64"
    seen: set[str] = set()
    for device in re.split(r"^[^\S\n]*(?=Card name: )", text, flags=re.MULTILINE)[1:]:
        fields = fields_of(device)
        name = fields.get("Card name", "")
        vendor = maker_in(f"{name} {fields.get('Manufacturer', '')}")
        # A card stands there once for each screen.
        if not vendor or name in seen:
            continue
        seen.add(name)
        yield from card_of(name, vendor)
        if memory := re.match(r"(\d{1,12}) MB", fields.get("Dedicated Memory", "")):
            yield "memory_bytes", int(memory[1]) * MIB
        if version := fields.get("Driver Version"):
            yield "driver_version", version
            if vendor == "nvidia":
                yield "driver.version", version


_OF_VIDEO_CONTROLLER = re.compile(
    r"win32_?VideoController|^(?=.{0,200}\b(?:DriverVersion|AdapterRAM)\b)(?:[A-Z][A-Za-z]{3,30}[^\S\n]{1,200}){1,30}"
    r"[A-Z][A-Za-z]{3,30}[^\S\n]*$|^DriverVersion[^\S\n]{0,200}[:=][^\S\n]{0,200}\d+\.\d+\.\d+\.\d+[^\S\n]*$",
    re.IGNORECASE | re.MULTILINE,
)
"""The class's name in a command, or its print: a table's head, or a list's line with a version of Windows' kind."""


def _windows_names(text: str) -> Iterator[Said]:
    """Read the names of ``wmic path win32_VideoController get name`` and of PowerShell's ``Win32_VideoController``."""
    if not _OF_VIDEO_CONTROLLER.search(text):
        return
    yield "os", "windows"
    for line in text.splitlines():
        listed = re.match(r"\s*(?:Name|Caption|Description)\s*[:=]\s*(.*)", line)
        # PowerShell's table has the driver in the next column, that of wmic in the one before.
        columns = re.split(r"\s{2,}", listed[1] if listed else line.strip())
        name = next(filter(maker_in, columns), "")
        if (vendor := maker_in(name)) and not re.search(r"VideoController", name, re.IGNORECASE):
            yield from card_of(name, vendor)


def _lspci(text: str) -> Iterator[Said]:
    rows = re.findall(
        r"^(?:\w{4}:)?[0-9a-f]{2}:[0-9a-f]{2}\.\d (?:VGA compatible|3D|Display) controller(?: \[\w+\])?: (.+)$",
        text,
        re.MULTILINE,
    )
    if rows:
        yield "os", "linux"
    for row in rows:
        vendor = maker_in(row)
        names = [
            item
            for item in re.findall(r"\[([^\[\]]+)\]", row)
            if not re.fullmatch(r"AMD/ATI|[0-9a-f]{4}(:[0-9a-f]{4})?", item)
        ]
        if vendor:
            yield from card_of(names[-1] if names else row.partition(" (")[0], vendor)


def _inxi(text: str) -> Iterator[Said]:
    for row in re.findall(r"^[^\S\n]*Device-\d+: (.+?) driver: ", text, re.MULTILINE):
        if vendor := maker_in(row):
            names = re.findall(r"\[([^\[\]]+)\]", row)
            yield "os", "linux"
            yield from card_of(names[-1] if names else row, vendor)


def _macos(text: str) -> Iterator[Said]:
    chip = re.search(r"^[^\S\n]*(?:Chipset Model|Chip): (Apple \w.*)$", text, re.MULTILINE)
    version = re.search(r"^[^\S\n]*(?:System Version: macOS|ProductVersion:)\s*([\d.]+)", text, re.MULTILINE)
    if chip or "ProductName:\t\tmacOS" in text or re.search(r"ProductName:\s+(?:macOS|Mac OS X)", text):
        yield "os", "macos"
        if version:
            yield "host.macos", version[1]
    if chip:
        yield "arch", "arm64"
        yield from card_of(chip[1].strip(), "apple")


def _uname(text: str) -> Iterator[Said]:
    if found := re.search(r"^(Linux|Darwin) \S+ (\S+) .*?\b(x86_64|aarch64|arm64)\b", text, re.MULTILINE):
        yield "os", "linux" if found[1] == "Linux" else "macos"
        yield "arch", found[3]
        if found[1] == "Linux":
            yield "host.kernel", found[2]
            yield "host.wsl", "microsoft" in found[2].lower()


def _of_transformers(text: str) -> Iterator[Said]:
    """Read what ``transformers env``, ``accelerate env`` and ``diffusers-cli env`` say of the machine."""
    if not re.search(
        r"^[^\S\n]*- `?(?:\N{HUGGING FACE} )?(?:transformers|Accelerate|diffusers|datasets)`? version: ",
        text,
        re.MULTILINE | re.IGNORECASE,
    ):
        return
    said = re.findall(r"^[^\S\n]*- ([^:\n]+): (.+)$", text, re.MULTILINE)
    rows = {key: value.strip() for key, value in said}
    platform = rows.get("Platform", "")
    for word, system in (("Windows", "windows"), ("macOS", "macos"), ("Darwin", "macos"), ("Linux", "linux")):
        if platform.startswith(word):
            yield "os", system
            yield "host.wsl", "microsoft" in platform.lower()
            break
    if machine := re.search(r"x86_64|AMD64|aarch64|arm64", platform):
        yield "arch", machine[0]
    if version := re.match(r"\d+\.\d+\S*", rows.get("Python version", "")):
        yield "python.version", version[0]
    torch = next((value for key, value in rows.items() if key.startswith("PyTorch version")), "")
    if found := re.match(r"(\d\S+)(?: \((True|False)\))?", torch):
        yield "torch.version", found[1]
        if found[2]:
            yield "torch.is_available", found[2] == "True"
    card = rows.get("GPU type") or rows.get("Accelerator", "").partition(",")[0]
    if card and (vendor := maker_in(card)):
        yield from card_of(card, vendor)


def _tegra(text: str) -> Iterator[Said]:
    release = parse_tegra_release(text)
    if release is None:
        return
    yield from (("os", "linux"), ("arch", "aarch64"), ("host.l4t", release))
    if jetpack := jetpack_of(release):
        yield "host.jetpack", jetpack


def _nvcc(text: str) -> Iterator[Said]:
    if found := re.search(r"Cuda compilation tools, release \d+\.\d+, V(\d+\.\d+\.\d+)", text):
        yield "tool.nvcc.version", found[1]


_READERS: tuple[tuple[str, Callable[[str], Iterator[Said]]], ...] = (
    ("nvidia-smi", read_nvidia_smi),
    ("nvidia-smi", read_nvidia_csv),
    ("rocminfo", read_rocminfo),
    ("hipInfo", read_hipinfo),
    ("rocm-smi", read_rocm_smi),
    ("dxdiag", _dxdiag),
    ("Win32_VideoController", _windows_names),
    ("lspci", _lspci),
    ("inxi", _inxi),
    ("system_profiler", _macos),
    ("env of a Hugging Face library", _of_transformers),
    ("uname", _uname),
    ("nvcc", _nvcc),
    ("nv_tegra_release", _tegra),
)


def what_it_is(text: str) -> str | None:
    """Return the program whose output of a machine a text holds, None where it is none that is known."""
    found = (source for source, read in _READERS if next(read(text), None) is not None)
    return next(found, "collect_env" if is_collect_env(text) else None)
