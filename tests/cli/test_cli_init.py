"""``envdoctor init``: settings and hook, added to what a person wrote."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from envdoctor.cli.main import main
from envdoctor.toml_tables import read_toml
from envdoctor.verbs.init import HOOK_FILES

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
        (".pre-commit-config.yaml", "repos: [\n", "add it by hand"),
        (".pre-commit-config.yaml", "repos: []\nci:\n  skip: [a]\n", "by hand"),
        (".pre-commit-config.yaml", "- a\n", "by hand"),
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
    assert lines == [*(f"wrote {path}" for path in written), "next: envdoctor check project"]
    monkeypatch.chdir(tmp_path / "other")
    assert main(["init", "."]) == 0
    assert capsys.readouterr().err.splitlines()[-1] == "next: envdoctor check ."
