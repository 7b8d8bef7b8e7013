"""What the isolation rules ask of the world around an environment."""

from __future__ import annotations

import re
from pathlib import PurePath, PurePosixPath, PureWindowsPath

from envdoctor.model.environment import EnvironmentKind, InstalledEnvironment

__all__ = ["is_active", "is_here", "is_inside", "of_conda", "path", "shows_conda"]

_CONDA = re.compile(r"(?:^|[/\\])(?=[\w.-]*(?:[/\\]|$))[\w.-]*(?:conda|miniforge|mambaforge|micromamba)", re.IGNORECASE)


def is_here(environment: InstalledEnvironment, folder: str) -> bool:
    """Return whether ``folder`` is this environment's own, by any of the names it is known under."""
    return bool(folder) and path(folder) in _roots(environment)


def is_inside(environment: InstalledEnvironment, file: str) -> bool:
    """Return whether a program or folder lies in this environment's folder."""
    return any(root in path(file).parents for root in _roots(environment))


def is_active(environment: InstalledEnvironment) -> bool:
    """Return whether the shell says that this environment is the active one."""
    variables = environment.isolation.variables if environment.isolation is not None else {}
    conda = variables.get("CONDA_PREFIX", "") if environment.kind is EnvironmentKind.CONDA else ""
    return is_here(environment, variables.get("VIRTUAL_ENV", "")) or is_here(environment, conda)


def _roots(environment: InstalledEnvironment) -> frozenset[PurePath]:
    return frozenset(path(text) for text in (environment.root, environment.told.prefix) if text)


def path(text: str) -> PurePath:
    """Return a path of the system that the text comes from; Windows' are compared without case."""
    return PureWindowsPath(text) if re.match(r"[A-Za-z]:|\\\\", text) else PurePosixPath(text)


def of_conda(text: str) -> bool:
    """Return whether a path looks like one of conda's."""
    return bool(_CONDA.search(text))


_CONDA_PATH = re.compile(r"file:///\S{0,300}?(?:_\d{10,13}/work(?![\w.-])|/conda-bld/|/feedstock_root/)")
"""The folder of a build of conda's, NAME_TIME/work; `pip freeze` shows it as the address of what it has installed."""
_MKL_USERS = frozenset({"mkl-fft", "mkl-random", "mkl-service"})


def shows_conda(environment: InstalledEnvironment) -> bool:
    """Return whether what has no installer named may be a build of conda's, which carries no label."""
    if environment.kind is EnvironmentKind.CONDA or environment.conda_packages:
        return True
    if any(_CONDA_PATH.match(item.direct_url) for item in environment.distributions if item.direct_url):
        return True
    names = {item.name for item in environment.distributions}
    # conda itself is on no index any more, and pip's builds for MKL bring `mkl` as a distribution.
    return "conda" in names or ("mkl" not in names and not names.isdisjoint(_MKL_USERS))
