"""A journal that is not what was written: nothing is done by it, and nothing is lost."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable, Iterator
from datetime import datetime, timezone, tzinfo
from pathlib import Path
from typing import Any

import pytest
from apply_archives import Served, as_index, serve
from apply_commands import STACK, Fix
from apply_world import tree_state

from envdoctor.adapters.apply import holding, journal, restore
from envdoctor.adapters.apply.journal import Journal, list_journals, read_journal
from envdoctor.cli.main import main
from envdoctor.cli.streams import StreamError
from envdoctor.ports import UsageError

pytestmark = pytest.mark.usefixtures("quiet_machine")
Damage = Callable[[list[bytes]], list[bytes]]


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    with serve(as_index(*STACK)) as it:
        yield it


def _nul(number: int) -> Damage:
    return lambda lines: [b"\0" * (len(line) - 1) + b"\n" if at == number else line for at, line in enumerate(lines)]


def _other_letter(lines: list[bytes]) -> list[bytes]:
    return [lines[0], lines[1].replace(b'"event":"', b'"event":"x', 1), *lines[2:]]


DAMAGES: dict[str, Damage] = {
    "first line of NULs": _nul(0),
    "first line of NULs, its end too": lambda lines: [b"\0" * len(lines[0]), *lines[1:]],
    "middle line of NULs": _nul(2),
    "one letter of a line": _other_letter,
    "a line is missing": lambda lines: [lines[0], *lines[2:]],
    "two lines have changed places": lambda lines: [lines[0], lines[2], lines[1], *lines[3:]],
    "a line without a sum": lambda lines: [*lines, json.dumps({"event": "undo-end"}).encode() + b"\n"],
    "no line is left": lambda lines: lines[:0],
    "text of somebody else": lambda lines: [b"hello\n", *lines],
}


@pytest.mark.parametrize("verb", ["undo", "fix", "dry-run"])
@pytest.mark.parametrize("damage", DAMAGES)
def test_by_a_damaged_journal_nothing_is_changed(
    fix: Fix, project: Path, damage: str, verb: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert fix("--yes") == 0
    environment = project / ".venv"
    (events,) = (environment / ".envdoctor/journal").glob("*/events.jsonl")
    events.write_bytes(b"".join(DAMAGES[damage](events.read_bytes().splitlines(keepends=True))))
    before = (tree_state(environment), (project / "app.py").read_text())
    capsys.readouterr()
    arguments = {"fix": ["--yes"], "dry-run": ["--dry-run"]}.get(verb)
    code = fix(*arguments) if arguments else main(["undo", "--env", str(environment)])
    said = capsys.readouterr().err
    assert code == (1 if verb == "undo" else 2)
    assert f"the journal of the fix `{events.parent.name}` is damaged" in said
    assert str(events.parent / "backups") in said
    assert (tree_state(environment), (project / "app.py").read_text()) == before
    assert main(["undo", "--env", str(environment), "--list"]) == 0
    assert "its journal is damaged" in capsys.readouterr().out


def test_what_a_cut_has_left_of_the_last_line_is_not_damage(fix: Fix, project: Path) -> None:
    before = (project / "app.py").read_text()
    assert fix("--yes") == 0
    environment = project / ".venv"
    (events,) = (environment / ".envdoctor/journal").glob("*/events.jsonl")
    lines = events.read_bytes().splitlines(keepends=True)
    assert json.loads(lines[-1])["event"] == "end"
    events.write_bytes(b"".join(lines[:-1]) + lines[-1][:7])
    assert main(["undo", "--env", str(environment)]) == 0
    assert (project / "app.py").read_text() == before
    assert not environment.exists()


def test_a_line_after_a_cut_one_begins_a_line_of_its_own(tmp_path: Path) -> None:
    journal = Journal.create(tmp_path, {"created": False})
    journal.close()
    with (journal.folder / "events.jsonl").open("ab") as file:
        file.write(b'{"event":"file-be')
    again = Journal(journal.folder)
    again.write("undo-begin")
    again.close()
    record = read_journal(journal.folder)
    assert ([event["event"] for event in record.events], record.damage) == (["begin", "undo-begin"], "")


def test_a_journal_of_before_the_sums_is_read(tmp_path: Path) -> None:
    lines = [{"event": "begin", "time": "2026-01-01"}, {"event": "end"}]
    (tmp_path / "events.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert read_journal(tmp_path).state == "done"


def test_a_journal_that_may_not_be_read_is_damaged_and_not_empty(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path) -> bytes:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "read_bytes", refuse)
    assert read_journal(tmp_path).state == "damaged"
    assert "Permission denied" in read_journal(tmp_path).damage


def test_ctrl_c_after_the_last_step_says_that_the_fix_is_in_force(
    fix: Fix, project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def stop(*_arguments: object, **_options: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr("envdoctor.cli.fix_command._report", stop)
    assert fix("--yes") == 130
    last = capsys.readouterr().err.splitlines()[-1]
    environment = project / ".venv"
    assert last == (
        f"interrupted; the fix of `{environment}` is in force all the same; "
        f"`envdoctor undo --env {environment}` takes it back"
    )
    assert main(["undo", "--env", str(environment)]) == 0
    assert not environment.exists()


@pytest.mark.parametrize(
    ("error", "code", "first"),
    [
        (ZeroDivisionError(), 4, "error: this is a fault of envdoctor"),
        (UsageError("no room"), 2, "error: no room"),
        (StreamError("no space left"), 2, "error: "),
    ],
    ids=["our own", "a place to write", "standard output"],
)
def test_an_error_after_the_last_step_says_what_takes_the_fix_back(
    fix: Fix, project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
    error: Exception, code: int, first: str,
) -> None:  # fmt: skip
    def fail(*_arguments: object, **_options: object) -> int:
        raise error

    monkeypatch.setattr("envdoctor.cli.fix_command._report", fail)
    monkeypatch.setenv("ENVDOCTOR_TRACEBACK", "1")
    assert fix("--yes") == code
    said = capsys.readouterr().err
    environment = project / ".venv"
    left = f"the fix of `{environment}` is in force all the same; `envdoctor undo --env {environment}` takes it back\n"
    assert said.count(left) == 1
    assert first in said.partition(left)[0]
    assert main(["undo", "--env", str(environment)]) == 0
    assert not environment.exists()


@pytest.mark.parametrize("putting_back_fails", [False, True])
@pytest.mark.parametrize("kind", [ZeroDivisionError, KeyboardInterrupt])
def test_what_ends_a_fix_halfway_says_what_takes_it_back_where_something_is_left(
    fix: Fix, project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
    kind: type[BaseException], *, putting_back_fails: bool,
) -> None:  # fmt: skip
    def fail(*_: object) -> None:
        raise kind

    environment = project / ".venv"
    with monkeypatch.context() as patch:
        patch.setattr("envdoctor.adapters.apply.executor._Treatment.finish", fail)
        if putting_back_fails:
            patch.setattr("envdoctor.adapters.apply.executor.roll_back", fail)
        assert fix("--yes") == (4 if kind is ZeroDivisionError else 130)
    said = capsys.readouterr().err
    left = f"the fix of `{environment}` was cut short; `envdoctor undo --env {environment}` puts it back as it was\n"
    assert (left in said, "nothing half-done" in said) == (
        putting_back_fails, kind is KeyboardInterrupt and not putting_back_fails
    )  # fmt: skip
    assert environment.exists() is putting_back_fails
    assert main(["undo", "--env", str(environment)]) == (0 if putting_back_fails else 2)
    assert not environment.exists()


@pytest.fixture
def ctrl_c() -> Iterator[None]:
    """Answer Ctrl-C as Python does: where the tests run in the background of a shell, they are told to ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_while_the_environment_is_given_back_is_answered_too(
    fix: Fix, project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    leave = holding._leave_no_trace

    def interrupted(environment: Path) -> None:
        signal.raise_signal(signal.SIGINT)
        leave(environment)

    monkeypatch.setattr(holding, "_leave_no_trace", interrupted)
    assert fix("--yes") == 130
    environment = project / ".venv"
    assert f"the fix of `{environment}` is in force all the same" in capsys.readouterr().err.splitlines()[-1]
    assert read_journal(list_journals(environment)[0].folder).state == "done"


@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_while_a_cut_short_fix_is_taken_back_begins_nothing_after_it(
    fix: Fix, project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def cut(*_: object) -> None:
        raise SystemExit(9)

    environment = project / ".venv"
    with monkeypatch.context() as patch:
        patch.setattr("envdoctor.adapters.apply.executor.roll_back", cut)
        patch.setattr("envdoctor.adapters.apply.executor._Treatment.finish", cut)
        with pytest.raises(SystemExit):
            fix("--yes")
    assert list_journals(environment)[0].state == "open"
    back = restore._roll_back

    def interrupted(*given: Any) -> Any:
        signal.raise_signal(signal.SIGINT)
        return back(*given)

    monkeypatch.setattr(restore, "_roll_back", interrupted)
    assert fix("--yes") == 130
    assert not environment.exists()
    assert "in force" not in capsys.readouterr().err


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_in_the_place_of_a_journal_is_damage(tmp_path: Path) -> None:
    """Nobody writes to it, and reading it would never end."""
    os.mkfifo(tmp_path / "events.jsonl")
    assert read_journal(tmp_path).damage == f"`{tmp_path / 'events.jsonl'}` is no file"


def test_the_last_fix_is_the_one_made_last_though_the_clock_was_set_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [datetime(2100, 1, 1, tzinfo=timezone.utc), datetime(1970, 1, 2, tzinfo=timezone.utc)]
    clock += [datetime(2026, 1, 1, tzinfo=timezone.utc), datetime(2101, 1, 1, tzinfo=timezone.utc)]
    moments = iter(clock)

    class Clock(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> datetime:
            return cls.fromtimestamp(next(moments).timestamp(), tz)

    monkeypatch.setattr(journal, "datetime", Clock)
    (tmp_path / ".envdoctor/journal/2026-notes").mkdir(parents=True)
    made = []
    for _ in clock:
        one = Journal.create(tmp_path, {"profile": "p"})
        one.close()
        made.append(one.id)
    assert [record.id for record in list_journals(tmp_path) if record.id in made] == made
    assert [record.begin["time"][:4] for record in list_journals(tmp_path) if record.id in made] == [
        str(moment.year) for moment in clock
    ]
