"""One requirement as it was written, with its kind, its group and its marker; and whether a marker holds.

A marker is evaluated so that one which makes no sense is an answer and not an accident.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Literal

from packaging.specifiers import SpecifierSet
from packaging.version import Version

from envdoctor.model.dataclass import dataclass

if TYPE_CHECKING:
    from packaging.markers import Marker
    from packaging.utils import NormalizedName

    from envdoctor.model.origin import Origin

__all__ = [
    "GroupKind",
    "GroupName",
    "Requirement",
    "RequirementKind",
    "admits_nothing",
    "both_markers",
    "endless_number",
    "holds",
    "may_hold",
]

_ENDLESS = re.compile(r"\d{201}")


def endless_number(text: str) -> bool:
    """Return whether a text has a number of more than 200 digits: no version has, and Python refuses to read some."""
    return len(text) > 200 and _ENDLESS.search(text) is not None


def admits_nothing(specifier: SpecifierSet) -> bool:
    """Return whether the lower and upper bounds leave no version between them."""
    clauses = [(each.operator, Version(each.version)) for each in specifier if each.operator[0] in "<>"]
    low = max((version for operator, version in clauses if operator[0] == ">"), default=None)
    high = min((version for operator, version in clauses if operator[0] == "<"), default=None)
    if low is None or high is None:
        return False
    return low > high or (low == high and not {(">=", low), ("<=", low)} <= set(clauses))


def holds(
    marker: Marker | None,
    environment: Mapping[str, str] | None,
    context: Literal["metadata", "lock_file", "requirement"] = "metadata",
) -> bool | None:
    """Return whether a marker (PEP 508) holds in an environment; None where it cannot be evaluated.

    ``os_name ~= 'posix'`` compares words as versions, ``'x' in extras`` belongs in locks: the grammar admits them and
    evaluation does not. No marker holds everywhere; no environment means that of this process.
    """
    if marker is None:
        return True
    try:
        return marker.evaluate(environment and dict(environment), context=context)
    except Exception:  # noqa: BLE001 - packaging raises what its comparisons raise, of several kinds
        return None


def may_hold(marker: Marker | None, environment: Mapping[str, str] | None) -> bool:
    """Return whether a marker holds, or cannot be evaluated: what is not known to be left out counts."""
    return holds(marker, environment) is not False


class GroupKind(enum.Enum):
    """Where a list beside the main one stands."""

    EXTRA = "extra"
    """Optional dependencies, which a user of the package may ask for."""
    GROUP = "group"
    """A dependency group (PEP 735, Poetry, PDM, Pipfile), for whoever works on the project."""
    FILE = "file"
    """A requirements file of its own, for tests or another machine, say; its name is its path."""


@dataclass(frozen=True, slots=True)
class GroupName:
    """A list beside the main one, by its name as written."""

    kind: GroupKind
    name: str
    of: str = ""
    """The folder of the workspace's member that has it; empty for the project's own."""

    def __str__(self) -> str:
        return f"{self.kind.value} `{self.name}`" + (f" of `{self.of}`" if self.of else "")


def both_markers(first: Marker | None, second: Marker | None) -> Marker | None:
    """Return the marker that holds where both do; none where neither says anything."""
    if first is None or second is None:
        return first or second
    return first & second


class RequirementKind(enum.Enum):
    """Whether a requirement asks for a project, or only bounds it when something else asks (``pip -c``)."""

    REQUIRE = "require"
    CONSTRAINT = "constraint"


@dataclass(frozen=True, slots=True)
class Requirement:
    """One requirement: what was asked for, and where it was written."""

    name: NormalizedName
    origin: Origin
    specifier: SpecifierSet = field(default_factory=SpecifierSet)
    extras: frozenset[str] = frozenset()
    """Extras, names normalised (PEP 685)."""
    marker: Marker | None = None
    url: str | None = None
    """A direct reference (PEP 508 ``@``), a VCS URL or a local path; such a requirement has no specifier, except that
    of a wheel, whose file name says the version."""
    text: str = ""
    """As the person wrote it, comments and options cut off: ``librosa = "0.9.2"`` in Poetry's form, say."""
    kind: RequirementKind = RequirementKind.REQUIRE
    hashes: tuple[str, ...] = ()
    """``algorithm:hex`` strings of ``--hash`` options."""
    no_deps: bool = False
    """Installed by the project with ``--no-deps``, on purpose."""
    editable: bool = False
    group: GroupName | None = None
    """The extra, dependency group or file it stands in; None for the main list."""
    conda: bool = False
    """It asks conda's channels, not a Python index; the name is the one that the index would have."""
    step: int | None = None
    """Position of the ``pip install`` command in a script that installs step by step."""
    index_url: str | None = None
    """The ``--index-url`` of the pip command that installs it, where that command names one."""

    @property
    def asked_by(self) -> NormalizedName | None:
        """The distribution whose metadata, or binaries, ask for it; None where a person does."""
        from packaging.utils import canonicalize_name

        from envdoctor.model.origin import DistributionOrigin

        return canonicalize_name(self.origin.name) if isinstance(self.origin, DistributionOrigin) else None

    def admits(self, version: Version | str) -> bool:
        """Return whether its bounds admit a version, be it a pre-release."""
        return self.specifier.contains(version, prereleases=True)

    @property
    def is_pin(self) -> bool:
        """Whether it names one version."""
        return any(clause.operator in ("==", "===") for clause in self.specifier)

    @property
    def pep508(self) -> str:
        """The requirement in PEP 508 form, normalised."""
        extras = f"[{','.join(sorted(self.extras))}]" if self.extras else ""
        body = f" @ {self.url}" if self.url else str(self.specifier)
        marker = f" ; {self.marker}" if self.marker else ""
        return f"{self.name}{extras}{body}{marker}"

    def __str__(self) -> str:
        return self.text or self.pep508
