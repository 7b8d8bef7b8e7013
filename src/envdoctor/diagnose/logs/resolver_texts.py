"""Requirements in the words of resolvers: uv's, pip's, Poetry's, conda's and PDM's."""

from __future__ import annotations

import re

from packaging.requirements import InvalidRequirement
from packaging.requirements import Requirement as Parsed
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import canonicalize_name

from envdoctor.model.origin import CommandLineOrigin, DistributionOrigin, FileOrigin, Origin
from envdoctor.model.requirement import Requirement, endless_number

__all__ = ["demand_of", "in_log", "of_conda", "of_poetry", "requirement_of"]

_LINE = re.compile(r"-[rc] (\S+) \(line (\d{1,9})\)")
_POETRY = re.compile(r"([A-Za-z0-9][\w.-]*)(\[[\w, -]*\])? ?(?:\(([^()]*)\))?$")
_CONDA = re.compile(r"(?:[\w-]+::)?([A-Za-z0-9_][\w.-]*)(?:\[version='([^']*)'.*\]|[ =]+([^\s\[]*).*)?$")


def in_log(number: int, place: str = "") -> Origin:
    """Return where a requirement stands that a log tells of: the file and line that it names, else its own line."""
    found = _LINE.search(place)
    relative = found is not None and not re.match(r"/|\\|[A-Za-z]:|\.\.", found[1])
    if found is not None and relative:
        return FileOrigin(found[1].removeprefix("./").removeprefix(".\\").replace("\\", "/"), int(found[2]))
    return CommandLineOrigin(f"--log line {number}")


def requirement_of(text: str, origin: Origin) -> Requirement | None:
    """Return a requirement in PEP 508's form, None where it is none."""
    if endless_number(text):
        return None
    try:
        parsed = Parsed(text.strip().rstrip(".,;"))
    except InvalidRequirement:
        return None
    extras = frozenset(map(canonicalize_name, parsed.extras))
    return Requirement(canonicalize_name(parsed.name), origin, parsed.specifier, extras, url=parsed.url)


def demand_of(consumer: str, version: str, text: str) -> Requirement | None:
    """Return what a version of a distribution needs."""
    return requirement_of(text, DistributionOrigin(canonicalize_name(consumer), version))


def of_poetry(text: str, origin: Origin) -> Requirement | None:
    """Return a requirement of ``torch (>=2.4,<3.0)``: a version alone means just that one, ``^2.4`` up to 3."""
    found = _POETRY.match(text.strip())
    if found is None:
        return None
    wanted = _specifier_of_poetry(found[3] or "")
    name = f"{found[1]}{found[2] or ''}"
    return requirement_of(f"{name}{wanted}", origin) if wanted is not None else None


def _specifier_of_poetry(text: str) -> SpecifierSet | None:
    parts = []
    for part in filter(None, (item.strip() for item in text.split(","))):
        if part == "*":
            continue
        caret = re.fullmatch(r"\^\s*(\d{1,9})(?:\.(\d{1,9}))?(?:\.(\d{1,9}))?(?!\d).*", part)
        if caret:
            numbers = [int(item) for item in caret.groups() if item is not None]
            at = next((place for place, number in enumerate(numbers) if number), len(numbers) - 1)
            above = [*numbers[:at], numbers[at] + 1]
            parts.append(f">={part[1:].strip()},<{'.'.join(map(str, above))}")
        else:
            parts.append(part if part[0] in "<>=!~" else f"=={part}")
    try:
        return SpecifierSet(",".join(parts))
    except InvalidSpecifier:
        return None


def of_conda(text: str, origin: Origin) -> Requirement | None:
    """Return a requirement of conda's ``pytorch 2.4.1**``, ``numpy >=1.23,<2.0a0`` or ``cudatoolkit=11.3``."""
    found = _CONDA.match(text.strip())
    if found is None:
        return None
    wanted = (found[2] or found[3] or "").strip("= ")
    if not wanted or wanted == "*":
        return requirement_of(found[1], origin)
    if "|" in wanted:
        # Any of several: no specifier says that.
        return requirement_of(found[1], origin)
    parts = []
    for part in filter(None, wanted.split(",")):
        star = part.endswith("*")
        bare = part.rstrip("*").rstrip(".")
        if part[0] in "<>!~":
            parts.append(bare)
        elif bare:
            parts.append(f"=={bare.lstrip('=')}{'.*' if star else ''}")
    return requirement_of(f"{found[1]}{','.join(parts)}", origin) or requirement_of(found[1], origin)
