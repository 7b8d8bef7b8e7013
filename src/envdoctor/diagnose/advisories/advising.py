"""What advisories say of a plan and of an environment."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace

from envdoctor.diagnose.advisories.advisory import Advisory
from envdoctor.diagnose.advisories.book import shipped_advisories
from envdoctor.diagnose.advisories.predicate import Situation
from envdoctor.diagnose.examination import Examination
from envdoctor.diagnose.package_view import scenes
from envdoctor.diagnose.source_scan import scan_of
from envdoctor.diagnose.wheel_facts import shipped_wheel_facts
from envdoctor.model.finding import Finding

__all__ = ["advise", "once"]


def _situations(examination: Examination) -> list[Situation]:
    scan = scan_of(examination.sources) if examination.sources is not None else None
    return [Situation(scene, scan) for scene in scenes(examination, shipped_wheel_facts())]


def advise(
    examination: Examination,
    *,
    advisories: Iterable[Advisory] | None = None,
    told: Collection[tuple[str, str]] = (),
) -> Iterator[Finding]:
    """Yield a finding for every advisory whose predicate is true in the plan or in the environment, once each.

    ``told``: codes and subjects of what rules have found; an advisory that names one of them as telling the same is
    left out.
    """
    seen: set[tuple[str, str]] = set()
    situations = _situations(examination)
    for advisory in shipped_advisories().advisories if advisories is None else advisories:
        for situation in situations:
            if any(map(situation.scene.packages.keys().isdisjoint, advisory.needs)):
                continue
            outcome = advisory.judge(situation)
            if not outcome.value:
                continue
            finding = advisory.finding(situation, outcome)
            if advisory.is_told(finding.subject, told):
                continue
            if (key := (finding.rule, finding.message)) not in seen:
                seen.add(key)
                yield finding


def once(advised: Iterable[Finding], shown: Iterable[Finding]) -> Iterator[Finding]:
    """Yield what versions and facts tell and what a log shows; where both are one advisory's, as one finding."""
    logged = {item.rule: item for item in shown}
    for finding in advised:
        seen = logged.pop(finding.rule, None)
        if seen is None:
            yield finding
        else:
            worst = min(finding.severity, seen.severity, key=lambda item: item.rank)
            evidence = (seen.evidence[0], *finding.evidence)
            yield replace(finding, severity=worst, evidence=evidence, log_lines=seen.log_lines)
    yield from logged.values()
