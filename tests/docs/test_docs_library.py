"""The page on the library: its example runs, and prints what the page says."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from docs_commands import ROOT

PAGE = ROOT / "docs" / "library.md"
_BLOCK = re.compile(r"^```(python|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_docs_library_example_prints_what_the_page_says(tmp_path: Path) -> None:
    blocks = _BLOCK.findall(PAGE.read_text(encoding="utf-8"))
    code = "".join(text for kind, text in blocks if kind == "python")
    expected = [line for kind, text in blocks if kind == "text" for line in text.splitlines()]
    environment = {**os.environ, "PYTHONUTF8": "1", "ENVDOCTOR_CACHE_DIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, encoding="utf-8", check=True
    )
    assert done.stderr == ""
    said = done.stdout.splitlines()
    cut = expected.index("...")
    assert said[:cut] == expected[:cut]
    assert said[-len(expected) + cut + 1 :] == expected[cut + 1 :]
    assert len(said) > len(expected)


@pytest.mark.parametrize("name", ["diagnose", "inspect_environment", "lock", "smoke"])
def test_docs_library_names_every_function(name: str) -> None:
    assert f"| `{name}(" in PAGE.read_text(encoding="utf-8")
