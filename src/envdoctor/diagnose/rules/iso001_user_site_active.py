"""The user site (`~/.local/lib/...`) is on the search path, with distributions in it.

## What it does
Looks whether the interpreter adds the user site (PEP 370), and whether anything is installed there.

## Why it is bad
What lies there is seen by every environment of that Python version, before the environment's own packages. A conda
environment or a venv with system packages is then not the environment that was tested.

## Example
A conda environment with `numpy 1.26.4` imports `numpy 2.1.0` from `~/.local`.

## What to do
Set `PYTHONNOUSERSITE=1` (in conda: `conda env config vars set PYTHONNOUSERSITE=1`), or remove what lies there.
"""

from __future__ import annotations

from collections.abc import Iterator

from envdoctor.diagnose.rule import Rule
from envdoctor.model.environment import EnvironmentKind, InstalledEnvironment
from envdoctor.model.finding import Evidence, Finding, Remedy, Severity
from envdoctor.model.unknown import SubjectKind


def find(environment: InstalledEnvironment) -> Iterator[Finding]:
    """Yield a finding where the user site is in use; in an installed Python it is where `pip --user` belongs."""
    user_site = environment.told.user_site
    if not user_site or user_site not in environment.search_path:
        return
    there = [item for item in environment.distributions if item.location == user_site]
    if there:
        yield RULE.finding(
            "user site",
            f"{len(there)} distribution{'s' if len(there) != 1 else ''} of the user site `{user_site}` "
            "can be imported here",
            tuple(Evidence(f"{item.name} {item.version}", item.metadata_path) for item in there[:10]),
            Remedy("Set `PYTHONNOUSERSITE=1` for this environment"),
            severity=Severity.WARNING if environment.kind is EnvironmentKind.CONDA else Severity.INFO,
        )


RULE = Rule.of(
    __name__,
    __doc__,
    Severity.WARNING,
    find,
    summary="The user site is on the search path, with distributions in it",
    about=SubjectKind.ENVIRONMENT,
)
