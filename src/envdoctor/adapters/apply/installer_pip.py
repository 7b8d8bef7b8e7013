"""pip as the installer: the target's own, from version 21 on, or ours turned towards the target."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from packaging.version import InvalidVersion, Version

__all__ = ["OLDEST_PIP", "Pip", "legacy_metadata_refused", "pip_is_new_enough"]

OLDEST_PIP = Version("21.0")
_TURNS = Version("22.3")
"""From here on ``pip --python`` works on another interpreter's environment."""
_STRICT = Version("24.1")


def pip_is_new_enough(version: str | None, oldest: Version = OLDEST_PIP) -> bool:
    """Return whether a pip of this version does what is needed."""
    try:
        return version is not None and Version(version) >= oldest
    except InvalidVersion:
        return False


def legacy_metadata_refused(version: str | None) -> bool:
    """Return whether this pip refuses packages whose metadata is not valid (24.1 and later do)."""
    return pip_is_new_enough(version, _STRICT)


class Pip:
    """Command lines of pip; ``host`` is the interpreter whose pip is used where the target has none."""

    name = "pip"

    def __init__(self, host: str | None = None) -> None:
        self.host = host

    @staticmethod
    def can_turn(version: str | None) -> bool:
        """Return whether a pip of this version can work on another interpreter's environment."""
        return pip_is_new_enough(version, _TURNS)

    def create(self, environment: Path, interpreter: str) -> list[str]:
        """Make an environment with the standard library's venv; it brings a pip along."""
        return [interpreter, "-I", "-m", "venv", str(environment)]

    def install(self, python: Path, requirements: Path, folders: Sequence[Path], cache: Path) -> list[str]:  # noqa: ARG002
        """Install exactly what a requirements file with hashes names, from local folders."""
        links = [part for folder in folders for part in ("--find-links", str(folder))]
        return [
            *self._pip(python), "install", "--isolated", "--no-deps", "--no-index", *links, "--require-hashes",
            "--force-reinstall", "--only-binary", ":all:", "--ignore-requires-python", "--no-cache-dir",
            "--no-warn-script-location", "-r", str(requirements),
        ]  # fmt: skip

    def remove(self, python: Path, names: Sequence[str]) -> list[str]:
        """Take distributions away."""
        return [*self._pip(python), "uninstall", "--isolated", "--yes", *names]

    def build(self, python: Path, sdist: Path, folder: Path, cache: Path) -> list[str]:  # noqa: ARG002
        """Build a wheel of a source distribution into a folder; build requirements come from pip's own index."""
        return [*self._pip(python), "wheel", "--no-deps", "--no-cache-dir", "--wheel-dir", str(folder), str(sdist)]

    def check(self, python: Path) -> list[str]:
        """Ask for what does not fit together."""
        return [*self._pip(python), "check"]

    def listing(self, python: Path) -> list[str]:
        """Ask for what is installed, as JSON on stdout."""
        return [*self._pip(python), "list", "--format", "json"]

    def _pip(self, python: Path) -> list[str]:
        if self.host is not None:
            return [self.host, "-I", "-m", "pip", "--python", str(python)]
        return [str(python), "-I", "-m", "pip"]
