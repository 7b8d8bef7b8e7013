"""A requirement's hashes match none of the version's files.

## What it does

Compares the `--hash` options of a requirement with the hashes that the index gives for the files of the version in
use, and reports hashes that installers do not take at all (an unknown algorithm, a digest of the wrong length). Of a
wheel at an address (`name @ https://...whl#sha256=...`) only parts are read: that its hash is not checked is a note.

## Why is this bad

`pip` refuses such a file: "THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE". Either the line was
edited and its hashes were not, or the index serves other files than those that its author looked at.

## Example

`httpx==0.28.0 --hash=sha256:d909fcc...`, which is the hash of 0.28.1.

## References

- pip, Secure installs: https://pip.pypa.io/en/stable/topics/secure-installs/
"""

from __future__ import annotations

from collections.abc import Iterator

from envdoctor.diagnose.examination import Examination
from envdoctor.diagnose.rule import Rule
from envdoctor.model.candidate import agreeing, comparable, hashes_in, malformed_hash
from envdoctor.model.finding import Evidence, Finding, Remedy, Severity
from envdoctor.model.origin import FileOrigin
from envdoctor.model.requirement import Requirement, may_hold
from envdoctor.model.resolution import ResolvedPackage


def _find(examination: Examination) -> Iterator[Finding]:
    environment = examination.target.marker_environment() if examination.target else None
    for requirement in examination.project.requirements if examination.project else ():
        if environment is not None and not may_hold(requirement.marker, environment):
            continue
        if examination.project and examination.project.lock_of(requirement) is not None:
            continue
        wrong = [(text, reason) for text in requirement.hashes if (reason := malformed_hash(text))]
        for text, reason in wrong:
            message = f"`--hash={text[:80]}` of `{requirement.name}` is no hash that installers take: {reason}"
            yield _finding(requirement, message, "correct the hash, or leave it out")
        for name, digest in hashes_in(requirement.url or ""):
            if reason := malformed_hash(f"{name}:{digest}"):
                message = f"`#{name}={digest[:80]}` of `{requirement.name}` is no hash that installers take: {reason}"
                yield _finding(requirement, message, "correct the hash, or leave it out")
                wrong.append((digest, reason))
        package = examination.resolution.get(requirement.name) if examination.resolution else None
        if package is not None and not wrong and _is_unchecked(requirement):
            yield RULE.finding(
                subject=requirement.name,
                message=f"the hash of `{requirement.name}` is left to the installer: of its wheel only parts are read",
                severity=Severity.INFO,
                evidence=(Evidence(str(requirement), str(requirement.origin)),),
                location=requirement.origin if isinstance(requirement.origin, FileOrigin) else None,
            )
        if package is not None and requirement.hashes and not wrong:
            yield from _compared(requirement, package)


def _is_unchecked(requirement: Requirement) -> bool:
    """Return whether a line's hash is of a file at an address, of which no more is read than its metadata."""
    if requirement.url is None or not requirement.url.startswith(("http:", "https:")):
        return False
    return bool(requirement.hashes or hashes_in(requirement.url))


def _compared(requirement: Requirement, package: ResolvedPackage) -> Iterator[Finding]:
    if agreeing(package.files, requirement.hashes) or not comparable(package.files, requirement.hashes):
        return
    message = f"no file of `{package.name}` {package.version} has a hash that `{requirement.name}` asks for"
    yield _finding(
        requirement, message, "write the hashes of the version that is meant, once you know that they are right"
    )


def _finding(requirement: Requirement, message: str, summary: str) -> Finding:
    return RULE.finding(
        subject=requirement.name,
        message=message,
        evidence=(Evidence(f"{requirement} with {len(requirement.hashes)} --hash", str(requirement.origin)),),
        remedy=Remedy(summary),
        location=requirement.origin if isinstance(requirement.origin, FileOrigin) else None,
    )


RULE = Rule.of(__name__, __doc__, Severity.ERROR, _find, needs={"project"})
