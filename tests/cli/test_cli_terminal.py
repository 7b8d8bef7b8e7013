"""Manners: streams that are closed or full, Ctrl-C, colours, encodings, narrow terminals, unwritable places."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import socket
import subprocess
import sys
from io import StringIO
from pathlib import Path

import pytest
import typer

from envdoctor.adapters.terminal import fitted
from envdoctor.adapters.written_files import write_together
from envdoctor.cli.main import main
from envdoctor.cli.verb_list import VERBS
from envdoctor.ports import UsageError, refused_path
from song_maker import EXAMPLE, ON_ITS_INDEX

PROGRAM = [sys.executable, "-m", "envdoctor"]
CHECK = [
    "check",
    str(EXAMPLE),
    *ON_ITS_INDEX,
]
SPEAKING = [["--help"], ["check", "--help"], ["rule"], ["profiles", "list"], ["compare", "A", "A"], CHECK]
posix = pytest.mark.skipif(os.name == "nt", reason="Windows has no POSIX shell")
full = pytest.mark.skipif(
    os.name == "nt" or not Path("/dev/full").exists(), reason="Windows has neither /dev/full nor a POSIX shell"
)


def shell(command: str, *arguments: str, cwd: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run envdoctor as ``"$@"`` of a shell command."""
    return subprocess.run(
        ["sh", "-c", command, "sh", *PROGRAM, *arguments],
        env={**os.environ, **variables}, cwd=cwd, capture_output=True, text=True, encoding="utf-8", check=False,
    )  # fmt: skip


@pytest.fixture
def listings(tmp_path: Path) -> Path:
    (tmp_path / "A").write_text("torch==2.4.1\n", encoding="utf-8")
    return tmp_path


@pytest.fixture
def example_copy(tmp_path: Path) -> Path:
    return Path(shutil.copytree(EXAMPLE, tmp_path / "ä 中" / "song-maker"))


@posix
@pytest.mark.parametrize("arguments", SPEAKING, ids=lambda words: words[0] + words[-1][-8:])
def test_an_output_that_is_closed_is_one_message(listings: Path, arguments: list[str]) -> None:
    done = shell('"$@" >&-', *arguments, cwd=listings)
    assert done.returncode == 2
    assert done.stderr.startswith("error: cannot write to standard output: it is closed")
    assert done.stderr.count("\n") == 1


@full
@pytest.mark.parametrize("arguments", SPEAKING, ids=lambda words: words[0] + words[-1][-8:])
def test_an_output_that_is_full_is_one_message(listings: Path, arguments: list[str]) -> None:
    done = shell('"$@" >/dev/full', *arguments, cwd=listings)
    assert (done.returncode, done.stderr) == (2, "error: cannot write to standard output: No space left on device\n")


@posix
@pytest.mark.parametrize("arguments", [["--help"], ["rule"], CHECK, [*CHECK, "--format", "json"]])
def test_a_reader_that_has_seen_enough_is_no_fault(tmp_path: Path, arguments: list[str]) -> None:
    done = shell('"$@" | head -1', *arguments, cwd=tmp_path)
    assert done.stdout.count("\n") == 1
    assert done.stderr == ""


@posix
def test_ctrl_c_is_answered_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("torch\n", encoding="utf-8")
    with socket.create_server(("127.0.0.1", 0)) as silent:
        index = f"http://127.0.0.1:{silent.getsockname()[1]}/simple/"
        process = subprocess.Popen(
            [*PROGRAM, "check", str(tmp_path), "--index-url", index, "--cache-dir", str(tmp_path / "cache")],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            # Tests that run in the background of a shell ignore the signal, and so would their children.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )  # fmt: skip
        asked, _ = silent.accept()  # It waits for an answer now, which never comes.
        with asked:
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=20)
    assert (process.returncode, out, err) == (130, "", "interrupted; nothing half-done is left behind\n")


@pytest.mark.parametrize(
    ("variables", "coloured"),
    [
        ({}, False),
        ({"FORCE_COLOR": "1"}, True),
        ({"FORCE_COLOR": "0"}, False),
        ({"FORCE_COLOR": ""}, False),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        ({"FORCE_COLOR": "1", "NO_COLOR": ""}, True),
    ],
)
def test_colours_are_for_terminals_and_for_those_who_ask(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], coloured: bool
) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    main(CHECK)
    assert ("\x1b[" in capsys.readouterr().out) is coloured


@pytest.mark.parametrize(("typed", "coloured"), [("always", True), ("never", False), ("auto", False)])
def test_what_is_typed_outweighs_the_variables_for_colours(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, typed: str, coloured: bool
) -> None:
    monkeypatch.setenv("NO_COLOR" if coloured else "FORCE_COLOR", "1")
    if typed == "auto":
        monkeypatch.setenv("NO_COLOR", "1")
    main([*CHECK, "--color", typed])
    assert ("\x1b[" in capsys.readouterr().out) is coloured


@pytest.mark.parametrize(("forced", "linked"), [("1", True), ("0", False), ("", False)])
def test_links_are_for_terminals_that_take_them(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, forced: str, linked: bool
) -> None:
    monkeypatch.setenv("FORCE_HYPERLINK", forced)
    main([*CHECK, "--color", "always"])
    out = capsys.readouterr().out
    assert ("\x1b]8;" in out) is linked
    assert (f"{(EXAMPLE / 'requirements.txt').as_uri()}" in out) is linked


def test_places_lead_there_from_where_one_stands(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for folder, shown in ((EXAMPLE.parent, "song-maker/requirements.txt:2"), (EXAMPLE, "requirements.txt:2")):
        monkeypatch.chdir(folder)
        project = ["check", str(EXAMPLE.relative_to(folder)), *CHECK[2:]]
        main(project)
        assert f"    torch==2.7      {shown}\n" in capsys.readouterr().out
    for place, typed in ((tmp_path, EXAMPLE), (EXAMPLE / "recorded-index", Path(".."))):
        monkeypatch.chdir(place)
        main(["check", str(typed), *CHECK[2:]])
        assert f"    torch==2.7      {typed.as_posix()}/requirements.txt:2\n" in capsys.readouterr().out


@pytest.mark.parametrize("form", ["json", "sarif", "junit", "github", "markdown", "html"])
def test_formats_for_machines_are_never_coloured(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("FORCE_COLOR", "1")
    main([*CHECK, "--format", form])
    assert "\x1b" not in capsys.readouterr().out


def test_forty_columns_are_enough(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    main(CHECK)
    lines = capsys.readouterr().out.splitlines()
    assert max(len(line) for line in lines if not line.lstrip().startswith(("next: ", "as a diff: "))) <= 40


@posix
@pytest.mark.parametrize("variables", [{"PYTHONIOENCODING": "ascii"}, {"LC_ALL": "C", "PYTHONUTF8": "0"}])
def test_a_terminal_without_unicode_gets_ascii(tmp_path: Path, variables: dict[str, str]) -> None:
    done = shell('PYTHONCOERCECLOCALE=0 "$@"', *CHECK, cwd=tmp_path, **variables)
    assert done.returncode == 1
    assert done.stdout.isascii()
    assert "Traceback" not in done.stderr


# A pipe on Windows has the letters of one code page, and there the second of these ways with others.
@pytest.mark.parametrize("encoding", ["cp1252", "cp1252:surrogateescape"])
def test_letters_that_the_output_lacks_are_shown_by_their_number(tmp_path: Path, encoding: str) -> None:
    (tmp_path / "中.toml").write_bytes((Path(__file__).parents[2] / "profiles/xtts-zluda.toml").read_bytes())
    done = subprocess.run(
        [*PROGRAM, "profiles", "validate", "中.toml"], env={**os.environ, "PYTHONIOENCODING": encoding}, cwd=tmp_path,
        capture_output=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout.split(), done.stderr) == (0, [b"\\u4e2d.toml:", b"valid"], b"")


@pytest.mark.skipif(os.name != "nt", reason="needs paths that Windows takes as they are")
def test_a_path_that_windows_takes_as_it_is_is_a_project(
    capsys: pytest.CaptureFixture[str], example_copy: Path
) -> None:
    assert main(["check", f"\\\\?\\{example_copy}", *CHECK[2:], "--quiet"]) == 1
    assert "requirements.txt" in capsys.readouterr().out


@pytest.mark.parametrize("place", ["no-such-folder/report.json", ".", "file/report.json"])
def test_a_report_that_cannot_be_written_is_one_message(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").touch()
    assert main([*CHECK, "--output", place]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith(f"error: cannot write `{Path(place)}`: ")


def test_files_that_belong_together_are_all_written_or_none(tmp_path: Path) -> None:
    (tmp_path / "lock").write_text("old", encoding="utf-8")
    (tmp_path / "constraints").mkdir()
    with pytest.raises(UsageError, match="it is a directory"):
        write_together({tmp_path / "lock": "new", tmp_path / "constraints": "new", tmp_path / "overrides": "new"})
    assert (tmp_path / "lock").read_text(encoding="utf-8") == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["constraints", "lock"]


def test_what_a_killed_run_left_half_written_goes_with_the_next_one(tmp_path: Path) -> None:
    names = ("00c0ffee", "0badcafe", "notes")
    left, of_another, of_people = (tmp_path / f".envdoctor-{name}.partial" for name in names)
    for path in (left, of_another, of_people):
        path.write_text("half", encoding="utf-8")
    for path in (left, of_people):
        os.utime(path, (1, 1))
    write_together({tmp_path / "lock": "new"})
    assert sorted(path.name for path in tmp_path.iterdir()) == [of_another.name, of_people.name, "lock"]


def test_many_options_stand_below_titles_and_few_below_none(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--help"]) == 0
    page = capsys.readouterr().out
    titles = [line for line in page.splitlines() if line.endswith(":") and not line.startswith((" ", "Usage"))]
    wanted = ["Arguments:", "Options:", "Target:", "Environment:", "Requirements:", "Index:", "Report:"]
    assert titles == wanted
    assert page.index("Index:") < page.index("--offline") < page.index("Report:") < page.index("--color")
    from envdoctor.cli.check_command import app

    options = [name for item in typer.main.get_command(app).params for name in item.opts if name.startswith("--")]
    assert all(page.count(f" {name} ") or f" {name}\n" in page for name in options)
    assert main(["rule", "--help"]) == 0
    assert "Report:" not in capsys.readouterr().out


@pytest.mark.parametrize("words", [[], *([verb] for verb in VERBS), *(["profiles", name] for name in ("list", "show"))])
def test_every_page_of_help_has_an_example_that_breaks_at_no_hyphen(
    capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    assert main([*words, "--help"]) == 0
    page = capsys.readouterr().out
    _, found, examples = page.rpartition("\n  Example")
    assert found
    assert not [line for line in examples.splitlines() if line.endswith("-")]


@pytest.mark.parametrize("width", ["60", "80"])
def test_a_group_says_of_its_commands_the_whole_sentence(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, width: str
) -> None:
    monkeypatch.setenv("COLUMNS", width)
    assert main(["profiles", "--help"]) == 0
    page = capsys.readouterr().out
    assert "..." not in page.partition("Commands:")[2]
    assert "exit 2 where there is one." in " ".join(page.split())
    assert max(map(len, page.splitlines())) <= int(width)


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


def test_what_is_said_on_a_terminal_is_cut_between_words_and_elsewhere_not_at_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    text = "note: taking the project above, `/srv/app-with-a-name`: it is one\n  1. step\n"
    assert fitted(text, StringIO()) == text
    assert fitted(text, Terminal()).splitlines() == [
        "note: taking the project above,",
        "  `/srv/app-with-a-name`: it is one",
        "  1. step",
    ]


def test_a_python_that_nobody_can_judge_for_is_refused_before_anything_is_read(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert main(["check", str(tmp_path / "nowhere"), "--target-python", "4.0"]) == 2
    assert "--target-python: `4.0` is not a CPython from 3.8 to 3.15" in capsys.readouterr().err


def _break(arguments: list[str]) -> list[str]:
    raise ZeroDivisionError("a\nb")


@pytest.mark.parametrize("number", [errno.EIO, errno.ENAMETOOLONG, errno.ETIMEDOUT])
def test_a_file_that_the_system_cannot_get_at_is_no_fault_of_ours(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "requirements.txt").write_text("idna\n")

    def resolve(path: Path, *, strict: bool = False) -> Path:
        if path.name == "requirements.txt":
            raise OSError(number, "no answer", str(path))
        return path

    monkeypatch.setattr(Path, "resolve", resolve)
    assert main(["check", str(tmp_path), "--offline"]) == 2
    said = capsys.readouterr()
    assert (said.out, said.err) == ("", f"error: `{tmp_path / 'requirements.txt'}` cannot be used: no answer\n")


def test_a_path_that_is_too_long_for_windows_is_told_how_it_can_be_taken() -> None:
    short, long = (OSError(errno.ENAMETOOLONG, "too long", "C:\\" + "a" * length) for length in (9, 270))
    assert "LongPathsEnabled" in str(refused_path(long, windows=True))
    assert "LongPathsEnabled" not in f"{refused_path(long, windows=False)}{refused_path(short, windows=True)}"
    assert refused_path(OSError(errno.ENOENT, "not there", "a")) is None


def test_a_fault_of_our_own_is_one_message_and_a_code_of_its_own(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("envdoctor.cli.main._arguments", _break)
    monkeypatch.delenv("ENVDOCTOR_TRACEBACK", raising=False)
    assert main(["host"]) == 4
    said = capsys.readouterr()
    assert said.out == ""
    assert "this is a fault of envdoctor" in said.err
    assert "ZeroDivisionError in envdoctor.cli.main._run: a b" in said.err
    assert "ENVDOCTOR_TRACEBACK=1" in said.err
    assert "Traceback" not in said.err


def test_the_traceback_is_shown_where_it_is_asked_for(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("envdoctor.cli.main._arguments", _break)
    monkeypatch.setenv("ENVDOCTOR_TRACEBACK", "1")
    assert main(["host"]) == 4
    assert "Traceback (most recent call last)" in capsys.readouterr().err


@pytest.mark.parametrize("module", ["typer", "httpx", "packaging", "dataclasses", "json"])
def test_a_module_in_the_current_folder_is_not_run(tmp_path: Path, module: str) -> None:
    (tmp_path / f"{module}.py").write_text("raise SystemExit('the stranger was run')\n")
    (tmp_path / "requirements.txt").write_text("")
    done = subprocess.run(
        [sys.executable, "-m", "envdoctor", "check", ".", "--offline"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "stranger" not in done.stdout + done.stderr
    assert "requirements.txt" in done.stdout
