"""Time a warm ``envdoctor check`` of a real project against ``uv pip compile`` and pip, side by side.

    python benchmarks/bench_check.py [PROJECT PROFILE] [--rounds N] [--pip-limit SECONDS]

Without arguments it takes the XTTS-WebUI and DiffRhythm2 requirements if they lie beside the repository, else the
example. Asks the real package index once to warm all caches; the rounds then take the tools in turn, so that a busy
machine slows all of them alike. CPU seconds and peak memory are those of the whole process with its children.

The tools do not do the same: uv and pip stop at their first conflict, or resolve once; ``check`` finds every conflict,
verifies repairs, and looks at the result a second time. pip resolves for this kind of Linux, not for the profile's
target, whose files it could not mark out as well.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter

ROOT = Path(__file__).resolve().parents[1]
UPSTREAM = ROOT.parent / "shared" / "upstream"
EXAMPLE = ROOT / "examples" / "song-maker"
PLATFORM = {"windows": "x86_64-pc-windows-msvc", "linux": "x86_64-unknown-linux-gnu", "macos": "aarch64-apple-darwin"}
OUTCOMES = {0: "done", 1: "conflicts or findings", 2: "cannot be used"}


@dataclass
class Contestant:
    """One command and what it cost, a value per round."""

    title: str
    command: list[str]
    limit: float = 120.0
    """Seconds after which it is stopped."""
    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    peak: list[float] = field(default_factory=list)
    outcome: str = ""

    def run(self) -> None:
        """Run once and note the cost."""
        begun = perf_counter()
        process = subprocess.Popen(self.command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        pid, status, usage = wait(process, self.limit)
        self.wall.append(perf_counter() - begun)
        self.cpu.append(usage.ru_utime)
        self.peak.append(usage.ru_maxrss / 1024)
        process.returncode = code = os.waitstatus_to_exitcode(status) if pid else -1
        self.outcome = OUTCOMES.get(code, "stopped" if code < 0 else f"exit {code}")


def wait(process: subprocess.Popen[bytes], limit: float) -> tuple[int, int, resource.struct_rusage]:
    """Wait for a process with its resource usage; ask it to end after ``limit`` seconds."""
    timer = threading.Timer(limit, process.kill)
    timer.start()
    try:
        return os.wait4(process.pid, 0)
    finally:
        timer.cancel()


def contestants(project: Path, profile: str, pip_limit: float, scratch: Path) -> Iterator[Contestant]:
    """Yield what to run for a project."""
    from envdoctor.profile import load_profile, python_choices, target_for

    script = shutil.which("envdoctor", path=str(Path(sys.executable).parent)) or "envdoctor"
    check = [
        script,
        "check",
        str(project),
        "--profile",
        profile,
        "--format",
        "json",
        "-o",
        str(scratch / "report.json"),
    ]
    yield Contestant("envdoctor check", check)
    yield Contestant("envdoctor check --offline", [*check, "--offline"])
    yield Contestant("envdoctor --version", [script, "--version"])
    lines = project / "requirements.txt"
    if not lines.is_file():
        return
    loaded = load_profile(profile)
    python = ".".join(map(str, next(iter(python_choices(loaded)), sys.version_info[:2])))
    uv = shutil.which("uv", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}")
    if uv:
        platform = PLATFORM[target_for(loaded).os.value]
        command = [uv, "pip", "compile", "-q", "--python-platform", platform, "--python-version", python, str(lines)]
        yield Contestant("uv pip compile", command)
    pip = [sys.executable, "-m", "pip", "install", "--dry-run", "--quiet", "--disable-pip-version-check"]
    where = ["--target", str(scratch / "pip"), "--only-binary", ":all:", "--python-version", python]
    if pip_limit:
        yield Contestant("pip install --dry-run (Linux)", [*pip, *where, "-r", str(lines)], pip_limit)


def table(rows: list[Contestant]) -> Iterator[str]:
    """Yield the lines of a table of medians; ratios are those of wall-clock time to the first row's."""
    first = statistics.median(rows[0].wall)
    yield f"{'':32} {'user CPU':>9} {'wall':>9} {'spread':>15} {'peak':>8} {'ratio':>6}  outcome"
    for row in rows:
        wall, cpu, peak = (statistics.median(values) for values in (row.wall, row.cpu, row.peak))
        spread = f"{min(row.wall):.2f} - {max(row.wall):.2f} s"
        yield (
            f"{row.title:32} {cpu:7.2f} s {wall:7.2f} s {spread:>15} {peak:5.0f} MB {wall / first:6.2f}  {row.outcome}"
        )


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("project", nargs="?", type=Path)
    parser.add_argument("profile", nargs="?")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--pip-limit", type=float, default=60.0, help="seconds for pip, one round; 0 leaves it out")
    options = parser.parse_args()
    if options.project and options.profile:
        projects = [(options.project, options.profile)]
    elif UPSTREAM.is_dir():
        projects = [(UPSTREAM / "xtts-webui", "xtts-zluda"), (UPSTREAM / "diffrhythm2", "diffrhythm2-directml")]
    else:
        projects = [(EXAMPLE, "diffrhythm2-directml")]
    for project, profile in projects:
        with tempfile.TemporaryDirectory() as scratch:
            rows = list(contestants(project, profile, options.pip_limit, Path(scratch)))
            lasting = [row for row in rows if not row.title.startswith("pip ")]
            for row in lasting:
                row.run()
                row.wall, row.cpu, row.peak = [], [], []
            for _ in range(options.rounds):
                for row in lasting:
                    row.run()
            for row in rows:
                if row not in lasting:
                    row.run()
        print(f"\n{project.name}, profile {profile}, {options.rounds} warm rounds, medians")
        print("\n".join(table(rows)))


if __name__ == "__main__":
    main()
