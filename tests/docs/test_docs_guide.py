"""The contributor's guide names rooms and words that are there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "envdoctor"
GUIDE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
QUOTED = sorted(set(re.findall(r"`([^`\n]+)`", GUIDE)))
IGNORED = (ROOT / ".gitignore").read_text(encoding="utf-8").split()
PLACES = [
    text
    for text in QUOTED
    if re.fullmatch(r"[\w./*-]+(?:\.py|\.toml|/)", text) and "my-stack" not in text and text not in IGNORED
]
CLASSES = [text for text in QUOTED if re.fullmatch(r"(?:[A-Z][a-z]+){1,3}", text)]


@pytest.mark.parametrize("place", PLACES)
def test_a_room_that_the_guide_names_is_there(place: str) -> None:
    pattern = place.rstrip("/")
    at = [folder for folder in (ROOT, PACKAGE) if any(folder.glob(pattern))]
    assert at or any(PACKAGE.rglob(pattern)) or any((ROOT / "advisories").rglob(pattern)), place


@pytest.mark.parametrize("name", CLASSES)
def test_a_word_that_the_guide_explains_names_a_class_or_a_type(name: str) -> None:
    pattern = re.compile(rf"^(?:class {name}\b|{name}: TypeAlias)", re.MULTILINE)
    assert any(pattern.search(path.read_text(encoding="utf-8")) for path in PACKAGE.rglob("*.py")) or name == "Error"


def test_every_folder_of_the_package_is_explained() -> None:
    folders = sorted(path.name for path in PACKAGE.iterdir() if path.is_dir() and (path / "__init__.py").exists())
    assert [name for name in folders if f"`{name}/`" not in GUIDE] == []
