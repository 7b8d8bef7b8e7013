"""What is known of the words with which a kernel failed."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from envdoctor.diagnose.advisories.book import AdvisoryBook, shipped_advisories
from envdoctor.diagnose.advisories.log_text import LogHit, LogText
from envdoctor.diagnose.advisories.predicate import AllOf, Atom, Situation
from envdoctor.diagnose.package_view import Scene, scenes
from envdoctor.diagnose.source_scan import SourceScan, scan_of
from envdoctor.diagnose.wheel_facts import shipped_wheel_facts
from envdoctor.model.finding import Severity

if TYPE_CHECKING:
    from envdoctor.diagnose.advisories.advisory import Advisory
    from envdoctor.diagnose.examination import Examination
    from envdoctor.model.finding import Finding
    from envdoctor.model.kernel import KernelResult
    from envdoctor.model.profile import Profile
    from envdoctor.model.target import Target

__all__ = ["advise", "known_causes", "read_log", "undecided"]


def known_causes(results: Sequence[KernelResult], profile: Profile | None, target: Target | None) -> Iterable[Finding]:
    """Yield the advisories whose symptom is in what the failed kernels said, each once.

    They are notes: how bad a failure is, the finding of the kernel itself says.
    """
    failed = [result for result in results if result.failed and result.detail]
    if not failed:
        return
    # Imported here: most runs have no failure, and the advisories take their time to read.
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


def _possible(advisory: Advisory, scene: Scene) -> bool:
    return all(any(name in scene.packages for name in group) for group in advisory.needs)


def _situations(examination: Examination, scan: SourceScan | None) -> list[Situation]:
    if scan is None and examination.sources is not None:
        scan = scan_of(examination.sources)
    return [Situation(scene, scan) for scene in scenes(examination, shipped_wheel_facts())]


def advise(
    examination: Examination,
    *,
    scan: SourceScan | None = None,
    advisories: Iterable[Advisory] | None = None,
    told: Collection[tuple[str, str]] = (),
) -> Iterator[Finding]:
    """Yield a finding for every advisory whose predicate is true in the plan or in the environment, once each.

    ``told``: codes and subjects of what rules have found; an advisory that names one of them as telling the same is
    left out.
    """
    seen: set[tuple[str, str]] = set()
    situations = _situations(examination, scan)
    for advisory in shipped_advisories().advisories if advisories is None else advisories:
        for situation in situations:
            if not _possible(advisory, situation.scene):
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


def undecided(examination: Examination, *, scan: SourceScan | None = None) -> list[tuple[Advisory, tuple[str, ...]]]:
    """Return the advisories that could not be judged, each with what was not known."""
    found: list[tuple[Advisory, tuple[str, ...]]] = []
    situations = _situations(examination, scan)
    for advisory in shipped_advisories().advisories:
        possible = [item for item in situations if _possible(advisory, item.scene)]
        outcomes = [advisory.judge(item) for item in possible if not advisory.log_only]
        if outcomes and not any(outcome.value for outcome in outcomes):
            missing = dict.fromkeys(name for outcome in outcomes if outcome.value is None for name in outcome.missing)
            if missing:
                found.append((advisory, tuple(missing)))
    return found


_OF_THE_TARGET = frozenset({"os", "arch", "backend", "wsl"})


def _elsewhere(advisory: Advisory, examination: Examination) -> bool:
    """Return whether an advisory is about another kind of machine than the one the log is known to come from."""
    if examination.profile is None and not (examination.target and examination.target.probed):
        return False
    situation = Situation(Scene(examination, None))
    parts = advisory.when.parts if isinstance(advisory.when, AllOf) else (advisory.when,)
    return any(
        isinstance(part, Atom) and part.kind in _OF_THE_TARGET and part.ask(situation).value is False for part in parts
    )


def read_log(examination: Examination, book: AdvisoryBook | None = None) -> Iterator[Finding]:
    """Yield a finding for every advisory with a symptom that the examination's log shows.

    Where one says the same as another and more, it speaks alone.
    """
    log = LogText(examination.log or "")
    hits: list[tuple[Advisory, LogHit]] = []
    for advisory in (book or shipped_advisories()).advisories:
        if advisory.symptoms and not _elsewhere(advisory, examination):
            hit = log.first(advisory.symptoms, advisory.symptom_mentions, advisory.symptom_within)
            if hit:
                hits.append((advisory, hit))
    outdone = {code for advisory, _ in hits for code in advisory.instead_of}
    for advisory, hit in hits:
        if advisory.code not in outdone:
            yield advisory.finding_of_log(hit.excerpt, hit.number)
