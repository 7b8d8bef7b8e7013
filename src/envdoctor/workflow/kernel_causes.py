"""What is known of the words with which a kernel failed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from envdoctor.model.finding import Severity

if TYPE_CHECKING:
    from envdoctor.model.finding import Finding
    from envdoctor.model.kernel import KernelResult
    from envdoctor.model.profile import Profile
    from envdoctor.model.target import Target

__all__ = ["known_causes"]


def known_causes(results: Sequence[KernelResult], profile: Profile | None, target: Target | None) -> Iterable[Finding]:
    """Yield the advisories whose symptom is in what the failed kernels said, each once.

    They are notes: how bad a failure is, the finding of the kernel itself says.
    """
    failed = [result for result in results if result.failed and result.detail]
    if not failed:
        return
    # Imported here: most runs have no failure, and the advisories take their time to read.
    from envdoctor.diagnose.advisories.advising import read_log
    from envdoctor.diagnose.examination import Examination

    told: set[str] = set()
    for result in failed:
        log = f"{result.kernel}: {result.detail}"
        for finding in read_log(Examination(target=target, profile=profile, log=log)):
            if finding.rule in told:
                continue
            told.add(finding.rule)
            seen, *sources = finding.evidence
            yield replace(
                finding,
                severity=Severity.INFO,
                message=finding.message.replace("the log shows", f"`{result.kernel}` shows", 1),
                evidence=(replace(seen, where=result.device), *sources),
            )
