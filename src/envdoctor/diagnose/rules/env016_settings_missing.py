"""An environment does not set what its kernels passed with.

## What it does
Compares the settings that the profile's kernels run with (`cudnn-off`, `math-only`, ...), and those that a fix of this
environment had it set, with what its Python sets at each start: a `.pth` file and a package `_envdoctor_settings`.

## Why it is bad
`envdoctor smoke` proves kernels under these settings. A program that is started without them calls what was
switched off for a reason: kernels pass and the program fails.

## Example
`xtts-zluda` runs its kernels with cuDNN off, and `app.py` is started in an environment in which cuDNN is on.

## What to do
Run `envdoctor fix`: it writes the start-up hook, and `undo` takes it away. A program that switches the same by itself
needs none: waive the finding then.
"""

from __future__ import annotations

from collections.abc import Iterator

from envdoctor.diagnose.examination import Examination
from envdoctor.diagnose.rule import Rule
from envdoctor.model.environment import EnvironmentKind, InstalledEnvironment
from envdoctor.model.finding import Command, Evidence, Finding, Remedy, Severity
from envdoctor.model.unknown import SubjectKind


def find(examination: Examination, environment: InstalledEnvironment) -> Iterator[Finding]:
    """Yield one finding where settings are missing; nothing without torch, or of a listing."""
    if environment.kind is EnvironmentKind.LISTING or environment.get("torch") is None:
        return
    profile = examination.profile
    named = profile.smoke.settings if profile is not None else ()
    # What a kernel's type is, a program chooses itself, call by call.
    named = tuple(name for name in named if not name.startswith(("dtype-", "autocast-")))
    wanted = tuple(dict.fromkeys((*environment.settings_wanted, *named)))
    missing = [name for name in wanted if name not in environment.settings]
    if not missing:
        return
    listed = ", ".join(f"`{name}`" for name in missing)
    who = "a fix had it set" if environment.settings_wanted else f"profile `{profile.name if profile else ''}` names"
    seen = f"{who} {', '.join(wanted)}; set at start: {', '.join(environment.settings) or 'nothing'}"
    yield RULE.finding(
        subject=environment.root,
        message=f"kernels pass with {listed}, which nothing in `{environment.root}` sets for a program",
        severity=Severity.WARNING,
        evidence=(Evidence(seen),),
        remedy=Remedy("have them set at each start, as `envdoctor fix` does", commands=(Command("fix"),)),
    )


RULE = Rule.of(__name__, __doc__, Severity.WARNING, find, about=SubjectKind.ENVIRONMENT)
