"""Input that makes a parser raise what it does not announce: one message, never a fault of our own (exit code 4)."""

from __future__ import annotations

from pathlib import Path

import pytest

from envdoctor.adapters.index.page_listing import NotAListing, read_listing
from envdoctor.cli.main import main

LONG = "9" * 5000
"""More digits than Python converts to a number."""
DEEP = 20_000

RECORDS = {
    "a quote that never closes": b'foo/__init__.py,sha256=x,1\n"open,,\n',
    "a carriage return in a quoted row": b'"a\rb",,\n',
    "a field of 200 KB": b'"' + b"x" * 200_000 + b'",,\n',
    "a size of 5,000 digits": b"foo/__init__.py,sha256=abc," + LONG.encode() + b"\n",
    "a size in other digits": "foo/__init__.py,sha256=abc,²\n".encode(),
    "NULs": b"\0\0\0\0",
}


@pytest.mark.parametrize("name", RECORDS)
def test_one_bad_list_of_files_does_not_end_a_check(tmp_path: Path, name: str) -> None:
    info = tmp_path / "foo-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: foo\nVersion: 1.0\nRequires-Dist: bar\n")
    (info / "RECORD").write_bytes(RECORDS[name])
    assert main(["check", "--env", str(tmp_path), "--offline"]) == 1  # `bar` is not there.


INPUTS = {
    "installed.json": ('[{"name": "torch", "version": "2.0", "n": ' + LONG + "}]", ["--installed"]),
    "version.json": ('[{"name": "torch", "version": ' + LONG + "}]", ["--installed"]),
    "facts.json": ('{"gpu.count": ' + LONG + "}", ["--facts"]),
    "deep.json": ("[" * DEEP, ["--installed"]),
    "deep-facts.json": ("[" * DEEP, ["--facts"]),
}


@pytest.mark.parametrize("name", INPUTS)
def test_a_paste_that_is_none_is_refused_by_name(tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    text, options = INPUTS[name]
    (tmp_path / name).write_text(text)
    assert main(["check", *options, str(tmp_path / name)]) == 2
    assert name in capsys.readouterr().err


def test_a_profile_with_a_number_without_end_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    profile = tmp_path / "own.toml"
    profile.write_text(f"schema = {LONG}\n[profile]\nname = 'own'\n")
    assert main(["profiles", "validate", str(profile)]) == 2
    assert "own.toml" in capsys.readouterr().err


PROJECT_FILES = {
    "requirements.txt": f"requests=={LONG}\n",
    "pyproject.toml": f"[project]\nname = 'x'\nversion = '1'\n[tool.x]\na = {LONG}\n",
    "pylock.toml": f'lock-version = "1.0"\ncreated-by = "x"\n[[packages]]\nname = "a"\nversion = "1"\nsize = {LONG}\n',
    "environment.yml": "a: " + "[" * DEEP + "\n",
}


@pytest.mark.parametrize("verb", [["check"], ["lock", "--check"]], ids="-".join)
@pytest.mark.parametrize("name", PROJECT_FILES)
def test_a_project_file_that_no_parser_takes_is_no_fault_of_ours(
    tmp_path: Path, name: str, verb: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "requirements.txt").write_text("")
    (tmp_path / name).write_text(PROJECT_FILES[name])
    code = main([verb[0], str(tmp_path), *verb[1:], "--offline", "--cache-dir", str(tmp_path / "cache")])
    assert code in (1, 2, 3)
    said = capsys.readouterr()
    assert name in said.out + said.err


@pytest.mark.parametrize(
    "body",
    ["<html><![extra <a href='x-1.0.tar.gz'>x</a>", "<base href='http://[::1'><a href='x-1.0.tar.gz'>x-1.0.tar.gz</a>"],
)
def test_a_page_that_the_parser_gives_up_is_no_listing(body: str) -> None:
    from packaging.utils import canonicalize_name

    with pytest.raises(NotAListing):
        read_listing(body.encode(), "text/html", "http://index.example/x/", canonicalize_name("x"))
