"""Hashes that people write beside requirements (``--hash=sha256:...``), and the files that agree with them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from envdoctor.model.candidate import DistributionFile

__all__ = ["agreeing", "comparable", "malformed_hash"]

# pip's strong hashes, with the length of their digests in hexadecimal; it refuses all others.
# Source: pip, Secure installs: https://pip.pypa.io/en/stable/topics/secure-installs/
_LENGTHS = {"sha256": 64, "sha384": 96, "sha512": 128}
_HEXADECIMAL = re.compile(r"[0-9a-fA-F]+")


def malformed_hash(text: str) -> str | None:
    """Return what is wrong with ``algorithm:digest``, None where it is a hash that installers take."""
    algorithm, colon, digest = text.partition(":")
    if not colon or algorithm not in _LENGTHS:
        return f"it must begin with {', '.join(f'`{name}:`' for name in _LENGTHS)}"
    if len(digest) != _LENGTHS[algorithm] or not _HEXADECIMAL.fullmatch(digest):
        return f"a {algorithm} digest is {_LENGTHS[algorithm]} hexadecimal digits"
    return None


def agreeing(files: Iterable[DistributionFile], hashes: Sequence[str]) -> tuple[DistributionFile, ...]:
    """Return the files that have one of the hashes."""
    wanted = {text.lower() for text in hashes}
    return tuple(file for file in files if any(f"{name}:{digest}".lower() in wanted for name, digest in file.hashes))


def comparable(files: Iterable[DistributionFile], hashes: Sequence[str]) -> bool:
    """Return whether the index gives, for any of the files, a digest of a kind that is asked for."""
    kinds = {text.partition(":")[0] for text in hashes}
    return any(name in kinds for file in files for name, _ in file.hashes)
