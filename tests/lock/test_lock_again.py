"""A lock that is written again with nothing changed is the same, byte for byte: which repair was chosen is in it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from lock_index import LoopbackIndex
from lock_profile import profile_text

from envdoctor.cli.main import main
from envdoctor.toml_tables import read_toml

TARGET = ("--target-os", "linux", "--target-arch", "x86_64", "--target-python", "3.11", "--quiet")
PROFILE = profile_text("""
[[override]]
requirement = "alpha==1.0"
replaces = "project"
because = "the newer one does not start"
""")
CONFLICTS = [
    "alpha==1.0\nalpha==2.0\n",
    "alpha==2.0\nalpha==1.0\nalpha>=1.0\n",
    "gamma\nalpha==2.0\n",
    "gamma\nalpha>=2\nalpha!=1.0\n",
    "gamma\ndelta\nepsilon\n",
    "alpha==3.0\n",
    "gamma\nnowhere\n",
]


@pytest.fixture
def tangled(index: LoopbackIndex) -> LoopbackIndex:
    index.wheel("gamma", "1.0", ("alpha<2",))
    index.wheel("delta", "1.0", ("alpha>=2", "beta<2"))
    index.wheel("epsilon", "1.0", ("beta>=2",))
    return index


def content(project: Path) -> dict[str, str]:
    return {path.name: path.read_text(encoding="utf-8") for path in project.iterdir()}


@pytest.mark.parametrize("lines", CONFLICTS)
def test_every_repair_that_is_chosen_is_kept(project: Path, tangled: LoopbackIndex, lines: str) -> None:
    (project / "requirements.txt").write_text(lines, encoding="utf-8")
    seen = []
    for number in range(1, 11):
        for path in project.glob("*.*"):
            if path.name != "requirements.txt":
                path.unlink()
        if main(["lock", str(project), *TARGET, "--repair", str(number)]) != 0:
            break
        before = content(project)
        assert main(["lock", str(project), *TARGET, "--check"]) == 0
        assert main(["lock", str(project), *TARGET]) == 0
        assert content(project) == before
        seen.append(before["overrides.project.txt"])
    assert len(set(seen)) == len(seen) >= 1


@pytest.mark.parametrize("lines", [text for text in CONFLICTS if "nowhere" not in text])
def test_the_repair_in_use_is_kept(project: Path, tangled: LoopbackIndex, lines: str) -> None:
    (project / "requirements.txt").write_text(lines, encoding="utf-8")
    assert main(["lock", str(project), *TARGET]) == 0
    before = content(project)
    assert main(["lock", str(project), *TARGET, "--check"]) == 0
    assert main(["lock", str(project), *TARGET]) == 0
    assert content(project) == before


def test_a_line_that_the_overrides_version_meets_is_not_said_to_be_set_aside(
    project: Path, tangled: LoopbackIndex
) -> None:
    (project / "stack.toml").write_text(PROFILE, encoding="utf-8")
    (project / "requirements.txt").write_text("alpha>=1\nalpha==2.0\n", encoding="utf-8")
    assert main(["lock", str(project), "--profile", str(project / "stack.toml"), "--quiet"]) == 0
    assert "# sets aside alpha==2.0 (requirements.txt:2)\nalpha==1.0\n" in content(project)["overrides.stack.txt"]
    packages = read_toml(content(project)["pylock.stack.toml"])["packages"]
    (alpha,) = [item for item in packages if item["name"] == "alpha"]
    assert "alpha>=1 (requirements.txt:1)" in alpha["tool"]["envdoctor"]["wanted-by"]
    assert alpha["tool"]["envdoctor"]["sets-aside"] == ["alpha==2.0 (requirements.txt:2)"]
    assert main(["lock", str(project), "--profile", str(project / "stack.toml"), "--check", "--quiet"]) == 0


def test_a_line_that_comes_later_makes_the_lock_stale(project: Path, tangled: LoopbackIndex) -> None:
    (project / "requirements.txt").write_text("alpha==1.0\nalpha==2.0\n", encoding="utf-8")
    assert main(["lock", str(project), *TARGET, "--repair", "2"]) == 0
    with (project / "requirements.txt").open("a", encoding="utf-8") as file:
        file.write("delta\n")
    assert main(["lock", str(project), *TARGET, "--check"]) == 1


def test_what_is_known_of_a_lock_is_told_of_the_repair_that_it_takes(
    capsys: pytest.CaptureFixture[str], project: Path, index: LoopbackIndex
) -> None:
    for name, version, requires in (
        ("gradio", "3.28.3", ()),
        ("gradio", "4.43.0", ("pydantic>=2",)),
        ("pydantic", "1.10.2", ()),
        ("pydantic", "2.14.4", ()),
    ):
        index.wheel(name, version, requires)
    (project / "requirements.txt").write_text("gradio==4.43.0\npydantic==1.10.2\n", encoding="utf-8")
    said = {}
    for number in ("1", "2"):
        folder = project / number
        arguments = [*TARGET[:-1], "--repair", number, "--output-dir", str(folder)]
        assert main(["lock", str(project), *arguments]) == 0
        locked = (folder / "constraints.project.txt").read_text(encoding="utf-8")
        said["pydantic==2.14.4" in locked] = capsys.readouterr().err
    assert "ADV042" in said[True]
    assert "ADV042" not in said[False]


def test_a_pin_that_a_repair_has_written_is_not_replaced_by_its_own_build(
    tmp_path: Path, index: LoopbackIndex, capsys: pytest.CaptureFixture[str]
) -> None:
    index.wheel("gamma", "1.0", ("delta==1.0",))
    index.wheel("delta", "1.0+cu126")
    index.wheel("delta", "2.0")
    (tmp_path / "requirements.txt").write_text("gamma==1.0\ndelta==2.0\n", encoding="utf-8")
    assert main(["lock", str(tmp_path)]) == 0
    assert main(["repair", "1", str(tmp_path), "--write"]) == 0
    assert (tmp_path / "requirements.txt").read_text("utf-8") == "gamma==1.0\ndelta==1.0\n"
    capsys.readouterr()
    assert main(["check", str(tmp_path), "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["repairs"] == []
