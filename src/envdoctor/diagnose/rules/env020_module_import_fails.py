"""A module of the environment cannot be imported.

## What it does
Reads the outcomes of import probes: each ran `import torch` (or another module) in a child process of the
environment's interpreter, under a time limit. The probe runs when an environment is named, never otherwise.

## Why it is bad
Whatever imports that module fails in the same way: with an exception, with a crash that leaves no traceback, or by
waiting for ever. An import that did not end in time may do that, or be slow: it is a warning, and the verdict is
`unknown`.

## Example
`import torch` ended with SIGABRT; `import torch` raised
`OSError: libcudart.so.12: cannot open shared object file`.

## What to do
Read the detail: a missing library points to a wrong CUDA build, an abort to a driver or to two builds mixed in one
folder. Install the module again, in the build for this machine.
"""

from __future__ import annotations

from collections.abc import Iterator

from envdoctor.diagnose.rule import Rule
from envdoctor.model.environment import ImportOutcome, InstalledEnvironment
from envdoctor.model.finding import Evidence, Finding, Remedy, Severity

_SAYINGS = {
    "missing": "`{0}` cannot be imported: there is no such module",
    "raised": "`import {0}` fails: {1}",
    "crashed": "`import {0}` kills the interpreter: {1}",
    "timed-out": "`import {0}` {1}: it hangs, or is slow to load here",
}
_REMEDIES = {
    "missing": "Install it, or give the environment that has it",
    "raised": "The last line of the error names what is missing; install the build of `{0}` that is for this machine",
    "crashed": "Install `{0}` again in the build for this machine; two builds in one folder, or a driver, abort so",
    "timed-out": "Wait longer with `--import-timeout 300`: a cold disk or a virus scanner is slow with its libraries. "
    "If it hangs there, too, run it by hand with `-X faulthandler`: a driver that does not answer hangs so",
}


def find(environment: InstalledEnvironment) -> Iterator[Finding]:
    """Yield one finding for each module that was not imported."""
    for outcome in environment.imports.values():
        if outcome.status in _SAYINGS:
            yield _finding(environment, outcome)


def _finding(environment: InstalledEnvironment, outcome: ImportOutcome) -> Finding:
    where = environment.executable or environment.root
    evidence = [Evidence(f"import {outcome.module}: {outcome.status} {outcome.detail}".rstrip(), where)]
    evidence += [Evidence(line) for line in outcome.output.splitlines()[-6:] if line.strip()]
    return RULE.finding(
        subject=outcome.module,
        message=_SAYINGS[outcome.status].format(outcome.module, outcome.detail),
        severity=Severity.WARNING if outcome.status == "timed-out" else Severity.ERROR,
        evidence=tuple(evidence),
        remedy=Remedy(_REMEDIES[outcome.status].format(outcome.module)),
    )


RULE = Rule.of(__name__, __doc__, Severity.ERROR, find)
