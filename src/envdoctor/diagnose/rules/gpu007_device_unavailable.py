"""The device that was asked for does not open.

## What it does
Opens the backend's device and adds 1 and 1 on it, before any kernel. A build without that backend, a driver that
sees no card, a device number that is too high, and a device of another kind than the profile says are told apart.

## Why it is bad
Programs fall back to the CPU without a word, and somebody waits a hundred times longer than they should.

## Example
`torch 2.4.1+cpu is built without CUDA and without ROCm`.

## What to do
A build without the backend: `envdoctor check --profile NAME` says which one to install. A driver that sees no card:
`envdoctor host` shows what the system knows of it. Inside a container, pass the device in.

## References
- docs/kernels.md: the kernels, their tolerances and the reasons for them
"""

from __future__ import annotations

from envdoctor.diagnose.rule import Rule, judged_by_smoke
from envdoctor.model.finding import Severity
from envdoctor.model.unknown import SubjectKind

RULE = Rule(
    code="GPU007",
    name="device-unavailable",
    severity=Severity.ERROR,
    about=SubjectKind.KERNEL,
    summary="The device that was asked for does not open",
    find=judged_by_smoke,
    documentation=__doc__,
)
