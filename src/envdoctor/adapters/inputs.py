"""What an answer was made of: the files and folders that this process has looked at, each as it was then.

What is opened or listed is heard through the interpreter's audit events (PEP 578), so that no reader can forget to
tell; what is only asked whether it is there goes through the functions below. Whatever else reaches outside - a child,
a socket, a database - makes the answer one that cannot be kept, unless somebody vouches for it or says that it is
``passing``: then it can be kept for a while.

Imported by the shortest path of the command line: nothing but what every interpreter has loaded anyway.
"""

from __future__ import annotations

import os
import stat
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

__all__ = [
    "Inputs",
    "exists",
    "is_dir",
    "is_file",
    "passing",
    "saw",
    "signature",
    "unrepeatable",
    "vouch",
    "watch",
    "watched",
]

_REACHING_OUT = frozenset(
    {
        "ctypes.dlopen",
        "os.exec",
        "os.fork",
        "os.forkpty",
        "os.posix_spawn",
        "os.spawn",
        "os.startfile",
        "os.system",
        "socket.connect",
        "socket.getaddrinfo",
        "socket.gethostbyname",
        "sqlite3.connect",
        "subprocess.Popen",
    }
)
_MEASURING = ("ctypes.dlopen", "os.posix_spawn", "subprocess.Popen")
# What is read there is made while it is read, and the times say nothing of it.
_OF_THE_KERNEL = ("/proc/", "/sys/")
# Of this process's own modules the sources count, see `own_modules`.
_OWN_BYTE_CODE = f"{os.sep}__pycache__{os.sep}"
_WRITING = os.O_WRONLY | os.O_RDWR
_SETTLED_S = 2.0
"""How long before the first look everything must have come to rest: a change within one tick of the file system's clock
would leave no trace in the times."""


class Inputs:
    """What was looked at since ``watch``."""

    __slots__ = ("began", "obstacle", "passing", "statuses", "vouched")

    def __init__(self) -> None:
        self.began = time.time()
        self.statuses: dict[str, os.stat_result | None] = {}
        """By path, as given: how it was when it was first looked at; None where it was not there."""
        self.obstacle = ""
        """Why the answer cannot be kept; empty where it can."""
        self.passing = False
        """Whether something is in it that no file tells, such as the memory that is free."""
        self.vouched: set[tuple[str, ...]] = set()

    def saw(self, path: Any) -> None:
        """Note how ``path`` is, unless that is known. Never raises."""
        if isinstance(path, int):
            return
        try:
            name = os.fsdecode(path)
        except (TypeError, ValueError):
            self.obstacle = self.obstacle or "a path has no name"
            return
        if name in self.statuses:
            return
        status = self.statuses[name] = _status(name)
        if status is not None and not (stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)):
            # A device, a pipe: what comes out of it is not in its state.
            self.passing = True

    def own_modules(self) -> None:
        """Note the files of the modules that this process has imported besides the standard library."""
        standard = os.path.dirname(os.__file__) + os.sep  # noqa: PTH120 - pathlib is not loaded here
        sites = (standard + "site-packages", standard + "dist-packages")
        for module in tuple(sys.modules.values()):
            file = getattr(module, "__file__", None)
            if isinstance(file, str) and (not file.startswith(standard) or file.startswith(sites)):
                self.saw(file)

    @property
    def settled(self) -> bool:
        """Whether nothing of it had changed shortly before it was looked at."""
        latest = self.began - _SETTLED_S
        return all(
            status is None or (status.st_mtime < latest and status.st_ctime < latest)
            for status in self.statuses.values()
        )


_current: Inputs | None = None
_listening = False


def watch() -> Inputs:
    """Begin to note what is looked at, until ``watched`` is told to end."""
    global _current, _listening
    if not _listening:
        sys.addaudithook(_hear)
        _listening = True
    _current = Inputs()
    return _current


def watched(*, end: bool = False) -> Inputs | None:
    """Return what is being noted, None where nothing is. ``end``: note no more."""
    global _current
    inputs = _current
    if end:
        _current = None
    return inputs


def signature(status: os.stat_result | None) -> str:
    """Return what tells one state of a file or folder from another; ``-`` where there is none.

    POSIX.1-2017, 4.9: ``st_ctime`` of a folder changes with every entry that comes, goes or gets another name, a file's
    with its rights and with what is written to it (for a page that is mapped and already written to, once more when it
    is synchronized); unlike ``st_mtime`` it cannot be set back.
    """
    if status is None:
        return "-"
    return f"{status.st_ctime_ns} {status.st_ino} {status.st_size}"


def saw(paths: Iterable[Any]) -> None:
    """Note how the paths are, where anything is noted."""
    if _current is not None:
        for path in paths:
            _current.saw(path)


def is_file(path: str | os.PathLike[str]) -> bool:
    """Return whether a path is a file, as ``os.path.isfile``."""
    saw((path,))
    return os.path.isfile(path)  # noqa: PTH113


def is_dir(path: str | os.PathLike[str]) -> bool:
    """Return whether a path is a folder, as ``os.path.isdir``."""
    saw((path,))
    return os.path.isdir(path)  # noqa: PTH112


def exists(path: str | os.PathLike[str]) -> bool:
    """Return whether something is there, as ``os.path.exists``: a link to nothing is not."""
    saw((path,))
    return os.path.exists(path)  # noqa: PTH110


def unrepeatable(reason: str) -> None:
    """Say that what was seen is not in files: the answer cannot be kept."""
    if _current is not None:
        _current.obstacle = _current.obstacle or reason


def passing() -> None:
    """Say that from here on things are measured that no file tells, by children too: the answer passes."""
    if _current is not None:
        _current.passing = True


def vouch(argv: Iterable[str]) -> None:
    """Say of a child that is about to be started that all it answers follows from paths that its caller notes."""
    if _current is not None:
        _current.vouched.add(tuple(argv))


def _status(name: str) -> os.stat_result | None:
    try:
        return os.stat(name)  # noqa: PTH116
    except (OSError, ValueError):
        return None


def _hear(event: str, arguments: tuple[Any, ...]) -> None:
    inputs = _current
    if inputs is None:
        return
    if event == "open":
        path, _mode, flags = arguments
        if not flags & _WRITING:
            _heard_of(inputs, path)
    elif event in ("os.listdir", "os.scandir"):
        _heard_of(inputs, arguments[0] if arguments[0] is not None else ".")
    elif event in _REACHING_OUT and not _is_expected(inputs, event, arguments):
        inputs.obstacle = inputs.obstacle or event


def _heard_of(inputs: Inputs, path: Any) -> None:
    name = path if isinstance(path, str) else str(path)
    if os.path.normpath(name).startswith(_OF_THE_KERNEL):
        inputs.passing = True
    elif _OWN_BYTE_CODE not in name:
        inputs.saw(path)


def _is_expected(inputs: Inputs, event: str, arguments: tuple[Any, ...]) -> bool:
    if inputs.passing and event in _MEASURING:
        return True
    if event == "ctypes.dlopen":
        # Without a name it is the process itself, as whoever imports ctypes does.
        return not arguments[0]
    argv = arguments[1] if event == "subprocess.Popen" else ""
    return not isinstance(argv, str | bytes) and tuple(map(str, argv)) in inputs.vouched
