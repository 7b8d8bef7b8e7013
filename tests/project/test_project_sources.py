"""The text files of a checkout."""

from __future__ import annotations

from pathlib import Path

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
