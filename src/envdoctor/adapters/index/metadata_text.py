"""Core metadata and ``requires.txt``, from text to a record; what PEP 508 forbids is read as older pip read it.

In legacy specifiers ``PyYAML (>=5.1.*)`` meant 5.1 or later: a legacy comparison ranks ``5.1.*`` just below ``5.1``.
So ``>=`` and ``>`` become ``>=``, ``<`` and ``<=`` become ``<``, and ``~=`` loses the star. Where old pip would not
have read a line either, it stays unread (None).
"""

from __future__ import annotations

import json
import re
from dataclasses import field

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import NormalizedName
from packaging.version import Version

from envdoctor.model.candidate import CoreMetadata, MetadataSource
from envdoctor.model.dataclass import dataclass
from envdoctor.model.requirement import endless_number

__all__ = [
    "Headers",
    "MetadataRecord",
    "OnlyABuild",
    "UnreadableMetadata",
    "mend_python",
    "mend_requirement",
    "read_headers",
    "read_requires_txt",
    "record_of",
]

_HEAD = re.compile(r"\s*(?P<name>[A-Za-z0-9][A-Za-z0-9._-]*)\s*(?P<extras>\[[^\]]*\])?\s*(?P<rest>.*)$", re.DOTALL)
_CLAUSE = re.compile(r"(===|==|~=|!=|<=|>=|<|>)\s*([^\s,;()<>=!~]+)")
_STARRED = {">=": ">=", ">": ">=", "<": "<", "<=": "<", "~=": "~="}


def mend_requirement(line: str) -> tuple[str, bool] | None:
    """Return a line as PEP 508 and whether it had to be mended; None where it cannot be read."""
    text = line.strip()
    if endless_number(text):
        return None
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
    if text is None or not text.strip() or endless_number(text):
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


class UnreadableMetadata(Exception):
    """A text that is not core metadata, or has a requirement that nobody could read; the text is the reason."""


class OnlyABuild(UnreadableMetadata):
    """Only a build of an sdist would tell; the text says what, where more is known than that."""


@dataclass(frozen=True, slots=True)
class Headers:
    """The fields that matter, as they stand."""

    metadata_version: str = ""
    name: str = ""
    version: str = ""
    requires_dist: tuple[str, ...] = ()
    requires_python: str | None = None
    provides_extra: tuple[str, ...] = ()
    dynamic: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class MetadataRecord:
    """Core metadata without name and version, as the cache keeps it: a stand-in's version differs from the file's."""

    requires_dist: tuple[str, ...]
    requires_python: str | None
    provides_extra: tuple[str, ...]
    source: MetadataSource
    mended: tuple[str, ...] = field(default=())

    def encode(self) -> bytes:
        """Return the form that the cache keeps."""
        parts = [self.requires_dist, self.requires_python, self.provides_extra, self.source.value, self.mended]
        return json.dumps(parts, separators=(",", ":")).encode()

    @classmethod
    def decode(cls, body: bytes) -> MetadataRecord:
        """Read what ``encode`` gives. Raises ValueError."""
        requires, python, extras, source, mended = json.loads(body)
        return cls(tuple(requires), python, tuple(extras), MetadataSource(source), tuple(mended))

    def named(self, name: NormalizedName, version: Version) -> CoreMetadata:
        """Return the model's form."""
        return CoreMetadata(
            name, version, self.requires_dist, self.requires_python, frozenset(self.provides_extra), self.source,
            self.mended,
        )  # fmt: skip


def read_headers(content: bytes) -> Headers:
    """Read the headers of a metadata file. Raises UnreadableMetadata."""
    fields: dict[str, list[str]] = {}
    last: list[str] | None = None
    # As RFC 5322 has it: only a line with nothing on it ends the headers. A folded licence text may hold lines of
    # spaces (matplotlib, pandas) and form feeds, which `str.splitlines` would take for line ends.
    for raw in content.decode("utf-8", "replace").lstrip("\ufeff").split("\n"):
        line = raw.removesuffix("\r")
        if not line:
            if fields:
                break
            continue
        if line[0] in " \t" and last:
            last[-1] += " " + line.strip()
            continue
        key, colon, value = line.partition(":")
        if not colon or not key.isascii() or " " in key.strip():
            # Descriptions of old tools spill out unindented; what follows is text, not headers.
            if not fields:
                raise UnreadableMetadata("it does not start with metadata headers")
            continue
        last = fields.setdefault(key.strip().lower(), [])
        last.append(value.strip())
    if "metadata-version" not in fields or "name" not in fields:
        raise UnreadableMetadata("it has no `Metadata-Version` or no `Name`")
    return Headers(
        metadata_version=fields["metadata-version"][0],
        name=fields["name"][0],
        version=next(iter(fields.get("version", ())), ""),
        requires_dist=tuple(fields.get("requires-dist", ())),
        requires_python=next(iter(fields.get("requires-python", ())), None),
        provides_extra=tuple(fields.get("provides-extra", ())),
        dynamic=frozenset(value.lower() for value in fields.get("dynamic", ())),
    )


def read_requires_txt(text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return requirement lines and extras of setuptools' ``requires.txt`` (sections ``[extra:marker]``)."""
    lines: list[str] = []
    extras: list[str] = []
    condition = ""
    for raw in text.splitlines():
        line = raw.strip()
        if not line or line.startswith("#"):
            continue
        if line.startswith("[") and line.endswith("]"):
            extra, _, marker = line[1:-1].partition(":")
            if extra.strip():
                extras.append(extra.strip())
            parts = [f"({marker.strip()})"] if marker.strip() else []
            parts += [f'extra == "{extra.strip()}"'] if extra.strip() else []
            condition = " and ".join(parts)
            continue
        if condition and ";" in line:
            wanted, _, own = line.partition(";")
            lines.append(f"{wanted.strip()} ; ({own.strip()}) and {condition}")
        else:
            lines.append(f"{line} ; {condition}" if condition else line)
    return tuple(lines), tuple(dict.fromkeys(extras))


def record_of(
    lines: tuple[str, ...], python: str | None, extras: tuple[str, ...], source: MetadataSource
) -> MetadataRecord:
    """Mend what needs it. Raises UnreadableMetadata for a requirement that cannot be read in any way."""
    requires: list[str] = []
    mended: list[str] = []
    for line in lines:
        read = mend_requirement(line)
        if read is None:
            raise UnreadableMetadata(f"its requirement `{line}` cannot be read")
        requires.append(read[0])
        if read[1]:
            mended.append(line)
    legible = mend_python(python)
    if python and legible != python.strip():
        mended.append(f"Requires-Python: {python.strip()}")
    return MetadataRecord(tuple(requires), legible, extras, source, tuple(mended))
