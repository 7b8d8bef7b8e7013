"""Time the check of an installed environment of 250 distributions against ``pip check`` and ``uv pip check``.

    python benchmarks/bench_environment.py [--distributions N] [--rounds N] [--env DIR]

Makes a venv with made-up distributions in a temporary folder: each has ten requirements (half behind extras or
markers), a long description and a RECORD of 120 rows; ``--env`` takes a real one instead. Everything is warm: one round
runs before the clock starts. The rounds of all commands take turns, so that a busy machine is as hard on each. Beside
the time on the clock stands that of the processor, which other programs disturb less. ``envdoctor check`` is the whole
command: it also compares every recorded file with the disk, which neither of the others does.
"""

from __future__ import annotations

import argparse
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

CHECK = "envdoctor check --env"


def make_environment(root: Path, count: int) -> Path:
    """Return the folder of a venv with ``count`` distributions and pip."""
    subprocess.run([sys.executable, "-m", "venv", str(root)], check=True)
    site = next(root.glob("lib/python*/site-packages"))
    for number in range(count):
        write_distribution(site, number, count)
    return root


def write_distribution(site: Path, number: int, count: int) -> None:
    """Write one distribution, its files included."""
    name = f"made-up-{number}"
    info = site / f"made_up_{number}-1.{number}.dist-info"
    info.mkdir()
    needed = [f"made-up-{(number * 7 + step) % count}" for step in range(1, 11)]
    lines = [f"Requires-Dist: {other}>=1.0,<3" for other in needed[:5]]
    lines += [f'Requires-Dist: {other}>=9; extra == "more"' for other in needed[5:8]]
    lines += [f'Requires-Dist: {other}>=9; python_version < "3.0"' for other in needed[8:]]
    header = f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.{number}\nRequires-Python: >=3.8\n"
    (info / "METADATA").write_text(header + "\n".join(lines) + "\n\n" + "A description. " * 1500, encoding="utf-8")
    (info / "WHEEL").write_text("Wheel-Version: 1.0\nTag: py3-none-any\n", encoding="utf-8")
    (info / "INSTALLER").write_text("pip\n", encoding="utf-8")
    package = f"made_up_{number}"
    (site / package).mkdir()
    for row in range(120):
        (site / package / f"module_{row}.py").write_text("#" * row, encoding="utf-8")
    rows = [f"{package}/module_{row}.py,sha256={'a' * 43},{row}" for row in range(120)]
    (info / "RECORD").write_text("\n".join(rows) + "\n", encoding="utf-8")


def measure(command: list[str]) -> tuple[float, float]:
    """Run a command and return its time by the clock and by the processor, in milliseconds."""
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, capture_output=True)
    wall, after = time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return wall * 1000, processor * 1000


def commands(environment: Path, uv: str | None) -> dict[str, list[str]]:
    """Return the commands to compare, by name."""
    python = str(environment / "bin" / "python")
    ours = [sys.executable, "-m", "envdoctor"]
    found = {
        "start of the interpreter": [python, "-c", ""],
        "envdoctor --version": [*ours, "--version"],
        CHECK: [*ours, "check", "--env", str(environment), "--format", "json"],
        "pip check": [python, "-m", "pip", "check"],
    }
    if uv:
        found["uv pip check"] = [uv, "pip", "check", "-q", "--python", python]
    return found


def show(rows: dict[str, list[tuple[float, float]]]) -> None:
    """Print the medians and the least times, and how ``envdoctor check`` stands to the others."""
    for name, times in rows.items():
        wall, processor = zip(*times, strict=True)
        print(
            f"{name:26} clock: median {statistics.median(wall):7.1f}  least {min(wall):7.1f}"
            f"   processor: median {statistics.median(processor):7.1f}  least {min(processor):7.1f}"
        )
    for at, clock in enumerate(("clock", "processor")):
        least = {name: min(time[at] for time in times) for name, times in rows.items()}
        said = [f"pip check takes {least['pip check'] / least[CHECK]:.1f} times as long"]
        if "uv pip check" in least:
            both = least["uv pip check"] + least["start of the interpreter"]
            said.append(f"it takes {least[CHECK] / both:.2f} times uv pip check and the start of an interpreter")
        print(f"{CHECK}, by the {clock}, least times: {'; '.join(said)}")


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--distributions", type=int, default=250)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--env", type=Path)
    options = parser.parse_args()
    beside = Path(sys.executable).with_name("uv")
    uv = str(beside) if beside.exists() else shutil.which("uv")
    with tempfile.TemporaryDirectory() as folder:
        environment = options.env or make_environment(Path(folder) / "env", options.distributions)
        wanted = commands(environment, uv)
        for command in wanted.values():
            subprocess.run(command, capture_output=True)
        rows: dict[str, list[tuple[float, float]]] = {name: [] for name in wanted}
        for _ in range(options.rounds):
            for name, command in wanted.items():
                rows[name].append(measure(command))
    print(f"{options.env or f'{options.distributions} distributions'}, {options.rounds} rounds; milliseconds")
    show(rows)


if __name__ == "__main__":
    main()
