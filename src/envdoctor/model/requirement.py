"""A PEP 508 requirement with its origin."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from packaging.specifiers import SpecifierSet

if TYPE_CHECKING:
    from packaging.markers import Marker
    from packaging.utils import NormalizedName

    from envdoctor.model.origin import Origin

__all__ = ["Requirement", "RequirementKind"]


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
    group: str | None = None
    """The dependency group (PEP 735) or optional-dependencies table it stands in; None for the main list."""
    step: int | None = None
    """Position of the ``pip install`` command in a script that installs step by step."""
    index_url: str | None = None
    """The ``--index-url`` of the pip command that installs it, where that command names one."""

    @property
    def pep508(self) -> str:
        """The requirement in PEP 508 form, normalised."""
        extras = f"[{','.join(sorted(self.extras))}]" if self.extras else ""
        body = f" @ {self.url}" if self.url else str(self.specifier)
        marker = f" ; {self.marker}" if self.marker else ""
        return f"{self.name}{extras}{body}{marker}"

    def __str__(self) -> str:
        return self.text or self.pep508
