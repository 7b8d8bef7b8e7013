"""An interrupted install left renamed folders behind.

## What it does
Looks for entries of site-packages whose names begin with `~`.

## Why it is bad
pip renames what it replaces (`torch` to `~orch`) and deletes it at the end. What stays was never finished: often
because a file was in use (a running program on Windows) or the disk was full, so the new version may be half there,
too. It takes gigabytes where it is a torch, and pip warns of an "invalid distribution" on every call.

## Example
`~orch`, `~orch-2.6.0.dist-info`.

## What to do
Close the programs that use the environment, delete the folders, and install the distribution again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from envdoctor.diagnose.rule import Rule
from envdoctor.model.environment import EnvironmentProblemKind, InstalledEnvironment
from envdoctor.model.finding import Evidence, Finding, Remedy, Severity


def find(environment: InstalledEnvironment) -> Iterator[Finding]:
    """Yield one finding for each name that left something."""
    groups: dict[str, list[str]] = defaultdict(list)
    for problem in environment.problems:
        if problem.kind is EnvironmentProblemKind.LEFTOVER:
            entry = problem.subject.rsplit("/", 1)[-1]
            groups[_stem(entry)].append(problem.subject)
    for stem, paths in groups.items():
        likely = _likely(environment, stem)
        whose = f" of `{likely}`" if likely else ""
        again = f", then install `{likely}` again" if likely else ""
        yield RULE.finding(
            subject=stem,
            message=f"`{stem}` was left behind by an install{whose} that did not end",
            evidence=tuple(Evidence("left behind", path) for path in paths),
            remedy=Remedy(
                f"Close what uses the environment and delete {', '.join(f'`{path}`' for path in paths)}{again}"
            ),
        )


def _stem(entry: str) -> str:
    """``~orch`` of ``~orch-2.6.0.dist-info``."""
    for ending in (".dist-info", ".egg-info"):
        if entry.endswith(ending):
            return entry.removesuffix(ending).split("-", 1)[0]
    return entry


def _likely(environment: InstalledEnvironment, stem: str) -> str | None:
    """Return the distribution whose name has the leftover's letters behind its first one."""
    rest = stem.lstrip("~-").lower().replace("_", "-")
    if len(rest) < 2:
        return None
    names = [item.name for item in environment.distributions if item.name[1:] == rest or item.name == rest]
    return names[0] if names else None


RULE = Rule.of(__name__, __doc__, Severity.WARNING, find)
