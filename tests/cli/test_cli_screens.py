"""Every screen at four widths: what it says, in words, and that it fits. No network."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from song_maker import EXAMPLE

ROOT = Path(__file__).parents[2]
STACK = ("--profile", "diffrhythm2-directml", "--recorded-index", "recorded-index")
WIDTHS = (60, 80, 120, 200)
SCREENS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "first": ((), ("Three things to type:", "envdoctor check --env .venv", "Show a repair as a diff")),
    "check broken": (
        ("check", *STACK),
        ("✖ broken - 2 conflicts", "these cannot be installed together", "requirements.txt:2", "next: envdoctor lock"),
    ),
    "check unknown": (("check", "other", "--offline"), ("? unknown", "offline and not in the cache", "incomplete:")),
    "check listing": (("check", "--installed", "freeze.txt", "--offline"), ("was not built for `torch` 2.4.1",)),
    "explain conflict": (
        ("explain", "C1", *STACK),
        ("versions of torch-directml that were tried", "0.2.1.dev240521", "any one of these lines may go"),
    ),
    "explain package": (
        ("explain", "torch", *STACK, "--color", "always"),
        ("wanted by", "who wanted another", "torch 2.4.1"),
    ),
    "repair": (("repair", *STACK), ("-torch==2.7", "+torch==2.4.1", "--write changes")),
    "lock": (("lock", "--check", *STACK), ("the lock takes repair R1", "is missing", "next: envdoctor lock .")),
    "lock refused": (
        ("lock", "--no-repair", *STACK),
        ("`torch==2.7` (requirements.txt:2)", "cannot be installed together"),
    ),
    "fix": (
        ("fix", "--dry-run", "-p", "diffrhythm2-directml"),
        ("cannot connect", "more cannot be locked: index default"),
    ),
    "undo": (("undo", "--list"), ("no fixes",)),
    "host": (("host",), ("host:", "system", "python", "cards")),
    "rules": (("rule", "--color", "always"), ("RES102", "source-only", "A package without a wheel")),
    "rule": (("rule", "RES102", "--color", "always"), ("What it does", "Why is this bad")),
    "profiles": (("profiles", "list", "--color", "always"), ("xtts-zluda", "windows x86_64, zluda")),
    "profile": (("profiles", "show", "kokoro-coreml", "--color", "always"), ("kokoro-coreml", "requires[0]")),
    "kernels": (("smoke", "--list", "--color", "always"), ("gemm-float32", "float32 rounds at")),
    "compare": (("compare", "works.txt", "freeze.txt"), ("what matters", "package torch")),
    **{
        f"{verb} --help": ((verb, "--help"), ("Usage:", "Options"))
        for verb in ("check", "lock", "explain", "repair", "fix", "undo", "run", "host", "compare", "smoke", "rule")
    },
}
_ESCAPES = re.compile(r"\x1b\[[0-9;]*m|\x1b\]8;[^\x1b]*\x1b\\")
# A command, an address, a path and a line of a diff are copied: a break would change them. Notes are wrapped by the
# terminal.
_WHOLE = re.compile(r"^(?:next|    as a diff): |^(?:note|error|refused [^:]*): |^[-+@ ]|https?://|\S{45,}")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    project = Path(shutil.copytree(EXAMPLE, tmp_path_factory.mktemp("screens") / "song-maker"))
    for name in ("works.txt", "freeze.txt"):
        shutil.copyfile(ROOT / "docs" / "examples" / name, project / name)
    (project / "other").mkdir()
    (project / "other" / "requirements.txt").write_text("idna\n", encoding="utf-8")
    return project


def screen(folder: Path, arguments: tuple[str, ...], width: int) -> str:
    environment = {
        **{key: value for key, value in os.environ.items() if not key.startswith(("ENVDOCTOR_", "GITHUB_", "CI_"))},
        "COLUMNS": str(width),
        "PYTHONUTF8": "1",
        "ENVDOCTOR_CACHE_DIR": str(folder / "cache"),
        "ENVDOCTOR_INDEX_URL": "http://127.0.0.1:9/simple/",
    }
    done = subprocess.run(
        [sys.executable, "-m", "envdoctor", *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    assert "Traceback" not in done.stderr
    return _ESCAPES.sub("", done.stdout + done.stderr)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", SCREENS)
def test_a_screen_says_its_words_and_fits(name: str, width: int, folder: Path) -> None:
    arguments, words = SCREENS[name]
    text = screen(folder, arguments, width)
    flat = " ".join(text.split())
    for word in words:
        assert " ".join(word.split()) in flat, text
    wide = [line for line in text.splitlines() if len(line) > width and not _WHOLE.search(line)]
    assert not wide, "\n".join(wide)
    typed = " ".join(("envdoctor", *arguments))
    commands = [line.partition(": ")[2] for line in text.splitlines() if line.startswith("next: ")]
    assert len(commands) <= 1
    assert typed not in commands


@pytest.mark.parametrize(("width", "lines"), [(60, 28), (80, 24), (120, 24)])
def test_the_first_screen_is_one_screen(width: int, lines: int, folder: Path) -> None:
    assert len(screen(folder, (), width).splitlines()) <= lines


def test_a_conflict_is_explained_beyond_what_check_says(folder: Path) -> None:
    checked = screen(folder, ("check", *STACK), 80)
    explained = screen(folder, ("explain", "C1", *STACK), 80)
    said = {line.strip() for line in explained.splitlines()} - {line.strip() for line in checked.splitlines()}
    assert len(said) > 8
    # What it resolves to is another question.
    assert "attrs 26.1.0" not in explained
