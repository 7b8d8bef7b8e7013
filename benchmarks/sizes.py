"""Time what must stay quick at sizes that people have, in this process, beside the aim of each.

    python -m benchmarks.sizes [--rounds N]

The least of several rounds counts, so that a busy machine disturbs little. Exits with 1 where an aim is missed.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

from envdoctor.adapters.project import read_project
from envdoctor.diagnose.advisories.book import shipped_advisories
from envdoctor.diagnose.advisories.log_reading import read_log
from envdoctor.diagnose.advisories.log_text import LogText, fixed_text
from envdoctor.diagnose.engine import breakages, examine
from envdoctor.diagnose.examination import Examination

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "diagnose"))

from diagnose_fixtures import MemorySources, examination_of, resolution_of, resolved, target_of

ZLUDA = target_of("windows/x86_64/3.11/zluda")
OTHERS = [resolved(f"package-{number}==1.{number}.0") for number in range(200)]


def least(work: Callable[[], object], rounds: int) -> float:
    """Return the seconds of the quickest round; one runs before the clock starts."""
    work()
    spent = []
    for _ in range(rounds):
        begin = perf_counter()
        work()
        spent.append(perf_counter() - begin)
    return min(spent)


def look_at_sources() -> None:
    """Run all rules on a project of 300 modules and 202 distributions."""
    body = "import numpy as np\nimport torch\nfrom . import other\n\n\ndef f(x):\n    return np.sum(x) * 2\n" * 40
    files = {f"package/module_{number}.py": body for number in range(300)}
    # A module that no script reaches is not looked into.
    files["app.py"] = "".join(f"import package.module_{number}\n" for number in range(300))
    resolution = resolution_of(*OTHERS, resolved("torch==2.7.1+cu118"), resolved("numpy==1.26.4"))
    examine(Examination(target=ZLUDA, sources=MemorySources(files), resolution=resolution))


def judge_resolution() -> None:
    """Judge a resolution of 204 distributions, as is done for every repair."""
    pins = ("torch==2.1.1+cu118", "torchaudio==2.1.1+cu118", "numpy==1.26.4", "transformers==4.42.4")
    breakages(Examination(target=ZLUDA, resolution=resolution_of(*OTHERS, *map(resolved, pins))))


def read_large_log() -> None:
    """Read a log of 16 MiB in which nothing is known to be wrong."""
    line = (
        "2026-03-01 10:00:{0:02d} INFO step {0} torch gradio llama deepspeed 0.123 it/s /v/torch/nn/modules/module.py"
    )
    log = "\n".join(line.format(number) for number in range(16 * 2**20 // 100))
    if list(read_log(examination_of({"log": log}))):
        raise SystemExit("error: a harmless log is said to show a failure")


def read_long_list(folder: Path) -> Callable[[], None]:
    """Return the reading of a Dockerfile with a command of 20,000 lines."""
    words = " \\\n ".join(f"a{number}" for number in range(20000))
    (folder / "Dockerfile").write_text(f"FROM x\nRUN pip install {words}\n", encoding="utf-8")

    def read() -> None:
        if len(read_project(folder, variables={}).requirements) != 20000:
            raise SystemExit("error: not every requirement was read")

    return read


def nearly(pattern: str) -> str:
    """Return a text that a pattern begins to match again and again, and never ends to."""
    flat = re.sub(r"\(\?[:!=]|[()]|\\b|[?^$]|\{\d+,\d+\}", "", pattern).replace("\\", "")
    parts = [part for part in re.split(r"[.*+|]|\[[^]]*\]", flat) if len(part) > 2]
    return " ".join(part[:-1] for part in parts[:-1]) + "".join(parts[:1])


def slowest_symptom() -> tuple[float, str]:
    """Return the seconds of the symptom that takes longest over a line of 400,000 characters, and its advisory."""
    slowest = (0.0, "")
    for advisory in shipped_advisories().advisories:
        for pattern in advisory.symptoms:
            for unit in (fixed_text(pattern), nearly(pattern), f"{fixed_text(pattern)} x"):
                log = LogText((unit * (400_000 // max(len(unit), 1) + 1))[:400_000])
                begin = perf_counter()
                next(log.hits((pattern,)), None)
                slowest = max(slowest, (perf_counter() - begin, advisory.code))
    return slowest


def main() -> int:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as folder:
        rows = [
            ("all rules, 300 modules and 202 distributions", 1.0, least(look_at_sources, rounds)),
            ("one resolution of 204 distributions is judged", 0.02, least(judge_resolution, rounds)),
            ("a log of 16 MiB", 5.0, least(read_large_log, rounds)),
            ("a command of 20,000 lines in a Dockerfile", 3.0, least(read_long_list(Path(folder)), rounds)),
        ]
    seconds, code = slowest_symptom()
    rows.append((f"a line of 400,000 characters for one symptom ({code})", 1.0, seconds))
    for name, aim, spent in rows:
        print(f"{name:58} {spent:8.3f} s   aim {aim:g} s{'' if spent <= aim else '   MISSED'}")
    return 1 if any(spent > aim for _, aim, spent in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
