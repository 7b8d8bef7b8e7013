"""`check --env --verify`: contents of installed files against the hashes that were recorded for them."""

from __future__ import annotations

import base64
import hashlib
import json
import os
from pathlib import Path

import pytest

from envdoctor.cli.main import main

TEXT = "x = 1\n"


def install(
    site: Path, name: str = "foo", *, installer: str = "pip", algorithm: str = "sha256", hashed: bool = True
) -> None:
    info = site / f"{name}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "INSTALLER").write_text(f"{installer}\n")
    (site / name / "data").mkdir(parents=True)
    rows = []
    for path, text in {f"{name}/__init__.py": TEXT, f"{name}/core.py": TEXT * 9, f"{name}/data/a,b.txt": TEXT}.items():
        (site / path).write_bytes(text.encode())
        digest = base64.urlsafe_b64encode(hashlib.new(algorithm, text.encode()).digest()).decode().rstrip("=")
        quoted = f'"{path}"' if "," in path else path
        rows.append(f"{quoted},{f'{algorithm}={digest}' if hashed else ''},{len(text)}\n")
    (info / "RECORD").write_text("".join(rows) + f"{info.name}/RECORD,,\n")


def verify(site: Path, capsys: pytest.CaptureFixture[str], *more: str) -> tuple[int, list[dict[str, object]], str]:
    code = main(["check", "--env", str(site), "--offline", "--format", "json", *(more or ("--verify",))])
    said = capsys.readouterr()
    return code, [item for item in json.loads(said.out)["findings"] if item["rule"] == "ENV006"], said.err


@pytest.mark.parametrize("algorithm", ["sha256", "sha384", "sha512"])
def test_a_change_that_keeps_the_size_is_found(
    tmp_path: Path, algorithm: str, capsys: pytest.CaptureFixture[str]
) -> None:
    install(tmp_path, algorithm=algorithm)
    assert verify(tmp_path, capsys)[1] == []
    (tmp_path / "foo/core.py").write_bytes(f"{TEXT * 8}x = 2\n".encode())
    (tmp_path / "foo/data/a,b.txt").write_bytes(b"y = 1\n")
    assert verify(tmp_path, capsys, "--no-imports")[1] == []
    _, (finding,), said = verify(tmp_path, capsys)
    assert (finding["severity"], finding["subject"]) == ("warning", "foo")
    assert "2 changed" in str(finding["message"])
    assert "foo/core.py: another" in str(finding["evidence"])
    assert "compared the contents of 3 installed files" in said


def test_a_file_is_told_once_whatever_is_wrong_with_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    install(tmp_path)
    (tmp_path / "foo/__init__.py").unlink()
    (tmp_path / "foo/core.py").write_text("longer than recorded\n" * 9)
    code, (finding,), _ = verify(tmp_path, capsys)
    assert code == 1
    assert str(finding["message"]).endswith("1 missing and 1 changed")


@pytest.mark.parametrize("installer", ["conda", "debian", "rpm"])
def test_who_changes_files_after_they_were_recorded_is_passed_over_and_named(
    tmp_path: Path, installer: str, capsys: pytest.CaptureFixture[str]
) -> None:
    install(tmp_path, installer=installer)
    (tmp_path / "foo/core.py").write_bytes(f"{TEXT * 8}x = 2\n".encode())
    _, found, said = verify(tmp_path, capsys)
    assert found == []
    assert "no hashes that hold are recorded for foo" in said


def test_hashes_that_nobody_can_compare_are_no_alarm(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    install(tmp_path, hashed=False)
    record = tmp_path / "foo-1.0.dist-info/RECORD"
    record.write_text(record.read_text() + "foo/core.py,sha256=short,\nfoo/__init__.py,crc32=AAAA,\nfoo/x.py,,\n")
    (tmp_path / "foo/x.py").write_text("")
    _, found, said = verify(tmp_path, capsys)
    assert found == []
    assert "compared the contents of 0 installed files" in said


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has no mkfifo")
def test_what_is_no_file_keeps_nobody_waiting(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    install(tmp_path)
    (tmp_path / "foo/core.py").unlink()
    os.mkfifo(tmp_path / "foo/core.py")
    assert verify(tmp_path, capsys)[1] == []


def test_a_file_that_may_not_be_read_is_said_to_be_not_compared(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path)
    opened = os.open

    def refuse(path: str, *more: int) -> int:
        if Path(path).as_posix().endswith("foo/core.py"):
            raise PermissionError(13, "Permission denied", path)
        return opened(path, *more)

    monkeypatch.setattr(os, "open", refuse)
    _, (finding,), _ = verify(tmp_path, capsys)
    assert finding["severity"] == "warning"
    assert "1 file of `foo` could not be read" in str(finding["message"])
    assert "Permission denied" in str(finding["evidence"])


def test_without_an_environment_there_is_nothing_to_verify(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(tmp_path), "--verify"]) == 2
    assert "`--env` or `--python`" in capsys.readouterr().err


def test_a_module_of_nuls_is_damaged_and_no_edit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    install(tmp_path)
    (tmp_path / "foo/core.py").write_bytes(bytes(len(TEXT) * 9))
    code, (finding,), _ = verify(tmp_path, capsys)
    assert (code, finding["severity"]) == (1, "error")
    assert "damaged: foo/core.py: filled with NULs" in str(finding["evidence"])
