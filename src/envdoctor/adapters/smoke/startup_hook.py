"""The start-up hook of an environment: files that set, at every start of its Python, what kernels passed with."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from envdoctor.model.step import WriteStartup

__all__ = ["VARIABLES", "carried", "hook_files", "is_written", "settings_in_force", "variables_of"]

_FOLDER = WriteStartup.FOLDER
_PTH = f"{_FOLDER}.pth"
VARIABLES: Mapping[str, Mapping[str, str]] = {
    "cublaslt-off": {"DISABLE_ADDMM_CUDA_LT": "1"},
    "blocking": {"CUDA_LAUNCH_BLOCKING": "1", "AMD_SERIALIZE_KERNEL": "3"},
}
"""Settings that are variables, and must be there before torch is imported."""
_OF_A_KERNEL = ("dtype-", "autocast-")
"""Begin the names of settings that a program itself must choose, call by call."""


def carried(settings: Iterable[str]) -> tuple[str, ...]:
    """Return the settings that can be set for a whole process, each once."""
    return tuple(name for name in dict.fromkeys(settings) if not name.startswith(_OF_A_KERNEL))


def variables_of(settings: Iterable[str]) -> dict[str, str]:
    """Return the variables that settings consist of."""
    return {name: value for setting in settings for name, value in VARIABLES.get(setting, {}).items()}


def hook_files(settings: Sequence[str], variables: Mapping[str, str]) -> dict[str, str]:
    """Return the hook's files as text, by path in site-packages; the same input gives the same text."""
    child = Path(__file__).parent / "child"
    chosen = {"settings": list(settings), "variables": dict(sorted(variables.items()))}
    return {
        f"{_FOLDER}/__init__.py": (child / "startup.py").read_text("utf-8"),
        f"{_FOLDER}/backend_settings.py": (child / "backend_settings.py").read_text("utf-8"),
        f"{_FOLDER}/chosen.json": json.dumps(chosen, indent=1, ensure_ascii=False) + "\n",
        _PTH: f"import {_FOLDER}; {_FOLDER}.install()\n",
    }


def is_written(site_packages: Path, files: Mapping[str, str]) -> bool:
    """Return whether the files are there as they would be written."""
    try:
        return all((site_packages / path).read_text("utf-8") == text for path, text in files.items())
    except (OSError, ValueError):
        return False


def settings_in_force(site_packages: Iterable[str]) -> tuple[str, ...]:
    """Return the settings that an environment sets at each start, by its folders; empty where it sets none."""
    for folder in map(Path, site_packages):
        if (folder / _PTH).is_file() and (folder / _FOLDER / "backend_settings.py").is_file():
            try:
                chosen = json.loads((folder / _FOLDER / "chosen.json").read_text("utf-8"))
                return tuple(map(str, chosen["settings"]))
            except (OSError, ValueError, KeyError, TypeError, RecursionError):
                return ()
    return ()
