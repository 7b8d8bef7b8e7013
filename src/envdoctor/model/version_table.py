"""Tables that say which version of one thing goes with which version of another."""

from __future__ import annotations

import re
from functools import lru_cache

from packaging.specifiers import SpecifierSet
from packaging.version import Version

from envdoctor.model.dataclass import dataclass

__all__ = ["VersionTable", "contains"]

_OF_A_CHECKOUT = re.compile(r"\.d20\d{6}$")
"""A commit and a day in the label, `0.0.33+5d4b92a5.d20251029`."""
_OF_AMD = re.compile(
    r"^rocm(?:[\d.]+\.(?:lw\.)?git[0-9a-f]{6,40}|[\d.]+(?:a|b|rc)\d+\S*|sdk\d{8}|(?:[7-9]|\d\d)\.\d+\.\d+)$"
)
"""AMD's own wheels, ``0.24.0+rocm7.2.1.gitb919bd0c``: built with a torch of the series, 2.9.1 say.

PyTorch's own labels have a patch number before ROCm 7 alone.
"""
_FROM_SOURCE = re.compile(r"^(?:git)?[0-9a-f]{7,40}(?:\.nv[\d.]+)?$|^nv\d")
"""A commit alone, ``2.7.0a0+git295f2ed`` and ``0.21.0+7af6987``, and NVIDIA's: built with what was there."""
_PATCH = re.compile(r"==(\d+\.\d+)\.\d+$")


@lru_cache(maxsize=4096)
def _specifier(text: str) -> SpecifierSet:
    return SpecifierSet(text)


@lru_cache(maxsize=65536)
def contains(specifier: str, version: Version) -> bool:
    """Return whether ``version`` is in ``specifier``; pre-releases count as versions, local labels are ignored."""
    return _specifier(specifier).contains(version, prereleases=True)


def _is_early_beside_a_release(version: Version, beside: Version | None) -> bool:
    """Return whether a version is of a checkout or a candidate, ``0.20.0a0``, and what is beside it a plain release."""
    if beside is None or version.pre is None or version.dev is not None or _OF_A_CHECKOUT.search(version.local or ""):
        return False
    label = beside.local or ""
    own = _FROM_SOURCE.match(label) or _OF_AMD.match(label) or _OF_A_CHECKOUT.search(label)
    return not (beside.is_prerelease or beside.is_postrelease or own)


@dataclass(frozen=True, slots=True)
class VersionTable:
    """Rows of (versions of ``subject``, versions of ``object`` that go with them); the first that fits counts."""

    name: str
    subject: str
    object: str
    """A project name, ``python``, or ``cuda``: the CUDA major version that torch was built for."""
    rows: tuple[tuple[str, str], ...]
    evidence: str
    known_to: Version | None = None
    """The newest version of ``subject`` that was read, in a table that ends: beyond it nothing is said, and nothing of
    pre-releases, which builders number as they like, and of what was built from a checkout, for whatever was there."""

    def wanted(self, version: Version, beside: Version | None = None, *, series: bool = False) -> str | None:
        """Return the specifier for ``object`` beside that version of ``subject``; None where no row speaks of it.

        ``beside``: the version of ``object`` that is there. Of two that were built from source nothing is said: the one
        was built with the other, whatever their numbers. Beside a plain release a pre-release is of the series of its
        number: it goes with all of it, or the torch that it was built with was exchanged. ``series``: whoever built
        them holds the series together alone, as conda's channels do.
        """
        label = version.local or ""
        own = _FROM_SOURCE.match(label) is not None
        early = self.known_to is not None and _is_early_beside_a_release(version, beside)
        version = Version(version.base_version) if early else version
        if self.known_to is not None and not self._knows(version):
            return None
        if own and beside is not None and _FROM_SOURCE.match(beside.local or ""):
            return None
        found = next((needs for of, needs in self.rows if contains(of, version)), None)
        return _PATCH.sub(r"==\1.*", found) if found and (series or own or early or _OF_AMD.match(label)) else found

    def going_with(self, object_: Version, near: Version) -> str | None:
        """Return versions of ``subject`` that go with that version of ``object``: of the row nearest to ``near``."""
        here = next((at for at, (of, _) in enumerate(self.rows) if contains(of, near)), 0)
        fitting = [at for at, (_, needs) in enumerate(self.rows) if contains(needs, object_)]
        return self.rows[min(fitting, key=lambda at: abs(at - here))][0] if fitting else None

    def fits(self, wanted: str, object_: Version) -> bool:
        """Return whether a version of ``object`` is in ``wanted``; a builder's pre-release counts as its release."""
        if contains(wanted, object_):
            return True
        return self.known_to is not None and object_.is_prerelease and contains(wanted, Version(object_.base_version))

    def _knows(self, version: Version) -> bool:
        assert self.known_to is not None  # noqa: S101
        ended = Version(version.public) > self.known_to
        if _OF_A_CHECKOUT.search(version.local or ""):
            return False
        return not ended and (not version.is_prerelease or self.known_to.is_prerelease)
