"""A small stack for the commands as they are typed: its wheels, its project and its profile."""

from __future__ import annotations

import platform
import sys
from collections.abc import Callable
from pathlib import Path

from apply_archives import make_wheel
from apply_world import ALPHA_1, ALPHA_2, BETA_1, GAMMA_1

__all__ = ["ARCH", "HEAD", "PYTHON", "STACK", "SYSTEM", "Fix", "profile"]

Fix = Callable[..., int]
PYTHON = f"{sys.version_info[0]}.{sys.version_info[1]}"
SYSTEM = {"win32": "windows", "linux": "linux", "darwin": "macos"}[sys.platform]
ARCH = "x86_64" if platform.machine().lower() in ("x86_64", "amd64") else "arm64" if SYSTEM == "macos" else "aarch64"
EPSILON = make_wheel("epsilon", "1.0", {"epsilon.py": "import alpha\n"}, requires=("alpha<2",))
HEAD = f"""
schema = 1
[profile]
name = "small"
summary = "A small stack"
[target]
os = "{SYSTEM}"
arch = "{ARCH}"
python = "=={PYTHON}.*"
backend = "cpu"
"""
"""A profile for this machine, without what it asks for."""
STACK = (ALPHA_1, ALPHA_2, BETA_1, GAMMA_1, EPSILON)


def profile(folder: Path, more: str = "") -> str:
    """Write the stack's profile with more sections into a folder; return its path."""
    text = f"""{HEAD}
[[override]]
requirement = "alpha>=2"
replaces = "epsilon"
because = "alpha 1 is broken here"
[[patch]]
name = "calm"
file = "app.py"
guard-import = "deepspeed"
because = "it is not there"
[[patch]]
name = "inner"
root = "site-packages"
file = "gamma.py"
set-attribute = "DEVICE"
value = "'cpu'"
because = "no card here"
[environment]
HF_HOME = "{{project}}|{{environment}}"
{more}
"""
    (folder / "small.toml").write_text(text, encoding="utf-8")
    return str(folder / "small.toml")
