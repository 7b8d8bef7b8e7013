"""The process: ``python -m envdoctor`` and the command ``envdoctor``."""

import os
import sys


def _stopped(*_: object) -> None:
    """Answer Ctrl-C where no verb has begun, or where all is said: in one line, and with its exit code."""
    try:
        os.write(2, b"interrupted; nothing half-done is left behind\n")
    finally:
        os._exit(130)


try:
    import signal

    _is_entry = __name__ == "__main__" or os.path.basename(sys.argv[0]).startswith("envdoctor")  # noqa: PTH119 - as below
    if _is_entry and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        # Python's own handler would tell with a traceback what was imported just now.
        signal.signal(signal.SIGINT, _stopped)

    import atexit
    import gc
    from contextlib import suppress

    # Python puts the current folder before everything else here. It may be a stranger's project: a module of its own
    # that is called like one of a library would be run.
    with suppress(OSError):  # The current folder may be gone; Python has put nothing there, then.
        if sys.path and sys.path[0] in ("", os.getcwd()):  # noqa: PTH109 - pathlib is not imported before this
            del sys.path[0]

    from envdoctor.cli.main import main
except KeyboardInterrupt:
    _stopped()


def _begin() -> None:
    """Let Ctrl-C reach the verb, which takes back what it has begun."""
    if signal.getsignal(signal.SIGINT) is _stopped:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def run() -> None:
    """Run the command line, and leave without freeing one by one what the system frees at once.

    That, and the search for cycles in what is kept to the end anyway, takes a fifth of a check. What was registered for
    the end is done before.
    """
    gc.disable()
    try:
        code = main(begin=_begin)
        atexit._run_exitfuncs()
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                stream.flush()
    except KeyboardInterrupt:
        _stopped()
    os._exit(code)


if __name__ == "__main__":
    run()
