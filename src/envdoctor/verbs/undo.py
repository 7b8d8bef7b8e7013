"""``undo``: what earlier fixes have left, which of them to take back, and in which order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from envdoctor.model.event import EventKind, FixEntry, TreatmentEvent
from envdoctor.ports import UsageError
from envdoctor.shell_line import shell_line
from envdoctor.verbs.environment_places import default_environment, treated_here, typed_environment

if TYPE_CHECKING:
    from envdoctor.adapters.apply.restore import Restored

__all__ = [
    "WAIT_S",
    "NothingToUndo",
    "Say",
    "choose_fixes",
    "find_fixes",
    "is_cut_short",
    "recover_cut_short",
    "refuse_damaged",
    "take_back_fixes",
    "to_take_back",
    "treated_together",
    "undo_command",
    "waiting",
]

Say: TypeAlias = Callable[[TreatmentEvent], None]
"""Tells the person who waits, at once."""
WAIT_S = 60.0
"""Seconds to wait for whoever else treats an environment."""


def waiting(say: Say) -> Callable[[str], None]:
    """Return what tells that somebody else treats the environment."""
    return lambda text: say(TreatmentEvent(EventKind.WAITING, detail=text))


def is_cut_short(environment: Path) -> bool:
    """Return whether a fix was begun here and neither ended nor taken back."""
    from envdoctor.adapters.apply.journal import list_journals

    return any(record.state in ("open", "empty") for record in list_journals(environment))


def refuse_damaged(environment: Path, project: Path) -> None:
    """Raise UsageError where a journal is damaged: what a fix finds there is not what any of ours has left."""
    from envdoctor.adapters.apply.journal import list_journals
    from envdoctor.adapters.apply.reach import OutOfReach, check_reach

    for record in list_journals(environment):
        if record.state == "damaged":
            try:
                check_reach(environment, record, project)
            except OutOfReach as error:
                raise UsageError(str(error.strerror)) from error


def recover_cut_short(environment: Path, project: Path, say: Say) -> None:
    """Put an environment back as it was before a fix that was cut short. Raises UsageError."""
    from envdoctor.adapters.apply.holding import Busy, hold_environment
    from envdoctor.adapters.apply.reach import OutOfReach
    from envdoctor.adapters.apply.restore import recover

    try:
        with hold_environment(environment, wait_s=WAIT_S, say=waiting(say)):
            for name, restored in recover(environment, project):
                say(TreatmentEvent(EventKind.RECOVERED, name))
                for problem in restored.problems:
                    say(TreatmentEvent(EventKind.PROBLEM, detail=problem))
    except (Busy, OutOfReach) as error:
        raise UsageError(str(getattr(error, "strerror", None) or error)) from error


def undo_command(environment: Path, project: Path) -> str:
    """Return the command that takes the last fix of an environment back, as it can be typed here."""
    words = ["envdoctor", "undo"]
    if environment != default_environment(Path.cwd()):
        words += ["--env", str(environment)]
    if environment.parent != project:
        words += ["--project", str(project)]
    return shell_line(words)


def find_fixes(env: Path | None, project: Path | None = None, fix: str | None = None) -> dict[str, list[FixEntry]]:
    """Return the fixes of the environment that was typed, else of those that a fix has treated here; oldest first.

    Where no environment was typed, the project counts, too: `repair --write` keeps its journal there. Where a project
    was typed, an environment that lies elsewhere counts with the last fixes of that project alone. Raises UsageError
    where there is no such project, and where a folder was typed in the place of ``fix``.
    """
    found = _fixes(env, project)
    if fix is not None and not any(entry.id.startswith(fix) for entries in found.values() for entry in entries):
        _refuse_folder(fix)
    return found


def _fixes(env: Path | None, project: Path | None) -> dict[str, list[FixEntry]]:
    if project is not None and not project.exists():
        raise UsageError(f"`{project}`: there is no such file or directory")
    if env is not None:
        environment = typed_environment(env)
        return {str(environment): _entries(environment)}
    own = (project or Path.cwd()).absolute()
    written = [own] if (own / ".envdoctor" / "journal").is_dir() else []
    found = {str(path): _entries(path) for path in (*treated_here(own), *written)}
    for path in treated_here(Path.cwd()) if project is not None else ():
        entries = _last_of(own, _entries(path)) if str(path) not in found else []
        if entries:
            found[str(path)] = entries
    place = default_environment(own)
    return found or {str(place if place.exists() else own): []}


def _last_of(project: Path, entries: Sequence[FixEntry]) -> list[FixEntry]:
    """Return the fixes of a project on which none of another one was made."""
    others = [at for at, entry in enumerate(entries) if entry.state != "undone" and not _is_of(project, entry)]
    return [entry for entry in entries[others[-1] + 1 if others else 0 :] if _is_of(project, entry)]


def _is_of(project: Path, entry: FixEntry) -> bool:
    return entry.project != "" and Path(entry.project).resolve() == project.resolve()


def _entries(environment: Path) -> list[FixEntry]:
    from envdoctor.adapters.apply.journal import list_journals

    return [
        FixEntry(
            id=record.id,
            state="open" if record.state == "empty" else record.state,
            time=str(record.begin.get("time", "")),
            profile=record.begin.get("profile"),
            summary=tuple(record.begin.get("summary", ())),
            follows=record.begin.get("follows"),
            group=str(record.begin.get("group") or ""),
            project=str(record.begin.get("project") or ""),
        )
        for record in list_journals(environment)
    ]


def choose_fixes(found: Mapping[str, Sequence[FixEntry]], fix: str | None) -> list[tuple[Path, tuple[str, ...]]]:
    """Return the environments that are taken back, with the fixes that go: the last one, or the one asked for.

    Raises UsageError where there is none.
    """
    if fix is None:
        names = treated_together(found)
    else:
        names = tuple(name for name, entries in found.items() if any(entry.id.startswith(fix) for entry in entries))
    chosen = [(Path(name), _chosen(name, found[name], fix)) for name in names or list(found)[:1]]
    # The last that was treated goes first: what all of them patch, the first had patched.
    return sorted(chosen, key=lambda item: item[1], reverse=True)


def _refuse_folder(fix: str) -> None:
    """Raise UsageError, with what was meant, where a folder stands in the place of a fix's id."""
    path = Path(fix)
    if path.is_dir():
        environment = (path / "pyvenv.cfg").is_file() or (path / "conda-meta").is_dir()
        command = shell_line(["envdoctor", "undo", "--env" if environment else "--project", fix])
        raise UsageError(f"`{fix}` is a folder, and no id of a fix: `{command}` takes back what was done there")


def _chosen(name: str, entries: Sequence[FixEntry], fix: str | None) -> tuple[str, ...]:
    try:
        return to_take_back(entries, fix)
    except NothingToUndo as error:
        raise UsageError(f"`{name}`: {error}") from error


class NothingToUndo(Exception):
    """No fix is there to take back; the text says what there is."""


def treated_together(latest: Mapping[str, Sequence[FixEntry]]) -> tuple[str, ...]:
    """Return the environments whose last fix is taken back by one command: those of the latest, and of its group.

    ``latest``: the fixes of each environment, oldest first. Empty where no fix stands anywhere.
    """
    last = {name: standing[-1] for name, entries in latest.items() if (standing := _standing(entries))}
    if not last:
        return ()
    newest = max(last.values(), key=lambda entry: entry.id)
    return tuple(name for name, entry in last.items() if entry is newest or _together(entry, newest))


def _together(one: FixEntry, other: FixEntry) -> bool:
    return one.group != "" and one.group == other.group


def _standing(entries: Sequence[FixEntry]) -> list[FixEntry]:
    return [entry for entry in entries if entry.state in ("done", "open", "damaged")]


def to_take_back(entries: Sequence[FixEntry], chosen: str | None = None) -> tuple[str, ...]:
    """Return the ids of fixes to take back, newest first. Raises NothingToUndo.

    What was cut short always goes. Without a choice the last fix goes, in both of its steps also where the second was
    cut short; a chosen one goes with every later one, because they were made on top of it.
    """
    standing = _standing(entries)
    if chosen is not None:
        matches = [entry for entry in entries if entry.id == chosen or entry.id.startswith(chosen)]
        if not matches:
            known = ", ".join(entry.id for entry in standing) or "none"
            raise NothingToUndo(f"there is no fix `{chosen}` here; fixes: {known}")
        if matches[0].state == "undone":
            raise NothingToUndo(f"`{matches[0].id}` was taken back already")
        return tuple(entry.id for entry in reversed(standing) if entry.id >= matches[0].id)
    if not standing:
        raise NothingToUndo("there is no fix and no written repair to take back here")
    last = next((entry for entry in standing if entry.state == "open"), standing[-1])
    first = last.follows or last.id
    return tuple(entry.id for entry in reversed(standing) if entry.id >= first)


def take_back_fixes(environment: Path, ids: tuple[str, ...], project: Path | None, say: Say, *, quiet: bool) -> bool:
    """Take fixes of an environment back, newest first, and say how it went; return whether all of it came back."""
    from envdoctor.adapters.apply.holding import Busy, hold_environment
    from envdoctor.adapters.apply.reach import OutOfReach
    from envdoctor.adapters.apply.restore import take_back

    whole = True
    try:
        with hold_environment(environment, wait_s=WAIT_S, say=waiting(say)):
            here = None if environment.is_relative_to(Path.cwd()) else Path.cwd()
            for name, restored in take_back(environment, ids, project or here):
                whole = whole and not restored.problems
                if not quiet or restored.problems:
                    for event in _events(name, restored):
                        say(event)
    except OutOfReach as error:
        say(TreatmentEvent(EventKind.REFUSED, detail=str(error.strerror)))
        return False
    except Busy as error:
        say(TreatmentEvent(EventKind.BUSY, detail=str(error)))
        return False
    except OSError as error:
        say(TreatmentEvent(EventKind.HALF_TAKEN_BACK, str(error.filename or ""), detail=error.strerror or str(error)))
        return False
    return whole


def _events(name: str, restored: Restored) -> Iterator[TreatmentEvent]:
    yield TreatmentEvent(
        EventKind.TAKEN_BACK,
        name,
        restored=restored.files,
        removed=restored.removed,
        environment_removed=restored.environment_removed,
    )
    yield from (TreatmentEvent(EventKind.KEPT, place, names=tuple(names)) for place, names in restored.kept.items())
    yield from (TreatmentEvent(EventKind.PROBLEM, detail=problem) for problem in restored.problems)
