"""``python -m fuzz``: every reader against inputs that nobody wrote; exit code 1 where one of them is a finding."""

from __future__ import annotations

import argparse
import hashlib
import logging
import random
import sys
import time
import warnings
from pathlib import Path

FOUND = Path(__file__).parent / "found"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument("--inputs", type=int, default=1000, help="inputs for each reader (default 1000)")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="time for all readers together")
    parser.add_argument("--seed", type=int, default=None, help="repeat a run; default: another one each time")
    parser.add_argument("--reader", action="append", help="only readers whose name has this in it; repeatable")
    parser.add_argument("--keep", type=Path, default=FOUND, help="folder for inputs that are findings (fuzz/found)")
    chosen = parser.parse_args()
    # A reader that warns about what a stranger wrote is not at fault.
    warnings.simplefilter("ignore")
    logging.disable()
    from fuzz.readers import all_readers
    from fuzz.running import attack

    seed = random.randrange(2**32) if chosen.seed is None else chosen.seed
    readers = [item for item in all_readers() if _wanted(item.name, chosen.reader)]
    begun = time.monotonic()
    inputs = refused = findings = 0
    for at, reader in enumerate(readers):
        left = chosen.seconds - (time.monotonic() - begun)
        until = time.monotonic() + max(left, 0) / (len(readers) - at)
        outcome = attack(reader, random.Random(f"{seed} {reader.name}"), chosen.inputs, until)
        inputs, refused = inputs + outcome.inputs, refused + outcome.refused
        findings += len(outcome.findings)
        print(f"{reader.name:24} {outcome.inputs:8} inputs, {outcome.refused:8} refused", flush=True)
        for item in outcome.findings.values():
            chosen.keep.mkdir(parents=True, exist_ok=True)
            path = chosen.keep / f"{item.reader.replace(' ', '-')}-{hashlib.sha256(item.data).hexdigest()[:12]}"
            path.write_bytes(item.data)
            path.with_suffix(".txt").write_text(item.trace, encoding="utf-8", errors="replace")
            print(f"  FOUND {item.what}: {path}", flush=True)
    print(f"{len(readers)} readers, {inputs} inputs, {refused} refused, {findings} findings; --seed {seed}")
    return 1 if findings or not readers else 0


def _wanted(name: str, parts: list[str] | None) -> bool:
    return not parts or any(part in name for part in parts)


if __name__ == "__main__":
    sys.exit(main())
