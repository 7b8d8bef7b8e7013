"""Which shipped profile is taken for a project where nobody names one."""

from __future__ import annotations

from pathlib import Path

import pytest

from envdoctor.adapters.project import read_project
from envdoctor.model.target import OperatingSystem
from envdoctor.verbs.project_inputs import recognised_profile
from envdoctor.verbs.target_choice import TargetChoice


@pytest.mark.parametrize(
    ("typed", "system", "taken"),
    [
        (None, None, "kokoro-coreml"),
        (None, "macos", "kokoro-coreml"),
        (None, "linux", None),
        (OperatingSystem.LINUX, None, None),
        # What is typed counts for more than where the environment lies.
        (OperatingSystem.MACOS, "linux", "kokoro-coreml"),
    ],
)
def test_a_profile_for_another_system_than_the_environments_is_not_taken(
    tmp_path: Path, typed: OperatingSystem | None, system: str | None, taken: str | None
) -> None:
    (tmp_path / "requirements.txt").write_text("kokoro==0.9.4\n", encoding="utf-8")
    found = recognised_profile(tmp_path, read_project(tmp_path), TargetChoice(os=typed), system, tell=lambda text: None)
    assert (found.name if found is not None else None) == taken
