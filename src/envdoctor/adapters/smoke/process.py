"""A child process whose output is bounded and whose death is understood."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import re
import signal
import subprocess
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from envdoctor.adapters.process_tree import ProcessTree

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["Child", "describe_exit"]

LONGEST_LINE = 64 * 1024
KEPT_STDERR = 16 * 1024
"""Bytes of the end of stderr that are kept."""

_WINDOWS_EXCEPTIONS = {
    0xC0000005: "access violation",
    0xC000001D: "illegal instruction",
    0xC0000017: "out of memory",
    0xC0000094: "integer division by zero",
    0xC00000FD: "stack overflow",
    0xC0000135: "a DLL was not found",
    0xC0000139: "a DLL lacks an entry point",
    0xC0000142: "a DLL failed to initialise",
    0xC0000374: "heap corruption",
    0xC0000409: "fail-fast abort",
    0xC0000417: "invalid parameter to the C runtime",
    0xE06D7363: "uncaught C++ exception",
    0x40000015: "fatal application exit",
    0x80000003: "breakpoint",
}

_ABORT = 3
"""With which Windows's C runtime ends a program that calls ``abort``."""


def describe_exit(code: int, *, windows: bool = os.name == "nt") -> str:
    """Return in words how a process ended: a signal, a Windows exception code, or an exit status."""
    if code < 0 and -code < 128:
        try:
            name = signal.Signals(-code).name
        except ValueError:
            name = f"signal {-code}"
        return f"{name} (killed; was the system out of memory?)" if name == "SIGKILL" else name
    unsigned = code & 0xFFFFFFFF
    if unsigned in _WINDOWS_EXCEPTIONS:
        return f"{_WINDOWS_EXCEPTIONS[unsigned]} (0x{unsigned:08X})"
    if unsigned >= 0x80000000:
        return f"exception 0x{unsigned:08X}"
    if code == _ABORT and windows:
        return f"abort (exit status {code})"
    return f"exit status {code}"


class Child:
    """One run of the bundle. Its events come from ``event``; it is gone when the block ends."""

    def __init__(
        self, command: Sequence[str], *, stdin: bytes, environment: Mapping[str, str], directory: Path | None = None
    ) -> None:
        self._events: queue.Queue[dict[str, Any] | None] = queue.Queue(maxsize=4096)
        self._tail = bytearray()
        self._tree = ProcessTree(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=dict(environment),
            cwd=directory,
        )
        self.process = self._tree.process
        self._threads = [
            threading.Thread(target=self._read_events, args=(self.process.stdout,), daemon=True),
            threading.Thread(target=self._read_stderr, args=(self.process.stderr,), daemon=True),
        ]
        for thread in self._threads:
            thread.start()
        with contextlib.suppress(OSError):
            if self.process.stdin is not None:
                self.process.stdin.write(stdin)
                self.process.stdin.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
        for stream in (self.process.stdout, self.process.stderr):
            if stream is not None and not any(thread.is_alive() for thread in self._threads):
                stream.close()

    def event(self, timeout: float) -> dict[str, Any] | None:
        """Return the next event, None at the end of them. Raises TimeoutError after ``timeout`` seconds."""
        try:
            return self._events.get(timeout=max(timeout, 0.0))
        except queue.Empty:
            raise TimeoutError from None

    def wait(self, timeout: float = 10.0) -> int | None:
        """Return the exit status; None where it does not end even when killed (a driver can hold it)."""
        try:
            status = self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            return self.kill()
        # Its last words may still be in the pipe. What it started can hold the pipe open: not for ever.
        self._threads[1].join(2.0)
        return status

    def kill(self) -> int | None:
        """End the process and those that it started. Returns its exit status, None where it cannot be ended."""
        self._tree.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(10.0)
        for thread in self._threads:
            thread.join(2.0)
        return self.process.poll()

    def last_words(self) -> str:
        """Return what the child said last on stderr, without Python's frames."""
        lines = [line.strip() for line in bytes(self._tail).decode("utf-8", "replace").splitlines()]
        said = [line for line in lines if line and not _NOISE.match(line)]
        return " ".join(said[-2:])[-300:]

    def _read_events(self, stream: IO[bytes]) -> None:
        complete = True
        while line := stream.readline(LONGEST_LINE):
            whole, complete = complete and line.endswith(b"\n"), line.endswith(b"\n")
            if not whole:
                continue
            with contextlib.suppress(ValueError):
                event = json.loads(line)
                if isinstance(event, dict) and isinstance(event.get("event"), str):
                    self._events.put(event)
        self._events.put(None)

    def _read_stderr(self, stream: IO[bytes]) -> None:
        while chunk := os.read(stream.fileno(), 65536):
            self._tail += chunk
            del self._tail[:-KEPT_STDERR]


# Threads that crash together on Windows write into each other's lines, so that each part of one is known by itself.
_NOISE = re.compile(
    r"File |Binary file |Thread 0x|Current thread|Extension modules|Stack \(most|<no Python|Fatal Python|\.\.\.|code 0x"
    r"|[0-9a-f]{8}$|.*Windows fatal exception|.*\(most recent call first\)|.*\bline \d+ in [\w<>]+$"
)
