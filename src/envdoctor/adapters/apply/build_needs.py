"""What this machine has for builds, and how much room there is; nothing is run but pkg-config."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

from envdoctor.shipped import BuildTool, build_tools

__all__ = ["disk_free", "missing_needs"]

_TIMEOUT_S = 10.0


def missing_needs(needs: Iterable[str]) -> tuple[str, ...]:
    """Return those needs of a build, by key, that are not here; what cannot be told from files counts as here."""
    tools = build_tools()
    return tuple(need for need in needs if need in tools and not _is_here(tools[need]))


def disk_free(path: Path) -> int | None:
    """Return the free bytes where ``path`` is or will be, None where that cannot be told."""
    folder = path
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    try:
        return shutil.disk_usage(folder).free
    except OSError:
        return None


def _is_here(tool: BuildTool) -> bool:
    if tool.programs and not any(shutil.which(program) for program in tool.programs):
        return _elsewhere(tool.programs)
    return _libraries(tool)


def _elsewhere(programs: tuple[str, ...]) -> bool:
    """Return whether a program is where it lives without being on the PATH."""
    if "nvcc" in programs:
        home = os.environ.get("CUDA_HOME") or os.environ.get("CUDA_PATH")
        return bool(home) and any((Path(home or "") / "bin" / name).is_file() for name in ("nvcc", "nvcc.exe"))
    if "cl" in programs and os.name == "nt":
        base = Path(os.environ.get("PROGRAMFILES(X86)", "C:/Program Files (x86)"))
        return any((base / "Microsoft Visual Studio").glob("20*/*/VC/Tools/MSVC"))
    return False


def _libraries(tool: BuildTool) -> bool:
    if not tool.libraries:
        return True
    program = shutil.which("pkg-config") or shutil.which("pkgconf")
    if program is None:
        return not tool.strict
    try:
        done = subprocess.run(  # noqa: S603 - a list of arguments, no shell
            [program, "--exists", *tool.libraries], timeout=_TIMEOUT_S, check=False, capture_output=True
        )
    except (OSError, subprocess.SubprocessError):
        return False
    return done.returncode == 0
