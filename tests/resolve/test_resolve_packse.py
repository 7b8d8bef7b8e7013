"""A peer's resolver scenarios, those that speak of one target."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from resolve_backtracking import Backtracking
from resolve_universe import MemoryIndex, read

from envdoctor.model.resolution import Resolution
from envdoctor.model.target import Arch, OperatingSystem, Target
from envdoctor.resolve.diagnosis import resolve
from envdoctor.resolve.manifest import Manifest, Policy
from envdoctor.resolve.pubgrub import PubGrub
from envdoctor.resolve.solver import Solver

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

FOLDER = Path(__file__).parents[3] / "shared" / "packse"
SCENARIOS = sorted(FOLDER.glob("*.toml"))
# Universal scenarios do not name an interpreter; these have wheels for one alone.
PYTHONS = {"wheels__specific-architecture": "3.13"}

if not SCENARIOS:
    pytest.skip("the scenarios are not beside this checkout", allow_module_level=True)


def _manifest(scenario: dict[str, Any], stem: str) -> tuple[Manifest, MemoryIndex]:
    options = scenario.get("resolver_options", {})
    python = options.get("python") or scenario.get("environment", {}).get("python") or PYTHONS.get(stem, "3.12")
    major, minor, *patch = (int(part) for part in python.split("."))
    target = Target(
        os=OperatingSystem.LINUX,
        arch=Arch.X86_64,
        python=(major, minor),
        python_full=python if patch else None,
    )
    policy = Policy(
        prereleases=options.get("prereleases", False),
        no_build=frozenset(options.get("no_build", ())),
    )
    table = {
        name: {
            version: {"sdist": True, **entry, "tags": entry.get("wheel_tags", ["py3-none-any"])}
            for version, entry in project["versions"].items()
        }
        for name, project in scenario.get("packages", {}).items()
    }
    return Manifest(read(*scenario["root"]["requires"]), target, policy=policy), MemoryIndex(table)


@pytest.mark.parametrize("engine", [PubGrub, Backtracking])
@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.stem)
def test_scenario(path: Path, engine: type[PubGrub | Backtracking]) -> None:
    scenario = tomllib.loads(path.read_text(encoding="utf-8"))
    if path.stem == "backtracking__wrong-backtracking-basic" and engine is Backtracking:
        pytest.skip("the second engine only checks; it walks back as pip does")
    solver: Solver = engine()
    outcome = resolve(*_manifest(scenario, path.stem), solver=solver)
    expected = scenario["expected"]
    assert isinstance(outcome, Resolution) == expected["satisfiable"]
    if isinstance(outcome, Resolution) and "packages" in expected:
        assert {p.name: str(p.version) for p in outcome.packages} == expected["packages"]
