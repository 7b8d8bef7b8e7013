"""Poetry's version constraints as PEP 440 specifiers: caret, tilde, wildcard, and a bare version, which is exact."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TypeAlias

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import Version

from envdoctor.adapters.project.decoding import beyond_limits

__all__ = ["Alternatives", "poetry_specifier", "python_marker"]

_MOST_LEFT_OUT = 50
_CLAUSE = re.compile(r"\s*(?:(?P<operator>\^|~=|~|===|==|!=|<=|>=|<|>|=)\s*)?(?P<version>[^\s,<>=!~^]+)\s*,?")


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
    """Join alternatives where one specifier says the same: ``^3.8 || ^3.9``, and ``^1.2 || ^3`` without ``2.*``."""
    alternatives = [poetry_specifier(part) for part in re.split(r"\|{1,2}", text)]
    first, *others = alternatives
    joined = first.to_range()
    for other in others:
        joined |= other.to_range()
    specifier = joined.to_specifier_set() or _with_gaps([_span(one) for one in alternatives])
    if specifier is None:
        raise Alternatives(f"`{text}` gives alternatives, which PEP 440 cannot say in one specifier")
    return specifier


_Span: TypeAlias = tuple[tuple[int, ...], tuple[int, ...] | None]
"""From this release on, and below that one (None: without an end)."""


def _span(specifier: SpecifierSet) -> _Span | None:
    """Return the releases of a specifier, None where they are not one stretch from a release to another."""
    lower: tuple[int, ...] = ()
    upper: tuple[int, ...] | None = None
    for clause in specifier:
        release = Version(clause.version.removesuffix(".*")).release
        if clause.operator == ">=" or clause.version.endswith(".*"):
            lower = max(lower, release)
        if clause.operator == "==" and clause.version.endswith(".*"):
            upper = (*release[:-1], release[-1] + 1)
        elif clause.operator == "<":
            upper = release
        elif clause.operator != ">=":
            return None
    return _plain(lower), None if upper is None else _plain(upper)


def _plain(release: tuple[int, ...]) -> tuple[int, ...]:
    """Return a release without zeros at its end: 3.0 is 3."""
    return _plain(release[:-1]) if release and not release[-1] else release


def _with_gaps(spans: Sequence[_Span | None]) -> SpecifierSet | None:
    """Return one stretch around all, with what lies between them left out release by release (``!=2.*``)."""
    known = sorted((span for span in spans if span is not None), key=lambda span: span[0])
    if len(known) < len(spans):
        return None
    left_out: list[tuple[int, ...]] = []
    end = known[0][1]
    for lower, upper in known[1:]:
        if end is not None and lower > end:
            between = _between(end, lower)
            if not between:
                return None
            left_out += between
        end = None if end is None or upper is None else max(end, upper)
    clauses = [f">={_text(known[0][0])}"] if known[0][0] else []
    clauses += [f"<{_text(end)}"] if end is not None else []
    return SpecifierSet(",".join([*clauses, *(f"!={_text(one)}.*" for one in left_out)]))


def _between(start: tuple[int, ...], end: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Return the prefixes that make up a gap, none where no few prefixes do: ``2`` for 2.0 to 3.0."""
    longest = max(len(start), len(end))
    first, last = (one + (0,) * (longest - len(one)) for one in (start, end))
    at = next(place for place in range(longest) if first[place] != last[place])
    if any(first[at + 1 :]) or any(last[at + 1 :]) or last[at] - first[at] > _MOST_LEFT_OUT:
        return []
    return [(*first[:at], number) for number in range(first[at], last[at])]


def _text(release: tuple[int, ...]) -> str:
    return ".".join(map(str, release))


def _clause(operator: str, version: str) -> list[str]:
    wild = re.sub(r"(?<!\.[*xX])(?:\.[*xX])+$", "", version)
    if version == "*":
        return []
    if wild != version:
        operator = "!=" if operator == "!=" else "=="
        return [f"{operator}{wild}.*"]
    if operator in {"^", "~"}:
        return _range(operator, version)
    if operator == "~=" and re.fullmatch(r"\d+", version):
        return _range("~", version)  # Poetry reads `~=3` as `~3`; PEP 440 wants two numbers.
    return [f"{'==' if operator in {'', '='} else operator}{version}"]


def _range(operator: str, text: str) -> list[str]:
    try:
        version = Version(text)
    except ValueError as error:
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
    # PEP 440 knows no order with a local label: `^2.0.0+cu118` is from 2.0.0 on, of the index that has such builds.
    return [f">={version.public}", f"<{epoch}{'.'.join(map(str, upper))}"]


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
