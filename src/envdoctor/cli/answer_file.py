"""Answers on disk: each with what it was made of, for its question and its owner alone, and whole or not there.

Imported by the shortest path of the command line: nothing but what every interpreter has loaded anyway.
"""

from __future__ import annotations

import os
import stat

from envdoctor.adapters.inputs import signature
from envdoctor.adapters.user_folders import cache_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

__all__ = ["Answer", "digest", "lines_of", "read_answer", "still_holds", "write_answer"]

_FORM = b"envdoctor-answer/1"
_LONGEST = 16 * 1024 * 1024
"""Bytes of one answer, and twice that of all together."""
_MOST = 64
_NAME = 40
"""Hexadecimal digits: the length of a question's digest."""
_WORTH_A_FORK = 6000
"""States that take longer to compare than a process takes to fork: some 3 us each, in a virtual machine."""
_MOST_PROCESSES = 4
_MOUNT = "m"
"""Before the flags of a file system in place of a signature."""


class Answer:
    """What was said, and what it was made of."""

    __slots__ = ("code", "cut", "made", "passes_after_s", "states", "text")

    def __init__(
        self, text: str, code: int, made: float, *, passes_after_s: float, cut: int, states: Sequence[str]
    ) -> None:
        self.text = text
        self.code = code
        self.made = made
        """Seconds since the epoch, when the first thing was looked at."""
        self.passes_after_s = passes_after_s
        """Infinite where it follows from files alone."""
        self.cut = cut
        """Where in the text its age is told; 0: nowhere."""
        self.states = states
        """See ``lines_of``."""


def digest(data: bytes) -> str:
    """Return a cryptographic digest as 40 hexadecimal digits."""
    try:
        from _blake2 import blake2b  # hashlib loads OpenSSL, for longer than all else here takes
    except ImportError:
        from hashlib import blake2b
    return blake2b(data, digest_size=_NAME // 2).hexdigest()


def read_answer(question: str) -> Answer | None:
    """Return the answer that is kept for a question; None where there is none, or one that is not to be trusted."""
    folder = _folder()
    if not _is_ours(os.lstat(folder), stat.S_ISDIR):
        return None
    # Without waiting: what lies there may be a pipe.
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    descriptor = os.open(f"{folder}/{question}", flags)
    with open(descriptor, "rb") as stream:  # noqa: PTH123
        status = os.fstat(descriptor)
        if not _is_ours(status, stat.S_ISREG) or status.st_size > _LONGEST:
            return None
        form, checked, rest = stream.read().split(b"\n", 2)
    if form != _FORM or checked.decode() != digest(rest):
        return None
    asked, made, passes, code, cut, count, body = rest.decode("utf-8", "surrogateescape").split("\n", 6)
    if asked != question:
        return None
    lines = body.split("\n", int(count))
    text = lines.pop()
    _touch(f"{folder}/{question}")
    return Answer(text, int(code), float(made), passes_after_s=float(passes), cut=int(cut), states=lines)


def write_answer(question: str, answer: Answer) -> None:
    """Keep an answer, and let go of those that were not asked for longest. Raises OSError or ValueError."""
    if any("\n" in line for line in answer.states):
        raise ValueError("a path of two lines")
    head = (question, repr(answer.made), repr(answer.passes_after_s), str(answer.code), str(answer.cut))
    lines = "\n".join([*head, str(len(answer.states)), *answer.states, answer.text])
    rest = lines.encode("utf-8", "surrogateescape")
    if len(rest) > _LONGEST // 2:
        raise ValueError("too long to keep")
    folder = _folder()
    os.makedirs(folder, mode=0o700, exist_ok=True)  # noqa: PTH103
    if not _is_ours(os.lstat(folder), stat.S_ISDIR):
        raise ValueError("the folder is somebody else's")
    partial = f"{folder}/{question}.{os.urandom(4).hex()}"
    descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with open(descriptor, "wb") as stream:  # noqa: PTH123
            stream.write(b"\n".join([_FORM, digest(rest).encode(), rest]))
        os.replace(partial, f"{folder}/{question}")  # noqa: PTH105
    except BaseException:
        os.unlink(partial)  # noqa: PTH108
        raise
    _forget_the_oldest(folder)


def lines_of(statuses: Mapping[str, os.stat_result | None]) -> list[str]:
    """Return the states of absolute paths as lines, those in one folder together behind a line that names it."""
    lines: list[str] = []
    here = ""
    systems: dict[int, str] = {}
    for path, status in sorted(statuses.items()):
        folder, slash, name = path.rpartition("/")
        if folder + slash != here:
            here = folder + slash
            lines.append(f"\t{here}")
        lines.append(f"{signature(status)}\t{name}")
        if status is not None:
            systems.setdefault(status.st_dev, path)
    # Whether programs may be started there, say: a file system that is mounted anew otherwise changes no times.
    mounts = [f"{_MOUNT}{os.statvfs(path).f_flag}\t{path}" for path in systems.values()]
    return [*lines, "\t", *mounts]


def still_holds(states: Sequence[str]) -> bool:
    """Return whether everything is as it was; many states are compared by as many processes as there are processors."""
    processes = min(_MOST_PROCESSES, os.cpu_count() or 1, len(states) // (_WORTH_A_FORK // 2))
    if processes < 2 or not hasattr(os, "fork"):
        return _are_as_they_were(states)
    first, *others = _parts(states, processes)
    children = [_compare_in_child(part) for part in others]
    same = _are_as_they_were(first)
    # Each is waited for, whatever the others say.
    ends = [os.waitpid(child, 0)[1] for child in children]
    return same and not any(ends)


def _parts(states: Sequence[str], count: int) -> Iterator[list[str]]:
    """Yield ``count`` stretches of about one length, each with the line of its folder first."""
    length = -(-len(states) // count)
    for start in range(0, len(states), length):
        above = next((states[at] for at in range(start, -1, -1) if states[at][:1] == "\t"), "\t")
        yield [above, *states[start : start + length]]


def _compare_in_child(states: Sequence[str]) -> int:
    child = os.fork()
    if child == 0:
        code = 1
        try:
            code = 0 if _are_as_they_were(states) else 1
        finally:
            os._exit(code)
    return child


def _are_as_they_were(states: Sequence[str]) -> bool:
    state_of, here = os.stat, ""
    for line in states:
        then, _, name = line.partition("\t")
        if not then:
            here = name
            continue
        try:
            # As `signature` writes it, without the call.
            status = state_of(here + name)
            same = then == f"{status.st_ctime_ns} {status[1]} {status[6]}"
        except (OSError, ValueError):
            same = then == "-"
        if not same and not (then[0] == _MOUNT and _is_mounted_alike(then, name)):
            return False
    return True


def _is_mounted_alike(then: str, path: str) -> bool:
    try:
        return then == f"{_MOUNT}{os.statvfs(path).f_flag}"
    except (OSError, ValueError):
        return False


def _folder() -> str:
    return f"{cache_folder()}/answers"


def _is_ours(status: os.stat_result, kind: object) -> bool:
    """Return whether nobody else can have written it, and it is of that kind."""
    mode = status.st_mode
    return kind(mode) and status.st_uid == os.geteuid() and not mode & 0o022  # type: ignore[operator]


def _touch(path: str) -> None:
    try:
        os.utime(path, follow_symlinks=False)
    except OSError:
        return


def _is_name(name: str) -> bool:
    """Return whether a file of this name is an answer, or one that was being written; others are not ours."""
    question, _, partial = name.partition(".")
    hexadecimal = all(letter in "0123456789abcdef" for letter in question + partial)
    return len(question) == _NAME and len(partial) in (0, 8) and hexadecimal


def _forget_the_oldest(folder: str) -> None:
    with os.scandir(folder) as entries:
        names = [entry for entry in entries if _is_name(entry.name) and entry.is_file(follow_symlinks=False)]
    found = sorted(
        ((entry.stat(follow_symlinks=False), entry.path) for entry in names), key=lambda item: -item[0].st_mtime
    )
    total = 0
    for number, (status, path) in enumerate(found, start=1):
        total += status.st_size
        if number > 1 and (number > _MOST or total > 2 * _LONGEST):
            os.unlink(path)  # noqa: PTH108
