"""A child process that never outlives its tree: all that it starts ends with it.

On POSIX that is a session of its own, whose group is killed. Windows has no such groups: a job object holds the child
and everything that it starts, and ends all of them, also where this process is killed and the job's handle closes.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

__all__ = ["ProcessTree"]


class ProcessTree:
    """A child that was started. ``session``: on POSIX, whether it gets a session of its own, which ``kill`` needs."""

    def __init__(self, argv: Sequence[str], *, session: bool = True, **options: Any) -> None:
        """Start it without a shell; ``options`` are those of ``subprocess.Popen``. Raises OSError or ValueError."""
        self._session = session
        if sys.platform == "win32":
            # Suspended, so that it starts nothing before it is in the job; Ctrl-C comes to it through us alone.
            flags = _SUSPENDED | (subprocess.CREATE_NEW_PROCESS_GROUP if session else 0)
            try:
                self.process = subprocess.Popen(list(argv), creationflags=flags, **options)  # noqa: S603
            except OSError as error:
                error.filename = error.filename or argv[0]  # Windows does not say what it has not found.
                raise
            self._job = _tied(int(self.process._handle))  # type: ignore[attr-defined,unused-ignore]
        else:
            self.process = subprocess.Popen(list(argv), start_new_session=session, **options)  # noqa: S603

    def kill(self) -> None:
        """End the child and all that it started, those that outlive it included; they are not waited for."""
        if sys.platform == "win32":
            _end(self._job)
            with contextlib.suppress(OSError):
                self.process.kill()
        elif self._session:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process.pid, signal.SIGKILL)
        else:
            self.process.kill()


if sys.platform == "win32":
    import ctypes
    from ctypes import wintypes

    _SUSPENDED = 0x4
    _KILL_ON_CLOSE = 0x2000
    _EXTENDED_LIMITS = 9

    class _BasicLimits(ctypes.Structure):
        _fields_ = (
            ("process_time", ctypes.c_int64),
            ("job_time", ctypes.c_int64),
            ("flags", wintypes.DWORD),
            ("least_memory", ctypes.c_size_t),
            ("most_memory", ctypes.c_size_t),
            ("most_processes", wintypes.DWORD),
            ("affinity", ctypes.c_size_t),
            ("priority", wintypes.DWORD),
            ("scheduling", wintypes.DWORD),
        )

    class _Limits(ctypes.Structure):
        _fields_ = (("basic", _BasicLimits), ("io", ctypes.c_uint64 * 6), ("memory", ctypes.c_size_t * 4))

    _kernel = ctypes.WinDLL("kernel32", use_last_error=True)
    _kernel.CreateJobObjectW.restype = wintypes.HANDLE

    class _Job:
        """A job's handle, closed when nobody has it any more; with it ends what is still in the job."""

        def __init__(self) -> None:
            self.handle = wintypes.HANDLE(_kernel.CreateJobObjectW(None, None))

        def __del__(self) -> None:
            if self.handle:
                _kernel.CloseHandle(self.handle)

    def _tied(process: int) -> _Job:
        """Put a suspended process into a job, and let it run; where no job is to be had it runs without."""
        job, limits = _Job(), _Limits()
        limits.basic.flags = _KILL_ON_CLOSE
        if job.handle:
            _kernel.SetInformationJobObject(job.handle, _EXTENDED_LIMITS, ctypes.byref(limits), ctypes.sizeof(limits))
            _kernel.AssignProcessToJobObject(job.handle, wintypes.HANDLE(process))
        ctypes.WinDLL("ntdll").NtResumeProcess(wintypes.HANDLE(process))
        return job

    def _end(job: _Job) -> None:
        if job.handle:
            _kernel.TerminateJobObject(job.handle, 1)
