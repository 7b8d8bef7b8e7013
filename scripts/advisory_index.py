"""Write the index of the advisories by package from the files in ``advisories/``: `python scripts/advisory_index.py`.

``--check`` fails where the index is not current; a test does the same.
"""

from __future__ import annotations

import sys
from pathlib import Path

from envdoctor.diagnose.advisories.book import shipped_advisories
from envdoctor.diagnose.advisories.selection import index_row

PAGE = Path(__file__).resolve().parent.parent / "src" / "envdoctor" / "diagnose" / "advisories" / "packages_index.py"
HEAD = '''# ruff: noqa: E501 - a table that a script writes
"""Which advisories can speak of which packages; written by scripts/advisory_index.py."""

from __future__ import annotations

__all__ = ["INDEX"]

Row = tuple[str, str, tuple[tuple[str, ...], ...], tuple[str, ...]]
"""Code; file; sets of names of which one each must be there; for those without such sets, the names they mention."""

# fmt: off
INDEX: tuple[Row, ...] = (
'''


def page() -> str:
    """Return the module's text."""
    rows = [f"    {index_row(item)!r},\n".replace("'", '"') for item in shipped_advisories().advisories]
    return HEAD + "".join(rows) + ")\n"


def main() -> int:
    """Write the module, or say whether it is current."""
    if "--check" not in sys.argv[1:]:
        PAGE.write_text(page(), encoding="utf-8")
        return 0
    current = PAGE.read_text(encoding="utf-8") == page()
    if not current:
        sys.stderr.write("the index of the advisories is not current: run `python scripts/advisory_index.py`\n")
    return 0 if current else 1


if __name__ == "__main__":
    raise SystemExit(main())
