"""What the profile leaves out is installed.

## What it does
Looks for the distributions that the profile excludes among those that are installed, and for what they brought along
and nothing else asks for: that stays when they go.

## Why it is bad
The profile says why it leaves them out: their kernels abort on this backend, they own the files of another
distribution, or they pin what the stack cannot have. Programs try such a package first where it is there.

## Example
The profile for ZLUDA excludes deepspeed, whose cuBLAS calls abort there, and deepspeed 0.11.1 is installed.

## What to do
Uninstall it, or let `envdoctor fix` bring the environment to what the profile says.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from envdoctor.diagnose.remedies import installer_commands
from envdoctor.diagnose.rule import Rule
from envdoctor.model.environment import InstalledDistribution, InstalledEnvironment, of_the_system
from envdoctor.model.finding import Applicability, Evidence, Finding, Remedy, Severity
from envdoctor.model.profile import Exclusion, Profile


def find(environment: InstalledEnvironment, profile: Profile) -> Iterator[Finding]:
    """Yield one finding for each excluded distribution that is there."""
    for exclusion in profile.excludes:
        found = environment.get(exclusion.name)
        if found is not None:
            yield _finding(exclusion, found, profile, environment)


def _remedy(environment: InstalledEnvironment, found: InstalledDistribution) -> Remedy:
    if of_the_system(found):
        return Remedy(
            f"Make an environment without the system's packages, or uninstall `{found.name}` with the system's "
            "package manager, which it came from"
        )
    commands = installer_commands(environment, ("uninstall", "-y", str(found.name)))
    return Remedy(f"Uninstall `{found.name}`", Applicability.UNSAFE, commands)


def _finding(
    exclusion: Exclusion, found: InstalledDistribution, profile: Profile, environment: InstalledEnvironment
) -> Finding:
    evidence = [Evidence(f"{found.name} {found.version}", found.metadata_path or "installed")]
    if exclusion.evidence:
        evidence.append(Evidence(exclusion.evidence, str(exclusion.origin or f"profile {profile.name}")))
    if left := _left_behind(found, environment):
        evidence.append(Evidence(f"it came with {', '.join(left)}, which nothing else here asks for and which stay"))
    return RULE.finding(
        subject=exclusion.name,
        message=f"`{exclusion.name}` {found.version} is installed, and profile {profile.name} leaves it out: "
        f"{exclusion.because}",
        evidence=tuple(evidence),
        remedy=_remedy(environment, found),
    )


def _left_behind(found: InstalledDistribution, environment: InstalledEnvironment) -> list[str]:
    """Return what the excluded distribution asks for and nothing else does, as far as metadata tells."""
    mine = _asked(found)
    others = {name for item in environment.distributions if item.name != found.name for name in _asked(item)}
    locked = {package.name for package in environment.lock.document.packages} if environment.lock is not None else set()
    return sorted(name for name in mine - others - locked if environment.get(name) is not None)


def _asked(item: InstalledDistribution) -> set[str]:
    names: set[str] = set()
    for text in item.requires_dist:
        with suppress(InvalidRequirement):
            requirement = Requirement(text)
            if "extra" not in str(requirement.marker or ""):
                names.add(canonicalize_name(requirement.name))
    return names


RULE = Rule.of(__name__, __doc__, Severity.ERROR, find)
