from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import make_wheel
from index_samples import make_sdist, versions

from envdoctor.adapters.index import AnyIndex, RecordedIndex
from envdoctor.adapters.index.recording_format import trim
from envdoctor.model.candidate import BuildRisk
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
    with pytest.raises(IndexUnavailable, match="format known here"):
        RecordedIndex(tmp_path)


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
