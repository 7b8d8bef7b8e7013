"""The file that `--log` names: large ones from their end, in any encoding that a shell writes."""

from __future__ import annotations

from pathlib import Path

import pytest

from envdoctor.ports import UsageError
from envdoctor.verbs import pastes
from envdoctor.verbs.pastes import read_log_file

ERROR = "RuntimeError: Numpy is not available"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_a_log_is_read_in_the_encodings_that_shells_write(tmp_path: Path, encoding: str) -> None:
    log = tmp_path / "run.log"
    log.write_bytes(f"größer\n{ERROR}\n".encode(encoding))
    assert read_log_file(log) == f"größer\n{ERROR}\n"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("lines", [9, 10, 23, 100])
def test_of_a_large_log_the_end_is_read_and_lines_keep_their_numbers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, encoding: str, lines: int
) -> None:
    monkeypatch.setattr(pastes, "_LARGEST", 160)
    log = tmp_path / "run.log"
    mark = "" if encoding == "utf-8" else "\ufeff"
    log.write_bytes((mark + "step ok\n" * lines + f"{ERROR}\nend").encode(encoding))
    rows = read_log_file(log).split("\n")
    assert rows[lines:] == [ERROR, "end"]
    assert set(rows[:lines]) <= {"", "step ok", *("step ok"[at:] for at in range(8))}


@pytest.mark.parametrize("data", [b"\0\1\2", b"text\n" + b"\0" * 20])
def test_a_log_that_is_no_text_is_a_fault_of_usage(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "core").write_bytes(data)
    with pytest.raises(UsageError, match=r"--log: `.*core` is not a text file"):
        read_log_file(tmp_path / "core")


def test_a_folder_in_place_of_a_log_is_a_fault_of_usage(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"--log: cannot read `"):
        read_log_file(tmp_path)
