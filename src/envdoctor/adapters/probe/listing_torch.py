"""The text of ``python -m torch.utils.collect_env``, which bug reports about torch begin with."""

from __future__ import annotations

import re
from dataclasses import replace

from envdoctor.adapters.probe.listing_conda import add_conda_row
from envdoctor.adapters.probe.listing_parts import Listing, distribution, lines_of

__all__ = ["is_collect_env", "read_collect_env"]

_MARK = re.compile(r"^\s*(PyTorch version:|\[pip3?\] \S+==|\[conda\] \S+)", re.MULTILINE)
_LIBRARY = re.compile(r"\[(pip3?|conda)\]\s+(\S.*)")
_CARD = re.compile(r"GPU \d+:")
_FIELD = re.compile(r"([A-Z][\w /.()-]{1,60}?):\s*(.*)")


def is_collect_env(text: str) -> bool:
    """Return whether the text is one of collect_env's, whole or its libraries alone."""
    return _MARK.search(text) is not None


def read_collect_env(text: str, name: str) -> Listing:
    """Read the versions, and keep the other lines as ``details["collect_env"]`` (heading to text)."""
    listing = Listing("collect_env", partial=True)
    fields: dict[str, str] = {}
    heading = ""
    for number, line in lines_of(text):
        library = _LIBRARY.match(line)
        # `GPU 0: NVIDIA ...` is a line of its section, not a heading.
        field = None if _CARD.match(line) else _FIELD.match(line)
        if library:
            if not _add_library(listing, library[1], library[2]):
                listing.skip(name, number, line)
        elif field:
            heading = field[1].strip()
            fields.setdefault(heading, field[2].strip())
        elif heading:
            # `GPU models and configuration:` is followed by one line per card.
            fields[heading] = f"{fields[heading]}\n{line}".strip()
    listing.details["collect_env"] = fields
    listing.set_python(fields.get("Python version", ""))
    _set_platform(listing, fields.get("OS", ""), fields.get("Python platform", ""))
    _add_torch(listing, fields.get("PyTorch version", ""))
    return listing


def _add_library(listing: Listing, manager: str, text: str) -> bool:
    """Add one library; return whether the line could be read."""
    if text.startswith("Could not collect"):
        return True
    known = {item.name for item in listing.distributions}
    if manager == "conda":
        parts = [*text.split(), "", ""]
        add_conda_row(listing, parts[0], parts[1], parts[2], parts[3] if len(parts) > 3 else "")
        # What pip named before, with its local label, is the same thing.
        if (
            listing.distributions
            and listing.distributions[-1].name in known
            and len(listing.distributions) > len(known)
        ):
            listing.distributions.pop()
        return bool(parts[1])
    called, separator, version = text.partition("==")
    found = distribution(called.strip(), version.split()[0], installer="pip") if separator and version.strip() else None
    if found is not None and found.name not in known:
        listing.distributions.append(found)
    return found is not None


def _add_torch(listing: Listing, version: str) -> None:
    """Let torch speak for itself: pip's list may lack the local label, or torch altogether."""
    if not version[:1].isdigit():
        return
    for number, item in enumerate(listing.distributions):
        if item.name == "torch":
            if version.split("+")[0] == item.version:
                listing.distributions[number] = replace(item, version=version)
            return
    found = distribution("torch", version)
    if found is not None:
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
            listing.details["platform"] = name
            break
    for machine in ("x86_64", "aarch64", "arm64", "amd64"):
        if machine in text:
            listing.details["machine"] = {"amd64": "x86_64"}.get(machine, machine)
            return
