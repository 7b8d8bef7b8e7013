"""Environments that come from strangers: links in place of our folder, journals that speak of other people's files."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from apply_archives import Served, as_index, serve
from apply_commands import STACK, Fix, profile
from apply_world import UV, run, site_of, tree_state

from envdoctor.cli.main import main

pytestmark = pytest.mark.usefixtures("quiet_machine")
links = pytest.mark.skipif(os.name == "nt", reason="CreateSymbolicLink needs a privilege on Windows")


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    with serve(as_index(*STACK)) as it:
        yield it


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    folder = tmp_path / "victim"
    folder.mkdir()
    (folder / "keys").write_text("mine\n")
    return folder


@links
@pytest.mark.parametrize("name", [".envdoctor", ".envdoctor/journal"])
def test_a_link_in_the_place_of_our_folder_is_refused(
    fix: Fix, project: Path, victim: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    link = project / ".venv" / name
    link.parent.mkdir(parents=True)
    link.symlink_to(victim)
    before = tree_state(victim)
    assert fix("--yes") == 1
    assert "is a link; what is written there would end up elsewhere" in capsys.readouterr().err
    assert main(["undo", "--env", str(project / ".venv")]) == 2
    assert tree_state(victim) == before


@links
def test_a_link_that_leads_nowhere_is_refused(fix: Fix, project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / ".venv").symlink_to(project / "nowhere")
    assert fix("--yes") == 1
    assert "is a link that leads nowhere" in capsys.readouterr().err
    assert not (project / "nowhere").exists()


@links
def test_two_names_of_one_file_are_one_file(fix: Fix, project: Path) -> None:
    (project / "link.py").symlink_to("app.py")
    again = '[[patch]]\nname = "{}"\nfile = "{}"\nset-attribute = "x"\nvalue = "{}"\nbecause = "b"\n'
    (project / "app.py").write_text("import deepspeed\nx = 1\n")
    more = again.format("one", "./app.py", 2) + again.format("two", "link.py", 3)
    assert fix("--yes", more=more) == 0
    assert (project / "app.py").read_text().endswith("x = 3\n")
    assert (project / "link.py").is_symlink()
    assert main(["undo", "--env", str(project / ".venv")]) == 0
    assert (project / "app.py").read_text() == "import deepspeed\nx = 1\n"


def test_folders_above_a_new_environment_go_with_it(fix: Fix, project: Path, tmp_path: Path) -> None:
    environment = tmp_path / "far" / "away" / "env"
    assert fix("--yes", "--env", str(environment)) == 0
    assert main(["undo", "--env", str(environment), "--project", str(project)]) == 0
    assert not (tmp_path / "far").exists()


def test_a_project_elsewhere_is_named_before_its_files_are_touched(
    fix: Fix, project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    environment = tmp_path / "elsewhere" / "env"
    assert fix("--yes", "--env", str(environment)) == 0
    assert f"`envdoctor undo --env {environment} --project {project}` takes them back" in capsys.readouterr().err
    patched = tree_state(project)
    capsys.readouterr()
    assert main(["undo", "--env", str(environment)]) == 1
    assert f"`--project {project}` takes them back, too; nothing was changed" in capsys.readouterr().err
    assert tree_state(project) == patched
    assert main(["undo", "--env", str(environment), "--project", str(project)]) == 0
    assert (project / "app.py").read_text() == "import deepspeed\n"


def strange(environment: Path, path: Path, claimed: Path, **more: object) -> None:
    """Write a journal that would put bytes of its own over a file."""
    folder = environment / ".envdoctor/journal/20260101T000000000000-abcd"
    (folder / "backups").mkdir(parents=True)
    data = b"stranger\n"
    digest = hashlib.sha256(data).hexdigest()
    (folder / "backups" / digest).write_bytes(data)
    events: list[dict[str, object]] = [
        {"event": "begin", "time": "2026-01-01", "environment": str(environment), "project": str(claimed)},
        {"event": "file-before", "step": "s1", "root": "project", "path": "x", "real": str(path), "result": "",
         "digest": digest, "mode": 0o644, "mtime_ns": 0} | more,
    ]  # fmt: skip
    (folder / "events.jsonl").write_text("".join(json.dumps(event) + "\n" for event in events))


@pytest.mark.parametrize("verb", ["fix", "undo"])
@pytest.mark.parametrize("claimed", ["victim", "project", "root"])
def test_a_journal_that_speaks_of_others_files_is_refused(
    fix: Fix, project: Path, victim: Path, verb: str, claimed: str, capsys: pytest.CaptureFixture[str]
) -> None:
    environment = project / ".venv"
    run([UV, "venv", "--no-config", "--no-project", "--python", sys.executable, str(environment)])
    strange(environment, victim / "keys", {"victim": victim, "project": project, "root": Path("/")}[claimed])
    before = tree_state(victim)
    code = fix("--yes") if verb == "fix" else main(["undo", "--env", str(environment)])
    assert code in (1, 2)
    assert tree_state(victim) == before
    said = capsys.readouterr().err
    assert "neither in the environment nor in its project" in said or "this fix has patched files of" in said


@links
def test_a_journal_that_goes_through_a_link_is_refused(project: Path, victim: Path) -> None:
    environment = project / ".venv"
    run([UV, "venv", "--no-config", "--no-project", "--python", sys.executable, str(environment)])
    (site_of(environment) / "way").symlink_to(victim)
    strange(environment, site_of(environment) / "way" / "keys", project)
    assert main(["undo", "--env", str(environment)]) == 1
    assert (victim / "keys").read_text() == "mine\n"


@pytest.mark.parametrize(
    "more", [{"digest": "../../x"}, {"digest": 7}, {"real": None}, {"folders": "x"}, {"mode": "x"}]
)
def test_a_journal_that_makes_no_sense_is_said_to_be_damaged(
    project: Path, more: dict[str, object], capsys: pytest.CaptureFixture[str]
) -> None:
    environment = project / ".venv"
    run([UV, "venv", "--no-config", "--no-project", "--python", sys.executable, str(environment)])
    strange(environment, project / "app.py", project, **more)
    assert main(["undo", "--env", str(environment)]) == 1
    assert "makes no sense" in capsys.readouterr().err
    assert (project / "app.py").read_text() == "import deepspeed\n"


@pytest.mark.parametrize("listing", ["{", "[1]", '[["../../victim/keys", "f", 420, 1, 1, "", ""]]'])
def test_a_listing_that_leads_out_or_makes_no_sense_is_refused(project: Path, victim: Path, listing: str) -> None:
    environment = project / ".venv"
    run([UV, "venv", "--no-config", "--no-project", "--python", sys.executable, str(environment)])
    strange(environment, project / "app.py", project)
    (folder,) = (environment / ".envdoctor/journal").iterdir()
    (folder / "before.json").write_text(listing)
    with (folder / "events.jsonl").open("a") as events:
        events.write(json.dumps({"event": "packages-begin", "files": 1, "copies": 0}) + "\n")
    before = tree_state(environment)
    assert main(["undo", "--env", str(environment)]) == 1
    assert tree_state(environment) == before
    assert (victim / "keys").read_text() == "mine\n"


def test_a_record_that_speaks_of_others_files_patches_none(fix: Fix, project: Path, victim: Path) -> None:
    assert fix("--yes") == 0
    record = project / ".venv/.envdoctor/patches.json"
    rows = json.loads(record.read_text())
    digest = hashlib.sha256(b"mine\n").hexdigest()
    rows.append({**rows[0], "path": "../victim/keys", "real": str(victim / "keys"), "after": digest})
    record.write_text(json.dumps(rows))
    file = Path(profile(project))
    file.write_text(file.read_text().replace('PYTHONUTF8 = "1"', ""))
    assert fix("--yes") == 0
    assert (victim / "keys").read_text() == "mine\n"
