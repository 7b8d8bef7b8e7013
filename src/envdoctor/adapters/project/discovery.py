"""Which files of a directory describe the project, and of what form a file is."""

from __future__ import annotations

import enum
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from envdoctor.adapters.project.draft import ProjectFileError

__all__ = ["Form", "Found", "form_of", "is_list", "is_lock", "is_plain_list", "is_side_list", "look_into"]


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


_SCRIPTS = {".sh": "posix", ".bash": "posix", ".command": "posix", ".bat": "cmd", ".cmd": "cmd", ".ps1": "powershell"}
_HARDWARE = re.compile(r"(?:^|[^a-z])(gpu|cuda|cu\d+|rocm|amd|directml|dml|zluda|cpu|mps|mac|macos|intel|xpu)", re.I)
_SIDE = re.compile(
    r"(?:^|[^a-z])(dev|devel|test|tests|testing|doc|docs|lint|ci|build|optional|extra|extras)(?:[^a-z]|$)", re.I
)
_INSTALLER = re.compile(r"^(?:install|setup)(?:[-_.]?(?:windows|win|linux|mac|macos|unix))?$", re.I)
LOCKS = ("uv.lock", "poetry.lock", "pdm.lock", "pipfile.lock")
_STANDARD = ("requirements.txt", "pyproject.toml", "setup.cfg", "setup.py", "pipfile", "pixi.toml")
_LOOKED_FOR = (
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


@dataclass(frozen=True, slots=True)
class Found:
    """What a directory holds that may say what is needed."""

    standard: Mapping[str, Path]
    """requirements.txt, pyproject.toml, setup.cfg, setup.py and Pipfile, by name in lower case."""
    conda: tuple[Path, ...]
    """conda's environment files, the usual one first."""
    lists: tuple[Path, ...]
    """Other requirements files, those of a ``requirements`` folder among them."""
    chosen: tuple[Path, ...]
    """Those of them to be read where none of the standard files says what is needed."""
    constraints: tuple[Path, ...]
    scripts: tuple[Path, ...]
    """Install scripts for the target's system, to be read before the list."""
    other_scripts: tuple[Path, ...]
    images: tuple[Path, ...]
    """Dockerfiles."""
    locks: tuple[Path, ...]
    """Locks of uv, Poetry, PDM, and pylock.toml."""
    notebooks: tuple[Path, ...]
    last_resort: tuple[Path, ...]
    """What is read where nothing else is there: any script, a Dockerfile."""


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
    if suffix in _SCRIPTS:
        return Form.INSTALL_SCRIPT
    if name.startswith("constraint"):
        return Form.CONSTRAINTS
    if suffix in _FOREIGN:
        raise ProjectFileError(str(path), None, f"not a file that describes requirements; known are {_LOOKED_FOR}")
    return Form.REQUIREMENTS


def look_into(root: Path, shown: str, environment: Mapping[str, str] | None) -> Found:
    """Look at a directory's top level, and at a ``requirements`` folder.

    Raises ProjectFileError where it holds nothing to read.
    """
    entries = _files(root, shown)
    named = {path.name.lower(): path for path in entries}
    lists = [path for path in entries if is_list(path) and path.name.lower() != "requirements.txt"]
    folder = root / "requirements"
    if folder.is_dir() and not folder.is_symlink():
        lists += [path for path in _files(folder, f"{shown}/requirements") if path.suffix.lower() in {".txt", ".in"}]
    scripts = [path for path in entries if path.suffix.lower() in _SCRIPTS]
    installers = [path for path in scripts if _INSTALLER.match(path.stem)]
    chosen_scripts = _for_system(installers, environment)
    images = [path for path in entries if path.name.lower().startswith(("dockerfile", "containerfile"))]
    found = Found(
        standard={name: named[name] for name in _STANDARD if name in named},
        conda=tuple(named[name] for name in _conda_names() if name in named),
        lists=tuple(lists),
        chosen=tuple(_chosen_lists(lists)),
        constraints=tuple(path for path in entries if _is_constraints(path)),
        scripts=tuple(chosen_scripts),
        other_scripts=tuple(path for path in installers if path not in chosen_scripts),
        images=tuple(images),
        locks=tuple(path for path in entries if is_lock(path)),
        notebooks=tuple(path for path in entries if path.suffix.lower() == ".ipynb"),
        last_resort=tuple(_last_resort(entries, scripts, images, environment)),
    )
    if not (found.standard or found.conda or found.chosen or found.scripts or found.last_resort):
        message = f"nothing here describes requirements; looked for {_LOOKED_FOR}"
        raise ProjectFileError(shown, None, message + _no_files(root) + _deeper(root), empty=True)
    return found


def _last_resort(
    entries: list[Path], scripts: list[Path], images: list[Path], environment: Mapping[str, str] | None
) -> list[Path]:
    """Return what is read where nothing else says what is needed: a lock, any script, a Dockerfile, a notebook."""
    locks = [path for path in entries if is_lock(path)]
    notebooks = [path for path in entries if path.suffix.lower() == ".ipynb"]
    return locks[:1] or _for_system(scripts, environment) or scripts[:1] or images[:1] or notebooks[:1]


def is_lock(path: Path) -> bool:
    """Return whether a file is a lock by its name."""
    name = path.name.lower()
    return name in LOCKS or (name.startswith("pylock.") and name.endswith(".toml"))


def _is_constraints(path: Path) -> bool:
    return path.name.lower().startswith("constraint") and path.suffix == ".txt"


def _files(directory: Path, shown: str) -> list[Path]:
    try:
        return sorted(path for path in directory.iterdir() if path.is_file())
    except PermissionError as error:
        raise ProjectFileError(shown, None, "the directory may not be read (permission denied)") from error
    except OSError as error:
        raise ProjectFileError(shown, None, f"the directory cannot be read: {error.strerror}") from error


def _no_files(root: Path) -> str:
    """Name what bears a list's name and is no file, for a message."""
    try:
        found = sorted(path.name for path in root.iterdir() if not path.is_file() and _bears_known_name(path))
    except OSError:
        return ""
    return f" ({', '.join(f'`{name}`' for name in found[:5])}: not a file)" if found else ""


def _bears_known_name(path: Path) -> bool:
    return is_list(path) or path.name.lower() in {*_STANDARD, *_conda_names()}


def _deeper(root: Path) -> str:
    """Name what lies in folders below, for a message."""
    from envdoctor.adapters.project.nested import nested_files

    names = [f"`{path.relative_to(root).as_posix()}`" for path in nested_files(root, ())[:5]]
    return f" (deeper: {', '.join(names)})" if names else ""


def is_list(path: Path) -> bool:
    """Return whether a file is a requirements file by its name."""
    name = path.name.lower()
    return path.suffix.lower() in {".txt", ".in", ".pip"} and (
        "requirement" in name or name in {"reqs.txt", "deps.txt"}
    )


def _conda_names() -> tuple[str, ...]:
    stems = ("environment", "conda", "env", "conda-environment", "environment-gpu", "environment-cuda")
    return tuple(f"{stem}{suffix}" for stem in stems for suffix in (".yml", ".yaml"))


def is_side_list(path: Path) -> bool:
    """Return whether a list is for working on the project (tests, docs), by its name."""
    return bool(_SIDE.search(path.stem))


def is_plain_list(path: Path) -> bool:
    """Return whether a list is neither for working on the project nor for one kind of hardware, by its name."""
    return not is_side_list(path) and not _HARDWARE.search(path.stem)


def _chosen_lists(lists: list[Path]) -> list[Path]:
    """Leave out side lists (tests, docs), and all hardware variants but one: they exclude each other."""
    compiled = {path.with_suffix("") for path in lists if path.suffix.lower() == ".txt"}
    sources = [path for path in lists if path.suffix.lower() != ".in" or path.with_suffix("") not in compiled]
    useful = [path for path in sources if not is_side_list(path)] or sources
    variants = [path for path in useful if _HARDWARE.search(path.stem)]
    plain = [path for path in useful if path not in variants]
    variants.sort(key=lambda path: (0 if re.search(r"gpu|cuda|cu\d", path.stem, re.I) else 1, path.name))
    return plain + variants[:1]


def _for_system(scripts: list[Path], environment: Mapping[str, str] | None) -> list[Path]:
    """Keep the scripts that run on the target; of an unknown target, those of the only family there is."""
    windows = [path for path in scripts if _SCRIPTS[path.suffix.lower()] != "posix"]
    posix = [path for path in scripts if _SCRIPTS[path.suffix.lower()] == "posix"]
    if environment is None or not environment.get("sys_platform"):
        chosen = [] if windows and posix else windows or posix
    else:
        platform = environment["sys_platform"]
        chosen = windows if platform == "win32" else posix
        other = "mac" if platform == "linux" else "linux"
        chosen = [path for path in chosen if other not in path.stem.lower()]
    batch = [path for path in chosen if _SCRIPTS[path.suffix.lower()] != "powershell"]
    return (batch or chosen)[:1] if len(chosen) > 1 else chosen
