"""What is known to fail of what will be locked or installed, in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from envdoctor.model.finding import Finding

__all__ = ["known_errors"]

_MOST = 5


def known_errors(errors: Sequence[Finding], of_what: str) -> Iterator[str]:
    """Yield a line that says how many there are, then each with its remedy; nothing where there are none."""
    if not errors:
        return
    number = f"{len(errors)} errors are" if len(errors) > 1 else "1 error is"
    yield f"{number} known of {of_what}:"
    for item in errors[:_MOST]:
        yield f"  {item.rule} {item.name}: {item.message}"
        if item.remedy is not None:
            yield f"    try: {'; '.join((item.remedy.summary, *(f'`{each}`' for each in item.remedy.commands)))}"
    if len(errors) > _MOST:
        yield f"  and {len(errors) - _MOST} more; `envdoctor check` lists them"
