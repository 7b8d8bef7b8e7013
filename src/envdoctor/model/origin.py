"""Where a requirement was written."""

from __future__ import annotations

from typing import ClassVar, TypeAlias

from envdoctor.model.dataclass import dataclass

__all__ = ["CommandLineOrigin", "DistributionOrigin", "FileOrigin", "Origin", "ProfileOrigin", "written_by_a_person"]


@dataclass(frozen=True, slots=True)
class FileOrigin:
    """A line of a project's file; ``path`` is relative to the project root, with forward slashes."""

    kind: ClassVar[str] = "file"
    path: str
    line: int | None = None
    included_from: FileOrigin | None = None
    """The ``-r`` or ``-c`` line that brought this file in."""
    elsewhere: bool = False
    """The file is in a repository that a line names, and not here: ``path`` is its URL, and nobody changes it here."""

    def __str__(self) -> str:
        return self.path if self.line is None else f"{self.path}:{self.line}"


@dataclass(frozen=True, slots=True)
class ProfileOrigin:
    """An entry of a profile; ``key`` is a TOML key path such as ``requires[0]``."""

    kind: ClassVar[str] = "profile"
    name: str
    key: str

    def __str__(self) -> str:
        return f"profile {self.name}: {self.key}"


@dataclass(frozen=True, slots=True)
class DistributionOrigin:
    """The metadata of one version of a distribution, or a coupling that its binaries imply."""

    kind: ClassVar[str] = "distribution"
    name: str
    version: str
    """Empty where it is one of every version."""
    coupling: bool = False
    """True where metadata is silent and a declared binary coupling speaks (torchaudio 2.11.0 -> torch 2.11)."""
    instead_of: str = ""
    """The project that its metadata asks for, where another is taken in the place of that one."""

    def __str__(self) -> str:
        return f"{self.name} {self.version or 'in every version'}"


@dataclass(frozen=True, slots=True)
class CommandLineOrigin:
    """An option the user typed, such as ``--target-python``."""

    kind: ClassVar[str] = "command-line"
    option: str

    def __str__(self) -> str:
        return self.option


Origin: TypeAlias = FileOrigin | ProfileOrigin | DistributionOrigin | CommandLineOrigin


def written_by_a_person(origin: Origin) -> bool:
    """Return whether a person can change what stands there (everything but a distribution's metadata)."""
    return not isinstance(origin, DistributionOrigin)
