"""Cleans text that packages, indexes and machines supplied before anybody's terminal or browser sees it.

A summary or a file name may hold escape sequences that move the cursor or set the window's title, and bidirectional
controls that make text read as something else (CVE-2021-42574). Letters of right-to-left scripts and emoji stay.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import is_dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING, Any

from packaging.specifiers import SpecifierSet
from packaging.version import Version

from envdoctor.model.fact import Fact
from envdoctor.model.requirement import Requirement

if TYPE_CHECKING:
    from envdoctor.model.report import Report
    from envdoctor.model.resolution import Resolution

__all__ = ["clean", "cleaned", "one_line"]

# ECMA-48: control sequences (CSI); control strings (OSC, DCS, SOS, PM, APC), up to their end or the line's; the rest.
_ESCAPES = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?"
    r"|(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\n\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?"
    r"|\x1b[ -/]*[0-~]?"
)
_LINE_ENDS = re.compile("\r\n?|[\u0085\u2028\u2029]")
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # C0, DEL and C1, but for tab and newline
    "\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f"  # zero width, bidirectional marks, embeddings, isolates
    "\ufeff\ufff9-\ufffb\ufffe\uffff\U000e0000-\U000e007f]"  # byte order mark, annotations, non-characters, tags
)
_SURROGATES = re.compile("[\ud800-\udfff]")


def clean(text: str) -> str:
    """Return ``text`` without escape sequences and hidden characters; newlines and tabs stay."""
    if text.isascii() and text.isprintable():
        return text
    text = _LINE_ENDS.sub("\n", _ESCAPES.sub("", text))
    return _SURROGATES.sub("\ufffd", _HIDDEN.sub("", text))


def one_line(text: str) -> str:
    """Return ``clean(text)`` with every run of white space as one space."""
    return " ".join(clean(text).split())


def cleaned(report: Report) -> Report:
    """Return ``report`` with every string in it clean.

    Of the resolution only what renderers show is kept: a big one holds tens of thousands of other strings.
    """
    if report.resolution is not None:
        report = replace(report, resolution=_shown(report.resolution))
    safe: Report = _clean_value(report)
    return safe


def _shown(resolution: Resolution) -> Resolution:
    packages = (
        replace(package, files=(package.file,), dependencies=(), wanted_by=(), set_aside=())
        for package in resolution.packages
    )
    return replace(resolution, packages=tuple(packages))


def _clean_value(value: Any) -> Any:
    result = value
    if value is None or isinstance(value, bool | int | float | Enum | Version | SpecifierSet):
        return value
    if isinstance(value, str):
        result = clean(value)
    elif isinstance(value, tuple | list):
        result = type(value)(_clean_value(item) for item in value)
    elif isinstance(value, Mapping):
        result = {_clean_value(key): _clean_value(item) for key, item in value.items()}
    elif isinstance(value, Requirement):
        # A specifier with `===` and a marker may hold any character, so the text is settled here.
        result = replace(value, text=one_line(str(value)), origin=_clean_value(value.origin))
    elif is_dataclass(value) and not isinstance(value, type):
        result = _clean_fields(value)
    return result


def _clean_fields(value: Any) -> Any:
    changed: dict[str, Any] = {}
    for name in value.__slots__:
        before = getattr(value, name)
        after = _clean_value(before)
        if after is not before and after != before:
            changed[name] = after
    if isinstance(value, Fact) and not isinstance(value.value, bool | int | float | str | list | tuple | None):
        changed["value"] = clean(str(value.value))
    return replace(value, **changed) if changed else value
