"""Commands that change an environment, in the words of the installer that it has."""

from __future__ import annotations

from envdoctor.model.environment import EnvironmentKind, InstalledEnvironment

__all__ = ["installer_commands"]


def installer_commands(environment: InstalledEnvironment | None, *commands: tuple[str, ...]) -> tuple[str, ...]:
    """Return ``("install", "numpy<2")`` and the like as command lines for this environment.

    pip where it is installed, else uv where that filled the environment. None at all for a Python that the operating
    system manages (PEP 668): there, its own packages are changed with its own tools.
    """
    if environment is None:
        return tuple(" ".join(("python -m pip", *map(_quoted, command))) for command in commands)
    if environment.told.externally_managed and environment.kind is EnvironmentKind.PREFIX:
        return ()
    python = environment.executable or "python"
    uv = environment.get("pip") is None and any(item.installer == "uv" for item in environment.distributions)
    if not uv:
        return tuple(" ".join((f"{_quoted(python)} -m pip", *map(_quoted, command))) for command in commands)
    # `uv pip uninstall` never asks, and has no `-y`.
    lines = (("uv pip", verb, "--python", python, *(item for item in rest if item != "-y")) for verb, *rest in commands)
    return tuple(" ".join((line[0], *map(_quoted, line[1:]))) for line in lines)


def _quoted(text: str) -> str:
    """Quote for the shells of POSIX and Windows alike."""
    return f'"{text}"' if any(character in text for character in " <>!=;[]*@&|") and '"' not in text else text
