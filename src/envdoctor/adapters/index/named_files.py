"""Files that a configuration names by address and digest: fetched once, kept, and never taken with another content."""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
from pathlib import Path

from envdoctor.adapters.index.credentials import Credentials
from envdoctor.adapters.index.pip_settings import read_pip_settings
from envdoctor.adapters.index.transport import Transport, TransportError
from envdoctor.adapters.user_folders import cache_folder
from envdoctor.ports import UsageError

__all__ = ["named_file"]

_ADDRESS = re.compile(
    r"(?P<url>(?:https://|http://(?:localhost|127\.0\.0\.1)[:/])[^#\s]*/(?P<name>[\w.-]{1,80}\.toml))"
    r"#sha256=(?P<digest>[0-9a-f]{64})"
)
_LIMIT = 4 * 1024 * 1024
_PATIENCE = 20.0


def named_file(address: str, who: str, *, offline: bool = False) -> Path:
    """Return the file behind ``https://.../name.toml#sha256=HEX``, from the cache where it was fetched before.

    ``who`` names it in messages. Raises UsageError, also where the content is another than the digest says.
    """
    found = _ADDRESS.fullmatch(address)
    if found is None:
        raise UsageError(f"{who}: `{address}` is not of the form https://HOST/PATH/NAME.toml#sha256=64-HEX-DIGITS")
    kept = Path(cache_folder(), "named-files", found["digest"], found["name"])
    if _read(kept, found["digest"]):
        return kept
    if offline:
        raise UsageError(f"{who}: `{found['url']}` was never fetched, and --offline forbids it")
    content = _fetched(found["url"], who)
    if hashlib.sha256(content).hexdigest() != found["digest"]:
        raise UsageError(f"{who}: what `{found['url']}` gives is not what its sha256 says; it is not used")
    try:
        kept.parent.mkdir(parents=True, exist_ok=True)
        handle, partial = tempfile.mkstemp(dir=kept.parent)
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
        Path(partial).replace(kept)
    except OSError as error:
        raise UsageError(f"{who}: `{found['url']}` cannot be kept in the cache: {error.strerror or error}") from error
    return kept


def _read(path: Path, digest: str) -> bool:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest() == digest
    except OSError:
        return False


def _fetched(url: str, who: str) -> bytes:
    pip = read_pip_settings(None)
    transport = Transport(pip, Credentials(keyring=pip.keyring), _PATIENCE, 1, _PATIENCE)
    try:
        reply = transport.get(url, limit=_LIMIT)
    except TransportError as error:
        raise UsageError(f"{who}: `{url}` could not be fetched: {error}") from error
    finally:
        transport.close()
    if reply.status != 200 or reply.cut:
        raise UsageError(f"{who}: `{url}` gives {'more than 4 MiB' if reply.cut else f'status {reply.status}'}")
    return reply.content
