"""A folder of wheels beside the project (`--find-links`): locked by path and hash, installed, taken back."""

from __future__ import annotations

import hashlib
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from apply_archives import Served, as_index, make_sdist, make_wheel, serve
from apply_world import ALPHA_2, BASE, UV, site_of, tree_state

from envdoctor.cli.main import main
from envdoctor.toml_tables import read_toml

pytestmark = pytest.mark.usefixtures("quiet_machine")
OURS = make_wheel("ours", "1.0", {"ours.py": "import alpha\n"}, requires=("alpha>=2",))


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    with serve(as_index(ALPHA_2)) as it:
        yield it


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / "wheels").mkdir(parents=True)
    (folder / "wheels" / OURS[0]).write_bytes(OURS[1])
    (folder / "requirements.txt").write_text("-f ./wheels\nours\n", encoding="utf-8")
    return folder


def call(verb: str, folder: Path, served: Served, *more: str) -> int:
    return main([verb, str(folder), "--index-url", f"{served.url}simple/", *more])


def wheel_of(lock: Path, name: str = "ours") -> dict[str, object]:
    packages = {item["name"]: item for item in read_toml(lock.read_text("utf-8"))["packages"]}
    assert ("index" in packages[name]) == (name != "ours")
    return packages[name]["wheels"][0]


def test_the_lock_names_path_and_hash(folder: Path, served: Served, tmp_path: Path) -> None:
    assert call("lock", folder, served) == 0
    row = wheel_of(folder / "pylock.toml")
    assert (row["path"], row["hashes"]) == (f"wheels/{OURS[0]}", {"sha256": hashlib.sha256(OURS[1]).hexdigest()})
    assert "url" not in row
    assert "path" not in wheel_of(folder / "pylock.toml", "alpha")
    assert call("lock", folder, served, "--check") == 0
    assert call("check", folder, served) == 0
    assert call("lock", folder, served, "--output-dir", str(tmp_path / "locks" / "here")) == 0
    assert wheel_of(tmp_path / "locks" / "here" / "pylock.toml")["path"] == f"../../project/wheels/{OURS[0]}"
    other = make_wheel("ours", "1.0", {"ours.py": "import alpha, os\n"}, requires=("alpha>=2",))
    (folder / "wheels" / OURS[0]).write_bytes(other[1])
    assert call("lock", folder, served, "--check") == 1


def test_a_folder_outside_of_the_project_is_named_whole(folder: Path, served: Served, tmp_path: Path) -> None:
    (folder / "wheels").rename(tmp_path / "far")
    (folder / "requirements.txt").write_text(f"--find-links {(tmp_path / 'far').as_posix()}\nours\n", encoding="utf-8")
    assert call("lock", folder, served) == 0
    assert wheel_of(folder / "pylock.toml")["path"] == (tmp_path / "far" / OURS[0]).resolve().as_posix()


def test_uv_installs_the_lock(folder: Path, served: Served, tmp_path: Path) -> None:
    assert call("lock", folder, served) == 0
    subprocess.run([UV, "venv", "--no-config", "-q", "--python", BASE, str(tmp_path / "env")], check=True)
    install = [UV, "pip", "install", "--no-config", "-q", "--prefix", str(tmp_path / "env"), "-r", "pylock.toml"]
    subprocess.run([*install, "--python", BASE], cwd=folder, check=True)
    assert list((tmp_path / "env").rglob("ours.py"))


def test_fix_installs_it_and_undo_takes_it_back(folder: Path, served: Served) -> None:
    before = tree_state(folder)
    assert call("fix", folder, served, "--python", BASE, "--yes") == 0
    environment = folder / ".venv"
    assert (site_of(environment) / "ours.py").read_text() == "import alpha\n"
    assert wheel_of(environment / ".envdoctor" / "pylock.toml")["path"] == f"../../wheels/{OURS[0]}"
    assert call("check", folder, served, "--env", str(environment)) == 0
    assert call("fix", folder, served, "--yes") == 0
    assert main(["undo", "--env", str(environment), "--project", str(folder)]) == 0
    assert tree_state(folder) == before


def test_a_source_distribution_of_the_folder_is_locked_by_path_too(folder: Path, served: Served) -> None:
    name, data = make_sdist()
    (folder / "wheels" / name).write_bytes(data)
    (folder / "requirements.txt").write_text("-f wheels\ndelta\n", encoding="utf-8")
    assert call("lock", folder, served) == 0
    (package,) = read_toml((folder / "pylock.toml").read_text("utf-8"))["packages"]
    assert package["sdist"]["path"] == f"wheels/{name}"


def test_joined_locks_lead_to_the_same_files(folder: Path, served: Served, tmp_path: Path) -> None:
    for system in ("linux", "windows"):
        typed = ["--target-os", system, "--target-arch", "x86_64", "--output-dir", str(tmp_path / "locks" / system)]
        assert call("lock", folder, served, *typed) == 0
    paths = [f"--join={tmp_path / 'locks' / system / 'pylock.toml'}" for system in ("linux", "windows")]
    assert main(["lock", *paths, "--output-dir", str(folder)]) == 0
    assert wheel_of(folder / "pylock.all.toml")["path"] == f"wheels/{OURS[0]}"


@pytest.fixture
def drives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let each folder be a drive of its own: as on Windows, no path leads from one to another."""
    plain = os.path.relpath

    def drive(path: str | os.PathLike[str]) -> str:
        whole = Path(path).resolve()
        return whole.relative_to(tmp_path).parts[0] if tmp_path in whole.parents else ""

    def relpath(path: str | os.PathLike[str], start: str | os.PathLike[str] = os.curdir) -> str:
        if drive(path) != drive(start):
            raise ValueError(f"path is on mount '{drive(path)}:', start on mount '{drive(start)}:'")
        return plain(path, start)

    monkeypatch.setattr(os.path, "relpath", relpath)


@pytest.mark.usefixtures("drives")
def test_what_lies_on_another_drive_is_named_whole(folder: Path, served: Served, tmp_path: Path) -> None:
    whole = (folder / "wheels" / OURS[0]).resolve().as_posix()
    for system in ("linux", "windows"):
        typed = ["--target-os", system, "--target-arch", "x86_64", "--output-dir", str(tmp_path / "d" / system)]
        assert call("lock", folder, served, *typed) == 0
        assert wheel_of(tmp_path / "d" / system / "pylock.toml")["path"] == whole
    assert call("lock", folder, served) == 0
    assert wheel_of(folder / "pylock.toml")["path"] == f"wheels/{OURS[0]}"
    other = tmp_path / "d" / ("linux" if os.name == "nt" else "windows")
    paths = [f"--join={place / 'pylock.toml'}" for place in (folder, other)]
    assert main(["lock", *paths, "--output-dir", str(tmp_path / "e")]) == 0
    assert wheel_of(tmp_path / "e" / "pylock.all.toml")["path"] == whole


@pytest.mark.usefixtures("drives")
def test_an_environment_on_another_drive_gets_it(folder: Path, served: Served, tmp_path: Path) -> None:
    environment = tmp_path / "d" / "env"
    assert call("fix", folder, served, "--python", BASE, "--yes", "--env", str(environment)) == 0
    whole = (folder / "wheels" / OURS[0]).resolve().as_posix()
    assert wheel_of(environment / ".envdoctor" / "pylock.toml")["path"] == whole
    assert (site_of(environment) / "ours.py").is_file()
