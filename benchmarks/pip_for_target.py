"""Run pip with the markers of another machine, which pip itself takes from the one it runs on.

python pip_for_target.py MARKERS.json PYTHON install ...
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from pip._internal.cli.main import main
from pip._vendor.packaging import markers

if __name__ == "__main__":
    named, python = sys.argv[1:3]
    own = markers.default_environment()
    other = {**own, **json.loads(Path(named).read_text(encoding="utf-8"))}
    other |= {"python_version": python, "python_full_version": f"{python}.0", "implementation_version": f"{python}.0"}
    markers.default_environment = lambda: dict(other)
    sys.exit(main(sys.argv[3:]))
