"""uv as the installer."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

__all__ = ["Uv"]


class Uv:
    """Command lines for one uv executable; its own configuration files are not read."""

    name = "uv"

    def __init__(self, executable: str, default_index: str | None = None) -> None:
        self.executable = executable
        self.default_index = default_index

    def create(self, environment: Path, interpreter: str) -> list[str]:
        """Make an environment in a folder that holds at most this tool's own."""
        return [
            self.executable, "venv", "--no-config", "--no-project", "--allow-existing", "--python", interpreter,
            "--no-python-downloads", str(environment),
        ]  # fmt: skip

    def install(self, python: Path, requirements: Path, folders: Sequence[Path], cache: Path) -> list[str]:
        """Install exactly what a requirements file with hashes names, from local folders."""
        links = [part for folder in folders for part in ("--find-links", str(folder))]
        return [
            self.executable, "pip", "install", "--no-config", "--python", str(python), "--no-deps", "--no-index",
            "--offline", *links, "--require-hashes", "--reinstall", "--no-build", "--cache-dir", str(cache),
            "-r", str(requirements),
        ]  # fmt: skip

    def remove(self, python: Path, names: Sequence[str]) -> list[str]:
        """Take distributions away."""
        return [self.executable, "pip", "uninstall", "--no-config", "--python", str(python), *names]

    def build(self, python: Path, sdist: Path, folder: Path, cache: Path) -> list[str]:
        """Build a wheel of a source distribution into a folder."""
        index = ["--default-index", self.default_index] if self.default_index else []
        return [
            self.executable, "build", "--no-config", "--wheel", "--python", str(python), "--out-dir", str(folder),
            "--cache-dir", str(cache), *index, str(sdist),
        ]  # fmt: skip

    def check(self, python: Path) -> list[str]:
        """Ask for what does not fit together."""
        return [self.executable, "pip", "check", "--no-config", "--python", str(python)]

    def listing(self, python: Path) -> list[str]:
        """Ask for what is installed, as JSON on stdout."""
        return [self.executable, "pip", "list", "--no-config", "--format", "json", "--python", str(python)]
