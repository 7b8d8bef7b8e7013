"""Stand-ins for modules of excluded projects, where something only asks whether such a module is there."""

from __future__ import annotations

from envdoctor.model.plan import WriteStub
from envdoctor.model.profile import Profile

__all__ = ["stand_ins"]


def stand_ins(profile: Profile | None) -> tuple[WriteStub, ...]:
    """Return a step for each module that the profile's exclusions name; the steps' ids are empty."""
    return tuple(
        WriteStub("", f"{module.replace('.', '/')}/__init__.py", module, _text(module, item.because))
        for item in (profile.excludes if profile is not None else ())
        for module in item.stubs
    )


def _text(module: str, because: str) -> str:
    """Return the module's source. The reason is a quoted string everywhere, so that none of it can become code."""
    reason = f"`{module}` is left out of this environment: {because}"
    return (
        f"{WriteStub.MARK} in place of `{module}`.\n"
        f"REASON = {reason!r}\n"
        '__version__ = "0"\n\n\n'
        "def __getattr__(name):\n"
        "    raise AttributeError(REASON)\n"
    )
