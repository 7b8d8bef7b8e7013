"""Until when files may have been uploaded: uv's ``exclude-newer`` and pip's ``uploaded-prior-to``, as each takes them.

What uv takes was looked up in what uv 0.13.9 itself makes of each text, what pip takes in pip 26.3.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime, timezone
from pathlib import Path

import pytest

from envdoctor.adapters.index import AnyIndex
from envdoctor.adapters.index.index_settings import IndexSettingsError
from envdoctor.adapters.index.pip_settings import read_pip_settings
from envdoctor.adapters.index.project_indexes import ProjectIndexes, indexes_of, read_uv_configuration, with_machines
from envdoctor.adapters.index.upload_limits import configured_limits
from envdoctor.adapters.project import read_project
from envdoctor.cli.main import main
from envdoctor.model.upload_limit import (
    UploadLimit,
    UploadLimits,
    pips_first_too_new,
    utc_text,
    uvs_first_too_new,
)

Open = Callable[..., AnyIndex]
NOW = datetime(2026, 1, 31, 12, tzinfo=timezone.utc)


def local(year: int, month: int, day: int) -> str:
    return utc_text(datetime(year, month, day).astimezone())


@pytest.fixture(autouse=True)
def machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Return the folder of a uv.toml of the machine, empty so far; pip.conf stands beside it."""
    for name in ("UV_NO_CONFIG", "UV_EXCLUDE_NEWER", "PIP_UPLOADED_PRIOR_TO", "XDG_CONFIG_DIRS"):
        monkeypatch.delenv(name, raising=False)
    folder = tmp_path / "machine"
    folder.mkdir()
    monkeypatch.setenv("UV_CONFIG_FILE", str(folder / "uv.toml"))
    monkeypatch.setenv("PIP_CONFIG_FILE", str(folder / "pip.conf"))
    return folder


def limits(project: Path | None) -> tuple[UploadLimits, tuple[str, ...]]:
    read = read_project(project, variables={}) if project else None
    pip, uv = read_pip_settings(project), read_uv_configuration()
    named = with_machines(indexes_of(read) if read else ProjectIndexes(), read, pip, uv)
    return configured_limits(read, named, pip, uv)


def project(folder: Path, table: str, **more: str) -> Path:
    folder = folder / "project"
    folder.mkdir()
    head = '[project]\nname = "p"\nversion = "1"\ndependencies = ["demo"]\n'
    (folder / "pyproject.toml").write_text(head + table, encoding="utf-8")
    for name, text in more.items():
        (folder / name.replace("_", ".")).write_text(text, encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("1 week", "2026-01-24T12:00:00"),
        ("7 days ago", "2026-01-24T12:00:00"),
        ("P7D", "2026-01-24T12:00:00"),
        ("-p7d", "2026-01-24T12:00:00"),
        ("1w2d", "2026-01-22T12:00:00"),
        ("2 weeks, 3 days", "2026-01-14T12:00:00"),
        ("P1W2DT12H", "2026-01-22T00:00:00"),
        ("1.5 hours", "2026-01-31T10:30:00"),
        ("1 week 12:00:00", "2026-01-24T00:00:00"),
        ("0 days", "2026-01-31T12:00:00"),
        ("2024-01-01T00:00:00Z", "2024-01-01T00:00:00"),
        ("2024-01-01 00:00:00+02:00", "2023-12-31T22:00:00"),
        ("2024-01-01T10-02", "2024-01-01T12:00:00"),
        ("2024-01-01T00:00:00.123456789Z", "2024-01-01T00:00:00"),
        ("2024-01-01", local(2024, 1, 2)),
        ("20240101", local(2024, 1, 2)),
        ("2024-01-01T10:00:00", local(2024, 1, 2)),
        ("false", ""),
        *((text, None) for text in ("", "yesterday", "30", "1 month", "P1M", "1 year", "1 Week", "0.5 days", "P")),
        *((text, None) for text in ("2024-02-30", "2024-1-1", "2024-01", "9999999 days", "2 days 1 week")),
        *((text, None) for text in ("9999-12-31", "9999-12-31T23:59:59-05:00", "0001-01-01T00:00:00+05:00")),
        *((text, None) for text in ("\uff12\uff10\uff12\uff14-01-01", "\u0663 days", "P\u0663D")),
        ("9999-12-31T23:59:59Z", "9999-12-31T23:59:59"),
    ],
)
def test_what_uv_takes(text: str, first: str | None) -> None:
    if first is not None:
        assert uvs_first_too_new(text, NOW) == first
        return
    with pytest.raises(ValueError, match="it takes a date"):
        uvs_first_too_new(text, NOW)


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("P7D", "2026-01-24T12:00:00"),
        ("2024-01-01T00:00:00Z", "2024-01-01T00:00:00"),
        ("2024-01-01T00:00:00+02:00", "2023-12-31T22:00:00"),
        ("2024-01-01", local(2024, 1, 1)),
        *((text, None) for text in ("", "p7d", "P1W", "PT12H", "-P7D", "1 week", "false", "P9999999999D")),
    ],
)
def test_what_pip_takes(text: str, first: str | None) -> None:
    if first is not None:
        assert pips_first_too_new(text, NOW) == first
        return
    with pytest.raises(ValueError, match="it takes a date"):
        pips_first_too_new(text, NOW)


def test_the_date_of_pyproject_counts_with_its_line(tmp_path: Path) -> None:
    folder = project(tmp_path, '[tool.uv]\nexclude-newer = "2024-05-02T00:00:00Z"\n')
    found, notes = limits(folder)
    assert found == UploadLimits(UploadLimit("2024-05-02T00:00:00", "exclude-newer", "pyproject.toml:6"))
    assert notes == (
        "files that were uploaded at 2024-05-02T00:00:00Z or later are left out: `exclude-newer` (pyproject.toml:6)",
    )


def test_a_package_and_an_index_go_before_what_holds_for_everything(tmp_path: Path) -> None:
    table = (
        '[tool.uv]\nexclude-newer = "2024-05-02T00:00:00Z"\n'
        'exclude-newer-package = { Free_one = false, "own" = "2023-01-01T00:00:00Z" }\n'
        '[[tool.uv.index]]\nname = "mine"\nurl = "https://u:secret@mine.example/simple"\nexclude-newer = false\n'
    )
    found, notes = limits(project(tmp_path, table))
    of = {name: found.of(name, "default") for name in ("demo", "free-one", "own")}  # type: ignore[arg-type]
    assert {name: limit and limit.first_too_new for name, limit in of.items()} == {
        "demo": "2024-05-02T00:00:00",
        "free-one": None,
        "own": "2023-01-01T00:00:00",
    }
    mine = "mine of pyproject.toml:8"
    assert found.of("demo", mine) is None  # type: ignore[arg-type]
    assert found.of("own", mine) == of["own"]  # type: ignore[arg-type]
    assert notes[1].startswith(f"of package `free-one`, package `own`, index `{mine}` another date counts")


def test_a_uv_toml_beside_stands_in_the_place_of_the_table(tmp_path: Path) -> None:
    folder = project(tmp_path, '[tool.uv]\nexclude-newer = "2020-01-01"\n', uv_toml='exclude-newer = "P1D"\n')
    found, _ = limits(folder)
    assert found.everywhere
    assert found.everywhere.place == "uv.toml:1"


def test_the_part_for_uv_pip_counts_where_the_table_says_nothing(tmp_path: Path) -> None:
    found, _ = limits(project(tmp_path, '[tool.uv.pip]\nexclude-newer = "2024-05-02T00:00:00Z"\n'))
    assert found.everywhere
    assert found.everywhere.place == "pyproject.toml:6"


def test_a_variable_goes_before_the_projects_file_and_that_before_the_machines(
    tmp_path: Path, machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (machine / "uv.toml").write_text('exclude-newer = "2020-01-01"\nexclude-newer-package = {a = "2021-01-01"}\n')
    assert limits(None)[0].everywhere == UploadLimit(local(2020, 1, 2), "exclude-newer", str(machine / "uv.toml"))
    folder = project(tmp_path, '[tool.uv]\nexclude-newer = "2024-05-02T00:00:00Z"\n')
    found, _ = limits(folder)
    assert found.everywhere
    assert found.everywhere.place == "pyproject.toml:6"
    assert set(found.packages) == {"a"}
    monkeypatch.setenv("UV_EXCLUDE_NEWER", "false")
    found, notes = limits(folder)
    assert found.of("demo", "default") is None  # type: ignore[arg-type]
    assert found.everywhere == UploadLimit("", "exclude-newer", "UV_EXCLUDE_NEWER")
    assert not any("are left out" in note for note in notes)


def test_pips_date_counts_before_this_machines_uv_and_not_before_the_projects(
    tmp_path: Path, machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (machine / "pip.conf").write_text("[global]\nuploaded-prior-to = 2024-05-02T00:00:00Z\n")
    assert limits(None)[0].everywhere == UploadLimit(
        "2024-05-02T00:00:00", "uploaded-prior-to", str(machine / "pip.conf")
    )
    monkeypatch.setenv("PIP_UPLOADED_PRIOR_TO", "2024-05-03T00:00:00Z")
    monkeypatch.setenv("UV_EXCLUDE_NEWER", "2024-05-04T00:00:00Z")
    found, notes = limits(None)
    assert found.everywhere == UploadLimit("2024-05-03T00:00:00", "uploaded-prior-to", "PIP_UPLOADED_PRIOR_TO")
    assert notes[-1] == "`exclude-newer` (UV_EXCLUDE_NEWER) is left aside: what pip is told counts"
    found, notes = limits(project(tmp_path, '[tool.uv]\nexclude-newer = "2020-01-01"\n'))
    assert found.everywhere == UploadLimit("2024-05-04T00:00:00", "exclude-newer", "UV_EXCLUDE_NEWER")
    assert notes[-1] == "`uploaded-prior-to` (PIP_UPLOADED_PRIOR_TO) is left aside: what uv is told counts"


@pytest.mark.parametrize("value", ['"yesterday"', "true", "7", "2024-01-01"])
def test_what_cannot_be_read_is_said_with_its_line(tmp_path: Path, value: str) -> None:
    folder = project(tmp_path, f"[tool.uv]\nexclude-newer = {value}\nexclude-newer-package = [1]\n")
    problems = [(str(one.origin), one.message) for one in read_project(folder, variables={}).problems]
    assert [place for place, _ in problems] == ["pyproject.toml:6", "pyproject.toml:7"]
    assert problems[0][1].startswith("`tool.uv.exclude-newer` is not read: it takes a date")
    assert problems[0][1].endswith("; write it in quotes") is (value == "2024-01-01")
    assert limits(folder) == (UploadLimits(), ())


@pytest.mark.parametrize(
    ("name", "said"), [("UV_EXCLUDE_NEWER", "exclude-newer"), ("PIP_UPLOADED_PRIOR_TO", "uploaded-prior-to")]
)
def test_a_variable_that_cannot_be_read_is_refused(monkeypatch: pytest.MonkeyPatch, name: str, said: str) -> None:
    monkeypatch.setenv(name, "yesterday")
    with pytest.raises(IndexSettingsError, match=rf"`{said}` \({name}\) is `yesterday`: it takes a date"):
        limits(None)


def test_packages_on_one_index_are_said_to_be_left(tmp_path: Path) -> None:
    table = '[[tool.uv.index]]\nurl = "https://mine.example/simple"\nexclude-newer-package = { a = false }\n'
    found, notes = limits(project(tmp_path, table))
    assert not found
    assert notes == ("`exclude-newer-package of an index` (pyproject.toml:7) is not read",)


@pytest.mark.parametrize(
    ("script", "place", "noted"),
    [
        ('uv pip install --exclude-newer "2024-05-02T00:00:00Z" demo\n', "setup.sh:1", []),
        ("pip install --uploaded-prior-to=2024-05-02T00:00:00Z demo other\n", "setup.sh:1", []),
        ("D=2024-05-02T00:00:00Z\nuv pip install --exclude-newer $D demo\n", "setup.sh:2", []),
        (
            "pip install -U pip uv\nexport UV_EXCLUDE_NEWER=2024-05-02T00:00:00Z\nuv pip install demo\n",
            "setup.sh:2",
            [],
        ),
        (
            "uv pip install --exclude-newer 2024-05-02T00:00:00Z demo\nuv pip install other\n",
            None,
            ["`exclude-newer` (setup.sh:1) holds for one command of several, and is not read"],
        ),
    ],
)
def test_a_scripts_own_option_counts_where_it_holds_for_all(
    tmp_path: Path, script: str, place: str | None, noted: list[str]
) -> None:
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "setup.sh").write_text(script)
    assert not read_project(tmp_path / "project", variables={}).problems
    found, notes = limits(tmp_path / "project")
    assert (found.everywhere and found.everywhere.place) == place
    assert not found.everywhere or found.everywhere.first_too_new == "2024-05-02T00:00:00"
    assert [note for note in notes if "are left out" not in note] == noted


@pytest.mark.parametrize("value", ["2024-01-01", "=2024-01-01", "a b=2024-01-01", "demo=", "demo"])
def test_a_scripts_date_of_no_package_is_a_problem(tmp_path: Path, value: str) -> None:
    (tmp_path / "setup.sh").write_text(f'uv pip install --exclude-newer-package "{value}" demo\n')
    (problem,) = read_project(tmp_path, variables={}).problems
    assert "is not read: it takes a " in problem.message
    assert limits(tmp_path) == (UploadLimits(), ())


def test_a_date_that_holds_for_no_one_thing_is_said_with_its_line(tmp_path: Path) -> None:
    table = '[tool.uv]\nexclude-newer-package = { "a b" = "2024-01-01", "" = "2024-01-01" }\n'
    table += '[[tool.uv.index]]\nurl = "https://mine.example/a b"\nexclude-newer = "2024-01-01"\n'
    folder = project(tmp_path, table)
    said = [one.message for one in read_project(folder, variables={}).problems if "cannot hold" in one.message]
    assert [text.rpartition(" for ")[2] for text in said] == ["`a b`", "``", "`https://mine.example/a b`"]
    assert limits(folder)[0] == UploadLimits()


@pytest.mark.parametrize("value", ["yesterday", "$(date -d yesterday)"])
def test_a_scripts_date_that_is_not_known_is_a_problem(tmp_path: Path, value: str) -> None:
    (tmp_path / "setup.sh").write_text(f'uv pip install --exclude-newer "{value}" demo\n')
    (problem,) = read_project(tmp_path, variables={}).problems
    assert str(problem.origin) == "setup.sh:1"
    assert "is not read: it takes a date" in problem.message or "is not known" in problem.message


def test_files_are_left_out_by_what_holds_for_each(server, opened: Open) -> None:
    for name in ("demo", "free"):
        times = {"1.0": "2024-05-01T23:59:59.9Z", "2.0": "2024-05-02T00:00:00Z", "3.0": None}
        server.page(
            name,
            [server.wheel(f"{name}-{v}-py3-none-any.whl", **{"upload-time": time}) for v, time in times.items()],
        )
    limit = UploadLimit("2024-05-02T00:00:00", "exclude-newer", "pyproject.toml:6")
    index = opened(limits=UploadLimits(limit, {"free": UploadLimit("", "exclude-newer-package", "x")}))  # type: ignore[dict-item]
    assert [str(v) for v in index.page("free").versions] == ["1.0", "2.0", "3.0"]  # type: ignore[arg-type]
    assert index.notes == ()
    page = index.page("demo")  # type: ignore[arg-type]
    assert ([str(v) for v in page.versions], page.limit) == (["1.0", "3.0"], limit)
    (rejection,) = index.too_new("demo")  # type: ignore[arg-type]
    assert rejection.detail == "uploaded 2024-05-02T00:00:00Z, `exclude-newer` (pyproject.toml:6)"
    assert ["no upload times" in note for note in index.notes] == [True]
    typed = opened(exclude_newer="2030-01-01", limits=UploadLimits(limit))
    assert [str(v) for v in typed.page("demo").versions] == ["1.0", "2.0", "3.0"]  # type: ignore[arg-type]


@pytest.mark.parametrize("typed", [False, True])
def test_the_report_says_who_set_the_date(
    server, tmp_path: Path, capsys: pytest.CaptureFixture[str], *, typed: bool
) -> None:
    times = {"1.0": "2024-05-01T00:00:00Z", "2.0": "2025-05-01T00:00:00Z"}
    server.page(
        "demo", [server.wheel(f"demo-{v}-py3-none-any.whl", **{"upload-time": time}) for v, time in times.items()]
    )
    folder = project(tmp_path, '[tool.uv]\nexclude-newer = "2024-06-01T00:00:00Z"\n')
    words = ["check", str(folder), "--format", "json", "--index-url", server.url, "--cache-dir", str(tmp_path / "c")]
    words += ["--target-os", "linux", "--target-arch", "x86_64", "--target-python", "3.11"]
    assert main([*words, *(["--exclude-newer", "2030-01-01"] if typed else [])]) == 0
    said = capsys.readouterr()
    report = json.loads(said.out)
    set_by = ("2030-01-02T00:00:00Z", "--exclude-newer") if typed else ("2024-06-01T00:00:00Z", "pyproject.toml:6")
    assert report["scope"]["uploaded_before"] == [{"for": None, "time": set_by[0], "from": set_by[1]}]
    assert [each["version"] for each in report["resolution"]["packages"]] == ["2.0" if typed else "1.0"]
    assert ("are left out: `exclude-newer` (pyproject.toml:6)" in said.err) is not typed


def test_a_variable_that_cannot_be_read_ends_the_run_with_one_message(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_UPLOADED_PRIOR_TO", "1 week")
    folder = project(tmp_path, "")
    assert main(["check", str(folder), "--offline", "--index-url", "https://index.example/simple"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "`uploaded-prior-to` (PIP_UPLOADED_PRIOR_TO) is `1 week`: it takes a date or time of ISO 8601" in line
