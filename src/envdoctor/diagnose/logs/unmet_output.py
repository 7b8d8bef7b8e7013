"""Demands between installed distributions that are not met, as `pip check`, uv and a finished install say it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from packaging.requirements import Requirement as Parsed
from packaging.utils import NormalizedName, canonicalize_name
from packaging.version import Version

from envdoctor.diagnose.logs.log_lines import LogLine
from envdoctor.model.origin import DistributionOrigin
from envdoctor.model.requirement import Requirement
from envdoctor.model.resolution import Unmet

__all__ = ["unmet_in"]

_NAME = r"[A-Za-z0-9](?:[\w.-]*[A-Za-z0-9])?"
_ROWS = (
    # pip check; pip after an install; Poetry's and conda's calls of it.
    re.compile(
        rf"({_NAME}) (\d\S*) (?:has requirement|requires) (.{{1,400}}?), but you(?:"
        rf" will|'ll)? have ({_NAME}) (\d\S*?)(?: which is incompatible)?\.?$"
    ),
    re.compile(rf"({_NAME}) (\d\S*) requires (.{{1,400}}?), which is not installed\.?$"),
    re.compile(
        rf"The package `({_NAME})`()? requires `([^`]+)`, but (?:()`(\d[^`]*)` is installed|it's not installed)"
    ),
    # pkg_resources, and the check of an entry point's requirements.
    re.compile(
        rf".*ContextualVersionConflict: \(()()({_NAME}) (\d\S*) .*Requirement\.parse\('([^']+)'\), \{{'([^']+)'"
    ),
)
_TREE_OWNER = re.compile(rf"\* ({_NAME})==(\S+)")
_TREE_ROW = re.compile(rf"- ({_NAME}) \[required: (.+?), installed: ([^,\]]+)\]")


def unmet_in(
    lines: Sequence[LogLine], put_in: Mapping[NormalizedName, tuple[int, str]]
) -> Iterator[tuple[LogLine, Unmet]]:
    """Yield each unmet demand once, with its line; the version of who asks is empty where it is not said.

    ``put_in``: the line in which each package was put in last, and the version; what a later install settled is
    passed over.
    """
    seen: set[tuple[str, str]] = set()
    owner = ("", "")
    for line in lines:
        if found := _TREE_OWNER.match(line.text):
            owner = (found[1], found[2])
        row = _row(line.text) or _of_tree(line.text, owner)
        if row is None:
            continue
        consumer, version, wanted, have = row
        try:
            demand, there = Parsed(wanted), Version(have) if have is not None else None
        except ValueError:  # Also of more digits than Python reads.
            continue
        if _is_settled((consumer, version), demand, line.number, put_in):
            continue
        if (key := (consumer.lower(), str(demand))) in seen:
            continue
        seen.add(key)
        origin = DistributionOrigin(consumer, version)
        yield line, Unmet(Requirement(canonicalize_name(demand.name), origin, demand.specifier, text=wanted), there)


def _is_settled(
    asked_by: tuple[str, str], demand: Parsed, number: int, put_in: Mapping[NormalizedName, tuple[int, str]]
) -> bool:
    """Return whether a later install changed who asks, or put in a version that is asked for."""
    line, version = put_in.get(canonicalize_name(asked_by[0]), (0, ""))
    if line > number and asked_by[1] and version != asked_by[1]:
        return True
    line, version = put_in.get(canonicalize_name(demand.name), (0, ""))
    return line > number and demand.specifier.contains(version, prereleases=True)


def _row(text: str) -> tuple[str, str, str, str | None] | None:
    if " requires " not in text and " has requirement " not in text and "VersionConflict" not in text:
        return None
    text = text.removeprefix("ERROR: ").removeprefix("WARNING: ").removeprefix("  - ")
    if found := _ROWS[3].match(text):
        return found[6], "", found[5], found[4]
    for pattern in _ROWS[:3]:
        if found := pattern.match(text):
            have = found[5] if pattern.groups > 3 else None
            return found[1], found[2] or "", found[3], have
    return None


def _of_tree(text: str, owner: tuple[str, str]) -> tuple[str, str, str, str | None] | None:
    """Return a row of pipdeptree's warnings: ``- numpy [required: >=1.24,<2.3, installed: 2.3.1]``."""
    found = _TREE_ROW.match(text) if owner[0] else None
    if found is None:
        return None
    wanted = "" if found[2] == "Any" else found[2]
    have = None if found[3] in ("?", "None") else found[3]
    from packaging.specifiers import SpecifierSet

    try:
        if have is not None and SpecifierSet(wanted).contains(have, prereleases=True):
            return None
    except ValueError:
        return None
    return owner[0], owner[1], f"{found[1]}{wanted}", have
