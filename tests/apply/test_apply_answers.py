"""`run --answers`: whether a program that was started answers at its address, and that nothing of it is left."""

from __future__ import annotations

import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from envdoctor.adapters.apply.answering import status_at
from envdoctor.cli.main import main

SERVER = """
import http.server, os, subprocess, sys, time
class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(int(os.environ.get("STATUS", "200")))
        self.end_headers()
if sys.argv[2:] == ["child"]:
    raise SystemExit(subprocess.run([sys.executable, __file__, sys.argv[1]]).returncode)
time.sleep(0.5)
http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Page).serve_forever()
"""


@pytest.fixture
def environment(tmp_path: Path) -> Path:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "env")], check=True)
    (tmp_path / "serve.py").write_text(SERVER, encoding="utf-8")
    return tmp_path / "env"


@pytest.fixture
def port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def try_start(environment: Path, port: int, *arguments: str, limit: str = "60") -> int:
    url = f"http://127.0.0.1:{port}/"
    return main(["run", "--env", str(environment), "--answers", url, "--time-limit", limit, "--", "python", *arguments])


@pytest.mark.parametrize("more", [[], ["child"]])
def test_a_program_that_answers_is_well_and_ended_with_what_it_started(
    environment: Path, port: int, more: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    assert try_start(environment, port, str(environment.parent / "serve.py"), str(port), *more) == 0
    assert f"`http://127.0.0.1:{port}/` answers (200)" in capfd.readouterr().err
    assert status_at(f"http://127.0.0.1:{port}/") is None


def test_a_program_that_ends_first_says_with_what(
    environment: Path, port: int, capfd: pytest.CaptureFixture[str]
) -> None:
    assert try_start(environment, port, "-c", "raise SystemExit(3)") == 1
    assert "the command ended with 3 before" in capfd.readouterr().err


def test_a_silent_program_is_ended_at_the_limit(
    environment: Path, port: int, capfd: pytest.CaptureFixture[str]
) -> None:
    assert try_start(environment, port, "-c", "import time; time.sleep(60)", limit="1") == 1
    # A busy machine looks later than the limit, and what is said is measured.
    assert re.search(r"did not answer in [1-9] s", capfd.readouterr().err)


def test_a_page_of_the_programs_own_failure_is_no_answer(
    environment: Path, port: int, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STATUS", "500")
    assert try_start(environment, port, str(environment.parent / "serve.py"), str(port), limit="5") == 1
    assert "answers with 500, a failure of the program's own" in capfd.readouterr().err


def test_an_address_that_is_taken_or_is_none_is_refused(
    environment: Path, port: int, capfd: pytest.CaptureFixture[str]
) -> None:
    child = subprocess.Popen([sys.executable, str(environment.parent / "serve.py"), str(port)])
    try:
        while status_at(f"http://127.0.0.1:{port}/") is None:
            assert child.poll() is None
        assert try_start(environment, port, "-V") == 2
    finally:
        child.kill()
        child.wait()
    assert "something answers at" in capfd.readouterr().err
    for wrong in ("localhost:8010", "http://:80", "http://a:99999999", "ftp://a"):
        assert main(["run", "--env", str(environment), "--answers", wrong, "--", "python", "-V"]) == 2
        assert f"`{wrong}` is no address" in capfd.readouterr().err
