"""A requirement whose wheels need a newer glibc than the one that is assumed where nobody names any."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from envdoctor.cli.main import main

BASE = ("--target-os", "linux", "--target-arch", "x86_64", "--target-python", "3.11")


def put_wheel(folder: Path, name: str, version: str, platform: str, *requires: str) -> None:
    tag = f"cp311-cp311-{platform}"
    lines = "".join(f"Requires-Dist: {text}\n" for text in requires)
    with zipfile.ZipFile(folder / f"{name}-{version}-{tag}.whl", "w") as made:
        made.writestr(
            f"{name}-{version}.dist-info/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{lines}"
        )
        made.writestr(f"{name}-{version}.dist-info/WHEEL", f"Wheel-Version: 1.0\nTag: {tag}\n")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a project whose index has ``scene`` for glibc 2.31, ``deep`` for 2.35 and ``old`` for every one."""
    links, project = tmp_path / "links", tmp_path / "project"
    links.mkdir()
    project.mkdir()
    put_wheel(links, "scene", "0.18", "manylinux_2_27_x86_64")
    put_wheel(links, "scene", "0.19", "manylinux_2_31_x86_64")
    put_wheel(links, "deep", "1.0", "manylinux_2_35_x86_64")
    put_wheel(links, "old", "1.0", "manylinux_2_17_x86_64", "deep==1.0")
    monkeypatch.setenv("PIP_FIND_LINKS", str(links))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    return project


def check(project: Path, capsys: pytest.CaptureFixture[str], *lines: str, more: tuple[str, ...] = ()) -> dict[str, Any]:
    (project / "requirements.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    code = main(["check", str(project), *BASE, *more, "--format", "json"])
    return {**json.loads(capsys.readouterr().out), "code": code}


def _open(report: dict[str, Any]) -> list[dict[str, Any]]:
    return [item for item in report["findings"] if item["rule"] == "RES107"]


def test_what_only_a_newer_glibc_has_is_not_known(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = check(project, capsys, "scene==0.19")
    assert (report["code"], report["verdict"], report["conflicts"], report["repairs"]) == (3, "unknown", [], [])
    (finding,) = _open(report)
    assert "`scene` needs glibc 2.31 or later, and nothing tells which the target has" in finding["message"]
    assert "`--glibc 2.31`" in finding["remedy"]["summary"]
    assert not [item for item in report["findings"] if item["severity"] == "error"]
    assert [item["version"] for item in report["resolution"]["packages"]] == ["0.19"]
    assert report["scope"]["target_from"]["glibc"] == "assumed"


@pytest.mark.parametrize(("level", "code", "verdict"), [("2.28", 1, "broken"), ("2.31", 0, "healthy")])
def test_a_glibc_that_is_given_is_judged_for(
    project: Path, capsys: pytest.CaptureFixture[str], level: str, code: int, verdict: str
) -> None:
    report = check(project, capsys, "scene==0.19", more=("--glibc", level))
    assert (report["code"], report["verdict"], len(report["conflicts"])) == (code, verdict, code)
    assert not _open(report)


def test_a_glibc_that_facts_tell_is_judged_for(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    facts = project.parent / "facts.json"
    facts.write_text(json.dumps({"os": "linux", "host": {"glibc": "2.28"}}), encoding="utf-8")
    report = check(project, capsys, "scene==0.19", more=("--facts", str(facts)))
    assert (report["code"], report["verdict"], len(report["conflicts"])) == (1, "broken", 1)


def test_each_says_the_glibc_that_it_needs(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = check(project, capsys, "scene==0.19", "old==1.0")
    said = sorted(item["message"].partition(": ")[2] for item in _open(report))
    assert report["code"] == 3
    assert said[0].startswith("`old==1.0`")
    assert "`deep` needs glibc 2.35 or later" in said[0]
    assert "`scene` needs glibc 2.31 or later" in said[1]


def test_a_conflict_that_no_glibc_settles_stays_one(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = check(project, capsys, "scene==0.19", "old==1.0", "deep==2.0")
    assert (report["code"], report["verdict"]) == (1, "broken")
    assert all("scene" not in str(conflict) for conflict in report["conflicts"])
    assert "`scene` needs glibc 2.31" in str(_open(report))


def test_nothing_is_locked_on_an_assumption(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "requirements.txt").write_text("scene==0.19\n", encoding="utf-8")
    assert main(["lock", str(project), *BASE]) == 3
    assert "`scene` cannot be locked: `scene` needs glibc 2.31 or later" in capsys.readouterr().err
    assert [path.name for path in project.iterdir()] == ["requirements.txt"]
    assert main(["lock", str(project), *BASE, "--glibc", "2.31"]) == 0
    assert (project / "pylock.toml").exists()


def test_an_extra_that_only_a_newer_glibc_has_is_not_judged(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "pyproject.toml").write_text(
        '[project]\nname = "x"\nversion = "1"\n[project.optional-dependencies]\nviz = ["scene==0.19"]\n',
        encoding="utf-8",
    )
    for more, holds, rules in (((), None, []), (("--glibc", "2.28"), False, ["RES016"])):
        main(["check", str(project), *BASE, *more, "--format", "json"])
        report = json.loads(capsys.readouterr().out)
        (extra,) = report["scope"]["extras"]
        assert extra["holds"] is holds
        assert ("`scene` needs glibc 2.31 or later" in extra["reason"]) is (holds is None)
        assert [item["rule"] for item in report["findings"]] == rules
