"""What a shell offers when the tab key is pressed. Imported always, so that everything it needs is imported late."""

from __future__ import annotations

import re

__all__ = ["in_short", "profile_names", "rule_names"]

_LONGEST = 60


def profile_names(incomplete: str) -> list[tuple[str, str]]:
    """Return the shipped profiles whose name begins so, each with its summary; none where one is broken."""
    from envdoctor.profile.catalogue import catalogue
    from envdoctor.profile.validation import ProfileError

    try:
        profiles = catalogue()
    except ProfileError:
        return []
    return [(item.name, _plain(item.summary)) for item in profiles if item.name.startswith(incomplete)]


def rule_names(incomplete: str) -> list[tuple[str, str]]:
    """Return the codes of rules and advisories that begin so; names where a name is typed."""
    from envdoctor.diagnose.documentation import catalogue

    rows = catalogue()
    codes = [(code, name) for code, name, _, _ in rows if code.startswith(incomplete.upper())]
    return codes or [(name, _plain(summary)) for _, name, _, summary in rows if name.startswith(incomplete)]


def in_short(text: str) -> str:
    """Return the first clause of a help text, on one line."""
    return _plain(re.split(r"[.:;] ", " ".join(text.split()), maxsplit=1)[0].rstrip("."))


def _plain(text: str) -> str:
    """Return a text without what shells and mark-up languages take for theirs, cut where it is long."""
    text = re.sub(r"[\[\]`\"]", "", " ".join(text.split()))
    return text if len(text) <= _LONGEST else text[:_LONGEST].rpartition(" ")[0] + " ..."
