"""Files that a program has open, that run, or that are read-only; junctions; names that differ in case alone."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from envdoctor.adapters.apply import restore
from envdoctor.adapters.apply.durable import first_in_use, leads_elsewhere, put_in_place, remove_file, remove_tree
from envdoctor.adapters.apply.holding import hold_environment
from envdoctor.adapters.apply.interpreters import PythonFacts
from envdoctor.adapters.apply.journal import Journal
from envdoctor.adapters.apply.snapshot import Entry, touched_files

windows = pytest.mark.skipif(os.name != "nt", reason="only Windows keeps files that are open")


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_read_only_files_are_replaced_and_removed(tmp_path: Path) -> None:
    for name in ("a", "b", "folder/c"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"old")
        (tmp_path / name).chmod(0o444)
    (tmp_path / "new").write_bytes(b"new")
    put_in_place(tmp_path / "new", tmp_path / "a")
    assert (tmp_path / "a").read_bytes() == b"new"
    remove_file(tmp_path / "b")
    remove_tree(tmp_path / "folder")
    assert names(tmp_path) == ["a"]


def test_what_is_not_there_is_removed_already(tmp_path: Path) -> None:
    remove_file(tmp_path / "gone")
    remove_tree(tmp_path / "gone")


@pytest.mark.skipif(os.name == "nt", reason="CreateSymbolicLink needs a privilege on Windows")
def test_what_a_link_leads_to_stays(tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "file").touch()
    (tmp_path / "tree").mkdir()
    for link in ("link", "tree/link"):
        (tmp_path / link).symlink_to(tmp_path / "kept")
    remove_tree(tmp_path / "link")
    remove_tree(tmp_path / "tree")
    assert names(tmp_path) == ["kept"]
    assert names(tmp_path / "kept") == ["file"]


@pytest.mark.parametrize(
    ("mode", "tag", "leads"), [(0o120777, 0, True), (0o40777, 0xA0000003, True), (0o40777, 0, False)]
)
def test_a_junction_leads_elsewhere_as_a_link_does(mode: int, tag: int, leads: bool) -> None:
    status = SimpleNamespace(st_mode=mode, st_reparse_tag=tag)
    assert leads_elsewhere(status) == leads  # type: ignore[arg-type]


@windows
def test_a_file_that_is_open_is_named(tmp_path: Path) -> None:
    path = tmp_path / "open.txt"
    with path.open("w"), pytest.raises(PermissionError, match="another program has it open") as caught:
        remove_file(path)
    assert caught.value.filename == str(path)
    remove_file(path)


@windows
def test_a_program_that_runs_is_in_use(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "env")], check=True)
    program = tmp_path / "env" / "Scripts" / "python.exe"
    assert first_in_use([program]) is None
    with subprocess.Popen([str(program), "-c", "input()"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert first_in_use([tmp_path / "env/pyvenv.cfg", program]) == program
        child.communicate(b"\n")
    assert first_in_use([program]) is None


def test_only_programs_and_libraries_are_asked_for(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").touch()
    with (tmp_path / "notes.txt").open("r+"):
        assert first_in_use([tmp_path / "notes.txt", tmp_path / "gone.exe"]) is None


def test_what_runs_is_looked_for_before_the_last_step_of_a_fix_is_taken_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    environment, patched = tmp_path / ".venv", tmp_path / "serve.py"
    patched.write_text("device = 'cuda'")
    names = []
    for created in (True, False):
        journal = Journal.create(environment, {"created": created, "project": str(tmp_path)})
        if not created:
            journal.write_file("patch", "project", "serve.py", patched, b"device = 'cpu'", "")
        journal.write("end")
        journal.close()
        names.append(journal.id)
    monkeypatch.setattr(restore, "KEEPS_OPEN_FILES", True)
    monkeypatch.setattr(restore, "first_in_use", lambda _paths: environment / "Scripts/python.exe")
    with pytest.raises(OSError, match="nothing was changed, because another program runs it"):
        restore.take_back(environment, reversed(names), tmp_path)
    assert patched.read_text() == "device = 'cpu'"
    monkeypatch.setattr(restore, "first_in_use", lambda _paths: None)
    restore.take_back(environment, reversed(names), tmp_path)
    assert patched.read_text() == "device = 'cuda'"
    assert not environment.exists()


def test_nothing_is_left_of_a_lock_that_came_to_nothing(tmp_path: Path) -> None:
    with hold_environment(tmp_path / "above" / "env", wait_s=5, say=print):
        assert (tmp_path / "above/env/.envdoctor/lock").exists()
    assert names(tmp_path) == []


def test_a_copy_is_kept_of_what_is_replaced_under_another_spelling(tmp_path: Path) -> None:
    site = tmp_path / "Lib" / "site-packages"
    site.mkdir(parents=True)
    for name in ("pyvenv.cfg", "PYVENV.CFG"):
        (tmp_path / name).touch()  # As it looks on a disk that does not tell case apart.
    facts = PythonFacts(
        executable="", version=(3, 11, 0), prefix="", base_prefix="", purelib=str(site), platlib=str(site),
        scripts=str(tmp_path / "Scripts"), data=str(tmp_path), pip=None, bundled_pip=None,
        makes_environments=False, managed=False,
    )  # fmt: skip
    listing = {"Lib/site-packages/Six.py": Entry("f")}
    assert touched_files(tmp_path, facts, listing, set(), [("purelib", "six.py")]) == {"Lib/site-packages/Six.py"}
