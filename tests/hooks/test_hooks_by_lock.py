"""Offline with an empty cache and a lock: what still holds passes, what the lock cannot tell does not."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from envdoctor.cli.main import main
from song_maker import EXAMPLE, RECORDED

PROFILE = ("--profile", "diffrhythm2-directml")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A locked copy of the example whose one other error is mended."""
    for variable in ("ENVDOCTOR_INDEX_RECORDED", "ENVDOCTOR_INDEX_RECORD"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("ENVDOCTOR_INDEX_URL", "https://index.example/simple/")
    monkeypatch.setenv("ENVDOCTOR_CACHE_DIR", str(tmp_path / "cache"))
    folder = tmp_path / "songs"
    folder.mkdir()
    shutil.copy(EXAMPLE / "requirements.txt", folder)
    source = (EXAMPLE / "generate.py").read_text(encoding="utf-8")
    (folder / "generate.py").write_text(source.replace("inference_mode", "no_grad"), encoding="utf-8")
    recorded = RECORDED
    assert main(["lock", str(folder), *PROFILE, "--quiet", "--recorded-index", recorded]) == 0
    return folder


# Its cautions, that the checkout which it patches is not here, and that the sources ask for no card of its kind.
OF_NO_LOCK = {"RES211", "SRC007", "SRC008"}


def change(project: Path, old: str, new: str) -> None:
    file = project / "requirements.txt"
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new), encoding="utf-8")


def check(project: Path, capsys: pytest.CaptureFixture[str], *options: str) -> tuple[int, set[str]]:
    capsys.readouterr()
    code = main(["check", str(project), *PROFILE, "--offline", "--quiet", "--format", "json", *options])
    found = {finding["rule"] for finding in json.loads(capsys.readouterr().out)["findings"]}
    return code, found - OF_NO_LOCK


def lock_check(project: Path) -> int:
    return main(["lock", str(project), *PROFILE, "--offline", "--quiet", "--check"])


def test_hooks_what_is_written_and_locked_passes_and_says_by_what(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert check(project, capsys) == (0, {"RES108"})
    assert lock_check(project) == 0


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("numpy==1.26.0", "numpy==1.26.0  # as tested"),
        ("numpy==1.26.0", "numpy>=1.24"),
        ("librosa==0.9.2\n", ""),
        ("onnxruntime\n", 'onnxruntime\ntritonclient ; sys_platform == "linux"\n'),
    ],
)
def test_hooks_a_change_that_the_lock_still_meets_passes(
    project: Path, capsys: pytest.CaptureFixture[str], old: str, new: str
) -> None:
    change(project, old, new)
    assert check(project, capsys) == (0, {"RES108"})


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("numpy==1.26.0", "numpy==2.1.0"),
        ("onnxruntime\n", "onnxruntime\nhydra-core\n"),
        ("torch==2.7\n", "torch==2.6\n"),
        ("transformers==4.47.1", "transformers[torch]==4.47.1"),
        ("onnxruntime\n", "onnxruntime @ https://index.example/files/onnxruntime-1.0-py3-none-any.whl\n"),
    ],
)
def test_hooks_a_change_that_the_lock_cannot_judge_is_not_known(
    project: Path, capsys: pytest.CaptureFixture[str], old: str, new: str
) -> None:
    change(project, old, new)
    assert check(project, capsys) == (3, {"RES016", "RES107"})
    assert lock_check(project) == 3


def test_hooks_a_lock_for_another_interpreter_is_no_answer(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert check(project, capsys, "--target-python", "3.12")[0] == 3


def test_hooks_a_lock_that_knows_a_line_which_is_gone_is_not_current(project: Path) -> None:
    change(project, "librosa==0.9.2\n", "")
    assert lock_check(project) == 3


def test_hooks_a_lock_whose_companion_is_missing_is_not_current(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "overrides.diffrhythm2-directml.txt").unlink()
    assert lock_check(project) == 1
    assert "overrides.diffrhythm2-directml.txt` is missing" in capsys.readouterr().err


def test_hooks_upgrading_offline_cannot_be_answered_by_the_lock(project: Path) -> None:
    assert main(["lock", str(project), *PROFILE, "--offline", "--quiet", "--upgrade"]) == 3
