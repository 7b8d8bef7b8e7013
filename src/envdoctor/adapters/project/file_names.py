"""What a file of a project is, by its name alone."""

from __future__ import annotations

import enum
import re
from pathlib import Path

from envdoctor.adapters.project.draft import ProjectFileError

__all__ = [
    "HARDWARE",
    "LOOKED_FOR",
    "SCRIPTS",
    "STANDARD",
    "Form",
    "conda_names",
    "form_of",
    "is_constraints",
    "is_list",
    "is_lock",
    "is_plain_list",
    "is_side_list",
]


class Form(enum.Enum):
    """The form that a file is read as."""

    REQUIREMENTS = "requirements"
    CONSTRAINTS = "constraints"
    PYPROJECT = "pyproject"
    PIPFILE = "pipfile"
    PIXI = "pixi.toml"
    PYTHON_VERSION = "python-version"
    LOCK = "lock"
    NOTEBOOK = "notebook"
    SETUP_CFG = "setup.cfg"
    SETUP_PY = "setup.py"
    CONDA = "conda"
    PYTHON_SCRIPT = "python-script"
    INSTALL_SCRIPT = "install-script"
    DOCKERFILE = "dockerfile"


SCRIPTS = {".sh": "posix", ".bash": "posix", ".command": "posix", ".bat": "cmd", ".cmd": "cmd", ".ps1": "powershell"}
HARDWARE = re.compile(r"(?:^|[^a-z])(gpu|cuda|cu\d+|rocm|amd|directml|dml|zluda|cpu|mps|mac|macos|intel|xpu)", re.I)
_SIDE = re.compile(
    r"(?:^|[^a-z])(dev|devel|test|tests|testing|doc|docs|lint|ci|build|optional|extra|extras)(?:[^a-z]|$)", re.I
)
_LOCKS = ("uv.lock", "poetry.lock", "pdm.lock", "pipfile.lock")
STANDARD = ("requirements.txt", "pyproject.toml", "setup.cfg", "setup.py", "pipfile", "pixi.toml")
LOOKED_FOR = (
    "requirements*.txt, pyproject.toml, setup.cfg, setup.py, environment.yml, pixi.toml, Pipfile, install scripts"
)
_FOREIGN = frozenset(
    {
        ".md",
        ".rst",
        ".html",
        ".htm",
        ".json",
        ".lock",
        ".xml",
        ".csv",
        ".c",
        ".cpp",
        ".js",
        ".exe",
        ".dll",
        ".so",
    }
)


def form_of(path: Path) -> Form:
    """Return the form a file is read as, judged by its name. Raises ProjectFileError where it is none."""
    name = path.name.lower()
    suffix = path.suffix.lower()
    if name in {"pipfile", "pixi.toml", "setup.cfg", "setup.py"}:
        return Form(name)
    if name.startswith(("dockerfile", "containerfile")) or suffix == ".dockerfile":
        return Form.DOCKERFILE
    if name == ".python-version":
        return Form.PYTHON_VERSION
    if is_lock(path):
        return Form.LOCK
    if suffix == ".ipynb":
        return Form.NOTEBOOK
    if suffix == ".toml":
        return Form.PYPROJECT
    if suffix in {".yml", ".yaml"}:
        return Form.CONDA
    if suffix in {".py", ".pyw"}:
        return Form.PYTHON_SCRIPT
    if suffix in SCRIPTS:
        return Form.INSTALL_SCRIPT
    if name.startswith("constraint"):
        return Form.CONSTRAINTS
    if suffix in _FOREIGN:
        raise ProjectFileError(str(path), None, f"not a file that describes requirements; known are {LOOKED_FOR}")
    return Form.REQUIREMENTS


def is_list(path: Path) -> bool:
    """Return whether a file is a requirements file by its name."""
    name = path.name.lower()
    return path.suffix.lower() in {".txt", ".in", ".pip"} and (
        "requirement" in name or name in {"reqs.txt", "deps.txt"}
    )


def is_lock(path: Path) -> bool:
    """Return whether a file is a lock by its name."""
    name = path.name.lower()
    return name in _LOCKS or (name.startswith("pylock.") and name.endswith(".toml"))


def is_constraints(path: Path) -> bool:
    """Return whether a file lists constraints by its name."""
    return path.name.lower().startswith("constraint") and path.suffix == ".txt"


def is_side_list(path: Path) -> bool:
    """Return whether a list is for working on the project (tests, docs), by its name."""
    return bool(_SIDE.search(path.stem))


def is_plain_list(path: Path) -> bool:
    """Return whether a list is neither for working on the project nor for one kind of hardware, by its name."""
    return not is_side_list(path) and not HARDWARE.search(path.stem)


def conda_names() -> tuple[str, ...]:
    """Return the names of conda's environment files, the usual one first."""
    stems = ("environment", "conda", "env", "conda-environment", "environment-gpu", "environment-cuda")
    return tuple(f"{stem}{suffix}" for stem in stems for suffix in (".yml", ".yaml"))
