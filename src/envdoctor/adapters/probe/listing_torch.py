"""The text of torch's collect_env, as a listing of libraries and as the facts of the machine that it describes.

Source: ``torch/utils/collect_env.py`` for the headings.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from envdoctor.adapters.probe.cards import capability_of_name
from envdoctor.adapters.probe.gpu_nvidia import cuda_of_driver
from envdoctor.adapters.probe.listing_conda import add_conda_row
from envdoctor.adapters.probe.listing_parts import Listing, distribution, lines_of
from envdoctor.model.fact import Fact, Facts, FactState

__all__ = ["collect_env_fields", "facts_of_collect_env", "is_collect_env", "read_collect_env"]

_CARD_LINE = re.compile(r"^GPU (\d+): (.+?)(?: \(UUID.*)?$", re.MULTILINE)
_SYSTEMS = (("windows", "windows"), ("mac", "macos"), ("darwin", "macos"), ("linux", "linux"), ("ubuntu", "linux"))


_RELEASES = {"host.glibc": r"glibc-?(\d\.\d{1,2})(?!\d)", "host.macos": r"macos[- ](\d{2}(?:\.\d{1,2})?)(?!\d)"}


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
    for name, pattern in _RELEASES.items():
        found = re.search(pattern, f"{fields.get('Libc version', '')} {platform}")
        if found:
            yield _known(name, found[1])
    python = re.match(r"\d\.\d{1,2}(\.\d{1,3})?(?![\d.])", fields.get("Python version", ""))
    if python:
        yield _known("python.version", python[0])
    if system == "linux" and ("microsoft" in platform or "wsl" in platform):
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
    cards = _CARD_LINE.findall(text)
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


_MARK = re.compile(r"^[^\S\n]*(PyTorch version:|\[pip3?\] \S+==|\[conda\] \S+)", re.MULTILINE)
_LIBRARY = re.compile(r"\[(pip3?|conda)\]\s+(\S.*)")
_CARD = re.compile(r"GPU \d+:")
_FIELD = re.compile(r"([A-Z][\w /.()-]{1,60}?):\s*(.*)")


def is_collect_env(text: str) -> bool:
    """Return whether the text is one of collect_env's, whole or its libraries alone."""
    return _MARK.search(text) is not None


def read_collect_env(text: str, name: str) -> Listing:
    """Read the versions of the libraries, and the interpreter and the system that the headings tell."""
    listing = Listing("collect_env", partial=True)
    known: dict[str, int] = {}
    for number, line in lines_of(text):
        library = _LIBRARY.match(line)
        if library and not _add_library(listing, known, library[1], library[2]):
            listing.skip(name, number, line)
    fields = collect_env_fields(text)
    listing.set_python(fields.get("Python version", ""))
    _set_platform(listing, fields.get("OS", ""), fields.get("Python platform", ""))
    _add_torch(listing, fields.get("PyTorch version", ""))
    return listing


def collect_env_fields(text: str) -> dict[str, str]:
    """Return the lines that name no library: heading to text."""
    fields: dict[str, list[str]] = {}
    heading: list[str] | None = None
    for _, line in lines_of(text):
        # `GPU 0: NVIDIA ...` is a line of its section, not a heading.
        field = None if _CARD.match(line) else _FIELD.match(line)
        if _LIBRARY.match(line):
            continue
        if field:
            heading = fields.setdefault(field[1].strip(), [])
            if not heading:
                heading.append(field[2].strip())
        elif heading is not None:
            # `GPU models and configuration:` is followed by one line per card.
            heading.append(line)
    return {name: "\n".join(said).strip() for name, said in fields.items()}


def _add_library(listing: Listing, known: dict[str, int], manager: str, text: str) -> bool:
    """Add one library; return whether the line could be read. ``known``: where each stands in the listing, by name."""
    if text.startswith("Could not collect") or text == "N/A":
        return True
    if manager == "conda":
        parts = [*text.split(), "", ""]
        row = Listing("conda list")
        add_conda_row(row, parts[0], parts[1], parts[2], parts[3] if len(parts) > 3 else "")
        listing.conda_packages += row.conda_packages
        for found in row.distributions:
            number = known.setdefault(found.name, len(listing.distributions))
            if number == len(listing.distributions):
                listing.distributions.append(found)
            elif found.installer == "conda" and found.version == listing.distributions[number].version:
                # pip names it, too; conda tells who built it.
                listing.distributions[number] = found
        return bool(parts[1])
    called, separator, version = text.partition("==")
    named = distribution(called.strip(), version.split()[0], installer="pip") if separator and version.strip() else None
    if named is not None and named.name not in known:
        known[named.name] = len(listing.distributions)
        listing.distributions.append(named)
    return named is not None


def _add_torch(listing: Listing, version: str) -> None:
    """Let torch speak for itself: pip's list may lack the local label, or torch, or be of another folder's torch."""
    found = distribution("torch", version) if version[:1].isdigit() else None
    if found is None:
        return
    for number, item in enumerate(listing.distributions):
        if item.name == "torch":
            if found.version.partition("+")[0] != item.version.partition("+")[0] or "+" not in item.version:
                listing.distributions[number] = replace(item, version=found.version)
            return
    listing.distributions.append(found)


def _set_platform(listing: Listing, system: str, platform: str) -> None:
    text = f"{platform} {system}".lower()
    for mark, name in (
        ("windows", "win32"),
        ("macos", "darwin"),
        ("darwin", "darwin"),
        ("linux", "linux"),
        ("ubuntu", "linux"),
    ):
        if mark in text:
            listing.set_platform(name)
            break
    for machine in ("x86_64", "aarch64", "arm64", "amd64"):
        if machine in text:
            listing.set_platform("", {"amd64": "x86_64"}.get(machine, machine))
            return
