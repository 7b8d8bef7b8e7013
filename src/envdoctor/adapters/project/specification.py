"""One requirement of any kind that pip takes (PEP 508, URL, path) as a value; what a wrong one may have meant."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache
from urllib.parse import unquote, urlsplit

from packaging.markers import InvalidMarker, Marker
from packaging.requirements import InvalidRequirement
from packaging.requirements import Requirement as PackagingRequirement
from packaging.specifiers import SpecifierSet
from packaging.utils import (
    InvalidSdistFilename,
    InvalidWheelFilename,
    NormalizedName,
    canonicalize_name,
    parse_sdist_filename,
    parse_wheel_filename,
)

from envdoctor.adapters.project.decoding import beyond_limits
from envdoctor.model.origin import FileOrigin
from envdoctor.model.project import ReadingProblem, ReadingProblemKind
from envdoctor.model.requirement import Requirement

__all__ = ["is_remote", "local_path", "looks_like_path", "names_itself", "parse_line", "parse_pep508", "split_extras"]

_SHAPE = re.compile(
    r"^(?P<name>[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)\s*(?:(?P<extras>\[[^\]]*\])\s*)?"
    r"(?:(?P<operator>[<>=!~]{1,3})\s*)?(?P<version>v?[0-9][^\s,;=]*)(?P<rest>.*)$"
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
    written = match["operator"] or ""
    operator = _OPERATORS.get(written, written)
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
        PackagingRequirement(text)
    except (InvalidRequirement, ValueError, RecursionError):
        return False
    return True


_URL = re.compile(r"^(?:[A-Za-z][A-Za-z0-9+.-]+://|file:)")
_NAMED_URL = re.compile(r"^[A-Za-z0-9][A-Za-z0-9._-]*\s*(?:\[[^\]]*\]\s*)?@\s*\S")
_DRIVE = re.compile(r"^[A-Za-z]:[\\/]")
_EXTRAS = re.compile(r"^(?P<body>.+?)\[(?P<extras>[^\[\]]*)\]$")
_NAME = re.compile(r"^[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?$")
_PORT = re.compile(r"https?://(?:[^/@\s]*@)?[^/:@\s\[]+:(?![\d${%]|/)([^/@\s]+)/")
"""What stands where an address has its port, and is no number: `github.com:owner/` is ssh's way to write a path."""
_ARCHIVES = (".whl", ".zip", ".tar.gz", ".tgz", ".tar", ".tar.bz2", ".tbz", ".tar.xz", ".txz", ".tlz", ".tar.lz")
_VCS = re.compile(r"^(?:git|hg|svn|bzr)\+|^git://")


def is_remote(reference: str) -> bool:
    """Return whether a reference leads to another machine: a URL or a VCS reference, but no ``file:``."""
    return bool(_URL.match(reference) or _VCS.match(reference)) and not reference.startswith("file:")


def parse_pep508(text: str, origin: FileOrigin, written: str = "") -> Requirement | ReadingProblem:
    """Read a PEP 508 requirement; ``written`` is what the person wrote, where that is another form."""
    too_long = beyond_limits(text)
    if too_long is not None:
        return _invalid(text, origin, written, ValueError(too_long))
    try:
        read = _parsed(text)
    except (InvalidRequirement, ValueError, RecursionError) as error:
        return _invalid(text, origin, written, error)
    return Requirement(
        name=canonicalize_name(read.name),
        origin=origin,
        specifier=read.specifier,
        extras=_normalised(read.extras),
        marker=read.marker,
        url=read.url,
        text=written or text,
    )


@lru_cache(maxsize=4096)
def _parsed(text: str) -> PackagingRequirement:
    """Parse a text once: long files repeat themselves."""
    return PackagingRequirement(text)


def parse_line(
    text: str, origin: FileOrigin, *, written: str = "", editable: bool = False
) -> Requirement | ReadingProblem:
    """Read what stands on a requirements file's line, options and comment already cut off."""
    text = text.strip()
    shown = written or text
    if port := _PORT.search(text):
        message = f"`{port[1]}` stands where the address has its port, which is a number"
        mended = f"{'-e ' if editable else ''}{text[: port.start(1) - 1]}/{text[port.start(1) :]}"
        return ReadingProblem(ReadingProblemKind.INVALID_REQUIREMENT, origin, message, shown, (mended,))
    if _URL.match(text) or _VCS.match(text):
        return _reference(text, origin, shown, editable)
    if _NAMED_URL.match(text):
        return _editable(parse_pep508(text, origin, shown), editable)
    if local_path(text) is not None:
        return _reference(text, origin, shown, editable)
    if editable:
        message = f"`{shown}` is neither a local path nor a VCS URL, so it cannot be installed as editable"
        return ReadingProblem(ReadingProblemKind.INVALID_REQUIREMENT, origin, message, shown)
    return parse_pep508(text, origin, shown)


def local_path(text: str) -> str | None:
    """Return the path that a line names, without marker and extras; None where the line is something else."""
    if _NAMED_URL.match(text):
        return None
    body = split_extras(_without_marker(text, ";")[0])[0]
    if looks_like_path(body) or "\\" in body or ("/" in body and "@" not in body):
        return body
    return None


def split_extras(text: str) -> tuple[str, tuple[str, ...]]:
    """Split ``./path[a,b]`` into the path and its extras."""
    match = _EXTRAS.match(text.strip())
    if match is None:
        return text.strip(), ()
    extras = tuple(extra.strip() for extra in match["extras"].split(",") if extra.strip())
    return match["body"].strip(), extras


def _reference(text: str, origin: FileOrigin, shown: str, editable: bool) -> Requirement | ReadingProblem:
    is_url = bool(_URL.match(text) or _VCS.match(text))
    too_long = beyond_limits(text)
    if too_long is not None:
        return _invalid(text, origin, shown, ValueError(too_long))
    body, condition = _without_marker(text, "; " if is_url else ";")
    try:
        marker = Marker(condition) if condition else None
    except (InvalidMarker, ValueError, RecursionError) as error:
        return _invalid(text, origin, shown, error)
    body, extras = (body, ()) if is_url else split_extras(body)
    name, version, more_extras = _identity(body)
    if name is None:
        problem = _nameless(body, origin, shown)
        if not is_url or problem.kind is not ReadingProblemKind.UNREAD:
            return problem
        rest = Requirement(
            NormalizedName(""),
            origin,
            extras=_normalised({*extras, *more_extras}),
            marker=marker,
            url=body,
            text=shown,
            editable=editable,
        )
        return replace(problem, nameless=rest)
    return Requirement(
        name=name,
        origin=origin,
        specifier=SpecifierSet(f"=={version}") if version else SpecifierSet(),
        extras=_normalised({*extras, *more_extras}),
        marker=marker,
        url=body,
        text=shown,
        editable=editable,
    )


def _without_marker(text: str, separator: str) -> tuple[str, str]:
    body, _, condition = text.partition(separator)
    return body.strip(), condition.strip()


def names_itself(reference: str) -> bool:
    """Return whether a path or URL tells its project without being opened: by a wheel's name, say."""
    return _identity(reference)[0] is not None


def looks_like_path(text: str) -> bool:
    """Return whether a text can only be a path: ``./x``, ``/x``, a drive, an archive; not ``x/y``."""
    return text.startswith((".", "/", "~", "\\")) or bool(_DRIVE.match(text)) or text.lower().endswith(_ARCHIVES)


def _identity(reference: str) -> tuple[NormalizedName | None, str | None, tuple[str, ...]]:
    """Return the name, version and extras that a URL or path gives away without being opened."""
    try:
        parts = urlsplit(reference)
        path, fragment = parts.path or reference, parts.fragment
    except ValueError:
        path, fragment = reference, ""
    filename = unquote(re.split(r"[\\/]", path.rstrip("/\\"))[-1])
    if filename.lower().endswith(".whl"):
        try:
            wheel_name, wheel_version, _, _ = parse_wheel_filename(filename)
        except (InvalidWheelFilename, ValueError):
            return None, None, ()
        return wheel_name, str(wheel_version), ()
    egg = re.search(r"(?:^|&)egg=([^&]*)", fragment)
    if egg is not None:
        name, extras = split_extras(unquote(egg.group(1)))
        return (canonicalize_name(name), None, extras) if _NAME.match(name) else (None, None, ())
    if not _VCS.match(reference) and filename.lower().endswith((".tar.gz", ".zip")):
        try:
            return parse_sdist_filename(filename)[0], None, ()
        except (InvalidSdistFilename, ValueError):
            return None, None, ()
    return None, None, ()


def _nameless(reference: str, origin: FileOrigin, shown: str) -> ReadingProblem:
    if reference.lower().endswith(".whl"):
        message = f"`{shown}` is not a valid wheel file name"
        return ReadingProblem(ReadingProblemKind.INVALID_REQUIREMENT, origin, message, shown)
    message = f"`{shown}` does not say which project it is; its requirements are not known without fetching it"
    suggestions: tuple[str, ...] = ()
    if _URL.match(reference) or _VCS.match(reference):
        last = re.split(r"[\\/]", reference.split("#")[0].rstrip("/"))[-1].split("@")[0]
        guess = re.sub(r"(\.git|\.zip|\.tar\.gz)$", "", last)
        if _NAME.match(guess):
            suggestions = (f"{canonicalize_name(guess)} @ {reference}",)
    return ReadingProblem(ReadingProblemKind.UNREAD, origin, message, shown, suggestions)


def _editable(read: Requirement | ReadingProblem, editable: bool) -> Requirement | ReadingProblem:
    if isinstance(read, ReadingProblem) or not editable:
        return read
    return Requirement(
        read.name, read.origin, read.specifier, read.extras, read.marker, read.url, read.text, editable=True
    )


def _normalised(extras: set[str]) -> frozenset[str]:
    return frozenset(str(canonicalize_name(extra)) for extra in extras)


def _invalid(text: str, origin: FileOrigin, written: str, error: Exception) -> ReadingProblem:
    shown = written or text
    lines = str(error).splitlines()
    reason = lines[0][:200].rstrip(".") if lines and not isinstance(error, RecursionError) else "it is nested too deep"
    suggestions = suggest(text)
    message = f"`{shown[:200]}` is not a valid requirement"
    if not suggestions:
        message += f": {reason[:1].lower()}{reason[1:]}"
    return ReadingProblem(ReadingProblemKind.INVALID_REQUIREMENT, origin, message, shown, suggestions, unexplained=True)
