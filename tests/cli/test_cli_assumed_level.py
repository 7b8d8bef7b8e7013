"""A requirement whose wheels need a newer glibc or macOS than the one that is assumed where nobody names any."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from envdoctor.cli.main import main


class System(NamedTuple):
    """A system, and what wheels ask of it: the level that is assumed, and those of the newer releases."""

    os: str
    arch: str
    level: str
    assumed: str
    middle: str
    late: str

    @property
    def option(self) -> str:
        return f"--{self.level.lower()}"

    @property
    def base(self) -> tuple[str, ...]:
        return ("--target-os", self.os, "--target-arch", self.arch, "--target-python", "3.11")

    def tag(self, level: str) -> str:
        prefix = "manylinux" if self.os == "linux" else "macosx"
        return f"{prefix}_{level.replace('.', '_')}_{self.arch}"


LINUX = System("linux", "x86_64", "glibc", "2.28", "2.31", "2.35")
MACS = (
    System("macos", "arm64", "macOS", "14.0", "15.0", "26.0"),
    System("macos", "x86_64", "macOS", "14.0", "15.0", "26.0"),
)
OLD = {"linux": "2.17", "macos": "11.0"}


@pytest.fixture(params=[LINUX, *MACS], ids=lambda system: f"{system.os}-{system.arch}")
def system(request: pytest.FixtureRequest) -> System:
    found = request.param
    assert isinstance(found, System)
    return found


def put_wheel(folder: Path, name: str, version: str, platform: str, *requires: str) -> None:
    tag = f"cp311-cp311-{platform}"
    lines = "".join(f"Requires-Dist: {text}\n" for text in requires)
    with zipfile.ZipFile(folder / f"{name}-{version}-{tag}.whl", "w") as made:
        made.writestr(
            f"{name}-{version}.dist-info/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{lines}"
        )
        made.writestr(f"{name}-{version}.dist-info/WHEEL", f"Wheel-Version: 1.0\nTag: {tag}\n")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, system: System) -> Path:
    """Return a project whose index has ``scene`` 0.19 for a newer system, ``deep`` for a later one, ``old`` for all."""
    links, project = tmp_path / "links", tmp_path / "project"
    links.mkdir()
    project.mkdir()
    put_wheel(links, "scene", "0.18", system.tag(OLD[system.os]))
    put_wheel(links, "scene", "0.19", system.tag(system.middle))
    put_wheel(links, "deep", "1.0", system.tag(system.late))
    put_wheel(links, "old", "1.0", system.tag(OLD[system.os]), "deep==1.0")
    monkeypatch.setenv("PIP_FIND_LINKS", str(links))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    return project


class Checker:
    """Runs check on a project of some lines."""

    def __init__(self, project: Path, system: System, capsys: pytest.CaptureFixture[str]) -> None:
        self.project, self.system, self._capsys = project, system, capsys

    def __call__(self, *lines: str, more: tuple[str, ...] = ()) -> dict[str, Any]:
        (self.project / "requirements.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
        return self.as_it_is(*more)

    def as_it_is(self, *more: str) -> dict[str, Any]:
        code = main(["check", str(self.project), *self.system.base, *more, "--format", "json"])
        return {**json.loads(self._capsys.readouterr().out), "code": code}


@pytest.fixture
def check(project: Path, system: System, capsys: pytest.CaptureFixture[str]) -> Checker:
    return Checker(project, system, capsys)


def _open(report: dict[str, Any]) -> list[dict[str, Any]]:
    return [item for item in report["findings"] if item["rule"] == "RES107"]


def _older(report: dict[str, Any]) -> list[dict[str, Any]]:
    return [item for item in report["findings"] if item["rule"] == "RES111"]


def test_what_only_a_newer_system_has_is_not_known(check: Checker, system: System) -> None:
    report = check("scene==0.19")
    assert (report["code"], report["verdict"], report["conflicts"], report["repairs"]) == (3, "unknown", [], [])
    (finding,) = _open(report)
    said = f"`scene` needs {system.level} {system.middle} or later, and nothing tells which the target has"
    assert f"{said} (`{system.option}` does)" in finding["message"]
    assert f"`{system.option} {system.middle}`" in finding["remedy"]["summary"]
    assert not [item for item in report["findings"] if item["severity"] == "error"]
    assert [item["version"] for item in report["resolution"]["packages"]] == ["0.19"]
    assert report["scope"]["target_from"][system.level.lower()] == "assumed"


@pytest.mark.parametrize("newer", [False, True])
def test_a_level_that_is_given_is_judged_for(check: Checker, system: System, *, newer: bool) -> None:
    level = system.middle if newer else system.assumed
    report = check("scene==0.19", more=(system.option, level))
    assert (report["code"], report["verdict"]) == ((0, "healthy") if newer else (1, "broken"))
    assert len(report["conflicts"]) == (not newer)
    assert not _open(report)
    (rejection,) = report["conflicts"][0]["clash"]["rejections"] if not newer else (None,)
    needs = f"needs {system.level} {system.middle}, the target is taken to have {system.assumed}"
    assert rejection is None or rejection["detail"] == needs


def test_a_level_that_facts_tell_is_judged_for(check: Checker, system: System) -> None:
    facts = check.project.parent / "facts.json"
    level = {"os": system.os, "host": {system.level.lower(): system.assumed}}
    facts.write_text(json.dumps(level), encoding="utf-8")
    report = check("scene==0.19", more=("--facts", str(facts)))
    assert (report["code"], report["verdict"], len(report["conflicts"])) == (1, "broken", 1)
    assert report["scope"]["target_from"][system.level.lower()] == "facts"


def test_each_says_the_level_that_it_needs(check: Checker, system: System) -> None:
    report = check("scene==0.19", "old==1.0")
    said = sorted(item["message"].partition(": ")[2] for item in _open(report))
    assert report["code"] == 3
    assert said[0].startswith("`old==1.0`")
    assert f"`deep` needs {system.level} {system.late} or later" in said[0]
    assert f"`scene` needs {system.level} {system.middle} or later" in said[1]


def test_a_conflict_that_no_level_settles_stays_one(check: Checker, system: System) -> None:
    report = check("scene==0.19", "old==1.0", "deep==2.0")
    assert (report["code"], report["verdict"]) == (1, "broken")
    assert all("scene" not in str(conflict) for conflict in report["conflicts"])
    assert f"`scene` needs {system.level} {system.middle}" in str(_open(report))


def test_nothing_is_locked_on_an_assumption(project: Path, system: System, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "requirements.txt").write_text("scene==0.19\n", encoding="utf-8")
    assert main(["lock", str(project), *system.base]) == 3
    said = f"`scene` cannot be locked: `scene` needs {system.level} {system.middle} or later"
    assert said in capsys.readouterr().err
    assert [path.name for path in project.iterdir()] == ["requirements.txt"]
    assert main(["lock", str(project), *system.base, system.option, system.middle]) == 0
    assert (project / "pylock.toml").exists()


def test_an_extra_that_only_a_newer_system_has_is_not_judged(check: Checker, system: System) -> None:
    (check.project / "pyproject.toml").write_text(
        '[project]\nname = "x"\nversion = "1"\n[project.optional-dependencies]\nviz = ["scene==0.19"]\n',
        encoding="utf-8",
    )
    for more, holds, rules in (((), None, []), ((system.option, system.assumed), False, ["RES016"])):
        report = check.as_it_is(*more)
        (extra,) = report["scope"]["extras"]
        assert extra["holds"] is holds
        assert (f"`scene` needs {system.level} {system.middle} or later" in extra["reason"]) is (holds is None)
        assert [item["rule"] for item in report["findings"]] == rules


def test_an_older_release_for_want_of_a_newer_system_is_told(check: Checker, system: System) -> None:
    report = check("scene")
    assert (report["code"], report["verdict"], report["complete"]) == (0, "healthy", True)
    assert [item["version"] for item in report["resolution"]["packages"]] == ["0.18"]
    (finding,) = _older(report)
    assert finding["severity"] == "info"
    assert finding["message"] == (
        f"`scene` is 0.18 and not the newer 0.19, which needs {system.level} {system.middle} or later, "
        "and nothing tells which the target has"
    )
    assert f"`{system.option} {system.middle}`" in finding["remedy"]["summary"]


@pytest.mark.parametrize("line", ["scene==0.18", "scene<0.19", "scene!=0.19"])
def test_of_a_release_that_is_asked_for_nothing_is_told(check: Checker, line: str) -> None:
    assert not _older(check(line))


def test_a_bound_that_admits_the_newer_release_holds_nobody_back(check: Checker) -> None:
    assert len(_older(check("scene==0.*"))) == 1


def test_a_newer_release_that_is_there_in_another_form_is_no_matter_of_the_level(check: Checker) -> None:
    links = check.project.parent / "links"
    (links / "scene-0.19.tar.gz").write_bytes(b"")
    assert not _older(check("scene"))
    put_wheel(links, "old", "2.0", "win_amd64")
    assert not _older(check("old==1.0", "deep"))


def test_where_the_level_is_given_an_older_release_is_what_it_has(check: Checker, system: System) -> None:
    assert not _older(check("scene", more=(system.option, system.assumed)))
    assert not _older(check("scene", more=(system.option, system.middle)))


@pytest.mark.parametrize("system", [MACS[0]], indirect=True)
def test_wheels_for_the_other_processor_are_no_reason(check: Checker) -> None:
    links = check.project.parent / "links"
    put_wheel(links, "intel", "1.0", "macosx_11_0_arm64")
    put_wheel(links, "intel", "2.0", "macosx_15_0_x86_64")
    assert not _older(check("intel"))
    report = check("intel==2.0")
    assert (report["code"], report["verdict"], len(report["conflicts"])) == (1, "broken", 1)
    put_wheel(links, "fat", "1.0", "macosx_12_0_x86_64.macosx_15_0_arm64")
    put_wheel(links, "fat", "2.0", "macosx_15_0_universal2")
    for version in ("1.0", "2.0"):
        report = check(f"fat=={version}")
        assert (report["code"], len(_open(report))) == (3, 1)


@pytest.mark.parametrize("system", MACS, indirect=True)
def test_what_asks_for_a_darwin_is_asked_of_the_macos_that_is_judged_for(check: Checker) -> None:
    lines = ('scene; platform_release >= "20.0"', 'deep==9; platform_release >= "25.0"', 'old; platform_release < "23"')
    report = check(*lines)
    assert [item["name"] for item in report["resolution"]["packages"]] == ["scene"]
    (finding,) = _open(report)
    assert (report["code"], report["verdict"]) == (3, "unknown")
    assert finding["subject"].startswith("deep==9")
    assert "its marker depends on the target's macOS, which nothing tells (`--macos` does)" in finding["message"]
    assert finding["remedy"]["summary"] == "say which macOS the target has: `--macos X.Y`"
    assert not _open(check(*lines, more=("--macos", "14.0")))
    report = check(lines[1], more=("--macos", "26"))
    assert (report["code"], len(report["conflicts"])) == (1, 1)


@pytest.mark.parametrize("system", MACS, indirect=True)
def test_of_what_is_installed_an_assumed_macos_asks_nothing(
    check: Checker, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    put_wheel(tmp_path / "links", "bridge", "1.0", "macosx_11_0_universal2", 'parts==1.0; platform_release >= "20.0"')
    listing = tmp_path / "listing.txt"
    listing.write_text("bridge==1.0\nscene==0.18\n", encoding="utf-8")
    for more, codes in (((), []), (("--macos", "14"), ["ENV001"])):
        main(["check", "--installed", str(listing), *check.system.base, *more, "--format", "json"])
        report = json.loads(capsys.readouterr().out)
        assert [item["rule"] for item in report["findings"] if item["subject"] in ("bridge", "parts")] == codes


def test_a_lock_says_which_newer_release_a_newer_system_may_have(
    check: Checker, system: System, capsys: pytest.CaptureFixture[str]
) -> None:
    (check.project / "requirements.txt").write_text("scene\n", encoding="utf-8")
    assert main(["lock", str(check.project), *system.base]) == 0
    said = capsys.readouterr().err
    assert f"`scene` is 0.18 and not the newer 0.19, which needs {system.level} {system.middle} or later" in said
    assert f"say `{system.option} {system.middle}`" in said
