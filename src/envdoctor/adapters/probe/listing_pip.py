"""The outputs of ``pip freeze``, ``pip list``, ``pip inspect``, and of uv's commands of those names."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from packaging.utils import parse_sdist_filename, parse_wheel_filename

from envdoctor.adapters.probe.listing_parts import Listing, ListingError, distribution, lines_of
from envdoctor.model.environment import InstalledDistribution, Interpreter

__all__ = ["is_columns", "is_frozen", "read_columns", "read_freeze", "read_inspect", "read_pip_json"]

_HEADER = re.compile(r"^[^\S\n]*Package[^\S\n]+Version\b(?P<editable>.*Editable project location)?", re.MULTILINE)
_PINNED = re.compile(r"([A-Za-z0-9][\w.-]*)(?:\[[\w,. -]*\])?\s*={2,3}\s*([^\s;#,]+)\s*(?:;.*)?$")
_DIRECT = re.compile(r"([A-Za-z0-9][\w.-]*)(?:\[[\w,. -]*\])?\s*@\s*(\S+)")
_LEGACY = re.compile(r"([A-Za-z0-9][\w.-]*) \(([^\s,)]+)(?:,[^)]*)?\)$")
_EDITABLE_COMMENT = re.compile(r"#\s*Editable .*\(([A-Za-z0-9][\w.-]*)==([^\s)]+)\)")
_EGG = re.compile(r"#egg=([A-Za-z0-9][\w.-]*)")
_SPECIFIER = re.compile(r"[A-Za-z0-9][\w.-]*(\[[\w,. -]*\])?\s*(>=|<=|~=|!=|<|>|$)")


def is_frozen(text: str) -> bool:
    """Return whether half of a text's lines and more are those of ``pip freeze``."""
    rows = [line for _, line in lines_of(text)]
    return sum(_frozen(row, None) is not None for row in rows) * 2 >= len(rows)


def read_freeze(text: str, name: str) -> Listing:
    """Read ``pip freeze`` (or ``pip list --format=freeze``, or the old ``name (version)`` lines)."""
    listing = Listing("pip freeze")
    announced: InstalledDistribution | None = None
    bad: tuple[int, str] | None = None
    for number, line in lines_of(text):
        if line.startswith("#"):
            match = _EDITABLE_COMMENT.match(line)
            announced = distribution(match[1], match[2], editable=True) if match else announced
            continue
        found = [item for part in _pins_of(line) if (item := _frozen(part, announced)) is not None]
        if line.startswith("-e "):
            announced = None
        if found:
            listing.distributions += found
        elif not line.startswith("-"):
            listing.skip(name, number, line)
            bad = bad or (number, line)
    if bad is not None and len(listing.problems) >= max(1, len(listing.distributions)):
        raise ListingError(name, bad[0], _complaint(bad[1]))
    listing.distributions = _without_copies(listing.distributions)
    return listing


_COPIES = {
    "importlib-metadata": {"8.0.0", "8.7.1"},
    "importlib-resources": {"6.4.0"},
    "more-itertools": {"10.3.0", "10.8.0"},
    "packaging": {"24.0", "24.1", "24.2", "26.0"},
    "platformdirs": {"4.2.2", "4.4.0"},
    "tomli": {"2.0.1", "2.4.0"},
    "typeguard": {"4.3.0"},
    "typing-extensions": {"4.12.2"},
    "wheel": {"0.43.0", "0.45.1", "0.46.3"},
    "zipp": {"3.19.2", "3.23.0"},
}
"""What setuptools 71.1 to 82 bring along in a folder of their own, read in their wheels."""
_ONLY_COPIES = frozenset({"autocommand", "jaraco-text"})


def _without_copies(found: list[InstalledDistribution]) -> list[InstalledDistribution]:
    """Return a list without setuptools' own copies, which a program that has imported setuptools lists, too."""
    names = [item.name for item in found]
    if not set(names) >= _ONLY_COPIES:
        return found
    times = Counter(names)
    kept = []
    for item in reversed(found):
        copy = times[item.name] > 1 and item.version in _COPIES.get(item.name, ())
        times[item.name] -= copy
        kept += [] if copy else [item]
    return kept[::-1]


def _pins_of(line: str) -> list[str]:
    """Return a line as it is, or the pins of one that has several: ``transformers==4.38.1 huggingface-hub==0.21.3``."""
    words = line.replace(", ", " ").split()
    several = len(words) > 1 and all(_PINNED.fullmatch(word) for word in words)
    return words if several else [line]


def _frozen(line: str, announced: InstalledDistribution | None) -> InstalledDistribution | None:
    if line.startswith("-e "):
        if announced is not None:
            return replace(announced, direct_url=line[3:].strip())
        match = _EGG.search(line)
        # A checkout's commit stands where the version would.
        return distribution(match[1], "", editable=True, direct_url=line[3:].strip()) if match else None
    match = _PINNED.match(line.removesuffix("\\").rstrip())
    if match:
        return distribution(match[1], match[2])
    match = _DIRECT.match(line)
    if match:
        return distribution(match[1], _version_in(match[2]), direct_url=match[2])
    match = _LEGACY.match(line)
    return distribution(match[1], match[2]) if match else None


def _version_in(url: str) -> str:
    """Return the version in the file name at the end of a URL, the empty string where there is none."""
    filename = url.split("#")[0].split("?")[0].rstrip("/").rsplit("/", 1)[-1].replace("%2B", "+").replace("%2b", "+")
    try:
        if filename.endswith(".whl"):
            return str(parse_wheel_filename(filename)[1])
        if filename.endswith((".tar.gz", ".zip")):
            return str(parse_sdist_filename(filename)[1])
    except ValueError:
        pass
    return ""


def _complaint(line: str) -> str:
    shown = line if len(line) <= 80 else f"{line[:79]}…"
    if _SPECIFIER.match(line) and " " not in line.split(";")[0].strip():
        return f"`{shown}` is a requirement, not an installed version; a listing says `name==version`"
    return (
        f"`{shown}` is of no listing that is known: `pip freeze`, `pip list`, `pip show`, `uv tree`, `poetry show`, "
        "`conda list`, `conda env export`, `pip inspect`, collect_env"
    )


def is_columns(text: str) -> bool:
    """Return whether the text has the header of ``pip list``."""
    return _HEADER.search(text) is not None


def read_columns(text: str, name: str) -> Listing:
    """Read ``pip list`` (columns), or ``uv pip list``."""
    listing = Listing("pip list")
    header = _HEADER.search(text)
    editable = header is not None and header["editable"] is not None
    started = False
    for number, line in lines_of(text):
        if _HEADER.match(line):
            started = True
            continue
        if not started or set(line) <= {"-", " "}:
            continue
        fields = line.split(None, 2)
        found = distribution(fields[0], fields[1]) if len(fields) > 1 and fields[1][:1].isdigit() else None
        if found is None:
            listing.skip(name, number, line)
        elif editable and len(fields) > 2:
            listing.distributions.append(replace(found, editable=True, direct_url=fields[2]))
        else:
            listing.distributions.append(found)
    return listing


def read_pip_json(rows: list[Mapping[str, object]], name: str) -> Listing:
    """Read ``pip list --format=json``."""
    listing = Listing("pip list")
    for number, row in enumerate(rows):
        location = row.get("editable_project_location")
        found = distribution(
            str(row.get("name", "")),
            str(row.get("version", "")),
            editable=bool(location),
            direct_url=str(location) if location else None,
        )
        if found is None or not isinstance(row.get("version"), str):
            raise ListingError(name, 1, f"entry [{number}] has no `name` and `version`")
        listing.distributions.append(found)
    return listing


def read_inspect(document: Mapping[str, object], name: str) -> Listing:
    """Read ``pip inspect``: the one listing that tells requirements and the marker environment."""
    listing = Listing("pip inspect", has_requirements=True)
    installed = document["installed"]
    for number, item in enumerate(installed if isinstance(installed, list) else []):
        metadata = item.get("metadata") if isinstance(item, dict) else None
        found = _inspected(item, metadata) if isinstance(metadata, dict) else None
        if found is None:
            raise ListingError(name, 1, f"installed[{number}] has no `metadata` with a name and a version")
        listing.distributions.append(found)
    environment = document.get("environment")
    if isinstance(environment, dict):
        markers = {str(key): str(value) for key, value in environment.items()}
        if "python_version" in markers and "sys_platform" in markers:
            listing.told = Interpreter(markers["sys_platform"], markers=markers)
        listing.set_python(markers.get("python_full_version") or markers.get("python_version", ""))
    return listing


def _inspected(item: Mapping[str, object], metadata: Mapping[str, object]) -> InstalledDistribution | None:
    found = distribution(
        str(metadata.get("name", "")), str(metadata.get("version", "")), installer=str(item.get("installer") or "")
    )
    if found is None or not found.version:
        return None
    direct, wanted = item.get("direct_url"), metadata.get("requires_python")
    location = item.get("metadata_location")
    information = direct.get("dir_info") if isinstance(direct, dict) else None
    return replace(
        found,
        requires_dist=_strings(metadata.get("requires_dist")),
        requires_python=str(wanted) if wanted else None,
        provides_extra=_strings(metadata.get("provides_extra")),
        metadata_path=str(location or ""),
        location=re.sub(r"[/\\][^/\\]*$", "", str(location or "")),
        direct_url=str(direct.get("url")) if isinstance(direct, dict) else None,
        editable=isinstance(information, dict) and information.get("editable") is True,
    )


def _strings(value: object) -> tuple[str, ...]:
    return tuple(str(item) for item in value) if isinstance(value, list) else ()
