"""The profile is for another system, or for cards of another maker.

## What it does
Compares the profile with the target that was typed (`--target-os`, `--target-arch`) and with the cards that are known.
A profile without a GPU serves every system.

## Why it is bad
A profile's builds, indexes and patches are for its own system and card. On another one they are not there, or they are
there and run on nothing.

## Example
`diffrhythm2-rocm` with `--target-os windows`: AMD's folder of wheels that it binds has files for Linux alone.

## What to do
Take the profile for that system and card (`envdoctor profiles list`), or none.
"""

from __future__ import annotations

from collections.abc import Iterator

from envdoctor.diagnose.examination import Examination
from envdoctor.diagnose.host_needs import card_against
from envdoctor.diagnose.rule import Rule
from envdoctor.model.finding import Evidence, Finding, Remedy, Severity
from envdoctor.model.profile import Profile
from envdoctor.model.target import Target
from envdoctor.model.unknown import SubjectKind


def find(examination: Examination, profile: Profile, target: Target) -> Iterator[Finding]:
    """Yield one finding where system, processor or cards are not the profile's."""
    wrong = [_system(profile, target)]
    if contrary := card_against(profile.target.backend, examination.facts):
        wrong.append(f"it is for {profile.target.backend.value}, {contrary}")
    told = [text for text in wrong if text]
    if told:
        yield RULE.finding(
            subject=profile.name,
            message=f"profile `{profile.name}` is not for this: {'; '.join(told)}",
            severity=Severity.WARNING,
            evidence=(Evidence(profile.summary, f"profile {profile.name}"),),
            remedy=Remedy("take the profile for that system and card (`envdoctor profiles list`), or none"),
        )


def _system(profile: Profile, target: Target) -> str:
    own = profile.target
    if own.serves(target):
        return ""
    return f"it is for {own.os.value} {own.arch.value}, and the target is {target.os.value} {target.arch.value}"


RULE = Rule.of(__name__, __doc__, Severity.WARNING, find, about=SubjectKind.PROJECT)
