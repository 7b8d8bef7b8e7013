"""Archives, paths and files that must not be what they are: refused before any change."""

from __future__ import annotations

import io
import os
import tarfile
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from apply_archives import Served, make_wheel, planned, serve
from apply_treating import apply, only
from apply_world import (
    ALPHA_2,
    EVERYTHING,
    UV,
    World,
    full_plan,
    site_of,
    tree_state,
)

from envdoctor.adapters.apply import downloads
from envdoctor.adapters.apply.downloads import WrongFile, check_sdist, wheel_targets
from envdoctor.adapters.apply.executor import apply_plan
from envdoctor.adapters.apply.holding import hold_environment
from envdoctor.adapters.apply.installers import Uv
from envdoctor.adapters.apply.journal import list_journals
from envdoctor.adapters.apply.paths import PathEscape, resolve_inside
from envdoctor.adapters.index.download import IndexFetch
from envdoctor.ports import SilentProgress

links = pytest.mark.skipif(os.name == "nt", reason="CreateSymbolicLink needs a privilege on Windows")


def test_a_wrong_hash_stops_before_any_change(world: World, served: Served) -> None:
    before = world.state()
    wrong = replace(planned("alpha", "2.0", *ALPHA_2, served.url), hashes=(("sha256", "0" * 64),))
    applied = apply(world, only(world, wrong))
    assert applied.refused
    assert "is not what the lock says" in str(applied.failure)
    assert world.state() == before
    assert "packages-begin" not in {event["event"] for event in list_journals(world.environment)[0].events}


def test_a_lost_network_is_taken_back_and_told_apart(world: World) -> None:
    before = world.state()
    with serve(dict(EVERYTHING)) as broken:
        broken.cut_after = 100
        fetch = IndexFetch([])
        fetch._open().sleep = lambda _seconds: None
        plan = only(world, planned("alpha", "2.0", *ALPHA_2, broken.url))
        with hold_environment(world.environment, wait_s=5, say=lambda _text: None) as held:
            applied = apply_plan(plan, held, Uv(UV), fetch, SilentProgress())
    assert applied.network
    assert world.state() == before


@pytest.mark.parametrize("member", ["../evil.py", "/var/evil.py", "a/../../evil.py", "C:/evil.py", "..\\evil.py"])
def test_a_wheel_that_would_leave_its_folder_is_refused(world: World, served: Served, member: str) -> None:
    before = world.state()
    name, data = make_wheel("evil", "1.0", {"evil.py": "x = 1\n", member: "y = 2\n"})
    served.files[name] = data
    applied = apply(world, only(world, planned("evil", "1.0", name, data, served.url)))
    assert applied.refused
    assert "member" in str(applied.failure)
    assert world.state() == before


def test_a_link_in_a_wheel_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "evil-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        entry = zipfile.ZipInfo("evil/link")
        entry.external_attr = 0o120777 << 16
        archive.writestr(entry, "/etc/passwd")
    with pytest.raises(WrongFile, match="is a link"):
        wheel_targets(path)


@pytest.mark.parametrize("name", ["RECORD", "entry_points.txt"])
def test_a_list_in_a_wheel_that_unpacks_to_gigabytes_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(downloads, "_LARGEST_TEXT", 1024 * 1024)
    path = tmp_path / "evil-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(f"evil-1.0.dist-info/{name}", b"\n" * (1024 * 1024 + 1))
    with pytest.raises(WrongFile, match=f"`evil-1.0.dist-info/{name}` is larger than 1 MiB"):
        wheel_targets(path)


def test_a_script_name_that_leaves_the_folder_is_refused(tmp_path: Path) -> None:
    name, data = make_wheel("evil", "1.0", {"evil.py": ""}, scripts="../../evil = evil:go")
    (tmp_path / name).write_bytes(data)
    with pytest.raises(WrongFile, match="leaves its folder"):
        wheel_targets(tmp_path / name)


@pytest.mark.parametrize(
    "member",
    [
        "data/pyvenv.cfg",
        "data/.envdoctor/environment.json",
        "data/bin/python3.11",
        "scripts/python",
        "scripts/Activate",
    ],
)
def test_a_wheel_that_would_write_over_the_environment_itself_is_refused(tmp_path: Path, member: str) -> None:
    name, data = make_wheel("evil", "1.0", {"evil.py": "", f"evil-1.0.data/{member}": "x"})
    (tmp_path / name).write_bytes(data)
    with pytest.raises(WrongFile, match="the environment's own"):
        wheel_targets(tmp_path / name)


def test_a_script_that_is_called_after_python_is_fine(tmp_path: Path) -> None:
    name, data = make_wheel("fine", "1.0", {"fine.py": "", "fine-1.0.data/scripts/python-argcomplete": ""})
    (tmp_path / name).write_bytes(data)
    assert ("scripts", "python-argcomplete") in wheel_targets(tmp_path / name)


@pytest.mark.parametrize("row", ["../../../../etc/hosts,,", "/etc/hosts,,", '"../x,y",sha256=x,1'])
def test_a_list_of_files_that_leads_out_is_refused(tmp_path: Path, row: str) -> None:
    name, data = make_wheel("evil", "1.0", {"evil.py": ""})
    path = tmp_path / name
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(path, "w") as new:
        for item in old.infolist():
            own = item.filename.endswith("RECORD")
            new.writestr(item.filename, old.read(item) + (row.encode() + b"\n" if own else b""))
    with pytest.raises(WrongFile, match="its RECORD names"):
        wheel_targets(path)


@links
def test_a_package_whose_folder_is_a_link_out_is_left_alone(world: World, served: Served, tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    package = site_of(world.environment) / "alpha"
    package.rename(mine)
    package.symlink_to(mine)
    before, theirs = world.state(), tree_state(mine)
    applied = apply(world, only(world, planned("alpha", "2.0", *ALPHA_2, served.url)))
    assert applied.refused
    assert "out of the environment" in str(applied.failure) or "outside it" in str(applied.failure)
    assert (world.state(), tree_state(mine)) == (before, theirs)


def test_an_installed_list_of_files_that_leads_out_is_not_followed(
    world: World, served: Served, tmp_path: Path
) -> None:
    (tmp_path / "letter").write_text("dear")
    site = site_of(world.environment)
    record = site / "alpha-1.0.dist-info/RECORD"
    record.write_text(record.read_text() + f"{os.path.relpath(tmp_path / 'letter', site)},,\n")
    before = world.state()
    applied = apply(world, only(world, planned("alpha", "2.0", *ALPHA_2, served.url)))
    assert applied.refused
    assert (tmp_path / "letter").read_text() == "dear"
    assert world.state() == before


@pytest.mark.parametrize(
    ("member", "link"), [("../evil.py", ""), ("/evil.py", ""), ("a/link", "../../etc"), ("link", "/etc/passwd")]
)
def test_a_source_archive_that_would_leave_its_folder_is_refused(tmp_path: Path, member: str, link: str) -> None:
    path = tmp_path / "evil-1.0.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        entry = tarfile.TarInfo(member)
        if link:
            entry.type, entry.linkname = tarfile.SYMTYPE, link
        archive.addfile(entry, io.BytesIO())
    with pytest.raises(WrongFile):
        check_sdist(path)


@pytest.mark.parametrize("look", [wheel_targets, check_sdist])
def test_an_archive_with_a_name_that_is_no_text_is_refused(tmp_path: Path, look: Callable[[Path], object]) -> None:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("ä.py", "")
    path = tmp_path / "odd-1.0.zip"
    path.write_bytes(content.getvalue().replace("ä".encode(), b"\x80\x80"))
    with pytest.raises(WrongFile, match="not a "):
        look(path)


def test_a_file_that_changed_since_the_plan_is_left_alone(world: World, served: Served) -> None:
    plan = full_plan(world, served.url)
    (world.project / "app.py").write_bytes(b"changed meanwhile\n")
    before = world.state()
    applied = apply(world, plan)
    assert applied.refused
    assert "is not the file that the plan was made for" in str(applied.failure)
    assert world.state() == before


@links
def test_a_file_that_became_a_link_out_is_left_alone(world: World, served: Served, tmp_path: Path) -> None:
    plan = full_plan(world, served.url)
    outside = tmp_path / "outside.py"
    outside.write_bytes((world.project / "app.py").read_bytes())
    (world.project / "app.py").unlink()
    (world.project / "app.py").symlink_to(outside)
    before, content = world.state(), outside.read_bytes()
    assert apply(world, plan).refused
    assert world.state() == before
    assert outside.read_bytes() == content


def test_a_name_that_the_system_does_not_look_at_leaves_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def realpath(path: object) -> str:
        raise OSError(9, "Invalid handle", str(path))  # `con`, on Windows without a console

    monkeypatch.setattr(os.path, "realpath", realpath)
    with pytest.raises(PathEscape, match="`con` cannot be looked at: Invalid handle"):
        resolve_inside(tmp_path, "con")
