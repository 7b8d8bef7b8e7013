"""Sets what kernels passed with whenever torch is imported; `envdoctor fix` writes this file into an environment.

Beside it lie ``backend_settings.py``, the same file that the kernels ran with, and ``chosen.json``. Nothing is read and
nothing is set before something imports torch.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any, Dict, List, Optional

__all__ = ["APPLIED", "install"]

APPLIED: List[str] = []
"""Settings that this process has set."""


class _Finder:
    """Finds torch as the others would, and does the rest once it is imported."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """Return torch's own spec, None for any other module."""
        if name != "torch":
            return None
        spec = self._found(path, target)
        if spec is not None and spec.loader is not None and hasattr(spec.loader, "exec_module"):
            run = spec.loader.exec_module

            def run_and_set(module: Any) -> None:
                chosen = _chosen()
                for variable, value in chosen.get("variables", {}).items():
                    os.environ.setdefault(variable, value)
                run(module)
                _set(chosen.get("settings", []))

            spec.loader.exec_module = run_and_set
        return spec

    def _found(self, path: Any, target: Any) -> Any:
        for finder in sys.meta_path:
            find = getattr(finder, "find_spec", None)
            spec = find("torch", path, target) if find is not None and finder is not self else None
            if spec is not None:
                return spec
        return None


def _chosen() -> Dict[str, Any]:
    place = os.path.join(os.path.dirname(os.path.abspath(__file__)), "chosen.json")
    try:
        with open(place, encoding="utf-8") as stream:
            read = json.load(stream)
    except (OSError, ValueError) as error:
        _complain(error)
        return {}
    return read if isinstance(read, dict) else {}


def _set(names: List[str]) -> None:
    """Apply settings. A program must start without them, too: what went wrong is said and no more."""
    try:
        from . import backend_settings

        backend_settings.apply(names)
        APPLIED.extend(names)
    except Exception as error:  # noqa: BLE001 - whatever it is, it is not the program's
        _complain(error)


def _complain(error: Exception) -> None:
    sys.stderr.write(f"envdoctor: the settings of this environment were not applied: {error}\n")


def install() -> Optional[_Finder]:
    """Put the finder first, once."""
    if any(type(finder).__name__ == "_Finder" and type(finder).__module__ == __name__ for finder in sys.meta_path):
        return None
    finder = _Finder()
    sys.meta_path.insert(0, finder)
    return finder
