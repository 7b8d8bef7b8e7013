"""Edits of source files, one module per kind: each is a function of a patch and a text, and applies once."""

from __future__ import annotations

import importlib

from envdoctor.model.profile import Patch, PatchKind

__all__ = ["AnchorMissing", "patched_text"]


class AnchorMissing(Exception):
    """The place that a patch changes is not in the file; the text says what was looked for."""

    def __init__(self, looked_for: str) -> None:
        super().__init__(looked_for)
        self.looked_for = looked_for


def patched_text(patch: Patch, text: str) -> str:
    """Return the text as the patch wants it; the same text where it is so already. Raises AnchorMissing."""
    if patch.kind is PatchKind.REMOVE_FILE:
        raise ValueError("a file that goes has no text")
    # libcst takes a tenth of a second to import, and text patches do not need it.
    module = importlib.import_module(f"{__name__}.{patch.kind.value.replace('-', '_')}")
    result: str = module.apply(patch, text)
    return result
