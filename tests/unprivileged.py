"""Reading as a user who may not read everything."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["as_nobody"]

_NOBODY = 65534


@contextmanager
def as_nobody() -> Iterator[None]:
    """Give up the rights of root, who may read everything; anybody else has no more than their own."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(_NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)
