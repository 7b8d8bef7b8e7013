"""Packs the child into one file that any Python 3.8 or later can run.

python -m envdoctor.adapters.smoke.bundle smoke.pyz
OTHER_PYTHON smoke.pyz --plan '{"backend": "auto", "items": [{"kernel": "gemm-float32"}]}'
"""

from __future__ import annotations

import io
import sys
import zipfile
from pathlib import Path

__all__ = ["bundle_bytes", "write_bundle"]

PACKAGE = "envdoctor_smoke"
_ENTRY = f"""import sys
from {PACKAGE}.child.entry import main
sys.exit(main(sys.argv[1:]))
"""


def _sources() -> list[tuple[str, str]]:
    here = Path(__file__).parent
    found = [
        (f"{PACKAGE}/__init__.py", ""),
        (f"{PACKAGE}/kernel_catalogue.py", (here / "kernel_catalogue.py").read_text("utf-8")),
    ]
    children = sorted((here / "child").rglob("*.py"))
    return found + [(f"{PACKAGE}/{path.relative_to(here).as_posix()}", path.read_text("utf-8")) for path in children]


def bundle_bytes() -> bytes:
    """Return the child as a zip application; the same sources give the same bytes."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name, text in (("__main__.py", _ENTRY), *_sources()):
            archive.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), text)
    return buffer.getvalue()


def write_bundle(path: Path) -> Path:
    """Write the child to ``path`` and return it."""
    path.write_bytes(bundle_bytes())
    return path


if __name__ == "__main__":
    write_bundle(Path(sys.argv[1]))
