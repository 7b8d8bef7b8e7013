"""``run``: the variables with which a command finds itself in an environment."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["variables_for"]

_LEADING_OUT = ("PYTHONHOME", "__PYVENV_LAUNCHER__", "CONDA_PREFIX", "CONDA_DEFAULT_ENV")


def variables_for(
    current: Mapping[str, str], recorded: Mapping[str, str], *, environment: str, scripts: str, separator: str
) -> dict[str, str]:
    """Return the variables of a command: this process's, the environment first on the PATH, then the profile's.

    ``PYTHONPATH`` of the caller goes, unless the profile sets one: it would bring another project's modules in.
    """
    variables = {name: value for name, value in current.items() if name not in (*_LEADING_OUT, "PYTHONPATH")}
    path = variables.get("PATH", "")
    variables["PATH"] = f"{scripts}{separator}{path}" if path else scripts
    variables["VIRTUAL_ENV"] = environment
    return {**variables, **recorded}
