"""A further index that gives no answer: what only it may have is not known, and no conflict."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from index_server import IndexServer

from envdoctor.cli.main import main

CLOSED = "http://127.0.0.1:9/simple"


def serve(server: IndexServer, name: str, version: str, *requires: str) -> None:
    server.page(name, [server.wheel(f"{name}-{version}-py3-none-any.whl", *requires)])


def check(
    server: IndexServer, folder: Path, capsys: pytest.CaptureFixture[str], *lines: str
) -> tuple[int, dict[str, object]]:
    (folder / "requirements.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    index = ["--index-url", server.url, "--cache-dir", str(folder / "cache")]
    code = main(["check", str(folder), *index, "--target-os", "linux", "--target-python", "3.11", "--format", "json"])
    return code, json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(
    "line", ["pkg==9", "pkg>=9", "pkg==9+corp", "pkg==9+cu128", "needs"], ids=lambda text: str(text)
)
def test_a_version_that_only_it_may_have_is_not_known(
    line: str, server: IndexServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    serve(server, "pkg", "1.0")
    serve(server, "needs", "1.0", "pkg==9")
    code, report = check(server, tmp_path, capsys, f"--extra-index-url {CLOSED}", line)
    assert (code, report["verdict"], report["conflicts"], report["repairs"]) == (3, "unknown", [], [])
    findings = report["findings"]
    assert isinstance(findings, list)
    assert any(one["rule"] == "RES107" and "pkg" in one["message"] for one in findings)


def test_what_the_indexes_that_were_read_show_remains_a_conflict(
    server: IndexServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    serve(server, "pkg", "1.0")
    serve(server, "needs", "1.0", "other>=2")
    server.page("other", [server.wheel(f"other-{v}-py3-none-any.whl") for v in ("1.0", "2.0")])
    lines = (f"--extra-index-url {CLOSED}", "pkg==9", "needs", "other<2")
    code, report = check(server, tmp_path, capsys, *lines)
    conflicts = report["conflicts"]
    assert isinstance(conflicts, list)
    assert (code, len(conflicts)) == (1, 1)
    assert "pkg" not in json.dumps(conflicts)


def test_without_a_further_index_it_is_a_conflict(
    server: IndexServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    serve(server, "pkg", "1.0")
    assert check(server, tmp_path, capsys, "pkg==9")[0] == 1


BOUND = """
schema = 1
[profile]
name = "bound"
summary = "torch from an index that gives no answer"
[target]
os = "linux"
arch = "x86_64"
python = "==3.11.*"
backend = "cuda"
[[index]]
name = "closed"
url = "http://127.0.0.1:9/whl/cu118"
packages = ["torch"]
local-label = "cu118"
"""


@pytest.mark.parametrize(("asked", "code"), [("torch>=2.8", 1), ("torch>=9", 3)])
def test_what_a_label_is_known_not_to_have_is_no_reason_to_know_nothing_of_the_rest(
    asked: str, code: int, server: IndexServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server.page("torch", [server.wheel(f"torch-{v}-cp311-cp311-manylinux_2_28_x86_64.whl") for v in ("2.1.1", "2.8.0")])
    serve(server, "needs", "1.0", asked)
    (profile := tmp_path / "bound.toml").write_text(BOUND, encoding="utf-8")
    (tmp_path / "requirements.txt").write_text("torch==2.1.1\nneeds\n", encoding="utf-8")
    options = ["--profile", str(profile), "--index-url", server.url, "--cache-dir", str(tmp_path / "cache")]
    assert main(["check", str(tmp_path), *options, "--format", "json"]) == code
    report = json.loads(capsys.readouterr().out)
    assert len(report["conflicts"]) == (1 if code == 1 else 0)
