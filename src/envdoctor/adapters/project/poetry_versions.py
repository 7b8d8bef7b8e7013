"""Poetry's version constraints as PEP 440 specifiers: caret, tilde, wildcard, and a bare version, which is exact."""

from __future__ import annotations

import re

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version

from envdoctor.adapters.project.limits import beyond_limits

__all__ = ["Alternatives", "poetry_specifier", "python_marker"]

_CLAUSE = re.compile(r"\s*(?P<operator>\^|~=|~|===|==|!=|<=|>=|<|>|=)?\s*(?P<version>[^\s,<>=!~^]+)\s*,?")


class Alternatives(ValueError):
    """Constraints joined by ``||``, for which PEP 440 has no single specifier."""


def poetry_specifier(text: str) -> SpecifierSet:
    """Translate a constraint. Raises Alternatives, or ValueError where it is none."""
    text = text.strip()
    too_long = beyond_limits(text)
    if too_long is not None:
        raise ValueError(f"`{text[:80]}` is not a version constraint of Poetry: {too_long}")
    if "|" in text:
        return _union(text)
    if text in {"", "*"}:
        return SpecifierSet()
    clauses: list[str] = []
    at = 0
    while at < len(text):
        match = _CLAUSE.match(text, at)
        if match is None:
            raise ValueError(f"`{text}` is not a version constraint of Poetry")
        clauses += _clause(match["operator"] or "", match["version"])
        at = match.end()
    try:
        return SpecifierSet(",".join(clauses))
    except InvalidSpecifier as error:
        raise ValueError(f"`{text}` is not a version constraint of Poetry") from error


def _union(text: str) -> SpecifierSet:
    """Join alternatives where one specifier says the same (``^3.8 || ^3.9``)."""
    first, *others = [poetry_specifier(part) for part in re.split(r"\|{1,2}", text)]
    joined = first.to_range()
    for other in others:
        joined |= other.to_range()
    specifier = joined.to_specifier_set()
    if specifier is None:
        raise Alternatives(f"`{text}` gives alternatives, which PEP 440 cannot say in one specifier")
    return specifier


def _clause(operator: str, version: str) -> list[str]:
    wild = re.sub(r"(?:\.[*xX])+$", "", version)
    if version == "*":
        return []
    if wild != version:
        operator = "!=" if operator == "!=" else "=="
        return [f"{operator}{wild}.*"]
    if operator in {"^", "~"}:
        return _range(operator, version)
    return [f"{'==' if operator in {'', '='} else operator}{version}"]


def _range(operator: str, text: str) -> list[str]:
    try:
        version = Version(text)
    except InvalidVersion as error:
        raise ValueError(f"`{operator}{text}` is not a version constraint of Poetry") from error
    release = version.release
    if operator == "~":
        kept = min(len(release), 2)
    else:
        # The leftmost part that is not zero may not change.
        nonzero = next((at for at, part in enumerate(release) if part), len(release) - 1)
        kept = nonzero + 1
    upper = [*release[: kept - 1], release[kept - 1] + 1]
    epoch = f"{version.epoch}!" if version.epoch else ""
    return [f">={text}", f"<{epoch}{'.'.join(map(str, upper))}"]


def python_marker(text: str) -> str:
    """Translate a dependency's ``python`` constraint into a marker, empty for any Python. Raises ValueError."""
    parts = [_python_alternative(part) for part in text.replace("||", "|").split("|")]
    if "" in parts:
        return ""
    return " or ".join(parts) if len(parts) == 1 else " or ".join(f"({part})" for part in parts)


def _python_alternative(text: str) -> str:
    terms: list[str] = []
    for specifier in sorted(poetry_specifier(text), key=lambda one: (one.operator not in {">", ">="}, str(one))):
        version = specifier.version
        short = len(version.removesuffix(".*").split(".")) <= 2
        variable = "python_version" if short else "python_full_version"
        if len(version.split(".")) == 1:
            version = f"{version}.0"
        terms.append(f'{variable} {specifier.operator} "{version}"')
    return " and ".join(terms)
