"""Projects that people had trouble with, where the folder that holds them is beside the repository."""

from __future__ import annotations

from pathlib import Path

import pytest

from envdoctor.adapters.project import read_project
from envdoctor.model.project import Project, ReadingProblemKind

SHARED = Path(__file__).parents[2].parent / "shared"
pytestmark = pytest.mark.skipif(not SHARED.is_dir(), reason="the folder of real cases is not beside the repository")


def case(number: str, **options) -> Project:
    (folder,) = (SHARED / "cases").glob(f"{number}-*")
    return read_project(folder / "input", variables={}, **options)


@pytest.mark.parametrize(
    ("number", "count", "files"),
    [
        ("01", 39, ["requirements.txt"]),
        ("03", 12, ["requirements.txt"]),
        ("08", 47, ["pyproject.toml"]),
        ("11", 13, ["pyproject.toml"]),
        ("19", 14, ["pyproject.toml", "constraints-2025-11-24.txt"]),
        ("22", 11, ["requirements-gpu.txt"]),
        ("27", 37, ["requirements.txt"]),
        ("31", 61, ["requirements.txt"]),
        ("35", 24, ["requirements.txt"]),
        ("37", 15, ["requirements.txt"]),
    ],
)
def test_counts(number, count, files):
    project = case(number)
    assert (len(project.requirements), list(project.files)) == (count, files)


def test_steps_of_a_batch_file():
    project = case("14", target_environment={"sys_platform": "win32"})
    held = {one.name: (one.pep508, one.step, one.index_url) for one in project.requirements}
    cuda = "https://download.pytorch.org/whl/cu118"
    assert held["torch"] == ("torch==2.3.0", 4, cuda)
    assert held["numpy"] == ("numpy==1.26.4", 7, None)
    assert held["torchsde"][1] == 2
    assert {one.name for one in project.superseded} == {"torch", "torchvision", "torchaudio", "numpy"}
    assert [command.verb for command in project.commands].count("uninstall") == 2
    assert all(command.quiet and not command.checked for command in project.commands)


def test_second_step_without_dependencies():
    project = case("17")
    assert {one.name for one in project.requirements if one.no_deps} == {"s3tokenizer", "onnx"}
    assert list(project.files) == ["install.sh", "requirements.txt", "no-deps.txt"]


def test_typo_note_and_option_in_the_middle():
    project = case("31")
    (problem,) = project.problems
    assert (problem.origin.line, problem.text) == (33, "httpx==0.23.")
    assert {"httpx==0.23.*", "httpx==0.23.0"} <= set(problem.suggestions)
    assert {one.name: one.text for one in project.requirements}["accelerate"] == "accelerate==0.22.0"
    assert project.index_options[0].origin.line == 37


def test_other_notes():
    assert case("19").left_out == ()
    assert [problem.kind for problem in case("27").problems] == [ReadingProblemKind.ENCODING]
    assert [pair[1].origin.line for pair in case("35").duplicates] == [16]
    assert {one.name: one.text for one in case("08").requirements}["librosa"] == 'librosa = "0.9.2"'


@pytest.mark.parametrize(
    ("folder", "count"),
    [
        ("xtts-webui", 32),
        ("diffrhythm2", 26),
        ("advanced-rvc", 47),
        ("kokoro", 6),
        ("amphion/maskgct", 25),
        ("amphion/vevo", 25),
        ("amphion/dualcodec", 10),
    ],
)
def test_upstream_projects(folder, count):
    project = read_project(SHARED / "upstream" / folder, variables={})
    assert len(project.requirements) == count
    assert all(problem.kind is ReadingProblemKind.ENCODING for problem in project.problems)
