"""No index hears of what a URL names: it is read where it lies."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest
from index_server import IndexServer

from envdoctor.cli.main import main


@pytest.mark.parametrize("system", ["macos", "linux"])
def test_no_index_is_asked_for_a_wheel_of_this_machine(server: IndexServer, tmp_path: Path, system: str) -> None:
    wheel = tmp_path / "mine-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as made:
        made.writestr("mine-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: mine\nVersion: 1.0\n")
        made.writestr("mine-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "requirements.txt").write_text(f"mine @ {wheel.as_uri()}\nother\n", encoding="utf-8")
    options = ("--index-url", server.url, "--target-os", system, "--target-arch", "x86_64", "--quiet")
    main(["check", str(tmp_path / "project"), *options])
    names = {path.rstrip("/").rpartition("/")[2] for path, _ in server.asked}
    assert names == {"other"}
