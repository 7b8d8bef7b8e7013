"""The process: ``python -m envdoctor`` and the command ``envdoctor``."""

import atexit
import gc
import os
import sys
from contextlib import suppress

# Python puts the current folder before everything else here. It may be a stranger's project: a module of its own that
# is called like one of a library would be run.
if sys.path and sys.path[0] in ("", os.getcwd()):  # noqa: PTH109 - pathlib is not imported before this
    del sys.path[0]

from envdoctor.cli.main import main


def run() -> None:
    """Run the command line, and leave without freeing one by one what the system frees at once.

    That, and the search for cycles in what is kept to the end anyway, takes a fifth of a check. What was registered for
    the end is done before.
    """
    gc.disable()
    code = main()
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)


if __name__ == "__main__":
    run()
