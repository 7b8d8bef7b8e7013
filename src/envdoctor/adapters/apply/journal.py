"""The record that makes a fix undoable: each line is on disk before what it speaks of happens.

``<environment>/.envdoctor/journal/<id>/`` holds ``events.jsonl``, ``backups/`` by content hash, and listings of the
environment. A journal whose last word is not ``end`` or ``undo-end`` belongs to a fix that was cut short.

Each line ends with a sum over itself and all lines before it. What a cut has left of a last line counts as not written;
any other line that does not agree with its sum makes the journal damaged, and nothing is done by a damaged journal.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
import shutil
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

from envdoctor.adapters.apply import planted_faults
from envdoctor.adapters.apply.backups import Backups
from envdoctor.adapters.apply.durable import digest_of, is_link, sync_folder, write_whole
from envdoctor.model.dataclass import dataclass

__all__ = ["Journal", "JournalRecord", "fault_of_own", "list_journals", "own_folder", "read_journal"]

JOURNALS = "journal"
_EVENTS = "events.jsonl"
_SUM = re.compile(rb',"sum":"([0-9a-f]{16})"}$')
_STAMP = "%Y%m%dT%H%M%S%f"


def own_folder(environment: Path) -> Path:
    """Return the folder that this tool keeps in an environment."""
    return environment / ".envdoctor"


def fault_of_own(environment: Path) -> str | None:
    """Return what keeps this tool from its folder in an environment: a link would lead its files elsewhere."""
    own = own_folder(environment)
    for path in (own, own / JOURNALS):
        if is_link(path):
            return f"`{path}` is a link; what is written there would end up elsewhere"
        if path.exists() and not path.is_dir():
            return f"`{path}` is no folder"
    return None


@dataclass(frozen=True, slots=True)
class JournalRecord:
    """A journal read back."""

    id: str
    folder: Path
    events: tuple[Mapping[str, Any], ...]
    damage: str = ""
    """Which line says what was never written; empty where all of them agree with their sums."""

    @property
    def begin(self) -> Mapping[str, Any]:
        """The first event."""
        return self.events[0] if self.events else {}

    @property
    def state(self) -> str:
        """``open`` (cut short), ``done``, ``undone``, ``empty`` (nothing was ever begun) or ``damaged``."""
        if self.damage:
            return "damaged"
        if not self.events:
            return "empty"
        last = self.events[-1]["event"]
        if last == "undo-end":
            return "undone"
        if any(event["event"] == "undo-begin" for event in self.events):
            return "open"
        return "done" if last == "end" else "open"

    def of_kind(self, kind: str) -> list[Mapping[str, Any]]:
        """Return the events of one kind, in order."""
        return [event for event in self.events if event["event"] == kind]


class Journal:
    """Writes one journal; made by ``create``, or ``reopen`` for an undo."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.id = folder.name
        self.backups = Backups(folder / "backups")
        path = folder / _EVENTS
        whole, self._sum = _whole_lines(path)
        self._file = path.open("ab")
        if self._file.tell() > whole:
            # What a cut has left of a line would spoil the next one.
            self._file.truncate(whole)

    @classmethod
    def create(cls, environment: Path, begin: Mapping[str, Any]) -> Journal:
        """Start a journal in an environment. Raises OSError."""
        moment = datetime.now(tz=timezone.utc)
        journals = own_folder(environment) / JOURNALS
        journals.mkdir(parents=True, exist_ok=True)
        folder = journals / f"{_stamp_after(journals, moment)}-{secrets.token_hex(2)}"
        folder.mkdir()
        journal = cls(folder)
        sync_folder(folder)
        sync_folder(folder.parent)
        try:
            journal.write("begin", time=moment.isoformat(timespec="seconds"), **begin)
        except OSError:
            # Nothing was begun, so nothing is left of it.
            journal.close()
            shutil.rmtree(folder, ignore_errors=True)
            with suppress(OSError):
                folder.parent.rmdir()
            raise
        return journal

    def write(self, event: str, **values: Any) -> None:
        """Append an event; it is on disk when this returns. Raises OSError."""
        line = json.dumps({"event": event, **values}, separators=(",", ":"), ensure_ascii=True).encode("ascii")
        total = _sum_after(self._sum, line)
        planted_faults.point(writes=True)
        self._file.write(line[:-1] + f',"sum":"{total}"}}\n'.encode("ascii"))
        self._file.flush()
        os.fsync(self._file.fileno())
        self._sum = total
        planted_faults.point()

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    @contextmanager
    def changing(self, step: str, root: str, relative: str, path: Path, result: str | None) -> Iterator[None]:
        """Record a file before it is written or removed, with a copy; and afterwards that it was."""
        before = digest_of(path)
        kept: dict[str, Any] = {"digest": None}
        if before is not None:
            status = path.stat()
            kept = {
                "digest": self.backups.keep(path),
                "mode": stat.S_IMODE(status.st_mode),
                "mtime_ns": status.st_mtime_ns,
            }
        else:
            kept["folders"] = _missing_folders(path)
        self.write("file-before", step=step, root=root, path=relative, real=str(path), result=result, **kept)
        yield
        self.write("file-after", step=step, path=relative)

    def write_file(self, step: str, root: str, relative: str, path: Path, data: bytes, result: str) -> None:
        """Write a file with its journal entries. Raises OSError."""
        with self.changing(step, root, relative, path, result):
            mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else None
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, data, mode=mode)


def _missing_folders(path: Path) -> list[str]:
    """Return the folders above a new file that are not there yet, innermost first."""
    missing = []
    folder = path.parent
    while not folder.exists():
        missing.append(str(folder))
        folder = folder.parent
    return missing


def _sum_after(before: str, line: bytes) -> str:
    """Return the sum of a line, without its own sum, and of all lines before it."""
    return hashlib.sha256(before.encode("ascii") + line).hexdigest()[:16]


def _whole_lines(path: Path) -> tuple[int, str]:
    """Return how many bytes of a journal are whole lines, and the sum of the last one."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return 0, ""
    whole = data.rfind(b"\n") + 1
    last = _SUM.search(data[:whole].rstrip(b"\n"))
    return whole, last[1].decode("ascii") if last else ""


def read_journal(folder: Path) -> JournalRecord:
    """Return a journal; a last line that was cut off counts as not written.

    A journal of before the sums has none in any line. One that cannot be read counts as damaged, never as empty.
    """
    events: list[Mapping[str, Any]] = []
    if (folder / _EVENTS).exists() and not (folder / _EVENTS).is_file():
        # Reading a pipe or a device in its place might never end.
        return JournalRecord(folder.name, folder, (), f"`{folder / _EVENTS}` is no file")
    try:
        data = (folder / _EVENTS).read_bytes()
    except FileNotFoundError:
        data = b""
    except OSError as error:
        return JournalRecord(folder.name, folder, (), f"`{folder / _EVENTS}` cannot be read: {error.strerror}")
    total, damage = "", ""
    for number, line in enumerate(data.split(b"\n")[:-1], 1):
        event, total_after = _event(line, total)
        if event is None:
            damage = f"line {number} of `{folder / _EVENTS}` is not what was written there"
            break
        total = total_after
        events.append(event)
    if not events and not damage and any(child.name != _EVENTS for child in folder.iterdir()):
        damage = f"`{folder / _EVENTS}` has lost its lines"
    return JournalRecord(folder.name, folder, tuple(events), damage)


def _event(line: bytes, total: str) -> tuple[Mapping[str, Any] | None, str]:
    """Return a line's event, None where it is damaged, and the sum after it."""
    found = _SUM.search(line)
    if found is not None:
        body = line[: found.start()] + b"}"
        if _sum_after(total, body) != found[1].decode("ascii"):
            return None, total
        total, line = found[1].decode("ascii"), body
    elif total:
        return None, total
    try:
        event = json.loads(line)
    except (ValueError, RecursionError):
        return None, total
    return (event, total) if isinstance(event, dict) and isinstance(event.get("event"), str) else (None, total)


def _stamp_after(journals: Path, moment: datetime) -> str:
    """Return a moment as an id begins with it, later than all that are there: ids tell which fix was the last.

    A clock may have been set back since an earlier fix.
    """
    stamp = moment.strftime(_STAMP)
    for child in journals.iterdir():
        with suppress(ValueError, OverflowError):
            there = datetime.strptime(child.name.partition("-")[0], _STAMP).replace(tzinfo=timezone.utc)
            stamp = max(stamp, (there + timedelta(microseconds=1)).strftime(_STAMP))
    return stamp


def list_journals(environment: Path) -> list[JournalRecord]:
    """Return the journals of an environment, oldest first."""
    folder = own_folder(environment) / JOURNALS
    if not folder.is_dir() or fault_of_own(environment) is not None:
        return []
    return [read_journal(child) for child in sorted(folder.iterdir()) if child.is_dir() and not is_link(child)]
