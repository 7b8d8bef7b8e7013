"""What is known of the world around an environment, in types that the isolation rules can rely on."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePath, PurePosixPath, PureWindowsPath
from typing import TYPE_CHECKING

from envdoctor.model.environment import EnvironmentKind
from envdoctor.model.finding import Evidence, Finding, Remedy, Severity

if TYPE_CHECKING:
    from envdoctor.diagnose.examination import Examination
    from envdoctor.model.environment import InstalledEnvironment

__all__ = ["Surroundings", "isolation_finding", "of_conda", "path", "surroundings_of"]

_CONDA = re.compile(r"(^|[/\\])[\w.-]*(conda|miniforge|mambaforge|micromamba)[\w.-]*([/\\]|$)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The environment's details, those that are not there empty."""

    environment: InstalledEnvironment
    variables: Mapping[str, str]
    programs: Mapping[str, str]
    """``python`` and ``pip`` on PATH."""
    settings: tuple[tuple[str, str, str], ...]
    """pip's: where, key, value."""

    @property
    def roots(self) -> frozenset[PurePath]:
        """The environment's folder, by the names it is known under."""
        texts = (self.environment.root, self.environment.told.prefix)
        return frozenset(path(text) for text in texts if text)

    def is_here(self, folder: str) -> bool:
        """Return whether ``folder`` is this environment's own."""
        return bool(folder) and path(folder) in self.roots

    def inside(self, program: str) -> bool:
        """Return whether a program lies in this environment's folder."""
        return any(root in path(program).parents for root in self.roots)

    @property
    def active(self) -> bool:
        """Return whether the shell says that this environment is the active one."""
        return self.is_here(self.variables.get("VIRTUAL_ENV", "")) or (
            self.environment.kind is EnvironmentKind.CONDA and self.is_here(self.variables.get("CONDA_PREFIX", ""))
        )


def path(text: str) -> PurePath:
    """Return a path of the system that the text comes from; Windows' are compared without case."""
    return PureWindowsPath(text) if re.match(r"[A-Za-z]:|\\\\", text) else PurePosixPath(text)


def of_conda(text: str) -> bool:
    """Return whether a path looks like one of conda's."""
    return bool(_CONDA.search(text))


def surroundings_of(examination: Examination) -> Surroundings | None:
    """Return what is known around the examined environment, None without one."""
    environment = examination.environment
    if environment is None:
        return None
    details = environment.details
    settings = details.get("pip_config")
    return Surroundings(
        environment=environment,
        variables=_texts(details.get("variables")),
        programs=_texts(details.get("path_programs")),
        settings=tuple(item for item in settings if len(item) == 3) if isinstance(settings, tuple) else (),
    )


def _texts(value: object) -> dict[str, str]:
    return {str(key): str(item) for key, item in value.items()} if isinstance(value, Mapping) else {}


def isolation_finding(
    rule: tuple[str, str], severity: Severity, subject: str, message: str, evidence: tuple[Evidence, ...], advice: str
) -> Finding:
    """Return a finding of the isolation family; ``rule`` is its code and name, ``advice`` a remedy to read."""
    return Finding(rule[0], rule[1], severity, subject, message, evidence, Remedy(advice))
