"""What this user may not read is not known; it is neither missing nor broken."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from envdoctor.cli.main import main
from unprivileged import as_nobody

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows has no seteuid, and chmod takes no right to read")


@pytest.fixture
def open_site(site, tmp_path: Path):
    """A site-packages folder on a path that every user may walk."""
    for folder in (tmp_path, *tmp_path.parents):
        if folder.stat().st_uid == os.geteuid() and folder.stat().st_mode & 0o055 != 0o055:
            folder.chmod(folder.stat().st_mode | 0o055)
    site.add("reader", "1.0", "six", files={"reader/__init__.py": "x = 1\n"}, INSTALLER="pip\n")
    site.add("six", "1.16.0", files={"six/__init__.py": "x = 1\n"}, INSTALLER="pip\n")
    return site


def _checked(site: Any, capsys: pytest.CaptureFixture[str]) -> tuple[int, dict[str, Any]]:
    arguments = ["check", "--env", str(site.folder), "--format", "json", "--no-imports"]
    main(arguments)  # Loads what is loaded late: nobody may not read Python itself where root keeps it at home.
    capsys.readouterr()
    with as_nobody():
        code = main(arguments)
    return code, json.loads(capsys.readouterr().out)


def _about(report: dict[str, Any], *rules: str) -> list[str]:
    return [item["message"] for item in report["findings"] if item["rule"] in rules]


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("six-1.16.0.dist-info/METADATA", "METADATA: permission denied"),
        ("six-1.16.0.dist-info", "METADATA: permission denied"),
        ("six-1.16.0.dist-info/RECORD", "RECORD: permission denied"),
        ("six", "six/__init__.py: permission denied"),
    ],
)
def test_what_may_not_be_read_is_unknown(
    open_site: Any, capsys: pytest.CaptureFixture[str], path: str, said: str
) -> None:
    target = open_site.folder / path
    target.chmod(0)
    try:
        code, report = _checked(open_site, capsys)
    finally:
        target.chmod(0o755)
    assert (report["verdict"], report["complete"], code) == ("unknown", False, 3)
    assert any(said in message and "not known" in message for message in _about(report, "ENV008"))
    assert not _about(report, "ENV001", "ENV006"), "it is not missing"


def test_a_folder_that_may_not_be_listed_is_unknown(open_site: Any, capsys: pytest.CaptureFixture[str]) -> None:
    open_site.folder.chmod(0o311)
    try:
        _, report = _checked(open_site, capsys)
    finally:
        open_site.folder.chmod(0o755)
    assert (report["verdict"], report["complete"]) == ("unknown", False)


def test_what_may_be_read_is_healthy(open_site: Any, capsys: pytest.CaptureFixture[str]) -> None:
    code, report = _checked(open_site, capsys)
    assert (code, report["complete"]) == (0, True)
    assert not _about(report, "ENV008")


def test_a_project_that_may_not_be_read_is_told_with_its_path(
    open_site: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "requirements.txt").write_text("six\n", encoding="utf-8")
    main(["check", str(project), "--offline"])
    main(["check", str(tmp_path / "nowhere"), "--offline"])
    capsys.readouterr()
    project.chmod(0)
    try:
        with as_nobody():
            assert main(["check", str(project), "--offline"]) == 2
    finally:
        project.chmod(0o755)
    assert f"{project}: " in capsys.readouterr().err
