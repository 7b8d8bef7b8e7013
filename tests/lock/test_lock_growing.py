"""Profiles and advisories of others: drafted, tested, found in folders, refused with file and line."""

from __future__ import annotations

import hashlib
import json
import os
from importlib.resources import files
from pathlib import Path

import jsonschema
import pytest
from lock_index import LoopbackIndex
from lock_profile import profile_text

from envdoctor.cli.main import main
from envdoctor.profile.load import parse_profile

SCHEMA = json.loads(files("envdoctor.render").joinpath("documents.schema.json").read_text(encoding="utf-8"))
ADVISORY = """
[[advisory]]
code = "{code}"
id = "our-quirk"
severity = "warning"
subject = "alpha"
message = "our build of alpha {{alpha}} has a quirk"
cause = "it is built so"
remedy = {{ summary = "take ours" }}
evidence = ["executed: here"]
confidence = "executed"
date = 2026-11-28
seen = []
targets = ["ours"]
when = {{ package = "alpha", version = ">=2" }}
symptom = ["our own failure"]
fires = [ {{ log = "our own failure" }} ]
silent = [ {{ log = "nothing" }} ]
"""
PROFILE = profile_text(
    """
[[override]]
requirement = "alpha==1.0"
replaces = "project"
because = "we want the first"
""",
    name="ours",
    python=">=3.12,<3.13",
)


def findings(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[dict[str, str]]:
    capsys.readouterr()
    main(["check", *arguments, "--format", "json"])
    return json.loads(capsys.readouterr().out)["findings"]


def test_advisories_of_a_folder_are_told_of_plans_and_logs(
    index: LoopbackIndex, project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "advisories"
    folder.mkdir()
    (folder / "ours.toml").write_text(ADVISORY.format(code="ADV900"), encoding="utf-8")
    settings = '[project]\nname = "p"\nversion = "1"\ndependencies = ["alpha"]\n'
    settings += '[tool.envdoctor]\nadvisories = ["../advisories"]\n'
    (project / "pyproject.toml").write_text(settings, encoding="utf-8")
    told = [item for item in findings(capsys, str(project)) if item["rule"] == "ADV900"]
    assert [item["message"] for item in told] == ["our build of alpha 2.0 has a quirk"]


def test_a_variable_names_them_for_a_log_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file, log = tmp_path / "ours.toml", tmp_path / "log.txt"
    file.write_text(ADVISORY.format(code="ADV900"), encoding="utf-8")
    log.write_text("our own failure\n", encoding="utf-8")
    monkeypatch.setenv("ENVDOCTOR_ADVISORIES", str(file))
    assert [item["rule"] for item in findings(capsys, "--log", str(log))] == ["ADV900"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (ADVISORY.format(code="ADV001"), "ours.toml:3: `advisory[0].code`: `ADV001` is not of ADV900 to ADV999"),
        ("[[advisory]]\ncode = 3\n", "ours.toml:2: `advisory[0].code`"),
        ("[[advisory", "ours.toml:1"),
    ],
)
def test_a_fault_of_them_stops_with_file_and_line(
    text: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "ours.toml").write_text(text, encoding="utf-8")
    (tmp_path / "log.txt").write_text("x\n", encoding="utf-8")
    monkeypatch.setenv("ENVDOCTOR_ADVISORIES", str(tmp_path / "ours.toml"))
    assert main(["check", "--log", str(tmp_path / "log.txt")]) == 2
    assert said in capsys.readouterr().err


def test_a_profile_of_a_folder_is_taken_by_its_name(
    index: LoopbackIndex, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "profiles"
    folder.mkdir()
    (folder / "ours.toml").write_text(PROFILE, encoding="utf-8")
    (folder / "ours.cases.toml").write_text('[[case]]\nname = "x"\nrequirements = ["alpha"]\n', encoding="utf-8")
    monkeypatch.setenv("ENVDOCTOR_PROFILES", str(folder))
    assert main(["lock", str(project), "--profile", "ours"]) == 0
    assert 'version = "1.0"' in (project / "pylock.ours.toml").read_text(encoding="utf-8")


def test_a_case_is_not_known_where_an_index_gives_no_answer(
    index: LoopbackIndex, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    profile = tmp_path / "ours.toml"
    bound = '[[index]]\nname = "gone"\nurl = "http://127.0.0.1:9/simple"\npackages = ["alpha"]\n'
    profile.write_text(PROFILE + bound, encoding="utf-8")
    case = '[[case]]\nname = "x"\nrequirements = ["alpha"]\nversions = { alpha = ">=2" }\n'
    (tmp_path / "ours.cases.toml").write_text(case, encoding="utf-8")
    assert main(["profiles", "test", str(profile)]) == 3
    assert capsys.readouterr().out.startswith("x: unknown; ")
    assert main(["profiles", "test", str(profile), "--format", "json"]) == 3
    document = json.loads(capsys.readouterr().out)
    jsonschema.Draft202012Validator(SCHEMA).validate(document)
    assert document["cases"][0]["wrong"] == []
    assert "gone" in document["cases"][0]["unknown"][0]


def test_a_place_that_is_not_there_is_a_usage_error(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ENVDOCTOR_PROFILES", str(project / "nowhere"))
    assert main(["check", str(project), "--offline"]) == 2
    assert "ENVDOCTOR_PROFILES: there is no file or folder" in capsys.readouterr().err


def test_the_cases_beside_a_profile_say_what_differs(
    index: LoopbackIndex, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    profile = tmp_path / "ours.toml"
    profile.write_text(PROFILE, encoding="utf-8")
    cases = tmp_path / "ours.cases.toml"
    cases.write_text(
        '[[case]]\nname = "good"\nrequirements = ["alpha"]\nversions = { alpha = "==1.0" }\n'
        '[[case]]\nname = "bad"\nrequirements = ["alpha"]\nversions = { alpha = ">=2", gamma = "" }\n'
        'findings = ["RES001"]\n',
        encoding="utf-8",
    )
    assert main(["profiles", "test", str(profile)]) == 1
    out = capsys.readouterr().out.splitlines()
    assert out[0] == "good: as written"
    assert out[1] == "bad: `alpha` is 1.0, and not >=2; `gamma` is not in the resolution; RES001 is not told"
    main(["profiles", "test", str(profile), "--format", "json"])
    document = json.loads(capsys.readouterr().out)
    jsonschema.Draft202012Validator(SCHEMA).validate(document)
    assert [case["wrong"] == [] for case in document["cases"]] == [True, False]
    odd = '[[case]]\nname = "\\u202ex\\u0007"\nrequirements = ["--pre", "alpha"]\nsilent = ["ADV999"]\n'
    cases.write_text(odd, encoding="utf-8")
    assert main(["profiles", "test", str(profile)]) == 0
    assert capsys.readouterr().out == "x: as written\n"
    cases.write_text('[[case]]\nname = "x"\nversion = 3\n', encoding="utf-8")
    assert main(["profiles", "test", str(profile)]) == 2
    assert "ours.cases.toml:3: `case[0].version`" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("case = 3\n", "ours.cases.toml:1: `case`: must be a list of tables"),
        ("[case]\nname = 'x'\n", "`case`: must be a list of tables"),
        (
            '[[case]]\nname = "x"\nrequirements = ["alpha"]\ngpu = "Voodoo"\n',
            "ours.cases.toml:4: `case[0].gpu`: `Voodoo`",
        ),
        ('[[case]]\nname = "x"\nrequirements = ["alpha"]\npython = "9"\n', "ours.cases.toml:4: `case[0].python`: `9`"),
        (
            '[[case]]\nname = "x"\nrequirements = ["gone"]\n[[case]]\nname = "x"\nrequirements = ["alpha"]\n',
            "ours.cases.toml:5: `case[1].name`: another case is called `x`",
        ),
        (
            '[[case]]\nname = "x"\nrequirements = ["alpha\\n--index-url http://elsewhere.example/"]\n',
            "ours.cases.toml:3: `case[0].requirements`: an entry must be one line",
        ),
        (
            '[[case]]\nname = "x"\nrequirements = ["alpha", "--extra-index-url=http://elsewhere.example/"]\n',
            "`case[0].requirements`: `--extra-index-url=http://elsewhere.example/` names an index",
        ),
        (
            '[[case]]\nname = "x"\nrequirements = ["alpha"]\nsilent = ["RES1O1"]\n',
            "`case[0].silent`: no rule or advisory has the code `RES1O1`",
        ),
    ],
)
def test_a_fault_of_the_cases_is_named_with_line_and_key(
    text: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "ours.toml").write_text(PROFILE, encoding="utf-8")
    (tmp_path / "ours.cases.toml").write_text(text, encoding="utf-8")
    assert main(["profiles", "test", str(tmp_path / "ours.toml")]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has no mkfifo")
@pytest.mark.parametrize("key", ["advisories", "profiles"])
def test_a_named_pipe_in_a_folder_of_further_files_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], key: str
) -> None:
    (tmp_path / "ours").mkdir()
    os.mkfifo(tmp_path / "ours" / "one.toml")
    (tmp_path / "pyproject.toml").write_text(f'[tool.envdoctor]\n{key} = ["ours"]\n', encoding="utf-8")
    assert main(["check", str(tmp_path)]) == 2
    assert f"`{tmp_path / 'ours' / 'one.toml'}` is no file" in capsys.readouterr().err


def test_a_case_whose_requirement_cannot_be_read_is_not_as_written(
    index: LoopbackIndex, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "ours.toml").write_text(PROFILE, encoding="utf-8")
    cases = tmp_path / "ours.cases.toml"
    case = '[[case]]\nname = "x"\nrequirements = ["alpha=="]\n'
    cases.write_text(case, encoding="utf-8")
    assert main(["profiles", "test", str(tmp_path / "ours.toml")]) == 1
    assert "`alpha==` is an invalid requirement" in capsys.readouterr().out
    cases.write_text(case + 'findings = ["RES002"]\n', encoding="utf-8")
    assert main(["profiles", "test", str(tmp_path / "ours.toml")]) == 0


def test_a_draft_has_the_index_of_the_card_and_the_repair_of_the_project(
    index: LoopbackIndex, project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytorch = LoopbackIndex()
    pytorch.wheel("torch", "2.14.0+cu126", tag="cp312-cp312-win_amd64")
    monkeypatch.setenv("ENVDOCTOR_INDEX_PYTORCH_CU126", pytorch.url)
    (project / "requirements.txt").write_text("torch==2.1.1\nalpha\nbeta==1.0\nbeta==2.0\n", encoding="utf-8")
    typed = ["--gpu", "GTX 1080", "--target-os", "windows", "--target-python", "3.12"]
    assert main(["profiles", "new", "my-stack", "--project", str(project), *typed]) == 0
    text = capsys.readouterr().out
    pytorch.close()
    profile = parse_profile(text, "my-stack.toml")
    assert profile.target.backend.value == "cuda"
    assert profile.target.gpu_architectures == ("sm_61",)
    assert [item.name for item in profile.indexes] == ["pytorch-cu126"]
    assert {str(item.requirement.name) for item in profile.overrides} == {"torch", "beta"}
    assert "# Missing, and known to a person alone:" in text


def test_a_draft_says_why_a_project_is_left_out_and_what_was_found(
    index: LoopbackIndex, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    index.wheel("onlywin", "1.0", tag="cp312-cp312-win_amd64")
    (project / "requirements.txt").write_text("onlywin>=1\nalpha\n", encoding="utf-8")
    typed = ["--target-os", "macos", "--target-python", "3.12", "--gpu", "Apple M4"]
    assert main(["profiles", "new", "mine", "--project", str(project), *typed]) == 0
    text = capsys.readouterr().out
    assert [(item.name, item.because) for item in parse_profile(text, "mine.toml").excludes] == [
        ("onlywin", "nothing resolves with onlywin>=1")
    ]
    assert "Found: files, exclusions. " in text
    assert main(["profiles", "new", "No Name", "--project", str(project), *typed]) == 2
    assert "is not a profile name" in capsys.readouterr().err


def test_a_file_behind_an_address_is_fetched_once_and_held_to_its_digest(
    index: LoopbackIndex, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = ADVISORY.format(code="ADV900").encode()
    index.files["ours.toml"] = text
    digest = hashlib.sha256(text).hexdigest()

    def name(address: str) -> None:
        settings = '[project]\nname = "p"\nversion = "1"\ndependencies = ["alpha"]\n'
        settings += f'[tool.envdoctor]\nadvisories = ["{address}"]\n'
        (project / "pyproject.toml").write_text(settings, encoding="utf-8")

    name(f"{index.root}/files/ours.toml#sha256={'0' * 64}")
    assert main(["check", str(project)]) == 2
    assert "is not what its sha256 says" in capsys.readouterr().err
    name(f"{index.root}/files/ours.toml#sha256={digest}")
    assert main(["check", str(project), "--offline"]) == 2
    assert "--offline forbids it" in capsys.readouterr().err
    assert "ADV900" in {item["rule"] for item in findings(capsys, str(project))}
    del index.files["ours.toml"]
    assert "ADV900" in {item["rule"] for item in findings(capsys, str(project))}
    for address in (
        "http://elsewhere.example/ours.toml",
        f"http://127.0.0.1:80@elsewhere.example/ours.toml#sha256={digest}",
        f"http://localhost.elsewhere.example/ours.toml#sha256={digest}",
        f"http://127.0.0.1:/ours.toml#sha256={digest}",
        f"https://ours.toml#sha256={digest}",
        f"https://elsewhere.example/..%2fours.toml#sha256={digest}",
    ):
        name(address)
        assert main(["check", str(project)]) == 2
        assert "is not of the form https://" in capsys.readouterr().err, address


@pytest.mark.parametrize("text", ["[[advisory]\n", '[[advisory]]\ncode = "ADV900"\n', "nothing = 1\n"])
@pytest.mark.parametrize("key", ["advisories", "profiles"])
def test_what_is_wrong_behind_an_address_is_told_with_the_address(
    index: LoopbackIndex, project: Path, capsys: pytest.CaptureFixture[str], text: str, key: str
) -> None:
    index.files["ours.toml"] = text.encode()
    address = f"{index.root}/files/ours.toml"
    settings = '[project]\nname = "p"\nversion = "1"\ndependencies = ["alpha"]\n[tool.envdoctor]\n'
    settings += f'{key} = ["{address}#sha256={hashlib.sha256(text.encode()).hexdigest()}"]\n'
    (project / "pyproject.toml").write_text(settings, encoding="utf-8")
    assert main(["check", str(project), *(["--profile", "ours"] if key == "profiles" else [])]) == 2
    said = capsys.readouterr().err
    assert f"error: {address}:" in said
    assert "named-files" not in said
