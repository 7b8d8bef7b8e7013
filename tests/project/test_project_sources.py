"""The text files of a checkout."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from envdoctor.adapters.project import open_sources


def test_python_files_leave_environments_and_caches_out(tmp_path: Path):
    for name in (
        "app.py",
        "pkg/mod.py",
        "pkg/data.txt",
        ".git/hook.py",
        "myenv/pyvenv.cfg",
        "myenv/x.py",
        "lib/site-packages/y.py",
        "node_modules/z.py",
        "build/b.py",
        "pkg/__pycache__/c.py",
        "conda/conda-meta/history",
        "conda/c.py",
    ):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x = 1\n")
    (tmp_path / "large.py").write_text("#" * (1024 * 1024 + 1))
    (tmp_path / "binary.py").write_bytes(b"\0" * 10)
    (tmp_path / "latin.py").write_bytes("# coding: latin-1\ns = 'é'\n".encode("latin-1"))
    sources = open_sources(tmp_path)
    found = {source.path: source.text for source in sources.python_files()}
    assert sorted(found) == ["app.py", "latin.py", "pkg/mod.py"]
    assert "'é'" in found["latin.py"]
    assert list(sources.glob("**/*.txt")) == ["pkg/data.txt"]
    assert list(sources.glob("*.py")) == ["app.py", "binary.py", "large.py", "latin.py"]


def test_nothing_outside_the_root(tmp_path: Path):
    root = tmp_path / "root"
    root.mkdir()
    (tmp_path / "secret.py").write_text("s = 1\n")
    (root / "link.py").symlink_to(tmp_path / "secret.py")
    (root / "loop").symlink_to(root)
    (root / "a.py").write_text("a = 1\n")
    sources = open_sources(root)
    assert sources.read("../secret.py") is None
    assert sources.read("link.py") is None
    assert sources.read(str(tmp_path / "secret.py")) is None
    assert sources.read("a\0b") is None
    assert [source.path for source in sources.python_files()] == ["a.py"]
    assert list(sources.glob("../*.py")) == []


def test_a_folder_that_may_not_be_looked_into_hides_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    for name in ("app.py", "locked/x.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x = 1\n")
    stat = os.stat

    def refuse(path: str, **options: object) -> os.stat_result:
        if "locked" in Path(path).parent.parts:
            raise PermissionError(13, "Permission denied", path)
        return stat(path, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "stat", refuse)
    assert "app.py" in [source.path for source in open_sources(tmp_path).python_files()]
