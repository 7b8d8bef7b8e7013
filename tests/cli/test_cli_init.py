"""``envdoctor init``: settings and hook, added to what a person wrote."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

import pytest
import yaml

from envdoctor.cli.main import main
from envdoctor.toml_tables import read_toml
from envdoctor.verbs.hook_file import HOOK_FILES

ROOT = Path(__file__).parents[2]
PYPROJECT = '# ours\n[project]\nname = "demo"   # kept\nversion = "1"\n'
HOOKS = "# ours\nrepos:\n  - repo: https://git.example/tools\n    rev: v1\n    hooks:\n      - id: tidy\n"


def test_what_a_person_wrote_stays_and_is_added_to(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "pyproject.toml").write_text(PYPROJECT, encoding="utf-8")
    (tmp_path / ".pre-commit-config.yaml").write_text(HOOKS, encoding="utf-8")
    (tmp_path / "requirements.txt").write_text("idna\n", encoding="utf-8")
    assert main(["init", str(tmp_path), "--profile", "rvc-zluda"]) == 0
    text = (tmp_path / "pyproject.toml").read_text(encoding="utf-8")
    assert text.startswith(PYPROJECT)
    assert read_toml(text)["tool"]["envdoctor"] == {"profile": "rvc-zluda"}
    hooks = (tmp_path / ".pre-commit-config.yaml").read_text(encoding="utf-8")
    assert hooks.startswith(HOOKS)
    first, second = yaml.safe_load(hooks)["repos"]
    assert first["repo"] == "https://git.example/tools"
    (hook,) = second["hooks"]
    assert (hook["id"], hook["entry"]) == ("envdoctor-check", "envdoctor check --offline --quiet")
    assert "next: envdoctor check" in capsys.readouterr().err
    # Once is enough.
    assert main(["init", str(tmp_path)]) == 0
    assert "nothing to write" in capsys.readouterr().err
    assert (tmp_path / "pyproject.toml").read_text(encoding="utf-8") == text


def test_a_folder_without_either_gets_both_and_check_takes_them(tmp_path: Path) -> None:
    project = tmp_path / "repository" / "server"
    project.mkdir(parents=True)
    (tmp_path / "repository" / ".git").mkdir()
    assert main(["init", str(project), "--quiet"]) == 0
    assert "envdoctor" in read_toml((project / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
    (repo,) = yaml.safe_load((tmp_path / "repository" / ".pre-commit-config.yaml").read_text(encoding="utf-8"))["repos"]
    assert repo["hooks"][0]["entry"] == "envdoctor check server --offline --quiet"


def test_a_project_by_another_name_than_its_repository_s_is_found_in_it(tmp_path: Path) -> None:
    # A link; on Windows also a drive's letter for a folder of the network, which is resolved to another name.
    (tmp_path / "repository" / ".git").mkdir(parents=True)
    (tmp_path / "repository" / "server").mkdir()
    with contextlib.suppress(OSError):
        (tmp_path / "link").symlink_to(tmp_path / "repository" / "server")
    if not (tmp_path / "link").exists():
        pytest.skip("no links here")
    assert main(["init", str(tmp_path / "link"), "--quiet"]) == 0
    (repo,) = yaml.safe_load((tmp_path / "repository" / ".pre-commit-config.yaml").read_text(encoding="utf-8"))["repos"]
    assert repo["hooks"][0]["entry"] == "envdoctor check server --offline --quiet"


def test_a_project_beside_the_repository_where_one_stands_gets_the_hook(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "here" / ".git").mkdir(parents=True)
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "requirements.txt").write_text("idna\n")
    monkeypatch.chdir(tmp_path / "here")
    assert main(["init", "../project"]) == 0
    assert not (tmp_path / "here" / ".pre-commit-config.yaml").exists()
    hook = (tmp_path / "project" / ".pre-commit-config.yaml").read_text()
    assert "entry: envdoctor check --offline --quiet\n" in hook


def test_the_commented_settings_are_right_as_they_stand(tmp_path: Path) -> None:
    main(["init", str(tmp_path), "--no-hook", "--quiet"])
    assert not (tmp_path / ".pre-commit-config.yaml").exists()
    path = tmp_path / "pyproject.toml"
    text = path.read_text(encoding="utf-8")
    lines = [
        line.removeprefix("# ") if " = " in line or line.startswith("# [[") else line for line in text.splitlines()
    ]
    path.write_text("\n".join(lines), encoding="utf-8")
    (tmp_path / "requirements.txt").write_text("", encoding="utf-8")
    from envdoctor.verbs.project_inputs import load_settings

    settings = load_settings(tmp_path)
    assert (settings.profile, settings.target_python, settings.groups) == ("xtts-zluda", "3.11", ("gpu",))
    assert settings.waivers[0].rule == "RES102"


def test_without_a_hook_nothing_is_said_of_pre_commit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["init", str(tmp_path), "--no-hook"]) == 0
    said = capsys.readouterr().err.splitlines()
    assert said == [f"wrote {tmp_path / 'pyproject.toml'}", f"next: envdoctor check {tmp_path}"]


def test_line_endings_stay(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_bytes(PYPROJECT.replace("\n", "\r\n").encode())
    main(["init", str(tmp_path), "--no-hook", "--quiet"])
    data = (tmp_path / "pyproject.toml").read_bytes()
    assert data.count(b"\n") == data.count(b"\r\n") > 4


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("pyproject.toml", "x = ", "invalid TOML"),
        ("pyproject.toml", "tool = {}\n", "write the settings by hand"),
        (".pre-commit-config.yaml", "repos: [\n", "invalid YAML"),
        (".pre-commit-config.yaml", "repos:\nday: 2026-02-30\n", "invalid YAML"),
        (".pre-commit-config.yaml", "- a\n", "it has no keys"),
        (".pre-commit-config.yaml", "{repos: []}\n", "in braces"),
        (".pre-commit-config.yaml", "repos: [{repo: meta, hooks: [{id: identity}]}]\n", "in brackets"),
        (".pre-commit-config.yaml", "repos: [\n  # none\n]\n", "a comment stands in the brackets"),
        (".pre-commit-config.yaml", "repos: none\n", "its `repos` is no list"),
        (
            ".pre-commit-config.yaml",
            "<<: {repos: [{repo: meta, hooks: []}]}\n",
            "by hand:\n  - repo: local\n    hooks:\n      - id: ",
        ),
    ],
)
def test_what_cannot_be_added_to_is_left_alone(
    name: str, text: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    assert main(["init", str(tmp_path)]) == 2
    assert said in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert (tmp_path / name).read_text(encoding="utf-8") == text


SAMPLE = "repos:\n-   repo: https://git.example/tools\n    rev: v3\n    hooks:\n    -   id: tidy\n"


@pytest.mark.parametrize(
    ("text", "dash", "hook", "rest"),
    [
        pytest.param(SAMPLE, "-   repo: local", "    -   id: envdoctor-check", "", id="pre-commit's own sample"),
        pytest.param(SAMPLE, "-   repo: local", "    -   id: envdoctor-check", "ci:\n  skip: [a]\n", id="not last"),
        pytest.param(
            SAMPLE + "    # -   id: off\n",
            "-   repo: local",
            "    -   id: envdoctor-check",
            "\n# about CI\nci: {}\n",
            id="comments stay with what they are about",
        ),
        pytest.param(
            HOOKS + "        files: |\n          a\n",
            "  - repo: local",
            "      - id: envdoctor-check",
            "ci: {}\n",
            id="block",
        ),
        pytest.param(
            HOOKS + "        args:\n          - &a x\n          - *a  # same\n",
            "  - repo: local",
            "      - id: envdoctor-check",
            "ci: {}\n",
            id="alias",
        ),
        pytest.param(
            "repos:\n- repo: meta\n  hooks: [\n    {id: identity}\n  ]\n",
            "- repo: local",
            "  - id: envdoctor-check",
            "ci: {}\n",
            id="flow",
        ),
        pytest.param("repos:\n", "  - repo: local", "      - id: envdoctor-check", "", id="bare"),
        pytest.param(
            "repos:  # none\n", "  - repo: local", "      - id: envdoctor-check", "ci: {}\n", id="bare, not last"
        ),
        pytest.param("ci: {}\nrepos:\n", "  - repo: local", "      - id: envdoctor-check", "", id="after others"),
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_the_hook_is_the_last_of_the_list_and_indented_as_that_is(
    text: str, dash: str, hook: str, rest: str, end: str, tmp_path: Path
) -> None:
    path = tmp_path / ".pre-commit-config.yaml"
    path.write_bytes((text + rest).replace("\n", end).encode())
    assert main(["init", str(tmp_path), "--quiet"]) == 0
    after = path.read_bytes().decode()
    assert after.count("\n") == after.count(end)
    after = after.replace(end, "\n")
    assert after.startswith(text)
    assert after.endswith(rest)
    added = after[len(text) : len(after) - len(rest)].splitlines()
    assert (added[0], added[2]) == (dash, hook)
    was, now = yaml.safe_load(text + rest), yaml.safe_load(after)
    assert now["repos"][:-1] == (was["repos"] or [])
    assert now["repos"][-1]["hooks"][0]["files"] == HOOK_FILES
    assert {**now, "repos": 0} == {**was, "repos": 0}


@pytest.mark.parametrize(
    ("text", "head", "tail"),
    [
        ("repos: []  # none yet\nci: {}\n", "repos:  # none yet\n  - repo: local\n", ")$\nci: {}\n"),
        ("repos: ~\n", "repos:\n  - repo: local\n", ")$\n"),
        ("# ours\nci: {}\n", "# ours\nci: {}\nrepos:\n  - repo: local\n", ")$\n"),
        ("# ours\n", "# ours\nrepos:\n  - repo: local\n", ")$\n"),
        (SAMPLE.rstrip("\n"), SAMPLE + "-   repo: local\n", ")$"),
    ],
)
def test_an_empty_list_is_begun_and_a_file_without_an_end_of_its_last_line_stays_so(
    text: str, head: str, tail: str, tmp_path: Path
) -> None:
    (tmp_path / ".pre-commit-config.yaml").write_text(text, encoding="utf-8")
    assert main(["init", str(tmp_path), "--quiet"]) == 0
    after = (tmp_path / ".pre-commit-config.yaml").read_text(encoding="utf-8")
    assert after.startswith(head)
    assert after.endswith(tail)
    assert yaml.safe_load(after)["repos"][-1]["hooks"][0]["id"] == "envdoctor-check"


def test_a_folder_whose_name_yaml_would_take_for_more_is_quoted(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "a #b").mkdir()
    assert main(["init", str(tmp_path / "a #b"), "--quiet"]) == 0
    (repo,) = yaml.safe_load((tmp_path / ".pre-commit-config.yaml").read_text(encoding="utf-8"))["repos"]
    assert repo["hooks"][0]["entry"] == "envdoctor check 'a #b' --offline --quiet"


def test_the_hook_runs_for_the_files_that_the_shipped_one_names() -> None:
    shipped = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    assert shipped[0]["files"] == HOOK_FILES


def _hook(text: str) -> str:
    return f"repos:\n  - repo: local\n    hooks:\n      - {text}\n"


@pytest.mark.parametrize(
    "text",
    [
        HOOKS.replace("# ours", "# as envdoctor says"),
        HOOKS.replace("git.example/tools", "git.example/envdoctor-theme"),
        HOOKS.replace("id: tidy", "id: tidy\n        exclude: ^envdoctor/"),
        _hook("{id: lock, language: system, entry: envdoctor lock --check --offline}"),
        _hook("{id: other, language: system, entry: envdoctor check elsewhere --offline}"),
        _hook('{id: broken, language: system, entry: "envdoctor check \'x"}'),
    ],
)
def test_what_only_speaks_of_envdoctor_is_no_hook(tmp_path: Path, text: str) -> None:
    (tmp_path / ".pre-commit-config.yaml").write_text(text, encoding="utf-8")
    assert main(["init", str(tmp_path), "--quiet"]) == 0
    repos = yaml.safe_load((tmp_path / ".pre-commit-config.yaml").read_text(encoding="utf-8"))["repos"]
    assert repos[:-1] == yaml.safe_load(text)["repos"]
    assert repos[-1]["hooks"][0]["entry"] == "envdoctor check --offline --quiet"


@pytest.mark.parametrize(
    "text",
    [
        HOOKS.replace("id: tidy", "id: envdoctor-check"),
        HOOKS.replace("id: tidy", "id: envdoctor-check\n        args: [--fail-on, warning]"),
        _hook("{id: requirements, language: system, entry: envdoctor check --profile rvc-zluda}"),
        _hook("{id: requirements, language: system, entry: uv run envdoctor check . --offline}"),
        _hook("{id: requirements, language: system, entry: .venv/bin/envdoctor, args: [check, ./]}"),
    ],
)
def test_a_hook_that_checks_the_project_is_there(tmp_path: Path, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / ".pre-commit-config.yaml").write_text(text, encoding="utf-8")
    (tmp_path / "pyproject.toml").write_text("[tool.envdoctor]\n", encoding="utf-8")
    assert main(["init", str(tmp_path)]) == 0
    assert "nothing to write" in capsys.readouterr().err
    assert (tmp_path / ".pre-commit-config.yaml").read_text(encoding="utf-8") == text


def test_each_project_of_a_repository_has_a_hook_of_its_own(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    for name in ("server", "client", "server"):
        (tmp_path / name).mkdir(exist_ok=True)
        assert main(["init", str(tmp_path / name), "--quiet"]) == 0
    repos = yaml.safe_load((tmp_path / ".pre-commit-config.yaml").read_text(encoding="utf-8"))["repos"]
    entries = [hook["entry"] for repo in repos for hook in repo["hooks"]]
    assert entries == [f"envdoctor check {name} --offline --quiet" for name in ("server", "client")]


def test_paths_are_told_without_detours_and_the_next_command_names_the_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path)
    assert main(["init", str(Path("other", "..", "project"))]) == 0
    written = [Path("project", name) for name in ("pyproject.toml", ".pre-commit-config.yaml")]
    lines = capsys.readouterr().err.splitlines()
    install = "the hook runs on commits once `pre-commit install` was typed in the repository, in each clone anew"
    assert lines == [*(f"wrote {path}" for path in written), install, "next: envdoctor check project"]
    monkeypatch.chdir(tmp_path / "other")
    assert main(["init", "."]) == 0
    assert capsys.readouterr().err.splitlines()[-1] == "next: envdoctor check ."


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has no mkfifo")
@pytest.mark.parametrize("name", [".pre-commit-config.yaml", "pyproject.toml"])
def test_a_named_pipe_in_a_files_place_is_not_waited_for(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    os.mkfifo(tmp_path / name)
    assert main(["init", str(tmp_path)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "named pipe" in line
