"""What a line that is no requirement may have meant. To ask, never to assume."""

from __future__ import annotations

import re

from packaging.requirements import InvalidRequirement, Requirement

__all__ = ["suggest"]

_SHAPE = re.compile(
    r"^(?P<name>[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)\s*(?P<extras>\[[^\]]*\])?\s*"
    r"(?P<operator>[<>=!~]{0,3})\s*(?P<version>v?[0-9][^\s,;=]*)(?P<rest>.*)$"
)
_LOOKALIKES = str.maketrans(
    {
        "\u2013": "-", "\u2014": "-", "\u2265": ">=", "\u2264": "<=", "\u2260": "!=", "\u201c": '"', "\u201d": '"',
        "\u2018": "'", "\u2019": "'", "\uff1d": "=", "\uff1e": ">", "\uff1c": "<", "\u00a0": " ", "\ufeff": None,
        "\u200b": None,
    }
)  # fmt: skip
_OPERATORS = {"=": "==", "=>": ">=", "=<": "<=", "=!": "!=", "=~": "~=", "><": "!=", "<>": "!=", "": "=="}
_LONGEST = 300


def suggest(text: str) -> tuple[str, ...]:
    """Return requirements that are valid and near to ``text``; none where nothing is obvious."""
    if len(text) > _LONGEST:
        return ()
    candidates: list[str] = []
    for plain in dict.fromkeys((text, _unwrapped(text))):
        candidates += [plain, *_from_shape(plain)]
    found = dict.fromkeys(candidate for candidate in candidates if candidate != text and _valid(candidate))
    return tuple(found)


def _unwrapped(text: str) -> str:
    plain = text.translate(_LOOKALIKES).strip()
    plain = re.sub(r"^(?:[!%]\s*)?(?:python\S*\s+-m\s+)?pip3?\s+install\s+", "", plain)
    plain = re.sub(r"^-\s+", "", plain)
    return plain.strip().strip("\"'`,;").strip()


def _from_shape(text: str) -> list[str]:
    match = _SHAPE.match(text)
    if match is None:
        return []
    operator = _OPERATORS.get(match["operator"], match["operator"])
    version, rest = match["version"], match["rest"]
    if re.fullmatch(r"=[\w.]+", rest):
        rest = ""  # conda's build string
    head = match["name"] + (match["extras"] or "")
    exact = operator in {"==", "!="}
    versions: list[str] = []
    if version.endswith("."):
        whole = version.rstrip(".")
        versions = [f"{whole}.*", f"{whole}.0"] if exact else [whole, f"{whole}.0"]
    elif re.search(r"\.[xX*]$", version):
        versions = [f"{version[:-2]}.*"] if exact else [version[:-2]]
    else:
        versions = [version.rstrip(")")]
    return [f"{head}{operator}{candidate}{rest}".strip() for candidate in versions]


def _valid(text: str) -> bool:
    try:
        Requirement(text)
    except (InvalidRequirement, ValueError, RecursionError):
        return False
    return True
