"""The lock that a fix left in an environment speaks where none lies beside the project. Through the CLI, no network."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest

from envdoctor.cli.main import main
from song_maker import EXAMPLE, ON_ITS_INDEX

pytestmark = pytest.mark.skipif(
    sys.version_info[:2] != (3, 11), reason="the example's recorded index has files for Python 3.11 and Windows alone"
)

PROFILE = ON_ITS_INDEX


@pytest.fixture
def project(tmp_path: Path) -> Path:
    leave = shutil.ignore_patterns("recorded-index", "pylock*", "constraints*", "overrides*")
    return Path(shutil.copytree(EXAMPLE, tmp_path / "song-maker", ignore=leave))


def waived(capsys: pytest.CaptureFixture[str], project: Path, environment: Path) -> list[str | None]:
    main(["check", str(project), *PROFILE, "--env", str(environment), "--format", "json"])
    findings = json.loads(capsys.readouterr().out)["findings"]
    return [(item["waived"] or {}).get("reason") for item in findings if item["rule"] == "RES001"]


def test_conflicts_that_the_environments_own_lock_settled_are_accepted(capsys, project, venv, tmp_path):
    assert waived(capsys, project, venv) == [None, None]
    assert main(["lock", str(project), *PROFILE, "--output-dir", str(tmp_path / "locks")]) == 0
    (venv / ".envdoctor").mkdir()
    shutil.copy(tmp_path / "locks" / "pylock.diffrhythm2-directml.toml", venv / ".envdoctor" / "pylock.toml")
    capsys.readouterr()
    assert all(waived(capsys, project, venv))


def test_the_lock_of_another_profile_does_not_speak(capsys, project, venv, tmp_path):
    assert main(["lock", str(project), *PROFILE, "--output-dir", str(tmp_path / "locks")]) == 0
    text = (tmp_path / "locks" / "pylock.diffrhythm2-directml.toml").read_text(encoding="utf-8")
    (venv / ".envdoctor").mkdir()
    changed = text.replace('profile = "diffrhythm2-directml"', 'profile = "xtts-zluda"')
    assert changed != text
    (venv / ".envdoctor" / "pylock.toml").write_text(changed, encoding="utf-8")
    capsys.readouterr()
    assert waived(capsys, project, venv) == [None, None]
