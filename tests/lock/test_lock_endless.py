"""What is given as a lock and has no end."""

from __future__ import annotations

from pathlib import Path

import pytest

from envdoctor.ports import UsageError
from envdoctor.verbs import joined_lock


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="needs /dev/zero")
def test_a_lock_without_an_end_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(joined_lock, "_LARGEST_LOCK", 4096)
    with pytest.raises(UsageError, match="is no lock: it is larger"):
        joined_lock.joined_files([Path("/dev/zero")], Path())
