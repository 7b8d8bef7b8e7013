"""A fix beside a lock: what the lock says is installed, and what it lacks is told."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from apply_archives import Served, as_index, make_wheel, serve
from apply_world import BASE

from envdoctor.cli.main import main

pytestmark = pytest.mark.usefixtures("quiet_machine")
ZETA = make_wheel("zeta", "1.0", {"zeta/__init__.py": "import requests\n"})
REQUESTS = make_wheel("requests", "2.0", {"requests/__init__.py": ""})
IMPORTS = "zeta 1.0 imports `requests` (zeta/__init__.py:1) without asking for it"
LACKS = f"{IMPORTS}, and the lock has no `requests`: add `requests` to the requirements and lock again"


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    with serve(as_index(ZETA, REQUESTS)) as it:
        yield it


def test_a_fix_installs_what_the_lock_beside_it_says_and_tells_what_that_lacks(
    project: Path, served: Served, capsys: pytest.CaptureFixture[str]
) -> None:
    def planned() -> tuple[set[str], list[str]]:
        capsys.readouterr()
        assert main(["fix", *typed, "--python", BASE, "--dry-run", "--format", "json"]) == 0
        plan = json.loads(capsys.readouterr().out)
        plan = plan["plans"][0] if "plans" in plan else plan
        files = next(step["files"] for step in plan["steps"] if "files" in step)
        return {file["name"] for file in files}, plan["notes"]

    (project / "requirements.txt").write_text("zeta\n", encoding="utf-8")
    typed = [str(project), "--index-url", f"{served.url}simple/"]
    assert planned() == ({"zeta", "requests"}, [f"`requests` is added: {IMPORTS}"])
    assert main(["lock", *typed]) == 0
    assert planned() == ({"zeta"}, [LACKS])
    assert main(["fix", *typed, "--python", BASE, "--yes", "--no-smoke"]) == 0
    assert f"note: {LACKS}" in capsys.readouterr().err
    (project / "requirements.txt").write_text("zeta\nrequests\n", encoding="utf-8")
    assert planned() == ({"requests"}, [])


@pytest.mark.parametrize(
    ("locked", "asked", "installed", "note"),
    [
        # A lock of a longer list has what is imported: nobody may be told that it lacks it.
        ("zeta==1.0\nrequests\n", "zeta==1.0\n", {"zeta", "requests"}, f"`requests` is added: {IMPORTS}"),
        # A lock of another version than is asked for by now is not what is installed.
        ("zeta==0.9\n", "zeta==1.0\n", {"zeta", "requests"}, f"`requests` is added: {IMPORTS}"),
        ("zeta\n", "zeta==1.0\n", {"zeta"}, LACKS),
    ],
)
def test_a_lock_that_is_not_of_today_is_not_said_to_lack_what_is_imported(
    locked: str, asked: str, installed: set[str], note: str, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with serve(as_index(make_wheel("zeta", "0.9", {"zeta/__init__.py": ""}), ZETA, REQUESTS)) as it:
        typed = [str(project), "--index-url", f"{it.url}simple/"]
        (project / "requirements.txt").write_text(locked, encoding="utf-8")
        assert main(["lock", *typed]) == 0
        (project / "requirements.txt").write_text(asked, encoding="utf-8")
        capsys.readouterr()
        assert main(["fix", *typed, "--python", BASE, "--dry-run", "--format", "json"]) == 0
    plan = json.loads(capsys.readouterr().out)
    files = next(step["files"] for step in plan["steps"] if "files" in step)
    assert {file["name"] for file in files} == installed
    assert plan["notes"] == [note]
