"""Where inputs come from, and a folder in memory for the readers that want files."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

__all__ = ["ROOT", "as_file", "as_text", "former_findings", "seeds"]

ROOT = Path(__file__).resolve().parents[1]
CORPUS = Path(__file__).parent / "corpus"
_MEMORY = Path("/dev/shm")  # noqa: S108 - a folder of our own is made in it


def seeds(*kinds: str) -> tuple[bytes, ...]:
    """Return the inputs that were written for these kinds."""
    return tuple(path.read_bytes() for kind in kinds for path in sorted((CORPUS / kind).iterdir()))


def former_findings(reader: str) -> tuple[bytes, ...]:
    """Return the inputs that a reader did not take as it should, before that was mended."""
    folder = Path(__file__).parent / "findings" / reader.replace(" ", "-")
    return tuple(path.read_bytes() for path in sorted(folder.iterdir())) if folder.is_dir() else ()


def _folder() -> Path:
    made = Path(tempfile.mkdtemp(prefix="envdoctor-fuzz-", dir=_MEMORY if _MEMORY.is_dir() else None))
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    return made


_FOLDER = _folder()


def as_file(read: Callable[[Path], object], *parts: str) -> Callable[[bytes], object]:
    """Return a reader of bytes that puts them into a file of this name, alone in a folder of its own."""
    path = _FOLDER.joinpath(f"{len(list(_FOLDER.iterdir()))}", *parts)
    path.parent.mkdir(parents=True)

    def reading(data: bytes) -> object:
        path.write_bytes(data)
        return read(path)

    return reading


def as_text(read: Callable[[str], object]) -> Callable[[bytes], object]:
    """Return a reader of bytes for one of text; what is no UTF-8 comes as its callers give it, replaced."""
    return lambda data: read(data.decode("utf-8", "replace"))
