"""A constraints file that lies beside what asks for packages."""

from __future__ import annotations

from pathlib import Path

import pytest

from envdoctor.adapters.project import read_project
from envdoctor.model.requirement import RequirementKind


def _project(root: Path, *names: str) -> Path:
    (root / "requirements.txt").write_text("torch\n")
    for name in names:
        (root / name).write_text("torch==2.9.1\n")
    return root


@pytest.mark.parametrize("name", ["constraints.txt", "constraint.txt", "constraints-2025-11-24.txt"])
def test_the_only_constraints_file_bounds_what_the_project_asks_for(tmp_path: Path, name: str) -> None:
    project = read_project(_project(tmp_path, name))
    assert [(str(r), r.kind) for r in project.requirements] == [
        ("torch", RequirementKind.REQUIRE),
        ("torch==2.9.1", RequirementKind.CONSTRAINT),
    ]
    assert project.left_out == ()


@pytest.mark.parametrize(
    "names", [("constraints-3.10.txt", "constraints-3.11.txt"), ("constraints.diffrhythm2-directml.txt",)]
)
def test_one_of_several_or_one_that_lock_wrote_is_named_and_not_read(tmp_path: Path, names: tuple[str, ...]) -> None:
    project = read_project(_project(tmp_path, *names))
    assert [str(requirement) for requirement in project.requirements] == ["torch"]
    assert set(names) <= {one.path for one in project.left_out}
