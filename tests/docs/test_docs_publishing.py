"""What is published: the man page, the workflow of a release, the links of the README on an index page."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from envdoctor import __version__
from envdoctor.cli.verb_list import VERBS
from envdoctor.toml_tables import read_toml

ROOT = Path(__file__).parents[2]
PROJECT = read_toml((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def test_the_man_page_has_every_verb() -> None:
    page = (ROOT / "man" / "envdoctor.1").read_text(encoding="utf-8")
    assert all(f".SS envdoctor {verb}" in page for verb in VERBS)


@pytest.mark.skipif(shutil.which("groff") is None, reason="needs groff")
def test_groff_has_nothing_to_say_of_the_man_page() -> None:
    command = ["groff", "-man", "-Kutf8", "-ww", "-z", str(ROOT / "man" / "envdoctor.1")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_release_runs_the_check_before_it_publishes_and_keeps_no_token() -> None:
    text = (ROOT / ".github" / "workflows" / "release.yml").read_text(encoding="utf-8")
    jobs = yaml.safe_load(text)["jobs"]
    assert any("release_check.sh" in step.get("run", "") for step in jobs["build"]["steps"])
    assert jobs["publish"]["needs"] == "build"
    assert jobs["publish"]["permissions"] == {"id-token": "write"}
    assert "password" not in text
    assert "secrets" not in text


def test_links_of_the_readme_lead_to_the_repository_on_an_index_page() -> None:
    (rule,) = PROJECT["tool"]["hatch"]["metadata"]["hooks"]["fancy-pypi-readme"]["substitutions"]
    replacement = rule["replacement"].replace("$HFPR_VERSION", __version__)
    text = re.sub(rule["pattern"], replacement, (ROOT / "README.md").read_text(encoding="utf-8"))
    targets = re.findall(r"\]\(([^)]+)\)", text)
    assert targets
    assert all(target.startswith(("https://", "#")) for target in targets)
    inside = [target.partition(f"/v{__version__}/")[2] for target in targets if f"/blob/v{__version__}/" in target]
    assert all((ROOT / path.partition("#")[0]).exists() for path in inside)


def test_the_changelog_has_a_section_of_this_version() -> None:
    assert f"## [{__version__}]" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("index", ["mkdocs.yml", "docs/README.md"])
def test_every_page_is_found_from_the_start(index: str) -> None:
    text = (ROOT / index).read_text(encoding="utf-8")
    pages = sorted(page.name for page in (ROOT / "docs").glob("*.md") if page.name != "README.md")
    assert [name for name in pages if not re.search(rf"[ (]{re.escape(name)}(?:\)|$)", text, re.MULTILINE)] == []


def test_the_changelog_says_nothing_twice() -> None:
    points = re.findall(r"^- (.{60})", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(point for point in set(points) if points.count(point) > 1) == []
