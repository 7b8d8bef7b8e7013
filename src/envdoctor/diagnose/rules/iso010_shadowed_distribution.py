"""A package of the user site or of `PYTHONPATH` is imported instead of the one in the environment.

## What it does
Reads the distributions of every folder on the interpreter's search path, and compares versions where one name
stands in two of them.

## Why it is bad
The right version is installed, tools show it, and another one runs.

## Example
`numpy 2.1.0` of `~/.local` comes before `numpy 1.26.4` of the conda environment.

## What to do
Set `PYTHONNOUSERSITE=1` and unset `PYTHONPATH`, or uninstall the one that is in the way.
"""

from __future__ import annotations

from collections.abc import Iterator

from envdoctor.diagnose.rule import Rule
from envdoctor.diagnose.surroundings import is_inside
from envdoctor.model.environment import InstalledDistribution, InstalledEnvironment
from envdoctor.model.finding import Evidence, Finding, Remedy, Severity


def find(environment: InstalledEnvironment) -> Iterator[Finding]:
    """Yield one finding for each distribution of the environment that another folder hides."""
    if not environment.search_path:
        return
    first: dict[str, InstalledDistribution] = {}
    for item in environment.distributions:
        front = first.setdefault(item.name, item)
        if front.location == item.location or front.version == item.version or front.editable:
            continue
        if is_inside(environment, front.location) and front.location != environment.told.user_site:
            # An environment's own package before the system's is what environments are for.
            continue
        from_user = front.location == environment.told.user_site
        yield RULE.finding(
            item.name,
            f"`{item.name}` {item.version} is hidden by {front.version} of `{front.location}`",
            (
                Evidence(f"imported: {front.name} {front.version}", front.metadata_path),
                Evidence(f"hidden: {item.name} {item.version}", item.metadata_path),
            ),
            Remedy("Set `PYTHONNOUSERSITE=1` for this environment" if from_user else "Unset `PYTHONPATH`"),
            severity=Severity.INFO if item.location.endswith("dist-packages") else Severity.WARNING,
        )


RULE = Rule.of(
    __name__,
    __doc__,
    Severity.WARNING,
    find,
    summary="A package from outside is imported instead of the environment's own",
)
