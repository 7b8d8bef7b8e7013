"""Something outside Python that the stack needs is not there, or is too old.

## What it does
Looks for what the profile says the stack needs of the system (FFmpeg, eSpeak NG, a driver, a HIP SDK, ...), and for a
compiler where the resolution has source distributions that need one. Only what was looked for and not found is
reported, and only where the facts are of a machine like the target.

## Why it is bad
Packages load such things by name and say so at the first use, or not at all: "espeak not installed on your system",
"Could not load libtorchcodec". A build without its compiler fails after minutes.

## Example
phonemizer with the program `espeak-ng` but without `libespeak-ng.so.1`.

## What to do
Install it with the system's package manager.
"""

from __future__ import annotations

from collections.abc import Iterator

from envdoctor.diagnose.examination import Examination
from envdoctor.diagnose.host_needs import is_below, is_missing, speaks_of_target
from envdoctor.diagnose.rule import Rule
from envdoctor.model.candidate import BuildRisk
from envdoctor.model.finding import Evidence, Finding, Remedy, Severity
from envdoctor.model.profile import Profile, SystemNeed
from envdoctor.model.unknown import SubjectKind


def find(examination: Examination) -> Iterator[Finding]:
    """Yield one finding for each need that is not met."""
    if not len(examination.facts) or not speaks_of_target(examination):
        return
    profile = examination.profile
    for need in profile.system if profile else ():
        if profile is not None and _applies(need, examination):
            yield from _of_profile(profile, need, examination)
    told = profile is not None and any(need.name == "cxx-compiler" for need in profile.system)
    if not told:
        yield from _compiler(examination)


def _applies(need: SystemNeed, examination: Examination) -> bool:
    if not need.only_for:
        return True
    resolution, environment = examination.resolution, examination.environment
    return any(
        (resolution is not None and resolution.get(name)) or (environment is not None and environment.get(name))
        for name in need.only_for
    )


def _of_profile(profile: Profile, need: SystemNeed, examination: Examination) -> Iterator[Finding]:
    facts = examination.facts
    below = is_below(facts, need.name, need.minimum) if need.minimum else None
    if below:
        message = f"`{need.name}` is {below}, and the stack needs {need.minimum} or later: {need.because}"
    elif is_missing(facts, need.name):
        message = f"`{need.name}` is not there: {need.because}"
    else:
        return
    yield RULE.finding(
        need.name,
        message,
        (Evidence(f"needed by {', '.join(need.only_for) or 'the stack'}", f"profile {profile.name}"),),
        _remedy(need),
        severity=Severity.WARNING if need.only_for else Severity.ERROR,
    )


def _remedy(need: SystemNeed) -> Remedy:
    ways = "; ".join(f"{where}: {how}" for where, how in need.install.items())
    return Remedy(f"install `{need.name}`{f' ({ways})' if ways else ''}")


def _compiler(examination: Examination) -> Iterator[Finding]:
    packages = examination.resolution.packages if examination.resolution else ()
    builds = [item for item in packages if item.build_risk is BuildRisk.COMPILER]
    if builds and is_missing(examination.facts, "cxx-compiler"):
        names = ", ".join(f"`{item.name}`" for item in builds[:6])
        yield RULE.finding(
            "cxx-compiler",
            f"there is no C++ compiler, and {names} would be built from source",
            tuple(Evidence(item.file.filename, f"index {item.file.index}") for item in builds[:6]),
            Remedy("install a compiler (g++, clang, or Visual Studio's Build Tools), or take versions with wheels"),
            severity=Severity.WARNING,
        )


RULE = Rule.of(__name__, __doc__, Severity.ERROR, find, about=SubjectKind.PROGRAM)
