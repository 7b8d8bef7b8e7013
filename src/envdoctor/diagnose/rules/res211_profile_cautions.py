"""What a careful person is told before taking a profile.

## What it does
Says the profile's cautions that apply here, until a lock is written with it. A caution may be for one operating system,
for a version of a package or of Python, for a file that the project has, or for a machine with several cards; one
without a condition always applies. On another system than the profile's (RES212) only those for that system are said.

## Why it is bad
A profile mends what it can. What it cannot, or what was never run on its hardware, must be known before it is taken.

## Example
XTTS-WebUI's script for RVC builds its environment with the Python that runs it, and fairseq does not import on 3.11.

## What to do
Read them. `envdoctor profiles show NAME` says all of them, whether they apply or not.
"""

from __future__ import annotations

from collections.abc import Iterator

from envdoctor.diagnose.examination import Examination
from envdoctor.diagnose.rule import Rule
from envdoctor.model.finding import Evidence, Finding, Severity
from envdoctor.model.profile import Profile
from envdoctor.model.target import Backend
from envdoctor.model.unknown import SubjectKind
from envdoctor.profile.profile_target import applying


def find(examination: Examination, profile: Profile) -> Iterator[Finding]:
    """Yield one finding with all cautions that apply."""
    sources = examination.sources
    if examination.accepted:
        return
    cards = len(examination.facts.of_cards("name"))
    said = tuple(
        applying(
            profile,
            examination.target,
            _versions(examination),
            cards,
            lambda glob: sources is not None and next(iter(sources.glob(glob)), None) is not None,
        )
    )
    target = examination.target
    if target is not None and target.os is not profile.target.os and profile.target.backend is not Backend.CPU:
        # There it mends nothing (RES212): what is said of that system alone still holds.
        said = tuple(item for item in said if item.os is target.os)
    if said:
        # What is said of this project, this target or this machine comes before what always holds.
        first, *others = sorted(said, key=lambda item: not item.has_condition)
        more = f", and {len(others)} more" if others else ""
        told = [item.text for item in others] or [first.evidence or profile.summary]
        yield RULE.finding(
            subject=profile.name,
            message=f"{first.text}{more}",
            severity=Severity.INFO,
            evidence=tuple(Evidence(text, f"profile {profile.name}") for text in told),
        )


def _versions(examination: Examination) -> dict[str, str]:
    environment, resolution = examination.environment, examination.resolution
    found = {item.name: item.version for item in (environment.distributions if environment else ())}
    found |= {item.name: str(item.version) for item in (resolution.packages if resolution else ())}
    return found | ({"python": f"{examination.target.python_version}.0"} if examination.target else {})


RULE = Rule.of(__name__, __doc__, Severity.INFO, find, about=SubjectKind.PROJECT)
