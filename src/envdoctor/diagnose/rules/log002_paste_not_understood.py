"""A paste was not understood, and the others were judged without it.

## What it does

Names each file of `--installed` or `--facts` that is none of the texts that are known, with the line and with what to
give instead. What the other files tell is judged all the same. Where nothing else was given, the command ends with the
same words and exit code 2.

## Why is this bad

The report may be right by luck alone: what was not read can hold the cause. The verdict is `unknown` (exit code 3)
where nothing worse was found.

## Example

The output of `nvidia-smi` as `--installed`: it says what the machine has, not what is installed; give it as `--facts`.
"""

from __future__ import annotations

from collections.abc import Iterator

from envdoctor.diagnose.examination import Examination
from envdoctor.diagnose.rule import Rule
from envdoctor.model.finding import Finding, Remedy, Severity
from envdoctor.model.unknown import SubjectKind


def _find(examination: Examination) -> Iterator[Finding]:
    for unknown in examination.not_read:
        yield RULE.finding(
            subject=unknown.subject.name,
            message=f"a paste was not understood: {unknown.cause}",
            remedy=Remedy("give it in one of the forms that are known, or by the option that it is for"),
        )


RULE = Rule.of(__name__, __doc__, Severity.WARNING, _find, needs={"not_read"}, about=SubjectKind.FILE)
