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
from envdoctor.model.finding import Evidence, Finding
from envdoctor.model.requirement import Requirement

if TYPE_CHECKING:
    from envdoctor.model.report import Report
    from envdoctor.model.resolution import Resolution

__all__ = ["clean", "cleaned", "one_line", "shortened", "shown", "without_secrets"]

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


_URL = re.compile(r"(?<![A-Za-z0-9+.-])(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*://)(?P<rest>[^\s'\"`<>]+)")
_BARE_USERINFO = re.compile(
    r"(?:(?<![\w/@.%+~-])|(?<=//)|(?<=[/@][%~]))(?!mailto:|file:)[\w.%+~-]+:[^\s:/@'\"`<>]+@(?=[\w.-])"
)
# Names of version control users that are no secret and without which an address does not work.
_PUBLIC_USERS = ("git@", "hg@", "svn@")
_QUERY_VALUE = re.compile(r"=[^&;]*")
_SECRET_VALUE = re.compile(r"(?P<key>(?:^|&)[\w-]*(?:token|key|secret|password|sig|signature)=)[^&]*", re.IGNORECASE)
_MOST = 2000
"""Characters of one string that are shown whole: logs and explanations are shorter, a file on one line is not."""
_QUOTED = 200
_LONG_SIGN = 1000
_QUOTE = re.compile("`([^`]*)`")
_OUR_COMMAND = ("envdoctor ", 'cmd /c "')


def clean(text: str) -> str:
    """Return ``text`` without escape sequences and hidden characters; newlines and tabs stay."""
    if text.isascii() and text.isprintable():
        return text
    text = _LINE_ENDS.sub("\n", _ESCAPES.sub("", text))
    return _SURROGATES.sub("\ufffd", _HIDDEN.sub("", text))


def without_secrets(text: str) -> str:
    """Return ``text`` with no user, password or query value in what looks like a URL; hashes and names stay."""
    if "://" in text:
        text = _URL.sub(lambda found: found["scheme"] + _bare(found["rest"]), text)
    return _BARE_USERINFO.sub("", text) if "@" in text and ":" in text else text


def _bare(rest: str) -> str:
    """Return what follows a URL's ``://`` without what only its owner should know."""
    authority = re.split(r"[/?#]", rest, maxsplit=1)[0]
    user, at, host = authority.rpartition("@")
    if at and f"{user}@" not in _PUBLIC_USERS:
        rest = host + rest[len(authority) :]
    elif not at and "@" in rest:
        # A password with an unescaped slash breaks the authority off early: what is left of it is no host and port,
        # or another colon stands before the @. In `/package@1.0` neither is so.
        before, _, after = rest.rpartition("@")
        port = authority.partition(":")[2]
        if (port and not port.isdigit()) or ":" in before[len(authority) :]:
            rest = after
    body, hash_, fragment = rest.partition("#")
    address, mark, query = body.partition("?")
    query = _QUERY_VALUE.sub("=***", query)
    return address + mark + query + hash_ + _SECRET_VALUE.sub(r"\g<key>***", fragment)


def shortened(text: str, most: int = _QUOTED) -> str:
    """Return a text of at most about ``most`` characters; a longer one is cut and says how long it was."""
    return text if len(text) <= most else f"{text[:most]}... ({len(text)} characters)"


def shown(text: str) -> str:
    """Return a message as it may be shown: clean, without secrets, long quotations cut, no longer than a page."""
    text = without_secrets(clean(text))
    if len(text) <= _QUOTED:
        return text
    return shortened(_QUOTE.sub(_quotation, text), _MOST)


def _quotation(found: re.Match[str]) -> str:
    # A command that is to be typed is of no use when it is cut, and paths in it may be long.
    return found[0] if found[1].startswith(_OUR_COMMAND) else f"`{shortened(found[1])}`"


def one_line(text: str) -> str:
    """Return ``clean(text)`` with every run of white space as one space."""
    return " ".join(clean(text).split())


def cleaned(report: Report) -> Report:
    """Return ``report`` with every string in it clean.

    Of the resolution only what renderers show is kept: a big one holds tens of thousands of other strings.
    """
    if report.resolution is not None:
        report = replace(report, resolution=_shown(report.resolution))
    if report.parts:
        parts = (replace(part, resolution=part.resolution and _shown(part.resolution)) for part in report.parts)
        report = replace(report, parts=tuple(parts))
    safe: Report = _clean_value(report)
    return safe


def _shown(resolution: Resolution) -> Resolution:
    packages = (
        replace(package, files=(package.file,), dependencies=(), wanted_by=(), set_aside=())
        for package in resolution.packages
    )
    return replace(resolution, packages=tuple(packages))


_CLEAN = (bool, int, float, Enum, Version, SpecifierSet)


def _clean_value(value: Any) -> Any:
    result = value
    if isinstance(value, str) and not isinstance(value, Enum):
        result = shown(value)
    elif value is None or isinstance(value, _CLEAN):
        return value
    elif isinstance(value, (tuple, list)):
        result = type(value)(_clean_value(item) for item in value)
    elif isinstance(value, Mapping):
        result = {_clean_value(key): _clean_value(item) for key, item in value.items()}
    elif isinstance(value, Requirement):
        # A specifier with `===` and a marker may hold any character, so the text is settled here.
        url = without_secrets(value.url) if value.url else None
        text = shortened(without_secrets(one_line(str(value))))
        result = replace(value, text=text, url=url, origin=_clean_value(value.origin))
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
    if isinstance(value, Finding):
        changed["subject"] = shortened(changed.get("subject", value.subject))
    if isinstance(value, Evidence) and len(value.what) > _LONG_SIGN:
        changed["what"] = shortened(changed.get("what", value.what))
    if isinstance(value, Fact) and not isinstance(value.value, bool | int | float | str | list | tuple | None):
        changed["value"] = clean(str(value.value))
    return replace(value, **changed) if changed else value
