"""Changes to an input: bytes turned over, parts cut, doubled and mixed, numbers without end, words that matter."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence

__all__ = ["LONGEST", "mutated"]

LONGEST = 200_000
"""Bytes of an input; what is larger finds nothing new and takes its time."""

_WORDS: tuple[bytes, ...] = (
    b"", b"\0", b"\xff", b"\xef\xbb\xbf", b"\r", b"\r\n", b"\x0b", b"\x0c", b"\x1c", b"\x85", b"\xc2\x85",
    b"\xe2\x80\xa8", b'"', b"'", b'"""', b"\\", b"#", b";", b",", b":", b"=", b"==", b"===", b"~=", b"!=", b"@",
    b"[", b"]", b"[[", b"{", b"}", b"(", b")", b"<", b">", b"<![", b"<!--", b"&#", b"&#9999999999;", b"$",
    b"${", b"%", b"%s", b"{0}", b"*", b".*", b"!", b"+", b"-", b"--", b"..", b"../", b"/", b"//", b"://",
    b"http://[::1", b"file:///", b"null", b"true", b"NaN", b"Infinity", b"1e999", b"-1", b"0", b"00", b"0x",
    b"1_0", b"1!", b"\xc2\xb2", b"\xd9\xa3", b"1.0.dev0+local", b"9" * 400, b"9" * 5000, b"\x1b[31m",
    b"\xf0\x9f\x92\xa9", b"\xed\xa0\x80", b"\\ud800", b"\\u0000", b"\\n", b"[" * 3000, b"{" * 3000, b"(" * 3000,
    b"a=" * 2000, b"python_version < '3'", b"extra == 'x'", b"-r", b"-e", b"--hash=", b"git+https://",
    b"sha256=", b"name", b"version", b"\t",
)  # fmt: skip
_NUMBER = re.compile(rb"\d+")
_TOKEN = re.compile(rb"\w+|[^\w\s]")
_VALUE = re.compile(rb"(?<=[:=,\[]) *(\"[^\"\n]*\"|'[^'\n]*'|[\w.]+|\[[^\]\n]*\]|\{[^}\n]*\})")
_VALUES = (
    b"0",
    b"-1",
    b'""',
    b"''",
    b"[]",
    b"{}",
    b"null",
    b"true",
    b"1.5",
    b'"x"',
    b"[[]]",
    b'{"a": 1}',
    b"[1]",
    b"{a = 1}",
)


def _place(chance: random.Random, data: bytes) -> tuple[int, int]:
    start = chance.randint(0, len(data))
    return start, min(len(data), start + int(chance.paretovariate(0.7)))


def _flip(chance: random.Random, data: bytes, _other: bytes) -> bytes:
    made = bytearray(data or b"\0")
    for _ in range(chance.randint(1, 4)):
        made[chance.randrange(len(made))] = chance.choice((0, 1, 0x7F, 0x80, 0xFF, chance.randrange(256)))
    return bytes(made)


def _cut(chance: random.Random, data: bytes, _other: bytes) -> bytes:
    start, stop = _place(chance, data)
    return data[:start] + data[stop:]


def _end(chance: random.Random, data: bytes, _other: bytes) -> bytes:
    return data[: chance.randint(0, len(data))]


def _double(chance: random.Random, data: bytes, _other: bytes) -> bytes:
    start, stop = _place(chance, data)
    return data[:stop] + data[start:stop] * chance.choice((1, 1, 1, 2, 50)) + data[stop:]


def _word(chance: random.Random, data: bytes, _other: bytes) -> bytes:
    start = chance.randint(0, len(data))
    return data[:start] + chance.choice(_WORDS) + data[start:]


def _token(chance: random.Random, data: bytes, _other: bytes) -> bytes:
    return _instead(chance, data, _TOKEN, chance.choice(_WORDS))


def _number(chance: random.Random, data: bytes, _other: bytes) -> bytes:
    new = chance.choice(
        (b"0", b"-1", b"65536", b"4294967296", b"18446744073709551616", b"9" * 5000, b"1.5", b"\xc2\xb2")
    )
    return _instead(chance, data, _NUMBER, new)


def _value(chance: random.Random, data: bytes, _other: bytes) -> bytes:
    return _instead(chance, data, _VALUE, b" " + chance.choice(_VALUES))


def _instead(chance: random.Random, data: bytes, what: re.Pattern[bytes], new: bytes) -> bytes:
    # The first one behind some place: finding all of them takes longer than most readers do.
    match = what.search(data, chance.randint(0, len(data))) or what.search(data)
    return data + new if match is None else data[: match.start()] + new + data[match.end() :]


def _lines(chance: random.Random, data: bytes, other: bytes) -> bytes:
    rows, others = data.splitlines(keepends=True), other.splitlines(keepends=True)
    if not rows or not others:
        return data + other
    at = chance.randrange(len(rows))
    return b"".join([*rows[:at], chance.choice(others), *rows[at + chance.randint(0, 1) :]])


def _mix(chance: random.Random, data: bytes, other: bytes) -> bytes:
    return data[: chance.randint(0, len(data))] + other[chance.randint(0, len(other)) :]


_CHANGES: tuple[Callable[[random.Random, bytes, bytes], bytes], ...] = (
    _flip, _cut, _end, _double, _word, _word, _token, _token, _number, _value, _value, _lines, _mix,
)  # fmt: skip


def mutated(chance: random.Random, seeds: Sequence[bytes]) -> bytes:
    """Return one of the seeds, changed a few times."""
    data = chance.choice(seeds)
    for _ in range(min(8, int(chance.paretovariate(1.1)))):
        data = chance.choice(_CHANGES)(chance, data, chance.choice(seeds))[:LONGEST]
    return data
