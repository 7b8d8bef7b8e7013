"""Small made-up environments on disk."""

from __future__ import annotations

import base64
import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from envdoctor.diagnose.examination import Examination
from envdoctor.diagnose.rule import Rule
from envdoctor.diagnose.rulebook import all_rules
from envdoctor.model.environment import InstalledEnvironment
from envdoctor.model.finding import Finding


@dataclass
class Site:
    """A site-packages folder that distributions are put into."""

    folder: Path

    def add(
        self,
        name: str,
        version: str,
        *requires: str,
        headers: str = "",
        files: dict[str, str] | None = None,
        record: bool = True,
        **more: str,
    ) -> Path:
        """Install a distribution by hand; ``files`` go to disk and into RECORD, ``more`` into the dist-info."""
        info = self.folder / f"{name.replace('-', '_')}-{version}.dist-info"
        info.mkdir(parents=True)
        lines = [f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n", headers]
        lines += [f"Requires-Dist: {requirement}\n" for requirement in requires]
        (info / "METADATA").write_text("".join(lines) + "\nA long description\n", encoding="utf-8")
        rows = []
        for path, text in (files or {}).items():
            target = self.folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(text.encode())
            digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).decode().rstrip("=")
            rows.append(f"{path},sha256={digest},{len(text)}")
        for file, text in more.items():
            (info / file.replace("__", ".")).write_text(text, encoding="utf-8")
        if record:
            rows.append(f"{info.name}/RECORD,,")
            (info / "RECORD").write_text("\n".join(rows) + "\n", encoding="utf-8")
        return info


@pytest.fixture
def site(tmp_path: Path) -> Site:
    """A bare site-packages folder."""
    folder = tmp_path / "site-packages"
    folder.mkdir()
    return Site(folder)


@pytest.fixture(scope="session")
def made_venv(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A real venv without pip; read only."""
    folder = tmp_path_factory.mktemp("venv") / "env"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True, timeout=60)
    return folder


@pytest.fixture
def venv(made_venv: Path, tmp_path: Path) -> Path:
    """A copy of a real venv that a test may break."""
    folder = tmp_path / "env"
    shutil.copytree(made_venv, folder, symlinks=True)
    return folder


@pytest.fixture
def venv_site(venv: Path) -> Site:
    """The site-packages folder of ``venv``."""
    return Site(next(iter([*venv.glob("lib/python*/site-packages"), *venv.glob("Lib/site-packages")])))


Diagnose = Callable[..., list[Finding]]


@pytest.fixture
def diagnose() -> Diagnose:
    """Run the rules of the families ENV and ISO, or those whose codes are given, over an environment."""

    def run(environment: InstalledEnvironment, *codes: str, **more: object) -> list[Finding]:
        examination = Examination(environment=environment, **more)  # type: ignore[arg-type]
        return [finding for rule in all_rules() if _wanted(rule, codes) for finding in rule.find(examination)]

    def _wanted(rule: Rule, codes: tuple[str, ...]) -> bool:
        return rule.code in codes if codes else rule.code.startswith(("ENV", "ISO"))

    return run


CLEAN = {"HOME": "/nonexistent", "PATH": "/usr/bin:/bin"}
"""Variables of a shell in which nothing reaches into environments."""


@pytest.fixture
def clean() -> dict[str, str]:
    # Without these no program starts on Windows, and under Wine or qemu none finds its libraries.
    needed = ("SYSTEMROOT", "PATH") if os.name == "nt" else ("QEMU_LD_PREFIX",)
    return {**CLEAN, **{name: os.environ[name] for name in needed if name in os.environ}}
