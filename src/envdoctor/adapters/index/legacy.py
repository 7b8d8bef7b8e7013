"""Requirement lines that PEP 508 and PEP 440 do not allow, read as pip did while it still had legacy specifiers.

``PyYAML (>=5.1.*)`` meant 5.1 or later: a legacy comparison ranks ``5.1.*`` just below ``5.1``. So ``>=`` and ``>``
become ``>=``, ``<`` and ``<=`` become ``<``, and ``~=`` loses the star. Where old pip would not have read a line
either, it stays unread (None).
"""

from __future__ import annotations

import re

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet

__all__ = ["mend_python", "mend_requirement"]

_HEAD = re.compile(r"\s*(?P<name>[A-Za-z0-9][A-Za-z0-9._-]*)\s*(?P<extras>\[[^\]]*\])?\s*(?P<rest>.*)$", re.DOTALL)
_CLAUSE = re.compile(r"(===|==|~=|!=|<=|>=|<|>)\s*([^\s,;()<>=!~]+)")
_STARRED = {">=": ">=", ">": ">=", "<": "<", "<=": "<", "~=": "~="}


def mend_requirement(line: str) -> tuple[str, bool] | None:
    """Return a line as PEP 508 and whether it had to be mended; None where it cannot be read."""
    text = line.strip()
    try:
        Requirement(text)
    except InvalidRequirement:
        pass
    else:
        return text, False
    wanted, separator, marker = text.partition(";")
    match = _HEAD.match(wanted)
    if match is None:
        return None
    clauses = _clauses(match["rest"].strip().strip("()"))
    if clauses is None:
        return None
    mended = match["name"] + (match["extras"] or "") + clauses
    if separator and marker.strip():
        mended += f" ; {marker.strip().rstrip(';')}"
    try:
        Requirement(mended)
    except InvalidRequirement:
        return None
    return mended, True


def mend_python(text: str | None) -> str | None:
    """Return a ``Requires-Python`` that PEP 440 can read; None where it says nothing or nothing legible."""
    if text is None or not text.strip():
        return None
    try:
        SpecifierSet(text)
    except InvalidSpecifier:
        clauses = _clauses(text.strip().strip("()"))
        if not clauses:
            return None
        try:
            SpecifierSet(clauses)
        except InvalidSpecifier:
            return None
        return clauses
    return text.strip()


def _clauses(text: str) -> str | None:
    """Return comparisons as PEP 440 wants them, missing commas put in; None where more is wrong."""
    text = text.replace('"', "").replace("'", "")
    found = _CLAUSE.findall(text)
    if _CLAUSE.sub("", text).replace(",", "").strip():
        return None
    return ",".join(_clause(operator, version) for operator, version in found)


def _clause(operator: str, version: str) -> str:
    if operator in ("==", "!=") and version.endswith("*") and not version.endswith(".*"):
        return f"{operator}{version[:-1].rstrip('.')}.*"
    if operator in _STARRED and version.endswith("*"):
        plain = version.rstrip("*").rstrip(".")
        while plain.endswith(".*"):
            plain = plain[:-2]
        return _STARRED[operator] + plain
    return operator + version
