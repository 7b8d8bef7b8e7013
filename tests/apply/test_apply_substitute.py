"""A known substitute: another distribution with the same module, in lock, fix, check and undo."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from apply_archives import Served, as_index, make_sdist, make_wheel, serve
from apply_commands import HEAD
from apply_world import BASE, site_of, tree_state
from packaging.version import Version

from envdoctor.cli.main import main
from envdoctor.diagnose.wheel_facts import shipped_wheel_facts

pytestmark = pytest.mark.usefixtures("quiet_machine")
_NEW = make_wheel("webrtcvad-wheels", "2.0.14", {"webrtcvad.py": "NEW = True\n"})
_OLD = make_wheel("webrtcvad", "2.0.10", {"webrtcvad.py": "NEW = False\n"})
_USER = make_wheel("voices", "1.0", {"voices.py": "import webrtcvad\n"}, requires=("webrtcvad>=2",))
_PROFILE = f"""{HEAD}
[[exclude]]
name = "webrtcvad"
instead = "webrtcvad-wheels"
because = "it has no wheel"
"""


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    with serve(as_index(_NEW, _OLD, _USER)) as it:
        yield it


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "requirements.txt").write_text("webrtcvad==2.0.10\nvoices\n", encoding="utf-8")
    return folder


def call(verb: str, folder: Path, served: Served, *more: str) -> int:
    return main([verb, str(folder), "--index-url", f"{served.url}simple/", *more])


def test_the_option_takes_it_the_lock_keeps_it_and_undo_takes_it_back(
    folder: Path, served: Served, capsys: pytest.CaptureFixture[str]
) -> None:
    before = tree_state(folder)
    assert call("fix", folder, served, "--python", BASE, "--yes") == 0
    assert (site_of(folder / ".venv") / "webrtcvad.py").read_text() == "NEW = False\n"
    plain = tree_state(folder)
    assert call("fix", folder, served, "--yes", "--substitute", "webrtcvad") == 0
    site = site_of(folder / ".venv")
    assert (site / "webrtcvad.py").read_text() == "NEW = True\n"
    assert not list(site.glob("webrtcvad-2.0.10*"))
    assert main(["undo", "--env", str(folder / ".venv"), "--project", str(folder)]) == 0
    assert tree_state(folder) == plain
    assert main(["undo", "--env", str(folder / ".venv"), "--project", str(folder)]) == 0
    assert tree_state(folder) == before

    assert call("lock", folder, served, "--substitute", "webrtcvad") == 0
    text = (folder / "pylock.toml").read_text()
    assert 'name = "webrtcvad-wheels"' in text
    assert 'name = "webrtcvad"\n' not in text
    assert "--substitute webrtcvad" in text
    assert call("lock", folder, served, "--check") == 0
    capsys.readouterr()
    assert call("check", folder, served) == 0
    assert "`webrtcvad-wheels` has wheels and the same module" in " ".join(capsys.readouterr().out.split())


def test_a_profile_takes_it_where_it_is_asked_for_and_has_a_wheel(folder: Path, served: Served) -> None:
    (folder / "small.toml").write_text(_PROFILE, encoding="utf-8")
    named = ("--profile", str(folder / "small.toml"))
    assert call("lock", folder, served, *named) == 0
    assert 'name = "webrtcvad-wheels"' in (folder / "pylock.small.toml").read_text()
    (folder / "requirements.txt").write_text("six\n", encoding="utf-8")
    (folder / "pylock.small.toml").unlink()
    with serve(as_index(_NEW, make_wheel("six", "1.17", {"six.py": ""}))) as other:
        assert call("lock", folder, other, *named) == 0
    assert "webrtcvad" not in (folder / "pylock.small.toml").read_text()
    (folder / "requirements.txt").write_text("webrtcvad==2.0.10\n", encoding="utf-8")
    (folder / "pylock.small.toml").unlink()
    with serve(as_index(_OLD)) as other:
        assert call("lock", folder, other, *named) == 0
    assert 'name = "webrtcvad"\n' in (folder / "pylock.small.toml").read_text()


def test_a_profile_takes_it_where_a_dependency_asks_for_it_too(
    folder: Path, served: Served, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "small.toml").write_text(_PROFILE, encoding="utf-8")
    (folder / "requirements.txt").write_text("voices\n", encoding="utf-8")
    named = ("--profile", str(folder / "small.toml"))
    for again in ("", "from the lock"):
        assert call("lock", folder, served, *named) == 0, again
        text = (folder / "pylock.small.toml").read_text()
        assert 'name = "webrtcvad-wheels"' in text
        assert 'name = "webrtcvad"\n' not in text
    assert call("lock", folder, served, *named, "--check") == 0
    capsys.readouterr()
    assert main(["explain", str(folder), "webrtcvad-wheels", *named, "--index-url", f"{served.url}simple/"]) == 0
    assert "voices 1.0: webrtcvad-wheels (in place of webrtcvad)" in capsys.readouterr().out
    assert call("repair", folder, served, *named) == 1
    asked = "leave `webrtcvad` out and take `webrtcvad-wheels` although voices 1.0 asks for `webrtcvad>=2`"
    assert asked in " ".join(capsys.readouterr().err.split())
    assert call("fix", folder, served, *named, "--python", BASE, "--yes", "--no-smoke") == 0
    site = site_of(folder / ".venv")
    assert (site / "webrtcvad.py").read_text() == "NEW = True\n"
    capsys.readouterr()
    assert main(["check", str(folder), *named, "--env", str(folder / ".venv")]) == 0


def test_what_has_no_known_substitute_is_told_with_those_that_have(
    folder: Path, served: Served, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call("lock", folder, served, "--substitute", "voices") == 2
    assert "no substitute is known for `voices`; there are: " in capsys.readouterr().err


def test_a_plan_that_builds_offers_it(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name, data = make_sdist()
    sdist = (name.replace("delta", "webrtcvad"), data)
    (folder / "requirements.txt").write_text("webrtcvad\n", encoding="utf-8")
    with serve(as_index(sdist, _NEW)) as index:
        assert call("fix", folder, index, "--python", BASE, "--dry-run") == 0
    assert "`webrtcvad` is built from source; `webrtcvad-wheels` has wheels" in capsys.readouterr().out
    need = shipped_wheel_facts().build_need("webrtcvad", Version("2.0.10"))
    assert need is not None
    # `check`, which shows it, has no such option.
    verbs = "`envdoctor lock --substitute webrtcvad` takes it, as `envdoctor fix` does with that option"
    assert need.way_around.endswith(f"; {verbs}")


def test_a_repair_writes_it_into_the_file_and_undo_takes_it_back(
    folder: Path, served: Served, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "requirements.txt").write_text("webrtcvad==2.0.10\n", encoding="utf-8")
    (profile := tmp_path / "mine.toml").write_text(_PROFILE, encoding="utf-8")
    assert call("repair", folder, served, "--profile", str(profile), "--write") == 0
    assert (folder / "requirements.txt").read_text(encoding="utf-8") == "webrtcvad-wheels\n"
    assert main(["undo", "--project", str(folder)]) == 0
    assert (folder / "requirements.txt").read_text(encoding="utf-8") == "webrtcvad==2.0.10\n"
