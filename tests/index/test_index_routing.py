from __future__ import annotations

import socket
from collections.abc import Callable
from pathlib import Path

import pytest
from index_samples import versions
from index_server import Answer, make_wheel

from envdoctor.adapters.index import AnyIndex, ExtraIndex, IndexSettings, default_index_url, open_index
from envdoctor.model.profile import BoundIndex
from envdoctor.model.unknown import UnknownKind
from envdoctor.ports import IndexUnavailable, ProjectNotFound

Open = Callable[..., AnyIndex]


def closed_port() -> str:
    with socket.socket() as made:
        made.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{made.getsockname()[1]}"


def wheels(server, name: str, *texts: str) -> None:
    server.page(name, [server.wheel(f"{name}-{text}-py3-none-any.whl", "numpy") for text in texts])


def bound_to(url: str, *packages: str, label: str | None = None) -> BoundIndex:
    return BoundIndex("cu", url, tuple(packages), local_label=label)


def test_bound_package_comes_from_its_index_alone(server, other_server, opened: Open) -> None:
    wheels(server, "torch", "9.9")
    wheels(other_server, "torch", "2.1.1+cu118")
    wheels(other_server, "numpy", "99")
    wheels(server, "numpy", "1.0")
    index = opened(bound=(bound_to(other_server.url, "torch", "absent"),))
    page = index.page("torch")
    assert (page.index, versions(page)) == ("cu", ["2.1.1+cu118"])
    assert versions(index.page("numpy")) == ["1.0"]
    wheels(server, "absent", "1.0")
    with pytest.raises(ProjectNotFound):
        index.page("absent")
    assert server.count("torch") == 0


@pytest.mark.parametrize(("path", "label"), [("/whl/cu118", None), ("/mirror", "cu118")])
def test_default_index_stands_in_for_one_out_of_reach(server, opened: Open, path: str, label: str | None) -> None:
    wheels(server, "torch", "2.1.1")
    wheels(server, "torchaudio", "2.1.1")
    url = closed_port() + path
    index = opened(bound=(bound_to(url, "torch", "torchaudio", label=label),))
    (file,) = index.page("torch").files
    assert (str(file.version), file.index, file.stand_in) == ("2.1.1+cu118", "cu", True)
    metadata = index.metadata(file)
    assert (str(metadata.version), metadata.requires_dist) == ("2.1.1+cu118", ("numpy",))
    assert index.page("torchaudio").files[0].stand_in
    (unknown,) = index.unreachable
    assert (unknown.kind, unknown.index, unknown.url) == (UnknownKind.UNREACHABLE, "cu", url + "/")
    assert "cannot connect" in unknown.cause


def test_label_that_is_not_known_is_not_made_up(server, opened: Open) -> None:
    wheels(server, "torch", "2.1.1")
    index = opened(bound=(bound_to(closed_port() + "/simple", "torch"),))
    assert versions(index.page("torch")) == ["2.1.1"]


def test_nothing_can_stand_in(server, opened: Open) -> None:
    index = opened(bound=(bound_to(closed_port(), "torch"),))
    with pytest.raises(IndexUnavailable) as caught:
        index.page("torch")
    assert caught.value.unknown.index == "cu"


def test_host_out_of_reach_is_tried_once(server, opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"p{i}" for i in range(6)]
    for name in names:
        wheels(server, name, "1.0")
    bound = (bound_to(closed_port(), *names),)
    tried: list[str] = []
    index = opened(bound=bound)
    once = type(index._transport)._tried
    monkeypatch.setattr(
        type(index._transport), "_tried", lambda self, url, *a: tried.append(url) or once(self, url, *a)
    )
    for name in names:
        index.page(name)
    assert len([url for url in tried if server.root not in url]) == 1
    later = opened(bound=bound)
    later.page("p0")
    assert len([url for url in tried if server.root not in url]) == 1, "for some minutes later processes know, too"
    assert later.unreachable[0].index == "cu"


def test_replacements(server, other_server, opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    wheels(other_server, "torch", "2.1.1+cu118")
    declared = (BoundIndex("pytorch-cu118", "http://unused.example/whl/cu118", ("torch",)),)
    assert versions(opened(bound=declared, replacements={"pytorch-cu118": other_server.url}).page("torch"))
    monkeypatch.setenv("ENVDOCTOR_INDEX_PYTORCH_CU118", other_server.url)
    assert versions(opened(bound=declared).page("torch")) == ["2.1.1+cu118"]


def test_extra_index_is_asked_beside_the_default_one(server, other_server, opened: Open) -> None:
    wheels(server, "shared", "1.0")
    wheels(other_server, "shared", "1.0", "99.0")
    wheels(other_server, "private", "3.0")
    wheels(server, "public", "4.0")
    index = opened(extra=(ExtraIndex("extra-1", other_server.url),))
    files = index.page("shared").files
    assert [(str(file.version), file.index) for file in files] == [("1.0", "default"), ("99.0", "extra-1")]
    assert (index.page("private").index, versions(index.page("private"))) == ("extra-1", ["3.0"])
    assert versions(index.page("public")) == ["4.0"]
    with pytest.raises(ProjectNotFound):
        index.page("nowhere")
    assert index.unreachable == ()
    assert [tuple(map(str, item)) for item in index.confused] == [("shared", "extra-1", "99.0", "1.0")]


def test_local_build_of_the_same_release_confuses_nobody(server, other_server, opened: Open) -> None:
    wheels(server, "torch", "2.5.1")
    wheels(other_server, "torch", "2.5.1+cu121")
    index = opened(extra=(ExtraIndex("extra-1", other_server.url),))
    assert versions(index.page("torch")) == ["2.5.1", "2.5.1+cu121"]
    assert index.confused == ()


def test_absence_from_an_extra_index_is_kept(server, other_server, opened: Open, tmp_path: Path) -> None:
    names = [f"p{i}" for i in range(8)]
    for name in names:
        wheels(server, name, "1.0")
    extra = (ExtraIndex("extra-1", other_server.root + "/whl/cu121"), ExtraIndex("extra-2", other_server.url))
    for freshness in (600.0, 600.0, 0.0):
        index = opened(extra=extra, freshness=freshness)
        index.prefetch_pages(names)
        assert [versions(index.page(name)) for name in names] == [["1.0"]] * 8
    assert other_server.count("/whl/cu121/") == 8, "an index of one label holds few projects: it is believed for long"
    assert other_server.count("/simple/") == 16


def test_later_extra_index_with_the_label_replaces_stand_ins(server, other_server, opened: Open) -> None:
    wheels(server, "torch", "2.1.1")
    wheels(other_server, "torch", "2.1.0+cu118", "2.1.1+cpu")
    labels = (("torch", "cu118"), ("torch", "cpu"))
    index = opened(extra=(ExtraIndex("gone", closed_port(), labels), ExtraIndex("there", other_server.url, labels)))
    files = index.page("torch").files
    assert [(str(file.version), file.index) for file in files] == [
        ("2.1.1", "default"),
        ("2.1.0+cu118", "there"),
        ("2.1.1+cpu", "there"),
    ]
    assert [item.index for item in index.unreachable] == ["gone"]


def test_proxy_of_pips_configuration(server, opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    wheels(server, "demo", "1.0")
    server.answers["http://far.example/simple/demo/"] = server.answers["/simple/demo/"]
    monkeypatch.setenv("PIP_PROXY", server.root)
    assert versions(opened(default_url="http://far.example/simple").page("demo")) == ["1.0"]


def test_certificates_that_cannot_be_read(opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_CERT", "/nowhere/ca.pem")
    with pytest.raises(IndexUnavailable, match=r"certificates `/nowhere/ca.pem` of pip's `cert` cannot be read"):
        opened().page("demo")


def test_default_index_is_shown_without_credentials() -> None:
    settings = IndexSettings(default_url="https://user:secret@far.example/simple")
    assert default_index_url(settings) == "https://far.example/simple"


def test_no_index_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("envdoctor.adapters.index.opening.builtin_index_url", lambda: None)
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    with pytest.raises(IndexUnavailable, match="set `ENVDOCTOR_INDEX_URL`"):
        open_index(IndexSettings())


def test_extra_index_out_of_reach(server, opened: Open) -> None:
    wheels(server, "torch", "2.1.1")
    index = opened(extra=(ExtraIndex("extra-1", closed_port(), labels=(("torch", "cu118"),)),))
    files = index.page("torch").files
    assert [(str(file.version), file.stand_in) for file in files] == [("2.1.1", False), ("2.1.1+cu118", True)]
    with pytest.raises(IndexUnavailable):
        index.page("private")
    assert [item.index for item in index.unreachable] == ["extra-1"]


@pytest.fixture(params=["refused", "silent", "no certificate", 503, 403, 200])
def dead(request: pytest.FixtureRequest, other_server, by_hand) -> str:
    """Return the address of an index that tells nothing."""
    if request.param == "refused":
        return closed_port()
    if request.param == "silent":
        return str(by_hand(lambda _connection: None))
    if request.param == "no certificate":
        return str(other_server.url).replace("http:", "https:")
    for name in ("torch", "helper", "absent"):
        other_server.answers[f"/simple/{name}/"] = Answer(b"please log in", "text/plain", request.param)
    return str(other_server.url)


def test_nothing_is_concluded_from_other_indexes_where_the_default_one_tells_nothing(
    server, dead: str, opened: Open, tmp_path: Path
) -> None:
    (tmp_path / "wheels").mkdir()
    (tmp_path / "wheels" / "torch-2.6-py3-none-any.whl").write_bytes(make_wheel("torch-2.6-py3-none-any.whl"))
    wheels(server, "helper", "1.0")
    links = ExtraIndex("links", (tmp_path / "wheels").as_uri(), flat=True)
    index = opened(default_url=dead, extra=(links, ExtraIndex("extra", server.url)), timeout=1.0)
    for name in ("torch", "helper", "absent"):
        with pytest.raises(IndexUnavailable) as failed:
            index.page(name)
        assert failed.value.unknown.index == "default"


def test_find_links(server, opened: Open, tmp_path: Path) -> None:
    answer = server.page("links", [])
    answer.content_type = "text/html"
    answer.body = b'<a href="a_b-1.0-py3-none-any.whl">1</a><a href="a-b-c-2.0.tar.gz">2</a>'
    (tmp_path / "wheels").mkdir()
    (tmp_path / "wheels" / "here-3.0-py3-none-any.whl").write_bytes(b"")
    extra = (
        ExtraIndex("links-1", server.url + "links/", flat=True),
        ExtraIndex("links-2", str(tmp_path / "wheels"), flat=True),
    )
    for _ in range(2):
        index = opened(extra=extra)
        assert [versions(index.page(name)) for name in ("a-b", "a-b-c", "here")] == [["1.0"], ["2.0"], ["3.0"]]
    assert server.counts()["/simple/links/"] == 1


def test_progress_is_told(server, tmp_path: Path) -> None:
    class Told:
        def __init__(self) -> None:
            self.calls: list[tuple[object, ...]] = []

        def start(self, activity: str, total: int | None = None) -> None:
            self.calls.append(("start",))

        def advance(self, activity: str, by: int = 1, note: str = "") -> None:
            self.calls.append(("advance", note))

        def finish(self, activity: str) -> None:
            self.calls.append(("finish",))

    wheels(server, "demo", "1.0")
    told = Told()
    for _ in range(2):
        index = open_index(IndexSettings(default_url=server.url, cache_dir=tmp_path / "c"), told)
        index.page("demo")
        index.close()
    assert told.calls == [("start",), ("advance", "demo"), ("finish",)], "a cached page is no progress to draw"


def test_stand_ins_end_where_builds_of_their_label_ended(server, opened: Open) -> None:
    wheels(server, "torch", "2.7.1", "2.8.0")
    wheels(server, "torchvision", "0.22.1", "0.23.0")
    index = opened(bound=(bound_to(closed_port() + "/whl/cu118", "torch", "torchvision"),))
    assert versions(index.page("torch")) == ["2.7.1+cu118"]
    assert versions(index.page("torchvision")) == ["0.22.1+cu118"]
