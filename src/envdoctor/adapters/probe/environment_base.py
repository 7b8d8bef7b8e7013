"""Whether a venv still stands on the Python that made it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from envdoctor.model.environment import EnvironmentProblem

if TYPE_CHECKING:
    from envdoctor.adapters.probe.environment_layout import Layout

__all__ = ["base_problems"]

_NAMED = re.compile(r"(?:python|pypy)(\d)\.(\d+)t?(?:\.exe)?$")


def base_problems(layout: Layout, facts: Mapping[str, Any]) -> Iterator[EnvironmentProblem]:
    """Yield ``base-gone`` or ``base-changed`` for a venv; ``facts`` are its interpreter's answer, or empty."""
    if layout.kind != "venv":
        return
    made_for = layout.python
    if facts:
        runs = (facts["version"][0], facts["version"][1])
        if made_for is not None and runs != made_for:
            yield _changed(layout, made_for, runs)
        return
    executable = layout.executable
    if executable is not None and not layout.runnable:
        return
    if executable is not None and executable.is_symlink() and not os.path.exists(executable):
        yield EnvironmentProblem("base-gone", str(layout.root), f"`{executable}` points to `{_target(executable)}`")
        return
    home = layout.pyvenv.get("home", "")
    # A venv that was carried here from another system names a folder that cannot be here.
    if executable is not None and home and not os.path.isdir(home):
        yield EnvironmentProblem("base-gone", str(layout.root), f"its base `{home}` is not there")
        return
    named = _NAMED.match(Path(os.path.realpath(executable)).name) if executable is not None else None
    if named and made_for is not None and (int(named[1]), int(named[2])) != made_for:
        yield _changed(layout, made_for, (int(named[1]), int(named[2])))


def _changed(layout: Layout, made_for: tuple[int, int], runs: tuple[int, int]) -> EnvironmentProblem:
    detail = f"made for Python {made_for[0]}.{made_for[1]}, its base is now Python {runs[0]}.{runs[1]}"
    return EnvironmentProblem("base-changed", str(layout.root), detail)


def _target(link: Path) -> str:
    try:
        return os.readlink(link)  # noqa: PTH115 - the text of the link, not a Path of it
    except OSError:
        return "?"
