"""What advisories say of a log and of a failed kernel's words, and what the log tells of the machine it is from."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from envdoctor.diagnose.advisories.advisory import Advisory
from envdoctor.diagnose.advisories.book import shipped_advisories
from envdoctor.diagnose.advisories.log_text import LogHit, LogText
from envdoctor.diagnose.advisories.predicate import AllOf, AnyOf, Atom, NotOf, Predicate, Situation
from envdoctor.diagnose.examination import Examination
from envdoctor.diagnose.logs.got_over import Course
from envdoctor.diagnose.logs.log_failures import course_of_log, failures_of, is_exception
from envdoctor.diagnose.package_view import scenes
from envdoctor.diagnose.wheel_facts import shipped_wheel_facts
from envdoctor.install_words import left_by_installs, versions_of
from envdoctor.model.environment import EnvironmentKind, InstalledDistribution, InstalledEnvironment
from envdoctor.model.finding import Evidence, Finding, Severity
from envdoctor.model.kernel import KernelResult
from envdoctor.model.profile import Profile
from envdoctor.model.target import Backend, OperatingSystem, Target, TargetProperty
from envdoctor.shipped import architecture_of_card

__all__ = ["installed_by", "known_causes", "read_log", "told_of_machine", "with_what_log_tells", "words_of_amd"]

_SYSTEMS = {
    OperatingSystem.WINDOWS: re.compile(r"(?<![\w/])[A-Za-z]:\\+\w|\bWinError \d"),
    OperatingSystem.MACOS: re.compile(
        r"(?:(?<![\w.:/\\])|-[IL])/(?:Users|opt/homebrew)/|\bmacOS-\d|\b(?:lib|temp)\.macosx-\d|\(mach-o file"
        r"|\bMPS \(Apple"
    ),
    OperatingSystem.LINUX: re.compile(
        r"(?<![\w.:/\\])/(?:home|root|mnt/[a-z])/|\.so[\d.]*: cannot open shared object|-linux-gnu\b"
    ),
}
"""Paths and words that one system alone has."""
_WSL = re.compile(r"microsoft-standard-WSL|(?<![\w.:/\\])/mnt/[a-z]/|/dev/dxg|\blibrocdxg\b")
_PYTHON = re.compile(
    r"[/\\]python3\.(\d{1,2})[/\\]|[/\\]Python3(\d{1,2})[/\\]|\bcpython-3(\d{1,2})-|\bCPython 3\.(\d{1,2})\b"
    r"|\bPython[ -]3\.(\d{1,2})\.\d"
)
_BACKENDS = {
    Backend.ZLUDA: re.compile("zluda|amdhip64", re.IGNORECASE),
    Backend.DIRECTML: re.compile(
        r"torch_directml|PrivateUse1|privateuseone|\bDML backend|DmlExecutionProvider|Invalid or unsupported data type"
    ),
    Backend.COREML: re.compile(r"coreml", re.IGNORECASE),
    Backend.ROCM: re.compile(
        r"\d\+rocm\d"
        r"|\bHIP error|\bhipError|\bNo HIP GPUs|\brocBLAS error|\bMIOpen(?:\(HIP\)| Error)|\bmiopenStatus|\bROCk module"
    ),
}
"""What runs the tensors, where words of it tell; CUDA's own words stand under ZLUDA and ROCm too."""

_CARD = re.compile(
    r"\bGPU arch ?: ?(gfx[0-9a-f]{3,5})\b|_lazy_(gfx[0-9a-f]{3,5})\.|\((gfx[0-9a-f]{3,5})\)"
    r"|\bCUDA capability sm_(\d{2,3}) is not|\bwhich is of cuda capability (\d{1,2}\.\d)"
    r"|'sm_(\d{2,3})[a-z]?' is not defined"
)
"""A card's architecture, where a tool complains of it or names it with the card."""
_CARD_NAME = re.compile(
    r"\b(?:cuda|xpu):\d{1,2} ([^:\n]{3,80}) : (?:native|cudaMallocAsync)\b"
    r"|\b(?:GPU|[Dd]evice|[Cc]ard)(?: ?#?\d{1,2})?(?: [Nn]ame)? ?[:=] ?"
    r"((?:NVIDIA|GeForce|Quadro|Tesla|AMD|Radeon)[^:,\n]{2,60})"
)
"""A card as ComfyUI names it when it starts, and in its reports; and as programs name the one that they run on."""
_ON_AMD = re.compile(
    r"\bHIP error: (?:invalid device function|no kernel image|an illegal memory access|unspecified launch failure)"
    r"|\bHIP out of memory|\brocBLAS error|\bMIOpen(?:\(HIP\)| Error)"
)
"""What ROCm writes where there is a card of AMD's; that it finds none, it writes beside NVIDIA's, too."""

_STATED = (
    re.compile(r"(?m)^ *([A-Za-z][\w.-]*)==(\d[\w.+!]*)$"),
    re.compile(r"\bRequirement already satisfied: ([A-Za-z][\w.-]*)(?![\w.-])[^(\n]{0,300}\((\d[\w.+!]*)\)"),
    re.compile(r"(?i)\b(torch|pytorch) version:?(?:\*\*)? \(?(\d[\w.+]*)"),
)
_CALLED = {"pytorch": "torch"}
_PUT_IN = re.compile(r"\bSuccessfully installed \S|^[^\S\n]*Installed \d+ packages? in ", re.MULTILINE)
"""How pip and uv end an install, with what is there now."""


def with_what_log_tells(examination: Examination, text: str, joined: str = "") -> Examination:
    """Return the examination with target and packages as the log shows them, and what neither tells as assumed.

    ``joined``: lines that a window has broken in two, joined again.
    """
    environment = examination.environment
    if environment is None or environment.source == "facts":
        environment = _environment(text, joined) or environment
    text = f"{text}\n{joined}"
    target = examination.target
    if target is None:
        return replace(examination, environment=environment)
    assumed = set(examination.assumed)
    if (system := _system(text)) is not None:
        target = replace(target, os=system)
        assumed.discard(TargetProperty.OS)
    if (python := _python(text)) is not None:
        target = replace(target, python=python, python_full=None)
        assumed.discard(TargetProperty.PYTHON)
    if _WSL.search(text):
        target = replace(target, wsl=True)
    if target.backend is Backend.UNKNOWN:
        backends = (backend for backend, pattern in _BACKENDS.items() if pattern.search(text))
        target = replace(target, backend=next(backends, Backend.UNKNOWN))
    if target.gpu_architecture is None:
        target = replace(target, gpu_architecture=_card(text))
    return replace(examination, environment=environment, target=target, assumed=frozenset(assumed))


def told_of_machine(text: str) -> dict[str, tuple[str, Evidence]]:
    """Return what a log tells of the machine that it is from, with the line: ``gpu``, ``os`` and ``python``."""
    system, python, card = _system(text), _python(text), _card(text)
    told = (
        ("gpu", card, _CARD if _CARD.search(text) else _CARD_NAME),
        ("os", system.value if system else None, _SYSTEMS[system] if system else _CARD),
        ("python", f"{python[0]}.{python[1]}" if python else None, _PYTHON),
    )
    return {name: (value, _line(text, pattern)) for name, value, pattern in told if value is not None}


def words_of_amd(text: str) -> Evidence | None:
    """Return the first line that ROCm writes on a card of AMD's alone, None where there is none."""
    return _line(text, _ON_AMD) if _ON_AMD.search(text) else None


def _line(text: str, pattern: re.Pattern[str]) -> Evidence:
    found = pattern.search(text)
    at = found.start() if found is not None else 0
    line = text[text.rfind("\n", 0, at) + 1 :].partition("\n")[0]
    return Evidence(line.strip()[:200], f"log line {text.count(chr(10), 0, at) + 1}")


def _system(text: str) -> OperatingSystem | None:
    found = [system for system, pattern in _SYSTEMS.items() if pattern.search(text)]
    return found[0] if len(found) == 1 else None


def _python(text: str) -> tuple[int, int] | None:
    minors = {int(next(filter(None, match.groups()))) for match in _PYTHON.finditer(text)}
    return (3, minors.pop()) if len(minors) == 1 else None


def _card(text: str) -> str | None:
    found = {next(filter(None, match.groups())) for match in _CARD.finditer(text)}
    cards = {name if name.startswith("gfx") else f"sm_{name.replace('.', '')}" for name in found}
    named = {architecture_of_card(match[1] or match[2]) for match in _CARD_NAME.finditer(text)}
    cards |= {architecture for architecture in named if architecture is not None}
    return cards.pop() if len(cards) == 1 else None


def installed_by(text: str) -> InstalledEnvironment | None:
    """Return what the installs that a log shows have put in, a choice of what is there; None where it shows none."""
    return _environment(text) if _PUT_IN.search(text) else None


def _environment(text: str, joined: str = "") -> InstalledEnvironment | None:
    """Return what is there at the end of a log: what it states, and what tools put in and did not take away again."""
    matches = (match for pattern in _STATED for match in pattern.finditer(f"{text}\n{joined}"))
    stated = versions_of((_CALLED.get(match[1].lower(), match[1]), match[2]) for match in matches)
    # Joined lines come first: what their first halves tell comes again, in its order.
    put_in, gone = left_by_installs(f"{joined}\n{text}")
    found = {name: version for name, version in stated.items() if name not in gone} | put_in
    if not found:
        return None
    there = tuple(InstalledDistribution(name, version) for name, version in found.items())
    return InstalledEnvironment(there, source="log", kind=EnvironmentKind.LISTING, partial=True)


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


def _ends(text: str) -> str:
    return text if len(text) <= _TELLING else f"{text[: _TELLING // 4]}\n{text[-_TELLING:]}"


def _situation_of_log(examination: Examination, log: LogText) -> Situation:
    """Return what the log, the listing and the facts tell together; a plan tells nothing of where the log is from."""
    text, joined = _ends(log.text), _ends(log.joined)
    told = replace(examination, resolution=None, project=None, log=f"{text}\n{joined}")
    told = with_what_log_tells(told, text, joined)
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
        hit = next(_hits(advisory, log), None) if advisory.symptoms else None
        if hit:
            hits.append((advisory, hit))
    if not hits:
        return
    situation = _situation_of_log(examination, log)
    places = [(*item, replace(situation, near=partial(log.around, item[1].number))) for item in hits]
    places = [(advisory, hit, here) for advisory, hit, here in places if not _elsewhere(advisory, here)]
    outdone = {code for advisory, _, _ in places for code in advisory.instead_of}
    course, raised = course_of_log(examination.log or ""), _raised(examination.log or "")
    for advisory, hit, here in places:
        if advisory.code not in outdone:
            more = (other.number for item, other, _ in places if item.code in advisory.instead_of)
            over, stops = _got_over(advisory, log, course), hit.number in raised
            found = advisory.finding_of_log(here, hit.excerpt, hit.number, shown_by, over, raised=stops)
            yield replace(found, log_lines=(hit.number, *more))


def _raised(text: str) -> frozenset[int]:
    """Return the lines that are exceptions which nothing caught."""
    told = (item for failure in failures_of(text) for item in failure.told)
    return frozenset(number for number, line in told if is_exception(line))


def _hits(advisory: Advisory, log: LogText) -> Iterator[LogHit]:
    return log.hits(advisory.symptoms, advisory.symptom_mentions, advisory.symptom_within)


def _got_over(advisory: Advisory, log: LogText, course: Course) -> Severity | None:
    """Return how bad it still is what a log shows, None where the program did not get over it each time."""
    found = [course.got_over(hit.number) for hit in _hits(advisory, log)] if course.ways or course.aside else []
    over = [item for item in found if item is not None]
    return min(over, key=lambda item: item.rank) if over and len(over) == len(found) else None
