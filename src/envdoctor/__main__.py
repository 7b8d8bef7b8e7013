"""``python -m envdoctor``."""

import os
import sys

# Python puts the current folder before everything else here. It may be a stranger's project: a module of its own that
# is called like one of a library would be run.
if sys.path and sys.path[0] in ("", os.getcwd()):  # noqa: PTH109 - pathlib is not imported before this
    del sys.path[0]

from envdoctor.cli.main import main

if __name__ == "__main__":
    raise SystemExit(main())
