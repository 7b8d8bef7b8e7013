"""``profiles test``: the cases beside a profile, each a list of requirements with what has to come out.

They stand in ``my-stack.cases.toml`` beside ``my-stack.toml``. Nothing is installed, and nothing is run.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from packaging.specifiers import InvalidSpecifier, SpecifierSet

from envdoctor.model.compatibility import read_python
from envdoctor.model.dataclass import dataclass
from envdoctor.model.unknown import Unknown
from envdoctor.ports import SilentProgress, UsageError
from envdoctor.toml_tables import Document, Faults, Table, TomlError
from envdoctor.verbs.card_choice import card_facts
from envdoctor.verbs.check import diagnose_project
from envdoctor.verbs.check_request import CheckRequest, Diagnosed
from envdoctor.verbs.index_choice import IndexChoice
from envdoctor.verbs.session import open_session
from envdoctor.verbs.target_choice import TargetChoice

__all__ = ["Case", "exit_code", "read_cases", "run_cases"]


_OF_INDEX = re.compile(r"\s*(?:-[if]|--(?:index-url|extra-index-url|find-links|no-index|trusted-host))(?![\w-])")
_OF_OTHERS = re.compile(r"ADV9\d\d")
_UNREAD = ("RES002", "RES006")
"""Told of lines that say nothing of what was meant: without them a case shows nothing."""


@dataclass(frozen=True, slots=True)
class Case:
    """What a profile is to make of some requirements."""

    name: str
    requirements: tuple[str, ...]
    python: str | None
    gpu: str | None
    versions: Mapping[str, SpecifierSet]
    """Of packages in the resolution."""
    findings: tuple[str, ...]
    """Codes that must be told."""
    silent: tuple[str, ...]
    """Codes that must not be."""


@dataclass(frozen=True, slots=True)
class CaseResult:
    """How a case came out."""

    wrong: tuple[str, ...] = ()
    """What differs from what is written."""
    unknowns: tuple[Unknown, ...] = ()
    """Indexes that gave no answer: neither what differs nor what does not is shown by such a run."""


def run_cases(profile: Path) -> dict[str, CaseResult]:
    """Return how each case came out, by its name. Raises UsageError."""
    cases = read_cases(profile.with_name(f"{profile.stem}.cases.toml"))
    return {case.name: _run(case, profile) for case in cases}


def _run(case: Case, profile: Path) -> CaseResult:
    with tempfile.TemporaryDirectory(prefix="envdoctor-case-") as folder:
        Path(folder, "requirements.txt").write_text("\n".join(case.requirements) + "\n", encoding="utf-8")
        target = TargetChoice(python=case.python, gpu=case.gpu)
        session = open_session(
            Path(folder), str(profile), target, IndexChoice(), progress=SilentProgress(), tell=lambda _: None
        )
        with session:
            result = diagnose_project(session.request)
            silent = _silent(result, session.request)
    return CaseResult(() if silent else tuple(_amiss(case, result)), tuple(silent))


def _silent(result: Diagnosed, request: CheckRequest) -> tuple[Unknown, ...]:
    """Return what no index told in a run."""
    found = result.diagnosis.unknowns if result.diagnosis is not None else ()
    asked = [one for one in found if one.is_of_an_index and not one.file]
    return tuple(dict.fromkeys((*asked, *request.unreachable())))


def _amiss(case: Case, result: Diagnosed) -> Iterator[str]:
    resolution = result.diagnosis.resolution if result.diagnosis is not None else None
    if resolution is None:
        yield "it does not resolve with the profile"
        return
    for item in result.findings:
        if item.rule in _UNREAD and item.rule not in case.findings:
            yield item.message
    versions = {str(item.name): item.version for item in resolution.packages}
    for name, wanted in case.versions.items():
        if name not in versions:
            yield f"`{name}` is not in the resolution"
        elif not wanted.contains(versions[name], prereleases=True):
            yield f"`{name}` is {versions[name]}, and not {wanted}"
    told = {finding.rule for finding in result.findings}
    yield from (f"{code} is not told" for code in case.findings if code not in told)
    for code in case.silent:
        yield from (f"{code} is told: {item.message}" for item in result.findings if item.rule == code)


def read_cases(path: Path) -> tuple[Case, ...]:
    """Return the cases of a file. Raises UsageError with every fault of it."""
    try:
        document = Document(path.read_text(encoding="utf-8"), path.name)
    except FileNotFoundError:
        raise UsageError(
            f"there is no `{path}`: cases stand beside the profile, `[[case]]` with name and requirements"
        ) from None
    except TomlError as error:
        raise UsageError(f"{path}:{error.line}: {error.reason}") from error
    except (OSError, ValueError) as error:
        raise UsageError(f"{path}: cannot be read: {error}") from error
    cases = tuple(map(_case, document.table().tables("case")))
    for at, case in enumerate(cases):
        if case.name and case.name in {earlier.name for earlier in cases[:at]}:
            document.faults.add(f"case[{at}].name", f"another case is called `{case.name}`")
    for key in document.data.keys() - {"case"}:
        document.faults.add(key, "unknown key; a file of cases holds `[[case]]` alone")
    if not cases and not document.faults.found:
        document.faults.add("case", "there is none")
    if document.faults.found:
        raise UsageError(*document.faults.texts())
    return cases


def _case(row: Table) -> Case:
    case = Case(
        row.text("name", required=True),
        _requirements(row),
        _option(row, "python", read_python),
        _option(row, "gpu", card_facts),
        _versions(row.take("versions"), row.path, row.faults),
        _codes(row, "findings"),
        _codes(row, "silent"),
    )
    row.done()
    return case


def _requirements(row: Table) -> tuple[str, ...]:
    """Return lines as a requirements file has them; which index is asked is the business of the profile."""
    found = row.texts("requirements", required=True)
    for text in found:
        if len(text.splitlines()) != 1:
            row.fault("requirements", "an entry must be one line")
        elif _OF_INDEX.match(text):
            row.fault("requirements", f"`{text.split()[0]}` names an index, which the profile's `[[index]]` does")
    return found


def _codes(row: Table, key: str) -> tuple[str, ...]:
    """Return codes of findings; one that nothing is called would never be told, and never be missed."""
    found = row.texts(key)
    if not found:
        return found
    from envdoctor.diagnose.documentation import catalogue

    known = [entry[0] for entry in catalogue()]
    for code in found:
        if code not in known and not _OF_OTHERS.fullmatch(code):
            row.fault(key, f"no rule or advisory has the code `{code}`")
    return found


def _option(row: Table, key: str, read: Callable[[str | None], object]) -> str | None:
    """Return what an option is given, a fault of the key where ``read`` does not understand it."""
    text = row.text(key) or None
    try:
        read(text)
    except ValueError as error:
        row.fault(key, str(error))
    return text


def _versions(data: object, path: str, faults: Faults) -> dict[str, SpecifierSet]:
    if data is not None and not isinstance(data, dict):
        faults.add(f"{path}.versions", 'must be a table, { torch = ">=2.12" }')
    rows = data.items() if isinstance(data, dict) else ()
    return {str(name): _specifier(str(text), f"{path}.versions.{name}", faults) for name, text in rows}


def _specifier(text: str, path: str, faults: Faults) -> SpecifierSet:
    try:
        return SpecifierSet(text)
    except InvalidSpecifier:
        faults.add(path, f"`{text}` is no version specifier such as >=2.12")
        return SpecifierSet()


def exit_code(results: Iterable[CaseResult]) -> int:
    """Return 1 where a case differs from what is written, else 3 where one is not known, else 0."""
    found = list(results)
    return 1 if any(result.wrong for result in found) else 3 if any(result.unknowns for result in found) else 0
