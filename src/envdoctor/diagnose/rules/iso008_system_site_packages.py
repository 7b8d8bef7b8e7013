"""The venv also sees the packages of the Python that it stands on.

## What it does
Reads `include-system-site-packages` of `pyvenv.cfg`, and counts what comes from outside.

## Why it is bad
What the system upgrades changes under the venv, and what is missing in the venv may be there by accident. On a
Jetson it is on purpose: JetPack puts torch and TensorRT into the system's packages.

## Example
`include-system-site-packages = true`, and `numpy` comes from `/usr/lib/python3/dist-packages`.

## What to do
Set it to `false` in `pyvenv.cfg` and install what is then missing; keep it where the system has what no index has.
"""

from __future__ import annotations

from collections.abc import Iterator

from envdoctor.diagnose.rule import Rule
from envdoctor.diagnose.surroundings import is_inside
from envdoctor.model.environment import InstalledEnvironment
from envdoctor.model.finding import Evidence, Finding, Remedy, Severity
from envdoctor.model.unknown import SubjectKind


def find(environment: InstalledEnvironment) -> Iterator[Finding]:
    """Yield one finding where the system's packages are let in."""
    if environment.venv is None or not environment.venv.system_site:
        return
    outside = [item for item in environment.distributions if not is_inside(environment, item.location)]
    yield RULE.finding(
        "pyvenv.cfg",
        f"The venv lets the system's packages in: {len(outside)} distributions come from outside",
        (
            Evidence("include-system-site-packages = true", f"{environment.root}/pyvenv.cfg"),
            *(Evidence(f"{item.name} {item.version}", item.metadata_path) for item in outside[:8]),
        ),
        Remedy("Set it to `false` and install what is then missing, unless the system has what no index has"),
        severity=Severity.INFO,
    )


RULE = Rule.of(__name__, __doc__, Severity.INFO, find, about=SubjectKind.FILE)
