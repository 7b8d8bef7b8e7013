"""Subroutines of batch files: what they install counts where they are called, with those arguments."""

from __future__ import annotations

import pytest

from envdoctor.model.project import LeftOut

ONE_AND_TWO = "goto :eof\n:one\npip install a==1\ngoto :eof\n:two\npip install a==2\nexit /b 0\n"
INSTALL = "exit /b\n:inst\nset WHAT=%~1\npip install %1\nif errorlevel 1 exit /b 1\nexit /b 0\n"
CALLS = {
    "menu": (f"set /p c=Which: \nif %c%==1 call :one\nif %c%==2 call :two\n{ONE_AND_TWO}", ["a==1"]),
    "menu in brackets": (f'if "%c%"=="1" (call :one) else (call :two)\n{ONE_AND_TWO}', ["a==1"]),
    "branches": (
        f'if "%c%"=="1" (\n  call :one\n) else (\n  call :two\n)\npip install b\n{ONE_AND_TWO}',
        ["a==1", "b"],
    ),
    "card": (f"if %GPU%==amd call :one\nif %GPU%==nvidia call :two\n{ONE_AND_TWO}", ["a==2"]),
    "both": (f"call :one\npip install b\n@call :TWO\n{ONE_AND_TWO}", ["b", "a==2"]),
    "arguments": (f'call :inst a==1\ncall :inst "b>=2"\n{INSTALL}', ["a==1", "b>=2"]),
    "checked": (f"call :inst a || exit /b 1\ncall :inst b\n{INSTALL}", ["a", "b"]),
    "all arguments": ("call :i a b==2\nexit /b\n:i\npython -m pip install %*\n", ["a", "b==2"]),
    "missing argument": ("call :i a\nexit /b\n:i\npip install %1 %2 c\n", ["a", "c"]),
    "in a text": ("call :i 1 b\nexit /b\n:i\npip install a==%1 %~2\n", ["a==1", "b"]),
    "in one another": ("call :o a\nexit /b\n:o\ncall :i %1 b\nexit /b\n:i\npip install %1 %2\n", ["a", "b"]),
    "own branches": (
        'call :i\nexit /b\n:i\nif "%X%"=="1" (\npip install a==1\n) else (\npip install a==2\n)\n',
        ["a==1"],
    ),
    "where an install fails": (f"pip install b\nif errorlevel 1 call :one\n{ONE_AND_TWO}", ["b"]),
    "or else": (f"pip install b || call :inst a\ncall :inst c\n{INSTALL}", ["b", "c"]),
    "falls into it": ("call :i\npip install b\n:i\npip install a\n", ["b", "a"]),
    "jumps into it": ("call :i\ngoto i\n:i\npip install a\ngoto :eof\n", ["a"]),
    "itself": ("call :i\nexit /b\n:i\npip install a\ncall :i\n", ["a"]),
    "nobody calls it": ("pip install b\nexit /b\n:i\npip install a\n", ["b"]),
}


@pytest.mark.parametrize("name", CALLS)
def test_what_a_subroutine_installs_counts_where_it_is_called(read_files, name):
    text, asked = CALLS[name]
    project = read_files({"i.bat": text}, at="i.bat", target_backend="cuda")
    assert ([one.pep508 for one in project.requirements], project.unread) == (asked, ())


def test_what_another_choice_of_a_menu_calls_is_only_named(read_files):
    project = read_files({"i.bat": CALLS["menu"][0]}, at="i.bat")
    (left,) = project.left_out
    assert (left.path, left.reason, left.detail) == ("i.bat:9", LeftOut.BRANCH, "if %c%==2 pip install a==2")


def test_a_version_that_a_subroutine_gets_is_told_at_its_call(read_files):
    project = read_files({"i.bat": CALLS["arguments"][0]}, at="i.bat")
    assert [str(one.origin) for one in project.requirements] == ["i.bat:1", "i.bat:2"]
    assert [str(one.origin) for one in project.commands] == ["i.bat:6", "i.bat:6"]


def test_subroutines_that_double_each_other_end(read_files):
    steps = "".join(f":s{n}\ncall :s{n + 1}\ncall :s{n + 1}\nexit /b\n" for n in range(40))
    project = read_files({"i.bat": f"call :s0\nexit /b\n{steps}:s40\npip install a\n"}, at="i.bat")
    assert [one.pep508 for one in project.requirements] == ["a"]
