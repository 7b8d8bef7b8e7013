"""The texts that a person points at: a listing, facts, a log. One that is not understood hides no other."""

from __future__ import annotations

from pathlib import Path

from envdoctor.model.dataclass import dataclass
from envdoctor.model.environment import InstalledEnvironment
from envdoctor.model.fact import Facts
from envdoctor.model.unknown import Subject, SubjectKind, Unknown, UnknownKind
from envdoctor.ports import UsageError, open_typed

__all__ = ["Pastes", "option_of_paste", "read_log_file", "read_pastes"]

_LARGEST = 16 * 1024 * 1024
"""Bytes; more of a log is not looked at."""


@dataclass(slots=True)
class Pastes:
    """What the texts tell."""

    environment: InstalledEnvironment | None = None
    facts: Facts = Facts()
    log: str | None = None
    notes: tuple[str, ...] = ()
    """What of them was passed over."""
    not_read: tuple[Unknown, ...] = ()
    """What is wrong with those that were not understood, each with its file."""


class _NotUnderstood(UsageError):
    """A text that is not what its option is for; the message names its file."""

    def __init__(self, path: Path, message: str) -> None:
        super().__init__(message)
        self.unknown = Unknown(
            UnknownKind.NOT_UNDERSTOOD, Subject(SubjectKind.FILE, str(path)), file=str(path), cause=message
        )


def read_pastes(installed: Path | None, facts: Path | None, log: Path | None, *, alone: bool) -> Pastes:
    """Return what the texts tell; where one is not understood, what the others do.

    ``alone``: nothing but they is looked at. Raises UsageError for a file that cannot be opened, and where nothing
    that was given is understood.
    """
    pastes = Pastes()
    bad: list[Unknown] = []
    given = [(_read_listing, installed), (_read_facts, facts), (_read_log, log)]
    for read, path in given:
        if path is None:
            continue
        try:
            read(path, pastes)
        except _NotUnderstood as error:
            bad.append(error.unknown)
    if bad and alone and len(bad) == sum(path is not None for _, path in given):
        raise UsageError(*(unknown.cause for unknown in bad))
    pastes.not_read = tuple(bad)
    return pastes


def option_of_paste(path: Path) -> str | None:
    """Return the option that a file belongs to which was given as a project; None where it may be one.

    What `pip freeze` writes is a requirements file, too.
    """
    from envdoctor.adapters.probe.listing import ListingError, read_listing
    from envdoctor.diagnose.logs.log_failures import failures_of

    if path.suffix.lower() == ".log":
        return "--log"
    if path.suffix.lower() not in ("", ".txt") or "requirement" in path.name.lower():
        return None
    try:
        text = _text(path, "--installed")
    except UsageError:
        return None  # The reader of projects says what is wrong with the file.
    try:
        environment = read_listing(text, str(path))
    except ListingError:
        said = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("#"))
        return "--log" if failures_of(said) else None
    return None if environment.source == "pip freeze" else "--installed"


def _read_listing(path: Path, pastes: Pastes) -> None:
    from envdoctor.adapters.probe.host_pastes import facts_of_paste
    from envdoctor.adapters.probe.listing import ListingError, read_listing

    text = _text(path, "--installed")
    try:
        pastes.environment = read_listing(text, str(path))
    except ListingError as error:
        if not _is_check(text):
            raise _NotUnderstood(path, str(error)) from error
        pastes.log = text
        return
    pastes.facts = facts_of_paste(text) or Facts()
    _add_failures(text, pastes)


def _add_failures(text: str, pastes: Pastes) -> None:
    """Let a paste that shows a failure, a whole report of somebody say, be read as a log, too."""
    from envdoctor.diagnose.logs.log_failures import failures_of

    if failures_of(text) and text not in (pastes.log or ""):
        pastes.log = text if pastes.log is None else f"{pastes.log}\n{text}"


def _is_check(text: str) -> bool:
    """Return whether a text is what `pip check` or uv's says: given as a listing, it is read as the log that it is."""
    from envdoctor.diagnose.logs.log_lines import lines_of_log
    from envdoctor.diagnose.logs.unmet_output import unmet_in

    return next(unmet_in(lines_of_log(text), {}), None) is not None


def _read_facts(path: Path, pastes: Pastes) -> None:
    from envdoctor.adapters.probe.host_facts_file import FactsFileError, read_facts, unknown_names
    from envdoctor.adapters.probe.listing import lists_too, read_listing

    text = _text(path, "--facts")
    try:
        facts = read_facts(text, str(path))
    except FactsFileError as error:
        raise _NotUnderstood(path, str(error)) from error
    pastes.facts = pastes.facts.merged(facts)
    pastes.notes = tuple(unknown_names(facts, str(path)))
    if not text.lstrip().startswith("{"):
        _add_failures(text, pastes)
    if pastes.environment is None and lists_too(text):
        # collect_env tells both.
        pastes.environment = read_listing(text, str(path))


def _read_log(path: Path, pastes: Pastes) -> None:
    log = read_log_file(path)
    if not log.strip():
        raise _NotUnderstood(path, f"--log: `{path}` is empty")
    other = pastes.log or ""
    # The lines of the log itself keep their numbers.
    pastes.log = log if other in log else f"{log}\n{other}"


def read_log_file(path: Path) -> str:
    """Return a log; of one above 16 MB the end, with an empty line for each line before it, so that numbers hold.

    UTF-16, as PowerShell's redirection writes it, is read too. Raises UsageError for what cannot be read or is no text.
    """
    try:
        begin, end, lines = _ends(path)
    except OSError as error:
        raise UsageError(f"--log: cannot read `{path}`: {error.strerror or error}") from error
    encoding = _encoding(begin)
    if encoding is None:
        raise _NotUnderstood(path, f"--log: `{path}` is not a text file")
    return "\n" * lines + end.decode(encoding, "replace").removeprefix("\ufeff")


def _ends(path: Path) -> tuple[bytes, bytes, int]:
    """Return a file's first bytes, its end, and how many lines there are before that end; it may be a pipe."""
    lines = 0
    with open_typed(path) as file:
        end = file.read(_LARGEST)
        begin = end[:4096]
        while more := file.read(_LARGEST):
            # An even number is left out, since in UTF-16 a character has two bytes or four.
            left_out = len(end) + len(more) - _LARGEST
            left_out += left_out % 2
            lines += end.count(b"\n", 0, left_out)
            end = end[left_out:] + more
    return begin, end, lines


def _text(path: Path, option: str) -> str:
    """Return a text file. Raises UsageError where it cannot be read, _NotUnderstood where it is no text."""
    try:
        with open_typed(path) as stream:
            data = stream.read(_LARGEST)
    except OSError as error:
        raise UsageError(f"{option}: cannot read `{path}`: {error.strerror or error}") from error
    encoding = _encoding(data[:4096])
    if encoding is None:
        raise _NotUnderstood(path, f"{option}: `{path}` is not a text file")
    return data.decode(encoding, "replace").removeprefix("\ufeff")


def _encoding(begin: bytes) -> str | None:
    """Return a text's encoding by its first bytes, None where it is no text; PowerShell's redirection writes UTF-16."""
    if begin[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return "utf-16-le" if begin[:1] == b"\xff" else "utf-16-be"
    if b"\0" not in begin:
        return "utf-8"
    # Without a mark, too, every other byte of a mostly Latin text is empty, and only those.
    if b"\0" not in begin[::2] and begin[1::2].count(0) * 2 > len(begin) // 2:
        return "utf-16-le"
    return None
