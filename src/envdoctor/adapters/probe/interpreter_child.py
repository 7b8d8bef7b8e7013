"""A child process that cannot hang us, fill our memory or leave grandchildren behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import IO, Any

from envdoctor.adapters.process_tree import ProcessTree
from envdoctor.model.dataclass import dataclass

__all__ = ["BoundedChild", "ChildOutcome", "answer_in", "last_line", "run_bounded"]

_DRAIN_S = 0.5


@dataclass(frozen=True, slots=True)
class ChildOutcome:
    """How a child ended."""

    status: str
    """``exited``, ``signalled``, ``timed-out`` or ``cannot-start``."""
    code: int | None = None
    """Exit status; the signal's number where one killed it."""
    stdout: bytes = b""
    stderr: bytes = b""
    detail: str = ""
    """``exit status 3``, ``SIGABRT``, ``did not end within 5 s`` or the system's reason for not starting."""


class _Reader(threading.Thread):
    """Reads a pipe to its end and keeps the last ``limit`` bytes."""

    def __init__(self, pipe: IO[bytes], limit: int) -> None:
        super().__init__(daemon=True)
        self.pipe = pipe
        self.limit = limit
        self.kept = bytearray()
        self.start()

    def run(self) -> None:
        with suppress(OSError, ValueError):
            while chunk := os.read(self.pipe.fileno(), 65536):
                self.kept += chunk
                if len(self.kept) > 2 * self.limit:
                    del self.kept[: -self.limit]

    def result(self) -> bytes:
        return bytes(self.kept[-self.limit :])


class BoundedChild:
    """A child that has been started, and whose end is waited for later.

    It has no input; it and its process group are killed ``timeout_s`` seconds after it was started. The last
    ``limit_bytes`` of stdout and of stderr are kept; what comes before is read and dropped.
    """

    def __init__(
        self,
        argv: Sequence[str],
        *,
        timeout_s: float,
        limit_bytes: int = 1024 * 1024,
        environment: Mapping[str, str] | None = None,
        cwd: str | None = None,
    ) -> None:
        self.timeout_s = timeout_s
        self.limit_bytes = limit_bytes
        self.begin = time.monotonic()
        self.tree: ProcessTree | None = None
        self.reason = ""
        try:
            self.tree = ProcessTree(
                argv,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=dict(environment) if environment is not None else None,
                cwd=cwd,
            )
        except (OSError, ValueError) as error:
            self.reason = getattr(error, "strerror", None) or str(error)

    def wait(self) -> ChildOutcome:
        """Wait for the end, at most until the time is over. To be called once."""
        if self.tree is None:
            return ChildOutcome("cannot-start", detail=self.reason)
        child = self.tree.process
        assert child.stdout is not None and child.stderr is not None  # noqa: S101 - both are pipes
        readers = (_Reader(child.stdout, self.limit_bytes), _Reader(child.stderr, self.limit_bytes))
        timed_out = False
        try:
            child.wait(timeout=max(0.0, self.begin + self.timeout_s - time.monotonic()))
        except subprocess.TimeoutExpired:
            timed_out = True
        finally:
            if timed_out or child.poll() is None:
                _kill(self.tree)
            _drain(self.tree, readers)
        stdout, stderr = (reader.result() for reader in readers)
        if timed_out:
            return ChildOutcome("timed-out", None, stdout, stderr, f"did not end within {round(self.timeout_s, 2):g} s")
        return _outcome(child.returncode, stdout, stderr)


def run_bounded(
    argv: Sequence[str],
    *,
    timeout_s: float,
    limit_bytes: int = 1024 * 1024,
    environment: Mapping[str, str] | None = None,
    cwd: str | None = None,
) -> ChildOutcome:
    """Run ``argv`` and wait for its end; see BoundedChild."""
    return BoundedChild(argv, timeout_s=timeout_s, limit_bytes=limit_bytes, environment=environment, cwd=cwd).wait()


def _kill(tree: ProcessTree) -> None:
    tree.kill()
    with suppress(OSError):
        tree.process.kill()
    with suppress(subprocess.TimeoutExpired):
        tree.process.wait(timeout=2)


def _drain(tree: ProcessTree, readers: tuple[_Reader, _Reader]) -> None:
    deadline = time.monotonic() + _DRAIN_S
    for reader in readers:
        reader.join(max(0.0, deadline - time.monotonic()))
    if any(reader.is_alive() for reader in readers):
        # Somebody whom the child started still holds the pipe.
        tree.kill()
        for reader in readers:
            reader.join(_DRAIN_S)
    for reader in readers:
        # Closing a pipe under a thread that reads it could block for ever; such a thread keeps its pipe.
        if not reader.is_alive():
            reader.pipe.close()


def _outcome(code: int, stdout: bytes, stderr: bytes) -> ChildOutcome:
    if code < 0:
        try:
            name = signal.Signals(-code).name
        except ValueError:
            name = f"signal {-code}"
        return ChildOutcome("signalled", -code, stdout, stderr, name)
    if code >= 0xC0000000:
        # Windows ends a crashed process with its NTSTATUS: 0xC0000005 is an access violation.
        return ChildOutcome("signalled", code, stdout, stderr, f"exception 0x{code:08X}")
    return ChildOutcome("exited", code, stdout, stderr, f"exit status {code}")


def answer_in(output: bytes, mark: bytes) -> dict[str, Any] | None:
    """Return the last answer that our script wrote between its marks, None where there is none or it is not one."""
    output = output.replace(b"\r\n", b"\n")
    start = output.rfind(b"<<" + mark + b"\n")
    end = output.find(b"\n" + mark + b">>", start)
    if start < 0 or end < 0:
        return None
    try:
        answer = json.loads(output[start + len(mark) + 3 : end])
    except (ValueError, RecursionError):
        return None
    return answer if isinstance(answer, dict) else None


def last_line(output: bytes) -> str:
    """Return the last line of a program's output that says something, at most 300 characters."""
    lines = [line.strip() for line in output.decode("utf-8", "replace").splitlines()]
    said = next((line for line in reversed(lines) if line), "")
    return said if len(said) <= 300 else f"{said[:299]}…"
