"""Input that makes a parser raise what it does not announce: one message, never a fault of our own (exit code 4)."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import pytest

from envdoctor.adapters.index.page_listing import NotAListing, read_listing
from envdoctor.cli.main import main
from unprivileged import as_nobody

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


def test_a_file_that_cannot_be_read_is_named_as_it_can_be_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    project = tmp_path / "bad"
    project.mkdir()
    file = project / "pyproject.toml"
    file.write_text("[project\n")
    monkeypatch.chdir(tmp_path)
    for typed in ("bad", str(Path("bad", "pyproject.toml"))):
        assert main(["check", typed]) == 2
        assert f"error: {Path('bad', 'pyproject.toml')}:1: invalid TOML" in capsys.readouterr().err
    file.unlink()
    assert main(["check", "bad"]) == 2
    assert capsys.readouterr().err.startswith("error: bad: ")
    monkeypatch.chdir(project)
    file.write_text("[project\n")
    assert main(["check"]) == 2
    assert "error: pyproject.toml:1: invalid TOML" in capsys.readouterr().err


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


SHUT_OUT = {
    "check": ["check", "{}", "--offline"],
    "check --env": ["check", "--env", "{}"],
    "check --python": ["check", "--python", "{}"],
    "check --recorded-index": ["check", ".", "--recorded-index", "{}"],
    "lock": ["lock", "{}", "--offline"],
    "explain": ["explain", "{}", "C1", "--offline"],
    "repair": ["repair", "1", "{}", "--offline"],
    "fix": ["fix", "{}", "--yes"],
    "init": ["init", "{}"],
    "undo": ["undo", "--env", "{}"],
    "undo --project": ["undo", "--project", "{}"],
    "run": ["run", "--env", "{}", "--", "true"],
    "compare": ["compare", "{}", "{}"],
    "profiles new": ["profiles", "new", "mine", "--project", "{}"],
}
"""Verbs with a path in each place; a path may be one that the system does not even look at."""


@pytest.mark.parametrize("verb", SHUT_OUT)
def test_a_path_that_the_system_refuses_is_no_fault_of_ours(
    verb: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "requirements.txt").write_text("demo\n")
    monkeypatch.chdir(tmp_path)
    words = [word.format("n" * 5000) for word in SHUT_OUT[verb]]
    assert main(words) == 2
    said = capsys.readouterr().err
    assert "nnn" in said
    assert "fault of envdoctor" not in said


@pytest.mark.parametrize("verb", SHUT_OUT)
def test_a_path_below_a_folder_that_only_others_enter_is_no_fault_of_ours(
    verb: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "requirements.txt").write_text("demo\n")
    (tmp_path / "shut" / "inner").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    tmp_path.chmod(0o755)
    (tmp_path / "shut").chmod(0)
    try:
        with as_nobody():
            assert main([word.format(tmp_path / "shut" / "inner") for word in SHUT_OUT[verb]]) == 2
    finally:
        (tmp_path / "shut").chmod(0o700)
    assert "fault of envdoctor" not in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--env", "--python"])
@pytest.mark.parametrize("target", ["here", "nowhere", os.devnull])
def test_a_link_that_leads_to_no_file_is_no_environment_with_nothing_in_it(
    option: str, target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "requirements.txt").write_text("demo\n")
    try:
        (tmp_path / "here").symlink_to(target)
    except OSError:
        pytest.skip("this system makes no links")
    monkeypatch.chdir(tmp_path)
    assert main(["check", ".", option, "here", "--offline"]) == 2
    assert "here" in capsys.readouterr().err


@pytest.mark.skipif(os.name == "nt", reason="nobody takes away a folder that somebody is in")
@pytest.mark.parametrize("words", [["check"], ["check", "{}", "--offline"], ["undo"], ["host"], ["fix", "--yes"]])
def test_a_current_directory_that_is_gone_is_told(words: list[str], tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("")
    (tmp_path / "gone").mkdir()
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2] / "src")}
    command = [sys.executable, "-m", "envdoctor", *(word.format(tmp_path) for word in words)]
    leave = ["sh", "-c", 'rmdir "$PWD" && exec "$@"', "sh", *command]
    ended = subprocess.run(
        leave, cwd=tmp_path / "gone", env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert ended.returncode == 2
    assert (
        ended.stderr
        == "error: the current directory cannot be used: No such file or directory; go to another one first\n"
    )


NAMED = {
    "a link page": "--find-links {odd}\ndemo\n",
    "an index": "--index-url {odd}\ndemo\n",
    "a wheel": "demo @ file://{folder}/demo-1.0-py3-none-any.whl\n",
    "a source archive": "demo @ file://{folder}/demo-1.0.tar.gz\n",
}
"""What a project can name on this machine; who opens a pipe waits, and a device has no end."""


@pytest.mark.parametrize("verb", ["check", "lock"])
@pytest.mark.parametrize("odd", ["pipe", "/dev/zero"])
@pytest.mark.parametrize("name", NAMED)
def test_a_pipe_or_a_device_that_a_project_names_is_not_read(name: str, odd: str, verb: str, tmp_path: Path) -> None:
    place = tmp_path / "pipe"
    if odd == "pipe":
        if not hasattr(os, "mkfifo"):
            pytest.skip("this system has no named pipes")
        os.mkfifo(place)
    elif not Path(odd).exists():
        pytest.skip("this system has no such device")
    else:
        place.symlink_to(odd)
    for link in ("demo-1.0-py3-none-any.whl", "demo-1.0.tar.gz"):
        (tmp_path / link).symlink_to(place)
    project = tmp_path / "project"
    project.mkdir()
    (project / "requirements.txt").write_text(NAMED[name].format(odd=place, folder=tmp_path))
    assert _in_child([verb, str(project), "--index-url", "http://127.0.0.1:1/"], tmp_path) == 3


SETTINGS = ["PIP_CONFIG_FILE", "UV_CONFIG_FILE", "PIP_CERT", "PIP_CLIENT_CERT", "SSL_CERT_FILE", "SSL_CERT_DIR"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes are not there")
@pytest.mark.parametrize("variable", SETTINGS)
def test_a_pipe_in_the_place_of_a_setting_is_not_waited_for(variable: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "requirements.txt").write_text("demo\n")
    words = ["check", str(tmp_path), "--index-url", "https://127.0.0.1:1/"]
    assert _in_child(words, tmp_path, {variable: str(tmp_path / "pipe")}) == 3


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes are not there")
def test_a_pipe_among_the_installed_libraries_is_not_waited_for(tmp_path: Path) -> None:
    info = tmp_path / "site-packages" / "foo-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: foo\nVersion: 1.0\n")
    (info / "RECORD").write_text("foo.so,,\nlibfoo.so.1,,\n")
    for name in ("foo.so", "libfoo.so.1"):
        os.mkfifo(info.parent / name)
    assert _in_child(["check", "--env", str(info.parent), "--offline"], tmp_path) in (0, 1, 3)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes are not there")
@pytest.mark.parametrize("option", ["--log", "--facts", "--installed"])
def test_a_named_pipe_is_no_paste_and_one_of_the_shell_is(option: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert _in_child(["check", option, str(tmp_path / "pipe")], tmp_path) == 2
    reading, writing = os.pipe()
    os.write(writing, {"--installed": b"idna==3.4\n", "--facts": b'{"gpu.count": 1}', "--log": b"Killed\n"}[option])
    os.close(writing)
    command = [sys.executable, "-m", "envdoctor", "check", option, f"/dev/fd/{reading}"]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2] / "src")}
    ended = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=120, check=False, pass_fds=[reading]
    )
    os.close(reading)
    assert "named pipe" not in ended.stderr
    assert ended.returncode in (0, 1, 3)


def _in_child(words: list[str], folder: Path, variables: Mapping[str, str] = MappingProxyType({})) -> int:
    """Run a command, which may hang, in a process of its own."""
    source = Path(__file__).parents[2] / "src"
    environment = {**os.environ, "PYTHONPATH": str(source), "ENVDOCTOR_CACHE_DIR": str(folder / "cache"), **variables}
    command = [sys.executable, "-m", "envdoctor", *words]
    return subprocess.run(command, env=environment, capture_output=True, timeout=120, check=False).returncode
