"""Files that a distribution recorded are gone, or have another size than recorded.

## What it does
Looks whether each recorded file exists and has the recorded size (in environments with more than 20 000 recorded
files the sizes of libraries alone are compared), and whether it is empty or a package's `__init__.py` holds NULs
instead of text. A library whose headers no loader would take, and whose content is not what was recorded, is damaged;
other modules of the recorded size are not opened. Byte code, scripts outside site-packages and what installers write
about themselves are passed over, and so are files that `envdoctor fix` has patched and changes of files that two
distributions own (`ENV005`). With `check --verify` the content of every file is compared with its recorded hash, too;
conda and Linux distributions change files after they are recorded, so that theirs are passed over.

## Why it is bad
A missing module fails at import, and so does one that a full disk or a power cut has emptied. A changed one is a hand
edit, a damaged disk, or another distribution that wrote over it: nobody else can reproduce what it does.

## Example
`numba` lost `numba/core/typing/typeof.py`; `transformers/utils/import_utils.py` is 12 bytes longer than recorded.

## What to do
Install the same version again with `--force-reinstall --no-deps`; keep an edit as a patch in a profile.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from envdoctor.diagnose.examination import Examination
from envdoctor.diagnose.remedies import installer_commands
from envdoctor.diagnose.rule import Rule
from envdoctor.model.environment import (
    EnvironmentProblem,
    EnvironmentProblemKind,
    InstalledEnvironment,
    is_code,
    of_the_system,
)
from envdoctor.model.finding import Applicability, Evidence, Finding, Remedy, Severity


def find(examination: Examination, environment: InstalledEnvironment) -> Iterator[Finding]:
    """Yield one finding for each distribution whose files are not as recorded."""
    missing: dict[str, list[EnvironmentProblem]] = defaultdict(list)
    changed: dict[str, list[EnvironmentProblem]] = defaultdict(list)
    damaged: dict[str, list[EnvironmentProblem]] = defaultdict(list)
    patched, shared = _patched(environment), _shared(environment)
    unread: dict[str, list[EnvironmentProblem]] = defaultdict(list)
    unloadable = examination.binaries.damaged if examination.binaries is not None else ()
    told = {(item.subject, item.path) for item in unloadable}
    known = (item for item in environment.problems if (item.subject, item.path) not in told)
    for problem in (*known, *unloadable):
        if problem.path in patched:
            continue
        if problem.kind is EnvironmentProblemKind.UNREADABLE_FILE:
            unread[problem.subject].append(problem)
        elif problem.kind is EnvironmentProblemKind.MISSING_FILE:
            missing[problem.subject].append(problem)
        elif problem.kind is EnvironmentProblemKind.DAMAGED_FILE:
            damaged[problem.subject].append(problem)
        elif problem.kind is EnvironmentProblemKind.CHANGED_FILE and problem.path not in shared:
            changed[problem.subject].append(problem)
    for name in sorted({*missing, *changed, *damaged}):
        yield _finding(environment, name, missing[name], damaged[name], changed[name])
    for name in sorted(unread):
        yield _not_compared(name, unread[name])


def _patched(environment: InstalledEnvironment) -> set[str]:
    """Return the files that a fix has patched: how they are by now is told by a rule of its own."""
    return {item.path for item in environment.patched if item.distribution}


def _shared(environment: InstalledEnvironment) -> set[str]:
    """Return the files that two distributions own, of which one has the other's content."""
    owners: dict[str, set[str]] = defaultdict(set)
    for item in environment.distributions:
        for file in item.files or ():
            owners[file.path].add(item.name)
    return {path for path, names in owners.items() if len(names) > 1}


def _finding(
    environment: InstalledEnvironment,
    name: str,
    missing: list[EnvironmentProblem],
    damaged: list[EnvironmentProblem],
    changed: list[EnvironmentProblem],
) -> Finding:
    distribution = environment.get(name)
    version = distribution.version if distribution is not None else ""
    counts = [f"{len(missing)} missing"] if missing else []
    counts += [f"{len(damaged)} empty, filled with NULs or damaged"] if damaged else []
    counts += [f"{len(changed)} changed"] if changed else []
    listed = [f"missing: {item.detail}" for item in missing]
    listed += [f"damaged: {item.detail}" for item in damaged]
    listed += [f"changed: {item.detail}" for item in changed]
    return RULE.finding(
        subject=name,
        message=f"Files of `{name}` {version} are not as they were recorded: {' and '.join(counts)}",
        severity=_severity(environment, name, [*missing, *damaged], changed),
        evidence=tuple(Evidence(line) for line in listed[:10]),
        remedy=Remedy(
            f"Install `{name}` {version} again",
            Applicability.UNSAFE,
            installer_commands(environment, ("install", "--force-reinstall", "--no-deps", f"{name}=={version}")),
        ),
    )


def _not_compared(name: str, unread: list[EnvironmentProblem]) -> Finding:
    count = "1 file" if len(unread) == 1 else f"{len(unread)} files"
    return RULE.finding(
        subject=name,
        message=f"{count} of `{name}` could not be read and compared with the recorded hash",
        severity=Severity.WARNING,
        evidence=tuple(Evidence(f"not read: {item.detail}") for item in unread[:10]),
        remedy=Remedy("Verify as a user who may read them"),
    )


def _severity(
    environment: InstalledEnvironment, name: str, lost: list[EnvironmentProblem], changed: list[EnvironmentProblem]
) -> Severity:
    distribution = environment.get(name)
    if distribution is not None and (distribution.installer == "conda" or of_the_system(distribution)):
        # conda rewrites prefixes inside files and Linux distributions strip libraries; the RECORD stays the wheel's.
        changed = []
    if any(item.loses_code for item in lost):
        return Severity.ERROR
    code_changed = any(is_code(item.path) for item in changed)
    return Severity.WARNING if code_changed else Severity.INFO


RULE = Rule.of(__name__, __doc__, Severity.WARNING, find, summary="Recorded files are missing or changed")
