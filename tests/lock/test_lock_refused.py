"""Locks never lie: where something was not seen, nothing is written, and what was written before stays as it was."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from lock_index import LoopbackIndex
from lock_profile import profile_text

from envdoctor.cli.main import main
from envdoctor.resolve.pubgrub import PubGrub

TARGET = ("--target-os", "linux", "--target-arch", "x86_64", "--target-python", "3.11")
NOWHERE = "http://127.0.0.1:1/simple/"
FILES = ["constraints.project.txt", "overrides.project.txt", "pylock.toml"]


def run(capsys: pytest.CaptureFixture[str], verb: str, project: Path, *options: str) -> tuple[int, str, str]:
    capsys.readouterr()
    code = main([verb, str(project), *TARGET, *options])
    said = capsys.readouterr()
    return code, said.out, said.err


def content(project: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in project.iterdir()}


def refused(capsys: pytest.CaptureFixture[str], project: Path, *options: str) -> tuple[int, str]:
    """Lock, with ``--check`` and without, and assert that nothing was written; return exit code and message."""
    before = content(project)
    answers = {run(capsys, "lock", project, *options, *more) for more in ((), ("--check",))}
    assert content(project) == before
    ((code, out, err),) = answers
    assert out == ""
    return code, err


@pytest.fixture(params=[False, True], ids=["no-lock", "old-lock"])
def locked(request: pytest.FixtureRequest, project: Path, index: LoopbackIndex) -> Path:
    """A project without a lock, and one with a lock of what it asked for before."""
    if request.param:
        assert main(["lock", str(project), *TARGET, "--quiet"]) == 0
    return project


@pytest.mark.parametrize(
    ("lines", "code", "said"),
    [
        ("alpha\nnowhere\n", 1, "requirements.txt:2: no index has `nowhere`"),
        ("alpha\nbeta==1.0.\n", 1, "requirements.txt:2: `beta==1.0.` is not a valid requirement"),
        ("alpha\n-r more.txt\n", 1, "requirements.txt:2: there is no file `more.txt`"),
        (f"alpha==1.0 --hash=sha256:{'0' * 64}\n", 1, "requirements.txt:1: no file of `alpha` 1.0 has a hash"),
        ("beta @ https://index.example/beta-1.0-py3-none-any.whl\n", 3, "is a direct reference"),
        ("alpha\nbeta @ git+https://git.example/beta.git@main\n", 3, "requirements.txt:2: `beta @ git+https"),
        ("alpha\n-e git+https://git.example/beta.git#egg=beta\n", 3, "is a direct reference"),
        ("alpha\ngit+https://git.example/beta.git\n", 3, "does not say which project it is"),
        ("alpha\n./libs/beta\n", 1, "there is no file or directory `./libs/beta`"),
    ],
)
def test_what_a_line_asks_for_and_no_index_tells_is_never_left_out(
    capsys: pytest.CaptureFixture[str], locked: Path, lines: str, code: int, said: str
) -> None:
    (locked / "requirements.txt").write_text(lines, encoding="utf-8")
    found, err = refused(capsys, locked)
    assert found == code
    assert err.startswith("error: ")
    assert said in err


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("setup.py", "from setuptools import setup\nsetup(install_requires=open('r').read().split())\n", "setup.py:2"),
        ("pyproject.toml", "[project]\nname='x'\nversion='1'\ndynamic=['dependencies']\n", "pyproject.toml:4"),
    ],
)
def test_requirements_that_only_running_code_would_tell_are_not_known(
    capsys: pytest.CaptureFixture[str], locked: Path, name: str, text: str, said: str
) -> None:
    (locked / "requirements.txt").unlink()
    (locked / name).write_text(text, encoding="utf-8")
    code, err = refused(capsys, locked)
    assert code == 3
    assert f"error: {said}: " in err


@pytest.mark.parametrize(
    ("path", "status", "said"),
    [
        ("/simple/beta/", 500, "`beta` cannot be locked: index default"),
        ("/simple/beta/", 403, "refuses (403)"),
        ("/files/alpha-2.0-py3-none-any.whl", 500, "the metadata of its version 2.0 could not be read"),
        ("/files/alpha-2.0-py3-none-any.whl", 404, "the metadata of its version 2.0 could not be read"),
    ],
)
def test_what_the_index_does_not_give_is_not_known(
    capsys: pytest.CaptureFixture[str], project: Path, index: LoopbackIndex, path: str, status: int, said: str
) -> None:
    index.status[path] = status
    code, err = refused(capsys, project)
    assert code == 3
    assert said in err


def test_that_no_version_could_be_read_is_no_conflict(
    capsys: pytest.CaptureFixture[str], project: Path, index: LoopbackIndex
) -> None:
    for version in ("1.0", "2.0"):
        index.status[f"/files/alpha-{version}-py3-none-any.whl"] = 500
    assert refused(capsys, project)[0] == 3


def test_an_address_that_has_nothing_is_no_index(
    capsys: pytest.CaptureFixture[str], locked: Path, index: LoopbackIndex
) -> None:
    code, err = refused(capsys, locked, "--index-url", f"{index.root}/elsewhere/")
    assert code == 3
    assert "is it the URL of a package index?" in err


@pytest.mark.parametrize("option", ["--extra-index-url", "--find-links"])
def test_an_index_beside_the_default_one_that_does_not_answer_may_have_had_another_version(
    capsys: pytest.CaptureFixture[str], locked: Path, option: str
) -> None:
    (locked / "requirements.txt").write_text(f"{option} {NOWHERE}\nalpha\n", encoding="utf-8")
    code, err = refused(capsys, locked)
    assert code == 3
    assert f"error: {NOWHERE}: index " in err
    assert "could not be reached" in err


def test_a_file_that_the_index_does_not_hash_cannot_be_pinned(
    capsys: pytest.CaptureFixture[str], project: Path, index: LoopbackIndex
) -> None:
    index.wheel("alpha", "3.0", hashed=False)
    code, err = refused(capsys, project)
    assert code == 3
    assert "`alpha-3.0-py3-none-any.whl` has no hash" in err


def test_a_distribution_that_asks_for_a_file_at_a_url_does_not_get_the_indexs_instead(
    capsys: pytest.CaptureFixture[str], project: Path, index: LoopbackIndex, tmp_path: Path
) -> None:
    index.wheel("alpha", "3.0", ("beta @ https://index.example/beta-9.0-py3-none-any.whl",))
    code, err = refused(capsys, project)
    assert code == 3
    assert "`beta` cannot be locked: alpha 3.0 asks for `beta @ https://index.example" in err
    assert main(["check", str(project)]) == 3
    said = " ".join(capsys.readouterr().out.split())
    assert "RES107 not-checked: alpha 3.0 requires beta @ https://index.example/beta-9.0-py3-none-any.whl" in said
    profile = tmp_path / "stack.toml"
    profile.write_text(
        profile_text('[[override]]\nrequirement = "beta==2.0"\nreplaces = "alpha"\nbecause = "the index has it"\n'),
        encoding="utf-8",
    )
    assert main(["lock", str(project), "--profile", str(profile)]) == 0
    assert main(["check", str(project), "--profile", str(profile)]) == 0


def test_what_only_a_build_would_tell_is_said_and_locked(
    capsys: pytest.CaptureFixture[str], project: Path, index: LoopbackIndex
) -> None:
    index.sdist("gamma", "1.0", "from setuptools import setup\nsetup(install_requires=open('r').read())\n")
    (project / "requirements.txt").write_text("gamma==1.0\n", encoding="utf-8")
    code, _, err = run(capsys, "lock", project)
    assert code == 0
    assert "note: not known: `gamma` 1.0: " in err
    assert "only its build would tell its dependencies; what they are is not in the lock" in err


def test_what_is_left_to_conda_is_said(capsys: pytest.CaptureFixture[str], project: Path, index: LoopbackIndex) -> None:
    (project / "requirements.txt").unlink()
    lines = "dependencies:\n  - python=3.11\n  - ffmpeg\n  - pip:\n    - alpha\n"
    (project / "environment.yml").write_text(lines, encoding="utf-8")
    code, _, err = run(capsys, "lock", project)
    assert code == 0
    assert "note: not in the lock: `ffmpeg` is a package of conda's channels" in err
    assert "(environment.yml:3)" in err


def test_a_lock_that_cannot_be_read_is_left_as_it_is_with_a_way_out(
    capsys: pytest.CaptureFixture[str], project: Path, index: LoopbackIndex
) -> None:
    (project / "pylock.toml").write_text("<<<<<<< HEAD\nlock-version = '1.0'\n", encoding="utf-8")
    code, err = refused(capsys, project)
    assert code == 2
    assert err.startswith("error: pylock.toml: not TOML: ")
    assert err.endswith("; remove it to lock anew\n")


def test_a_lock_of_another_tool_that_is_not_quite_one_is_a_list_and_stops_nothing(
    project: Path, index: LoopbackIndex, capsys: pytest.CaptureFixture[str]
) -> None:
    text = 'lock-version = "1.0"\ncreated-by = "x"\n[[packages]]\nname = "Not.Normal"\nversion = "1"\n'
    (project / "pylock.toml").write_text(text, encoding="utf-8")
    assert main(["check", str(project), "--format", "json"]) != 2
    assert "pylock.toml" in {one["path"] for one in json.loads(capsys.readouterr().out)["scope"]["read"]}


def test_offline_the_lock_of_what_is_written_holds_and_any_other_is_not_known(
    capsys: pytest.CaptureFixture[str], project: Path, index: LoopbackIndex, tmp_path: Path
) -> None:
    assert refused(capsys, project, "--offline")[0] == 3
    assert run(capsys, "lock", project)[0] == 0
    before = content(project)
    empty = ("--offline", "--cache-dir", str(tmp_path / "empty"))
    assert run(capsys, "lock", project, *empty, "--check")[0] == 0
    assert run(capsys, "lock", project, *empty)[0] == 0
    assert content(project) == before
    (project / "requirements.txt").write_text("alpha\nbeta<2\n", encoding="utf-8")
    assert refused(capsys, project, *empty)[0] == 3


def test_check_tells_a_stale_lock_from_a_current_one_and_writes_neither(
    capsys: pytest.CaptureFixture[str], project: Path, index: LoopbackIndex
) -> None:
    assert run(capsys, "lock", project, "--check")[0] == 1
    assert sorted(content(project)) == ["requirements.txt"]
    assert run(capsys, "lock", project)[0] == 0
    assert sorted(content(project)) == sorted([*FILES, "requirements.txt"])
    assert run(capsys, "lock", project, "--check")[0] == 0
    (project / "requirements.txt").write_text("alpha<2\n", encoding="utf-8")
    before = content(project)
    code, _, err = run(capsys, "lock", project, "--check")
    assert code == 1
    assert "pylock.toml` is not what would be written now" in err
    assert content(project) == before


@pytest.mark.parametrize(
    ("lines", "status"),
    [
        ("alpha\n", {"/simple/beta/": 500}),
        ("alpha\n", {"/files/alpha-2.0-py3-none-any.whl": 500}),
        ("alpha\n", {"/files/alpha-1.0-py3-none-any.whl": 500, "/files/alpha-2.0-py3-none-any.whl": 500}),
        (f"--extra-index-url {NOWHERE}\nalpha\n", {}),
        ("alpha\nbeta @ git+https://git.example/beta.git@main\n", {}),
    ],
)
def test_where_check_is_not_complete_there_is_no_lock(
    capsys: pytest.CaptureFixture[str], project: Path, index: LoopbackIndex, lines: str, status: dict[str, int]
) -> None:
    (project / "requirements.txt").write_text(lines, encoding="utf-8")
    index.status.update(status)
    _, out, _ = run(capsys, "check", project, "--format", "json")
    assert json.loads(out)["complete"] is False
    assert refused(capsys, project)[0] == 3


@pytest.mark.parametrize("option", [(), ("--repair", "1")])
def test_a_line_with_no_version_for_the_target_is_left_out_on_purpose_alone(
    capsys: pytest.CaptureFixture[str], project: Path, index: LoopbackIndex, option: tuple[str, ...]
) -> None:
    digest = index.wheel("gamma", "1.0")
    (entry,) = index.pages["gamma"]
    entry.update({"yanked": "broken"})
    assert entry["hashes"] == {"sha256": digest}
    (project / "requirements.txt").write_text("alpha\ngamma>=0.5\n", encoding="utf-8")
    if option:
        code, _, err = run(capsys, "lock", project, *option)
        assert code == 0
        assert "`gamma>=0.5` (requirements.txt:2): left out" in err
        assert run(capsys, "lock", project, "--check")[0] == 0
        return
    code, err = refused(capsys, project)
    assert code == 1
    assert "error: requirements.txt:2: nothing that `gamma>=0.5` admits can be used on this target" in err
    assert "leave it out on purpose with `--repair 1`" in err


def test_a_search_that_meets_its_limit_is_no_conflict_for_check_and_lock_alike(
    capsys: pytest.CaptureFixture[str], project: Path, index: LoopbackIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("envdoctor.resolve.resolver._first_engine", lambda _manifest: PubGrub(rounds=1))
    code, said = refused(capsys, project)
    assert code == run(capsys, "check", project)[0] == 3
    assert "the search gave up: no answer within its limit of 1 rounds" in said
    assert "clash" not in said
