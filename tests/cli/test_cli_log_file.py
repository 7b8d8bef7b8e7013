"""The file that `--log` names: large ones from their end, in any encoding that a shell writes."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from envdoctor.cli.main import main
from envdoctor.ports import UsageError
from envdoctor.verbs import pastes
from envdoctor.verbs.pastes import option_of_paste, read_log_file

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


@pytest.mark.parametrize("text", ["", "\n \n", "\ufeff"])
def test_a_log_without_a_word_is_judged_by_nobody(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    (tmp_path / "run.log").write_text(text, encoding="utf-8")
    assert main(["check", "--log", str(tmp_path / "run.log")]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.endswith("run.log` is empty\n")


@pytest.mark.parametrize(
    ("name", "text", "option"),
    [
        ("run.log", "Collecting torch==2.7.0\n", "--log"),
        ("said.txt", f"Traceback (most recent call last):\n  File 'a.py', line 1\n{ERROR}\n", "--log"),
        ("list.txt", "Package Version\n------- -------\ntorch   2.7.0\n", "--installed"),
    ],
)
def test_a_paste_in_the_place_of_a_project_is_named_with_its_option(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, text: str, option: str
) -> None:
    path = tmp_path / "with space" / name
    path.parent.mkdir()
    path.write_text(text, encoding="utf-8")
    assert main(["check", str(path), "--offline"]) == 2
    command = capsys.readouterr().err.split("use `")[1].rstrip("`\n")
    assert shlex.split(command) == ["envdoctor", "check", option, str(path)]
    main([*shlex.split(command)[1:], "--offline"])
    assert not capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("deps.txt", "torch==2.7.0\nnumpy==1.26.0\n"),
        ("deps.txt", f"# without it: {ERROR}\n# Traceback (most recent call last):\nnumpy<2\n"),
        ("deps", "torch>=2; python_version > '3'\n--index-url https://index.example\n"),
        ("my-requirements.txt", "torch 2.7.0\n"),
        ("empty.txt", ""),
    ],
)
def test_a_list_of_requirements_is_no_paste(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    assert option_of_paste(tmp_path / name) is None


UV_END = """\
Resolved 18 packages in 15.61s
Installed 4 packages in 276ms
 + numpy==2.4.6
 + torch==2.10.0+rocm7.14.0a20260520
 + torchaudio=={audio}+rocm7.14.0a20260520
 + torchvision=={vision}+rocm7.14.0a20260520
"""
PIP_END = "Successfully installed numpy-2.4.6 torch-2.10.0 torchaudio-{audio} torchvision-{vision}\n"


@pytest.mark.parametrize("log", [UV_END, PIP_END])
@pytest.mark.parametrize(
    ("audio", "vision", "told"),
    [("2.11.0", "0.27.0", ["torchaudio", "torchvision"]), ("2.10.0", "0.25.0", [])],
)
def test_what_an_install_that_went_well_has_put_in_is_judged(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], log: str, audio: str, vision: str, told: list[str]
) -> None:
    # ROCm/TheRock#5374: what the installer took is no pair, and its log has no failure.
    (tmp_path / "run.log").write_text(log.format(audio=audio, vision=vision), encoding="utf-8")
    assert main(["check", "--log", str(tmp_path / "run.log"), "--format", "json"]) == (1 if told else 0)
    findings = json.loads(capsys.readouterr().out)["findings"]
    assert [item["subject"] for item in findings if item["severity"] == "error"] == told


def test_what_could_be_better_after_an_install_that_went_well_is_not_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    put_in = "descript-audiotools-0.7.2 numpy-1.26.4 protobuf-3.19.6 torch-2.4.1 torchaudio-2.4.1"
    (tmp_path / "run.log").write_text(f"Successfully installed {put_in}\n", encoding="utf-8")
    assert main(["check", "--offline", "--log", str(tmp_path / "run.log"), "--format", "json"]) == 0
    assert [item for item in json.loads(capsys.readouterr().out)["findings"] if item["severity"] != "info"] == []
