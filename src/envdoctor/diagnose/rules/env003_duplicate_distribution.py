"""One site-packages folder holds the metadata of two versions of the same distribution.

## What it does
Looks for two `.dist-info` or `.egg-info` entries of one normalised name in one folder. A pasted list in which a name
stands twice, with two versions, may be of two folders, of which the first counts: that is a warning.

## Why it is bad
The files on disk are those of the version that was installed last, but tools see either version, at random;
an upgrade or uninstall removes only half. It comes from an installer that died, from two installers (conda and
pip) over one folder, or from unpacking by hand.

## Example
`numpy-1.26.4.dist-info` beside `numpy-2.1.0.dist-info`.

## What to do
Uninstall the distribution until nothing is left of it, then install one version.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from envdoctor.diagnose.remedies import installer_commands
from envdoctor.diagnose.rule import Rule
from envdoctor.model.environment import EnvironmentKind, InstalledDistribution, InstalledEnvironment
from envdoctor.model.finding import Applicability, Evidence, Finding, Remedy, Severity


def find(environment: InstalledEnvironment) -> Iterator[Finding]:
    """Yield one finding for each name that stands twice in a folder."""
    places: dict[tuple[str, str], list[InstalledDistribution]] = defaultdict(list)
    for distribution in environment.distributions:
        places[distribution.location, distribution.name].append(distribution)
    for (_, name), found in places.items():
        # A project's own egg-info beside the dist-info of its editable install is the same thing told twice.
        if len(found) < 2 or (any(item.editable for item in found) and len({item.version for item in found}) == 1):
            continue
        yield _finding(environment, name, found)


def _finding(environment: InstalledEnvironment, name: str, found: list[InstalledDistribution]) -> Finding:
    versions = sorted({item.version for item in found})
    times = "twice" if len(found) == 2 else f"{len(found)} times"
    uninstall = [("uninstall", "-y", name)] * len(found)
    # A list of all that Python finds goes through several folders, where the first one counts; conda's is of one.
    one_folder = environment.kind is not EnvironmentKind.LISTING or bool(environment.conda_packages)
    severity = RULE.severity if one_folder else Severity.WARNING
    said = "installed" if one_folder else "listed"
    return RULE.finding(
        subject=name,
        message=f"`{name}` is {said} {times}{' in one folder' if one_folder else ''}: "
        f"{' and '.join(item.version for item in found)}",
        severity=severity if len(versions) > 1 else Severity.INFO,
        evidence=tuple(Evidence(f"{name} {item.version}", item.metadata_path) for item in found),
        remedy=Remedy(
            f"Uninstall `{name}` {times} (delete what stays of it), then install the version you want",
            Applicability.UNSAFE,
            installer_commands(environment, *uninstall, ("install", f"{name}=={found[-1].version}")),
        ),
    )


RULE = Rule.of(
    __name__,
    __doc__,
    Severity.ERROR,
    find,
    summary="Two versions of one distribution in the same folder",
)
