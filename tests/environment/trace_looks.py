"""Runs the command line and prints the paths whose state was asked for without being noted.

Every function of ``os`` that asks for it is replaced; the folder of a path counts for whether the path is there.
"""

# ruff: noqa: PTH100, PTH120

from __future__ import annotations

import json
import os
import sys

from envdoctor.adapters import inputs
from envdoctor.cli.main import main
from envdoctor.cli.remembered import Remembering

ASKED: set[str] = set()
OWN = os.path.dirname(os.path.dirname(inputs.__file__))
"""envdoctor itself: whoever changes it changes one of its modules, and those are noted."""
NOTED: dict[str, os.stat_result | None] = {}
ASKING = ("stat", "lstat", "access", "readlink", "statvfs")


def spied(name: str) -> None:
    real = getattr(os, name)

    def asking(path: object, *more: object, **named: object) -> object:
        frame = sys._getframe(1)
        modules = []
        while frame is not None:
            modules.append(frame.f_globals.get("__name__", ""))
            frame = frame.f_back
        own = any(module.startswith("envdoctor.") for module in modules)
        loading = any(module.startswith("importlib") or module == inputs.__name__ for module in modules)
        if inputs.watched() is not None and own and not loading and not isinstance(path, int):
            ASKED.add(os.path.abspath(os.fsdecode(path)))
        return real(path, *more, **named)

    setattr(os, name, asking)


def keep(self: Remembering, text: str, code: int, **_more: object) -> None:
    noted = inputs.watched()
    assert noted is not None
    NOTED.update({os.path.abspath(path): status for path, status in noted.statuses.items()})


def is_noted(path: str) -> bool:
    if path in NOTED or os.path.dirname(path) in NOTED or path.startswith(OWN):
        return True
    # Whoever follows links asks for each folder on the way; where the way leads, the noted path's own state tells.
    return any(noted.startswith(f"{path.rstrip('/')}/") for noted in NOTED)


for function in ASKING:
    spied(function)
Remembering.keep = keep
main(sys.argv[1:])
unnoted = sorted(path for path in ASKED if not is_noted(path))
sys.stdout.write("\n" + json.dumps({"asked": len(ASKED), "forgotten": unnoted}) + "\n")
