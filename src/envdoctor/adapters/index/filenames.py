"""Names of distribution files: which project, which version, wheel or sdist.

Sources: the binary distribution format and PEP 625; older names (``foo-bar-1.0-1.tar.gz``) as pip reads them.
"""

from __future__ import annotations

import re

from packaging.utils import NormalizedName, canonicalize_name
from packaging.version import InvalidVersion, Version

__all__ = ["is_distribution", "version_in"]

_SDIST_ENDINGS = (".tar.gz", ".zip", ".tgz", ".tar.bz2", ".tar.xz")
_SIMPLE = re.compile(r"[0-9]+(?:\.[0-9]+)*$")


def is_distribution(filename: str) -> bool:
    """Return True for a wheel or a source archive; False for eggs, installers, signatures."""
    return filename.endswith((".whl", *_SDIST_ENDINGS))


def version_in(filename: str, project: NormalizedName, known: dict[str, str | None]) -> str | None:
    """Return the normalised version of a file, None where the name is not this project's or is not PEP 440.

    ``known`` remembers versions already normalised; a page repeats each of them many times.
    """
    if filename.endswith(".whl"):
        parts = filename[:-4].split("-")
        if len(parts) not in (5, 6) or canonicalize_name(parts[0]) != project:
            return None
        return _normalised(parts[1].replace("_", "-") if "_" in parts[1] else parts[1], known)
    stem = next((filename[: -len(end)] for end in _SDIST_ENDINGS if filename.endswith(end)), None)
    if stem is None:
        return None
    cut = stem.find("-")
    while cut > 0:
        if canonicalize_name(stem[:cut]) == project:
            return _normalised(stem[cut + 1 :], known)
        cut = stem.find("-", cut + 1)
    return None


def _normalised(text: str, known: dict[str, str | None]) -> str | None:
    if text not in known:
        try:
            known[text] = str(Version(text))
        except InvalidVersion:
            known[text] = None
    return known[text]
