"""Every command that the pages show is run, and says what they say; those that cannot be run here exist."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from itertools import groupby
from pathlib import Path

import pytest
from docs_commands import PAGES, ROOT, Command, faults, mentioned, shown

OTHER_PROGRAMS = ("cat", "cp", "grep", "sed")
WITH_COMMANDS = [page for page in PAGES if shown(page)]


def name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A folder with what the pages' commands read."""
    for folder in ("examples", "docs/examples", "profiles"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    return tmp_path


def run(command: Command, folder: Path) -> tuple[int, str]:
    program, *arguments = shlex.split(command.text)
    assert program == "envdoctor" or program in OTHER_PROGRAMS, f"{command.where}: `{program}` is not run by this test"
    if program != "envdoctor" and shutil.which(program) is None:
        pytest.skip(f"needs {program}")
    start = [sys.executable, "-m", "envdoctor"] if program == "envdoctor" else [program]
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("ENVDOCTOR_", "GITHUB_", "CI_"))}
    environment = {
        **kept,
        "COLUMNS": "80",
        "PYTHONUTF8": "1",
        # Nothing here may ask an index: a command that does fails at once.
        "ENVDOCTOR_INDEX_URL": "http://127.0.0.1:9/simple/",
        "ENVDOCTOR_CACHE_DIR": str(folder / "cache"),
    }
    done = subprocess.run(
        [*start, *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        encoding="utf-8",
        timeout=300,
        check=False,
    )
    return done.returncode, done.stderr + done.stdout


def pattern(expected: list[str]) -> re.Pattern[str]:
    """Return the output as shown, ``...`` standing for anything."""
    parts = [re.escape(line.rstrip()).replace(r"\.\.\.", r"[\s\S]*?") for line in expected]
    return re.compile(r"\s*" + r"[^\S\n]*\n".join(parts).replace(r"[\s\S]*?[^\S\n]*\n", r"[\s\S]*?") + r"\s*\Z")


@pytest.mark.parametrize("page", WITH_COMMANDS, ids=name)
def test_docs_shown_commands_do_what_the_page_says(page: Path, checkout: Path) -> None:
    for command in shown(page):
        if command.needs is not None:
            continue
        code, said = run(command, checkout)
        assert "Traceback (most recent call last)" not in said, f"{command.where}:\n{said}"
        allowed = (0, 1) if command.exits is None else (command.exits,)
        assert code in allowed, f"{command.where}: exit code {code}\n{said}"
        if command.expected:
            assert pattern(command.expected).match(said), (
                f"{command.where}: the page does not show what is said:\n{said}"
            )


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_docs_mentioned_commands_exist(page: Path) -> None:
    commands = [*mentioned(page), *(command for command in shown(page) if command.text.startswith("envdoctor "))]
    wrong = {command.where: found for command in commands if (found := faults(command.text))}
    assert not wrong


def test_docs_commands_of_help_exist() -> None:
    from envdoctor.cli.main import VERBS

    wrong = {}
    for verb in VERBS:
        done = subprocess.run(
            [sys.executable, "-m", "envdoctor", verb, "--help"], capture_output=True, encoding="utf-8", check=False
        )
        for text in re.findall(r"`(envdoctor [^`]+)`", " ".join(done.stdout.replace("-\n  ", "-").split())):
            if found := faults(re.sub(r"\s+[>|].*", "", text)):
                wrong[text] = found
    assert not wrong


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_docs_links_lead_somewhere(page: Path) -> None:
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    targets = re.findall(r"\]\((?!https?:)([^)#\s]*)(?:#[^)\s]*)?\)", text)
    missing = [target for target in targets if target and not (page.parent / target).exists()]
    assert not missing


def test_docs_say_why_a_command_is_not_run() -> None:
    commands = [command for page in PAGES for command in shown(page)]
    assert commands
    assert all(command.needs != "" for command in commands)
    by_page = {page: list(group) for page, group in groupby(commands, key=lambda command: command.page)}
    assert sum(command.needs is None for command in by_page[ROOT / "docs" / "tutorial.md"]) >= 8
