"""Made-up environments of any number of distributions, to be checked."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

__all__ = ["make_environment"]

_FILES = 120


def make_environment(root: Path, count: int) -> Path:
    """Return the Python of a venv with pip and ``count`` distributions, made where it is not there.

    Each has ten requirements (half of them behind extras or markers), a long description and 120 files with sizes.
    """
    python = root / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(root)], check=True)
        site = next(root.glob("lib/python*/site-packages"))
        for number in range(count):
            _write_distribution(site, number, count)
    return python


def _write_distribution(site: Path, number: int, count: int) -> None:
    name, package = f"made-up-{number}", f"made_up_{number}"
    info = site / f"{package}-1.{number}.dist-info"
    info.mkdir()
    needed = [f"made-up-{(number * 7 + step) % count}" for step in range(1, 11)]
    lines = [f"Requires-Dist: {other}>=1.0,<3" for other in needed[:5]]
    lines += [f'Requires-Dist: {other}>=9; extra == "more"' for other in needed[5:8]]
    lines += [f'Requires-Dist: {other}>=9; python_version < "3.0"' for other in needed[8:]]
    header = f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.{number}\nRequires-Python: >=3.8\n"
    (info / "METADATA").write_text(header + "\n".join(lines) + "\n\n" + "A description. " * 1500, encoding="utf-8")
    (info / "WHEEL").write_text("Wheel-Version: 1.0\nTag: py3-none-any\n", encoding="utf-8")
    (info / "INSTALLER").write_text("pip\n", encoding="utf-8")
    (site / package).mkdir()
    for row in range(_FILES):
        (site / package / f"module_{row}.py").write_text("#" * row, encoding="utf-8")
    rows = [f"{package}/module_{row}.py,sha256={'a' * 43},{row}" for row in range(_FILES)]
    (info / "RECORD").write_text("\n".join(rows) + "\n", encoding="utf-8")
