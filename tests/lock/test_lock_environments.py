"""A profile with several environments: each is judged and locked for itself."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from lock_index import LoopbackIndex
from lock_profile import profile_text
from packaging.specifiers import SpecifierSet

from envdoctor.adapters.project import read_project
from envdoctor.cli.main import main
from envdoctor.profile.load import load_profile
from envdoctor.render.json_document import report_schema
from envdoctor.verbs.check_request import CheckRequest
from envdoctor.verbs.profile_environments import environment_of, per_environment
from envdoctor.verbs.target_choice import TargetChoice, pick_target

PROFILE = profile_text(
    """
[environments.song]
requirements = ["song.txt"]
because = "its torch is another"
[environments.voice]
requirements = ["voice.txt"]
because = "its torch is another"
""",
    name="two",
    python="==3.11.*",
)
SONG = "torch==1.0\nsinger\n"
VOICE = "torch==2.0\nspeaker\n"


@pytest.fixture
def stack(tmp_path: Path, index: LoopbackIndex) -> Path:
    for name, version, requires in (
        ("torch", "1.0", ()),
        ("torch", "2.0", ()),
        ("singer", "1.0", ("torch<2",)),
        ("speaker", "1.0", ("torch>=2",)),
    ):
        index.wheel(name, version, requires)
    folder = tmp_path / "stack"
    folder.mkdir()
    (folder / "song.txt").write_text(SONG, encoding="utf-8")
    (folder / "voice.txt").write_text(VOICE, encoding="utf-8")
    (folder / "two.toml").write_text(PROFILE, encoding="utf-8")
    lines = '[project]\nname = "stack"\nversion = "1"\n[tool.envdoctor]\nrequirements = ["song.txt", "voice.txt"]\n'
    (folder / "pyproject.toml").write_text(lines, encoding="utf-8")
    return folder


def run(capsys: pytest.CaptureFixture[str], verb: str, stack: Path, *options: str) -> tuple[int, str, str]:
    capsys.readouterr()
    code = main([verb, str(stack), "--profile", str(stack / "two.toml"), *options])
    said = capsys.readouterr()
    return code, said.out, said.err


def report(capsys: pytest.CaptureFixture[str], stack: Path) -> tuple[int, dict[str, object]]:
    code, out, _ = run(capsys, "check", stack, "--format", "json")
    document = json.loads(out)
    Draft202012Validator(report_schema()).validate(document)
    return code, document


def torches(document: dict[str, object]) -> dict[str, str]:
    return {
        part["name"]: next(row["version"] for row in part["resolution"]["packages"] if row["name"] == "torch")
        for part in document["environments"]  # type: ignore[attr-defined]
    }


def test_environments_that_disagree_are_no_conflict(capsys: pytest.CaptureFixture[str], stack: Path) -> None:
    code, document = report(capsys, stack)
    assert code == 0
    assert document["conflicts"] == []
    assert torches(document) == {"song": "1.0", "voice": "2.0"}
    _, out, _ = run(capsys, "check", stack)
    assert "resolution of song on Python 3.11" in out
    assert "resolution of voice on Python 3.11" in out


def test_a_conflict_inside_one_environment_is_called_after_it(capsys: pytest.CaptureFixture[str], stack: Path) -> None:
    (stack / "voice.txt").write_text("torch==1.0\nspeaker\n", encoding="utf-8")
    code, document = report(capsys, stack)
    assert code == 1
    assert [item["id"] for item in document["conflicts"]] == ["voice:C1"]  # type: ignore[attr-defined]
    repairs = document["repairs"]
    assert {item["id"].partition(":")[0] for item in repairs} == {"voice"}  # type: ignore[attr-defined]
    (finding,) = (item for item in document["findings"] if item["severity"] == "error")  # type: ignore[attr-defined]
    assert finding["environment"] == "voice"
    assert finding["message"].startswith("environment `voice`: ")
    for form in ("human", "markdown", "html", "sarif", "junit", "github"):
        code, out, _ = run(capsys, "check", stack, "--format", form)
        assert code == 1
        assert "voice" in out
        assert "environment `song`" not in out


def test_the_same_conflict_in_each_environment_is_told_of_each(capsys: pytest.CaptureFixture[str], stack: Path) -> None:
    for name in ("song.txt", "voice.txt"):
        (stack / name).write_text("torch==1.0\nspeaker\n", encoding="utf-8")
    code, out, _ = run(capsys, "check", stack)
    assert code == 1
    assert out.startswith("check: ✖ broken - 2 conflicts\n")


def test_each_environment_has_its_own_lock(capsys: pytest.CaptureFixture[str], stack: Path) -> None:
    code, _, err = run(capsys, "lock", stack, "--check")
    assert code == 1
    assert "pylock.two-song.toml` is missing" in err
    assert run(capsys, "lock", stack)[0] == 0
    locks = {name: (stack / f"pylock.two-{name}.toml").read_text(encoding="utf-8") for name in ("song", "voice")}
    assert "torch-1.0-" in locks["song"]
    assert "speaker" not in locks["song"]
    assert "torch-2.0-" in locks["voice"]
    assert "singer" not in locks["voice"]
    assert run(capsys, "lock", stack, "--check")[0] == 0
    assert not (stack / "pylock.two.toml").exists()


def test_a_locked_environment_stays_with_its_own_versions(
    capsys: pytest.CaptureFixture[str], stack: Path, index: LoopbackIndex
) -> None:
    assert run(capsys, "lock", stack)[0] == 0
    index.wheel("singer", "2.0", ("torch<2",))
    assert run(capsys, "lock", stack, "--check")[0] == 0
    (stack / "pylock.two-song.toml").unlink()
    code, _, err = run(capsys, "lock", stack, "--check")
    assert code == 1
    assert "pylock.two-song.toml" in err
    assert "two-voice" not in err


def test_no_lock_is_written_where_one_environment_has_none(capsys: pytest.CaptureFixture[str], stack: Path) -> None:
    (stack / "voice.txt").write_text("torch==2.0\nnowhere\n", encoding="utf-8")
    code, _, err = run(capsys, "lock", stack)
    assert code == 1
    assert "voice.txt:2: no index has `nowhere`" in err
    assert "environment `voice`" in err
    assert not list(stack.glob("pylock.*"))


def test_a_repair_that_is_asked_for_is_that_of_the_environment_which_needs_one(
    capsys: pytest.CaptureFixture[str], stack: Path
) -> None:
    (stack / "voice.txt").write_text("torch==1.0\nspeaker\n", encoding="utf-8")
    assert run(capsys, "lock", stack, "--repair", "1")[0] == 0
    assert "torch-1.0-" in (stack / "pylock.two-song.toml").read_text(encoding="utf-8")
    code, _, err = run(capsys, "lock", stack, "--repair", "99")
    assert code == 2
    assert "environment `voice`: there is no repair R99" in err


def test_what_belongs_to_one_environment_alone_is_in_no_other(capsys: pytest.CaptureFixture[str], stack: Path) -> None:
    text = PROFILE.replace('requirements = ["song.txt"]', 'packages = ["singer"]').replace(
        'requirements = ["voice.txt"]', ""
    )
    (stack / "song.txt").write_text("singer\n", encoding="utf-8")
    (stack / "two.toml").write_text(text, encoding="utf-8")
    code, document = report(capsys, stack)
    assert code == 0
    assert torches(document) == {"song": "1.0", "voice": "2.0"}


def test_the_sources_are_not_held_against_an_environment_that_reads_none_of_the_projects_files(
    capsys: pytest.CaptureFixture[str], stack: Path
) -> None:
    text = PROFILE.replace('requirements = ["song.txt"]', 'packages = ["singer"]')
    (stack / "song.txt").write_text("singer\n", encoding="utf-8")
    (stack / "two.toml").write_text(text, encoding="utf-8")
    (stack / "main.py").write_text("import speaker\nimport six\n", encoding="utf-8")
    findings = report(capsys, stack)[1]["findings"]
    said = [item["message"] for item in findings if item["rule"] == "SRC001"]  # type: ignore[attr-defined]
    assert [message for message in said if "`voice`" in message]
    assert not [message for message in said if "`song`" in message]


def test_a_version_is_explained_in_each_environment_that_has_it(
    capsys: pytest.CaptureFixture[str], stack: Path
) -> None:
    arguments = ["--profile", str(stack / "two.toml")]
    assert main(["explain", str(stack), "torch", *arguments]) == 0
    out = capsys.readouterr().out
    assert out.index("environment song:") < out.index("environment voice:")
    assert main(["explain", str(stack), "singer", *arguments]) == 0
    assert "environment voice:" not in capsys.readouterr().out
    assert main(["explain", str(stack), "nowhere", *arguments]) == 2
    (stack / "voice.txt").write_text("torch==1.0\nspeaker\n", encoding="utf-8")
    assert main(["explain", str(stack), "voice:C1", *arguments]) == 0
    assert "voice:C1" in capsys.readouterr().out


def test_each_environment_has_its_own_backend_and_python(capsys: pytest.CaptureFixture[str], stack: Path) -> None:
    text = PROFILE.replace('backend = "cpu"', 'backend = "directml"').replace("==3.11.*", ">=3.11,<3.13")
    text = text.replace("[environments.song]\n", '[smoke]\nsettings = ["cudnn-off"]\n[environments.song]\n')
    text = text.replace("[environments.voice]\n", '[environments.voice]\nbackend = "cpu"\npython = "==3.11.*"\n')
    (stack / "two.toml").write_text(text, encoding="utf-8")
    _, document = report(capsys, stack)
    parts = {part["name"]: part for part in document["environments"]}  # type: ignore[attr-defined]
    targets = {name: (part["target"]["backend"], part["target"]["python"]) for name, part in parts.items()}
    assert targets == {"song": ("directml", "3.12"), "voice": ("cpu", "3.11")}
    code, _, _ = run(capsys, "lock", stack)
    assert code == 0
    for name, backend in (("song", "directml"), ("voice", "cpu")):
        assert f'backend = "{backend}"' in (stack / f"pylock.two-{name}.toml").read_text()
    profile = load_profile(str(stack / "two.toml"))
    song, voice = (environment_of(profile, Path(f".venv-{name}")) for name in ("song", "voice"))
    assert (song.target.backend.value, song.smoke.settings) == ("directml", ("cudnn-off",))
    assert (voice.target.backend.value, voice.smoke.settings) == ("cpu", ())
    assert environment_of(profile, Path(".venv")) is profile


def test_an_environment_takes_a_python_of_which_later_patch_releases_alone_are_admitted(tmp_path: Path) -> None:
    profile = load_profile("diffrhythm2-directml-cpu")
    target, _ = pick_target(TargetChoice(), profile, None)
    late = replace(profile.environments[0], python=SpecifierSet(">=3.11.4,<3.12"))
    profile = replace(profile, environments=(late,))
    request = CheckRequest(target, date(2026, 11, 28), ((3, 12), (3, 11), (3, 10)), profile=profile)
    (part,) = per_environment(request)
    assert (part.python_choices, part.target.python) == (((3, 11),), (3, 11))


def test_what_is_known_of_a_card_is_not_said_of_the_environment_beside_it(tmp_path: Path, index: LoopbackIndex) -> None:
    profile = load_profile("diffrhythm2-directml-cpu")
    target, pythons = pick_target(TargetChoice(), profile, None)
    (tmp_path / "requirements.txt").write_text("torch==2.7\n", encoding="utf-8")
    project = read_project(tmp_path)
    request = CheckRequest(target, date(2026, 11, 28), pythons, project=project, profile=profile)
    card, beside = per_environment(request)
    assert (card.target.backend.value, beside.target.backend.value) == ("directml", "cpu")
    assert {item.requirement.name for item in card.profile.requires} - {  # type: ignore[union-attr]
        item.requirement.name
        for item in beside.profile.requires  # type: ignore[union-attr]
    } == {"torch-directml"}


def test_commands_name_no_backend_where_the_first_environment_has_its_own(
    capsys: pytest.CaptureFixture[str], stack: Path
) -> None:
    text = PROFILE.replace('["song.txt"]', '["song.txt"]\nbackend = "cuda"')
    (stack / "two.toml").write_text(text, encoding="utf-8")
    code, _, err = run(capsys, "lock", stack, "--check")
    assert code == 1
    assert "--target-backend" not in err
