"""Time the check of an installed environment of 250 distributions against ``pip check`` and ``uv pip check``.

    python benchmarks/bench_environment.py [--distributions N] [--rounds N]

Makes a venv with made-up distributions in a temporary folder: each has ten requirements (half behind extras or
markers), a long description and a RECORD of 120 rows. Everything is warm: one round runs before the clock starts.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

CHECK = """
import sys
from envdoctor.adapters.probe.environment import read_environment
from envdoctor.diagnose.examination import Examination
from envdoctor.diagnose.rule import all_rules
examination = Examination(environment=read_environment(sys.argv[1]))
findings = [f for rule in all_rules() if rule.code[:3] in ("ENV", "ISO") for f in rule.find(examination)]
sys.exit(any(f.severity.value == "error" for f in findings))
"""


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


def measure(action: Callable[[], object], rounds: int) -> tuple[float, float]:
    """Return the median and the least time of an action, in milliseconds, after one round that warms it up."""
    action()
    times = []
    for _ in range(rounds):
        begin = time.perf_counter()
        action()
        times.append((time.perf_counter() - begin) * 1000)
    return statistics.median(times), min(times)


def commands(environment: Path, uv: str | None) -> dict[str, list[str]]:
    """Return the commands to compare, by name."""
    python = str(environment / "bin" / "python")
    found = {
        "start of the interpreter": [python, "-c", ""],
        "envdoctor rules (whole process)": [sys.executable, "-c", CHECK, str(environment)],
        "pip check": [python, "-m", "pip", "check"],
    }
    if uv:
        found["uv pip check"] = [uv, "pip", "check", "-q", "--python", python]
    return found


def main() -> None:
    """Print a table of medians."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--distributions", type=int, default=250)
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    from envdoctor.adapters.probe.environment import read_environment

    beside = Path(sys.executable).with_name("uv")
    uv = str(beside) if beside.exists() else shutil.which("uv")
    with tempfile.TemporaryDirectory() as folder:
        environment = make_environment(Path(folder) / "env", options.distributions)
        rows = {
            "reading, folder only": measure(lambda: read_environment(environment, ask=False), options.rounds),
            "reading, with the interpreter": measure(lambda: read_environment(environment), options.rounds),
        }
        for name, command in commands(environment, uv).items():
            rows[name] = measure(lambda command=command: subprocess.run(command, capture_output=True), options.rounds)
    print(f"{options.distributions} distributions, {options.rounds} rounds; milliseconds")
    for name, (median, least) in rows.items():
        print(f"{name:34} median {median:8.1f}   least {least:8.1f}")


if __name__ == "__main__":
    main()
