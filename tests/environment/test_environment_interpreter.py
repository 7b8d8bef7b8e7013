"""Interpreters that answer, and those that do not; imports that fail in every way."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from envdoctor.adapters.probe.installed_environment import read_environment
from envdoctor.adapters.probe.interpreter import Questioning, probe_import, probe_imports
from envdoctor.adapters.probe.interpreter_child import run_bounded
from envdoctor.model.compatibility import KNOWN_PYTHONS
from envdoctor.model.environment import EnvironmentProblemKind
from envdoctor.model.finding import Severity
from envdoctor.model.target import dotted

pytestmark = pytest.mark.skipif(os.name != "posix", reason="CreateProcess starts no shell script")


def script(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


def test_this_interpreter_answers(clean):
    answer = Questioning(sys.executable, environment=clean).answer()
    assert answer.facts is not None
    assert tuple(answer.facts["version"]) == sys.version_info[:3]
    assert "" not in answer.facts["path"]
    assert not answer.problems


@pytest.mark.parametrize("version", ["3.8", "3.9", "3.10", "3.11", "3.12", "3.13", "3.14", "3.15"])
def test_other_versions_of_python_answer(version, clean):
    found = shutil.which(f"python{version}")
    if found is None or subprocess.run([found, "-c", ""], capture_output=True, check=False).returncode:
        pytest.skip(f"there is no Python {version} on PATH that starts")
    answer = Questioning(found, timeout_s=20, environment={**os.environ, "PYTHONPATH": ""}).answer()
    assert answer.facts is not None
    assert ".".join(map(str, answer.facts["version"][:2])) == version
    assert not answer.problems


def test_an_interpreter_that_is_too_old_is_told(tmp_path, diagnose, clean):
    facts = {"version": [2, 7, 18], "prefix": "/x", "path": [], "platform": "linux2"}
    answer = json.dumps({**facts, "executable": "x"})
    old = script(tmp_path / "bin" / "python", f"printf '<<envdoctor-answer\\n%s\\nenvdoctor-answer>>\\n' '{answer}'")
    environment = read_environment(old, environ=clean)
    assert environment.python == (2, 7)
    (finding,) = diagnose(environment, "ENV010")
    assert finding.severity is Severity.WARNING
    assert "Python 2.7 is older than 3.8" in finding.message


def test_an_interpreter_that_is_newer_than_what_is_judged_is_told(tmp_path, diagnose, clean):
    after = (KNOWN_PYTHONS[-1][0], KNOWN_PYTHONS[-1][1] + 1)
    facts = {"version": [*after, 0], "prefix": "/x", "path": [], "platform": "linux", "executable": "x"}
    answer = f"printf '<<envdoctor-answer\\n%s\\nenvdoctor-answer>>\\n' '{json.dumps(facts)}'"
    environment = read_environment(script(tmp_path / "bin" / "python", answer), environ=clean)
    assert environment.python == after
    (finding,) = diagnose(environment, "ENV010")
    assert finding.severity is Severity.WARNING
    assert f"is too new: Python {dotted(after)} is newer than {dotted(KNOWN_PYTHONS[-1])}" in finding.message


@pytest.mark.parametrize(
    ("text", "kind", "detail"),
    [
        ("exit 3", EnvironmentProblemKind.INTERPRETER_FAILED, "exit status 3"),
        (
            "echo cannot load libpython >&2; exit 127",
            EnvironmentProblemKind.INTERPRETER_FAILED,
            "exit status 127: cannot load libpython",
        ),
        ("kill -ABRT $$", EnvironmentProblemKind.INTERPRETER_FAILED, "SIGABRT"),
        ("echo garbage", EnvironmentProblemKind.INTERPRETER_FAILED, "its answer could not be read"),
        (
            "echo '<<envdoctor-answer\n{]\nenvdoctor-answer>>'",
            EnvironmentProblemKind.INTERPRETER_FAILED,
            "its answer could not be read",
        ),
        (
            "echo '<<envdoctor-answer\n[]\nenvdoctor-answer>>'",
            EnvironmentProblemKind.INTERPRETER_FAILED,
            "its answer could not be read",
        ),
        ("sleep 60", EnvironmentProblemKind.INTERPRETER_TIMEOUT, "did not end within 0.4 s"),
        (
            "while :; do echo xxxxxxxxxxxxxxxxxxxxxxxxx; done",
            EnvironmentProblemKind.INTERPRETER_TIMEOUT,
            "did not end within 0.4 s",
        ),
    ],
)
def test_an_interpreter_that_fails_leaves_the_folder(venv, venv_site, diagnose, clean, text, kind, detail):
    venv_site.add("foo", "1.0")
    script(venv / "bin" / "python", text)
    begin = time.monotonic()
    limit = 0.4 if kind is EnvironmentProblemKind.INTERPRETER_TIMEOUT else 20
    environment = read_environment(venv, timeout_s=limit, environ=clean)
    assert time.monotonic() - begin < 30
    assert [item.name for item in environment.distributions] == ["foo"]
    assert environment.source == "folder"
    assert environment.python == sys.version_info[:2]
    assert [(problem.kind, problem.detail) for problem in environment.problems] == [(kind, detail)]
    assert [finding.severity for finding in diagnose(environment, "ENV010")] == [Severity.ERROR]


def test_a_file_that_cannot_be_executed(venv, clean):
    program = venv / "bin" / "python"
    program.unlink()
    program.write_bytes(b"\x7fELF nothing")
    program.chmod(0o755)
    environment = read_environment(venv, environ=clean)
    assert [problem.kind for problem in environment.problems] == [EnvironmentProblemKind.INTERPRETER_FAILED]


def test_code_that_breaks_the_start_is_told_and_gone_round(venv, venv_site, clean):
    # Not sitecustomize.py: distributions of Linux ship one of their own, which is found first.
    (venv_site.folder / "broken.pth").write_text("import os; os._exit(7)\n", encoding="utf-8")
    venv_site.add("foo", "1.0")
    environment = read_environment(venv, environ=clean)
    assert [(problem.kind, problem.detail) for problem in environment.problems] == [
        (EnvironmentProblemKind.INTERPRETER_FAILED, "exit status 7")
    ]
    assert environment.python_full == ".".join(map(str, sys.version_info[:3]))
    assert environment.source == "folder"
    assert environment.search_path == ()


def test_a_sitecustomize_that_prints_does_no_harm(venv, venv_site, clean):
    noise = "import sys; print('<<hello>>' * 1000); sys.stderr.write('oh')\n"
    (venv_site.folder / "sitecustomize.py").write_text(noise, encoding="utf-8")
    assert read_environment(venv, environ=clean).problems == ()


def test_grandchildren_do_not_keep_us_waiting(tmp_path):
    program = script(tmp_path / "p", "sleep 60 & echo done")
    begin = time.monotonic()
    outcome = run_bounded([str(program)], timeout_s=10)
    assert time.monotonic() - begin < 30
    assert outcome.status == "exited"
    assert outcome.stdout == b"done\n"


def test_the_output_that_is_kept_is_bounded(tmp_path):
    program = script(tmp_path / "p", "yes | head -c 3000000; echo end")
    outcome = run_bounded([str(program)], timeout_s=20, limit_bytes=1000)
    assert len(outcome.stdout) == 1000
    assert outcome.stdout.endswith(b"end\n")


MODULES = {
    "aborts": "import os; os.abort()",
    "hangs": "import subprocess, time; subprocess.Popen(['sleep', '60']); time.sleep(60)",
    "raises": "raise OSError('libcudart.so.12: cannot open shared object file')",
    "exits": "import sys; sys.exit(3)",
    "vanishes": "import os; os._exit(0)",
    "needs_other": "import something_that_is_not_there",
    "works": "__version__ = '2.6.0'",
    "floods": "import sys\nwhile True: sys.stderr.write('x' * 10000)",
}


@pytest.mark.parametrize(
    ("module", "status", "detail"),
    [
        ("aborts", "crashed", "SIGABRT"),
        ("hangs", "timed-out", "did not end within 1.5 s"),
        ("raises", "raised", "OSError: libcudart.so.12: cannot open shared object file"),
        ("exits", "raised", "SystemExit: 3"),
        ("vanishes", "crashed", "exit status 0"),
        ("needs_other", "raised", "ModuleNotFoundError: No module named 'something_that_is_not_there'"),
        ("works", "imported", ""),
        ("floods", "timed-out", "did not end within 1.5 s"),
        ("nowhere", "missing", "ModuleNotFoundError: No module named 'nowhere'"),
    ],
)
def test_an_import_is_survived_and_named(tmp_path, clean, module, status, detail):
    for name, text in MODULES.items():
        (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
    begin = time.monotonic()
    limit = 1.5 if status == "timed-out" else 20
    outcome = probe_import(sys.executable, module, limit, environment={**clean, "PYTHONPATH": str(tmp_path)})
    assert (outcome.status, outcome.detail) == (status, detail)
    assert time.monotonic() - begin < 30
    assert len(outcome.output) <= 4000
    assert outcome.version == ("2.6.0" if module == "works" else None)


def test_an_interpreter_that_is_not_there_runs_nothing():
    assert probe_import("/nonexistent/python", "torch").status == "not-run"


def test_only_names_of_modules_are_imported():
    with pytest.raises(ValueError, match="is not the name of a module"):
        probe_import(sys.executable, "os; print(1)")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("import os; os.abort()", "kills the interpreter: SIGABRT"),
        ("import time; time.sleep(60)", "it hangs, or is slow to load here"),
        ("raise OSError('libcudart.so.12: cannot open shared object file')", "fails: OSError: libcudart.so.12"),
        (None, "there is no such module"),
        ("__version__ = '2.6.0'", None),
    ],
)
def test_a_torch_that_cannot_be_imported_is_one_finding(venv, venv_site, diagnose, clean, text, says):
    venv_site.add("torch", "2.6.0", files={"torch/__init__.py": text} if text else None)
    begin = time.monotonic()
    limit = 1.5 if says is not None and "hangs" in says else 20
    environment = probe_imports(read_environment(venv, environ=clean), ("torch",), limit, environment=clean)
    findings = diagnose(environment)
    assert time.monotonic() - begin < 30
    if says is None:
        assert findings == []
    else:
        (finding,) = findings
        severity = Severity.WARNING if "hangs" in says else Severity.ERROR
        assert (finding.rule, finding.severity) == ("ENV020", severity)
        assert says in finding.message
