"""The page on threats names tests; each of them exists."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
NAMED = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")


def test_every_test_that_the_threat_model_names_exists() -> None:
    named = NAMED.findall((ROOT / "docs/threat-model.md").read_text(encoding="utf-8"))
    assert len(named) > 15
    gone = [
        f"{path}::{name}"
        for path, name in named
        if not re.search(rf"^def {name}\(", (ROOT / path).read_text(encoding="utf-8"), re.MULTILINE)
    ]
    assert gone == []
