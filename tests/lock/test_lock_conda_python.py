"""The Python of a conda environment file is what the project is judged for, where nobody says otherwise."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from lock_index import LoopbackIndex
from lock_profile import profile_text
from packaging.specifiers import SpecifierSet

from envdoctor.adapters.project import read_project
from envdoctor.cli.main import main
from envdoctor.model.target import Arch, OperatingSystem, Target
from envdoctor.toml_tables import read_toml
from envdoctor.verbs import project_inputs
from envdoctor.verbs.target_choice import for_environment_python

HERE = Target(os=OperatingSystem.LINUX, arch=Arch.X86_64, python=(3, 12))
PROFILE = profile_text(python=">=3.10,<3.13")


def conda(project: Path, python: str) -> None:
    text = f"name: app\ndependencies:\n  - {python}\n  - pip\n  - pip:\n    - alpha\n"
    (project / "environment.yml").write_text(text, encoding="utf-8")
    (project / "requirements.txt").unlink(missing_ok=True)


@pytest.fixture(autouse=True)
def _on_python_312(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("envdoctor.verbs.target_choice.host_target", lambda: HERE)


def judged_for(capsys: pytest.CaptureFixture[str], project: Path, *options: str) -> tuple[str, str, set[str]]:
    """Return the target's Python, what was said, and the rules of what was found."""
    capsys.readouterr()
    main(["check", str(project), *options, "--format", "json"])
    said = capsys.readouterr()
    report = json.loads(said.out)
    return report["target"]["python"], said.err, {item["rule"] for item in report["findings"]}


@pytest.mark.parametrize(
    "python",
    [
        "python=3.10",
        "python==3.10",
        "python=3.10.*",
        "python 3.10",
        "python 3.10.*",
        "python=3.10.13",
        "python>=3.10,<3.11",
        '"python >=3.10,<3.11"',
        "conda-forge::python=3.10",
        "python=3.10=*_cpython",
    ],
)
def test_the_python_that_it_pins_is_taken_and_said(
    capsys: pytest.CaptureFixture[str], project: Path, index: LoopbackIndex, python: str
) -> None:
    conda(project, python)
    taken, said, rules = judged_for(capsys, project)
    assert taken == "3.10"
    assert "note: taking Python 3.10: environment.yml:3 asks for `python " in said
    assert "`--target-python` chooses another" in said
    assert "RES011" not in rules


@pytest.mark.parametrize("python", ["python>=3.9", "python", "python=3.12"])
def test_where_this_machine_s_python_is_admitted_it_stays(
    capsys: pytest.CaptureFixture[str], project: Path, index: LoopbackIndex, python: str
) -> None:
    conda(project, python)
    taken, said, _ = judged_for(capsys, project)
    assert taken == "3.12"
    assert "taking Python" not in said


def test_of_several_the_first_that_resolves_is_taken(
    capsys: pytest.CaptureFixture[str], project: Path, index: LoopbackIndex
) -> None:
    conda(project, "python>=3.13")
    taken, said, _ = judged_for(capsys, project)
    assert taken == "3.15"
    assert "taking the first Python of 3.15, 3.14, 3.13 that resolves" in said


@pytest.mark.parametrize("typed", [True, False])
def test_what_the_user_says_counts_for_more(
    capsys: pytest.CaptureFixture[str], project: Path, index: LoopbackIndex, typed: bool
) -> None:
    conda(project, "python=3.10")
    if not typed:
        (project / "pyproject.toml").write_text('[tool.envdoctor]\ntarget-python = "3.11"\n', encoding="utf-8")
    taken, said, rules = judged_for(capsys, project, *(("--target-python", "3.11") if typed else ()))
    assert taken == "3.11"
    assert "taking Python" not in said
    assert "RES011" in rules


@pytest.mark.parametrize("python", ["python=3.7", "python<3", "python>=3.20"])
def test_for_a_python_that_is_not_judged_nothing_is_known(
    capsys: pytest.CaptureFixture[str], project: Path, index: LoopbackIndex, python: str
) -> None:
    conda(project, python)
    assert main(["check", str(project)]) == 3
    said = " ".join(capsys.readouterr().out.split())
    assert "warning RES011" in said
    assert "for which nothing is judged" in said


def test_for_a_python_that_is_not_judged_nothing_is_locked_wherever_it_is_named(
    capsys: pytest.CaptureFixture[str], project: Path, index: LoopbackIndex
) -> None:
    (project / ".python-version").write_text("3.7\n", encoding="utf-8")
    (project / "requirements.txt").write_text("alpha\n", encoding="utf-8")
    assert main(["lock", str(project)]) == 3
    assert "the project is to have Python `==3.7.*`, for which nothing is judged;" in capsys.readouterr().err
    assert main(["lock", str(project), "--target-python", "3.11"]) == 0


def test_bounds_that_no_python_is_within_are_wrong(
    capsys: pytest.CaptureFixture[str], project: Path, index: LoopbackIndex
) -> None:
    conda(project, "python>=3.9,<3.8")
    assert main(["check", str(project)]) == 1
    assert "error RES011" in capsys.readouterr().out


def test_quiet_says_nothing(capsys: pytest.CaptureFixture[str], project: Path, index: LoopbackIndex) -> None:
    conda(project, "python=3.10")
    taken, said, _ = judged_for(capsys, project, "--quiet")
    assert (taken, said) == ("3.10", "")


def test_of_a_profile_s_pythons_those_that_it_admits_remain(
    capsys: pytest.CaptureFixture[str], project: Path, index: LoopbackIndex
) -> None:
    (project / "stack.toml").write_text(PROFILE, encoding="utf-8")
    conda(project, "python=3.11")
    assert judged_for(capsys, project, "--profile", str(project / "stack.toml"))[0] == "3.11"
    conda(project, "python=3.9")
    taken, _, rules = judged_for(capsys, project, "--profile", str(project / "stack.toml"))
    assert (taken, "RES011" in rules) == ("3.12", True)


def test_markers_are_judged_for_that_python(
    capsys: pytest.CaptureFixture[str], project: Path, index: LoopbackIndex
) -> None:
    conda(project, "python=3.10")
    text = (project / "environment.yml").read_text(encoding="utf-8")
    (project / "environment.yml").write_text(f'{text}    - nowhere; python_version >= "3.11"\n', encoding="utf-8")
    assert main(["check", str(project), "--quiet"]) == 0


def test_the_lock_is_for_that_python_too(
    capsys: pytest.CaptureFixture[str], project: Path, index: LoopbackIndex
) -> None:
    conda(project, "python=3.10")
    assert main(["lock", str(project)]) == 0
    lock = read_toml((project / "pylock.toml").read_text(encoding="utf-8"))
    assert lock["tool"]["envdoctor"]["target"]["python"] == "3.10"


def test_an_environment_that_is_looked_at_keeps_its_python(
    capsys: pytest.CaptureFixture[str], project: Path, index: LoopbackIndex, tmp_path: Path
) -> None:
    conda(project, "python=3.10")
    listing = tmp_path / "installed.txt"
    listing.write_text("alpha==2.0\nbeta==1.0\n", encoding="utf-8")
    taken, said, rules = judged_for(capsys, project, "--installed", str(listing))
    assert taken == "3.12"
    assert "taking Python" not in said
    assert "RES011" in rules


@pytest.mark.parametrize(
    ("wanted", "nearest"),
    [("==2.7.*", (3, 8)), ("==3.7.13", (3, 8)), ("<3.8", (3, 8)), (">=3.90", None), (">=3.20", (3, 15))],
)
def test_of_pythons_that_nobody_can_judge_for_the_nearest_known_is_assumed(
    wanted: str, nearest: tuple[int, int] | None
) -> None:
    asked = (replace(HERE, python=nearest, python_assumed=True), ()) if nearest else (HERE, ())
    assert for_environment_python(HERE, (), SpecifierSet(wanted)) == asked
    assert for_environment_python(HERE, ((3, 12), (3, 11)), SpecifierSet(wanted)) == (HERE, ((3, 12), (3, 11)))


OLD_PYTHON = {
    "environment.yml": "name: app\ndependencies:\n  - python=3.7\n  - pip\n  - pip:\n    - {0}\n",
    ".python-version": "3.7.13\n",
    "Pipfile": '[packages]\n{0} = "*"\n[requires]\npython_version = "3.7"\n',
    "pyproject.toml": '[project]\nname = "app"\nversion = "1"\nrequires-python = "<3.8"\ndependencies = ["{0}"]\n',
    "setup.py": 'from setuptools import setup\nsetup(name="app", python_requires="<3.8", install_requires=["{0}"])\n',
    "Dockerfile": "FROM python:3.7-slim\nRUN pip install {0}\n",
}


@pytest.mark.parametrize("name", OLD_PYTHON)
def test_whatever_file_names_a_python_that_is_not_judged_this_machine_s_is_not_taken(
    capsys: pytest.CaptureFixture[str], project: Path, index: LoopbackIndex, name: str
) -> None:
    if name != ".python-version":
        (project / "requirements.txt").unlink()
    (project / name).write_text(OLD_PYTHON[name].format("alpha"), encoding="utf-8")
    taken, said, rules = judged_for(capsys, project)
    assert (taken, "RES011" in rules) == ("3.8", True)
    assert "note: taking Python 3.8, the nearest that is known: " in said
    assert main(["check", str(project)]) == 3
    assert "Python 3.8 assumed" in capsys.readouterr().out


def test_a_python_version_that_is_not_judged_binds_nobody_who_names_another(
    capsys: pytest.CaptureFixture[str], project: Path, index: LoopbackIndex
) -> None:
    (project / ".python-version").write_text("3.7\n", encoding="utf-8")
    assert main(["check", str(project), "--target-python", "3.10"]) == 0


def test_what_has_no_file_for_the_nearest_python_is_not_known_to_have_none_for_the_project_s(
    capsys: pytest.CaptureFixture[str], project: Path, index: LoopbackIndex
) -> None:
    index.wheel("gamma", "1.0", tag="cp37-cp37m-manylinux1_x86_64")
    index.wheel("gamma", "2.0")
    (project / "requirements.txt").write_text("gamma==1.0\n", encoding="utf-8")
    (project / ".python-version").write_text("3.7\n", encoding="utf-8")
    assert main(["check", str(project)]) == 3
    said = " ".join(capsys.readouterr().out.split())
    assert "conflict" not in said
    assert (
        "nothing is judged for the project's Python, and for Python 3.8, the nearest that is, it cannot be had" in said
    )
    assert main(["lock", str(project)]) == 3
    (project / "requirements.txt").write_text("alpha==1.0\nalpha==2.0\n", encoding="utf-8")
    assert main(["check", str(project)]) == 1, "what no Python settles is a conflict on all"
    (project / "requirements.txt").write_text('alpha==1.0\nalpha==2.0; python_version < "3.9"\n', encoding="utf-8")
    assert main(["check", str(project)]) == 1, "what holds on both Pythons is one on both"
    (project / "requirements.txt").write_text('alpha\nbeta==9.0; python_version >= "3.8"\n', encoding="utf-8")
    assert main(["check", str(project)]) == 3, "a line that is not for the project's Python is no conflict there"


def test_an_extra_without_a_file_for_the_nearest_python_is_not_known_not_to_hold(
    capsys: pytest.CaptureFixture[str], project: Path, index: LoopbackIndex
) -> None:
    index.wheel("gamma", "1.0", tag="cp37-cp37m-manylinux1_x86_64")
    index.wheel("gamma", "2.0")
    (project / "requirements.txt").unlink()
    text = '[project]\nname = "app"\nversion = "1"\nrequires-python = "<3.8"\ndependencies = ["alpha"]\n'
    text += '[project.optional-dependencies]\nmore = ["gamma==1.0"]\n'
    (project / "pyproject.toml").write_text(text, encoding="utf-8")
    assert judged_for(capsys, project)[2] == {"RES011"}
    assert main(["check", str(project)]) == 3
    assert "the nearest that is, it cannot be had)" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    ("text", "python"),
    [
        ("FROM python:3.9-slim\nRUN pip install alpha\n", "3.9"),
        ("FROM python:3.13.0rc1\nRUN pip install alpha\n", "3.13"),
        (
            "FROM --platform=linux/amd64 docker.io/library/python:3.9.7@sha256:ab\nRUN a && \\\n  pip install alpha\n",
            "3.9",
        ),
        ("ARG PY=3.9\nFROM python:${PY}-slim AS Base\nFROM base\nRUN pip install alpha\n", "3.9"),
        ("FROM node:20 AS web\nRUN npm i\nFROM python:3.9\nRUN pip install alpha\n", "3.9"),
        ("FROM python:3.9\nRUN pip install alpha\nFROM python:3.10\nRUN pip install beta\n", "3.10"),
        ("FROM python:3.9\nRUN pip install alpha\nFROM ubuntu:22.04\nRUN pip install beta\n", "3.10"),
        ("FROM ubuntu:latest\nRUN pip install alpha\n", "3.12"),
        ("FROM python:3\nRUN pip install alpha\n", "3.12"),
        ("FROM mine/python:3.9\nRUN pip install alpha\n", "3.12"),
        ("FROM python:${PY}\nRUN pip install alpha\n", "3.12"),
        ("FROM python:3.9\nRUN conda install python=3.10\nRUN pip install alpha\n", "3.10"),
    ],
)
def test_the_image_of_a_dockerfile_names_the_python(
    capsys: pytest.CaptureFixture[str], project: Path, index: LoopbackIndex, text: str, python: str
) -> None:
    (project / "requirements.txt").unlink()
    (project / "Dockerfile").write_text(text, encoding="utf-8")
    assert judged_for(capsys, project)[0] == python
    taken, _, rules = judged_for(capsys, project, "--target-python", "3.11")
    assert taken == "3.11"
    assert "conda" in text or "RES011" not in rules


def test_the_image_says_nothing_where_a_list_lies_beside_its_dockerfile(
    capsys: pytest.CaptureFixture[str], project: Path, index: LoopbackIndex
) -> None:
    (project / "Dockerfile").write_text("FROM python:3.9\nRUN pip install alpha\n", encoding="utf-8")
    assert judged_for(capsys, project)[0] == "3.12"


def test_requires_python_alone_is_a_bound_and_no_choice(tmp_path: Path) -> None:
    text = '[project]\nname = "app"\nversion = "1"\nrequires-python = ">=3.10,<3.11"\n'
    (tmp_path / "pyproject.toml").write_text(text, encoding="utf-8")
    read = read_project(tmp_path)
    assert read.environment_python is None
    assert project_inputs.asked_python(read, HERE, (), tell=lambda text: None) == (HERE, ())


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("alpha>=", "`alpha>=` is an invalid requirement: it ends where a version should follow"),
        ("alpha<2.0,>2.5", "correct the line"),
        ("alpha<2.5,>=2.5", "no version can be within"),
    ],
)
def test_a_line_whose_bounds_say_nothing_is_to_be_corrected(
    capsys: pytest.CaptureFixture[str], project: Path, index: LoopbackIndex, line: str, said: str
) -> None:
    (project / "requirements.txt").write_text(line, encoding="utf-8")
    assert main(["check", str(project)]) == 1
    assert said in " ".join(capsys.readouterr().out.split())
