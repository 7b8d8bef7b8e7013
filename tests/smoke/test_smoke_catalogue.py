"""The table of kernels agrees with the child, with Python 3.8 and with the shipped profiles."""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

import pytest

from envdoctor.adapters.smoke import kernel_catalogue
from envdoctor.adapters.smoke.bisection import ENVIRONMENT
from envdoctor.adapters.smoke.bundle import bundle_bytes, write_bundle
from envdoctor.model.target import Backend

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

SMOKE = Path(kernel_catalogue.__file__).parent
SOURCES = [SMOKE / "kernel_catalogue.py", *sorted((SMOKE / "child").rglob("*.py"))]
PROFILES = sorted((Path(__file__).parents[2] / "profiles").glob("*.toml"))


def registered() -> set[str]:
    names: set[str] = set()
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef):
                names |= {
                    decorator.args[0].value
                    for decorator in node.decorator_list
                    if isinstance(decorator, ast.Call) and getattr(decorator.func, "id", "") == "kernel"
                }
    return names


def test_every_kernel_of_the_catalogue_has_a_builder_and_every_builder_an_entry() -> None:
    # The all-reduce runs under torchrun and is no single-process kernel.
    assert registered() == set(kernel_catalogue.names()) - {"all-reduce"}


def test_every_tolerance_has_its_reason() -> None:
    assert [entry.name for entry in kernel_catalogue.ENTRIES.values() if len(entry.because) < 20] == []


def test_settings_and_remedies_are_settings_that_the_child_knows() -> None:
    known = set(
        re.findall(r'"([a-z0-9]+(?:-[a-z0-9]+)+)":', (SMOKE / "child" / "backend_settings.py").read_text("utf-8"))
    )
    assert known | set(ENVIRONMENT) == set(kernel_catalogue.SETTINGS)
    used = {name for entry in kernel_catalogue.ENTRIES.values() for name in (*entry.settings, *entry.remedies)}
    assert used <= set(kernel_catalogue.SETTINGS)


def test_backends_are_backends() -> None:
    backends = {backend.value for backend in Backend}
    named = {name for entry in kernel_catalogue.ENTRIES.values() for name in (*entry.lacking, *entry.moot)}
    assert named <= backends


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_the_child_is_python_38_and_needs_nothing_of_envdoctor(path: Path) -> None:
    tree = ast.parse(path.read_text("utf-8"), feature_version=(3, 8))
    imported = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            imported |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            imported.add((node.module or "").partition(".")[0])
    allowed = set(sys.stdlib_module_names) | {"torch", "__future__"}
    assert imported <= allowed


@pytest.mark.parametrize("path", PROFILES, ids=lambda path: path.stem)
def test_profiles_name_kernels_and_workloads_that_exist(path: Path) -> None:
    data = tomllib.loads(path.read_text("utf-8"))
    smoke = data.get("smoke", {})
    asked = [*smoke.get("kernels", ()), *smoke.get("workloads", ())]
    asked += [name for rule in data.get("placement", ()) for name in rule.get("needs", ())]
    assert [name for name in asked if name not in kernel_catalogue.names()] == []
    assert [name for name in smoke.get("settings", ()) if name not in kernel_catalogue.SETTINGS] == []


def test_the_bundle_is_one_file_and_always_the_same(tmp_path: Path) -> None:
    assert write_bundle(tmp_path / "smoke.pyz").read_bytes() == bundle_bytes()


def test_an_unknown_name_is_an_error() -> None:
    with pytest.raises(KeyError):
        kernel_catalogue.find("gemm-float33")


def test_the_documentation_has_every_name_with_its_tolerance() -> None:
    text = (Path(__file__).parents[2] / "docs" / "kernels.md").read_text("utf-8")
    rows = dict(re.findall(r"^\| `([^`]+)` \| \w+ \| (\S+) \|", text, re.MULTILINE))
    entries = (*kernel_catalogue.KERNELS, *kernel_catalogue.WORKLOADS)
    assert rows == {item.name: f"{item.tolerance:.0e}" if item.tolerance else "exact" for item in entries}
