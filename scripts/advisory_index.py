"""Write the index of the advisories by package from the files in ``advisories/``: `python scripts/advisory_index.py`.

``--check`` fails where the index is not current; a test does the same.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from envdoctor.diagnose.advisories.book import shipped_advisories
from envdoctor.diagnose.advisories.selection import index_row

PAGE = Path(__file__).resolve().parent.parent / "advisories" / "packages-index.json"


def page() -> str:
    """Return the file's text: one row a line."""
    rows = [json.dumps(index_row(item)) for item in shipped_advisories().advisories]
    return "[\n" + ",\n".join(rows) + "\n]\n"


def main() -> int:
    """Write the file, or say whether it is current."""
    if "--check" not in sys.argv[1:]:
        PAGE.write_text(page(), encoding="utf-8")
        return 0
    current = PAGE.read_text(encoding="utf-8") == page()
    if not current:
        sys.stderr.write("the index of the advisories is not current: run `python scripts/advisory_index.py`\n")
    return 0 if current else 1


if __name__ == "__main__":
    raise SystemExit(main())
