"""``replace-text``: exact text for exact text."""

from __future__ import annotations

from envdoctor.adapters.apply.patches import AnchorMissing
from envdoctor.model.profile import Patch

__all__ = ["apply"]

_SHOWN = 60


def apply(patch: Patch, text: str) -> str:
    """Return the text with every occurrence replaced. Raises AnchorMissing unless it occurs ``count`` times.

    Without a ``count``, once or more. A file in which the new text already stands that often is left as it is.
    """
    newline = "\r\n" if "\r\n" in text else "\n"
    find = _lines(patch.find or "", newline)
    new = _lines(patch.replace or "", newline)
    # An occurrence that is part of the new text is one that an earlier run has made.
    pieces = text.split(new) if new and find in new else [text]
    occurrences = sum(piece.count(find) for piece in pieces)
    done = text.count(new) if new else 0
    if occurrences == 0 and done >= (patch.count or 1):
        return text
    if occurrences == 0 or (patch.count is not None and occurrences != patch.count):
        times = f"{patch.count} times" if patch.count is not None else "at least once"
        found = f"it occurs {occurrences} times" if occurrences else "it is not there"
        raise AnchorMissing(f"the text `{_short(patch.find or '')}` {times}; {found}")
    replaced = [piece.replace(find, new) for piece in pieces]
    return new.join(replaced) if len(pieces) > 1 else replaced[0]


def _lines(text: str, newline: str) -> str:
    return text.replace("\r\n", "\n").replace("\n", newline)


def _short(text: str) -> str:
    first = text.strip().splitlines()[0] if text.strip() else text
    return first if len(first) <= _SHOWN and first == text else first[:_SHOWN] + " ..."
