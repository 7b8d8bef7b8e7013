"""What this machine has for builds, and how much room there is; nothing is run but pkg-config."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

__all__ = ["disk_free", "missing_needs"]

_PROGRAMS = (
    (re.compile(r"\bcmake\b"), ("cmake",)),
    (re.compile(r"\bpkg-?config\b"), ("pkg-config", "pkgconf")),
    (re.compile(r"\b(rust|cargo)\b"), ("cargo",)),
    (re.compile(r"\bninja\b"), ("ninja",)),
    (re.compile(r"\b(nvcc|cuda toolkit)\b"), ("nvcc",)),
    (re.compile(r"\bgit-lfs\b"), ("git-lfs",)),
    (re.compile(r"\bgit\b"), ("git",)),
    (re.compile(r"\bfortran\b"), ("gfortran", "flang", "ifx")),
    (re.compile(r"(\bcompiler\b|c\+\+|\bmsvc\b|\bgcc\b)"), ("c++", "g++", "cc", "gcc", "clang", "cl")),
)
_LIBRARY = re.compile(r"\blib[a-z0-9_+-]+\b")
_NAMED = {"cairo": ["cairo"], "portaudio": ["portaudio-2.0"], "zlib": ["zlib"], "mysql": ["mysqlclient"]}
"""Names that pkg-config has for libraries that a need calls otherwise."""
_TIMEOUT_S = 10.0


def missing_needs(needs: Iterable[str]) -> tuple[str, ...]:
    """Return those needs of a build that are not here; what cannot be told from files counts as here."""
    return tuple(need for need in needs if not _present(need))


def disk_free(path: Path) -> int | None:
    """Return the free bytes where ``path`` is or will be, None where that cannot be told."""
    folder = path
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    try:
        return shutil.disk_usage(folder).free
    except OSError:
        return None


def _present(need: str) -> bool:
    text = need.lower()
    if "header" in text or "development files" in text:
        if "pg_config" in text:
            return shutil.which("pg_config") is not None
        named = [name for word, names in _NAMED.items() if word in text for name in names]
        return _libraries([*_LIBRARY.findall(text), *named])
    for pattern, programs in _PROGRAMS:
        if pattern.search(text):
            return any(shutil.which(program) for program in programs) or _elsewhere(programs)
    return True


def _elsewhere(programs: tuple[str, ...]) -> bool:
    """Return whether a program is where it lives without being on the PATH."""
    if "nvcc" in programs:
        home = os.environ.get("CUDA_HOME") or os.environ.get("CUDA_PATH")
        return bool(home) and any((Path(home or "") / "bin" / name).is_file() for name in ("nvcc", "nvcc.exe"))
    if "cl" in programs and os.name == "nt":
        base = Path(os.environ.get("PROGRAMFILES(X86)", "C:/Program Files (x86)"))
        return any((base / "Microsoft Visual Studio").glob("20*/*/VC/Tools/MSVC"))
    return False


def _libraries(names: list[str]) -> bool:
    tool = shutil.which("pkg-config") or shutil.which("pkgconf")
    if not names:
        return True
    if tool is None:
        return not any(name.startswith("libav") for name in names)  # Without it, only FFmpeg's users cannot build.
    try:
        done = subprocess.run(  # noqa: S603 - a list of arguments, no shell
            [tool, "--exists", *names], timeout=_TIMEOUT_S, check=False, capture_output=True
        )
    except (OSError, subprocess.SubprocessError):
        return False
    return done.returncode == 0
