"""An answer is given again only where everything that it was made of is as it was."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from envdoctor.adapters import inputs
from envdoctor.cli import answer_file, remembered
from envdoctor.cli.main import main

pytestmark = pytest.mark.skipif(os.name != "posix", reason="answers are kept where folders have trustworthy times")

Ask = Callable[..., tuple[int, dict]]
TRACER = Path(__file__).with_name("trace_looks.py")


@pytest.fixture
def answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of answers; in these tests nothing need have come to rest before it is looked at."""
    monkeypatch.setenv("ENVDOCTOR_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(inputs, "_SETTLED_S", -60.0)
    return tmp_path / "cache" / "answers"


@pytest.fixture
def ask(venv: Path, answers: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch) -> Ask:
    """Ask about the venv; a question without what may differ from run to run besides its answer's age."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in ("XDG_CONFIG_HOME", "XDG_CONFIG_DIRS", "PIP_CONFIG_FILE"):
        monkeypatch.delenv(name, raising=False)

    def asked(*more: str) -> tuple[int, dict]:
        capsys.readouterr()
        code = main(["check", "--env", str(venv), "--format", "json", "--fail-on", "warning", *more])
        return code, json.loads(capsys.readouterr().out)

    return asked


@pytest.fixture
def packages(venv_site) -> None:
    venv_site.add("lib", "1.0", files={"lib/__init__.py": "", "lib/data.txt": "data"}, INSTALLER="pip\n")
    venv_site.add("app", "2.0", "lib>=1,<2", files={"app/__init__.py": "import lib"})
    (venv_site.folder / "loads.pth").write_text("import sys\n", encoding="utf-8")


def is_remembered(report: dict) -> bool:
    return "remembered_s" in report["timings"]


def without_timings(report: dict) -> dict:
    return {key: value for key, value in report.items() if key != "timings"}


def test_the_second_answer_is_the_first_with_its_age(ask: Ask, packages, venv_site):
    venv_site.add("wants", "1.0", "lib>=3")
    first = ask()
    time.sleep(0.05)
    second = ask()
    assert not is_remembered(first[1])
    assert second[1]["timings"].pop("remembered_s") >= 0.05
    assert second == first
    assert first[0] == 1
    assert "ENV001" in [finding["rule"] for finding in first[1]["findings"]]


def test_reading_files_changes_nothing(ask: Ask, packages, venv_site):
    ask()
    for path in venv_site.folder.rglob("*"):
        if path.is_file():
            path.read_bytes()
    assert is_remembered(ask()[1])


def edit(path: Path, old: str, new: str) -> None:
    """Change a file in place and give it back its old times, as a careful liar would."""
    times = path.stat()
    text = path.read_text(encoding="utf-8")
    assert old in text
    with path.open("r+", encoding="utf-8") as stream:
        stream.write(text.replace(old, new))
        stream.truncate()
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


CHANGES: dict[str, Callable[[Path, Path], object]] = {
    "a requirement of the same length": lambda _env, site: edit(
        site / "app-2.0.dist-info/METADATA", "lib>=1,<2", "lib>=2,<3"
    ),
    "a distribution is gone": lambda _env, site: shutil.rmtree(site / "lib-1.0.dist-info"),
    "a distribution more": lambda _env, site: shutil.copytree(site / "lib-1.0.dist-info", site / "lib-1.1.dist-info"),
    "a file is gone": lambda _env, site: (site / "lib/data.txt").unlink(),
    "a file of another length": lambda _env, site: edit(site / "lib/data.txt", "data", "other data"),
    "a file became a folder": lambda _env, site: ((site / "lib/data.txt").unlink(), (site / "lib/data.txt").mkdir()),
    "a file list": lambda _env, site: edit(site / "lib-1.0.dist-info/RECORD", "lib/data.txt", "lib/date.txt"),
    "the installer's name": lambda _env, site: edit(site / "lib-1.0.dist-info/INSTALLER", "pip", "uv "),
    "a leftover": lambda _env, site: (site / "~ib").mkdir(),
    "a line of a .pth file": lambda _env, site: edit(site / "loads.pth", "import sys", "import os;"),
    "a .pth file more": lambda _env, site: (site / "b.pth").write_text("import sys\n", encoding="utf-8"),
    "a sitecustomize": lambda _env, site: (site / "sitecustomize.py").write_text("", encoding="utf-8"),
    "the base's folder": lambda env, _site: edit(env / "pyvenv.cfg", "home = /", "home = /x/"),
    "system packages let in": lambda env, _site: edit(env / "pyvenv.cfg", "packages = false", "packages = true"),
    "a setting of pip": lambda env, _site: (env / "pip.conf").write_text("[install]\nuser = true\n", encoding="utf-8"),
    "pip of another environment": lambda env, _site: (env / "bin/pip").write_text("#!/x/python\n", encoding="utf-8"),
    "conda's records": lambda env, _site: (env / "conda-meta").mkdir(),
    "a folder of fixes": lambda env, _site: (env / ".envdoctor").mkdir(),
    "the interpreter is gone": lambda env, _site: [(env / "bin" / name).unlink() for name in PYTHONS],
}
PYTHONS = ("python", "python3", f"python{sys.version_info[0]}.{sys.version_info[1]}")


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_whatever_changes_in_the_environment_it_is_looked_at_anew(ask: Ask, packages, venv, venv_site, change):
    ask()
    assert is_remembered(ask()[1])
    change(venv, venv_site.folder)
    now = ask()
    assert not is_remembered(now[1])
    fresh = ask("--fresh")
    assert (now[0], without_timings(now[1])) == (fresh[0], without_timings(fresh[1]))


@pytest.mark.parametrize(
    ("name", "value"),
    [("PYTHONPATH", "/nowhere"), ("PIP_USER", "1"), ("VIRTUAL_ENV", "/other"), ("ANYTHING", "else"), ("PATH", "/bin")],
)
def test_a_variable_makes_another_question(ask: Ask, packages, monkeypatch, name, value):
    ask()
    monkeypatch.setenv(name, value)
    assert not is_remembered(ask()[1])


@pytest.mark.parametrize("name", ["SHLVL", "OLDPWD", "GIT_INDEX_FILE", "SSH_AUTH_SOCK"])
def test_what_every_shell_or_commit_sets_anew_does_not(ask: Ask, packages, monkeypatch, name):
    ask()
    monkeypatch.setenv(name, "another")
    assert is_remembered(ask()[1])


def test_pip_on_path_that_comes_or_goes_is_seen(ask: Ask, packages, monkeypatch, tmp_path):
    folder = tmp_path / "programs"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    ask()
    assert is_remembered(ask()[1])
    (folder / "pip").write_text("#!/bin/sh\n", encoding="utf-8")
    assert not is_remembered(ask()[1])
    assert is_remembered(ask()[1])
    (folder / "pip").chmod(0o755)
    assert not is_remembered(ask()[1])


def test_the_users_pip_configuration_is_seen(ask: Ask, packages, tmp_path):
    ask()
    assert is_remembered(ask()[1])
    folder = tmp_path / "home" / ".config" / "pip"
    folder.mkdir(parents=True)
    (folder / "pip.conf").write_text("[global]\nuser = true\n", encoding="utf-8")
    report = ask()[1]
    assert not is_remembered(report)
    assert "user" in json.dumps(report["findings"])


def test_each_form_of_the_report_is_given_again_as_it_was(venv, answers, packages, capsys):
    for form in ("human", "sarif", "junit", "github", "markdown", "html"):
        said = []
        for _ in range(2):
            main(["check", f"--env={venv}", "--format", form])
            said.append(capsys.readouterr().out)
        assert said[0] == said[1]
        assert said[0]


def test_fresh_looks_anew_and_its_answer_is_kept(ask: Ask, packages):
    ask("--fresh")
    assert is_remembered(ask()[1])
    assert not is_remembered(ask("--fresh")[1])


def test_what_was_looked_at_a_moment_after_a_change_is_not_kept(ask: Ask, packages, answers, monkeypatch):
    monkeypatch.setattr(inputs, "_SETTLED_S", 2.0)
    ask()
    assert not is_remembered(ask()[1])
    assert not answers.exists()


@pytest.mark.parametrize(
    "more",
    [
        pytest.param(["--output", "OUT"], id="output"),
        pytest.param(["--cache-dir", "OUT"], id="cache-dir"),
        pytest.param(["--log", "LOG"], id="log"),
        pytest.param(["--profile", "xtts-zluda"], id="profile"),
    ],
)
def test_other_questions_are_not_kept(venv, answers, packages, tmp_path, capsys, more):
    (tmp_path / "LOG").write_text("nothing\n", encoding="utf-8")
    main(["check", "--env", str(venv), *(str(tmp_path / item) if item.isupper() else item for item in more)])
    assert not answers.exists()


def test_an_import_that_works_is_kept_with_every_file_that_it_loaded(ask: Ask, venv_site):
    module = "import torch.part\n__version__ = '2.6.0'\n"
    venv_site.add("torch", "2.6.0", files={"torch/__init__.py": module})
    # Not in RECORD, so that nobody but the import looks at it.
    (venv_site.folder / "torch/part.py").write_text("value = 1\n", encoding="utf-8")
    code, _ = ask()
    assert code == 0
    assert is_remembered(ask()[1])
    edit(venv_site.folder / "torch/part.py", "value = 1", "value = /")
    code, report = ask()
    assert not is_remembered(report)
    assert code == 1


@pytest.mark.parametrize("text", ["raise OSError('libcudart.so.12')", "import os\nos.abort()", "import missing"])
def test_an_import_that_fails_is_tried_each_time(ask: Ask, venv_site, text):
    venv_site.add("torch", "2.6.0", files={"torch/__init__.py": text})
    assert ask()[0] == 1
    assert not is_remembered(ask()[1])


def test_what_was_measured_is_believed_for_a_while(ask: Ask, venv_site, monkeypatch):
    venv_site.add("torch", "2.6.0", files={"torch/__init__.py": "__version__ = '2.6.0'\n"})
    ask()
    assert is_remembered(ask()[1])
    now = time.time
    monkeypatch.setattr(time, "time", lambda: now() + 599)
    assert is_remembered(ask()[1])
    monkeypatch.setattr(time, "time", lambda: now() + 601)
    assert not is_remembered(ask()[1])
    # A clock that was put back says nothing.
    monkeypatch.setattr(time, "time", lambda: now() - 5)
    assert not is_remembered(ask()[1])


def test_what_follows_from_files_alone_is_believed_for_good(ask: Ask, packages, monkeypatch):
    ask()
    now = time.time
    monkeypatch.setattr(time, "time", lambda: now() + 40_000_000)
    assert is_remembered(ask()[1])


def test_an_interpreter_that_does_not_answer_is_asked_each_time(ask: Ask, venv, packages):
    for name in PYTHONS:
        (venv / "bin" / name).unlink()
        (venv / "bin" / name).write_text("#!/bin/sh\nexit 3\n", encoding="utf-8")
        (venv / "bin" / name).chmod(0o755)
    ask()
    assert not is_remembered(ask()[1])


def spoilt(path: Path, how: str) -> None:
    data = path.read_bytes()
    if how == "cut short":
        path.write_bytes(data[: len(data) // 2])
    elif how == "empty":
        path.write_bytes(b"")
    elif how == "of another form":
        path.write_bytes(data.replace(b"envdoctor-answer/1", b"envdoctor-answer/0"))
    elif how == "no text":
        path.write_bytes(b"\xff\0" * 1000)
    elif how == "of many lines":
        path.write_bytes(b"\n".join([*data.split(b"\n")[:5], b"99999999", *data.split(b"\n")[6:]]))
    elif how == "that others may write":
        path.chmod(0o666)
    elif how == "a link":
        path.rename(path.with_name("elsewhere"))
        path.symlink_to("elsewhere")
    elif how == "a folder":
        path.unlink()
        path.mkdir()


@pytest.mark.parametrize(
    "how",
    [
        "cut short",
        "empty",
        "of another form",
        "no text",
        "of many lines",
        "that others may write",
        "a link",
        "a folder",
    ],
)
def test_an_answer_that_is_spoilt_is_passed_over(ask: Ask, packages, answers, how):
    first = ask()
    (path,) = answers.iterdir()
    spoilt(path, how)
    now = ask()
    assert not is_remembered(now[1])
    assert without_timings(now[1]) == without_timings(first[1])


def test_an_answer_of_another_user_is_passed_over(ask: Ask, packages, monkeypatch):
    ask()
    assert is_remembered(ask()[1])
    real, other = os.fstat, os.geteuid() + 1

    def foreign(descriptor: int) -> os.stat_result:
        status = list(real(descriptor))
        status[4] = other
        return os.stat_result(status)

    monkeypatch.setattr(os, "fstat", foreign)
    assert not is_remembered(ask()[1])


def test_answers_are_for_their_owner_alone_and_few_are_kept(ask: Ask, packages, answers, monkeypatch):
    monkeypatch.setattr(answer_file, "_MOST", 3)
    monkeypatch.setenv("SECRET_TOKEN", "hunter2")
    for number in range(6):
        monkeypatch.setenv("QUESTION", str(number))
        ask()
    files = list(answers.iterdir())
    assert len(files) == 3
    assert {path.stat().st_mode & 0o777 for path in files} == {0o600}
    assert answers.stat().st_mode & 0o777 == 0o700
    assert not any(b"hunter2" in path.read_bytes() for path in files)
    assert is_remembered(ask()[1])


def test_where_nothing_can_be_written_everything_works_without(ask: Ask, packages, monkeypatch):
    monkeypatch.setenv("ENVDOCTOR_CACHE_DIR", "/dev/null/cache")
    assert ask()[0] == 0
    assert not is_remembered(ask()[1])


def test_a_newer_envdoctor_looks_anew(ask: Ask, packages, monkeypatch):
    ask()
    monkeypatch.setattr(remembered, "__version__", "9.9")
    assert not is_remembered(ask()[1])


def environments(venv: Path, venv_site, tmp_path: Path) -> dict[str, Path]:
    venv_site.add("broken", "1.0", "not-there>=2", files={"broken/a.py": "x"})
    (venv_site.folder / "broken/a.py").unlink()
    (venv_site.folder / "old.egg-link").write_text("/nowhere\n", encoding="utf-8")
    (venv_site.folder / "none.dist-info").mkdir()
    bare = tmp_path / "bare" / "site-packages"
    shutil.copytree(venv_site.folder, bare)
    conda = tmp_path / "conda"
    shutil.copytree(venv, conda, symlinks=True)
    (conda / "pyvenv.cfg").unlink()
    (conda / "conda-meta").mkdir()
    (conda / "conda-meta" / "python-3.11.7-h1_0.json").write_text('{"channel": "x"}', encoding="utf-8")
    return {"venv": venv, "bare": bare, "conda": conda, "program": venv / "bin" / "python"}


@pytest.mark.parametrize("kind", ["venv", "bare", "conda", "program"])
def test_whatever_is_asked_of_the_disk_is_noted(venv, venv_site, packages, tmp_path, kind):
    """Run with every function replaced that asks for the state of a path, and compare with what was noted."""
    path = environments(venv, venv_site, tmp_path)[kind]
    option = "--python" if kind == "program" else "--env"
    done = subprocess.run(
        [sys.executable, str(TRACER), "check", option, str(path)], capture_output=True, text=True, timeout=60
    )
    lines = done.stdout.splitlines()
    told = json.loads(lines[-1])
    assert told["asked"] > 15, done.stderr
    assert told["forgotten"] == []
