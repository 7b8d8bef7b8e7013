"""Every command that the pages show is run, and says what they say; those that cannot be run here exist."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import venv
from itertools import groupby
from pathlib import Path

import pytest
from docs_commands import PAGES, ROOT, Command, faults, loose, mentioned, shown

OTHER_PROGRAMS = ("cat", "cp", "grep", "sed")
PYTHONS = ("python", "python3")
WITH_COMMANDS = [page for page in PAGES if shown(page)]
NETWORK = "network"
ONLINE = [page for page in WITH_COMMANDS if any(command.needs == NETWORK for command in shown(page))]


def name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A folder with what the pages' commands read, an environment, and a project in the home folder."""
    for folder in ("examples", "docs/examples", "profiles"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    venv.create(tmp_path / ".venv")
    project = tmp_path / "home" / "my-project"
    project.mkdir(parents=True)
    (project / "requirements.txt").write_text("idna==2.0\nrequests==2.32.3\nnumpy>=1.26\n", encoding="utf-8")
    return tmp_path


@pytest.fixture
def clone(checkout: Path) -> Path:
    """All of this checkout, for the pages that set it up."""
    ignored = shutil.ignore_patterns(".*", "__pycache__", "tests", "benchmarks")
    shutil.copytree(ROOT, checkout, ignore=ignored, dirs_exist_ok=True)
    shutil.rmtree(checkout / ".venv")
    return checkout


def run(command: Command, folder: Path, *, online: bool = False) -> tuple[int, str]:
    program, *arguments = shlex.split(command.text)
    # Without a shell: one redirection at the end, and the home folder.
    into = folder / arguments[-1] if arguments[-2:-1] == [">"] else None
    arguments = [re.sub(r"^~", str(folder / "home"), word) for word in (arguments[:-2] if into else arguments)]
    allowed = ("envdoctor", *PYTHONS, *OTHER_PROGRAMS, *(("sh",) if online else ()))
    assert program in allowed, f"{command.where}: `{program}` is not run by this test"
    if program in (*OTHER_PROGRAMS, "sh") and shutil.which(program) is None:
        pytest.skip(f"needs {program}")
    starts = {"envdoctor": [sys.executable, "-m", "envdoctor"], **{key: [sys.executable] for key in PYTHONS}}
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("ENVDOCTOR_", "GITHUB_", "CI_"))}
    environment = {
        **kept,
        "COLUMNS": "80",
        "PYTHONUTF8": "1",
        "ENVDOCTOR_CACHE_DIR": str(folder / "cache"),
    }
    if not online:
        # Nothing here may ask an index: a command that does fails at once.
        environment["ENVDOCTOR_INDEX_URL"] = "http://127.0.0.1:9/simple/"
    done = subprocess.run(
        [*starts.get(program, [program]), *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        encoding="utf-8",
        timeout=600,
        check=False,
    )
    if into is not None:
        into.write_text(done.stdout, encoding="utf-8")
        return done.returncode, done.stderr
    return done.returncode, done.stderr + done.stdout


def check_said(command: Command, code: int, said: str) -> None:
    assert "Traceback (most recent call last)" not in said, f"{command.where}:\n{said}"
    allowed = (0, 1) if command.exits is None else (command.exits,)
    assert code in allowed, f"{command.where}: exit code {code}\n{said}"
    if command.expected:
        message = f"{command.where}: the page does not show what is said:\n{said}"
        assert pattern(command.expected).match(said), message


def pattern(expected: list[str]) -> re.Pattern[str]:
    """Return the output as shown, ``...`` standing for anything."""
    parts = [re.escape(line.rstrip()).replace(r"\.\.\.", r"[\s\S]*?") for line in expected]
    return re.compile(r"\s*" + r"[^\S\n]*\n".join(parts).replace(r"[\s\S]*?[^\S\n]*\n", r"[\s\S]*?") + r"\s*\Z")


@pytest.mark.parametrize("page", WITH_COMMANDS, ids=name)
def test_docs_shown_commands_do_what_the_page_says(page: Path, checkout: Path) -> None:
    for command in shown(page):
        if command.needs is None:
            check_said(command, *run(command, checkout))


@pytest.mark.online
@pytest.mark.parametrize("page", ONLINE, ids=name)
def test_docs_shown_commands_that_need_an_index_do_what_the_page_says(page: Path, clone: Path) -> None:
    for command in shown(page):
        # `. activate` changes the shell that it is typed in; here `envdoctor` is found without it.
        if command.needs == NETWORK and not command.text.startswith(". "):
            check_said(command, *run(command, clone, online=True))


# The reference is written from rules and advisories: what it shows are remedies and samples of output.
@pytest.mark.parametrize("page", [page for page in PAGES if page.parent.name != "reference"], ids=name)
def test_docs_show_commands_only_where_they_are_run(page: Path) -> None:
    assert not list(loose(page))


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_docs_mentioned_commands_exist(page: Path) -> None:
    commands = [*mentioned(page), *(command for command in shown(page) if command.text.startswith("envdoctor "))]
    wrong = {command.where: found for command in commands if (found := faults(command.text))}
    assert not wrong


def test_docs_commands_of_help_exist() -> None:
    from envdoctor.cli.verb_list import VERBS

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
    targets = re.findall(r"\]\((?!https?:)([^)#\s]*)(?:#([^)\s]*))?\)", text)
    missing = [target for target, _ in targets if target and not (page.parent / target).exists()]
    assert not missing
    ends = [(page.parent / target if target else page, fragment) for target, fragment in targets if fragment]
    lost = [f"{end.name}#{fragment}" for end, fragment in ends if fragment not in anchors(end)]
    assert not lost


def anchors(page: Path) -> set[str]:
    """Return the fragments by which a page's headings, and what it marks by hand, are linked to."""
    text = page.read_text(encoding="utf-8")
    headings = re.findall(r"^#+ +(.*?)\s*$", text, flags=re.MULTILINE)
    bare = (re.sub(r"[^\w -]", "", heading.casefold()).replace(" ", "-") for heading in headings)
    return {*bare, *re.findall(r'<a (?:id|name)="([^"]+)"', text)}


def test_docs_say_why_a_command_is_not_run() -> None:
    commands = [command for page in PAGES for command in shown(page)]
    assert commands
    assert all(command.needs != "" for command in commands)
    by_page = {page: list(group) for page, group in groupby(commands, key=lambda command: command.page)}
    assert sum(command.needs is None for command in by_page[ROOT / "docs" / "tutorial.md"]) >= 8


def test_docs_every_verb_is_run_for_some_page() -> None:
    from envdoctor.cli.verb_list import VERBS

    ran = {
        command.text.split()[1]
        for page in PAGES
        for command in shown(page)
        if command.needs in (None, NETWORK)
        if command.text.startswith("envdoctor ")
    }
    assert set(VERBS) - ran == set()
