"""Names in options that nothing of the project has."""

from __future__ import annotations

from pathlib import Path

import pytest

from envdoctor.cli.main import main
from song_maker import RECORDED

OPTIONS = ("--recorded-index", RECORDED, "--target-os", "windows", "--target-python", "3.11")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "requirements.txt").write_text("requests\n", encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ("--upgrade=requests", "--upgrade=Idna", "--upgrade=urlib3"),
            "note: `--upgrade urlib3`: neither the requirements nor the lock have `urlib3`; did you mean `urllib3`?\n",
        ),
        (("--upgrade", "--quiet"), ""),
        (
            ("--upgrade", "urlib3"),
            "note: `--upgrade urlib3`: neither the requirements nor the lock have `urlib3`; did you",
        ),
        (("--upgrade=urlib3", "--quiet"), ""),
        (("--substitute", "webrtcvad"), "note: `--substitute webrtcvad`: neither the requirements nor the lock have "),
    ],
)
def test_a_name_that_neither_requirements_nor_lock_have_is_said(
    project: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], said: str
) -> None:
    main(["lock", str(project), *OPTIONS, *words])
    assert "neither the requirements nor the lock" not in capsys.readouterr().err, "nothing is locked yet"
    (project / "requirements.txt").write_text("requests\n", encoding="utf-8")
    assert main(["lock", str(project), *OPTIONS]) == 0
    capsys.readouterr()
    main(["lock", str(project), *OPTIONS, *words])
    told = capsys.readouterr().err
    assert said in told
    assert told.count("neither the requirements nor the lock") == bool(said)


def test_what_has_no_substitute_is_said_with_the_name_that_is_near(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["lock", str(project), *OPTIONS, "--substitute", "webrtcavd"]) == 2
    assert "no substitute is known for `webrtcavd`; did you mean `webrtcvad`?" in capsys.readouterr().err


def test_a_topic_that_a_conflict_leaves_unresolved_is_held_against_what_was_met(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "requirements.txt").write_text("requests==999\n", encoding="utf-8")
    assert main(["explain", str(tmp_path), "reqests", *OPTIONS]) == 2
    assert "`reqests` is neither a package" in capsys.readouterr().err
    assert main(["explain", str(tmp_path), "requests", *OPTIONS]) == 0
