"""What differs between systems, with the system as an argument: none of this needs the other machine."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path, PureWindowsPath

import pytest

from envdoctor.adapters.apply import interpreters
from envdoctor.adapters.apply.interpreters import PythonFacts, python_of
from envdoctor.adapters.apply.paths import fault_of_relative
from envdoctor.adapters.apply.records import shell_scripts
from envdoctor.adapters.apply.snapshot import take_listing, touched_files
from envdoctor.model.target import Arch, OperatingSystem, Target
from envdoctor.verbs.environment_places import as_script, launcher
from envdoctor.verbs.this_machine import ThisMachine

AWKWARD = {"A": "it's", "B": "two words", "C": '$(touch x) `y` "z" %PATH%', "D": "", "E": "a\nb"}


def test_variables_come_out_of_a_posix_shell_as_they_went_in(tmp_path: Path) -> None:
    if sys.platform == "win32":
        pytest.skip("Windows has no POSIX shell")
    scripts = shell_scripts(AWKWARD, windows=False)
    assert list(scripts) == ["variables.sh"]
    (tmp_path / "variables.sh").write_text(scripts["variables.sh"])
    code = f"import os; print([os.environ[n] for n in {list(AWKWARD)!r}] == {list(AWKWARD.values())!r})"
    command = f". ./variables.sh && {shlex.quote(sys.executable)} -c {shlex.quote(code)}"
    done = subprocess.run(["sh", "-c", command], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == "True\n"
    assert [path.name for path in tmp_path.iterdir()] == ["variables.sh"]


def test_powershell_gets_single_quotes_doubled_also_the_typographic_ones() -> None:
    script = shell_scripts({"A": "it's", "B": "\u2019; calc #"}, windows=True)["variables.ps1"]
    assert script == "$env:A = 'it''s'\n$env:B = '\u2019\u2019; calc #'\n"


def test_a_launcher_for_windows_finds_its_environment_by_its_own_place() -> None:
    name, text = launcher(Path("unused"), r"C:\Program Files\100%\python.exe", windows=True)
    assert name == "run.cmd"
    assert text == '@"C:\\Program Files\\100%%\\python.exe" -m envdoctor run --env "%~dp0.." -- %*\r\n'


def test_a_launcher_for_a_shell_quotes_its_paths() -> None:
    name, text = launcher(Path("/it's here/env"), "/opt/my python", windows=False)
    assert name == "run"
    words = shlex.split(text.splitlines()[1])
    here = str(Path("/it's here/env"))
    assert words == ["exec", "/opt/my python", "-m", "envdoctor", "run", "--env", here, "--", "$@"]


def test_a_batch_file_is_written_as_the_console_reads_it() -> None:
    for name, encoding in (("J\u00f6rg", "cp850"), ("J\u00f6rg", "cp437"), ("Ann", "cp932")):
        text = launcher(Path("unused"), rf"C:\Users\{name}\python.exe", windows=True)[1]
        assert as_script(text, windows=True, of_console=encoding) == text.encode(encoding)
    text = launcher(Path("unused"), "C:\\\u4e2d\\python.exe", windows=True)[1]
    first, second = as_script(text, windows=True, of_console="cp850").decode("utf-8").splitlines()
    assert (first, second) == ("@chcp 65001 >nul", text.strip())
    assert as_script(text, windows=False) == text.encode("utf-8")


@pytest.mark.parametrize(
    "path", ["C:/x", "c:x", "\\\\server\\share\\x", "//server/x", "..\\x", "a\\..\\x", "a/.. /x", "a/. ./x", "a/.../x"]
)
def test_paths_that_lead_out_on_any_system_are_refused_on_every_one(path: str) -> None:
    assert fault_of_relative(path) is not None


@pytest.mark.parametrize("path", ["a/b.py", "./a", "a/..b/c", "a/b../c", ".hidden/x", "gr\u00f6\u00dfe.py"])
def test_plain_paths_are_fine(path: str) -> None:
    assert fault_of_relative(path) is None


@pytest.mark.parametrize("name", ["bin/python", "Scripts/python.exe", "python.exe"])
def test_an_interpreter_is_found_where_each_system_puts_it(tmp_path: Path, name: str) -> None:
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).touch()
    assert python_of(tmp_path) == tmp_path / name


def test_files_of_a_windows_environment_are_known_by_what_installers_write(tmp_path: Path) -> None:
    site = tmp_path / "Lib" / "site-packages"
    info = site / "six-1.0.dist-info"
    info.mkdir(parents=True)
    (tmp_path / "Scripts").mkdir()
    for path in (site / "six.py", tmp_path / "Scripts/six.exe", tmp_path / "letter.txt", site / "mine.py"):
        path.write_text("x")
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: six\nVersion: 1.0\n")
    (info / "RECORD").write_text("six.py,,\n../../Scripts/six.exe,,\nsix-1.0.dist-info/RECORD,,\n")
    facts = PythonFacts(
        executable="", version=(3, 11, 0), prefix="", base_prefix="", purelib=str(site), platlib=str(site),
        scripts=str(tmp_path / "Scripts"), data=str(tmp_path), pip=None, bundled_pip=None,
        makes_environments=False, managed=False,
    )  # fmt: skip
    names = touched_files(tmp_path, facts, take_listing(tmp_path), {"six"}, [("purelib", "new.py")])
    assert names == {
        "Lib/site-packages/six.py",
        "Lib/site-packages/six-1.0.dist-info/METADATA",
        "Lib/site-packages/six-1.0.dist-info/RECORD",
        "Scripts/six.exe",
    }


@pytest.mark.parametrize(
    ("platform", "machine", "system", "arch", "fits"),
    [
        ("win32", "AMD64", OperatingSystem.WINDOWS, Arch.X86_64, True),
        ("win32", "ARM64", OperatingSystem.WINDOWS, Arch.X86_64, False),
        ("darwin", "arm64", OperatingSystem.MACOS, Arch.ARM64, True),
        ("darwin", "x86_64", OperatingSystem.MACOS, Arch.ARM64, False),
        ("linux", "aarch64", OperatingSystem.LINUX, Arch.AARCH64, True),
        ("linux", "x86_64", OperatingSystem.WINDOWS, Arch.X86_64, False),
    ],
)
def test_only_the_targets_own_kind_of_machine_is_treated(
    monkeypatch: pytest.MonkeyPatch, platform: str, machine: str, system: OperatingSystem, arch: Arch, fits: bool
) -> None:
    monkeypatch.setattr("envdoctor.verbs.this_machine.sys.platform", platform)
    monkeypatch.setattr("envdoctor.verbs.this_machine.platform.machine", lambda: machine)
    word = ThisMachine(Path(), None).other_machine(Target(system, arch, (3, 11)))
    assert (word is None) == fits


def test_a_windows_path_in_a_variable_is_left_as_it_is() -> None:
    path = str(PureWindowsPath("C:/Users/Ann Bo/.venv"))
    assert shell_scripts({"P": path}, windows=True)["variables.ps1"] == f"$env:P = '{path}'\n"


def test_only_what_the_system_calls_a_program_is_asked_which_python_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A folder that two systems share, as under WSL or Wine, has programs for both.
    windows = sys.platform == "win32"
    shared = [tmp_path / "bin" / name for name in ("python3.9", "python3.9.exe")]
    managed = [tmp_path / "versions/3.9.1" / name for name in ("bin/python3.9", "python.exe")]
    for path in [*shared, *managed]:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    asked: list[Path] = []
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path))
    monkeypatch.setattr(interpreters, "ask_python", lambda executable: asked.append(Path(executable)))
    assert interpreters.find_python([(3, 9)]) is None
    assert [path for path in asked if tmp_path in path.parents] == [shared[windows], managed[windows]]
