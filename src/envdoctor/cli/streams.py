"""Standard output that may be closed, full or left by its reader; and signals to end, answered like Ctrl-C."""

from __future__ import annotations

import errno
import io
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = [
    "ClosedStdout",
    "StreamError",
    "flush",
    "silence_stdout",
    "stopped_like_ctrl_c",
    "stream_error",
    "write_out",
]

_ENDING = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP", "SIGBREAK") if hasattr(signal, name))


@contextmanager
def stopped_like_ctrl_c() -> Iterator[None]:
    """Raise KeyboardInterrupt for the first such signal; those after it change nothing, for what is done is taken back.

    A signal that is ignored (``nohup``) stays so. Outside the main thread nothing changes.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    asked = False

    def stop(_number: int, _frame: object) -> None:
        nonlocal asked
        if not asked:
            asked = True
            raise KeyboardInterrupt

    before = {number: signal.getsignal(number) for number in _ENDING}
    for number, handler in before.items():
        if handler is signal.SIG_DFL:
            signal.signal(number, stop)
    try:
        yield
    finally:
        for number, handler in before.items():
            if handler is signal.SIG_DFL:
                signal.signal(number, signal.SIG_DFL)


# Of a file that a verb opens the error names the file; of a stream it names none.
_OF_STREAMS = (errno.ENOSPC, errno.EIO, errno.EBADF, errno.EFBIG)


class StreamError(Exception):
    """Standard output cannot be written to."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"cannot write to standard output: {reason}")


class ClosedStdout(io.TextIOBase):
    """Stands for a standard output that the caller has closed (`>&-`): what is written there is not lost in silence."""

    def __init__(self) -> None:
        # Holds the descriptor, so that no file or socket that is opened later is taken for standard output.
        self._held = os.open(os.devnull, os.O_WRONLY)

    def write(self, text: str) -> int:
        """Refuse all but nothing. Raises StreamError."""
        if text:
            raise StreamError("it is closed; where a verb has it, `--output FILE` writes a file")
        return 0


def write_out(text: str) -> None:
    """Write to standard output and flush it; a reader that has gone is no fault. Raises StreamError."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        silence_stdout()
    except OSError as error:
        raise StreamError(error.strerror or str(error)) from error


def flush() -> None:
    """Flush standard output while a failure can still be told. Raises StreamError."""
    write_out("")


def stream_error(error: OSError) -> str | None:
    """Return what is wrong with a stream, None where the error is about something else."""
    return (error.strerror or str(error)) if error.filename is None and error.errno in _OF_STREAMS else None


def silence_stdout() -> None:
    """Point standard output at nothing, with what its buffer still holds: Python would complain again at exit."""
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
    except (OSError, ValueError):
        return
