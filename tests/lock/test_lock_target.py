"""A lock speaks of the target that it was made for: what it accepts counts for no other."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from lock_index import LoopbackIndex

from envdoctor.cli.main import main
from envdoctor.lock.joined import join_locks, part_of
from envdoctor.lock.pylock_reader import locked_project, parse_lock, read_pylock
from envdoctor.lock.pylock_writer import lock_text
from envdoctor.model.target import Arch, Backend, OperatingSystem, Target

MADE_FOR = ["--target-os", "linux", "--target-arch", "x86_64", "--target-python", "3.11"]
LINUX = Target(OperatingSystem.LINUX, Arch.X86_64, (3, 11))
NAMED = {"backend_named": True}


@pytest.fixture
def locked(index: LoopbackIndex, project: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """A project whose one conflict its lock accepts, for Linux and Python 3.11."""
    index.wheel("gamma", "1.0", ("beta<2",))
    (project / "requirements.txt").write_text("gamma==1.0\nbeta==2.0\n", encoding="utf-8")
    assert main(["lock", str(project), *MADE_FOR, "--quiet"]) == 0
    capsys.readouterr()
    return project


def report(project: Path, capsys: pytest.CaptureFixture[str], *options: str) -> tuple[int, dict[str, Any]]:
    code = main(["check", str(project), *MADE_FOR, *options, "--format", "json", "--quiet"])
    return code, json.loads(capsys.readouterr().out)


def not_read(document: dict[str, Any]) -> list[dict[str, str]]:
    return [row for row in document["scope"]["not_read"] if row["path"] == "pylock.toml"]


def test_on_its_own_target_the_lock_accepts_the_conflict(locked: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, document = report(locked, capsys)
    assert (code, document["verdict"]) == (0, "healthy")
    assert not_read(document) == []


@pytest.mark.parametrize(
    "options",
    [
        ["--target-os", "windows"],
        ["--target-python", "3.12"],
        ["--target-arch", "arm64"],
        ["--target-backend", "directml"],
        ["--target-os", "macos", "--target-arch", "arm64"],
    ],
    ids=lambda options: options[1],
)
def test_on_another_target_it_accepts_nothing_and_is_named(
    locked: Path, capsys: pytest.CaptureFixture[str], options: list[str]
) -> None:
    code, document = report(locked, capsys, *options)
    assert (code, document["verdict"]) == (1, "broken")
    assert [finding["waived"] for finding in document["findings"] if finding["rule"] == "RES001"] == [None]
    (row,) = not_read(document)
    assert row["reason"] == "a lock for another target: linux x86_64, Python 3.11, no GPU backend named"


def test_readers_are_told_whose_lock_lies_there(locked: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["check", str(locked), *MADE_FOR, "--target-os", "windows"])
    said = " ".join(capsys.readouterr().out.split())
    assert "not read pylock.toml (a lock for another target: linux x86_64, Python 3.11, no GPU backend named)" in said


def test_a_lock_for_another_target_in_its_place_says_so(locked: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lock", str(locked), *MADE_FOR, "--target-python", "3.12"]) == 0
    said = capsys.readouterr().err
    made_for = "linux x86_64, Python 3.11, no GPU backend named"
    assert f"`pylock.toml` is a lock for {made_for}: nothing that it accepts counts here" in said
    assert main(["lock", str(locked), *MADE_FOR, "--target-python", "3.12"]) == 0
    assert "is a lock for" not in capsys.readouterr().err
    assert report(locked, capsys, "--target-python", "3.12")[0] == 0
    assert report(locked, capsys)[0] == 1


def test_a_lock_that_is_only_compared_takes_nobodys_place(locked: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = (locked / "pylock.toml").read_bytes()
    assert main(["lock", str(locked), *MADE_FOR, "--target-python", "3.12", "--check"]) == 1
    assert "one that is written here takes its place" in capsys.readouterr().err
    assert (locked / "pylock.toml").read_bytes() == before


@pytest.mark.parametrize("named", [["--target-backend", "cuda"], ["--gpu", "RTX 5080"]], ids=["named", "card"])
def test_where_nobody_names_a_backend_that_of_the_lock_is_kept(
    index: LoopbackIndex, locked: Path, capsys: pytest.CaptureFixture[str], named: list[str]
) -> None:
    def backend() -> str:
        read = parse_lock((locked / "pylock.toml").read_text(encoding="utf-8"), "pylock.toml")
        return read.targets[0]["backend"]

    assert main(["lock", str(locked), *MADE_FOR, *named, "--quiet"]) == 0
    assert backend() == "cuda"
    assert main(["lock", str(locked), *MADE_FOR, "--check"]) == 0
    (locked / "requirements.txt").write_text("gamma==1.0\nbeta==2.0\nalpha\n", encoding="utf-8")
    capsys.readouterr()
    assert main(["lock", str(locked), *MADE_FOR, "--check"]) == 1
    assert "--target-backend cuda" in capsys.readouterr().err
    assert main(["lock", str(locked), *MADE_FOR, "--format", "json", "--quiet"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["target"]["backend"], document["scope"]["target_from"]["backend"]) == ("cuda", "pylock.toml")
    assert backend() == "cuda"
    assert report(locked, capsys, "--target-backend", "cuda")[0] == 0
    assert main(["lock", str(locked), *MADE_FOR, "--target-backend", "cpu", "--quiet"]) == 0
    assert backend() == "cpu"
    assert main(["lock", str(locked), *MADE_FOR, "--target-python", "3.12", "--quiet"]) == 0
    assert backend() == "unknown"


def test_a_lock_without_a_target_names_no_backend_to_keep(locked: Path) -> None:
    text = 'lock-version = "1.0"\ncreated-by = "x"\npackages = []\n[tool.envdoctor]\nchosen = false\n'
    (locked / "pylock.toml").write_text(text, encoding="utf-8")
    assert main(["lock", str(locked), *MADE_FOR, "--quiet"]) == 0
    read = parse_lock((locked / "pylock.toml").read_text(encoding="utf-8"), "pylock.toml")
    assert read.targets[0]["backend"] == "unknown"


def test_the_backend_of_a_lock_is_not_kept_against_the_card(
    locked: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    windows = [*MADE_FOR, "--target-os", "windows"]
    assert main(["lock", str(locked), *windows, "--target-backend", "cuda", "--quiet"]) == 0
    assert main(["lock", str(locked), *windows, "--gpu", "RX 7900 XTX", "--quiet"]) == 0
    read = parse_lock((locked / "pylock.toml").read_text(encoding="utf-8"), "pylock.toml")
    assert read.targets[0]["backend"] == "unknown"


def test_a_repair_that_was_chosen_for_one_target_is_nobodys_choice_on_another(
    index: LoopbackIndex, locked: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["lock", str(locked), *MADE_FOR, "--repair", "1", "--quiet"])
    assert parse_lock((locked / "pylock.toml").read_text(encoding="utf-8"), "pylock.toml").chosen
    assert main(["lock", str(locked), *MADE_FOR, "--target-python", "3.12", "--quiet"]) == 0
    assert not parse_lock((locked / "pylock.toml").read_text(encoding="utf-8"), "pylock.toml").chosen


def test_versions_are_kept_across_targets(
    index: LoopbackIndex, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["lock", str(project), *MADE_FOR, "--quiet"]) == 0
    index.wheel("alpha", "3.0")
    assert main(["lock", str(project), *MADE_FOR, "--target-python", "3.12", "--quiet"]) == 0
    read = parse_lock((project / "pylock.toml").read_text(encoding="utf-8"), "pylock.toml")
    assert {name: str(version) for name, version in read.versions.items()} == {"alpha": "2.0", "beta": "2.0"}


TABLE = """lock-version = "1.0"
created-by = "x"
packages = []
[tool.envdoctor.target]
os = "linux"
arch = "x86_64"
python = "3.11"
backend = "{}"
"""


@pytest.mark.parametrize(
    ("made", "target", "is_for"),
    [
        ("unknown", LINUX, True),
        ("unknown", replace(LINUX, backend=Backend.CUDA), True),
        ("cpu", replace(LINUX, backend=Backend.CUDA), True),
        ("cuda", LINUX, True),
        ("unknown", replace(LINUX, backend=Backend.CUDA, **NAMED), False),
        ("cuda", replace(LINUX, backend=Backend.CUDA, **NAMED), True),
        ("cuda", replace(LINUX, backend=Backend.CPU, **NAMED), False),
        ("cuda", replace(LINUX, arch=Arch.AARCH64), False),
    ],
)
def test_what_drives_the_cards_counts_where_somebody_names_it(made: str, target: Target, is_for: bool) -> None:
    assert parse_lock(TABLE.format(made), "pylock.toml").is_for(target) is is_for


def test_a_profiles_other_pythons_are_asked_for_by_name(locked: Path) -> None:
    read = parse_lock((locked / "pylock.toml").read_text(encoding="utf-8"), "pylock.toml")
    assert read.is_for(replace(LINUX, python=(3, 10)), [(3, 10), (3, 11)])
    assert not read.is_for(replace(LINUX, python=(3, 10)), [(3, 10)])


def test_a_joined_lock_is_for_each_of_its_targets_and_no_other(
    locked: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["lock", str(locked), *MADE_FOR, "--target-os", "windows", "--output-dir", str(tmp_path / "w"), "--quiet"])
    paths = [locked / "pylock.toml", tmp_path / "w" / "pylock.toml"]
    joined = join_locks({str(path): read_pylock(path.read_text(encoding="utf-8"), str(path)) for path in paths})
    read = locked_project(joined, "pylock.all.toml")
    windows = replace(LINUX, os=OperatingSystem.WINDOWS)
    assert [read.is_for(each) for each in (LINUX, windows)] == [True, True]
    assert not read.is_for(replace(windows, arch=Arch.ARM64))
    assert not read.is_for(replace(LINUX, python=(3, 12)))


@pytest.mark.parametrize(
    ("lines", "on_linux", "on_windows"),
    [
        ("", True, True),
        ("environments = [\"sys_platform == 'win32'\"]", False, True),
        ("environments = [\"sys_platform == 'win32'\", \"sys_platform == 'linux'\"]", True, True),
        ('requires-python = ">=3.12"', False, False),
        ('requires-python = ">=3.11.4"', True, True),
        ("environments = [\"python_full_version >= '3.11.4'\"]", True, True),
        ("environments = [\"python_full_version >= '3.12'\"]", False, False),
        ("environments = [\"implementation_version > '3.11.0' and sys_platform == 'win32'\"]", False, True),
        ("environments = [\"platform_release >= '5'\"]", True, True),
        ("environments = [\"'Ubuntu' in platform_version and sys_platform == 'linux'\"]", True, False),
        ("environments = [\"platform_release == '5' and python_full_version < '3.11'\"]", False, False),
    ],
)
def test_a_lock_of_another_tool_is_for_what_it_names(lines: str, on_linux: bool, on_windows: bool) -> None:
    read = parse_lock(f'lock-version = "1.0"\ncreated-by = "other"\n{lines}\npackages = []\n', "pylock.toml")
    assert read.is_for(LINUX) is on_linux
    assert read.is_for(replace(LINUX, os=OperatingSystem.WINDOWS)) is on_windows


def test_a_known_patch_release_is_held_to_what_the_lock_names() -> None:
    lines = "environments = [\"python_full_version >= '3.11.4'\"]\npackages = []\n"
    read = parse_lock(f'lock-version = "1.0"\ncreated-by = "other"\n{lines}', "pylock.toml")
    assert not read.is_for(replace(LINUX, python_full="3.11.3"))
    assert read.is_for(replace(LINUX, python_full="3.11.4"))


@pytest.mark.parametrize("value", ["5 '", '"5"'])
def test_a_release_with_quotes_in_it_is_not_known_either(value: str) -> None:
    quote = '"' if "'" in value else "'"
    marker = json.dumps(f"platform_release == {quote}{value}{quote}")
    lines = f'lock-version = "1.0"\ncreated-by = "other"\nenvironments = [{marker}]\npackages = []\n'
    assert parse_lock(lines, "pylock.toml").is_for(LINUX)


OF_ANOTHER = '[[tool.envdoctor.overrides]]\nrequirement = "alpha==1.0"\nsets-aside = ["alpha==9 (delta 1.0)"]\n'


@pytest.mark.parametrize("overrides", ["", OF_ANOTHER], ids=["none", "of another project"])
def test_a_lock_without_an_override_of_a_conflict_is_not_said_to_hold_one(
    locked: Path, capsys: pytest.CaptureFixture[str], overrides: str
) -> None:
    packages = "".join(
        f'[[packages]]\nname = "{name}"\nversion = "{version}"\n[[packages.wheels]]\n'
        f'url = "http://index.example/{name}-{version}-py3-none-any.whl"\nhashes = {{sha256 = "00"}}\n'
        for name, version in (("beta", "2.0"), ("gamma", "1.0"))
    )
    text = TABLE.format("unknown").replace("packages = []\n", packages).replace('"x"', '"envdoctor 0.1"') + overrides
    (locked / "pylock.toml").write_text(text, encoding="utf-8")
    main(["check", str(locked), *MADE_FOR])
    said = capsys.readouterr().out
    assert "accepted by pylock.toml: it has what each of these lines asks for" in said
    assert "override recorded" not in said


def test_the_headline_says_that_the_conflict_is_accepted_and_by_what(
    locked: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    texts = {}
    for form in ("human", "markdown", "html", "github"):
        main(["check", str(locked), *MADE_FOR, "--format", form])
        texts[form] = capsys.readouterr().out
        assert "nothing open, 1 conflict accepted by pylock.toml" in texts[form].replace("\\.", ".")
    reason = "accepted by pylock.toml: an override recorded in the lock settles it"
    for form in ("human", "markdown", "html"):
        assert reason in texts[form].replace("\\.", ".")
    assert re.search(
        r'<article class="info" data-find="note"><h3>[^\n]*C1[^\n]*cannot be installed together', texts["html"]
    )


def test_what_is_open_is_counted_apart(index: LoopbackIndex, locked: Path, capsys: pytest.CaptureFixture[str]) -> None:
    index.wheel("delta", "1.0", ("alpha<2",))
    with (locked / "requirements.txt").open("a", encoding="utf-8") as file:
        file.write("alpha==2.0\ndelta==1.0\n")
    assert main(["check", str(locked), *MADE_FOR]) == 1
    assert "broken - 1 conflict, 1 conflict accepted by pylock.toml" in capsys.readouterr().out


def test_what_a_repair_alone_holds_is_wanted_by_the_repair(
    index: LoopbackIndex, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "requirements.txt").write_text("alpha==9\n", encoding="utf-8")
    main(["explain", str(project), "alpha"])
    said = capsys.readouterr().out
    assert "wanted by\n  repair R1, in place of what is set aside\n\nwho wanted another\n" in said
    (project / "requirements.txt").write_text("alpha==1.0\n", encoding="utf-8")
    main(["explain", str(project), "alpha"])
    assert "wanted by\n  requirements.txt:1: alpha==1.0\n" in capsys.readouterr().out


def test_a_joined_lock_in_the_projects_place_accepts_on_each_target_what_its_own_lock_does(
    index: LoopbackIndex, locked: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    windows = [*MADE_FOR, "--target-os", "windows"]
    index.wheel("delta", "1.0", ("beta<2 ; sys_platform != 'linux'",))
    (locked / "requirements.txt").write_text("delta\nbeta==2.0\n", encoding="utf-8")
    for options, folder in ((MADE_FOR, tmp_path / "l"), (windows, tmp_path / "w")):
        assert main(["lock", str(locked), *options, "--output-dir", str(folder), "--quiet"]) == 0
    paths = [tmp_path / "l" / "pylock.toml", tmp_path / "w" / "pylock.toml"]
    assert main(["lock", "--join", str(paths[0]), "--join", str(paths[1]), "--output-dir", str(tmp_path)]) == 0
    (locked / "pylock.toml").unlink()
    assert report(locked, capsys, "--target-os", "windows")[0] == 1
    (tmp_path / "pylock.all.toml").rename(locked / "pylock.toml")
    code, document = report(locked, capsys, "--target-os", "windows")
    assert (code, len(document["conflicts"])) == (0, 1)
    code, document = report(locked, capsys)
    assert (code, document["conflicts"]) == (0, [])
    assert main(["check", str(locked), *MADE_FOR, "--target-os", "macos", "--quiet"]) == 1


def test_the_part_of_a_joined_lock_is_the_lock_that_it_was_made_of(
    index: LoopbackIndex, locked: Path, tmp_path: Path
) -> None:
    index.wheel("native", "1.0", tag="cp311-cp311-manylinux_2_17_x86_64")
    index.wheel("native", "0.9", tag="cp311-cp311-win_amd64")
    (locked / "requirements.txt").write_text("gamma==1.0\nbeta==2.0\nnative\n", encoding="utf-8")
    windows = replace(LINUX, os=OperatingSystem.WINDOWS)
    locks = {}
    for target in (LINUX, windows):
        folder = tmp_path / target.os.value
        assert main(["lock", str(locked), *MADE_FOR, "--target-os", target.os.value, "--output-dir", str(folder)]) == 0
        locks[target] = read_pylock((folder / "pylock.toml").read_text(encoding="utf-8"), "pylock.toml")
    joined = read_pylock(lock_text(join_locks({each.os.value: lock for each, lock in locks.items()})), "pylock.toml")
    for target, lock in locks.items():
        whole, part = (locked_project(item, "pylock.toml") for item in (lock, part_of(joined, target)))
        assert (part.versions, part.overrides, part.set_aside) == (whole.versions, whole.overrides, whole.set_aside)
        assert part.overrides
        assert part.written == whole.written
    other = part_of(joined, replace(LINUX, arch=Arch.AARCH64))
    assert not locked_project(other, "pylock.toml").overrides


def test_the_index_of_a_cards_torch_stays_with_its_part_of_a_joined_lock(locked: Path) -> None:
    url = "https://index.example/whl/cu128"
    way = f'\n[tool.envdoctor.way]\nname = "cards"\nurl = "{url}"\npackages = ["torch"]\n'
    windows = replace(LINUX, os=OperatingSystem.WINDOWS)
    locks = {}
    for target, more in ((LINUX, way), (windows, "")):
        folder = locked / target.os.value
        main(["lock", str(locked), *MADE_FOR, "--target-os", target.os.value, "--output-dir", str(folder), "--quiet"])
        text = (folder / "pylock.toml").read_text(encoding="utf-8") + more
        locks[target.os.value] = read_pylock(text, "pylock.toml")
    joined = read_pylock(lock_text(join_locks(locks)), "pylock.toml")
    own, other = (locked_project(part_of(joined, each), "pylock.toml").way for each in (LINUX, windows))
    assert own is not None
    assert own.index is not None
    assert (own.index.name, own.index.url) == ("cards", url)
    assert other is None


def test_a_package_whose_marker_makes_no_sense_is_in_every_part_of_a_joined_lock() -> None:
    rows = "".join(
        f'[[tool.envdoctor.targets]]\nos = "{os}"\narch = "x86_64"\npython = "3.11"\nbackend = "unknown"\n'
        for os in ("linux", "windows")
    )
    text = (
        'lock-version = "1.0"\ncreated-by = "envdoctor 0.1"\n'
        "environments = [\"sys_platform == 'linux'\", \"sys_platform == 'win32'\"]\n"
        '[[packages]]\nname = "alpha"\nversion = "1.0"\nmarker = "os_name ~= \'posix\'"\n'
        f'directory = {{path = "."}}\n{rows}'
    )
    part = part_of(read_pylock(text, "pylock.toml"), LINUX)
    assert [package.name for package in part.packages] == ["alpha"]
    assert [str(marker) for marker in part.environments or ()] == ['sys_platform == "linux"']
