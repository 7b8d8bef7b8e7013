"""`fix`, `undo` and `run` as they are typed, against a loopback index."""

from __future__ import annotations

import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from apply_archives import Served, as_index, index_page, make_wheel, serve
from apply_commands import EPSILON, STACK, Fix, profile
from apply_world import ALPHA_1, ALPHA_2, BASE, GAMMA_1, run, site_of, tree_state

from envdoctor.cli.main import main
from envdoctor.model.event import EventKind, TreatmentEvent
from envdoctor.model.kernel import Placement
from envdoctor.model.report import Report

pytestmark = pytest.mark.usefixtures("quiet_machine")


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    with serve(as_index(*STACK)) as it:
        yield it


def test_a_dry_run_prints_the_plan_and_changes_nothing(
    fix: Fix, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = sorted(path.name for path in project.iterdir())
    assert fix("--dry-run", "--format", "json") == 0
    document = json.loads(capsys.readouterr().out)
    kinds = [step["kind"] for step in document["steps"]]
    assert kinds[:3] == ["download-files", "create-environment", "install-from-lock"]
    patches = {step["path"]: step for step in document["steps"] if step["kind"] == "patch-file"}
    assert set(patches) == {"app.py", "gamma.py"}
    assert "+DEVICE = 'cpu'" in patches["gamma.py"]["diff"]
    assert patches["gamma.py"]["distribution"] == "gamma"
    assert sorted(path.name for path in project.iterdir()) == sorted([*before, "small.toml"])


def test_fix_run_and_undo(fix: Fix, project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert fix("--yes", "--installer", "uv") == 0
    environment = project / ".venv"
    said = capfd.readouterr().err
    assert "sets this demand of `epsilon` on `alpha` aside on purpose" in said
    assert (site_of(environment) / "gamma.py").read_text() == "import left_out\nDEVICE = 'cpu'\n"
    assert (project / "app.py").read_text().startswith("try:\n")
    record = json.loads((environment / ".envdoctor/environment.json").read_text())
    assert record["variables"] == {"HF_HOME": f"{project}|{environment}"}
    assert fix("--yes") == 0
    assert "nothing to do" in capfd.readouterr().err
    assert main(["undo", "--env", str(environment), "--list"]) == 0
    assert capfd.readouterr().out.count("in force") == 1
    first = sorted((environment / ".envdoctor/journal").iterdir())[0].name
    assert main(["undo", first, "--env", str(environment)]) == 0
    assert not environment.exists()
    assert (project / "app.py").read_text() == "import deepspeed\n"


def test_a_question_needs_somebody_to_answer(
    fix: Fix, project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO())
    assert fix() == 2
    assert "`--yes` goes on without a question" in capsys.readouterr().err
    assert not (project / ".venv").exists()


def test_a_bound_package_is_never_taken_from_elsewhere(
    fix: Fix, project: Path, served: Served, capsys: pytest.CaptureFixture[str]
) -> None:
    own = make_wheel("gamma", "0.5", {"gamma.py": "DEVICE = 'own'\n"})
    with serve({"bound/gamma/": index_page({own[0]: own[1]}), own[0]: own[1]}) as bound:
        more = f'[[index]]\nname = "own"\nurl = "{bound.url}bound/"\npackages = ["gamma"]\nbecause = "ours"\n'
        assert fix("--dry-run", "--format", "json", more=more) == 0
        document = json.loads(capsys.readouterr().out)
        files = {item["name"]: item for step in document["steps"] for item in step.get("files", ()) if "index" in item}
        assert (files["gamma"]["version"], files["gamma"]["index"]) == ("0.5", "own")
    # The index is gone now, and the other one still offers a newer gamma: nothing is taken from there.
    assert fix("--yes", more=more) == 3
    assert not (project / ".venv").exists()


def test_a_changed_file_on_the_index_is_refused_before_any_change(
    fix: Fix, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    site = as_index(ALPHA_1, ALPHA_2, GAMMA_1, EPSILON)
    with serve(site) as other:
        name, data = GAMMA_1
        other.files[name] = data[:-1] + bytes([data[-1] ^ 1])
        assert fix("--yes", index=f"{other.url}simple/") in (1, 3)
    assert not (project / ".venv").exists()
    assert (project / "app.py").read_text() == "import deepspeed\n"


def test_bytes_that_the_lock_beside_the_project_does_not_know_are_refused_before_any_change(
    fix: Fix, project: Path, served: Served, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--profile", profile(project), "--index-url", f"{served.url}simple/"]
    assert main(["lock", str(project), *arguments]) == 0
    lock = project / "pylock.small.toml"
    lock.write_text(re.sub(r'(sha256 = ")[0-9a-f]{8}', r"\g<1>00000000", lock.read_text(), count=1))
    capsys.readouterr()
    assert fix("--yes") == 1
    said = capsys.readouterr().err
    assert "refused (wrong-hash): `alpha-2.0-py3-none-any.whl` is not what `pylock.small.toml` says" in said
    assert "`envdoctor lock --upgrade=alpha` takes the index's" in said
    assert not (project / ".venv").exists()
    assert main(["lock", str(project), *arguments, "--upgrade=alpha"]) == 0
    assert fix("--yes") == 0


def test_a_project_that_cannot_be_written_is_refused_before_any_change(
    fix: Fix, project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    real = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: real(path, mode) and (mode != os.W_OK or path != project))
    assert fix("--yes") == 1
    assert f"`app.py` would be patched, and `{project}` cannot be written to" in capsys.readouterr().err
    assert not (project / ".venv").exists()


@pytest.mark.parametrize("path", ["../outside.py", "/etc/hosts", "C:/windows/x.py"])
def test_a_profile_that_reaches_outside_is_invalid(fix: Fix, project: Path, path: str) -> None:
    more = f'[[patch]]\nname = "evil"\nfile = "{path}"\nset-attribute = "x"\nvalue = "1"\nbecause = "b"\n'
    assert fix("--yes", more=more) == 2
    assert not (project / ".venv").exists()


def test_an_anchor_that_is_not_there_refuses_all_of_it(
    fix: Fix, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "app.py").write_text("print('other version')\n")
    assert fix("--yes") == 1
    assert "looked for an import of `deepspeed`" in capsys.readouterr().err
    assert not (project / ".venv").exists()


def test_an_environment_of_another_python_is_refused(
    fix: Fix, project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "documents"
    folder.mkdir()
    (folder / "letter.txt").write_text("dear")
    assert fix("--yes", "--env", str(folder)) == 1
    assert "is not an environment" in capsys.readouterr().err
    assert [path.name for path in folder.iterdir()] == ["letter.txt"]


def test_several_environments_have_a_launcher_each_and_one_undo(
    project: Path, served: Served, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    more = "".join(
        f'[environments.{name}]\npackages = ["{package}"]\nbecause = "they cannot share one"\n'
        for name, package in (("one", "gamma"), ("two", "epsilon"))
    )
    file = Path(profile(project, more))
    file.write_text(file.read_text().replace('file = "gamma.py"', 'file = "gamma.py"\noptional = true'))
    arguments = ["--profile", str(file), "--index-url", f"{served.url}simple/", "--python", BASE, "--yes"]
    assert main(["fix", str(project), *arguments]) == 0
    assert (site_of(project / ".venv-one") / "gamma.py").exists()
    assert not (site_of(project / ".venv-one") / "epsilon.py").exists()
    assert (site_of(project / ".venv-two") / "epsilon.py").exists()
    monkeypatch.chdir(project)
    assert main(["run", "--", "python", "-V"]) == 2
    assert "several environments here, `.venv-one`, `.venv-two`" in capfd.readouterr().err
    if sys.platform != "win32":
        launcher = str(project / ".venv-two/.envdoctor/run")
        done = subprocess.run(
            [launcher, "python", "-c", "import epsilon, alpha, os; print(alpha.V, os.environ['HF_HOME'])"],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        assert done.stdout == f"2 {project}|{project / '.venv-two'}\n"
        (project / ".venv-two/bin/own-to-two").symlink_to("python")
        for typed in (["--env", "two", "--", "python"], ["--", "own-to-two"]):
            command = [sys.executable, "-m", "envdoctor", "run", *typed, "-c", "import sys; print(sys.prefix)"]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            assert done.stdout == f"{project / '.venv-two'}\n"
    assert main(["undo", "--list", "--json"]) == 0
    rows = json.loads(capfd.readouterr().out)
    assert [row["environment"] for row in rows] == [str(project / name) for name in (".venv-one", ".venv-two")]
    if os.name != "nt":
        (project / ".venv-two/bin/own-to-two").unlink()  # What is added by hand would be put aside.
    assert main(["undo"]) == 0
    assert sorted(path.name for path in project.iterdir()) == ["app.py", "requirements.txt", "small.toml"]
    assert (project / "app.py").read_text() == "import deepspeed\n"


TORCH = make_wheel("torch", "2.0", {"torch.py": "FAKE = True\n"})


def test_what_kernels_send_away_is_patched_in_a_second_step_and_taken_back_with_the_first(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "requirements.txt").write_text("torch\ngamma\n")
    (project / "serve.py").write_text("device = 'cuda'\n")
    more = (
        '[smoke]\nkernels = ["gemm-float32"]\n[[placement]]\ncomponent = "voice"\nneeds = ["gemm-float32"]\n'
        'otherwise = "cpu"\nset = { file = "serve.py", attribute = "device" }\nbecause = "no rocBLAS library"\n'
    )
    text = Path(profile(project, more))
    text.write_text(text.read_text().replace("alpha>=2", "torch>=1"))

    def proved(part: object, report: Report, say: object) -> tuple[Report, list[TreatmentEvent]]:
        return replace(report, placement=(Placement("voice", "cpu", ("gemm-float32 crashed",), away=True),)), [
            TreatmentEvent(EventKind.RUNS_ON, "voice", detail="cpu")
        ]

    monkeypatch.setattr("envdoctor.verbs.fix_smoke.proved", proved)
    with serve(as_index(TORCH, GAMMA_1)) as other:
        arguments = ["--profile", str(text), "--index-url", f"{other.url}simple/", "--python", BASE, "--yes"]
        assert main(["fix", str(project), *arguments]) == 0
    environment = project / ".venv"
    assert (project / "serve.py").read_text() == 'device = "cpu"\n'
    assert json.loads((environment / ".envdoctor/environment.json").read_text())["moved"] == {
        "voice": ["gemm-float32 crashed"]
    }
    assert main(["undo", "--env", str(environment)]) == 0
    assert (project / "serve.py").read_text() == "device = 'cuda'\n"
    assert not environment.exists()


LEGACY = make_wheel("omega", "2.0", {"omega.py": ""}, requires=("alpha (>=1.*)",))


def test_a_wheel_that_the_installer_would_not_take_is_refused_before_any_change(
    project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "requirements.txt").write_text("omega\ngamma\n")
    text = Path(profile(project))
    text.write_text(text.read_text().replace('replaces = "epsilon"', 'replaces = "omega"'))
    run([BASE, "-m", "venv", "--without-pip", str(project / ".venv")])
    pip = site_of(project / ".venv") / "pip-26.0.dist-info"
    pip.mkdir()
    (pip / "METADATA").write_text("Metadata-Version: 2.1\nName: pip\nVersion: 26.0\n")
    before = tree_state(project)
    with serve(as_index(ALPHA_2, GAMMA_1, LEGACY)) as other:
        arguments = ["--profile", str(text), "--index-url", f"{other.url}simple/", "--installer", "pip", "--yes"]
        assert main(["fix", str(project), *arguments]) == 1
    assert "pip 24.1 and later refuse `omega` 2.0" in capsys.readouterr().err
    assert tree_state(project) == before


def test_a_dry_run_over_a_fix_that_was_cut_short_changes_nothing_and_the_next_fix_brings_it_back(
    fix: Fix, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    environment = project / ".venv"
    assert fix("--yes") == 0
    journal = next((environment / ".envdoctor/journal").glob("*/events.jsonl"))
    lines = [line for line in journal.read_text().splitlines(keepends=True) if '"event":"end"' not in line]
    journal.write_text("".join(lines))
    capsys.readouterr()
    assert fix("--dry-run", "--format", "json") == 1
    refusals = json.loads(capsys.readouterr().out)["refusals"]
    assert "was cut short" in refusals[0]["message"]
    assert (environment / "pyvenv.cfg").exists()
    assert fix("--yes") == 0
    assert "the environment was put back as it was" in capsys.readouterr().err
    assert len(list((environment / ".envdoctor/journal").iterdir())) == 1


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--python", "no-such-python", "--yes"], "`--python`: `no-such-python` does not run, or is no CPython"),
        (["--repair", "9", "--yes"], "there is no repair R9"),
        (["--repair", "9", "--dry-run"], "there is no repair R9"),
        (["--dry-run", "--format", "sarif"], "`--dry-run` writes human or json, not sarif"),
        (["--dry-run", "--format", "html"], "`--dry-run` writes human or json, not html"),
    ],
)
def test_a_bad_option_of_fix_is_named_and_its_code_is_2(
    options: list[str], told: str, fix: Fix, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert fix(*options) == 2
    said = capsys.readouterr()
    assert told in said.err
    assert "plan for" not in said.out or "--repair" in options
    assert not (project / ".venv").exists()


def test_undo_without_a_fix_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["undo", "--env", str(tmp_path)]) == 2
    assert "there is no fix and no written repair to take back here" in capsys.readouterr().err


def test_run_needs_an_environment(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--env", str(tmp_path / "none"), "--", "python"]) == 2
    assert "is no environment" in capsys.readouterr().err


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGTERM that a process can answer")
def test_a_fix_that_is_told_to_end_takes_back_what_it_did(project: Path, served: Served, tmp_path: Path) -> None:
    slow = Path(profile(project))
    before = tree_state(project)
    # The first child of the treatment makes the environment; the signal comes while it is there and not finished.
    command = [sys.executable, "-m", "envdoctor", "fix", str(project), "--profile", str(slow), "--yes"]
    command += ["--index-url", f"{served.url}simple/", "--python", BASE, "--no-smoke"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as child:
        deadline = time.monotonic() + 60
        while not list(project.glob(".venv/.envdoctor/journal/*/*")) and child.poll() is None:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        child.send_signal(signal.SIGTERM)
        _, said = child.communicate(timeout=60)
    assert child.returncode == 130
    assert "interrupted" in said
    assert tree_state(project) == before


def test_another_host_in_the_lock_beside_the_project_is_never_asked(fix: Fix, project: Path, served: Served) -> None:
    arguments = ["--profile", profile(project), "--index-url", f"{served.url}simple/"]
    assert main(["lock", str(project), *arguments]) == 0
    lock = project / "pylock.small.toml"
    with serve(as_index(*STACK)) as other:
        lock.write_text(lock.read_text().replace(served.url, other.url))
        assert other.url in lock.read_text()
        assert fix("--yes") == 0
        assert not other.asked
    assert (site_of(project / ".venv") / "gamma.py").exists()
