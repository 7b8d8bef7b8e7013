"""Patches of shipped profiles on the real upstream files, where checkouts of them are at hand.

``ENVDOCTOR_UPSTREAM`` names a folder that holds them under the names below; else ``../shared/upstream`` is looked into.
"""

from __future__ import annotations

import ast
import os
import shutil
from pathlib import Path

import pytest

from envdoctor.adapters.apply.preview import patch_states, preview_patches
from envdoctor.adapters.apply.trees import FolderTree, LayeredTree
from envdoctor.model.step import PatchFile
from envdoctor.profile.load import load_profile
from envdoctor.verbs import project_inputs

_UPSTREAM = Path(os.environ.get("ENVDOCTOR_UPSTREAM") or Path(__file__).parents[3] / "shared" / "upstream")
_TREES = {
    "xtts-zluda": ("xtts-webui", "scripts/modeldownloader.py"),
    "xtts-zluda-rvc": ("xtts-webui", "scripts/modeldownloader.py"),
    "diffrhythm2-directml": ("diffrhythm2", "inference.py"),
    "diffrhythm2-cpu": ("diffrhythm2", "inference.py"),
    "rvc-zluda": ("advanced-rvc", "arvc/rvc/models/backends/zluda.py"),
    "kokoro-coreml": ("kokoro", "kokoro/istftnet.py"),
    "amphion-cuda13-aarch64": ("amphion", "models/vc/vevo/vevo_utils.py"),
}


def checkout(profile: str) -> Path:
    name, mark = _TREES[profile]
    if not (_UPSTREAM / name / mark).is_file():
        pytest.skip(f"no checkout of {name} below {_UPSTREAM}")
    return _UPSTREAM / name


@pytest.mark.parametrize("name", _TREES)
def test_every_patch_fits_the_real_sources_and_leaves_python_behind(name: str) -> None:
    project, profile = checkout(name), load_profile(name)
    states = patch_states(profile, project)
    assert [state for state in states if state.state in ("misfit", "absent")] == []
    own = [patch for patch in profile.patches if patch.root == "project"]
    made = preview_patches(own, {"project": FolderTree(project), "site-packages": LayeredTree([])})
    assert made.refusals == ()
    for step in made.steps:
        assert isinstance(step, PatchFile)
        if step.path.endswith(".py"):
            ast.parse(step.content)


def test_no_whisper_of_the_page_is_left_on_the_card() -> None:
    project, profile = checkout("xtts-zluda"), load_profile("xtts-zluda")
    own = [patch for patch in profile.patches if patch.component == "whisper"]
    made = preview_patches(own, {"project": FolderTree(project), "site-packages": LayeredTree([])})
    text = {step.path: step.content.decode() for step in made.steps if isinstance(step, PatchFile)}
    for page in ("parts/instuments.py", "parts/voice2voice.py"):
        lines = [
            line for line in text[page].splitlines() if "whisper_device = " in line or "whisper_compute_time =" in line
        ]
        assert len(lines) == 2
        assert all('value="cpu"' in line or 'value="int8"' in line for line in lines)
    assert 'choices=["float16"]' not in text["modules/voice2voice.py"]


def test_the_same_sources_inside_another_project(tmp_path: Path) -> None:
    place = tmp_path / "models" / "diffrhythm2_source"
    shutil.copytree(checkout("diffrhythm2-directml"), place, ignore=shutil.ignore_patterns(".git", "*.onnx", "*.pkl"))
    profile = project_inputs.placed(load_profile("diffrhythm2-directml"), tmp_path, lambda _text: None)
    assert profile is not None
    assert {state.state for state in patch_states(profile, tmp_path)} == {"fits"}
