"""What the contributor's guide says of modules: none is long, no name occurs twice, and imports go in no circle."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

import envdoctor

PACKAGE = Path(envdoctor.__file__).parent


def test_no_module_is_long_and_none_has_the_name_of_another() -> None:
    files = [path for path in PACKAGE.rglob("*.py") if path.name != "__init__.py"]
    assert [path.name for path in files if len(path.read_text(encoding="utf-8").splitlines()) > 350] == []
    assert [name for name, times in Counter(path.name for path in files).items() if times > 1] == []


def test_no_imports_go_round_in_a_circle_not_even_for_types() -> None:
    grimp = pytest.importorskip("grimp", reason="comes with import-linter")
    graph = grimp.build_graph("envdoctor", cache_dir=None)
    left = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    # What imports nothing that is left is in no circle.
    while free := {module for module, asked in left.items() if not asked & left.keys()}:
        left = {module: asked for module, asked in left.items() if module not in free}
    assert sorted(left) == []
