"""What advisories say of a log, and of the words with which a kernel failed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from envdoctor.diagnose.advisories.book import shipped_advisories
from envdoctor.diagnose.advisories.log_machine import with_what_log_tells
from envdoctor.diagnose.advisories.log_text import LogHit, LogText
from envdoctor.diagnose.advisories.predicate import AllOf, AnyOf, Atom, NotOf, Predicate, Situation
from envdoctor.diagnose.package_view import scenes
from envdoctor.diagnose.wheel_facts import shipped_wheel_facts
from envdoctor.model.finding import Severity

if TYPE_CHECKING:
    from envdoctor.diagnose.advisories.advisory import Advisory
    from envdoctor.diagnose.examination import Examination
    from envdoctor.model.finding import Finding
    from envdoctor.model.kernel import KernelResult
    from envdoctor.model.profile import Profile
    from envdoctor.model.target import Target

__all__ = ["known_causes", "read_log"]


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
        for finding in read_log(Examination(target=target, profile=profile, log=log), shown_by=f"`{result.kernel}`"):
            if finding.rule in told:
                continue
            told.add(finding.rule)
            seen, *sources = finding.evidence
            yield replace(
                finding,
                severity=Severity.INFO,
                evidence=(replace(seen, where=result.device), *sources),
            )


_OF_THE_MACHINE = frozenset({"os", "arch", "backend", "wsl", "gpu"})


def _atoms(part: Predicate) -> Iterator[Atom]:
    if isinstance(part, NotOf):
        yield from _atoms(part.part)
    elif isinstance(part, (AllOf, AnyOf)):
        for item in part.parts:
            yield from _atoms(item)
    elif isinstance(part, Atom):
        yield part


def _of_machine(advisory: Advisory) -> Iterator[Predicate]:
    """Yield what an advisory asks of the machine: its word for it, else those parts of its predicate."""
    if advisory.symptom_on is not None:
        yield advisory.symptom_on
        return
    for part in advisory.when.parts if isinstance(advisory.when, AllOf) else (advisory.when,):
        if all(atom.kind in _OF_THE_MACHINE for atom in _atoms(part)):
            yield part


def _elsewhere(advisory: Advisory, situation: Situation) -> bool:
    """Return whether an advisory is about another kind of machine than the one the log comes from.

    What is about ZLUDA, say, or about WSL, is said where they are known to be there, not where they may be.
    """
    answers = [(part, part.ask(situation).value) for part in _of_machine(advisory)]
    return any(
        answer is False or (answer is None and any(atom.needs_word for atom in _atoms(part)))
        for part, answer in answers
    )


_TELLING = 1024 * 1024
"""Characters at the end of a log, where errors stand, and a quarter of that at its begin, where machines do."""


def _situation_of_log(examination: Examination, log: LogText) -> Situation:
    """Return what the log, the listing and the facts tell together; a plan tells nothing of where the log is from."""
    text = log.text if len(log.text) <= _TELLING else f"{log.text[: _TELLING // 4]}\n{log.text[-_TELLING:]}"
    told = with_what_log_tells(replace(examination, resolution=None, project=None, log=text), text)
    return Situation(scenes(told, shipped_wheel_facts())[0])


def read_log(
    examination: Examination, further: Sequence[Advisory] = (), *, shown_by: str = "the log"
) -> Iterator[Finding]:
    """Yield a finding for every advisory with a symptom that the examination's log shows.

    ``further``: advisories of others' files. Where one says the same as another and more, it speaks alone.
    """
    log = LogText(examination.log or "")
    hits: list[tuple[Advisory, LogHit]] = []
    for advisory in (*shipped_advisories().advisories, *further):
        if advisory.symptoms:
            hit = log.first(advisory.symptoms, advisory.symptom_mentions, advisory.symptom_within)
            if hit:
                hits.append((advisory, hit))
    if not hits:
        return
    situation = _situation_of_log(examination, log)
    hits = [(advisory, hit) for advisory, hit in hits if not _elsewhere(advisory, situation)]
    outdone = {code for advisory, _ in hits for code in advisory.instead_of}
    for advisory, hit in hits:
        if advisory.code not in outdone:
            more = (other.number for item, other in hits if item.code in advisory.instead_of)
            found = advisory.finding_of_log(situation, hit.excerpt, hit.number, shown_by)
            yield replace(found, log_lines=(hit.number, *more))
