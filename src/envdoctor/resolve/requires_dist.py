"""``Requires-Dist`` lines of metadata as what they demand on one target; most wait for an extra and are never parsed.

A marker without ``or`` is a conjunction, and one part of it that does not hold settles it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, MutableMapping
from functools import lru_cache

from packaging.requirements import InvalidRequirement
from packaging.requirements import Requirement as Pep508
from packaging.utils import canonicalize_name

from envdoctor.model.candidate import CoreMetadata
from envdoctor.model.requirement import holds
from envdoctor.model.target import Target
from envdoctor.model.unknown import Subject, SubjectKind, Unknown, UnknownKind

__all__ = ["MetadataLines", "may_count"]

_EXTRA = re.compile(r"""\bextra\s*==\s*['"]([^'"]*)['"]""")
_OR = re.compile(r"\bor\b")


def may_count(line: str, extras: Collection[str]) -> bool:
    """Return False where a line of ``Requires-Dist`` waits for an extra that is not among ``extras``."""
    return all(name in extras for name in _waits_for(line))


@lru_cache(maxsize=32_768)
def _waits_for(line: str) -> tuple[str, ...]:
    """Return the extras without which a line does not count, as far as its text tells; versions repeat their lines."""
    marker = line.partition(";")[2]
    if "extra" not in marker or _OR.search(marker):
        return ()
    return tuple(map(canonicalize_name, _EXTRA.findall(marker)))


class MetadataLines:
    """Reads ``Requires-Dist`` lines for one target; what cannot be read is put into ``unknowns``."""

    def __init__(self, target: Target, unknowns: MutableMapping[Unknown, None]) -> None:
        self.doubtful: set[str] = set()
        """Lines whose marker cannot be evaluated; they count."""
        self._environment = target.marker_environment()
        self._unknowns = unknowns
        self._parsed: dict[str, Pep508 | None] = {}
        self._markers: dict[tuple[str, str], bool] = {}

    def wanted(self, metadata: CoreMetadata, extra: str) -> list[Pep508]:
        """Return the lines that count for a project's own node (``extra`` empty), or for that of an extra."""
        extras = (extra,) if extra else ()
        lines = [text for text in metadata.requires_dist if may_count(text, extras)]
        return [parsed for parsed in map(self._parse, lines) if parsed is not None and self._asked(parsed, extra)]

    def doubtful_in(self, metadata: CoreMetadata | None) -> tuple[str, ...]:
        """Return the lines of a version that count because their marker cannot be evaluated."""
        lines = [self._parse(text) for text in metadata.requires_dist] if metadata and self.doubtful else []
        return tuple(str(line) for line in lines if str(line) in self.doubtful)

    def direct_in(self, metadata: CoreMetadata | None, extras: Collection[str]) -> tuple[Pep508, ...]:
        """Return the lines of a version that count and ask for a file at a URL."""
        lines = [self._parse(text) for text in metadata.requires_dist if "@" in text] if metadata else []
        asked = [line for line in lines if line is not None and line.url]
        return tuple(line for line in asked if any(self._asked(line, extra) for extra in ("", *extras)))

    def _parse(self, text: str) -> Pep508 | None:
        if text not in self._parsed:
            try:
                self._parsed[text] = Pep508(text)
            except InvalidRequirement:
                subject = Subject(SubjectKind.PACKAGE)
                self._unknowns[Unknown(UnknownKind.NO_REQUIREMENT, subject, demand=text)] = None
                self._parsed[text] = None
        return self._parsed[text]

    def _asked(self, parsed: Pep508, extra: str) -> bool:
        """Return whether a line counts for this node: an extra's node has what its project's own node has not."""
        if parsed.marker is None:
            return not extra
        text = str(parsed.marker)
        return self._holds(parsed, text, extra) and not (extra and self._holds(parsed, text, ""))

    def _holds(self, parsed: Pep508, text: str, extra: str) -> bool:
        key = (text, extra)
        if key not in self._markers:
            assert parsed.marker is not None  # noqa: S101
            counts = holds(parsed.marker, {**self._environment, "extra": extra})
            if counts is None:
                self.doubtful.add(str(parsed))
            self._markers[key] = counts is not False
        return self._markers[key]
