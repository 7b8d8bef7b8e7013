"""Paths and files that end the reading, each with one clear message."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest

from envdoctor.adapters.project import ProjectFileError, read_project


def _zip() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("a.txt", "a")
    return buffer.getvalue()


POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12\n"


@pytest.mark.parametrize("name", ["requirements.txt", "pyproject.toml", "setup.py", "environment.yml", "install.sh"])
@pytest.mark.parametrize(
    ("content", "word"),
    [
        (POINTER, "Git LFS pointer"),
        (b"<!DOCTYPE html>\n<html><body>404</body></html>", "HTML"),
        (b"\n<?xml version='1.0'?><Error/>", "XML"),
        (b"404: Not Found", "error page"),
        (_zip(), "zip archive"),
        (b"\x7fELF\x02\x01\x01\0\0", "ELF"),
        (b"torch\0\0\0\0numpy\0", "binary"),
        (b"\0" * 64, "binary"),
        (b"../.git/annex/objects/xx/yy/key\n", "git-annex"),
    ],
)
def test_not_what_it_claims_to_be(read_files, name, content, word):
    with pytest.raises(ProjectFileError, match=word) as raised:
        read_files({name: content})
    assert raised.value.path == name
    assert str(raised.value).startswith(name)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("content", [b"{}", b"[]", b'{"dependencies": {}}\n'])
def test_json_is_no_requirements_file(read_files, content):
    with pytest.raises(ProjectFileError, match="JSON"):
        read_files({"requirements.txt": content})


def test_an_included_pointer_is_named(read_files):
    with pytest.raises(ProjectFileError, match=r"^base\.txt:1: .*Git LFS"):
        read_files({"requirements.txt": "-r base.txt\n", "base.txt": POINTER})


@pytest.mark.parametrize(
    ("name", "content", "line"),
    [
        ("pyproject.toml", "[project]\nname = \"a\"\ndependencies = [\n  'x',\n  oops\n]\n", 5),
        ("pyproject.toml", "[project]\nname = 'a'\nname = 'b'\n", 3),
        ("pyproject.toml", "a = [\n\n", 3),
        ("Pipfile", "[packages\n", 1),
        ("environment.yml", "name: a\n\tdependencies:\n", 2),
        ("environment.yml", "name: a\ndependencies:\n  - b\nbroken\n", 4),
        ("setup.cfg", "install_requires = a\n", 1),
        ("setup.cfg", "[options]\nwhat is this\n", 2),
        ("setup.py", "from setuptools import setup\nsetup(\n  install_requires=[,]\n)\n", 3),
        ("script.py", "# /// script\n# dependencies = [\n#   oops\n# ]\n# ///\n", 3),
    ],
)
def test_syntax_errors_name_their_line(read_files, name, content, line):
    with pytest.raises(ProjectFileError) as raised:
        read_files({name: content}, at=name)
    assert raised.value.line == line
    assert str(raised.value).startswith(f"{name}:{line}: ")


def test_deep_nesting_is_a_message(read_files):
    with pytest.raises(ProjectFileError, match="nested too deep"):
        read_files({"pyproject.toml": "a = " + "[" * 20000})


def test_no_such_path(tmp_path: Path):
    with pytest.raises(ProjectFileError, match="no such file or directory"):
        read_project(tmp_path / "missing")
    (tmp_path / "file.txt").write_text("a")
    with pytest.raises(ProjectFileError, match=r"is a file, not a directory|no such file"):
        read_project(tmp_path / "file.txt" / "x")


def test_an_empty_directory_says_what_was_looked_for(read_files):
    with pytest.raises(ProjectFileError, match=r"looked for requirements\*\.txt, pyproject\.toml"):
        read_files({"README.md": "x"})
    with pytest.raises(ProjectFileError, match=r"deeper: `part/requirements\.txt`"):
        read_files({"part/requirements.txt": "torch"})


def test_a_loop_of_links(tmp_path: Path):
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    with pytest.raises(ProjectFileError, match="loop"):
        read_project(tmp_path / "a")


def test_no_permission(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "requirements.txt").write_text("torch\n")

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError

    # The superuser may read everything, so the refusal is played.
    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(ProjectFileError, match="permission denied"):
        read_project(tmp_path / "requirements.txt")


@pytest.mark.parametrize("name", ["README.md", "Gemfile.lock", "package.json"])
def test_files_of_another_kind(read_files, name):
    with pytest.raises(ProjectFileError, match="not a file that describes requirements"):
        read_files({name: "x = 1\n"}, at=name)


def test_a_file_that_was_asked_for_and_is_not_there(read_files):
    with pytest.raises(ProjectFileError, match=r"^extra\.txt: there is no such file"):
        read_files({"requirements.txt": "torch\n"}, files=["extra.txt"])


def test_an_unknown_group_lists_those_there_are(read_files):
    text = '[project]\nname = "a"\ndependencies = []\n[project.optional-dependencies]\ntts = []\n'
    with pytest.raises(ProjectFileError, match="no group or extra `gpu`; there are: `tts`"):
        read_files({"pyproject.toml": text}, groups=["gpu"])


def test_a_path_that_the_system_refuses_is_named_once(tmp_path):
    path = tmp_path / ("x" * 300)
    with pytest.raises(ProjectFileError) as caught:
        read_project(path)
    assert str(caught.value).count(path.name) == 1
