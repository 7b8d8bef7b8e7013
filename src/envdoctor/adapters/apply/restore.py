"""Taking fixes back by their journals, and bringing back a whole state after one that was cut short."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import field
from pathlib import Path
from typing import Any

from envdoctor.adapters.apply import planted_faults
from envdoctor.adapters.apply.backups import Backups, MissingBackup
from envdoctor.adapters.apply.durable import (
    KEEPS_OPEN_FILES,
    deferred,
    digest_of,
    first_in_use,
    partial_of,
    remove_file,
    shielded,
)
from envdoctor.adapters.apply.journal import Journal, JournalRecord, list_journals, own_folder
from envdoctor.adapters.apply.reach import check_reach
from envdoctor.adapters.apply.removal import (
    free_name,
    is_work,
    place_aside,
    put_aside,
    remove_environment,
    remove_last_folder,
    replaced_since,
)
from envdoctor.adapters.apply.snapshot import Entry, load_listing, take_listing
from envdoctor.model.dataclass import dataclass

__all__ = ["Restored", "recover", "roll_back", "take_back"]


def recover(environment: Path, project: Path | None = None) -> list[tuple[str, Restored]]:
    """Take back every fix that was cut short, newest first; return what was done. Raises OSError.

    Ctrl-C is answered when all of it is done: whoever pressed it wants nothing to be begun after that.

    ``project``: the folder whose files may be touched, see ``roll_back``.
    """
    records = [record for record in list_journals(environment) if record.state in ("open", "empty", "damaged")]
    _check_all(environment, records, project)
    with deferred():
        return [(record.id, _roll_back(environment, record)) for record in reversed(records)]


def take_back(environment: Path, ids: Iterable[str], project: Path | None = None) -> list[tuple[str, Restored]]:
    """Take back fixes in the order given. Raises OSError."""
    done = []
    records = {record.id: record for record in list_journals(environment)}
    chosen = [records[name] for name in ids if name in records]
    _check_all(environment, chosen, project)
    for record in chosen:
        with shielded():
            done.append((record.id, _roll_back(environment, record)))
    for _, restored in done:
        # What was put aside in an environment that has gone since is beside it now, and named there.
        restored.kept = {place: names for place, names in restored.kept.items() if os.path.lexists(place)}
    _forget_repairs(environment)
    return done


def _forget_repairs(project: Path) -> None:
    """Remove the journals of a project's repairs once all are taken back: nothing of them stays in the folder."""
    own = own_folder(project)
    records = list_journals(project) if own.is_dir() else []
    if not records or not all(record.state == "undone" and _is_repair(record) for record in records):
        return
    if not {child.name for child in own.iterdir()} <= {"journal", "lock", "made", ".gitignore"}:
        return
    with suppress(OSError):
        for record in records:
            shutil.rmtree(record.folder)
        (own / "journal").rmdir()
        (own / ".gitignore").unlink(missing_ok=True)


def _is_repair(record: JournalRecord) -> bool:
    changed = record.of_kind("file-before")
    return (
        bool(changed) and all(event["step"] == "repair" for event in changed) and not record.of_kind("packages-begin")
    )


def _check_all(environment: Path, records: Sequence[JournalRecord], project: Path | None) -> None:
    """Look through all journals before the first is worked by. Raises OutOfReach, and OSError where a program runs."""
    for record in records:
        if record.state != "empty":
            check_reach(environment, record, project)
    _check_free(environment, records)


@dataclass(slots=True)
class Restored:
    """What taking back did, for a person to read."""

    files: int = 0
    removed: int = 0
    environment_removed: bool = False
    kept: dict[str, list[str]] = field(default_factory=dict)
    """Where a person's own later work was put aside; what of a folder, by its name in the environment."""
    problems: list[str] = field(default_factory=list)


def roll_back(environment: Path, record: JournalRecord, project: Path | None = None) -> Restored:
    """Undo everything that a journal speaks of. Raises OSError where the disk does not let it.

    What a person changed or added after a finished fix is put aside, never thrown away. ``project``: the folder whose
    files may be touched besides the environment's; raises OutOfReach, before any change, where the journal has others.
    """
    _check_all(environment, [record], project)
    return _roll_back(environment, record)


def _roll_back(environment: Path, record: JournalRecord) -> Restored:
    restored = Restored()
    if record.state == "empty":
        shutil.rmtree(record.folder, ignore_errors=True)
        with suppress(OSError):
            record.folder.parent.rmdir()
        return restored
    finished = any(event["event"] == "end" for event in record.events)
    journal = Journal(record.folder)
    try:
        journal.write("undo-begin")
        created = bool(record.begin.get("created"))
        backups = Backups(record.folder / "backups")
        for event in reversed(record.events):
            # The order matters: a file of a package was patched after that package had come.
            if event["event"] == "packages-begin" and not created:
                _packages(environment, record, restored, finished=finished)
            elif event["event"] == "file-before" and not (created and _within(event, environment)):
                _file(event, backups, restored, finished=finished)
        _leftovers(record)
        if created:
            remove_environment(environment, record, restored.kept, finished=finished)
            restored.environment_removed = True
        else:
            journal.write("undo-end")
            shutil.rmtree(record.folder / "backups", ignore_errors=True)
    finally:
        journal.close()
    if created:
        remove_last_folder(environment, record)
    return restored


def _check_free(environment: Path, records: Iterable[JournalRecord]) -> None:
    """Raise OSError where what would be taken away runs and the system keeps it then: better before than half-way."""
    goes = any(record.begin.get("created") or record.of_kind("packages-begin") for record in records)
    if not KEEPS_OPEN_FILES or not goes:
        return
    used = first_in_use(environment / name for name, entry in take_listing(environment).items() if entry.kind == "f")
    if used is not None:
        raise OSError(errno.EBUSY, "nothing was changed, because another program runs it or has it open", str(used))


def _within(event: Mapping[str, Any], environment: Path) -> bool:
    return Path(event["real"]).is_relative_to(environment)


def _leftovers(record: JournalRecord) -> None:
    """Remove what a fix keeps beside its journal while it works."""
    for name in ("files", "cache", "built"):
        shutil.rmtree(record.folder / name, ignore_errors=True)


def _file(event: Mapping[str, Any], backups: Backups, restored: Restored, *, finished: bool) -> None:
    path = Path(event["real"])
    if os.path.lexists(partial_of(path)):
        remove_file(partial_of(path))
    current = digest_of(path)
    wanted = event["digest"]
    if current == wanted:
        return
    if finished and current is not None and current != event["result"]:
        # Somebody has worked on it since: their version stays beside the old one.
        aside = free_name(path.with_name(f"{path.name}.after-fix"))
        shutil.copy2(path, aside)
        restored.kept[str(aside)] = []
    if wanted is None:
        planted_faults.point()
        remove_file(path)
        _remove_byte_code(path)
        for folder in event.get("folders", ()):
            with suppress(OSError):
                Path(folder).rmdir()
    elif not path.parent.is_dir() and event["root"] == "project":
        restored.problems.append(f"`{path}` cannot be brought back: its folder is gone")
        return
    else:
        try:
            backups.put_back(wanted, path, mode=event["mode"], mtime_ns=event["mtime_ns"])
        except MissingBackup as error:
            restored.problems.append(str(error))
            return
    restored.files += 1


def _remove_byte_code(path: Path) -> None:
    """Remove what Python has made of a module that is gone."""
    if path.suffix == ".py":
        for cached in (path.parent / "__pycache__").glob(f"{path.stem}.*.pyc"):
            remove_file(cached)
        with suppress(OSError):
            (path.parent / "__pycache__").rmdir()


def _packages(environment: Path, record: JournalRecord, restored: Restored, *, finished: bool) -> None:
    before, copies = load_listing(record.folder / "before.json")
    after: Mapping[str, Entry] | None = None
    if finished and (record.folder / "after.json").is_file():
        after = load_listing(record.folder / "after.json")[0]
    now = take_listing(environment)
    aside = place_aside(environment, record)
    # What a patch had changed is the old file again by now, and no longer as the fix had left it.
    patched = {Path(event["real"]) for event in record.of_kind("file-before")}
    theirs: frozenset[str] = frozenset() if after is None else replaced_since(environment, before, after, now)
    for name in sorted(set(now) - set(before) - theirs, reverse=True):
        ours = environment / name in patched
        _remove_new(environment, name, now[name], None if ours else after, aside, restored)
    backups = Backups(record.folder / "backups")
    for name, entry in sorted(before.items()):
        if name in theirs:
            continue
        there = now.get(name)
        known = there is None or after is None or environment / name in patched or there.holds_same(after.get(name))
        if copies.get(name) and there != entry and not known and is_work(name):
            put_aside(environment, name, aside, restored.kept)
        _bring_back(environment, name, entry, there, copies.get(name), after, backups, restored)


def _remove_new(
    environment: Path,
    name: str,
    entry: Entry,
    after: Mapping[str, Entry] | None,
    aside: Path,
    restored: Restored,
) -> None:
    path = environment / name
    if entry.kind == "d":
        with suppress(OSError):
            path.rmdir()
        return
    planted_faults.point()
    ours = after is None or entry.holds_same(after.get(name)) or "__pycache__" in name
    if not ours:
        if after is not None and name not in after and "site-packages" not in name and not _is_script(name):
            return
        put_aside(environment, name, aside, restored.kept)
        return
    remove_file(path)
    restored.removed += 1


def _is_script(name: str) -> bool:
    return name.split("/", 1)[0] in ("bin", "Scripts")


def _bring_back(
    environment: Path,
    name: str,
    entry: Entry,
    now: Entry | None,
    copy: str | None,
    after: Mapping[str, Entry] | None,
    backups: Backups,
    restored: Restored,
) -> None:
    path = environment / name
    if entry.kind == "d":
        if now is None or now.kind != "d":
            path.mkdir(parents=True, exist_ok=True)
            path.chmod(entry.mode)
        return
    if entry.kind == "l":
        if now != entry:
            path.parent.mkdir(parents=True, exist_ok=True)
            remove_file(path)
            path.symlink_to(entry.link)
            restored.files += 1
        return
    if now == entry and (copy is None or digest_of(path) == copy):
        return
    if copy is None:
        # A cache is made anew by whoever needs it; and what only a person changed, after the fix, is theirs.
        changed_later = after is not None and after.get(name) == entry
        if not changed_later and "__pycache__" not in name:
            restored.problems.append(f"`{path}` was changed and there is no copy of it")
        return
    try:
        backups.put_back(copy, path, mode=entry.mode, mtime_ns=entry.mtime_ns)
        restored.files += 1
    except MissingBackup as error:
        restored.problems.append(str(error))
