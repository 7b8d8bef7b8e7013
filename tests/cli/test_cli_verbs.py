"""The verbs from the outside: exit codes, what goes to which stream, files written. No network."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
from cli_running import run

from envdoctor.cli.main import main
from envdoctor.cli.verb_list import VERBS
from envdoctor.render.json_document import report_schema
from song_maker import RECORDED

ROOT = Path(__file__).parents[2]
PROFILE = "diffrhythm2-directml"


def on_example(verb: str, project: Path, *more: str) -> list[str]:
    return [verb, str(project), "--profile", PROFILE, "--recorded-index", RECORDED, *more]


def test_check_prints_one_valid_document_and_nothing_else(capsys: pytest.CaptureFixture[str], example: Path) -> None:
    code, out, err = run(capsys, *on_example("check", example, "--format", "json"))
    report = json.loads(out)
    jsonschema.validate(report, report_schema())
    assert (code, err) == (1, "")
    assert report["verdict"] == "broken"
    assert [sorted(member["requirement"] for member in item["core"]) for item in report["conflicts"]] == [
        ["torch-directml", "torch==2.7"],
        ["torch-directml", "torchaudio==2.7"],
    ]
    (repair,) = report["repairs"]
    assert (repair["cost"], repair["verified"], repair["from_profile"]) == (2, True, True)
    packages = {item["name"]: item["version"] for item in report["resolution"]["packages"]}
    assert (packages["torch"], packages["torchaudio"], packages["torchvision"]) == ("2.4.1", "2.4.1", "0.19.1")


def test_fail_on_never_lets_findings_pass(capsys: pytest.CaptureFixture[str], example: Path) -> None:
    assert run(capsys, *on_example("check", example, "--fail-on", "never"))[0] == 0


def test_a_report_goes_to_a_file_whole(capsys: pytest.CaptureFixture[str], example: Path, tmp_path: Path) -> None:
    target = tmp_path / "report.sarif"
    code, out, _ = run(capsys, *on_example("check", example, "--format", "sarif", "--output", str(target)))
    assert (code, out) == (1, "")
    assert json.loads(target.read_text())["version"] == "2.1.0"
    assert [path.name for path in tmp_path.glob(".*")] == []


def test_lock_writes_check_compares_and_an_accepted_conflict_is_no_finding(
    capsys: pytest.CaptureFixture[str], example: Path
) -> None:
    assert run(capsys, *on_example("lock", example, "--check"))[0] == 1
    assert run(capsys, *on_example("lock", example))[0] == 0
    written = {path.name: path.read_bytes() for path in example.glob("*.*")}
    assert {f"pylock.{PROFILE}.toml", f"constraints.{PROFILE}.txt", f"overrides.{PROFILE}.txt"} <= set(written)
    assert run(capsys, *on_example("lock", example))[0] == 0
    assert {path.name: path.read_bytes() for path in example.glob("*.*")} == written
    assert run(capsys, *on_example("lock", example, "--check"))[0] == 0

    _, out, _ = run(capsys, *on_example("check", example, "--format", "json"))
    conflicts = [item for item in json.loads(out)["findings"] if item["rule"] == "RES001"]
    assert [item["waived"]["source"] for item in conflicts] == [f"pylock.{PROFILE}.toml"] * 2

    lock = example / f"pylock.{PROFILE}.toml"
    lock.write_text(lock.read_text() + "\n# edited by hand\n")
    code, _, err = run(capsys, *on_example("lock", example, "--check"))
    assert code == 1
    assert f"pylock.{PROFILE}.toml` is not what would be written now" in err


def test_a_new_conflict_is_a_finding_beside_accepted_ones(capsys: pytest.CaptureFixture[str], example: Path) -> None:
    assert run(capsys, *on_example("lock", example))[0] == 0
    with (example / "requirements.txt").open("a") as file:
        file.write("tokenizers==0.20.3\n")
    _, out, _ = run(capsys, *on_example("check", example, "--format", "json"))
    open_ = [
        item for item in json.loads(out)["findings"] if item["rule"] in ("RES001", "RES101") and not item["waived"]
    ]
    assert ["tokenizers" in item["message"] for item in open_] == [True]


def test_explain_without_a_topic_has_the_verdict_of_check(capsys: pytest.CaptureFixture[str], example: Path) -> None:
    _, checked, _ = run(capsys, *on_example("check", example))
    code, explained, _ = run(capsys, *on_example("explain", example))
    assert code == 0
    assert checked.startswith("check: ✖ broken - 2 conflicts")
    assert explained.startswith("explain: ✖ broken - 2 conflicts")


def test_explain_says_who_wanted_what(capsys: pytest.CaptureFixture[str], example: Path) -> None:
    code, out, _ = run(capsys, "explain", str(example), "torch", *on_example("", example)[2:])
    assert code == 0
    assert "torch-directml 0.2.5.dev240914: torch==2.4.1" in out
    assert "requirements.txt:2: torch==2.7, set aside" in out
    code, _, err = run(capsys, "explain", str(example), "torhc", *on_example("", example)[2:])
    assert code == 2
    assert "did you mean `torch`" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["check", "no-such-project"], "no-such-project"),
        (["check", ".", "--profile", "xtts-zulda"], "xtts-zluda"),
        (["check", ".", "--target-python", "2.7"], "--target-python: `2.7` is not a CPython"),
        (["check", ".", "--recorded-index", "no-such-folder"], "--recorded-index"),
        (["check", "--env", "no-such-environment"], "no-such-environment"),
        (["check", "--env", "a", "--installed", "b"], "exclude each other"),
        (["check", "--log", "no-such-log"], "no-such-log"),
        (["lock", ".", "--repair", "1", "--no-repair"], "exclude each other"),
        (["profiles", "validate", "no-such.toml"], "no-such.toml"),
        (["rule", "RES999"], "no rule `RES999`"),
        (["compare", "a.json", "b.json"], "there is no such file"),
        (["chekc"], "did you mean `check`"),
        (["check", "--target-os", "beos"], "beos"),
    ],
)
def test_a_fault_of_usage_is_one_message_and_exit_code_2(
    capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    code, out, err = run(capsys, *arguments)
    assert (code, out) == (2, "")
    assert message in err


def test_a_python_of_the_projects_own_settings_that_is_none_is_named_with_its_line(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.envdoctor]\ntarget-python = "2.7"\n', encoding="utf-8")
    code, _, err = run(capsys, "check", str(tmp_path))
    assert code == 2
    assert "pyproject.toml:2: `tool.envdoctor.target-python`: `2.7` is not a CPython" in err
    assert "--target-python" not in err


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_teaches(capsys: pytest.CaptureFixture[str], verb: str) -> None:
    code, out, _ = run(capsys, verb, "--help")
    assert code == 0
    assert "envdoctor" in out


def test_help_of_the_whole_lists_every_verb(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "--help")
    assert all(verb in out for verb in VERBS)


@pytest.mark.parametrize("columns", [60, 80, 120, 200])
def test_the_command_alone_shows_three_things_to_type(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    code, out, err = run(capsys)
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert max(map(len, lines)) <= columns
    assert len(lines) <= (24 if columns >= 80 else 40)
    assert sum(line.strip().startswith("envdoctor check") for line in lines) == 3
    assert all(any(line.startswith(f"  {verb} ") for line in lines) for verb in VERBS)
    assert "..." not in out


def test_profiles_alone_shows_its_help_whole(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "profiles")
    assert (code, err) == (0, "")
    assert all(f"  {name} " in out for name in ("list", "show", "validate", "new"))


def test_a_listing_and_a_report_can_be_compared(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    one, other = tmp_path / "one.txt", tmp_path / "other.txt"
    one.write_text("torch==2.7.1+cu118\nidna==3.10\n")
    other.write_text("torch==2.7.1+cpu\nidna==3.11\n")
    code, out, _ = run(capsys, "compare", str(one), str(other))
    assert code == 0
    assert "package torch: 2.7.1+cu118 -> 2.7.1+cpu" in out
    assert "1 further difference" in out


@pytest.mark.parametrize(
    ("name", "text", "command"),
    [
        ("pyproject.toml", "a=" + "[" * 5000, ("check", ".")),
        ("pyproject.toml", "a=" + "[" * 5000, ("lock", ".", "--profile", PROFILE)),
        ("pylock.toml", "a=" + "[" * 5000, ("check", ".")),
        ("p.toml", "a=" + "[" * 5000, ("profiles", "validate", "p.toml")),
        ("a.json", "[" * 100_000, ("compare", "a.json", "a.json")),
        ("a.json", "[" * 100_000, ("check", "--facts", "a.json")),
        ("a.json", "[" * 100_000, ("check", "--installed", "a.json")),
    ],
)
def test_what_is_nested_without_end_is_refused_in_one_line(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    name: str, text: str, command: tuple[str, ...],
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    (tmp_path / "requirements.txt").write_text("", encoding="utf-8")
    (tmp_path / name).write_text(text, encoding="utf-8")
    offline = ("--offline",) if command[0] in ("check", "lock") else ()
    code, out, err = run(capsys, *command, *offline)
    assert code == 2
    assert "nested too deep" in out + err
    assert len((out + err).splitlines()) <= 2


@pytest.mark.parametrize("value", ["nan", "inf", "1e400", "-1", "0"])
@pytest.mark.parametrize(
    "arguments", [("host", "--timeout"), ("check", "--env", ".", "--import-timeout"), ("smoke", "--timeout-scale")]
)
def test_a_time_limit_that_no_clock_can_hold_to_is_refused(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], value: str
) -> None:
    assert main([*arguments, value]) == 2
    assert "is not in the range" in capsys.readouterr().err


@pytest.mark.parametrize("value", ["3." + "9" * 5000, "３.11", "3.-1"])
def test_a_python_that_is_none_is_refused_in_a_line(capsys: pytest.CaptureFixture[str], value: str) -> None:
    assert main(["check", "--target-python", value]) == 2
    assert len(capsys.readouterr().err) < 200


@pytest.mark.parametrize("device", ["/dev/zero", "aux.toml"])
@pytest.mark.parametrize(
    "arguments",
    [
        ("check", "--facts"),
        ("check", "--installed"),
        ("check", "--log"),
        ("profiles", "validate"),
        ("check", "--profile"),
    ],
)
def test_a_device_is_not_read(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[str, ...], device: str,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    if not Path(device).is_char_device():
        pytest.skip(f"no device {device} here; Windows has a serial port by that name")
    assert main([*arguments, device]) == 2
    said = capsys.readouterr()
    assert "it is a device, which may have no end" in said.err + said.out
