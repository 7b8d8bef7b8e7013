"""Values that were worked out once, kept in the user's cache by a digest of all that they were worked out from.

What is read back can be made of the model's values and of packaging's alone: a file that somebody else put there can
tell something wrong, as a cache of an index can, and runs nothing.
"""

from __future__ import annotations

import dataclasses
import enum
import hashlib
import importlib
import io
import os
import pickle
import tempfile
import zlib
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from contextlib import suppress
from pathlib import Path
from typing import Any

from packaging.markers import Marker
from packaging.specifiers import SpecifierSet
from packaging.version import Version

__all__ = ["NoDigest", "digest", "keep", "kept"]

_MOST = 64
"""Files that are kept; the oldest go first."""
_LARGEST = 32 * 1024 * 1024
_ROOTS = ("envdoctor.model.", "packaging.")
_OTHERS = {("envdoctor.resolve.diagnosis", "Diagnosis"), ("builtins", "frozenset"), ("builtins", "set")}


class NoDigest(TypeError):
    """A value of a kind whose every difference would not show in a digest."""


def digest(value: object) -> str:
    """Return a digest that differs wherever the value does, the same in every process. Raises NoDigest."""
    found = hashlib.sha256()
    for part in _parts(value):
        found.update(part)
    return found.hexdigest()


def _parts(value: object) -> Iterator[bytes]:
    if value is None or isinstance(value, bool | int | float | str | bytes):
        text = value if isinstance(value, bytes) else str(value).encode("utf-8", "surrogatepass")
        yield b"%s:%d:" % (type(value).__name__.encode(), len(text)) + text
    elif isinstance(value, enum.Enum):
        yield f"{type(value).__name__}.{value.name};".encode()
    elif isinstance(value, Version | SpecifierSet | Marker):
        early = str(value.prereleases) if isinstance(value, SpecifierSet) else ""
        yield from _parts((type(value).__name__, str(value), early))
    elif isinstance(value, os.PathLike):
        yield from _parts(("path", os.fspath(value)))
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        yield f"<{type(value).__name__}".encode()
        for field in dataclasses.fields(value):
            yield from _parts(field.name)
            yield from _parts(getattr(value, field.name))
        yield b">"
    elif isinstance(value, Mapping):
        yield from _sorted(b"{", ((key, item) for key, item in value.items()))
    elif isinstance(value, AbstractSet):
        yield from _sorted(b"#", value)
    elif isinstance(value, tuple | list):
        yield b"(%d:" % len(value)
        for item in value:
            yield from _parts(item)
    elif type(value).__name__ in ("date", "datetime"):
        yield from _parts((type(value).__name__, str(value)))
    else:
        raise NoDigest(type(value).__name__)


def _sorted(mark: bytes, items: Any) -> Iterator[bytes]:
    texts = sorted(b"".join(_parts(item)) for item in items)
    yield b"%s%d:" % (mark, len(texts))
    yield from texts


class _Reader(pickle.Unpickler):
    """Makes values of the model and of packaging, and nothing else: no function is ever called by name."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in _OTHERS and not module.startswith(_ROOTS):
            raise pickle.UnpicklingError(f"{module}.{name} is not kept")
        found = getattr(importlib.import_module(module), name)
        if not isinstance(found, type):
            raise pickle.UnpicklingError(f"{module}.{name} is no kind of value")
        return found


def kept(folder: Path, key: str) -> Any:
    """Return the value that is kept under a digest, None where there is none that can be read. Never raises."""
    try:
        with (folder / f"{key}.kept").open("rb") as file:
            data = file.read(_LARGEST)
        if int.from_bytes(data[:4], "big") != zlib.crc32(data[4:]):
            return None
        return _Reader(io.BytesIO(data[4:])).load()
    except Exception:  # noqa: BLE001 - whatever is wrong with the file, the value is worked out anew
        return None


def keep(folder: Path, key: str, value: object) -> None:
    """Keep a value under a digest; where it cannot be written, or not be read back, nothing is kept. Never raises."""
    try:
        data = pickle.dumps(value, protocol=5)
        _Reader(io.BytesIO(data)).load()
        if len(data) >= _LARGEST - 4:
            return
        folder.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=folder)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(zlib.crc32(data).to_bytes(4, "big") + data)
            Path(name).replace(folder / f"{key}.kept")
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
        _prune(folder)
    except Exception:  # noqa: BLE001 - without it the next run takes longer, and that is all
        return


def _prune(folder: Path) -> None:
    files = sorted(folder.glob("*.kept"), key=lambda path: path.stat().st_mtime)
    for path in files[:-_MOST]:
        with suppress(OSError):
            path.unlink()
