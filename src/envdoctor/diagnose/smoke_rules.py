"""What the rules about kernels share: they are judged where the kernels run, by ``envdoctor smoke``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from envdoctor.diagnose.examination import Examination
    from envdoctor.model.finding import Finding

__all__ = ["judged_by_smoke"]


def judged_by_smoke(_: Examination) -> Iterable[Finding]:
    """Find nothing: an examination holds no kernels. ``workflow.smoke`` reports what they said under these codes."""
    return ()
