"""Only the lock was asked, because nothing else could be.

## What it does

Says that the requirements were held against the lock alone: offline, with projects that are not in the cache. What is
written now is met by the lock's versions, or was set aside in it on purpose, and a lock was a whole resolution when it
was written.

## Why it matters

Nothing is wrong. But rules that look at files, and advisories that look at other versions, had nothing to look at; they
did when the lock was made.

## Example

A fresh machine commits a comment in requirements.txt: the hook has no cache yet, and the lock still fits.

## References

- The contract of the command line: `--offline` judges by the cache and the lock
"""

from __future__ import annotations

from collections.abc import Iterator

from envdoctor.diagnose.examination import Examination
from envdoctor.diagnose.rule import Rule, name_rows
from envdoctor.model.finding import Finding, Remedy, Severity
from envdoctor.model.unknown import SubjectKind


def _find(examination: Examination) -> Iterator[Finding]:
    names = examination.by_lock
    yield RULE.finding(
        subject="lock",
        message=f"judged by the lock alone: {len(names)} projects are not in the cache; what is written holds with it",
        evidence=name_rows(names),
        remedy=Remedy("run the same without `--offline` once, where the index can be reached, for the whole diagnosis"),
    )


RULE = Rule.of(__name__, __doc__, Severity.INFO, _find, needs={"by_lock"}, about=SubjectKind.FILE)
