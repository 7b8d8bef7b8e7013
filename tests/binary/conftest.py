"""A site-packages folder with binaries in it, and one rule at a time over it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from binary_samples import LINUX

from envdoctor.adapters.probe.binary_environment import scan_environment
from envdoctor.adapters.probe.installed_environment import read_environment
from envdoctor.diagnose.examination import Examination
from envdoctor.diagnose.rulebook import rule
from envdoctor.model.binary import BinaryInventory
from envdoctor.model.environment import InstalledEnvironment, Interpreter
from envdoctor.model.fact import Fact, Facts, FactState
from envdoctor.model.finding import Finding
from envdoctor.model.target import Target


@dataclass
class Site:
    """Packages of an environment for Python 3.11."""

    folder: Path

    def add(self, name: str, version: str = "1.0", **files: bytes) -> None:
        """Install a distribution; a file's path is its keyword with ``__`` for a slash."""
        self.add_files(name, version, {path.replace("__", "/"): data for path, data in files.items()})

    def add_files(self, name: str, version: str, files: dict[str, bytes]) -> None:
        """Install a distribution with these files."""
        info = self.folder / f"{name.replace('-', '_')}-{version}.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        (info / "WHEEL").write_text("Wheel-Version: 1.0\nTag: cp311-cp311-linux_x86_64\n")
        for path, data in files.items():
            (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / path).write_bytes(data)
        (info / "RECORD").write_text("".join(f"{path},,\n" for path in files))

    def environment(self) -> InstalledEnvironment:
        """Return the environment, of which no interpreter tells."""
        return replace(read_environment(self.folder, ask=False), python=(3, 11))


@pytest.fixture
def site(tmp_path: Path) -> Site:
    folder = tmp_path / "lib" / "python3.11" / "site-packages"
    folder.mkdir(parents=True)
    return Site(folder)


@pytest.fixture
def diagnose(site: Site) -> Callable[..., list[Finding]]:
    def run(
        code: str,
        *,
        target: Target | None = LINUX,
        facts: dict[str, object] | None = None,
        libraries: frozenset[str] | None = None,
        source: str = "folder",
        told: Interpreter | None = None,
        executable: Path | None = None,
    ) -> list[Finding]:
        program = str(executable) if executable else None
        environment = replace(site.environment(), source=source, told=told or Interpreter(), executable=program)
        scanned: BinaryInventory = replace(
            scan_environment(environment, live=libraries is not None), libraries=libraries
        )
        known = Facts(Fact(name, FactState.KNOWN, value) for name, value in (facts or {}).items())
        found = rule(code)
        assert found is not None
        examination = Examination(target=target, environment=environment, binaries=scanned, facts=known)
        return list(found.find(examination))

    return run
