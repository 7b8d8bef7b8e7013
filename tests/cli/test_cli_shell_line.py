"""Commands that are shown, quoted so that a person can paste them."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

import pytest

from envdoctor.shell_line import path_from_here, shell_line, with_upgrades

WORDS = ["envdoctor", "undo", "--env", "/it's here/env", "", "a\\b", "größe/中"]


def test_a_posix_shell_takes_a_line_apart_again() -> None:
    assert shlex.split(shell_line(WORDS, windows=False)) == WORDS


@pytest.mark.parametrize(
    ("typed", "taken"),
    [
        ("lock --upgrade", "lock --upgrade=*"),
        ("lock --upgrade six", "lock --upgrade=six"),
        ("lock . --upgrade six --upgrade urllib3 -q", "lock . --upgrade=six --upgrade=urllib3 -q"),
        ("lock --upgrade .", "lock --upgrade=* ."),
        ("lock --upgrade project", "lock --upgrade=* project"),
        ("lock --upgrade other.txt", "lock --upgrade=* other.txt"),
        ("lock --upgrade --check six", "lock --upgrade=* --check six"),
        ("lock --upgrade=six project", "lock --upgrade=six project"),
        ("lock --upgrade six seven", "lock --upgrade=six seven"),
    ],
)
def test_a_name_behind_upgrade_is_a_package_where_it_is_no_place(
    typed: str, taken: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path)
    assert with_upgrades(typed.split()) == taken.split()


@pytest.mark.parametrize(
    ("word", "shown"),
    [
        (r"C:\Users\Ann\.venv", r"C:\Users\Ann\.venv"),
        (r"\\server\share\p-1", r"\\server\share\p-1"),
        (r"C:\größe\中", r"C:\größe\中"),
        ("torch==2.4.1", "torch==2.4.1"),
        (r"C:\Users\Ann Bo\p", r'"C:\Users\Ann Bo\p"'),
        ("C:\\Ann Bo\\", r'"C:\Ann Bo\\"'),
        (r"C:\R&D\p", r'"C:\R&D\p"'),
        (r"C:\p(1)", r'"C:\p(1)"'),
        (r"C:\it's", r'"C:\it' + "'" + 's"'),
        ("torch>=2,<3", '"torch>=2,<3"'),
        ("a;b", '"a;b"'),
        ("@x", '"@x"'),
        ("", '""'),
        ('say "x"', r'"say \"x\""'),
        (r"C:\$x's", r"'C:\$x''s'"),
        ("a`b", "'a`b'"),
        ("\u201eso\u201c", "'\u201eso\u201c'"),
    ],
)
def test_a_word_means_itself_to_cmd_and_to_powershell(word: str, shown: str) -> None:
    assert shell_line(["envdoctor", word], windows=True) == f"envdoctor {shown}"


def test_variables_are_set_for_the_line_alone() -> None:
    words = ["envdoctor", "lock", "."]
    assert shell_line(words, {"MIRROR": "URL"}, windows=False) == "MIRROR=URL envdoctor lock ."
    assert shell_line(words, {"MIRROR": "URL"}, windows=True) == 'cmd /c "set MIRROR=URL&& envdoctor lock ."'


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        (r"C:\R&D\my project", r"'C:\R&D\my project'"),
        ("C:\\it's (1) 50%", "'C:\\it''s (1) 50%'"),
        (r"C:\$x", r"'C:\`$x'"),  # In cmd the backtick stays: such a path is for PowerShell alone.
    ],
)
def test_variables_are_set_for_a_quoted_path_in_both_shells_of_windows(path: str, shown: str) -> None:
    # Quotes within those of `cmd /c "..."` would end them in PowerShell.
    line = shell_line(["envdoctor", "lock", path], {"MIRROR": "URL"}, windows=True)
    assert line == f"powershell -c \"Set-Item Env:MIRROR 'URL'; envdoctor lock {shown}\""


def test_a_way_from_a_drive_that_stands_for_another_folder_is_a_short_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def relpath(path: Path) -> str:
        raise ValueError(f"path is on mount '{path}', start on mount 'X:'")

    monkeypatch.chdir(tmp_path)
    assert path_from_here(tmp_path / "a") == Path("a")
    assert path_from_here(tmp_path.parent) == Path("..")
    monkeypatch.setattr(os.path, "relpath", relpath)
    assert path_from_here(tmp_path / "a" / "b.txt") == Path("a", "b.txt")
    assert path_from_here(tmp_path) == Path()
    assert path_from_here(tmp_path.parent) == tmp_path.parent.resolve()
