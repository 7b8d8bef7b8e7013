"""``python -m fuzz.universes``: small package universes, solved by brute force, by envdoctor and by uv.

Of each universe it is known by trying everything which requirements cannot be met together, and what the cheapest
repairs cost. The engine has to say the same. Some universes go through the command itself, too: an index on a port,
`check`, `lock`, uv's own resolver on the same index, and an installation of the lock. Exit code 1 where they disagree.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

from fuzz.conditions import PRE_RELEASE, Conditional, Described, conditional, plain, with_extras

ROOT = Path(__file__).resolve().parents[1]
for _folder in ("resolve", "lock"):
    sys.path.insert(0, str(ROOT / "tests" / _folder))

import test_resolve_properties as brute  # noqa: E402
from resolve_universe import LINUX, MemoryIndex, read  # noqa: E402
from scenario_index import ScenarioIndex  # noqa: E402

from envdoctor.cli.main import main as envdoctor  # noqa: E402
from envdoctor.model.origin import DistributionOrigin  # noqa: E402
from envdoctor.model.repair import Repair  # noqa: E402
from envdoctor.resolve.diagnosis import diagnose  # noqa: E402
from envdoctor.resolve.manifest import Manifest  # noqa: E402
from envdoctor.toml_tables import read_toml  # noqa: E402

NAMES = "abcde"
SPECIFIERS = ("", "==1", "==2", ">=2", "<2", "<3", "!=2", "==9")
ENOUGH_REPAIRS = 3
"""Changes beyond which the cheapest repair is not looked for by trying everything."""

Table = dict[str, dict[str, list[str]]]


class Universe(NamedTuple):
    """What an index has, and what a project asks for."""

    table: Table
    lines: list[str]


def universe(chance: random.Random, projects: int = 5) -> Universe:
    """Return one of up to five projects with up to three versions each."""
    names = NAMES[: chance.randint(1, projects)]
    table: Table = {}
    for name in names:
        # Some ask for another version of their own project, as extras of real ones do.
        others = [other for other in names if other != name or chance.random() < 0.2]
        table[name] = {str(version): _demands(chance, others, 2) for version in range(1, chance.randint(1, 3) + 1)}
    asked = [*names, "z"] if chance.random() < 0.1 else list(names)
    return Universe(table, _demands(chance, asked, 5))


def _demands(chance: random.Random, names: list[str], most: int) -> list[str]:
    count = chance.randint(0, most) if names else 0
    return list(dict.fromkeys(chance.choice(names) + chance.choice(SPECIFIERS) for _ in range(count)))


def faults_of_engine(given: Universe) -> Iterator[str]:
    """Yield where the engine's diagnosis is not what trying everything gives."""
    table, lines = given
    found = diagnose(Manifest(read(*lines), LINUX), MemoryIndex(table))
    cores = {frozenset(str(item) for item in conflict.core) for conflict in found.conflicts}
    expected = brute._minimal_cores(table, lines)
    if cores != expected:
        yield f"conflicts: {sorted(map(sorted, cores))}, by trying {sorted(map(sorted, expected))}"
    if found.resolution is not None and not found.conflicts:
        world = {package.name: str(package.version) for package in found.resolution.packages}
        yield from _faults_of(world, given, "the resolution")
    cheapest = brute._cheapest(table, lines, ENOUGH_REPAIRS) if expected else set()
    cost = min((len(elements) for elements in cheapest), default=None)
    best = min((repair.cost for repair in found.repairs), default=None)
    if cost is not None and (best is None or best > cost):
        yield f"the cheapest repair costs {best}, by trying {cost}"
    for repair in found.repairs:
        if _of_lines(repair) and (cost is None or repair.cost < cost):
            yield f"repair {repair.id} costs {repair.cost}, by trying {cost}"
        if not (repair.verified and _works(repair, given)):
            yield f"repair {repair.id} is not one"


def faults_of_conditions(given: Conditional) -> Iterator[str]:
    """Yield where the engine's answer is not that to the plain universe which means the same."""
    table, asked = plain(given)
    texts = [text for texts in asked for text in texts]
    found = diagnose(Manifest(read(*given.lines), LINUX), MemoryIndex(given.table))
    cores = {frozenset(text for item in c.core for text in asked[_line(item)]) for c in found.conflicts}
    expected = brute._minimal_cores(table, texts)
    if cores != expected:
        yield f"conflicts: {sorted(map(sorted, cores))}, by trying {sorted(map(sorted, expected))}"
    if found.resolution is not None and not found.conflicts:
        world = {package.name: str(package.version) for package in found.resolution.packages}
        yield from _faults_of_conditional(world, given, "the resolution")


def _line(requirement: Any) -> int:
    """Return the place of a requirement among the lines, counted from 0."""
    return int(requirement.origin.line) - 1


def _faults_of_conditional(world: dict[str, str], given: Conditional, what: str) -> Iterator[str]:
    table, asked = plain(given)
    texts = [text for texts in asked for text in texts]
    unusable = {f"{name} {version}" for name, version in world.items() if version not in table[name]}
    if unusable:
        yield f"{what} takes {sorted(unusable)}, which no one may take"
    else:
        yield from _faults_of(with_extras(world, table, texts), Universe(table, texts), what)


def _of_lines(repair: Repair) -> bool:
    """Return whether a repair changes what people wrote alone, and leaves nothing out."""
    demands = [demand for override in repair.overrides for demand in override.sets_aside]
    overrules = any(isinstance(demand.origin, DistributionOrigin) for demand in demands)
    return not overrules and not any(override.leaves_out for override in repair.overrides)


def _works(repair: Repair, given: Universe) -> bool:
    """Return whether something can be installed once a repair is applied, by trying everything."""
    out = {override.requirement.name for override in repair.overrides if override.leaves_out}
    pins = [str(override.requirement) for override in repair.overrides if not override.leaves_out]
    demands = [demand for override in repair.overrides for demand in override.sets_aside]
    edges = {(d.origin.name, d.name) for d in demands if isinstance(d.origin, DistributionOrigin)}
    aside = {str(demand) for demand in demands if not isinstance(demand.origin, DistributionOrigin)}
    table = {
        owner: {
            version: [text for text in asked if _name(text) not in out and (owner, _name(text)) not in edges]
            for version, asked in versions.items()
        }
        for owner, versions in given.table.items()
    }
    lines = [text for text in given.lines if text not in aside and _name(text) not in out]
    # What is set aside is asked for without a version.
    lines += [_name(text) for text in aside if _name(text) not in out]
    nothing: frozenset[Any] = frozenset()
    return any(
        brute._sound(world, table, nothing)
        and brute._holds(world, lines, nothing)
        and all(brute._admits(pin, world[_name(pin)]) for pin in pins if _name(pin) in world)
        for world in brute._worlds(table)
    )


def _name(text: str) -> str:
    return str(brute._parse(text)[0])


def _faults_of(world: dict[str, str], given: Universe, what: str) -> Iterator[str]:
    if not (brute._sound(world, given.table, frozenset()) and brute._holds(world, given.lines, frozenset())):
        yield f"{what} does not agree with what it asks for: {world}"


def faults_of_command(
    given: Universe | Conditional, folder: Path, uv: str | None, counts: Counter[str]
) -> Iterator[str]:
    """Yield where `check`, `lock`, uv and the installed lock are not what trying everything gives."""
    possible = _is_possible(given)
    packages = {name: {"versions": versions} for name, versions in _described(given).items()}
    project = folder / "project"
    project.mkdir()
    (project / "requirements.txt").write_text("".join(f"{line}\n" for line in given.lines))
    index = ScenarioIndex(packages)
    variables = patch.dict(os.environ, {"ENVDOCTOR_INDEX_URL": index.url, "ENVDOCTOR_CACHE_DIR": str(folder / "cache")})
    variables.start()
    try:
        for verb in (["check"], ["lock", "--no-repair"], ["lock", "--no-repair", "--check"]):
            code = _run(verb[0], str(project), *verb[1:])
            if code != (0 if possible else 1):
                yield f"`{' '.join(verb)}` ends with {code}, and by trying it is {'' if possible else 'im'}possible"
        lock = project / "pylock.toml"
        pins = _pins(lock)
        if lock.exists() != possible:
            yield f"there is {'a' if lock.exists() else 'no'} lock"
        if possible:
            yield from _faults_of_world(pins, given, "the lock")
        if uv is not None:
            yield from _faults_of_uv(given, folder, uv, index.url, pins if possible else None, counts)
    finally:
        variables.stop()
        index.close()


def _is_possible(given: Universe | Conditional) -> bool:
    if isinstance(given, Universe):
        return brute._possible(given.table, given.lines)
    table, asked = plain(given)
    return brute._possible(table, [text for texts in asked for text in texts])


def _described(given: Universe | Conditional) -> Described:
    if isinstance(given, Conditional):
        return given.table
    return {n: {v: {"requires": demands} for v, demands in versions.items()} for n, versions in given.table.items()}


def _faults_of_world(world: dict[str, str], given: Universe | Conditional, what: str) -> Iterator[str]:
    return (_faults_of if isinstance(given, Universe) else _faults_of_conditional)(world, given, what)  # type: ignore[operator]


def _faults_of_uv(
    given: Universe | Conditional, folder: Path, uv: str, url: str, pins: dict[str, str] | None, counts: Counter[str]
) -> Iterator[str]:
    project = folder / "project"
    common = ["--no-cache", "--no-config", "--python", sys.executable, "-q"]
    compiled = [uv, "pip", "compile", str(project / "requirements.txt"), "--index-url", url, *common]
    done = subprocess.run([*compiled, "--no-header", "--no-annotate"], capture_output=True, text=True, timeout=120)
    if PRE_RELEASE in done.stdout:
        # Where nothing else agrees, uv takes a pre-release unasked; here a person asks for it.
        counts["a pre-release with uv"] += 1
    elif (done.returncode == 0) != (pins is not None):
        yield f"uv ends with {done.returncode}: {done.stderr[-300:]}"
    elif pins is not None:
        theirs = dict(line.split("==") for line in done.stdout.split())
        counts["the same pins as uv" if theirs == pins else "other pins than uv"] += 1
        yield from _faults_of_world(theirs, given, "uv's resolution")
        target = folder / "target"
        command = [uv, "pip", "install", "--target", str(target), "--no-deps", "-r", str(project / "pylock.toml")]
        done = subprocess.run([*command, *common], capture_output=True, text=True, timeout=120)
        installed = {path.name.removesuffix(".dist-info") for path in target.glob("*.dist-info")}
        if installed != {f"{name}-{version}" for name, version in pins.items()}:
            yield f"the lock installs {sorted(installed)}: {done.stderr[-300:]}"


def _run(*arguments: str) -> int:
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        return envdoctor([*arguments, "-q"])


def _pins(lock: Path) -> dict[str, str]:
    document: dict[str, Any] = read_toml(lock.read_text(encoding="utf-8")) if lock.exists() else {}
    return {item["name"]: item["version"] for item in document.get("packages", ())}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m fuzz.universes", description=__doc__)
    parser.add_argument("--count", type=int, default=10_000, help="universes (default 10000)")
    parser.add_argument("--commands", type=int, default=1000, help="how many of them go through the command and uv")
    parser.add_argument("--seed", type=int, default=None, help="repeat a run; default: another one each time")
    chosen = parser.parse_args()
    seed = random.randrange(2**32) if chosen.seed is None else chosen.seed
    beside = Path(sys.executable).with_name("uv")
    uv = str(beside) if beside.exists() else shutil.which("uv")
    counts: Counter[str] = Counter()
    begun = time.monotonic()
    for number in range(chosen.count):
        chance = random.Random(f"{seed} {number}")
        given: Universe | Conditional
        # Every fifth universe has conditions; fewer projects, since each of their extras is one more to try.
        if number % 5:
            given = universe(chance)
            faults = list(faults_of_engine(given))
        else:
            given = conditional(chance, *universe(chance, projects=3))
            faults = list(faults_of_conditions(given))
            counts["with conditions"] += 1
        # Where nothing is asked for, the command says that nothing was checked.
        if number < chosen.commands and given.lines:
            with tempfile.TemporaryDirectory(prefix="envdoctor-universe-") as folder:
                faults += faults_of_command(given, Path(folder), uv, counts)
            counts["through the command"] += 1
        counts["universes"] += 1
        counts["impossible"] += not _is_possible(given)
        counts["disagreements"] += len(faults)
        for text in faults:
            print(f"universe {number} of --seed {seed}: {text}\n  {json.dumps(given)}", flush=True)
        if number % 500 == 499:
            print(f"{number + 1} after {time.monotonic() - begun:.0f} s", file=sys.stderr, flush=True)
    print(", ".join(f"{count} {what}" for what, count in sorted(counts.items())), f"; --seed {seed}", sep="")
    return 1 if counts["disagreements"] or not counts["universes"] else 0


if __name__ == "__main__":
    sys.exit(main())
