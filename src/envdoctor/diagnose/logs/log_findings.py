"""What a log tells by itself, as conflicts and findings: resolvers' refusals, unmet demands, failures nobody knows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

from packaging.utils import canonicalize_name

from envdoctor.diagnose.advisories.log_reading import with_what_log_tells
from envdoctor.diagnose.examination import Examination
from envdoctor.diagnose.logs.conda_output import failures_of_conda
from envdoctor.diagnose.logs.got_over import ENDS, WENT_WELL
from envdoctor.diagnose.logs.log_failures import LogFailure, course_of_log, failures_of
from envdoctor.diagnose.logs.log_lines import LogLine, lines_of_log
from envdoctor.diagnose.logs.missing_module import missing_module
from envdoctor.diagnose.logs.missing_names import missing_names
from envdoctor.diagnose.logs.pip_output import failures_of_pip
from envdoctor.diagnose.logs.resolver_failure import ResolverFailure, conflicts_in
from envdoctor.diagnose.logs.solver_output import failures_of_pdm, failures_of_poetry
from envdoctor.diagnose.logs.unmet_output import unmet_in
from envdoctor.diagnose.logs.uv_output import failures_of_uv
from envdoctor.diagnose.remedies import remedy_of_move, remedy_of_one_for_all
from envdoctor.diagnose.rules import res001_conflicting_requirements
from envdoctor.model.conflict import Conflict
from envdoctor.model.dataclass import dataclass
from envdoctor.model.finding import Evidence, Finding, Remedy, Severity
from envdoctor.model.origin import DistributionOrigin
from envdoctor.model.resolution import Unmet
from envdoctor.model.unknown import SubjectKind

__all__ = ["NOT_UNDERSTOOD", "conflicts_of_log", "findings_of_log"]

NOT_UNDERSTOOD = "LOG001"
"""The code of the finding that quotes a failure which nothing here knows."""
NO_OUTCOME = "LOG003"
_MAY_REFUSE = re.compile(
    r"ecause |ERROR: |requires |has requirement |VersionConflict|not available|nothing provides |ResolvePackageNotFound"
    r"|incompatible|Unsatisfiable|Cannot solve|can't be installed because"
    r"|could not be installed|ResolutionImpossible|required: |so it will not be"
)
_NEAR = 15
"""Lines between a failure and what explains it."""
_MOST_SHOWN = 6
_CRASHED = re.compile(
    r"[Ss]egmentation fault|[Aa]bort|core dumped|terminate called"
    r"|access violation|Fatal Python|[Bb]us error|Illegal instr"
)
_MEMORY = re.compile(
    r"out of memory|OutOfMemory|MemoryError(?!: Cannot allocate write\+execute)|bad_alloc|\bKilled\b|No space left"
)

_ON_THE_CARD = re.compile(
    r"(?:CUDA|HIP|CUDA driver) error: (?:an illegal|unspecified launch|misaligned|device-side|unknown error)"
)
"""What a kernel did on the card, of which a program hears when it next asks for something."""
_ENDED_WELL = re.compile(
    rf"(?:{WENT_WELL.pattern})|=* ?\d+ passed\b.* in [\d.]+ ?s|Audited \d+ packages? in"
    r"|Requirement already satisfied: |Successfully (?:built|tagged|uninstalled) |No dependencies to install or update"
    r"|# All requested packages already installed|Writing lock file$"
    r"|Process finished with exit code 0\b"
)
"""At the beginning of a line, and nothing begun after it: the program ended as it should."""
_BEGINS = re.compile(
    r"(?:Collecting|Downloading(?! package |.{0,200}\d%\|)|Using cached|Building wheels?|Preparing metadata"
    r"|Getting requirements|Installing \w+|Resolving dependencies|Solving environment|Updating dependencies"
    r"|Looking in indexes|Processing \S*[/\\]|Obtaining|Cloning"
    r"|Collecting package metadata|Fetching(?!.{0,200}\d%\|)) ?"
)
_PAUSED = re.compile(
    r"(?:.{0,300}>\s?pause *)?(?:Press any key to continue|Dr.{1,2}cken Sie eine beliebige"
    r"|Appuyez sur une touche|Presione una tecla|Pressione qualquer tecla|Premere un tasto"
    r"|\u8bf7\u6309\u4efb\u610f\u952e|\u7d9a\u884c\u3059\u308b\u306b\u306f"
    r"|\u0414\u043b\u044f \u043f\u0440\u043e\u0434\u043e\u043b\u0436\u0435\u043d\u0438\u044f)"
)
"""What a batch file waits with when what it started is over, however that ended."""
_OF_A_PROGRAM = re.compile(
    r"\b(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR)\b|\d%|\|.*\||[=~]=|\[[\w:. >-]+\]|\w\.\w+:\d+"
    r"|\b(?:pip3?|uv|conda) install\b|\bpython3? -|^\s*[$>#] ?\S"
    r"|[\w-][-_ ]v?\d+\.\d+|\w=\S|^\s*[+|*-]{3,}|/\w+/\w|\b[A-Z]:\\"
)
_OF_A_PERSON = re.compile(
    r"\b(?:I'm|I've|[Hh]elp me|[Pp]lease help)\b"
    r"|\bI (?:am|have|get|got|see|saw|try|tried|can|cannot|can't|do|don't|installed|want|need|run|ran|use|used)\b"
)
"""Words about a program, which are not its own; and a question, behind what an address asks with."""
_OF_SEVERAL = re.compile(r"\b(?:[Mm]y|[Ww]e|[Oo]ur)\b")
"""What a person says as well as a program."""
_OF_A_RUN = re.compile(r"\d%\||\w\.py:\d+|^\[[\d:. >-]+\]")
_SENTENCE = re.compile(r"[a-z] [a-z]+ [a-z]+")


@dataclass(frozen=True, slots=True)
class _Output:
    refusals: tuple[ResolverFailure, ...] = ()
    unmet: tuple[tuple[LogLine, Unmet], ...] = ()


@lru_cache(maxsize=2)
def _output(text: str) -> _Output:
    if not _MAY_REFUSE.search(text):
        return _Output()
    lines = lines_of_log(text)
    readers = (failures_of_uv, failures_of_pip, failures_of_poetry, failures_of_conda, failures_of_pdm)
    refusals = sorted((item for reader in readers for item in reader(lines)), key=lambda item: item.begin)
    course = course_of_log(text)
    refusals = [item for item in refusals if not course.got_over(item.end) and not item.is_past(course.put_in)]
    return _Output(tuple(refusals), tuple(unmet_in(lines, course.put_in)))


def conflicts_of_log(text: str | None, known: Sequence[Conflict] = ()) -> tuple[Conflict, ...]:
    """Return the conflicts that resolvers print in a log, each once, without those that are ``known`` already."""
    if not text:
        return ()
    seen = {_names(item) for item in known}
    found: list[Conflict] = []
    for refusal in _output(text).refusals:
        for conflict in conflicts_in(refusal):
            if _names(conflict) not in seen:
                seen.add(_names(conflict))
                found.append(replace(conflict, id=f"C{len(known) + len(found) + 1}"))
    return tuple(found)


def _names(conflict: Conflict) -> frozenset[str]:
    return frozenset(item.name for item in conflict.core)


def findings_of_log(examination: Examination, advised: Sequence[Finding]) -> Iterator[Finding]:
    """Yield what the examination's log tells by itself.

    ``advised``: what advisories say of the log's lines; what they explain is not said again.
    """
    text = examination.log or ""
    output, conflicts = _output(text), conflicts_of_log(text, examination.conflicts)
    explained = {number for item in advised for number in item.log_lines}
    own = [
        *res001_conflicting_requirements.RULE.find(replace(examination, conflicts=conflicts, repairs=())),
        *_unmet(output.unmet, explained, _there(examination, output.unmet)),
        *_refused(output.refusals, explained),
    ]
    yield from own
    grave = {number for item in advised if item.severity is Severity.ERROR for number in item.log_lines}
    places = [(number, number) for number in grave]
    places += [(item.begin, item.end) for item in output.refusals if item.core]
    places += [(line.number, line.number) for line, _ in output.unmet]
    failures = failures_of(text)
    # What is no error explains the lines that it was read in, not what failed near them.
    left = [item for item in failures if not any(item.begin <= number <= item.end for number in explained - grave)]
    left = [item for item in left if not any(_touch(item, place) for place in places)]
    missing = list(missing_names(examination, left))
    yield from (finding for _, finding in missing)
    places = [(failure.begin, failure.end) for failure, _ in missing]
    left = [item for item in left if not any(_touch(item, place) for place in places)]
    yield from _unexplained(left, text, worse=bool(missing) or _is_bad([*advised, *own]))
    if not (advised or own or failures) and _tells_nothing(text):
        yield _without_outcome(is_all=examination.environment is None and examination.project is None)


def _is_bad(findings: Iterable[Finding]) -> bool:
    return any(item.severity is Severity.ERROR for item in findings)


def _refused(refusals: Sequence[ResolverFailure], explained: set[int]) -> Iterator[Finding]:
    """Yield one finding for each requirement that cannot be met by itself."""
    said: set[str] = set()
    for item in refusals:
        is_explained = any(item.begin <= number <= item.end for number in explained)
        if item.core and not conflicts_in(item) and not is_explained and item.core[0].name not in said:
            said.add(item.core[0].name)
            yield _alone(item)


def _alone(refusal: ResolverFailure) -> Finding:
    """Return the finding of requirements that cannot be met, whatever else was asked for."""
    names = " and ".join(f"`{item}`" for item in refusal.core)
    return Finding(
        rule="RES101",
        name="not-for-target",
        severity=Severity.ERROR,
        subject=refusal.core[0].name,
        message=f"{names} {refusal.why}" if refusal.why else f"{names} cannot be met, says the log{_clash(refusal)}",
        evidence=(Evidence(refusal.words[:600], f"log line {refusal.begin}"),),
        remedy=Remedy(refusal.remedy or "take another version of it, or of what it needs"),
        log_lines=(refusal.begin,),
    )


def _clash(refusal: ResolverFailure) -> str:
    needs = "; ".join(f"{item.origin} needs `{item.pep508}`" for item in refusal.demands[:4])
    return f": {needs}" if needs else ""


def _there(examination: Examination, found: Sequence[tuple[LogLine, Unmet]]) -> dict[str, str]:
    """Return what is installed, as the examination, the log's other lines and the unmet demands tell it."""
    told = with_what_log_tells(examination, examination.log or "").environment if found else None
    there: dict[str, str] = {item.name: item.version for item in told.distributions} if told is not None else {}
    for _, item in found:
        origin = item.requirement.origin
        if item.there is not None:
            there[item.requirement.name] = str(item.there)
        if isinstance(origin, DistributionOrigin) and origin.version:
            there[canonicalize_name(origin.name)] = str(origin.version)
    return there


def _unmet(found: Sequence[tuple[LogLine, Unmet]], explained: set[int], there: Mapping[str, str]) -> Iterator[Finding]:
    for line, item in found:
        origin = item.requirement.origin
        if line.number in explained or not isinstance(origin, DistributionOrigin):
            continue
        who = f"`{origin.name.lower()}`{f' {origin.version}' if origin.version else ''}"
        state = f"{item.there} is installed" if item.there is not None else "it is not installed"
        everyone = [other for _, other in found if other.requirement.name == item.requirement.name]
        yield Finding(
            rule="ENV001",
            name="unmet-requirement",
            severity=Severity.ERROR,
            subject=origin.name.lower(),
            message=f"{who} requires `{item.requirement.pep508}`, but {state}",
            evidence=(Evidence(line.text[:200], f"log line {line.number}"),),
            remedy=_remedy_of_unmet(item, everyone, there),
            log_lines=(line.number,),
        )


def _remedy_of_unmet(item: Unmet, everyone: Sequence[Unmet], there: Mapping[str, str]) -> Remedy:
    together, name = item.requirement.specifier, item.requirement.name
    for other in everyone:
        together &= other.requirement.specifier
    origins = (other.requirement.origin for other in everyone)
    names = sorted({f"`{origin.name}`" for origin in origins if isinstance(origin, DistributionOrigin)})
    if together.is_unsatisfiable():
        if one := remedy_of_one_for_all(None, item.requirement.asked_by or "", name, there):
            return one
        return Remedy(f"no version of `{name}` suits {' and '.join(names)}: give them separate environments")
    if moved := remedy_of_move(None, item.requirement.asked_by or "", name, together, there):
        return moved
    install = f'python -m pip install "{name}{together}"'
    kept = f", unless something that is not in the log needs {item.there}" if item.there is not None else ""
    return Remedy(
        f"install a version that suits {' and '.join(names)}{kept}; then ask `python -m pip check`", commands=(install,)
    )


def _unexplained(left: Sequence[LogFailure], text: str, *, worse: bool) -> Iterator[Finding]:
    """Yield one finding for the last failure that nothing explains: what comes before it is often its cause."""
    if worse:  # What was understood is what failed inside.
        left = [item for item in left if not item.is_wrapper]
    if not left:
        return
    # What fails beside something that is known is most often its consequence.
    failure = left[-1]
    line = failure.line.replace("`", "'")
    shown = [item for item in failure.told if item[0] == failure.number]
    shown += [item for item in failure.told if item[0] != failure.number]
    also = left[:-1][-2:]
    over = ", and that was got over" if course_of_log(text).got_over(failure.number) else ""
    missing = missing_module(failure, text.split("\n")[failure.begin - 1 : failure.number])
    yield Finding(
        rule=NOT_UNDERSTOOD,
        name="failure-not-understood",
        severity=Severity.INFO if worse else Severity.WARNING,
        subject="log",
        subject_kind=SubjectKind.LOG,
        message=(missing and missing[0]) or f"the log shows {_kind(failure)}{over}: `{line}`",
        evidence=(
            *(Evidence(text, f"log line {number}") for number, text in shown[:_MOST_SHOWN]),
            *(Evidence(item.line, f"log line {item.number}") for item in also),
        ),
        remedy=Remedy(missing[1] if missing else _what_to_do(failure)),
        log_lines=(failure.number,),
    )


def _without_outcome(*, is_all: bool) -> Finding:
    """Return the finding of a log that shows neither a failure nor a success; ``is_all``: nothing else is looked at."""
    return Finding(
        rule=NO_OUTCOME,
        name="log-without-outcome",
        severity=Severity.WARNING if is_all else Severity.INFO,
        subject="log",
        subject_kind=SubjectKind.LOG,
        message="the log shows neither a failure nor an end that went well: it was cut, or it is no program's output",
        remedy=Remedy(
            "paste all that the command printed, from the line with the command to its last one; words about a failure "
            "tell less than the traceback or the installer's own lines. What `pip freeze` lists goes to `--installed`"
        ),
    )


def _touch(failure: LogFailure, place: tuple[int, int]) -> bool:
    return place[0] <= failure.end + _NEAR and place[1] >= failure.begin - _NEAR


def _kind(failure: LogFailure) -> str:
    """Return what a failure is, as far as its line tells."""
    if _MEMORY.search(failure.line):
        return "that memory or space ran out"
    return "a failure that is not known here"


def _what_to_do(failure: LogFailure) -> str:
    said = "\n".join(text for _, text in failure.told)
    if _MEMORY.search(said):
        return "memory or space ran out: give the program less to do at a time, or more room; no other version helps"
    if _ON_THE_CARD.search(said):
        return (
            "a kernel failed before the line that the traceback names: run it once more with CUDA_LAUNCH_BLOCKING=1 "
            "(on ROCm AMD_SERIALIZE_KERNEL=3), which makes it name the right one; an index out of range is the "
            "program's or the model's, a kernel of another package (attention, quantization) that package's"
        )
    if _CRASHED.search(said):
        return (
            "see which module was at work (`python -X faulthandler` tells), and look at the environment's libraries "
            "and the machine with `envdoctor check --env DIR`"
        )
    return (
        "see whether the line speaks of the program's own files or settings, which nothing here can judge; else give "
        "the whole log, and the environment and machine with it (`--env`, or `--installed` and `--facts`)"
    )


def _tells_nothing(text: str) -> bool:
    """Return whether a log without a failure shows no outcome: a cut install, or a person's words in a log's place.

    What a program printed to its end, or what it went on printing, is an outcome, and so is an install that succeeded.
    """
    lines = lines_of_log(text)
    begun = max((line.number for line in lines if _BEGINS.match(line.text)), default=0)
    if any(line.number > begun and _ENDED_WELL.match(line.text) for line in lines):
        return False
    said = [line.text for line in lines]
    if said and _PAUSED.match(said[-1]) and not any(map(ENDS.search, said)):
        return True
    if begun or any(map(_is_of_a_person, said)):
        return True
    marks = _OF_A_RUN if any(map(_OF_SEVERAL.search, said)) else _OF_A_PROGRAM
    return not any(line.level or marks.search(line.text) for line in lines)


def _is_of_a_person(text: str) -> bool:
    asks = text.endswith("?") and _SENTENCE.search(text, 1 + max(map(text.rfind, "=&/")))
    return bool(asks) or _OF_A_PERSON.search(text) is not None
