"""Locks that other tools wrote, as input: do they hold on the target?"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from lock_index import LoopbackIndex

from envdoctor.cli.main import main

LINUX_TAG = "cp311-cp311-manylinux_2_17_x86_64"


@pytest.fixture
def lock(index: LoopbackIndex, tmp_path: Path) -> Path:
    """A lock that was made on Linux: it has one wheel of `native`, and nothing that `tool` needs elsewhere alone."""
    index.wheel("native", "1.0", tag="cp311-cp311-win_amd64")
    native = index.wheel("native", "1.0", tag=LINUX_TAG)
    tool = index.wheel("tool", "1.0", ("colours ; sys_platform == 'win32'", "native"))
    index.wheel("colours", "1.0")
    path = tmp_path / "locked" / "pylock.toml"
    path.parent.mkdir()
    path.write_text('lock-version = "1.0"\ncreated-by = "somebody"\n', encoding="utf-8")
    with path.open("a", encoding="utf-8") as text:
        for name, digest in (("native", native), ("tool", tool)):
            file = f'url = "https://index.example/{name}-1.0-py3-none-any.whl", hashes = {{ sha256 = "{digest}" }}'
            text.write(f'[[packages]]\nname = "{name}"\nversion = "1.0"\nwheels = [{{ {file} }}]\n')
    return path


def judged(capsys: pytest.CaptureFixture[str], path: Path, system: str) -> tuple[int, list[tuple[str, str]]]:
    target = ["--target-os", system, "--target-arch", "x86_64", "--target-python", "3.11"]
    code = main(["check", str(path), *target, "--format", "json"])
    said = capsys.readouterr()
    assert said.out, said.err
    document = json.loads(said.out)
    return code, [(finding["rule"], finding["subject"]) for finding in document["findings"]]


def test_a_lock_holds_where_it_was_made(lock: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert judged(capsys, lock, "linux") == (0, [])


def test_a_lock_of_one_system_does_not_hold_on_another(lock: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, found = judged(capsys, lock, "windows")
    assert code == 1
    assert sorted(found) == [("RES019", "colours"), ("RES019", "native")]


@pytest.mark.parametrize(("system", "there"), [("linux", True), ("windows", False)])
def test_a_lock_beside_a_project_is_said_not_to_hold_where_its_files_are_of_no_use(
    system: str, there: bool, lock: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    project = lock.parent / "pyproject.toml"
    project.write_text('[project]\nname = "p"\nversion = "1"\ndependencies = ["native"]\n', encoding="utf-8")
    target = ["--target-os", system, "--target-arch", "x86_64", "--target-python", "3.11"]
    code = main(["check", str(lock.parent), *target, "--format", "json"])
    (beside,) = json.loads(capsys.readouterr().out)["scope"]["files"]
    why = "" if there else "none of the files that it names of native can be used"
    assert (code, beside["holds"], beside["reason"]) == (0, there, why)
    main(["check", str(lock.parent), *target])
    said = " ".join(capsys.readouterr().out.split())
    assert ("`pylock.toml` (holds)" if there else f"`pylock.toml` (does not hold here: {why})") in said


@pytest.mark.parametrize("marker", [r'os_name == "a\nb"', r'platform_release != "a\nb" and os_name == "a\nb"'])
def test_a_lock_for_a_marker_with_a_line_break_is_judged(
    marker: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = f"lock-version = '1.0'\ncreated-by = 'x'\nenvironments = ['{marker}']\npackages = []\n"
    (tmp_path / "pylock.toml").write_text(lines, encoding="utf-8")
    assert judged(capsys, tmp_path / "pylock.toml", "linux") == (3, [("RES006", "pylock.toml")])
