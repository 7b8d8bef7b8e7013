"""What once was, or could have been, told otherwise by an answer given again than by a fresh look."""

from __future__ import annotations

import json
import os
import py_compile
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from envdoctor.adapters import inputs
from envdoctor.cli import answer_file
from envdoctor.cli.main import main

pytestmark = pytest.mark.skipif(os.name != "posix", reason="answers are kept where folders have trustworthy times")

Ask = Callable[..., tuple[int, dict]]
PYTHON = f"python{sys.version_info[0]}.{sys.version_info[1]}"
SHARED_MEMORY = Path("/dev/shm")  # noqa: S108 - the place that this is about


@pytest.fixture
def ask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Ask:
    monkeypatch.setenv("ENVDOCTOR_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setattr(inputs, "_SETTLED_S", -60.0)

    def asked(*arguments: object) -> tuple[int, dict]:
        capsys.readouterr()
        code = main(["check", *map(str, arguments), "--format", "json"])
        return code, json.loads(capsys.readouterr().out)

    return asked


def same(ask: Ask, *arguments: object) -> None:
    """Compare what is answered now with what a fresh look answers."""
    now, fresh = ask(*arguments), ask(*arguments, "--fresh")
    for _, report in (now, fresh):
        del report["timings"], report["facts"]
    assert now == fresh


def test_a_folder_that_a_pth_file_names_and_that_comes_later_is_seen(ask: Ask, venv, venv_site, tmp_path):
    venv_site.add("app", "1.0", "lib>=1")
    (venv_site.folder / "project.pth").write_text(f"{tmp_path}/project/src\n", encoding="utf-8")
    ask("--env", venv)
    info = tmp_path / "project" / "src" / "lib-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: lib\nVersion: 1.0\n", encoding="utf-8")
    same(ask, "--env", venv)


def test_a_program_that_stands_for_another_python_is_asked_again(ask: Ask, venv, venv_site, tmp_path):
    venv_site.add("app", "1.0", "lib>=1")
    other = tmp_path / "other"
    shutil.copytree(venv, other, symlinks=True)
    shutil.rmtree(next(other.glob("lib/python*/site-packages/app-1.0.dist-info")))
    shims = tmp_path / "shims"
    shims.mkdir()
    (tmp_path / "version").write_text(f"{venv}\n", encoding="utf-8")
    shim = shims / "python"
    shim.write_text(f'#!/bin/sh\nexec "$(cat {tmp_path}/version)/bin/python" "$@"\n', encoding="utf-8")
    shim.chmod(0o755)
    ask("--python", shim)
    (tmp_path / "version").write_text(f"{other}\n", encoding="utf-8")
    same(ask, "--python", shim)


@pytest.mark.skipif(not os.access(SHARED_MEMORY, os.W_OK), reason="there is no memory file system here")
def test_an_environment_in_shared_memory_is_one_of_files(ask: Ask, venv, venv_site, tmp_path):
    info = venv_site.folder / "lib.egg-info"
    info.mkdir()
    (info / "PKG-INFO").write_text("Metadata-Version: 1.0\nName: lib\nVersion: 2.0\n", encoding="utf-8")
    (info / "requires.txt").write_text("\n", encoding="utf-8")
    place = SHARED_MEMORY / f"envdoctor-{os.getpid()}"
    shutil.copytree(venv, place, symlinks=True)
    try:
        ask("--env", place)
        next(place.glob("lib/python*/site-packages/lib.egg-info/requires.txt")).write_text("gone\n", encoding="utf-8")
        same(ask, "--env", place)
    finally:
        shutil.rmtree(place)


def test_byte_code_without_source_is_noted(ask: Ask, venv, venv_site, tmp_path):
    venv_site.add("app", "1.0", "lib>=1")
    info = tmp_path / "more" / "lib-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: lib\nVersion: 1.0\n", encoding="utf-8")
    target = venv_site.folder / "sitecustomize.pyc"

    def write(text: str) -> None:
        source, made = tmp_path / "source.py", tmp_path / "made.pyc"
        source.write_text(text, encoding="utf-8")
        py_compile.compile(str(source), cfile=str(made))
        # In place, so that the folder does not tell.
        with target.open("r+b" if target.exists() else "wb") as stream:
            stream.write(made.read_bytes())
            stream.truncate()

    write(f"import sys; sys.path.append({str(tmp_path / 'more')!r})\n")
    ask("--env", venv)
    write("import sys\n")
    same(ask, "--env", venv)


def test_a_folder_of_distributions_may_be_called_like_byte_code(ask: Ask, tmp_path):
    place = tmp_path / "packages.pyc"
    for name, requires in (("app", ""), ("other", "Requires-Dist: gone\n")):
        info = place / f"{name}-1.0.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n{requires}", encoding="utf-8"
        )
        (ask if name == "app" else lambda *more: same(ask, *more))("--env", place)


@pytest.mark.parametrize(
    ("line", "text"),
    [
        pytest.param(5, "1" + "0" * 30, id="a count beyond all numbers"),
        pytest.param(3, "77", id="an exit code that there is not"),
        pytest.param(4, "3", id="a cut in the midst"),
    ],
)
def test_an_answer_with_a_wrong_number_is_passed_over(ask: Ask, venv, tmp_path, line, text):
    ask("--env", venv)
    (path,) = (tmp_path / "cache" / "answers").iterdir()
    lines = path.read_text(encoding="utf-8").split("\n")
    lines[line] = text
    path.write_text("\n".join(lines), encoding="utf-8")
    same(ask, "--env", venv)


def test_an_answer_whose_end_is_missing_is_passed_over(ask: Ask, venv, tmp_path):
    ask("--env", venv)
    (path,) = (tmp_path / "cache" / "answers").iterdir()
    path.write_bytes(path.read_bytes()[:-100])
    same(ask, "--env", venv)


def test_a_pipe_in_place_of_an_answer_does_not_hold_anybody_up(ask: Ask, venv, tmp_path):
    ask("--env", venv)
    (path,) = (tmp_path / "cache" / "answers").iterdir()
    path.unlink()
    os.mkfifo(path)
    # Whoever opens the other end lets the reader go, so that this test ends.
    helper = threading.Timer(5.0, lambda: os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK)))
    helper.start()
    same(ask, "--env", venv)
    was_waiting = not helper.is_alive()
    helper.cancel()
    assert not was_waiting


def test_an_answer_under_the_name_of_another_question_is_passed_over(ask: Ask, venv, venv_site, tmp_path):
    ask("--env", venv)
    folder = tmp_path / "cache" / "answers"
    (first,) = folder.iterdir()
    bare = tmp_path / "bare" / "site-packages" / "app-1.0.dist-info"
    bare.mkdir(parents=True)
    (bare / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: app\nVersion: 1.0\nRequires-Dist: gone\n", encoding="utf-8"
    )
    ask("--env", bare.parent)
    (second,) = set(folder.iterdir()) - {first}
    first.replace(second)
    same(ask, "--env", bare.parent)


def test_files_that_are_no_answers_are_left_alone(ask: Ask, venv, tmp_path):
    folder = tmp_path / "cache" / "answers"
    folder.mkdir(parents=True)
    for number in range(100):
        (folder / f"essay-{number}.txt").write_text("mine", encoding="utf-8")
    ask("--env", venv)
    assert len(list(folder.glob("essay-*.txt"))) == 100


def test_what_a_killed_process_left_does_not_stop_the_next_of_its_number(ask: Ask, venv, tmp_path):
    ask("--env", venv)
    (path,) = (tmp_path / "cache" / "answers").iterdir()
    path.with_name(f".{path.name}.{os.getpid()}").write_text("half", encoding="utf-8")
    path.unlink()
    ask("--env", venv)
    assert "remembered_s" in ask("--env", venv)[1]["timings"]


@pytest.mark.parametrize("name", ["python._pth", f"{PYTHON}._pth"])
def test_a_file_that_replaces_the_search_path_is_seen(ask: Ask, venv, venv_site, name):
    venv_site.add("app", "1.0", "lib>=1")
    ask("--env", venv)
    (venv / "bin" / name).write_text("/nowhere\n", encoding="utf-8")
    same(ask, "--env", venv)


def test_a_folder_that_an_editable_finder_names_and_that_comes_later_is_seen(ask: Ask, venv, venv_site, tmp_path):
    venv_site.add("app", "1.0", "lib>=1")
    project = tmp_path / "project"
    finder = f"MAPPING = {{'lib': {str(project)!r}}}\nimport os, sys\n"
    finder += f"def install():\n    if os.path.exists({str(project)!r}):\n        sys.path.append({str(project)!r})\n"
    (venv_site.folder / "__editable___lib_finder.py").write_text(finder, encoding="utf-8")
    (venv_site.folder / "__editable__.lib.pth").write_text(
        "import __editable___lib_finder; __editable___lib_finder.install()\n", encoding="utf-8"
    )
    ask("--env", venv)
    info = project / "lib-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: lib\nVersion: 1.0\n", encoding="utf-8")
    same(ask, "--env", venv)


@pytest.mark.parametrize(("name", "value"), [("getgroups", [4242]), ("getegid", 4242)])
def test_whoever_has_other_rights_asks_another_question(ask: Ask, venv, monkeypatch, name, value):
    ask("--env", venv)
    assert "remembered_s" in ask("--env", venv)[1]["timings"]
    monkeypatch.setattr(os, name, lambda: value)
    assert "remembered_s" not in ask("--env", venv)[1]["timings"]


def test_a_folder_may_be_called_like_the_option(ask: Ask, venv, tmp_path, monkeypatch, capsys):
    shutil.copytree(venv, tmp_path / "--fresh", symlinks=True)
    monkeypatch.chdir(tmp_path)
    assert ask("--env", "--fresh")[0] == 0
    assert main(["check", "--env"]) == 2
    assert main(["check", "--env", "--format", "json"]) == 2


@pytest.mark.parametrize("mode", [0o777, 0o770])
def test_a_folder_that_others_may_write_to_is_not_believed(ask: Ask, venv, tmp_path, mode):
    ask("--env", venv)
    (tmp_path / "cache" / "answers").chmod(mode)
    assert "remembered_s" not in ask("--env", venv)[1]["timings"]


def test_an_answer_to_another_question_is_passed_over(ask: Ask, venv, venv_site, tmp_path):
    ask("--env", venv)
    ask("--env", venv_site.folder)
    first, second = (tmp_path / "cache" / "answers").iterdir()
    for path, other in ((first, second.read_bytes()), (second, first.read_bytes())):
        path.write_bytes(other)
    same(ask, "--env", venv)
    same(ask, "--env", venv_site.folder)


@pytest.mark.parametrize("processes", [2, 4])
def test_many_states_are_compared_by_several_processes(ask: Ask, venv, venv_site, monkeypatch, processes):
    names = [f"many/m{number}.py" for number in range(40)]
    venv_site.add("many", "1.0", files=dict.fromkeys(names, "x"))
    monkeypatch.setattr(answer_file, "_WORTH_A_FORK", 10)
    monkeypatch.setattr(os, "cpu_count", lambda: processes)
    ask("--env", venv)
    for name in names:
        assert "remembered_s" in ask("--env", venv)[1]["timings"]
        (venv_site.folder / name).write_text("longer", encoding="utf-8")
        assert "remembered_s" not in ask("--env", venv)[1]["timings"]


def test_the_answer_asked_for_last_is_kept_longest(ask: Ask, venv, monkeypatch, tmp_path):
    monkeypatch.setattr(answer_file, "_MOST", 2)
    for question in ("first", "second", "first", "third"):
        monkeypatch.setenv("QUESTION", question)
        ask("--env", venv)
        time.sleep(0.02)
    monkeypatch.setenv("QUESTION", "first")
    assert "remembered_s" in ask("--env", venv)[1]["timings"]


def test_a_pipe_in_place_of_metadata_is_unreadable_metadata(ask: Ask, venv, venv_site):
    info = venv_site.folder / "lib-1.0.dist-info"
    info.mkdir()
    os.mkfifo(info / "METADATA")
    _, report = ask("--env", venv)
    assert [finding["rule"] for finding in report["findings"]] == ["ENV008"]


def test_a_path_that_is_not_utf8_is_read_all_the_same(ask: Ask, venv, venv_site, tmp_path):
    venv_site.add("app", "1.0", "lib>=1", files={"app.py": "x"})
    place = os.fsdecode(os.fsencode(tmp_path) + b"/\xff\xfe")
    shutil.copytree(venv, place, symlinks=True)
    code, report = ask("--env", place)
    assert code == 1
    assert "ENV001" in [finding["rule"] for finding in report["findings"]]
    same(ask, "--env", place)


def test_a_current_folder_that_is_gone_is_no_fault(ask: Ask, venv, tmp_path, monkeypatch):
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    assert ask("--env", venv)[0] == 0


def test_standard_output_that_takes_no_more_is_told_once(ask: Ask, venv, tmp_path):
    variables = {**os.environ, "ENVDOCTOR_CACHE_DIR": str(tmp_path / "cache")}
    command = [sys.executable, "-m", "envdoctor", "check", "--env", str(venv)]
    time.sleep(2.1)
    for _ in range(2):
        with Path("/dev/full").open("w", encoding="utf-8") as full:
            done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, env=variables, timeout=60)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1)
        subprocess.run(command, stdout=subprocess.DEVNULL, env=variables, timeout=60)


def in_place(path: Path, data: bytes) -> None:
    with path.open("r+b" if path.exists() else "wb") as stream:
        stream.write(data)
        stream.truncate()


@pytest.mark.skipif(not os.access(SHARED_MEMORY, os.W_OK), reason="there is no memory file system here")
def test_what_an_interpreter_loads_from_shared_memory_is_noted(ask: Ask, venv, venv_site, tmp_path):
    venv_site.add("app", "1.0", "lib>=1")
    place = SHARED_MEMORY / f"envdoctor-{os.getpid()}-loaded"
    shutil.copytree(venv, place, symlinks=True)
    custom = next(place.glob("lib/python*/site-packages")) / "sitecustomize.py"
    try:
        custom.write_text("import sys\n", encoding="utf-8")
        ask("--env", place)
        info = tmp_path / "more" / "lib-1.0.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: lib\nVersion: 1.0\n", encoding="utf-8")
        in_place(custom, f"import sys; sys.path.append({str(tmp_path / 'more')!r})\n".encode())
        same(ask, "--env", place)
    finally:
        shutil.rmtree(place)


def test_a_script_that_gives_its_name_to_another_program_is_asked_again(ask: Ask, venv, venv_site, tmp_path):
    venv_site.add("app", "1.0", "lib>=1")
    real = venv / "bin" / "python"
    target = os.path.realpath(real)
    real.unlink()
    real.write_text(f'#!/bin/bash\n. {tmp_path}/rc\nexec -a "$0" {target} "$@"\n', encoding="utf-8")
    real.chmod(0o755)
    (tmp_path / "rc").write_text("", encoding="utf-8")
    ask("--env", venv)
    info = tmp_path / "more" / "lib-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: lib\nVersion: 1.0\n", encoding="utf-8")
    (tmp_path / "rc").write_text(f"export PYTHONPATH={tmp_path}/more\n", encoding="utf-8")
    same(ask, "--env", venv)


def test_byte_code_that_its_source_does_not_check_is_noted(ask: Ask, venv, venv_site, tmp_path):
    venv_site.add("app", "1.0", "lib>=1")
    info = tmp_path / "more" / "lib-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: lib\nVersion: 1.0\n", encoding="utf-8")
    custom = venv_site.folder / "sitecustomize.py"
    cached = venv_site.folder / "__pycache__" / f"sitecustomize.{sys.implementation.cache_tag}.pyc"
    cached.parent.mkdir()
    custom.write_text("import sys\n", encoding="utf-8")
    made, source = tmp_path / "made.pyc", tmp_path / "source.py"
    for text in ("import sys\n", f"import sys; sys.path.append({str(tmp_path / 'more')!r})\n"):
        source.write_text(text, encoding="utf-8")
        unchecked = py_compile.PycInvalidationMode.UNCHECKED_HASH
        py_compile.compile(str(source), cfile=str(made), invalidation_mode=unchecked)
        in_place(cached, made.read_bytes())
        same(ask, "--env", venv)


def test_a_pipe_in_place_of_pyvenv_cfg_does_not_hold_anybody_up(ask: Ask, venv):
    (venv / "pyvenv.cfg").unlink()
    os.mkfifo(venv / "pyvenv.cfg")
    ask("--env", venv)
