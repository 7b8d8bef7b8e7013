"""Putting aside what a person has done in an environment, where it cannot simply be renamed."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

import pytest

from envdoctor.adapters.apply import removal
from envdoctor.model.event import EventKind, TreatmentEvent
from envdoctor.render.treatment_text import event_text


def _environment(root: Path) -> Path:
    environment = root / ".venv"
    (environment / "data/deep").mkdir(parents=True)
    (environment / "data/deep/a").write_text("a", encoding="utf-8")
    (environment / "note").write_text("mine", encoding="utf-8")
    return environment


def test_what_lies_on_another_disk_is_put_aside_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An environment may be a volume of its own, and the folder beside it is another one's."""
    environment, aside = _environment(tmp_path), tmp_path / "kept"

    def refuse(source: Path, target: Path) -> None:
        raise OSError(errno.EXDEV, os.strerror(errno.EXDEV), str(source), None, str(target))

    monkeypatch.setattr(os, "rename", refuse)
    monkeypatch.setattr(Path, "replace", refuse)
    kept: dict[str, list[str]] = {}
    for name in ("data", "note"):
        removal.put_aside(environment, name, aside, kept)
    assert kept == {str(aside): ["data", "note"]}
    assert (aside / "data/deep/a").read_text(encoding="utf-8") == "a"
    assert (aside / "note").read_text(encoding="utf-8") == "mine"
    assert not list(environment.iterdir())


@pytest.mark.skipif(os.name == "nt", reason="folders have no such mode there")
def test_a_folder_that_nobody_may_write_in_is_put_aside_with_its_mode(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    environment, aside = _environment(tmp_path), tmp_path / "kept"
    (environment / "data").chmod(0o555)
    rename = Path.replace

    def as_a_plain_user(source: Path, target: Path) -> Path:
        if source.is_dir() and not source.stat().st_mode & stat.S_IWUSR:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(source))
        return rename(source, target)

    monkeypatch.setattr(Path, "replace", as_a_plain_user)
    removal.put_aside(environment, "data", aside, {})
    assert stat.S_IMODE((aside / "data").stat().st_mode) == 0o555
    assert (aside / "data/deep/a").is_file()
    assert not (environment / "data").exists()


def test_a_name_with_a_line_end_makes_no_line_of_its_own() -> None:
    event = TreatmentEvent(EventKind.KEPT, "kept", names=("a\nerror: not said by anybody",))
    assert event_text(event).splitlines() == [
        "note: what was changed after the fix is kept in `kept`: `a error: not said by anybody`"
    ]
