"""One lock for several targets: put together of the lock of each, read by uv."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from lock_index import LoopbackIndex

from envdoctor.cli.main import main
from envdoctor.toml_tables import read_toml

UV = shutil.which("uv") or str(Path(sys.executable).with_name("uv"))
PYTHON = f"{sys.version_info[0]}.{sys.version_info[1]}"
PLATFORMS = {"linux": "x86_64-manylinux_2_28", "windows": "x86_64-pc-windows-msvc"}


@pytest.fixture
def locks(index: LoopbackIndex, tmp_path: Path) -> list[Path]:
    """Locks of a project for two systems: one package on one of them alone, another in two versions."""
    abi = f"cp{sys.version_info[0]}{sys.version_info[1]}"
    for tag in ("manylinux_2_17_x86_64", "win_amd64"):
        index.wheel("native", "1.0", tag=f"{abi}-{abi}-{tag}")
    index.wheel("native", "2.0", tag=f"{abi}-{abi}-win_amd64")
    index.wheel("tool", "1.0", ("colours ; sys_platform == 'win32'", "native"))
    index.wheel("colours", "1.0")
    project = tmp_path / "project"
    project.mkdir()
    (project / "requirements.txt").write_text("tool\nalpha\n", encoding="utf-8")
    written = []
    for system in PLATFORMS:
        target = ["--target-os", system, "--target-arch", "x86_64", "--target-python", PYTHON]
        assert main(["lock", str(project), *target, "--output-dir", str(tmp_path / system), "--quiet"]) == 0
        written.append(tmp_path / system / "pylock.toml")
    return written


def joined(locks: list[Path], folder: Path, *options: str) -> int:
    return main(["lock", *(f"--join={path}" for path in locks), "--output-dir", str(folder), *options])


def test_each_entry_says_which_targets_it_is_for(locks: list[Path], tmp_path: Path) -> None:
    assert joined(locks, tmp_path) == 0
    document = read_toml((tmp_path / "pylock.all.toml").read_text(encoding="utf-8"))
    assert len(document["environments"]) == 2
    assert document["requires-python"] == f"=={PYTHON}.*"
    found = [(each["name"], each["version"], "win32" in each.get("marker", ""), "linux" in each.get("marker", ""))
             for each in document["packages"]]  # fmt: skip
    assert found == [
        ("alpha", "2.0", False, False),
        ("beta", "2.0", False, False),
        ("colours", "1.0", True, False),
        ("native", "1.0", False, True),
        ("native", "2.0", True, False),
        ("tool", "1.0", False, False),
    ]


@pytest.mark.parametrize("system", PLATFORMS)
def test_uv_takes_from_it_what_the_lock_of_the_target_says(locks: list[Path], tmp_path: Path, system: str) -> None:
    joined(locks, tmp_path, "--quiet")
    subprocess.run([UV, "venv", "--no-config", "-q", "--python", sys.executable, str(tmp_path / "env")], check=True)
    interpreter = tmp_path / "env" / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    options = ["--no-config", "--no-cache", "--dry-run", "--python", str(interpreter), "--python-platform"]
    command = [UV, "pip", "install", *options, PLATFORMS[system], "-r", str(tmp_path / "pylock.all.toml")]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8")
    assert done.returncode == 0, done.stderr
    planned = {line.removeprefix(" + ") for line in done.stderr.splitlines() if line.startswith(" + ")}
    own = read_toml((tmp_path / system / "pylock.toml").read_text(encoding="utf-8"))
    assert planned == {f"{each['name']}=={each['version']}" for each in own["packages"]}


def test_it_is_held_against_the_locks_that_it_was_made_of(
    locks: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert joined(locks, tmp_path) == 0
    assert joined(locks, tmp_path, "--check") == 0
    text = locks[0].read_text(encoding="utf-8")
    locks[0].write_text(text.replace("127.0.0.1", "localhost"), encoding="utf-8")
    assert joined(locks, tmp_path, "--check") == 1
    said = capsys.readouterr()
    assert "pylock.all.toml` is not what would be written now" in said.err
    assert f"next: envdoctor lock --join {locks[0]} --join {locks[1]}" in said.err + said.out


def test_locks_that_no_marker_tells_apart_are_refused(
    locks: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = locks[0].read_text(encoding="utf-8")
    other = tmp_path / "other.toml"
    other.write_text(text.replace('backend = "unknown"', 'backend = "rocm"'), encoding="utf-8")
    assert joined([locks[0], other], tmp_path) == 2
    assert "both are for the same machines (`unknown` and `rocm`: no marker" in capsys.readouterr().err
    assert joined(locks[:1], tmp_path) == 2
    assert "two or more locks are joined" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('lock-version = "1.0"\ncreated-by = "x"\npackages = []\n', "not a lock that `envdoctor lock` wrote"),
        ("x = ", "not TOML"),
        (None, "cannot be read"),
    ],
)
def test_what_is_no_lock_of_ours_is_refused(
    text: str | None, said: str, locks: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "other.toml"
    if text is not None:
        other.write_text(text, encoding="utf-8")
    assert joined([locks[0], other], tmp_path) == 2
    assert said in capsys.readouterr().err
    assert not (tmp_path / "pylock.all.toml").exists()


def test_what_is_no_text_is_named(locks: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    binary = tmp_path / "pylock.other.toml"
    binary.write_bytes(b"\xff\xfe\x00")
    assert joined([locks[0], binary], tmp_path) == 2
    assert f"`{binary}` cannot be read: " in capsys.readouterr().err


@pytest.mark.parametrize("value", ["3", '"text"', "[1, 2]", "{}"])
def test_what_cannot_be_read_of_who_asks_for_a_package_is_left_out(
    locks: list[Path], tmp_path: Path, value: str
) -> None:
    text = locks[0].read_text(encoding="utf-8")
    begin = text.index("wanted-by = [")
    locks[0].write_text(f"{text[:begin]}wanted-by = {value}{text[text.index(']', begin) + 1 :]}", encoding="utf-8")
    assert joined(locks, tmp_path) == 0
    assert read_toml((tmp_path / "pylock.all.toml").read_text(encoding="utf-8"))["packages"]
