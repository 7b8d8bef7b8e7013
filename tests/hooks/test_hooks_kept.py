"""A hook on a locked project that has not changed resolves nothing; whatever changes is seen."""

from __future__ import annotations

import datetime as dt
import json
import os
import pickle
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from envdoctor.adapters.kept_values import NoDigest, digest, keep, kept
from envdoctor.cli.main import main
from envdoctor.model.requirement import RequirementKind
from envdoctor.verbs import check as check_verb
from envdoctor.verbs import kept_diagnosis, session

VERSIONS = {"alpha": ("1.0", "1.1"), "beta": ("1.0", "2.0")}
NEEDS = {"alpha": "beta", "beta": None}
PROFILE = """schema = 1
[profile]
name = "small"
summary = "A stack"
[target]
os = "linux"
arch = "x86_64"
python = ">=3.11,<3.13"
backend = "cpu"
"""


def _answer(path: str) -> bytes | None:
    name = path.strip("/").split("/")[-1]
    if name in VERSIONS:
        files = (f"{name}-{version}-py3-none-any.whl" for version in VERSIONS[name])
        links = (f'<a href="/files/{file}#sha256={"0" * 64}" data-core-metadata="true">{file}</a>' for file in files)
        return "".join(links).encode()
    if name.endswith(".metadata"):
        project, version = name.split("-")[:2]
        needs = f"Requires-Dist: {NEEDS[project]}\n" if NEEDS[project] else ""
        return f"Metadata-Version: 2.1\nName: {project}\nVersion: {version}\n{needs}".encode()
    return None


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = _answer(self.path)
        self.send_response(404 if body is None else 200)
        self.send_header("Content-Type", "text/html" if body and body.startswith(b"<") else "text/plain")
        self.send_header("Content-Length", str(len(body or b"")))
        self.end_headers()
        self.wfile.write(body or b"")

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def index() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/simple/"
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def project(tmp_path: Path, index: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A locked project whose packages the cache knows, since a while."""
    for variable in ("ENVDOCTOR_INDEX_RECORDED", "ENVDOCTOR_INDEX_RECORD"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("ENVDOCTOR_INDEX_URL", index)
    monkeypatch.setenv("ENVDOCTOR_CACHE_DIR", str(tmp_path / "cache"))
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "requirements.txt").write_text("-c constraints.txt\nalpha==1.0\n", encoding="utf-8")
    (folder / "constraints.txt").write_text("beta<3\n", encoding="utf-8")
    (folder / "small.toml").write_text(PROFILE, encoding="utf-8")
    (folder / "pyproject.toml").write_text('[tool.envdoctor]\nprofile = "small.toml"\n', encoding="utf-8")
    assert main(["check", str(folder), "--quiet"]) == 0
    assert main(["lock", str(folder), "--quiet"]) == 0
    _settle(tmp_path)
    return folder


def _settle(tmp_path: Path, seconds: float = 60) -> None:
    for path in (tmp_path / "cache").glob("index-*"):
        os.utime(path, (time.time() - seconds, time.time() - seconds))


@pytest.fixture
def searches(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Grows by one for each time that something is resolved."""
    made: list[int] = []
    search = check_verb._search

    def counted(*given: Any, **named: Any) -> Any:
        made.append(1)
        return search(*given, **named)

    monkeypatch.setattr(check_verb, "_search", counted)
    return made


def hook(project: Path, capsys: pytest.CaptureFixture[str], *options: str) -> tuple[int, dict[str, Any]]:
    capsys.readouterr()
    code = main(["check", str(project), "--offline", "--quiet", "--format", "json", *options])
    report = json.loads(capsys.readouterr().out)
    report.pop("timings")
    return code, report


def test_hooks_what_has_not_changed_is_not_resolved_again(
    project: Path, searches: list[int], capsys: pytest.CaptureFixture[str]
) -> None:
    first = hook(project, capsys)
    again = hook(project, capsys)
    assert len(searches) == 1
    assert again == first
    assert first[1]["resolution"]["packages"]


def _write(name: str, text: str) -> Callable[[Path, pytest.MonkeyPatch], None]:
    def change(project: Path, _: pytest.MonkeyPatch) -> None:
        (project / name).write_text(text, encoding="utf-8")

    return change


def _variable(name: str, value: str) -> Callable[[Path, pytest.MonkeyPatch], None]:
    return lambda _project, monkeypatch: monkeypatch.setenv(name, value)


def _lock(project: Path, _: pytest.MonkeyPatch) -> None:
    file = project / "pylock.small.toml"
    file.write_text(file.read_text("utf-8").replace("2.0", "1.0"), encoding="utf-8")


def _cache(project: Path, _: pytest.MonkeyPatch) -> None:
    _settle(project.parent, 30)


def _young_cache(project: Path, _: pytest.MonkeyPatch) -> None:
    _settle(project.parent, 0)


CHANGES = {
    "requirements": _write("requirements.txt", "-c constraints.txt\nalpha==1.1\n"),
    "the line alone": _write("requirements.txt", "-c constraints.txt\n\nalpha==1.0\n"),
    "constraints": _write("constraints.txt", "beta<2\n"),
    "one more file": _write("setup.cfg", "[options]\ninstall_requires =\n  beta\n"),
    "pyproject": _write("pyproject.toml", '[project]\nname = "x"\nversion = "1"\ndependencies = ["beta"]\n'),
    "settings": _write("pyproject.toml", '[tool.envdoctor]\nprofile = "small.toml"\ntarget-python = "3.12"\n'),
    "profile": _write("small.toml", f'{PROFILE}[[exclude]]\nname = "beta"\nbecause = "x"\nevidence = "y"\n'),
    "lock": _lock,
    "configuration": _variable("PIP_EXTRA_INDEX_URL", "https://index.example/more/"),
    "index": _variable("ENVDOCTOR_INDEX_URL", "https://index.example/simple/"),
    "cache": _cache,
    "cache just written": _young_cache,
    "version of this program": lambda _project, patch: patch.setattr(kept_diagnosis, "__version__", "99"),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_hooks_whatever_the_resolver_is_given_is_seen_to_change(
    project: Path,
    searches: list[int],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    change: Callable[[Path, pytest.MonkeyPatch], None],
) -> None:
    hook(project, capsys)
    change(project, monkeypatch)
    kept_diagnosis._ourselves.cache_clear()
    hook(project, capsys)
    kept_diagnosis._ourselves.cache_clear()
    assert len(searches) == 2


@pytest.mark.parametrize(
    "options", [("--target-python", "3.12"), ("--target-os", "windows"), ("--exclude-newer", "2020-01-01")]
)
def test_hooks_another_target_or_date_is_another_question(
    project: Path, searches: list[int], capsys: pytest.CaptureFixture[str], options: tuple[str, ...]
) -> None:
    (project / "pyproject.toml").unlink()
    assert main(["lock", str(project), "--offline", "--quiet"]) == 0
    hook(project, capsys)
    hook(project, capsys, *options)
    assert len(searches) - 1 == 2  # `lock` asks once, and keeps nothing.


def test_hooks_a_conflict_that_a_change_brings_is_found(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert hook(project, capsys)[0] == 0
    (project / "constraints.txt").write_text("beta<1\n", encoding="utf-8")
    code, report = hook(project, capsys)
    assert (code, report["verdict"]) == (1, "broken")


def test_hooks_waivers_end_on_their_day(
    project: Path, searches: list[int], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    waiver = '[[tool.envdoctor.waive]]\nrule = "RES104"\nreason = "x"\nexpires = 2026-06-30\n'
    (project / "pyproject.toml").write_text(f'[tool.envdoctor]\nprofile = "small.toml"\n{waiver}', encoding="utf-8")

    class Clock(dt.datetime):
        day = dt.date(2026, 6, 1)

        @classmethod
        def now(cls, tz: Any = None) -> Any:
            return dt.datetime.combine(cls.day, dt.time(), tz)

    monkeypatch.setattr(session, "datetime", Clock)
    before = {finding["rule"] for finding in hook(project, capsys)[1]["findings"]}
    Clock.day = dt.date(2026, 7, 1)
    after = {finding["rule"] for finding in hook(project, capsys)[1]["findings"]}
    assert after - before == {"RES091"}
    assert len(searches) == 2


def test_hooks_rules_look_at_the_sources_anew(
    project: Path, searches: list[int], capsys: pytest.CaptureFixture[str]
) -> None:
    before = {finding["rule"] for finding in hook(project, capsys)[1]["findings"]}
    (project / "main.py").write_text("import os\nos.system('pip install x')\n", encoding="utf-8")
    after = {finding["rule"] for finding in hook(project, capsys)[1]["findings"]}
    assert after - before == {"SRC003"}
    assert len(searches) == 1


def test_hooks_an_environment_is_looked_at_anew(
    project: Path, searches: list[int], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    site = tmp_path / "site-packages"
    for name, version in (("alpha", "1.0"), ("beta", "2.0")):
        info = site / f"{name}-{version}.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n", encoding="utf-8")
    before = hook(project, capsys, "--env", str(site))
    (site / "alpha-1.0.dist-info").rename(site / "alpha-9.0.dist-info")
    (site / "alpha-9.0.dist-info" / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: alpha\nVersion: 9.0\n", encoding="utf-8"
    )
    after = hook(project, capsys, "--env", str(site))
    assert len(searches) == 1
    assert before[1]["findings"] != after[1]["findings"]


def test_hooks_only_offline_and_with_a_lock(
    project: Path, searches: list[int], capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "pylock.small.toml").unlink()
    hook(project, capsys)
    hook(project, capsys)
    main(["check", str(project), "--quiet"])
    main(["check", str(project), "--quiet"])
    assert len(searches) == 4


class _Evil:
    def __reduce__(self) -> tuple[Any, ...]:
        return (os.mkdir, ("made-by-a-kept-file",))


def test_hooks_a_kept_file_runs_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    data = pickle.dumps(_Evil())
    (tmp_path / "k.kept").write_bytes(zlib.crc32(data).to_bytes(4, "big") + data)
    assert kept(tmp_path, "k") is None
    assert not (tmp_path / "made-by-a-kept-file").exists()
    keep(tmp_path, "evil", _Evil())
    assert not (tmp_path / "evil.kept").exists()


@pytest.mark.parametrize("data", [b"", b"\0\0\0\0", b"xxxxyyyy", zlib.crc32(b"\x80").to_bytes(4, "big") + b"\x80"])
def test_hooks_a_damaged_kept_file_is_none(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "k.kept").write_bytes(data)
    assert kept(tmp_path, "k") is None


def test_hooks_few_values_are_kept(tmp_path: Path) -> None:
    for number in range(70):
        keep(tmp_path, f"k{number}", (number,))
    assert len(list(tmp_path.iterdir())) == 64


def test_hooks_a_digest_tells_values_apart_and_refuses_what_it_cannot_read() -> None:
    values = [(), ("",), (None,), ("a", "b"), ("ab",), (("a",), "b"), {"a": 1}, {"a": "1"}, frozenset("ab"), 1, True]
    values += [
        1.0,
        "1",
        b"1",
        RequirementKind.REQUIRE,
        RequirementKind.CONSTRAINT,
        Path("a"),
        dt.date(2026, 1, 1),
    ]
    assert len({digest(value) for value in values}) == len(values)
    assert digest(frozenset("abcdef")) == digest(frozenset("fedcba"))
    with pytest.raises(NoDigest):
        digest((object(),))
