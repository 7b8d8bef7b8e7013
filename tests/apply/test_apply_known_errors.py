"""What is known to fail of what a fix would install is said before anything is done."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from apply_archives import Served, as_index, make_wheel, serve
from apply_commands import ARCH, PYTHON, SYSTEM, Fix
from apply_world import BASE

from envdoctor.cli.main import main
from envdoctor.model.finding import Finding, Remedy, Severity
from envdoctor.render.plan_text import known_errors

pytestmark = pytest.mark.usefixtures("quiet_machine")

GRADIO = make_wheel("gradio", "4.43.0", {"gradio.py": ""}, requires=("pydantic>=2",))
PYDANTIC_NEW = make_wheel("pydantic", "2.11.4", {"pydantic.py": ""})
PYDANTIC_OLD = make_wheel("pydantic", "2.10.6", {"pydantic.py": ""})
ERROR = "ADV042 gradio4-pydantic-211: `gradio` 4.43.0 cannot read the schemas of pydantic 2.11.4"


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    with serve(as_index(GRADIO, PYDANTIC_NEW, PYDANTIC_OLD)) as it:
        yield it


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "app"
    folder.mkdir()
    (folder / "requirements.txt").write_text("gradio\npydantic==2.11.4\n")
    return folder


@pytest.fixture
def treat(project: Path, served: Served) -> Fix:
    (project / "bare.toml").write_text(
        f'schema = 1\n[profile]\nname = "bare"\nsummary = "Nothing"\n[target]\nos = "{SYSTEM}"\narch = "{ARCH}"\n'
        f'python = "=={PYTHON}.*"\nbackend = "cpu"\n'
    )
    options = ("--profile", str(project / "bare.toml"), "--index-url", f"{served.url}simple/", "--python", BASE)
    return lambda *arguments: main(["fix", str(project), *options, *arguments])


def test_a_dry_run_says_known_errors_before_the_plan(
    treat: Fix, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert treat("--dry-run") == 0
    said = capsys.readouterr().out
    assert said.startswith(f"1 error is known of what will be installed:\n  {ERROR}\n    try: ")
    assert said.index(ERROR) < said.index("plan for `")


def test_the_plan_as_json_has_them_too(treat: Fix, capsys: pytest.CaptureFixture[str]) -> None:
    assert treat("--dry-run", "--format", "json") == 0
    (known,) = json.loads(capsys.readouterr().out)["known_errors"]
    assert f"{known['rule']} {known['name']}: {known['message']}" == ERROR
    assert known["remedy"]["summary"]


def test_nothing_is_said_where_nothing_is_known(treat: Fix, project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "requirements.txt").write_text("gradio\npydantic==2.10.6\n")
    assert treat("--dry-run") == 0
    assert capsys.readouterr().out.startswith("plan for `")


def test_what_is_waived_is_not_said(treat: Fix, project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    waiver = '[[tool.envdoctor.waive]]\nrule = "ADV042"\nreason = "we patch it"\n'
    (project / "pyproject.toml").write_text(waiver)
    assert treat("--dry-run") == 0
    assert "ADV042" not in capsys.readouterr().out


def test_whoever_is_not_asked_is_told_all_the_same(
    treat: Fix, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert treat("--yes") == 0
    assert ERROR in capsys.readouterr().err
    assert treat("--yes", "--quiet") == 0
    assert ERROR not in capsys.readouterr().err


def test_what_is_set_aside_is_told_and_stands_as_settled_at_the_end(
    treat: Fix, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "requirements.txt").write_text("gradio\npydantic==2.10.6\npydantic==2.11.4\n")
    aside = "with repair R1, which sets aside what was asked for:\n  `pydantic==2.1"
    assert treat("--yes", "--no-smoke", "--format", "json") == 0
    said = capsys.readouterr()
    assert f".venv` is made {aside}" in said.err
    report = json.loads(said.out)
    assert (report["conflicts"], report["repairs"], report["resolution"]["repair"]) == ([], [], "R1")
    assert treat("--yes") == 0
    assert aside not in capsys.readouterr().err


def test_more_than_a_few_are_counted() -> None:
    many = [Finding("ADV042", "some-id", Severity.ERROR, "x", f"message {number}") for number in range(7)]
    lines = list(known_errors(many, "what is locked", "envdoctor check"))
    assert lines[0] == "7 errors are known of what is locked:"
    assert lines[-1] == "  and 2 more; `envdoctor check` lists them"
    assert len(lines) == 7


def test_a_remedy_that_is_a_sentence_is_joined_to_its_command() -> None:
    remedy = Remedy("Use a build constraint.", commands=('pip install "setuptools<82"',))
    (_, _, line) = known_errors([Finding("ADV042", "some-id", Severity.ERROR, "x", "message", remedy=remedy)], "it", "")
    assert line == '    try: Use a build constraint; `pip install "setuptools<82"`'
