"""The hooks under the real pre-commit, in a real git repository that uses a local clone of ours."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BOTH = ("envdoctor-check", "envdoctor-lock-check")
FREE = "idna==3.10\nrequests==2.32.3\n"
CLASH = "idna==2.0\nrequests==2.32.3\n"

pytestmark = [
    pytest.mark.online,
    pytest.mark.skipif(shutil.which("git") is None, reason="needs git"),
    pytest.mark.skipif(not (ROOT / ".git").exists(), reason="needs a git checkout of envdoctor to clone"),
]


def run(command: list[str], folder: Path, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, cwd=folder, env=env, capture_output=True, encoding="utf-8", errors="replace", timeout=600, check=False
    )


@dataclass
class Repository:
    """A user's repository whose hooks come from a snapshot of this checkout."""

    path: Path
    env: dict[str, str]

    def git(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return run(["git", *arguments], self.path, self.env)

    def commit(self, files: dict[str, str]) -> subprocess.CompletedProcess[str]:
        """Write the files and commit them; the output holds what the hooks said."""
        for name, text in files.items():
            (self.path / name).write_text(text, encoding="utf-8")
        assert self.git("add", "--all").returncode == 0
        return self.git("commit", "--message", "change")

    def take_back(self) -> None:
        assert self.git("reset", "--quiet", "--hard").returncode == 0

    def tool(self, module: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        return run([sys.executable, "-m", module, *arguments], self.path, self.env)

    def with_cache(self, folder: Path) -> Repository:
        return Repository(self.path, {**self.env, "ENVDOCTOR_CACHE_DIR": str(folder)})


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """An environment in which git and pre-commit see nothing of the user's own settings."""
    folder = tmp_path_factory.mktemp("home")
    identity = {
        f"GIT_{who}_{what}": value
        for who in ("AUTHOR", "COMMITTER")
        for what, value in (("NAME", "A Person"), ("EMAIL", "person@example.com"))
    }
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "PRE_COMMIT"))}
    return {
        **kept,
        **identity,
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "PRE_COMMIT_HOME": str(folder / "pre-commit"),
        "ENVDOCTOR_CACHE_DIR": str(folder / "cache"),
        "PATH": str(Path(sys.executable).parent) + os.pathsep + os.environ["PATH"],
    }


@pytest.fixture(scope="module")
def ours(tmp_path_factory: pytest.TempPathFactory, home: dict[str, str]) -> Path:
    """A repository with one commit: this checkout as it stands, with what is not committed yet."""
    copy = tmp_path_factory.mktemp("ours") / "envdoctor"
    copy.mkdir()
    listing = run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], ROOT, home)
    for name in filter(None, listing.stdout.split("\0")):
        source = ROOT / name
        if source.is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, copy / name)
    for command in (["init", "--quiet"], ["add", "--all", "--force"], ["commit", "--quiet", "--message", "snapshot"]):
        done = run(["git", *command], copy, home)
        assert done.returncode == 0, done.stderr
    return copy


@pytest.fixture(scope="module")
def theirs(tmp_path_factory: pytest.TempPathFactory, ours: Path, home: dict[str, str]) -> Repository:
    """A repository with installed hooks, a lock, and a filled cache."""
    pytest.importorskip("pre_commit", reason="needs pre-commit (the test group brings it)")
    repository = Repository(tmp_path_factory.mktemp("theirs"), home)
    assert repository.git("init", "--quiet").returncode == 0
    revision = run(["git", "rev-parse", "HEAD"], ours, home).stdout.strip()
    hooks = "".join(f"      - id: {name}\n" for name in (*BOTH, "envdoctor-fetch"))
    configuration = f"repos:\n  - repo: {ours.as_uri()}\n    rev: {revision}\n    hooks:\n{hooks}"
    (repository.path / ".pre-commit-config.yaml").write_text(configuration, encoding="utf-8")
    (repository.path / "requirements.txt").write_text(FREE, encoding="utf-8")
    (repository.path / "pyproject.toml").write_text('[tool.envdoctor]\ntarget-python = "3.11"\n', encoding="utf-8")
    for command in (["pre_commit", "install", "--install-hooks"], ["envdoctor", "lock", "--quiet"]):
        done = repository.tool(*command)
        assert done.returncode == 0, done.stdout + done.stderr
    first = repository.commit({})
    assert first.returncode == 0, first.stdout + first.stderr
    return repository


def test_hooks_a_commit_that_touches_nothing_relevant_runs_neither(theirs: Repository) -> None:
    done = theirs.commit({"notes.md": "nothing that asks for packages\n"})
    assert done.returncode == 0
    assert (done.stdout + done.stderr).count("(no files to check)Skipped") == len(BOTH)


def test_hooks_refuse_a_commit_that_adds_a_conflict_and_let_the_mended_one_pass(theirs: Repository) -> None:
    # The developer has looked at this project before; the hook itself asks no index.
    (theirs.path / "requirements.txt").write_text(CLASH, encoding="utf-8")
    theirs.tool("envdoctor", "check", "--quiet")
    refused = theirs.commit({"requirements.txt": CLASH})
    said = refused.stdout + refused.stderr
    assert refused.returncode == 1
    assert "envdoctor check" in said
    assert "these cannot be installed together" in said
    assert "idna==2.0" in said
    assert "requirements.txt:1" in said
    assert "requests==2.32.3" in said
    mended = theirs.commit({"requirements.txt": FREE + "# mended\n"})
    assert mended.returncode == 0, mended.stdout + mended.stderr


def test_hooks_refuse_a_lock_that_is_not_what_would_be_written_now(theirs: Repository) -> None:
    changed = "idna==3.9\nrequests==2.32.3\n"
    (theirs.path / "requirements.txt").write_text(changed, encoding="utf-8")
    theirs.tool("envdoctor", "check", "--quiet")
    refused = theirs.commit({"requirements.txt": changed})
    said = refused.stdout + refused.stderr
    theirs.take_back()
    assert refused.returncode == 1
    assert "is not what would be written now" in said
    assert "envdoctor lock" in said


def test_hooks_on_a_fresh_machine_a_commit_that_the_lock_still_meets_passes(theirs: Repository, tmp_path: Path) -> None:
    elsewhere = theirs.with_cache(tmp_path / "empty")
    passed = elsewhere.commit({"requirements.txt": FREE + "# first commit on a fresh machine\n"})
    assert passed.returncode == 0, passed.stdout + passed.stderr


def test_hooks_say_when_they_cannot_know_and_one_command_mends_it(theirs: Repository, tmp_path: Path) -> None:
    elsewhere = theirs.with_cache(tmp_path / "empty")
    change = {"requirements.txt": FREE + "six==1.16.0\n"}
    refused = elsewhere.commit(change)
    said = refused.stdout + refused.stderr
    assert refused.returncode == 1
    assert "offline and not in the cache" in said
    assert "exit code: 3" in said
    assert "next: envdoctor check" in said
    filled = elsewhere.tool("pre_commit", "run", "--hook-stage", "manual", "envdoctor-fetch")
    assert filled.returncode == 0, filled.stdout + filled.stderr
    checked = elsewhere.tool("pre_commit", "run", "envdoctor-check")
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert elsewhere.tool("envdoctor", "lock", "--quiet", "--offline").returncode == 0
    passed = elsewhere.commit({})
    assert passed.returncode == 0, passed.stdout + passed.stderr
