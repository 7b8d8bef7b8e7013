from __future__ import annotations

import hashlib
from collections.abc import Callable

import pytest
from index_samples import make_sdist
from index_server import make_wheel

from envdoctor.adapters.index import AnyIndex, ExtraIndex, archive_bytes
from envdoctor.model.candidate import BuildRisk, CoreMetadata, FileKind, MetadataSource
from envdoctor.ports import IndexUnavailable, MetadataUnavailable

Open = Callable[..., AnyIndex]
WHEEL = "demo-1.0-py3-none-any.whl"
SIDECAR = b"Metadata-Version: 2.1\nName: demo\nVersion: 1.0\nRequires-Dist: numpy\nProvides-Extra: gpu\n\n"


def only(index: AnyIndex, name: str = "demo") -> CoreMetadata:
    (file,) = index.page(name).files
    return index.metadata(file)


def test_advertised_sidecar_is_all_that_is_fetched(server, opened: Open) -> None:
    digest = {"sha256": hashlib.sha256(SIDECAR).hexdigest()}
    server.page("demo", [server.wheel(WHEEL, **{"core-metadata": digest})])
    server.file(WHEEL + ".metadata", SIDECAR)
    metadata = only(opened())
    assert metadata.requires_dist == ("numpy",)
    assert metadata.provides_extra == frozenset({"gpu"})
    assert metadata.source is MetadataSource.SIDECAR
    assert server.count("/files/") == 1


def test_sidecar_of_another_hash_is_refused(server, opened: Open) -> None:
    server.page("demo", [server.wheel(WHEEL, **{"core-metadata": {"sha256": "0" * 64}})])
    server.file(WHEEL + ".metadata", SIDECAR)
    with pytest.raises(MetadataUnavailable, match="sidecar's hash"):
        only(opened())


def test_unadvertised_sidecar_is_tried_once_an_index(server, opened: Open) -> None:
    names = ["a", "b", "c"]
    for name in names:
        server.page(name, [server.wheel(f"{name}-1.0-py3-none-any.whl", "numpy")])
    index = opened()
    assert [only(index, name).source for name in names] == [MetadataSource.RANGE] * 3
    assert (server.count(".metadata"), server.count(".whl")) == (1, 4)
    again = opened()
    server.page("d", [server.wheel("d-1.0-py3-none-any.whl")])
    assert only(again, "d").source is MetadataSource.RANGE
    assert server.count(".metadata") == 1, "a later process remembers, too"


def test_unadvertised_sidecar_is_used_where_there_is_one(server, opened: Open) -> None:
    server.page("demo", [server.wheel(WHEEL)])
    server.file(WHEEL + ".metadata", SIDECAR)
    assert only(opened()).source is MetadataSource.SIDECAR


def test_server_that_answers_everything_with_a_page_has_no_sidecars(server, opened: Open) -> None:
    server.page("demo", [server.wheel(WHEEL, "scipy")])
    server.file(WHEEL + ".metadata", b"<html>Welcome</html>")
    assert only(opened()).requires_dist == ("scipy",)


def test_range_takes_one_request_where_the_tail_is_enough(server, opened: Open) -> None:
    body = make_wheel(WHEEL, "numpy>=1.20", 'torch ; extra == "gpu"', padding=300_000)
    server.page("demo", [server.file(WHEEL, body)])
    metadata = only(opened())
    assert metadata.requires_dist == ("numpy>=1.20", 'torch ; extra == "gpu"')
    assert server.counts()[f"/files/{WHEEL}"] == 1
    assert server.asked[-1][1]["range"].startswith("bytes=")


def test_large_directory_takes_two_requests(server, opened: Open) -> None:
    members = {f"demo/sub/module_{i:05}.py": b"" for i in range(2000)}
    server.page("demo", [server.file(WHEEL, make_wheel(WHEEL, "numpy", members=members))])
    assert only(opened()).requires_dist == ("numpy",)
    assert server.counts()[f"/files/{WHEEL}"] == 2


def test_size_is_not_needed(server, opened: Open) -> None:
    server.page("demo", [server.wheel(WHEEL, "numpy", size=None)])
    assert only(opened()).requires_dist == ("numpy",)
    assert server.asked[-1][1]["range"].startswith("bytes=-")


def test_server_without_ranges_gives_the_whole_wheel(server, opened: Open) -> None:
    server.page("demo", [server.wheel(WHEEL, "numpy")])
    server.answers[f"/files/{WHEEL}"].ranges = False
    assert only(opened()).source is MetadataSource.WHEEL


def test_whole_wheel_of_another_hash_is_refused(server, opened: Open) -> None:
    server.page("demo", [server.wheel(WHEEL, hashes={"sha256": "0" * 64})])
    server.answers[f"/files/{WHEEL}"].ranges = False
    with pytest.raises(MetadataUnavailable, match="its hash"):
        only(opened())


def test_large_wheel_without_ranges_is_unavailable(server, opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive_bytes, "WHOLE", 1000)
    server.page("demo", [server.file(WHEEL, make_wheel(WHEEL, padding=50_000))])
    server.answers[f"/files/{WHEEL}"].ranges = False
    with pytest.raises(MetadataUnavailable, match="does no ranges"):
        only(opened())


@pytest.mark.parametrize("body", [b"", b"not a zip at all", make_wheel(WHEEL)[:-30], make_wheel(WHEEL)[200:]])
def test_damaged_wheel_is_unavailable(server, opened: Open, body: bytes) -> None:
    server.page("demo", [server.file(WHEEL, body)])
    with pytest.raises((MetadataUnavailable, IndexUnavailable)):
        only(opened())


@pytest.mark.parametrize(
    "other", ["other-1.0-py3-none-any.whl", "demo-2.0-py3-none-any.whl", "demo-1.0+x-py3-none-any.whl"]
)
def test_a_wheel_with_the_metadata_of_another_is_none(server, opened: Open, other: str) -> None:
    # pip: "inconsistent name", "inconsistent version"; uv refuses it, too.
    server.page("demo", [server.file(WHEEL, make_wheel(other))])
    with pytest.raises(MetadataUnavailable, match="installers refuse it"):
        only(opened())


def test_a_wheel_with_two_folders_of_metadata_is_none(server, opened: Open) -> None:
    second = {"other-2.0.dist-info/METADATA": b"Metadata-Version: 2.1\nName: other\nVersion: 2.0\n"}
    server.page("demo", [server.file(WHEEL, make_wheel(WHEEL, members=second))])
    with pytest.raises(MetadataUnavailable, match="several dist-info folders"):
        only(opened())


@pytest.mark.parametrize("version", [b"1", b"1.0.0", b"garbage", b""])
def test_a_version_that_is_written_otherwise_is_the_same(server, opened: Open, version: bytes) -> None:
    server.page("demo", [server.wheel(WHEEL, **{"core-metadata": True})])
    server.file(WHEEL + ".metadata", SIDECAR.replace(b"Version: 1.0", b"Version: " + version))
    assert only(opened()).requires_dist == ("numpy",)


def test_members_are_read_by_range(server, opened: Open) -> None:
    body = make_wheel(WHEEL, padding=200_000, members={"torch/version.py": b"cuda = None\n"})
    server.page("demo", [server.file(WHEEL, body)])
    index = opened()
    (file,) = index.page("demo").files
    assert index.read(file, "torch/version.py") == b"cuda = None\n"
    assert index.read(file, "torch/other.py") is None
    assert "torch/version.py" in index.names(file)
    before = server.count()
    again = opened()
    assert again.read(file, "torch/version.py") == b"cuda = None\n"
    assert len(again.names(file)) == 4
    assert server.count() == before


def test_metadata_of_a_wheel_on_disk(opened: Open, tmp_path) -> None:
    (tmp_path / "simple" / "demo").mkdir(parents=True)
    (tmp_path / "simple" / "demo" / WHEEL).write_bytes(make_wheel(WHEEL, "numpy"))
    index = opened(default_url=(tmp_path / "simple").as_uri())
    assert only(index).requires_dist == ("numpy",)


@pytest.mark.parametrize("flat", [False, True])
def test_what_was_read_of_a_file_on_disk_holds_for_that_file_alone(opened: Open, tmp_path, flat: bool) -> None:
    content, digest = make_wheel(WHEEL, "numpy"), hashlib.sha256(make_wheel(WHEEL, "numpy")).hexdigest()
    folder = tmp_path / "simple" / "demo"
    folder.mkdir(parents=True)
    (folder / WHEEL).write_bytes(content)
    if not flat:
        (folder / "index.html").write_text(f'<a href="{WHEEL}#sha256={digest}">{WHEEL}</a>')

    def read() -> CoreMetadata:
        links = ExtraIndex("links", folder.as_uri(), flat=True)
        return only(opened(no_index=True, extra=(links,)) if flat else opened(default_url=folder.parent.as_uri()))

    assert read().requires_dist == ("numpy",)
    (folder / WHEEL).write_bytes(content[:200])
    with pytest.raises(MetadataUnavailable):
        read()
    (folder / WHEEL).write_bytes(make_wheel(WHEEL, "six"))
    if flat:
        assert read().requires_dist == ("six",)
    else:
        with pytest.raises(MetadataUnavailable, match="hash is not the one"):
            read()


@pytest.mark.parametrize("hashes", [(("shake_256", "00"),), (("ripemd160", "00"), ("unheard-of", "00"))])
def test_hashes_that_cannot_be_made_are_not_compared(tmp_path, hashes: tuple[tuple[str, str], ...]) -> None:
    (tmp_path / WHEEL).write_bytes(b"content")
    assert archive_bytes.matches(b"content", hashes)
    assert archive_bytes.LocalBytes(tmp_path / WHEEL).matches(hashes)
    wrong = (*hashes, ("sha256", "00"))
    assert not archive_bytes.matches(b"content", wrong)
    assert not archive_bytes.LocalBytes(tmp_path / WHEEL).matches(wrong)


def test_legacy_requirements_are_mended_and_told(server, opened: Open) -> None:
    server.page("demo", [server.wheel(WHEEL, "PyYAML (>=5.1.*)", "numpy")])
    metadata = only(opened())
    assert metadata.requires_dist == ("PyYAML>=5.1", "numpy")
    assert metadata.mended == ("PyYAML (>=5.1.*)",)
    assert only(opened()).mended == metadata.mended, "the cache keeps it"


def test_requirement_that_nobody_can_read(server, opened: Open) -> None:
    server.page("demo", [server.wheel(WHEEL, "numpy @@ what")])
    with pytest.raises(MetadataUnavailable, match="`numpy @@ what` cannot be read"):
        only(opened())


SDISTS = {
    "static": (
        {"PKG-INFO": "Metadata-Version: 2.2\nName: demo\nVersion: 1.0\nRequires-Dist: numpy\n", "setup.py": "x"},
        ("numpy",),
        MetadataSource.PKG_INFO,
        BuildRisk.ANYWHERE,
    ),
    "egg": (
        {
            "PKG-INFO": "Metadata-Version: 1.1\nName: demo\nVersion: 1.0\n",
            "demo.egg-info/requires.txt": 'six\n\n[:python_version < "3"]\nmock ; os_name == "nt"\n\n[gpu]\ntorch\n',
            "setup.py": "setup(install_requires=['six'], ext_modules=[Extension('a', ['a.c'])])",
            "a.c": "",
        },
        ("six", 'mock ; (os_name == "nt") and (python_version < "3")', 'torch ; extra == "gpu"'),
        MetadataSource.EGG_INFO,
        BuildRisk.COMPILER,
    ),
    "pyproject": (
        {"pyproject.toml": '[project]\nname="demo"\nversion="1.0"\ndependencies=["six"]\n', "src/a.pyx": ""},
        ("six",),
        MetadataSource.PKG_INFO,
        BuildRisk.COMPILER,
    ),
    "nothing-to-hide": (
        {"PKG-INFO": "Metadata-Version: 1.0\nName: demo\nVersion: 1.0\n", "setup.py": "setup(name='demo')"},
        (),
        MetadataSource.PKG_INFO,
        BuildRisk.ANYWHERE,
    ),
}


def test_an_sdist_that_is_nested_without_end_is_read_without_that_file(server, opened: Open) -> None:
    members = {"pyproject.toml": "a=" + "[" * 5000, "setup.py": "setup(name='demo')"}
    server.page("demo", [server.file("demo-1.0.tar.gz", make_sdist("demo-1.0", members))])
    index = opened()
    (file,) = index.page("demo").files
    assert index.metadata(file).requires_dist == ()


@pytest.mark.parametrize("kind", SDISTS)
def test_sdist_is_read_as_text(server, opened: Open, kind: str) -> None:
    members, requires, source, risk = SDISTS[kind]
    server.page("demo", [server.file("demo-1.0.tar.gz", make_sdist("demo-1.0", members))])
    index = opened()
    (file,) = index.page("demo").files
    metadata = index.metadata(file)
    assert (metadata.requires_dist, metadata.source, index.build_risk(file)) == (requires, source, risk)
    assert set(index.names(file)) == {f"demo-1.0/{name}" for name in members}
    assert server.count(".tar.gz") == 1


def test_sdist_that_only_its_build_could_tell(server, opened: Open) -> None:
    members = {"setup.py": "setup(install_requires=open('r.txt').read().split())", "PKG-INFO": ""}
    server.page("demo", [server.file("demo-1.0.tar.gz", make_sdist("demo-1.0", {"setup.py": members["setup.py"]}))])
    with pytest.raises(MetadataUnavailable, match="ONLY_A_BUILD"):
        only(opened())


def test_sdist_of_another_hash_is_refused(server, opened: Open) -> None:
    body = make_sdist("demo-1.0", SDISTS["static"][0])
    server.page("demo", [server.file("demo-1.0.tar.gz", body, hashes={"sha256": "0" * 64})])
    with pytest.raises(MetadataUnavailable, match="its hash"):
        only(opened())


@pytest.mark.parametrize(
    "body",
    [b"", b"<html>", make_sdist("demo-1.0", {"PKG-INFO": "x" * 9000})[:60]],
    # Names of their own: an archive holds the time at which it was made, and workers must agree on names.
    ids=["empty", "html", "cut short"],
)
def test_damaged_sdist_is_unavailable(server, opened: Open, body: bytes) -> None:
    server.page("demo", [server.file("demo-1.0.tar.gz", body)])
    with pytest.raises(MetadataUnavailable):
        only(opened())


def test_sdist_members_can_be_read(server, opened: Open) -> None:
    server.page("demo", [server.file("demo-1.0.tar.gz", make_sdist("demo-1.0", {"setup.py": "", "a/b.txt": "hi"}))])
    index = opened()
    (file,) = index.page("demo").files
    assert index.read(file, "demo-1.0/a/b.txt") == b"hi"
    assert index.read(file, "demo-1.0/../x") is None


def test_a_wheel_for_another_platform_speaks_for_its_sdist(server, opened: Open) -> None:
    setup = {"setup.py": "setup(install_requires=open('r.txt').read().split())"}
    server.page(
        "demo",
        [
            server.wheel("demo-1.0-cp39-cp39-win32.whl", "numpy"),
            server.file("demo-1.0.tar.gz", make_sdist("demo-1.0", setup)),
        ],
    )
    index = opened()
    sdist = next(file for file in index.page("demo").files if file.kind is FileKind.SDIST)
    metadata = index.metadata(sdist)
    assert (metadata.requires_dist, metadata.source) == (("numpy",), MetadataSource.SIBLING)
    assert server.count(".tar.gz") == 0, "no archive is taken to learn what a few kilobytes tell"


@pytest.mark.parametrize("filename", ["demo-1.0-py3-none-any.whl", "demo-1.0.tar.gz"])
@pytest.mark.parametrize(
    ("status", "error"),
    [(404, MetadataUnavailable), (410, MetadataUnavailable), (403, IndexUnavailable), (500, IndexUnavailable)],
)
def test_a_host_that_fails_is_not_a_file_that_is_gone(
    server, opened: Open, filename: str, status: int, error: type[Exception]
) -> None:
    server.page("demo", [server.file(filename, b"anything")])
    server.answers[f"/files/{filename}"].status = status
    server.answers[f"/files/{filename}"].ranges = False
    index = opened()
    with pytest.raises(error, match=f"its server answered {status}"):
        index.metadata(index.page("demo").files[0])
