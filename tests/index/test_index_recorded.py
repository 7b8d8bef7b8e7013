from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from index_samples import make_sdist, versions
from index_server import make_wheel
from packaging.utils import canonicalize_name

from envdoctor.adapters.index import AnyIndex, ExtraIndex
from envdoctor.adapters.index.recorded import RecordedIndex
from envdoctor.adapters.index.recording_format import trim
from envdoctor.model.candidate import BuildRisk
from envdoctor.model.unknown import UnknownKind
from envdoctor.ports import IndexUnavailable, MetadataUnavailable, ProjectNotFound

Open = Callable[..., AnyIndex]


def test_recording_answers_as_the_index_did(
    server, opened: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = make_wheel("demo-1.0-py3-none-any.whl", "PyYAML (>=5.1.*)", members={"demo/version.py": b"cuda = None"})
    sdist = make_sdist("demo-0.9", {"PKG-INFO": "Metadata-Version: 2.2\nName: demo\n", "a.c": "", "setup.py": "x"})
    server.page("demo", [server.file("demo-1.0-py3-none-any.whl", body), server.file("demo-0.9.tar.gz", sdist)])
    live = opened(record_to=tmp_path / "recording")
    wheel, source = live.page("demo").files
    metadata = live.metadata(wheel)
    names = live.names(wheel)
    assert live.read(wheel, "demo/version.py") == b"cuda = None"
    assert live.read(wheel, "demo/none.py") is None
    live.build_risk(source)
    with pytest.raises(ProjectNotFound):
        live.page("absent")
    live.close()

    monkeypatch.setenv("ENVDOCTOR_INDEX_RECORDED", str(tmp_path / "recording"))
    recorded = opened()
    assert isinstance(recorded, RecordedIndex)
    again, source_again = recorded.page("demo").files
    assert (again.filename, again.version, again.hashes, again.size) == (
        wheel.filename,
        wheel.version,
        wheel.hashes,
        wheel.size,
    )
    assert again.url == "https://index.example/files/demo-1.0-py3-none-any.whl"
    assert recorded.metadata(again) == metadata
    assert recorded.names(again) == names
    assert (recorded.read(again, "demo/version.py"), recorded.read(again, "demo/none.py")) == (b"cuda = None", None)
    assert recorded.build_risk(source_again) is BuildRisk.COMPILER
    with pytest.raises(ProjectNotFound):
        recorded.page("absent")
    with pytest.raises(IndexUnavailable, match="not in the recording"):
        recorded.page("other")
    with pytest.raises(MetadataUnavailable, match="not in the recording"):
        recorded.metadata(source_again)
    assert "127.0.0.1" not in "".join(path.read_text() for path in (tmp_path / "recording").iterdir())


def test_recordings_add_up(server, opened: Open, tmp_path: Path) -> None:
    server.page("a", [server.wheel("a-1.0-py3-none-any.whl")])
    for ask in (False, True):
        index = opened(record_to=tmp_path / "r")
        (file,) = index.page("a").files
        if not ask:
            index.metadata(file)
        index.close()
    recorded = RecordedIndex(tmp_path / "r")
    (file,) = recorded.page("a").files
    assert recorded.metadata(file).requires_dist == ()
    assert versions(recorded.page("a")) == ["1.0"]


def test_folder_that_is_no_recording(tmp_path: Path) -> None:
    with pytest.raises(IndexUnavailable, match="not a recorded index"):
        RecordedIndex(tmp_path)
    (tmp_path / "recording.json").write_text(json.dumps({"format": 99}))
    with pytest.raises(IndexUnavailable, match="`format` is not 1"):
        RecordedIndex(tmp_path)


@pytest.mark.parametrize(
    "text",
    ["[]", "5", "[" * 100_000, '{"format": 1, "unreachable": 5}', '{"format": 1, "unreachable": [1]}', "\xe9", "{"],
)
def test_a_recording_json_of_another_kind_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "recording.json").write_text(text, encoding="latin-1")
    with pytest.raises(IndexUnavailable, match=r"recording\.json"):
        RecordedIndex(tmp_path)


_FILE = '"filename": "demo-1.0-py3-none-any.whl", "version": "1.0"'


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[]", "demo.json is not a table"),
        ("{", "demo.json, line 1: not JSON"),
        ("[" * 100_000, "demo.json is no JSON that can be read here"),
        ('{"unavailable": 5}', "`unavailable` is not what an index did not tell"),
        ('{"files": 5}', "`files` is not a list"),
        ('{"files": [null]}', "`files[0]` is not a table"),
        ('{"files": [{"filename": 5}]}', "`files[0].filename` is not a text"),
        ('{"files": [{"filename": "a", "version": "x"}]}', "`files[0].version` is not a version"),
        (f'{{"files": [{{{_FILE}, "hashes": [1]}}]}}', "`files[0].hashes` is not a table of texts"),
        (f'{{"files": [{{{_FILE}, "size": "1"}}]}}', "`files[0].size` is not a number of bytes"),
        (f'{{"files": [{{{_FILE}, "yanked": {{}}}}]}}', "`files[0].yanked` is not a text"),
        ('{"metadata": []}', "`metadata` is not a table"),
        ('{"metadata": {"a": 5}}', "`metadata[a]` is not a table"),
        ('{"metadata": {"a": {"source": ["x"]}}}', "`metadata[a].source`"),
        ('{"metadata": {"a": {"source": "sidecar", "requires-dist": 5}}}', "`metadata[a].requires-dist`"),
        ('{"names": 5}', "`names` is not"),
        ('{"members": {"a": 7}}', "`members` is not"),
        ('{"build-risk": {"a": "x"}}', "`build-risk` is not"),
    ],
)
def test_a_document_of_another_kind_is_unknown_with_its_file_and_key(tmp_path: Path, text: str, reason: str) -> None:
    (tmp_path / "recording.json").write_text('{"format": 1}')
    (tmp_path / "demo.json").write_text(text)
    with pytest.raises(IndexUnavailable) as caught:
        RecordedIndex(tmp_path).page(canonicalize_name("demo"))
    assert "demo.json" in caught.value.unknown.cause
    assert reason in caught.value.unknown.cause


def test_trimmed_recording_still_knows_that_a_version_exists(server, opened: Open, tmp_path: Path) -> None:
    names = [
        "a-1.0-cp311-cp311-win_amd64.whl",
        "a-1.0-cp311-cp311-linux_x86_64.whl",
        "a-2.0-cp312-cp312-linux_x86_64.whl",
    ]
    files = [
        *(server.wheel(name) for name in names),
        server.file("a-1.0.tar.gz", b""),
        server.file("a-3.0.tar.gz", b""),
    ]
    server.page("a", files)
    index = opened(record_to=tmp_path / "r")
    index.metadata(index.page("a").files[0])
    index.close()
    trim(tmp_path / "r", lambda name: "win_amd64" in name)
    kept = [file.filename for file in RecordedIndex(tmp_path / "r").page("a").files]
    assert kept == [names[0], names[2], "a-3.0.tar.gz"]
    trim(tmp_path / "r", lambda name: "win_amd64" in name, only_considered=True)
    assert versions(RecordedIndex(tmp_path / "r").page("a")) == ["1.0"]


def test_a_recording_keeps_why_something_was_not_told(server, opened: Open, tmp_path: Path) -> None:
    server.page(
        "a", [server.file("a-1.0.tar.gz", make_sdist("a-1.0", {"setup.py": "setup(install_requires=lines())"}))]
    )
    server.page("b", [], password="never")
    index = opened(record_to=tmp_path / "r")
    (file,) = index.page(canonicalize_name("a")).files
    with pytest.raises(MetadataUnavailable) as unread:
        index.metadata(file)
    with pytest.raises(IndexUnavailable) as refused:
        index.page(canonicalize_name("b"))
    index.close()
    recorded = RecordedIndex(tmp_path / "r")
    with pytest.raises(MetadataUnavailable) as again:
        recorded.metadata(file)
    assert (again.value.unknown.kind, again.value.unknown) == (UnknownKind.ONLY_A_BUILD, unread.value.unknown)
    with pytest.raises(IndexUnavailable) as again_refused:
        recorded.page(canonicalize_name("b"))
    assert (again_refused.value.unknown.kind, again_refused.value.unknown.status) == (UnknownKind.BAD_ANSWER, 401)
    assert refused.value.unknown.status == 401


@pytest.mark.parametrize(
    ("told", "kind", "cause"),
    [
        ("only its build would tell its dependencies", UnknownKind.ONLY_A_BUILD, ""),
        ("it is odd, and only its build would tell its dependencies", UnknownKind.ONLY_A_BUILD, "it is odd"),
        ("its hash is not the one that the index lists", UnknownKind.BAD_METADATA, "its hash is not the one"),
    ],
)
def test_earlier_recordings_that_held_texts_are_read(tmp_path: Path, told: str, kind: UnknownKind, cause: str) -> None:
    (tmp_path / "recording.json").write_text('{"format": 1, "unreachable": [["cu", "https://x.example", "silence"]]}')
    document = {
        "files": [{"filename": "demo-1.0.tar.gz", "version": "1.0"}],
        "metadata-unavailable": {"demo-1.0.tar.gz": told},
    }
    (tmp_path / "demo.json").write_text(json.dumps(document))
    (tmp_path / "gone.json").write_text('{"unavailable": ["default", "", "offline and not in the cache"]}')
    index = RecordedIndex(tmp_path)
    (file,) = index.page(canonicalize_name("demo")).files
    with pytest.raises(MetadataUnavailable) as caught:
        index.metadata(file)
    assert (caught.value.unknown.kind, caught.value.unknown.cause[: len(cause) or None]) == (kind, cause)
    with pytest.raises(IndexUnavailable) as offline:
        index.page(canonicalize_name("gone"))
    assert (offline.value.unknown.kind, offline.value.unknown.cause) == (UnknownKind.OFFLINE, "")
    assert [(item.kind, item.cause) for item in index.unreachable] == [(UnknownKind.UNREACHABLE, "silence")]


def test_a_recording_tells_which_index_was_not_read(opened: Open, server, tmp_path: Path) -> None:
    server.page("a", [server.wheel("a-1.0-py3-none-any.whl")])
    index = opened(record_to=tmp_path / "r", extra=(ExtraIndex("gone", "http://127.0.0.1:9/simple"),))
    told = index.page("a").unread
    index.close()
    assert told is not None
    assert told.index == "gone"
    assert RecordedIndex(tmp_path / "r").page("a").unread == told
