"""A stack's checkout inside another project: found, its requirements read, its patches rooted there."""

from __future__ import annotations

from pathlib import Path

import pytest

from envdoctor.adapters.apply.preview import patch_states
from envdoctor.diagnose.examination import Examination
from envdoctor.diagnose.rules.src007_profile_patches import RULE
from envdoctor.model.finding import Finding, Severity
from envdoctor.profile.catalogue import folders_of_marks, recognise, rooted
from envdoctor.profile.load import load_profile
from envdoctor.verbs import project_inputs
from envdoctor.verbs.settings import Settings
from envdoctor.verbs.target_choice import TargetChoice

PLACE = "models/diffrhythm2_source"
FILES = {
    "diffrhythm2/cfm.py": "a = t.half()\nb = t.half()\n",
    "g2p/g2p_generation.py": "",
    "requirements.txt": "torch==2.7\ntorchdiffeq\n",
    "inference.py": 'import torch\nm = load(cache_dir="./ckpt").to(device)\nwith torch.inference_mode():\n'
    "    w = prompt_wav.to(device)\ndevice = 'cuda'\n",
}
KNOWN = [f"{PLACE}/{name}" for name in FILES]


@pytest.fixture
def outer(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        path = tmp_path / PLACE / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    (tmp_path / "requirements.txt").write_text("gradio\n", encoding="utf-8")
    (tmp_path / "app.py").write_text("import gradio\n", encoding="utf-8")
    return tmp_path


def test_a_checkout_has_every_plain_mark_and_a_list() -> None:
    profile = load_profile("diffrhythm2-directml")
    assert folders_of_marks(profile, KNOWN) == (PLACE,)
    assert folders_of_marks(profile, KNOWN[1:]) == ()
    assert folders_of_marks(profile, [name for name in KNOWN if "requirements" not in name]) == ()
    twice = [*KNOWN, *(f"a/b/c/{name}" for name in FILES)]
    assert folders_of_marks(profile, twice) == (PLACE, "a/b/c")


def test_the_outer_project_is_recognised_and_both_lists_are_read(outer: Path) -> None:
    said: list[str] = []
    plain = project_inputs.read(outer, None, Settings())
    taken = project_inputs.recognised_profile(outer, plain, TargetChoice(), None, tell=said.append)
    assert taken is not None
    assert taken.place == PLACE
    assert f"`{PLACE}` is its checkout" in said[0]
    read = project_inputs.read(outer, taken, Settings())
    assert read.files == ("requirements.txt", f"{PLACE}/requirements.txt")
    assert {item.name for item in read.requirements} == {"gradio", "torch", "torchdiffeq"}
    named = project_inputs.placed(load_profile("diffrhythm2-directml"), outer, said.append)
    assert named is not None
    assert named.place == PLACE
    assert "a checkout inside this project" in said[-1]
    (outer / "requirements.txt").unlink()
    assert project_inputs.read(outer, named, Settings()).files == (f"{PLACE}/requirements.txt",)


def test_a_project_that_is_the_stack_is_not_taken_for_an_outer_one() -> None:
    both = [*FILES, *KNOWN]
    assert {match.place for match in recognise(both, ())} == {""}


def test_everything_with_a_path_is_rooted_there() -> None:
    profile = rooted(load_profile("diffrhythm2-directml"), PLACE)
    files = {name for patch in profile.patches if patch.root == "project" for name in patch.files}
    assert files == {f"{PLACE}/inference.py", f"{PLACE}/diffrhythm2/cfm.py"}
    places = {rule.set.file for rule in profile.placements if rule.set is not None}
    assert places == {f"{PLACE}/inference.py"}
    assert profile.environment["PYTHONPATH"] == f"{{project}}/{PLACE}"


def found(project: Path) -> list[Finding]:
    profile = project_inputs.placed(load_profile("diffrhythm2-directml"), project, lambda _text: None)
    states = patch_states(profile, project)
    examination = Examination(profile=profile, sources=project_inputs.sources_of(project), patches=states)
    return list(RULE.find(examination))


def test_check_tells_what_fits_what_is_applied_and_what_does_not_fit(outer: Path) -> None:
    (finding,) = found(outer)
    assert (finding.severity, finding.subject) == (Severity.INFO, PLACE)
    assert finding.message == "of the 5 patches of profile `diffrhythm2-directml`: 5 fit"
    script = outer / PLACE / "diffrhythm2/cfm.py"
    script.write_text(script.read_text().replace(".half()", ".to(text_emb.dtype)"), encoding="utf-8")
    (finding,) = found(outer)
    assert finding.message.endswith("4 fit, 1 are applied")
    inference = outer / PLACE / "inference.py"
    inference.write_text(inference.read_text().replace("inference_mode", "no_grad_at_all"), encoding="utf-8")
    (finding,) = found(outer)
    assert finding.severity is Severity.WARNING
    assert finding.message.endswith("3 fit, 1 are applied, 1 do not fit")
    assert "no-inference-mode" in finding.evidence[0].what
    inference.unlink()
    (finding,) = found(outer)
    assert finding.severity is Severity.WARNING
    assert finding.message.endswith("1 are applied, 4 miss their file")


def test_a_list_alone_is_no_checkout(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("torch==2.7\n", encoding="utf-8")
    assert found(tmp_path) == []
    (tmp_path / "app.py").write_text("import torch\n", encoding="utf-8")
    (finding,) = found(tmp_path)
    assert finding.severity is Severity.INFO
    assert "needs the checkout" in finding.message
