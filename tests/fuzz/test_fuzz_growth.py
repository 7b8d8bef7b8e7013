"""Every reader takes long inputs in a time that grows as they do."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def fuzz_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT))


def test_no_reader_grows_faster_than_its_input() -> None:
    from fuzz.growth import hostile_input
    from fuzz.readers import all_readers

    readers = list(all_readers())
    assert len(readers) >= 60
    slow = {reader.name: hostile_input(reader, signs=False) for reader in readers}
    assert {name: data for name, data in slow.items() if data is not None} == {}


def _compare_all(data: bytes) -> int:
    rows = data.splitlines()
    return sum(row == other for row in rows for other in rows)


@pytest.mark.parametrize(("read", "slow"), [(_compare_all, True), (lambda data: sorted(data.splitlines()), False)])
def test_what_grows_with_the_square_is_seen(read, slow: bool) -> None:
    from fuzz.growth import hostile_input
    from fuzz.running import Reader

    reader = Reader("demo", read, (b"a b\n",))
    assert (hostile_input(reader, signs=False) is not None) is slow
