"""Scripts that set an environment's variables in a shell, for those who do not start things by `envdoctor run`."""

from __future__ import annotations

import shlex
from collections.abc import Mapping

__all__ = ["shell_scripts"]


def shell_scripts(variables: Mapping[str, str], *, windows: bool) -> dict[str, str]:
    """Return a script's text by file name: for POSIX shells, and on Windows for PowerShell too."""
    ordered = sorted(variables.items())
    scripts = {"variables.sh": "".join(f"export {name}={shlex.quote(value)}\n" for name, value in ordered)}
    if windows:
        scripts["variables.ps1"] = "".join(f"$env:{name} = '{_powershell(value)}'\n" for name, value in ordered)
    return scripts


def _powershell(value: str) -> str:
    """Return a value for single quotes; PowerShell takes typographic ones for quotes as well."""
    return "".join(character * 2 if character in "'\u2018\u2019\u201a\u201b" else character for character in value)
