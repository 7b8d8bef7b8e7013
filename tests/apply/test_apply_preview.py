"""Previews: patches over whole trees, with what they refuse."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from envdoctor.adapters.apply.preview import preview_patches
from envdoctor.adapters.apply.trees import FolderTree
from envdoctor.model.origin import ProfileOrigin
from envdoctor.model.plan import PatchPreview
from envdoctor.model.profile import Patch, PatchKind
from envdoctor.model.step import PatchFile, PatchLater, RemoveFile

# Look-alikes of the files that XTTS-WebUI's patches are for: the same anchors in other words.
XTTS = {
    "scripts/modeldownloader.py": (
        "import subprocess\nimport sys\n\n\ndef install_deepspeed_based_on_python_version():\n"
        '    subprocess.run([sys.executable, "-m", "pip", "install", "deepspeed==0.11.2"])\n\n\n'
        "def upgrade_tts_package():\n    subprocess.check_call([sys.executable, '-m', 'pip', 'install', 'tts'])\n\n\n"
        "def upgrade_stream2sentence_package():\n    pass\n\n\n"
        'if __name__ == "__main__":\n    install_deepspeed_based_on_python_version()\n'
    ),
    "scripts/resemble_enhance/utils/distributed.py": (
        "import os\nimport deepspeed\nfrom deepspeed.accelerator import get_accelerator\n"
    ),
    "scripts/resemble_enhance/utils/engine.py": (
        "import torch\nfrom deepspeed import DeepSpeedConfig\nfrom deepspeed.accelerator import get_accelerator\n"
        "from deepspeed.runtime.engine import DeepSpeedEngine\n"
        "from deepspeed.runtime.utils import clip_grad_norm_\n\n\n"
        "class Engine(DeepSpeedEngine):\n    pass\n"
    ),
    "scripts/resemble_enhance/denoiser/train.py": "import argparse\nfrom deepspeed import DeepSpeedConfig\n",
    "scripts/resemble_enhance/enhancer/train.py": "import argparse\nfrom deepspeed import DeepSpeedConfig\n",
    "scripts/resemble_enhance/denoiser/inference.py": 'state = torch.load(run / "weights", map_location="cpu")\n',
    "scripts/resemble_enhance/enhancer/inference.py": 'state = torch.load(run / "weights", map_location="cpu")\n',
    "scripts/resemble_enhance/enhancer/enhancer.py": 'state = torch.load(path, map_location="cpu")\n',
    "scripts/utils/formatter.py": 'asr = WhisperModel("large-v2", device=device, compute_type="float16")\n',
    "parts/instuments.py": (
        'gr.Dropdown(["int8"], value="float16")\ngr.Radio(choices=["cuda","cpu"],value="cuda", label="d")\n'
    ),
    "parts/voice2voice.py": (
        'gr.Dropdown(["int8"], value="float16")\ngr.Radio(choices=["cuda","cpu"],value="cuda", label="d")\n'
    ),
    "modules/voice2voice.py": 'kinds = gr.Radio(choices=["float16"],value="float16",label="compute type")\n',
    "scripts/voice2voice.py": 'a = f("cuda:0")\nb = f("cuda:0")\nc = f("cuda:0")\n',
    "scripts/funcs.py": "def go():\n    device = 'cuda' if torch.cuda.is_available() else 'cpu'\n",
    "scripts/tts_funcs.py": "class TTSWrapper:\n    def __init__(self):\n        self.device = 'cuda'\n",
    "start_xtts_webui.bat": "python app.py --deepspeed --rvc\r\n",
}


def write(root: Path, files: dict[str, str]) -> FolderTree:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    return FolderTree(root)


def preview(tree: FolderTree, *patches: Patch) -> PatchPreview:
    return preview_patches(patches, {"project": tree, "site-packages": tree})


def test_the_patches_of_the_xtts_profile_fit_a_checkout_and_fit_only_once(tmp_path: Path) -> None:
    from envdoctor.planning.patch_selection import select
    from envdoctor.profile.load import load_profile

    profile = load_profile("xtts-zluda")
    chosen = select(profile, {"torch": "2.7.1"}, moved=[rule.component for rule in profile.placements])
    tree = write(tmp_path, XTTS)
    first = preview(tree, *chosen.patches)
    assert first.refusals == ()
    for step in first.steps:
        assert isinstance(step, PatchFile)
        (tmp_path / step.path).write_bytes(step.content)
        if step.path.endswith(".py"):
            compile(step.content, step.path, "exec")
    assert {step.path for step in first.steps if isinstance(step, PatchFile)} == set(XTTS)
    second = preview(tree, *chosen.patches)
    assert (second.steps, second.refusals) == ((), ())
    assert (tmp_path / "start_xtts_webui.bat").read_bytes() == b"python app.py --rvc\r\n"


def test_a_file_that_is_not_as_expected_is_named_with_what_was_looked_for(tmp_path: Path) -> None:
    tree = write(tmp_path, {"app.py": "x = 1\n"})
    found = preview(tree, Patch(PatchKind.STUB_FUNCTION, ("app.py",), "b", function="go", name="calm"))
    assert [item.kind.value for item in found.refusals] == ["anchor"]
    assert "patch `calm`" in found.refusals[0].message
    assert "`app.py`: looked for a function `go`" in found.refusals[0].message


def test_a_patch_that_does_not_fit_is_named_by_the_profile_and_the_key_path_it_stands_at(tmp_path: Path) -> None:
    tree = write(tmp_path, {"app.py": "x = 1\n"})
    origin = ProfileOrigin("base", "patch[3]")
    found = preview(tree, Patch(PatchKind.STUB_FUNCTION, ("app.py",), "b", function="go", name="calm", origin=origin))
    assert "patch `calm` (profile base: patch[3], stub-function) does not fit" in found.refusals[0].message


def test_an_optional_patch_is_skipped_and_said(tmp_path: Path) -> None:
    tree = write(tmp_path, {"app.py": "x = 1\n"})
    missing = Patch(PatchKind.REPLACE_TEXT, ("gone.py",), "b", find="a", replace="b", optional=True, name="maybe")
    found = preview(tree, missing)
    assert found.refusals == ()
    assert found.skipped == ("optional patch `maybe`: `gone.py`: there is no such file",)


def test_a_glob_needs_one_file_that_fits_and_leaves_environments_alone(tmp_path: Path) -> None:
    tree = write(
        tmp_path,
        {
            "pkg/a.py": "import deepspeed\n",
            "pkg/deep/b.py": "x = 1\n",
            ".venv/pyvenv.cfg": "home = /usr/bin\n",
            ".venv/lib/c.py": "import deepspeed\n",
        },
    )
    found = preview(tree, Patch(PatchKind.GUARD_IMPORT, ("**/*.py",), "b", module="deepspeed"))
    assert [step.path for step in found.steps if isinstance(step, PatchFile)] == ["pkg/a.py"]
    assert found.refusals == ()


def test_several_patches_of_one_file_are_one_change(tmp_path: Path) -> None:
    tree = write(tmp_path, {"app.py": "a = 1\nb = 1\n"})
    found = preview(
        tree,
        Patch(PatchKind.SET_ATTRIBUTE, ("app.py",), "b", attribute="a", value="2", name="one"),
        Patch(PatchKind.SET_ATTRIBUTE, ("app.py",), "b", attribute="b", value="3", name="two"),
    )
    (step,) = found.steps
    assert isinstance(step, PatchFile)
    assert (step.content, step.patches) == (b"a = 2\nb = 3\n", ("one", "two"))
    assert "-a = 1\n" in step.diff
    assert "+a = 2\n" in step.diff


def test_files_can_be_taken_away(tmp_path: Path) -> None:
    tree = write(tmp_path, {"torch/lib/libhsa.so.1": "x", "torch/lib/other.so": "y"})
    found = preview(tree, Patch(PatchKind.REMOVE_FILE, ("torch/lib/libhsa.so*",), "b", root="site-packages"))
    assert [step.path for step in found.steps if isinstance(step, RemoveFile)] == ["torch/lib/libhsa.so.1"]


def test_what_a_build_will_make_is_patched_later(tmp_path: Path) -> None:
    tree = write(tmp_path, {})
    patch = Patch(PatchKind.SET_ATTRIBUTE, ("built.py",), "b", root="site-packages", attribute="a", value="1")
    found = preview_patches([patch], {"site-packages": tree}, built_later=True)
    assert isinstance(found.steps[0], PatchLater)


@pytest.mark.parametrize("path", ["../outside.py", "/etc/hosts", "C:/x.py", "a/../../outside.py", "..\\outside.py"])
def test_paths_that_leave_the_project_are_refused(tmp_path: Path, path: str) -> None:
    (tmp_path / "outside.py").write_text("x = 1\n")
    tree = write(tmp_path / "project", {"app.py": "x = 1\n"})
    found = preview(tree, Patch(PatchKind.SET_ATTRIBUTE, (path,), "b", attribute="x", value="2"))
    assert [item.kind.value for item in found.refusals] == ["path"]
    assert found.steps == ()


@pytest.mark.skipif(os.name == "nt", reason="CreateSymbolicLink needs a privilege on Windows")
@pytest.mark.parametrize("pattern", ["link.py", "*.py", "folder/x.py"])
def test_links_that_lead_out_are_refused(tmp_path: Path, pattern: str) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "x.py").write_text("x = 1\n")
    tree = write(tmp_path / "project", {"app.py": "y = 1\n"})
    (tmp_path / "project" / "link.py").symlink_to(outside / "x.py")
    (tmp_path / "project" / "folder").symlink_to(outside)
    found = preview(tree, Patch(PatchKind.SET_ATTRIBUTE, (pattern,), "b", attribute="x", value="2"))
    assert [item.kind.value for item in found.refusals] == ["path"]
    assert (outside / "x.py").read_text() == "x = 1\n"
