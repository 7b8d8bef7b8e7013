"""What the programs of NVIDIA's and AMD's drivers say of the cards: nvidia-smi, rocminfo, hipInfo, rocm-smi."""

from __future__ import annotations

import re
from collections.abc import Iterator

__all__ = [
    "MIB",
    "Said",
    "card_of",
    "fields_of",
    "maker_in",
    "read_hipinfo",
    "read_nvidia_csv",
    "read_nvidia_smi",
    "read_rocm_smi",
    "read_rocminfo",
]

Said = tuple[str, object]
"""A fact's name and value; a card's name goes without its number, and ``card`` begins a new one."""

MIB = 1024 * 1024
_SMI = re.compile(
    r"NVIDIA-SMI\s{1,40}([\d.]{1,40}) .{0,200}?(?:Driver|KMD) Version:\s{0,40}([\d.]{1,40})"
    r"(?:.{0,200}?CUDA (?:UMD )?Version:\s{0,40}([\d.]{1,40}))?"
)
_SMI_CARD = re.compile(
    r"^\| {1,40}(\d{1,4}) {1,40}(\S.{0,200}?) {1,40}(On|Off|WDDM|TCC|MCDM|N/A|Enabled|Disabled)"
    r" {0,40}\| {0,40}[0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:",
    re.MULTILINE,
)
_SMI_MEMORY = re.compile(r"^\|.*?\|\s*(\d{1,9})MiB\s*/\s*(\d{1,9})MiB\s*\|", re.MULTILINE)
_SMI_LIST = re.compile(r"^[^\S\n]*GPU \d+: (.+?) \(UUID: ", re.MULTILINE)
_SMI_QUERY = re.compile(r"^[^\S\n]*Product Name\s+: (\S.*)$", re.MULTILINE)
_NAMES_ALONE = re.compile(
    r"^[^\S\n]*Name:[^\S\n]+(gfx\w+)[^\S\n]*(?:\n[^\S\n]*Marketing Name:[^\S\n]+(\S.*))?$", re.MULTILINE
)
_FIELD = re.compile(r"([A-Za-z][\w#()./'-]*(?: {1,2}[\w#()./'-]+)*)(?:\s*:\s*|\s{3,})(\S.*)")


def read_nvidia_smi(text: str) -> Iterator[Said]:
    """Read what nvidia-smi prints: its table, ``-L`` or ``-q``."""
    head = _SMI.search(text)
    if head:
        yield "driver.version", head[2]
        if head[3]:
            yield "driver.cuda", head[3]
        cards, memory = _SMI_CARD.findall(text), _SMI_MEMORY.findall(text)
        for number, (_, name, mode) in enumerate(cards):
            yield from card_of(name.removesuffix("...").strip(), "nvidia")
            if number < len(memory):
                used, total = map(int, memory[number])
                yield "memory_bytes", total * MIB
                yield "memory_free_bytes", max(total - used, 0) * MIB
            if mode in ("WDDM", "TCC", "MCDM") and number == 0:
                yield "os", "windows"
        # Windows's own table has a column for the driver's model there; WSL's has this one, and is Linux.
        if "Persistence-M" in text or re.search(r"/usr/(?:lib|bin)/", text):
            yield "os", "linux"
        return
    for name in _SMI_LIST.findall(text) or _SMI_QUERY.findall(text):
        yield from card_of(name, "nvidia")
    for key, pattern in (
        ("driver.version", r"^Driver Version\s+: ([\d.]+)"),
        ("driver.cuda", r"^CUDA Version\s+: ([\d.]+)"),
    ):
        if found := re.search(pattern, text, re.MULTILINE):
            yield key, found[1]


def read_nvidia_csv(text: str) -> Iterator[Said]:
    """Read ``nvidia-smi --query-gpu=... --format=csv``."""
    lines = text.splitlines()
    for at, line in enumerate(lines):
        heads = [item.split(" [")[0].strip() for item in line.split(",")]
        if "name" not in heads or not {"driver_version", "memory.total", "compute_cap", "index"} & set(heads):
            continue
        for row in lines[at + 1 :]:
            cells = [item.strip() for item in row.split(",")]
            if len(cells) != len(heads):
                return
            values = dict(zip(heads, cells, strict=True))
            yield from card_of(values["name"], "nvidia")
            if "compute_cap" in values:
                yield "architecture", f"sm_{values['compute_cap'].replace('.', '')}"
            if memory := re.match(r"(\d{1,12}) MiB", values.get("memory.total", "")):
                yield "memory_bytes", int(memory[1]) * MIB
            if "driver_version" in values:
                yield "driver.version", values["driver_version"]
        return


def read_rocminfo(text: str) -> Iterator[Said]:
    """Read the agents that are cards."""
    if "HSA Agents" not in text and "HSA System Attributes" not in text:
        yield from _rocminfo_rows(text)
        return
    yield "os", "linux"
    yield "host.wsl", "WSL environment detected" in text
    for agent in re.split(r"^Agent \d+\s*$", text, flags=re.MULTILINE)[1:]:
        fields = fields_of(agent)
        name = fields.get("Name", "")
        if fields.get("Device Type") == "GPU" and name.startswith("gfx"):
            yield from card_of(fields.get("Marketing Name") or name, "amd")
            yield "architecture", name


def _rocminfo_rows(text: str) -> Iterator[Said]:
    """Read the names alone, as ``grep`` leaves them."""
    for name, sold in _NAMES_ALONE.findall(text):
        yield "os", "linux"
        yield from card_of(sold.strip() or name, "amd")
        yield "architecture", name


def read_hipinfo(text: str) -> Iterator[Said]:
    """Read AMD's program of the HIP SDK; it says the same of NVIDIA's cards without an architecture."""
    for device in re.split(r"^device#\s+\d+\s*$", text, flags=re.MULTILINE)[1:]:
        fields = fields_of(device)
        architecture = fields.get("gcnArchName", "")
        yield from card_of(fields.get("Name", "") or architecture, "amd" if architecture.startswith("gfx") else None)
        if architecture.startswith("gfx"):
            yield "architecture", architecture.split(":")[0]
        if memory := re.match(r"(\d{1,6}(?:\.\d{1,6})?) GB", fields.get("totalGlobalMem", "")):
            yield "memory_bytes", int(float(memory[1]) * 1024 * MIB)
    if re.search(r"hipInfo\.exe", text, re.IGNORECASE) and "device#" in text:
        yield "os", "windows"


def read_rocm_smi(text: str) -> Iterator[Said]:
    """Read the lines of products."""
    names = re.findall(r"^GPU\[\d+\]\s*: Card [Ss]eries:\s*(\S.*)$", text, re.MULTILINE)
    kinds = re.findall(r"^GPU\[\d+\]\s*: GFX Version:\s*(gfx\w+)", text, re.MULTILINE)
    for number in range(max(len(names), len(kinds))):
        yield from card_of(names[number].strip() if number < len(names) else kinds[number], "amd")
        if number < len(kinds):
            yield "architecture", kinds[number]


def card_of(name: str, vendor: str | None) -> Iterator[Said]:
    """Begin a card."""
    yield "card", name
    yield "name", name
    if vendor:
        yield "vendor", vendor


def maker_in(text: str) -> str | None:
    """Return the maker that a card's line names."""
    for pattern, vendor in ((r"NVIDIA|GeForce|Quadro", "nvidia"), (r"AMD|Advanced Micro|Radeon|ATI\b", "amd"),
                            (r"Intel|\bArc\b", "intel"), (r"Qualcomm|Adreno", "qualcomm")):  # fmt: skip
        if re.search(pattern, text):
            return vendor
    return None


def fields_of(text: str) -> dict[str, str]:
    """Return the first value of each heading."""
    found: dict[str, str] = {}
    for line in text.splitlines():
        if match := _FIELD.match(line.strip()):
            found.setdefault(match[1], match[2])
    return found
