"""``replace-requirement``: another requirement of the same project, in a requirements file or a TOML array."""

from __future__ import annotations

import re

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from envdoctor.adapters.apply.patches import AnchorMissing
from envdoctor.model.profile import Patch

__all__ = ["apply"]

_LINE = re.compile(
    r"^(?P<indent>[ \t]*)(?P<name>[A-Za-z0-9][A-Za-z0-9._-]*)(?P<rest>(?:[^\r\n#\\]|\\\r?\n|(?<![ \t])#|\\)*)"
    r"(?P<end>[ \t]*(?:[ \t]#[^\r\n]*)?)(?=\r?$)",
    re.MULTILINE,
)
_QUOTED = re.compile(r"""(?P<quote>["'])(?P<body>[A-Za-z0-9][^"'\r\n]*)(?P=quote)""")


def apply(patch: Patch, text: str) -> str:
    """Return the text with the requirement in place. Raises AnchorMissing where the project is not required."""
    wanted = patch.requirement or ""
    name = canonicalize_name(Requirement(wanted).name)
    toml = any(file.endswith(".toml") for file in patch.files)
    found = 0

    def quoted(match: re.Match[str]) -> str:
        nonlocal found
        if not _asks_for(match["body"], name):
            return match[0]
        found += 1
        quote = "'" if '"' in wanted else '"' if "'" in wanted else match["quote"]
        return f"{quote}{wanted}{quote}"

    def line(match: re.Match[str]) -> str:
        nonlocal found
        if canonicalize_name(match["name"]) != name or not re.match(r"\s*($|[<>=!~\[;@(\\]|--)", match["rest"] or ""):
            return match[0]
        found += 1
        return f"{match['indent']}{wanted}{_space(match)}{match['end'].lstrip()}"

    changed = _QUOTED.sub(quoted, text) if toml else _LINE.sub(line, text)
    if not found:
        raise AnchorMissing(f"a requirement of `{name}`")
    return changed


def _space(match: re.Match[str]) -> str:
    trailing = match["rest"][len(match["rest"].rstrip()) :]
    lead = match["end"][: len(match["end"]) - len(match["end"].lstrip())]
    return (trailing + lead) if match["end"].strip() else trailing + match["end"]


def _asks_for(text: str, name: str) -> bool:
    try:
        return canonicalize_name(Requirement(text).name) == name
    except InvalidRequirement:
        return False
