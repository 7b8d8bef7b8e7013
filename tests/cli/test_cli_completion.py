"""What each shell is offered when the tab key is pressed, by the protocol that its completion script speaks."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = str(Path(sys.executable).with_name("envdoctor.exe" if os.name == "nt" else "envdoctor"))
SHELLS = ("bash", "zsh", "fish", "powershell")


def offered(shell: str, line: str) -> list[str]:
    """Return the words that are offered at the end of a line."""
    words = line.split(" ")
    asked = {
        "_ENVDOCTOR_COMPLETE": f"complete_{shell}",
        "COMP_WORDS": line,
        "COMP_CWORD": str(len(words) - 1),
        "_TYPER_COMPLETE_ARGS": line,
        "_TYPER_COMPLETE_FISH_ACTION": "get-args",
        "_TYPER_COMPLETE_WORD_TO_COMPLETE": words[-1],
    }
    done = subprocess.run(
        [PROGRAM], env={**os.environ, **asked}, capture_output=True, text=True, encoding="utf-8", check=False
    )
    assert done.stderr == ""
    lines = done.stdout.splitlines()
    if shell == "zsh":
        return [text.removeprefix("_arguments '*: :((").split('"')[1] for text in lines if '"' in text]
    return [text.partition("\t")[0].partition(":::")[0] for text in lines]


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("envdoctor comp", ["compare"]),
        ("envdoctor check --prof", ["--profile"]),
        ("envdoctor check . --profile rvc", ["rvc-rocm-windows", "rvc-zluda"]),
        ("envdoctor lock -p diffrhythm2-w", ["diffrhythm2-wsl2"]),
        ("envdoctor profiles show kok", ["kokoro-coreml"]),
        ("envdoctor profiles val", ["validate"]),
        ("envdoctor rule RES00", [f"RES00{number}" for number in (1, 2)]),
        ("envdoctor rule source-o", ["source-only"]),
        ("envdoctor check --fail-on ", ["error", "warning", "never"]),
    ],
)
def test_words_are_offered(shell: str, line: str, words: list[str]) -> None:
    found = offered(shell, line)
    assert found[: len(words)] == words


@pytest.mark.parametrize("arguments", [[], ["check", "--help"]])
def test_what_powershell_leaves_behind_once_it_has_completed_changes_nothing(arguments: list[str]) -> None:
    # Its script ends with `$Env:_ENVDOCTOR_COMPLETE = ""`, which from PowerShell 7.5 on sets an empty value.
    without = {name: value for name, value in os.environ.items() if name != "_ENVDOCTOR_COMPLETE"}
    before, after = (
        subprocess.run([PROGRAM, *arguments], env=each, capture_output=True, text=True, encoding="utf-8", check=True)
        for each in (without, {**without, "_ENVDOCTOR_COMPLETE": ""})
    )
    assert after.stdout == before.stdout


def test_every_option_takes_one_line_whatever_its_help_says() -> None:
    found = offered("fish", "envdoctor check --")
    assert all(word.startswith("--") for word in found)
    assert "--profile" in found


@pytest.mark.skipif(os.name == "nt" or shutil.which("bash") is None, reason="needs bash")
def test_the_script_for_bash_completes_a_command_line() -> None:
    script = """
        eval "$(envdoctor --show-completion)"
        COMP_WORDS=(envdoctor lock --profile comfyui-x); COMP_CWORD=3
        _envdoctor_completion envdoctor; echo "${COMPREPLY[*]}"
    """
    path = f"{Path(PROGRAM).parent}{os.pathsep}{os.environ['PATH']}"
    argv = ["bash", "-c", script]
    done = subprocess.run(argv, env={**os.environ, "PATH": path}, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("comfyui-xpu\n", "")


def test_to_install_it_for_a_powershell_that_is_not_there_is_told_in_a_line(tmp_path: Path) -> None:
    asked = {"PATH": str(tmp_path), "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    done = subprocess.run(
        [PROGRAM, "--install-completion", "pwsh"],
        env={**os.environ, **asked},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr.startswith("error: PowerShell, which knows where its profile lies, is not on the path;")
