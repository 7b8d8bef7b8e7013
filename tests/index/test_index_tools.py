"""Indexes that uv's configuration and variables name, passwords of the keyring, and names that stay on one index."""

from __future__ import annotations

import base64
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from index_samples import versions
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from envdoctor.adapters.index import AnyIndex
from envdoctor.adapters.index.credentials import Credentials
from envdoctor.adapters.index.index_settings import ExtraIndex
from envdoctor.adapters.index.pip_settings import PipSettings, read_pip_settings
from envdoctor.adapters.index.project_indexes import ProjectIndexes, indexes_of, read_uv_configuration, with_machines
from envdoctor.adapters.project import read_project
from envdoctor.model.profile import BoundIndex, Profile, ProfileTarget
from envdoctor.model.project import Project
from envdoctor.model.target import Arch, Backend, OperatingSystem, Target
from envdoctor.ports import IndexUnavailable
from envdoctor.verbs.index_choice import IndexChoice, index_settings, open_ports, with_machines_builds

Open = Callable[..., AnyIndex]


@pytest.fixture(autouse=True)
def no_configuration(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("UV_INDEX", "UV_DEFAULT_INDEX", "UV_INDEX_URL", "UV_EXTRA_INDEX_URL", "UV_FIND_LINKS", "UV_NO_INDEX"):
        monkeypatch.delenv(name, raising=False)
    for name in ("PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS", "PIP_NO_INDEX", "UV_CONFIG_FILE", "UV_KEYRING_PROVIDER"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")


def test_variables_of_uv_name_indexes_with_their_users(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UV_DEFAULT_INDEX", "https://main.example/simple")
    monkeypatch.setenv("UV_INDEX", "our-own=https://a.example/simple https://b.example/simple?x")
    monkeypatch.setenv("UV_FIND_LINKS", "https://c.example/files,/srv/wheels")
    monkeypatch.setenv("UV_INDEX_OUR_OWN_USERNAME", "me")
    monkeypatch.setenv("UV_INDEX_OUR_OWN_PASSWORD", "p/w")
    found = read_uv_configuration()
    assert found.index_url == "https://main.example/simple"
    assert found.extra_index_urls == ("https://me:p%2Fw@a.example/simple", "https://b.example/simple?x")
    assert found.find_links == ("https://c.example/files", "/srv/wheels")
    assert found.places["https://c.example/files"] == "UV_FIND_LINKS"


@pytest.mark.skipif(os.name == "nt", reason="uv does not look at `XDG_CONFIG_HOME` there")
def test_files_of_uv_are_read_and_a_bad_one_is_told_with_its_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "config" / "uv"
    folder.mkdir(parents=True)
    (folder / "uv.toml").write_text(
        'index-url = "https://main.example/simple"\nextra-index-url = ["https://a.example/simple"]\n'
        '[[index]]\nname = "apart"\nurl = "https://no.example/simple"\nexplicit = true\n'
        '[[index]]\nurl = "https://flat.example/files"\nformat = "flat"\n',
        encoding="utf-8",
    )
    found = read_uv_configuration()
    assert (found.index_url, found.extra_index_urls) == ("https://main.example/simple", ("https://a.example/simple",))
    assert found.find_links == ("https://flat.example/files",)
    assert found.places["index-url"] == str(folder / "uv.toml")
    (folder / "uv.toml").write_text("index-url = \n", encoding="utf-8")
    (text,) = read_uv_configuration().unreadable
    assert text.startswith(f"{folder / 'uv.toml'}, line 1: ")
    monkeypatch.setenv("UV_NO_CONFIG", "1")
    assert read_uv_configuration() == PipSettings()


def test_the_default_index_of_uv_counts_where_nobody_else_names_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UV_INDEX_URL", "https://uv.example/simple")
    named = with_machines(ProjectIndexes(), None, PipSettings(), read_uv_configuration())
    assert named.default is not None
    assert (named.default.url, named.default.alone) == ("https://uv.example/simple", True)
    pips = PipSettings(index_url="https://pip.example/simple")
    assert with_machines(ProjectIndexes(), None, pips, read_uv_configuration()).default is None


@pytest.mark.parametrize(
    ("variable", "value", "row"),
    [
        ("UV_INDEX", "x=https://me:hidden@a.example/simple", ("https://a.example/simple", "UV_INDEX")),
        ("PIP_EXTRA_INDEX_URL", "https://me:hidden@a.example/s", ("https://a.example/s", "PIP_EXTRA_INDEX_URL")),
        ("PIP_INDEX_URL", "https://me:hidden@a.example/s", ("https://a.example/s", "PIP_INDEX_URL")),
        ("UV_DEFAULT_INDEX", "https://me:hidden@a.example/s", ("https://a.example/s", "UV_DEFAULT_INDEX")),
        ("PIP_FIND_LINKS", "https://a.example/f.html", ("https://a.example/f.html", "PIP_FIND_LINKS")),
    ],
)
def test_the_scope_names_each_index_and_its_place(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str, row: tuple[str, str]
) -> None:
    monkeypatch.setenv(variable, value)
    rows = [(one.value, one.origin) for one in index_settings(IndexChoice(), None)]
    assert row in rows
    assert "hidden" not in str(rows)
    assert len(rows) == len(set(rows))


def test_the_place_of_an_index_whose_own_name_has_an_of_in_it(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text(
        "--index-url https://a.example/main\n--extra-index-url https://a.example/more\nsix\n", encoding="utf-8"
    )
    project = read_project(tmp_path)
    names = {"https://a.example/main": "best of theirs", "https://a.example/more": "rest of ours"}
    rows = index_settings(IndexChoice(), None, replace(project, index_names=names))
    assert [(row.value, row.origin) for row in rows] == [
        ("https://a.example/main", "requirements.txt:1"),
        ("https://a.example/more", "requirements.txt:2"),
    ]


def test_no_index_leaves_none_but_links(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", "https://a.example/f.html")
    assert [one.value for one in index_settings(IndexChoice(), None)] == ["https://a.example/f.html"]
    assert read_pip_settings(tmp_path).no_index


def test_a_name_that_a_source_places_is_asked_nowhere_else(server, opened: Open, tmp_path: Path) -> None:
    server.page("our-kit", [server.wheel("our_kit-9.0-py3-none-any.whl")])
    server.page("six", [server.wheel("six-1.0-py3-none-any.whl")])
    closed = "http://127.0.0.1:9/simple"
    (tmp_path / "pyproject.toml").write_text(
        '[project]\nname = "x"\nversion = "1"\ndependencies = ["our-kit", "six"]\n'
        '[tool.uv.sources]\nour-kit = {index = "ours"}\n'
        f'[[tool.uv.index]]\nname = "ours"\nurl = "{closed}"\nexplicit = true\n',
        encoding="utf-8",
    )
    named = indexes_of(read_project(tmp_path))
    index = opened(named_bound=named.bound, private=named.private)
    with pytest.raises(IndexUnavailable):
        index.page("our-kit")
    assert server.count("our-kit") == 0
    assert versions(index.page("six")) == ["1.0"]
    again = opened(named_bound=(BoundIndex("mirror", closed, ("six",)),))
    assert versions(again.page("six")) == ["1.0"], "what a command takes from a mirror is no private name"


@pytest.mark.parametrize(("system", "stands_in"), [(OperatingSystem.LINUX, True), (OperatingSystem.WINDOWS, False)])
def test_nothing_stands_in_for_an_index_of_another_system(server, system: OperatingSystem, stands_in: bool) -> None:
    server.page("torch", [server.wheel("torch-2.1.1-cp311-cp311-manylinux1_x86_64.whl")])
    own = ProfileTarget(OperatingSystem.LINUX, Arch.X86_64, SpecifierSet(">=3.10"), Backend.ROCM)
    bound = BoundIndex("theirs", "http://127.0.0.1:9/simple", (canonicalize_name("torch"),), local_label="cu118")
    target = Target(system, Arch.X86_64, (3, 12), Backend.ROCM)
    choice = IndexChoice(index_url=server.url)
    index = open_ports(choice, Profile("p", "", own, indexes=(bound,)), None, target=target)
    try:
        if stands_in:
            assert [(str(file.version), file.stand_in) for file in index.page("torch").files] == [("2.1.1+cu118", True)]
        else:
            with pytest.raises(IndexUnavailable):
                index.page("torch")
    finally:
        index.close()


shell = pytest.mark.skipif(os.name == "nt", reason="CreateProcess starts no shell script")


def _keyring(folder: Path, answer: str) -> None:
    folder.mkdir(exist_ok=True)
    program = folder / "keyring"
    program.write_text(f'#!/bin/sh\necho "$@" >> {folder}/asked\n{answer}\n', encoding="utf-8")
    program.chmod(0o755)


@shell
def test_the_keyring_knows_the_password_of_a_user_in_a_url(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _keyring(tmp_path / "bin", "echo hidden")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    credentials = Credentials()
    clean = credentials.take("https://oauth2accesstoken@index.example/simple/")
    expected = "Basic " + base64.b64encode(b"oauth2accesstoken:hidden").decode()
    assert credentials.authorization(clean + "demo/") == expected
    assert credentials.authorization(clean) == expected
    asked = (tmp_path / "bin" / "asked").read_text(encoding="utf-8").splitlines()
    assert asked == ["get https://index.example/simple/ oauth2accesstoken"]


@shell
@pytest.mark.parametrize(("answer", "used"), [("exit 1", True), ("echo hidden", False)])
def test_without_the_keyring_a_user_alone_may_be_a_token(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: str, used: bool
) -> None:
    _keyring(tmp_path / "bin", answer)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    monkeypatch.setenv("PIP_KEYRING_PROVIDER", "auto" if used else "disabled")
    credentials = Credentials(keyring=read_pip_settings(tmp_path).keyring)
    clean = credentials.take("https://token@index.example/simple/")
    assert credentials.authorization(clean) == "Basic " + base64.b64encode(b"token:").decode()
    assert (tmp_path / "bin" / "asked").is_file() is used


def test_an_extra_index_of_a_project_is_not_taken_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    url = "https://a.example/simple"
    monkeypatch.setenv("UV_INDEX", url)
    named = ProjectIndexes(extra=(ExtraIndex("a of requirements.txt:1", url),))
    found = with_machines(named, None, PipSettings(), read_uv_configuration())
    assert [item.name for item in found.extra] == ["a of requirements.txt:1"]


@pytest.mark.parametrize(
    ("value", "name"),
    [
        *((word, "no-build-isolation") for word in ("0", "false", "no", "off", "n", "F")),
        *((word, "build-isolation") for word in ("1", "true", "yes", "on", "y", "T")),
        *((word, None) for word in ("", "maybe")),
    ],
)
@pytest.mark.parametrize("by_file", [False, True])
def test_pips_no_build_isolation_is_read_as_pip_reads_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, value: str, name: str | None, *, by_file: bool
) -> None:
    place = str(tmp_path / "pip.conf") if by_file else "PIP_NO_BUILD_ISOLATION"
    if by_file:
        Path(place).write_text(f"[install]\nno-build-isolation = {value}\n", encoding="utf-8")
        monkeypatch.setenv("PIP_CONFIG_FILE", place)
    else:
        monkeypatch.setenv(place, value)
    told = [(one.name, str(one.origin)) for one in read_pip_settings(tmp_path).options]
    assert told == ([(name, place)] if name else [])


def test_what_this_machine_builds_without_isolation_counts_for_a_project(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "uv.toml").write_text('no-build-isolation-package = ["a"]\n', encoding="utf-8")
    monkeypatch.setenv("UV_CONFIG_FILE", str(tmp_path / "uv.toml"))
    monkeypatch.setenv("PIP_NO_BUILD_ISOLATION", "0")
    monkeypatch.setenv("UV_NO_BUILD_ISOLATION", "false")
    options = with_machines_builds(Project(".")).options
    assert [(one.name, one.value, str(one.origin)) for one in options] == [
        ("no-build-isolation", "", "PIP_NO_BUILD_ISOLATION"),
        ("no-build-isolation", "a", str(tmp_path / "uv.toml")),
    ]
    monkeypatch.setenv("UV_NO_BUILD_ISOLATION", "true")
    assert str(with_machines_builds(Project(".")).options[1].origin) == "UV_NO_BUILD_ISOLATION"
