"""What the contributor's guide says of modules: none is long, no name occurs twice, imports go in no circle,
and what they need is declared."""

from __future__ import annotations

import ast
import sys
from collections import Counter
from collections.abc import Iterator
from importlib.metadata import files
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import envdoctor
from envdoctor.toml_tables import read_toml

PACKAGE = Path(envdoctor.__file__).parent
ROOT = Path(__file__).parents[2]
_BROUGHT = {"certifi": "httpx", "torch": "the environment that is looked at"}
"""What is imported and brought by something else than our own metadata."""


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


def test_what_is_imported_when_it_runs_is_declared() -> None:
    declared = {
        canonicalize_name(Requirement(line).name)
        for line in read_toml((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dependencies"]
    }
    # Not by `packages_distributions`: on 3.10 that knows those alone which have a `top_level.txt`.
    brought = {file.parts[0].removesuffix(".py") for name in declared for file in files(name) or ()}
    imported = {name for path in PACKAGE.rglob("*.py") for name in _imported(ast.parse(path.read_bytes()))}
    others = imported - sys.stdlib_module_names - {"envdoctor"}
    assert "httpx" in others
    assert others - brought - _BROUGHT.keys() == set()


def _imported(node: ast.AST) -> Iterator[str]:
    """Yield the first names of modules that are imported at any time, those for types alone left aside."""
    if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
        return
    if isinstance(node, ast.Import):
        yield from (alias.name.partition(".")[0] for alias in node.names)
    elif isinstance(node, ast.ImportFrom) and node.module is not None and not node.level:
        yield node.module.partition(".")[0]
    for child in ast.iter_child_nodes(node):
        yield from _imported(child)
