"""Which environment is meant: the one that was typed, `.venv`, or one of several that a profile has made here."""

from __future__ import annotations

import shutil
from pathlib import Path

from envdoctor.cli.environments import default_environment
from envdoctor.cli.errors import UsageFault

__all__ = ["one_environment", "treated_here", "typed_environment"]


def treated_here(folder: Path) -> list[Path]:
    """Return ``.venv`` of a folder where a fix has treated it, else each ``.venv-<name>`` that one has made there."""
    base = default_environment(folder)
    return [base] if _treated(base) else sorted(path for path in folder.glob(f"{base.name}-*") if _treated(path))


def _treated(environment: Path) -> bool:
    return (environment / ".envdoctor" / "journal").is_dir()


def typed_environment(env: Path) -> Path:
    """Return the environment that was typed: a folder, or the name of one of several (``main`` for ``.venv-main``)."""
    path = env.absolute()
    base = default_environment(path.parent)
    named = base.with_name(f"{base.name}-{path.name}")
    return named if not path.exists() and named.is_dir() else path


def one_environment(env: Path | None, command: str | None = None) -> Path:
    """Return the environment to work in. Raises UsageFault where several could be meant.

    ``command``: of several, the only one that has this program is the right one.
    """
    if env is not None:
        return typed_environment(env)
    base = default_environment(Path.cwd())
    found = [base] if base.exists() else treated_here(Path.cwd())
    if len(found) < 2:
        return found[0] if found else base
    if command is not None:
        having = [path for path in found if _has(path, command)]
        if len(having) == 1:
            return having[0]
    names = ", ".join(f"`{path.name}`" for path in found)
    raise UsageFault(f"there are several environments here, {names}: name one with `--env`")


def _has(environment: Path, command: str) -> bool:
    from envdoctor.adapters.apply.interpreters import python_of

    return shutil.which(command, path=str(python_of(environment).parent)) is not None
