from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from index_samples import versions

from envdoctor.adapters.index import AnyIndex
from envdoctor.ports import IndexUnavailable

Open = Callable[..., AnyIndex]
WHEEL = "demo-1.0-py3-none-any.whl"


def serve_demo(server, **more: object) -> None:
    server.page("demo", [server.wheel(WHEEL, "numpy")], **more)


def test_fresh_page_takes_no_request(server, opened: Open) -> None:
    serve_demo(server)
    first = opened().page("demo")
    assert opened().page("demo") == first
    assert server.count() == 1


def test_old_page_is_revalidated(server, opened: Open) -> None:
    serve_demo(server, etag='"one"')
    first = opened().page("demo")
    assert opened(freshness=0).page("demo") == first
    assert server.asked[-1][1]["if-none-match"] == '"one"'
    assert server.count() == 2
    server.page("demo", [server.wheel("demo-2.0-py3-none-any.whl")], etag='"two"')
    assert versions(opened(freshness=0).page("demo")) == ["2.0"]


def test_same_body_is_not_read_again(server, opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    serve_demo(server)
    first = opened().page("demo")
    monkeypatch.setattr("envdoctor.adapters.index.source.read_listing", None)
    assert opened(freshness=0).page("demo") == first


def test_offline_uses_what_is_there_however_old(server, opened: Open) -> None:
    serve_demo(server)
    index = opened()
    metadata = index.metadata(index.page("demo").files[0])
    offline = opened(offline=True, freshness=0)
    (file,) = offline.page("demo").files
    assert offline.metadata(file) == metadata
    with pytest.raises(IndexUnavailable, match="OFFLINE"):
        offline.page("other")
    before = server.count()
    offline.prefetch_pages(["more"])
    assert server.count() == before


def test_offline_metadata_that_was_never_read(server, opened: Open) -> None:
    serve_demo(server)
    opened().page("demo")
    offline = opened(offline=True)
    with pytest.raises(IndexUnavailable, match="OFFLINE"):
        offline.metadata(offline.page("demo").files[0])


def test_metadata_is_keyed_by_content(server, opened: Open) -> None:
    serve_demo(server)
    index = opened()
    index.metadata(index.page("demo").files[0])
    del server.answers[f"/files/{WHEEL}"]
    again = opened(freshness=0)
    assert again.metadata(again.page("demo").files[0]).requires_dist == ("numpy",)


@pytest.mark.parametrize("damage", [b"not a database, although it is long enough to be looked at" * 100, b""])
def test_damaged_cache_is_started_anew(server, opened: Open, tmp_path: Path, damage: bytes) -> None:
    (tmp_path / "cache").mkdir()
    path = tmp_path / "cache" / "index-3.sqlite3"
    path.write_bytes(damage)
    serve_demo(server)
    index = opened()
    assert versions(index.page("demo")) == ["1.0"]
    assert index.notes == ()
    opened().page("demo")
    assert server.count() == 1


def test_damaged_rows_are_fetched_again(server, opened: Open, tmp_path: Path) -> None:
    serve_demo(server)
    index = opened()
    metadata = index.metadata(index.page("demo").files[0])
    index.close()
    with sqlite3.connect(tmp_path / "cache" / "index-3.sqlite3") as database:
        database.execute("UPDATE pages SET body = x'00ff00'")
        database.execute("UPDATE files SET body = x'00ff00'")
    database.close()
    again = opened()
    assert again.metadata(again.page("demo").files[0]) == metadata


def serve_large(server, count: int = 300) -> None:
    name = "demo-{}-py3-none-any.whl"
    server.page("demo", [server.wheel(name.format(f"1.{number}"), "numpy") for number in range(count)])


def large_pages(tmp_path: Path) -> list[Path]:
    return list((tmp_path / "cache" / "pages-3").iterdir())


def test_a_large_page_has_a_file_of_its_own(server, opened: Open, tmp_path: Path) -> None:
    serve_large(server)
    found = versions(opened().page("demo"))
    assert len(large_pages(tmp_path)) == 1
    assert versions(opened().page("demo")) == found
    assert server.count() == 1
    serve_large(server, 301)
    assert len(versions(opened(freshness=0).page("demo"))) == 301
    assert len(large_pages(tmp_path)) == 1, "the page before it is gone"
    assert len(versions(opened(offline=True).page("demo"))) == 301


@pytest.mark.parametrize("damage", ["cut", "flipped", "empty", "gone", "of another form", "a folder"])
def test_a_large_page_that_is_damaged_is_fetched_again(server, opened: Open, tmp_path: Path, damage: str) -> None:
    serve_large(server)
    found = versions(opened().page("demo"))
    (place,) = large_pages(tmp_path)
    body = place.read_bytes()
    place.unlink()
    if damage == "a folder":
        place.mkdir()
    elif damage != "gone":
        middle = len(body) // 2
        flipped = body[:middle] + bytes([body[middle] ^ 1]) + body[middle + 1 :]
        forms = {"cut": body[:middle], "flipped": flipped, "empty": b"", "of another form": b"\x03" + body[1:]}
        place.write_bytes(forms[damage])
    assert versions(opened().page("demo")) == found
    assert server.count() == 2
    index = opened()
    assert (versions(index.page("demo")), index.notes, server.count()) == (found, (), 2)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE pages SET body = 'text', fetched = 'soon', status = 'x'",
        "UPDATE files SET body = '[1]'",
        "UPDATE files SET body = x'00'",
        "UPDATE files SET body = CAST(replace(CAST(body AS TEXT), 'numpy', 'numpz') AS BLOB)",
        "UPDATE marks SET stored = 'x', text = 5",
    ],
)
def test_rows_of_another_kind_are_fetched_again(server, opened: Open, tmp_path: Path, statement: str) -> None:
    serve_demo(server)
    index = opened()
    metadata = index.metadata(index.page("demo").files[0])
    index.close()
    with sqlite3.connect(tmp_path / "cache" / "index-3.sqlite3") as database:
        database.execute(statement)
    database.close()
    again = opened()
    assert again.metadata(again.page("demo").files[0]) == metadata
    assert again.notes == ()


def test_a_file_with_other_tables_is_started_anew(server, opened: Open, tmp_path: Path) -> None:
    (tmp_path / "cache").mkdir()
    with sqlite3.connect(tmp_path / "cache" / "index-3.sqlite3") as database:
        for table in ("pages", "files", "marks"):
            database.execute(f"CREATE TABLE {table} (other)")
    database.close()
    serve_demo(server)
    index = opened()
    assert versions(index.page("demo")) == ["1.0"]
    assert index.notes == ()
    opened().page("demo")
    assert server.count() == 1, "it was kept"


def test_cache_that_cannot_be_made_is_said_once(server, opened: Open, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    serve_demo(server)
    index = opened(cache_dir=tmp_path / "file" / "cache")
    assert versions(index.page("demo")) == ["1.0"]
    (note,) = index.notes
    assert note.startswith("working without a cache")


def test_cache_that_cannot_be_written_is_said_once(server, opened: Open) -> None:
    serve_demo(server)
    index = opened()
    index._cache._connection.execute("PRAGMA query_only = 1")
    assert versions(index.page("demo")) == ["1.0"]
    assert index.metadata(index.page("demo").files[0]).requires_dist == ("numpy",)
    (note,) = index.notes
    assert "readonly" in note


def test_credentials_are_sent_and_never_stored(server, opened: Open, tmp_path: Path) -> None:
    serve_demo(server, password="dXNlcjpzZWNyZXRwdw==")  # user:secretpw
    url = server.url.replace("://", "://user:secretpw@")
    index = opened(default_url=url)
    (file,) = index.page("demo").files
    assert "secretpw" not in file.url
    with pytest.raises(IndexUnavailable) as caught:
        opened(default_url=url, offline=True).page("other")
    assert "secretpw" not in str(caught.value)
    index.close()
    assert all(b"secretpw" not in path.read_bytes() for path in (tmp_path / "cache").iterdir())


def test_netrc(server, opened: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login user password secretpw\n")
    (tmp_path / "netrc").chmod(0o600)
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    serve_demo(server, password="dXNlcjpzZWNyZXRwdw==")
    assert versions(opened().page("demo")) == ["1.0"]


PROGRAM = """
import sys
from pathlib import Path
from envdoctor.adapters.index import IndexSettings, open_index
index = open_index(IndexSettings(default_url=sys.argv[1], cache_dir=Path(sys.argv[2])))
names = [f"p{i}" for i in range(20)]
index.prefetch_pages(names)
files = [index.page(name).files[0] for name in names]
index.prefetch_metadata(files)
print(sum(len(index.metadata(file).requires_dist) for file in files), index.notes)
print(not sys.modules.keys().isdisjoint(("httpx", "envdoctor.adapters.index.direct")))
index.close()
"""


def run_reader(server, tmp_path: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", PROGRAM, server.url, str(tmp_path / "cache")]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=dict(os.environ))


def test_processes_share_the_cache(server, tmp_path: Path) -> None:
    for i in range(20):
        server.page(f"p{i}", [server.wheel(f"p{i}-1.0-py3-none-any.whl", "numpy")])
    together = [run_reader(server, tmp_path) for _ in range(3)]
    assert [process.communicate(timeout=60)[0].splitlines()[0] for process in together] == ["20 ()"] * 3
    before = server.count()
    later = run_reader(server, tmp_path)
    assert later.communicate(timeout=60)[0].splitlines() == ["20 ()", "False"]
    assert server.count() == before, "a warm run makes no request, and does not even load the HTTP library"


def test_processes_killed_at_any_moment_leave_a_cache_that_works(server, tmp_path: Path) -> None:
    for i in range(20):
        server.page(f"p{i}", [server.wheel(f"p{i}-1.0-py3-none-any.whl", "numpy")])
    together = [run_reader(server, tmp_path) for _ in range(8)]
    stop = time.monotonic() + 60
    # Killed while they write: each a moment after the server saw the first questions.
    while server.count() < 5 and time.monotonic() < stop:
        time.sleep(0.01)
    for process, moment in zip(together, (0.0, 0.02, 0.11, 0.05, 0.14, 0.01), strict=False):
        time.sleep(moment)
        process.kill()
    for process in together[:6]:
        process.communicate(timeout=60)
    assert [process.communicate(timeout=60)[0].splitlines()[0] for process in together[6:]] == ["20 ()"] * 2
    database = sqlite3.connect(tmp_path / "cache" / "index-3.sqlite3")
    assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    database.close()
    before = server.count()
    assert run_reader(server, tmp_path).communicate(timeout=60)[0].splitlines() == ["20 ()", "False"]
    assert server.count() == before


def test_threads_ask_once(server, opened: Open) -> None:
    serve_demo(server)
    index = opened()
    threads = [threading.Thread(target=lambda: index.metadata(index.page("demo").files[0])) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert server.counts()["/simple/demo/"] == 1
    assert server.counts()[f"/files/{WHEEL}"] == 1
