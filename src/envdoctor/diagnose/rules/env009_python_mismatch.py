"""A distribution is installed for a Python that it rules out.

## What it does
Compares `Requires-Python` of every installed distribution with the version of the environment's interpreter.

## Why it is bad
Its authors say that it does not work there: syntax, removed standard modules, or compiled parts for other versions.
It gets there with `--ignore-requires-python`, by copying folders, or when the Python under a venv is replaced.

## Example
`TTS 0.22.0` requires Python `<3.12,>=3.9`; the environment has Python 3.12.

## What to do
Make the environment with a Python that all distributions accept, or install another version.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from packaging.specifiers import InvalidSpecifier, SpecifierSet

from envdoctor.diagnose.examination import Examination
from envdoctor.diagnose.rule import Rule
from envdoctor.model.environment import InstalledEnvironment
from envdoctor.model.finding import Evidence, Finding, Remedy, Severity


def find(examination: Examination, environment: InstalledEnvironment) -> Iterator[Finding]:
    """Yield one finding for each distribution that rules this Python out."""
    python = environment.python or (examination.target.python if examination.target is not None else None)
    if python is None:
        return
    # Without the full version, every patch release has to be ruled out.
    short = f"{python[0]}.{python[1]}"
    versions = (environment.python_full,) if environment.python_full else (f"{short}.0", f"{short}.99")
    for distribution in environment.distributions:
        wanted = distribution.requires_python
        if wanted is None or any(_accepts(wanted, version) for version in versions):
            continue
        shown = environment.python_full or short
        yield RULE.finding(
            subject=distribution.name,
            message=f"`{distribution.name}` {distribution.version} requires Python `{wanted}`, this is {shown}",
            evidence=(Evidence(f"Requires-Python: {wanted}", distribution.metadata_path),),
            remedy=Remedy(f"Use a Python that `{wanted}` accepts, or another version of `{distribution.name}`"),
        )


@lru_cache(maxsize=1024)
def _accepts(wanted: str, version: str) -> bool:
    try:
        return SpecifierSet(wanted).contains(version, prereleases=True)
    except InvalidSpecifier:
        # `>=3.6.*` and the like: what cannot be read is not held against anybody.
        return True


RULE = Rule.of(__name__, __doc__, Severity.WARNING, find)
