"""``python -m fuzz.growth``: every reader with one part of an input again and again; slow is what grows faster.

A part is a line of an input, or a sign in the middle of one. Three times as much of it may take three times the time,
and somewhat more where the clock is inexact; slow is what twice in a row takes more than that.
"""

from __future__ import annotations

import logging
import sys
import time
import warnings
from collections.abc import Callable, Iterator

from fuzz.mutation import LONGEST
from fuzz.running import Reader

__all__ = ["grown", "hostile_input"]

_SHORT = 5_000
_NOTICED = 0.006
"""Seconds of processor time for that many bytes from which growth is measured."""
_MOST_GROWTH = 5.5
"""How much longer three times as much may take: nine times is what grows with the square."""
_LINES = 60
"""Lines of a reader's inputs that are repeated, one at a time."""
_SIGNS = (b" ", b"a", b"0", b".", b"-", b",", b"(", b"[", b"{", b"<", b"\\", b'"', b"'", b"#", b"a,", b"(a)")
# Not `a.`: for `import a.a.a...` the parser of CPython itself takes its square, 7 s for 80,000 names.
Maker = Callable[[int], bytes]


def grown(reader: Reader, *, signs: bool) -> Iterator[Maker]:
    """Yield makers of inputs of about so many bytes. ``signs``: also with signs in the middle of lines."""
    yield from reader.makers
    places = [(seed, at) for seed in reader.seeds for at in range(len(seed.splitlines()))]
    for seed, at in places[:: 1 + len(places) // _LINES]:
        lines = seed.splitlines(keepends=True)
        before, line, after = b"".join(lines[:at]), lines[at], b"".join(lines[at + 1 :])
        yield _repeated(before, line.rstrip(b"\r\n") + b"\n", after)
        if signs:
            half = len(line) // 2
            for sign in _SIGNS:
                yield _repeated(before + line[:half], sign, line[half:] + after)


def _repeated(before: bytes, part: bytes, after: bytes) -> Maker:
    return lambda size: before + part * (size // len(part)) + after


def hostile_input(reader: Reader, *, signs: bool) -> bytes | None:
    """Return the beginning of an input that takes too long for its size, None where none is found."""
    for make in grown(reader, signs=signs):
        if _seconds(reader, make(_SHORT)) < _NOTICED:
            continue
        short, long = (_least_seconds(reader, make(_SHORT * n)) for n in (1, 3))
        if short < _NOTICED or long < _MOST_GROWTH * short:
            continue
        # Behind a limit beyond which a reader looks less closely there may be more to do, once.
        if _least_seconds(reader, make(_SHORT * 9)) > _MOST_GROWTH * long:
            return make(200)
    return None


def _least_seconds(reader: Reader, data: bytes) -> float:
    return min(_seconds(reader, data) for _ in range(2))


def _seconds(reader: Reader, data: bytes) -> float:
    begun = time.process_time()
    try:
        reader.read(data[:LONGEST])
    except reader.announced:
        pass
    except Exception:  # noqa: BLE001, S110 - what a reader does not announce is what `python -m fuzz` looks for
        pass
    return time.process_time() - begun


def main() -> int:
    warnings.simplefilter("ignore")
    logging.disable()
    from fuzz.readers import all_readers

    slow = tried = 0
    for reader in all_readers():
        if sys.argv[1:] and not any(part in reader.name for part in sys.argv[1:]):
            continue
        tried += 1
        if (data := hostile_input(reader, signs=True)) is not None:
            slow += 1
            print(f"SLOW {reader.name}: {data!r}", flush=True)
    print(f"{tried} readers, {slow} slow")
    return 1 if slow or not tried else 0


if __name__ == "__main__":
    sys.exit(main())
