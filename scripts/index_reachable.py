"""Exit 0 where the default package index answers, 1 where it cannot be reached."""

from __future__ import annotations

import sys

from packaging.utils import canonicalize_name

from envdoctor.adapters.index import IndexSettings, open_index
from envdoctor.ports import IndexUnavailable


def main() -> int:
    """Ask for one small page."""
    try:
        with open_index(IndexSettings(use_cache=False)) as index:
            index.page(canonicalize_name("iniconfig"))
    except IndexUnavailable as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
