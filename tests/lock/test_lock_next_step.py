"""The command at the end works as it is printed: options and path as typed, for the shell to read."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from lock_index import LoopbackIndex
from lock_profile import profile_text

from envdoctor.cli.main import main
from envdoctor.toml_tables import read_toml
from envdoctor.verbs.target_choice import host_target
from song_maker import EXAMPLE

PROFILE = profile_text(os="windows", backend="directml")
pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows has no POSIX shell")


def typed_again(command: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Type a printed command into a shell in which `envdoctor` is found."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path}
    argv = ["sh", "-c", command]
    return subprocess.run(argv, cwd=cwd, env=environment, capture_output=True, text=True, check=False)


def next_after(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    capsys.readouterr()
    main(list(arguments))
    said = capsys.readouterr()
    lines = [line for line in (said.out + said.err).splitlines() if line.startswith("next: ")]
    assert len(lines) == 1
    return lines[0].removeprefix("next: ")


def test_after_check_the_lock_is_for_the_target_that_was_typed(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, index: LoopbackIndex
) -> None:
    project = tmp_path / "the project's $HOME; `x`"
    project.mkdir()
    (project / "requirements.txt").write_text("alpha==1.0\nalpha==2.0\n", encoding="utf-8")
    profile = tmp_path / "my stack.toml"
    profile.write_text(PROFILE, encoding="utf-8")
    options = ["--profile", str(profile), "--target-os", "linux", "--target-python", "3.12", "--target-backend", "cpu"]
    command = next_after(capsys, "check", str(project), *options, "--exclude-newer", "2030-01-01")
    assert "ENVDOCTOR" not in command
    assert str(tmp_path / "cache") not in command
    done = typed_again(command, tmp_path)
    assert done.returncode == 0, done.stderr
    lock = (project / "pylock.stack.toml").read_text(encoding="utf-8")
    assert read_toml(lock)["tool"]["envdoctor"]["target"] == {
        "os": "linux",
        "arch": "x86_64",
        "python": "3.12",
        "backend": "cpu",
    }
    assert typed_again(f"{command} --check", tmp_path).returncode == 0


def test_after_check_of_the_example_the_lock_takes_the_same_recording(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(EXAMPLE, tmp_path / "songs")
    monkeypatch.chdir(tmp_path / "songs")
    command = next_after(capsys, "check", "--profile", "diffrhythm2-directml", "--recorded-index", "recorded-index")
    assert command == "envdoctor lock . --profile diffrhythm2-directml --recorded-index recorded-index"
    assert typed_again(command, tmp_path / "songs").returncode == 0


def test_the_profile_that_the_project_names_is_not_repeated(
    capsys: pytest.CaptureFixture[str], project: Path, index: LoopbackIndex
) -> None:
    (project / "stack.toml").write_text(PROFILE, encoding="utf-8")
    (project / "pyproject.toml").write_text('[tool.envdoctor]\nprofile = "stack.toml"\n', encoding="utf-8")
    (project / "requirements.txt").write_text("alpha==1.0\nalpha==2.0\n", encoding="utf-8")
    command = next_after(capsys, "check", str(project))
    assert "--profile" not in command
    assert typed_again(command, project).returncode == 0
    assert (project / "pylock.stack.toml").is_file()


def test_an_index_that_was_not_reached_is_named_by_its_variable(
    capsys: pytest.CaptureFixture[str], project: Path, index: LoopbackIndex
) -> None:
    profile = project / "stack.toml"
    profile.write_text(
        PROFILE + '[[index]]\nname = "builds"\nurl = "http://127.0.0.1:1/whl/cu118"\npackages = ["alpha"]\n',
        encoding="utf-8",
    )
    for verb in ("check", "lock"):
        command = next_after(capsys, verb, str(project), "--profile", str(profile))
        assert command == f"ENVDOCTOR_INDEX_BUILDS=URL envdoctor lock {project} --profile {profile}"
    index.wheel("alpha", "2.0+cu118", ("beta",))
    done = typed_again(command.replace("=URL ", f"={index.url} "), project)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("lines", ["alpha\nnowhere\n", "alpha\nbeta==1.0.\n", "beta @ git+https://git.example/b.git\n"])
def test_no_lock_is_proposed_that_would_be_refused(
    capsys: pytest.CaptureFixture[str], project: Path, index: LoopbackIndex, lines: str
) -> None:
    (project / "requirements.txt").write_text(lines, encoding="utf-8")
    code = main(["check", str(project), "--target-os", "linux"])
    assert code != 0
    proposed = [line for line in capsys.readouterr().out.splitlines() if line.startswith("next:")]
    assert not [line for line in proposed if " lock " in line]


def test_a_project_that_wants_another_python_is_to_be_checked_for_that_one(
    capsys: pytest.CaptureFixture[str], project: Path, index: LoopbackIndex
) -> None:
    text = '[project]\nname = "app"\nversion = "1"\nrequires-python = ">=3.12,<3.14"\ndependencies = ["alpha"]\n'
    (project / "pyproject.toml").write_text(text, encoding="utf-8")
    options = [str(project), "--target-os", "linux"]
    command = next_after(capsys, "check", *options, "--target-python", "3.11")
    assert command == f"envdoctor check {project} --target-os linux --target-python 3.13"
    assert typed_again(command, project).returncode == 0
    main(["check", *options, "--target-python", "3.11", "--format", "json"])
    findings = json.loads(capsys.readouterr().out)["findings"]
    (finding,) = [item for item in findings if item["rule"] == "RES011"]
    assert finding["remedy"]["commands"] == [command]


@pytest.mark.parametrize(
    ("lines", "rule"),
    [
        ("alpha\nbeta==1.0.\n", "RES002"),
        ("alpha\n-r base.txt\n", "RES006"),
        ("alpha\n--frobnicate\n", "RES006"),
        ("--find-links https://${NO_SUCH_VARIABLE}.example/\nalpha\n", "RES006"),
    ],
)
def test_what_only_a_person_can_correct_gets_no_command(
    capsys: pytest.CaptureFixture[str], project: Path, index: LoopbackIndex, lines: str, rule: str
) -> None:
    (project / "requirements.txt").write_text(lines, encoding="utf-8")
    options = [str(project), "--target-os", "linux", "--target-python", "3.11"]
    main(["check", *options, "--format", "json"])
    report = json.loads(capsys.readouterr().out)
    assert rule in {item["rule"] for item in report["findings"]}
    assert report["next_command"] is None


def test_a_conflict_without_a_way_out_is_to_be_explained(
    capsys: pytest.CaptureFixture[str], project: Path, index: LoopbackIndex
) -> None:
    (project / "requirements.txt").write_text("alpha\nnowhere==1\n", encoding="utf-8")
    options = [str(project), "--target-os", "linux", "--target-python", "3.11"]
    assert main(["check", *options, "--format", "json"]) == 1
    report = json.loads(capsys.readouterr().out)
    if report["resolution"] is None:
        assert report["next_command"] == f"envdoctor explain {project} C1 {shlex.join(options[1:])}"
        assert "nowhere" in typed_again(report["next_command"], project).stdout
    else:
        assert not report["next_command"].startswith("envdoctor check")


def test_nothing_is_proposed_where_no_command_helps(
    capsys: pytest.CaptureFixture[str], project: Path, index: LoopbackIndex
) -> None:
    (project / "requirements.txt").write_text("beta @ git+https://git.example/b.git\n", encoding="utf-8")
    main(["check", str(project), "--target-os", "linux"])
    assert "next:" not in capsys.readouterr().out


def test_offline_the_next_step_fills_the_cache(
    capsys: pytest.CaptureFixture[str], project: Path, index: LoopbackIndex
) -> None:
    options = [str(project), "--target-os", "linux", "--target-python", "3.11"]
    check = next_after(capsys, "check", *options, "--offline")
    assert check == f"envdoctor check {project} --target-os linux --target-python 3.11"
    assert typed_again(check, project).returncode == 0
    assert main(["check", *options, "--offline"]) == 0
    (project / "requirements.txt").write_text("pip\n", encoding="utf-8")
    lock = next_after(capsys, "lock", *options, "--offline")
    assert typed_again(lock, project).returncode == 0
    assert main(["lock", *options, "--offline", "--check"]) == 0


def test_a_stale_lock_is_locked_again_with_the_options_of_its_check(
    capsys: pytest.CaptureFixture[str], project: Path, index: LoopbackIndex
) -> None:
    (project / "requirements.txt").write_text("alpha==1.0\nalpha==2.0\n", encoding="utf-8")
    options = [str(project), "--target-os", "linux", "--output-dir", str(project / "locks here")]
    command = next_after(capsys, "lock", *options, "--check", "--repair", "2")
    assert "--repair 2" in command
    assert typed_again(command, project).returncode == 0
    assert main(["lock", *options, "--check"]) == 0


def test_what_is_known_of_a_lock_names_the_check_that_lists_it(
    capsys: pytest.CaptureFixture[str], project: Path, index: LoopbackIndex
) -> None:
    (project / "requirements.txt").write_text("alpha[nothing]\n", encoding="utf-8")
    capsys.readouterr()
    assert main(["lock", str(project), "--target-os", "linux"]) == 0
    line = next(line for line in capsys.readouterr().err.splitlines() if "warning" in line)
    assert line.endswith(f"; `envdoctor check {project} --target-os linux` shows it")


def test_bare_commands_of_remedies_are_completed(
    capsys: pytest.CaptureFixture[str], project: Path, index: LoopbackIndex, tmp_path: Path
) -> None:
    listing = tmp_path / "installed.txt"
    listing.write_text("alpha==1.0\nbeta==1.0\n", encoding="utf-8")
    options = [str(project), "--target-os", "linux"]
    assert main(["lock", *options]) == 0
    capsys.readouterr()
    main(["check", *options, "--installed", str(listing), "--format", "json"])
    findings = json.loads(capsys.readouterr().out)["findings"]
    commands = {command for item in findings if item["remedy"] for command in item["remedy"]["commands"]}
    assert f"envdoctor fix {project}" in commands
    assert not commands & {"envdoctor fix", "envdoctor lock"}


def test_a_lock_that_is_current_is_not_proposed_again(
    capsys: pytest.CaptureFixture[str], project: Path, index: LoopbackIndex
) -> None:
    (project / "requirements.txt").write_text("alpha[nothing]\n", encoding="utf-8")
    here = host_target()
    elsewhere = "windows" if here.os.value != "windows" else "macos"
    for os_, wanted in ((elsewhere, None), (here.os.value, f"envdoctor fix {project} --target-python 3.11")):
        options = [str(project), "--target-os", os_, "--target-python", "3.11"]
        assert next_after(capsys, "check", *options) == f"envdoctor lock {shlex.join(options)}"
        assert main(["lock", *options]) == 0
        treats = f"envdoctor fix {project} --target-python 3.11"
        told = f"next: {treats}" if wanted else f"next, on a machine of the target: {treats}"
        assert capsys.readouterr().err.splitlines()[-1] == told
        main(["check", *options, "--format", "json"])
        report = json.loads(capsys.readouterr().out)
        assert (report["next_command"], report.get("next_elsewhere")) == (wanted, None if wanted else treats)
        main(["check", *options])
        assert capsys.readouterr().out.splitlines()[-1] == told
        (project / "pylock.toml").unlink()


def test_after_a_lock_that_lies_elsewhere_no_fix_is_proposed_which_would_not_find_it(
    capsys: pytest.CaptureFixture[str], project: Path, index: LoopbackIndex, tmp_path: Path
) -> None:
    (project / "requirements.txt").write_text("alpha\n", encoding="utf-8")
    capsys.readouterr()
    assert main(["lock", str(project), "--target-os", "linux", "--output-dir", str(tmp_path)]) == 0
    said = capsys.readouterr()
    assert not [line for line in (said.out + said.err).splitlines() if line.startswith("next")]


def test_with_an_empty_cache_what_comes_next_asks_the_index(
    capsys: pytest.CaptureFixture[str], project: Path, index: LoopbackIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["lock", str(project)]) == 0
    (project / "constraints.project.txt").unlink()
    monkeypatch.setenv("ENVDOCTOR_CACHE_DIR", str(project.parent / "empty"))
    for verb in (["lock", "--check"], ["lock"]):
        command = next_after(capsys, *verb, str(project), "--offline")
        assert "--offline" not in command
    assert typed_again(command, project).returncode == 0
    assert main(["lock", "--check", str(project), "--offline"]) == 0


def test_after_a_lock_with_an_extra_no_fix_is_proposed_that_would_leave_it_out(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, index: LoopbackIndex
) -> None:
    settings = '[project]\nname = "p"\nversion = "1"\ndependencies = ["alpha"]\n'
    settings += '[project.optional-dependencies]\nolder = ["alpha==1.0"]\n'
    (tmp_path / "pyproject.toml").write_text(settings, encoding="utf-8")
    assert main(["lock", str(tmp_path), "--extra", "older"]) == 0
    assert "next" not in capsys.readouterr().err
    assert next_after(capsys, "lock", str(tmp_path)) == f"envdoctor fix {tmp_path}"


def test_a_file_that_was_not_read_is_judged_by_the_command_that_the_report_has(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, index: LoopbackIndex
) -> None:
    project = tmp_path / "the dock"
    project.mkdir()
    (project / "requirements.txt").write_text("alpha\n", encoding="utf-8")
    (project / "Dockerfile").write_text("FROM python:3.12\nRUN pip install beta\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    main(["check", "the dock", "--target-python", "3.12", "--format", "json"])
    (note,) = [each for each in json.loads(capsys.readouterr().out)["findings"] if each["rule"] == "RES017"]
    (command,) = note["remedy"]["commands"]
    assert command == "envdoctor check 'the dock/Dockerfile' --target-python 3.12"
    done = typed_again(command, tmp_path)
    assert "read Dockerfile" in done.stdout, done.stderr
