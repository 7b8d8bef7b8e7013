"""What a log says is not there, read by the table of the versions that have it: a name of a module, or a module."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

from packaging.version import Version

from envdoctor.diagnose.advisories.log_reading import with_what_log_tells
from envdoctor.diagnose.examination import Examination
from envdoctor.diagnose.logs.log_failures import LogFailure
from envdoctor.diagnose.package_view import PackageView, scenes
from envdoctor.diagnose.rules import src002_removed_call
from envdoctor.diagnose.wheel_facts import shipped_wheel_facts
from envdoctor.model.dataclass import dataclass
from envdoctor.model.finding import Evidence, Finding, Remedy, Severity
from envdoctor.model.target import OperatingSystem, TargetProperty
from envdoctor.model.version_table import contains
from envdoctor.shipped import data_file

__all__ = ["missing_names"]

_SAYS = (
    re.compile(r"cannot import name '?(?P<name>\w+)'? from '?(?P<of>[\w.]+)'?"),
    re.compile(r"(?<!initialized )module '?(?P<of>[\w.]+)'? has no attribute '?(?P<name>\w+)"),
    re.compile(r"\b(?P<of>)No module named '?(?P<name>[\w.]+)"),
    re.compile(r"(?<!module )'(?P<of>\w+)' object has no attribute '?(?P<name>\w+)"),
    re.compile(r"type object '(?P<of>\w+)' has no attribute '?(?P<name>\w+)"),
    re.compile(r"(?<!\w)(?<!\w\.)(?P<of>(?:\w+\.)*\w+\(\)) got an unexpected keyword argument '?(?P<name>\w+)"),
)
_CALLER = re.compile(r"[\\/](?:site|dist)-packages[\\/]+(\w+)")
_TORCH_FAMILY = frozenset({"torch", "torchvision", "torchaudio", "torchcodec", "triton", "triton-windows"})
"""No command for one of them: each has its build, and the others go with it."""


@dataclass(frozen=True, slots=True)
class _Row:
    package: str
    versions: str
    of: tuple[str, ...]
    names: tuple[re.Pattern[str], ...]
    instead: str

    def has(self, of: str, name: str) -> bool:
        """Return whether the row speaks of a name that was asked of ``of``; of a module where that is empty."""
        if self.names:
            asked, last = (of, name) if of else (name.rpartition(".")[0], name.rpartition(".")[2])
            return asked in self.of and any(item.fullmatch(last) for item in self.names)
        whole = f"{of}.{name}" if of else name
        return of in self.of or any(whole == item or whole.startswith(f"{item}.") for item in self.of)


@lru_cache(maxsize=1)
def _rows() -> tuple[_Row, ...]:
    return tuple(
        _Row(
            row["package"],
            row["version"],
            (row["of"],) if isinstance(row["of"], str) else tuple(row["of"]),
            tuple(map(re.compile, row.get("names", ()))),
            row.get("instead", ""),
        )
        for row in data_file("names")["there"]
    )


def missing_names(examination: Examination, failures: Sequence[LogFailure]) -> Iterator[tuple[LogFailure, Finding]]:
    """Yield, once for each package, the failures whose cause is a name that other versions have.

    Where it is known that the version has the name, nothing is said: then something else is wrong.
    """
    hits = [
        (failure, number, text, row, said)
        for failure in failures
        for number, text in failure.told
        for row, said in _asked(text)
    ]
    if not hits:
        return
    text = examination.log or ""
    there = with_what_log_tells(replace(examination, resolution=None, project=None), text)
    packages, python = scenes(there, shipped_wheel_facts())[0].packages, _python(there)
    lines, done = text.split("\n"), set[str]()
    for failure, number, text, row, said in hits:
        row = replace(row, package=_called(row.package, packages, there))
        package = packages.get(row.package)
        version = python if row.package == "python" else package.version if package else None
        if (version is None or not contains(row.versions, version)) and said not in done:
            done.add(said)
            caller = _caller(lines[failure.begin - 1 : number], row)
            yield failure, _finding(row, said, version, caller, Evidence(text[:200], f"log line {number}"), number)


def _called(package: str, packages: Mapping[str, PackageView], there: Examination) -> str:
    """Return the distribution that gives the module there: triton-windows in the place of triton, say."""
    if package in packages:
        return package
    families = (names for names in data_file("import-names")["modules"].values() if package in names)
    found = next((name for names in families for name in names if name in packages), None)
    windows = there.target is not None and there.target.os is OperatingSystem.WINDOWS
    return found or ("triton-windows" if package == "triton" and windows else package)


def _python(examination: Examination) -> Version | None:
    target = examination.target
    if target is None or TargetProperty.PYTHON in examination.assumed:
        return None
    return Version("{}.{}".format(*target.python))


def _asked(text: str) -> Iterator[tuple[_Row, str]]:
    for pattern in _SAYS:
        for found in pattern.finditer(text):
            of, name = found["of"], found["name"]
            row = next((row for row in _rows() if row.has(of, name)), None)
            if row is not None:
                yield row, f"{of}: {name}" if of.endswith(")") else f"{of}.{name}" if of else name


def _caller(lines: Sequence[str], row: _Row) -> str | None:
    """Return the installed module that asked for the name, None where a file of the program did."""
    own = row.of[0].partition(".")[0]
    frames = [line for line in lines if "File " in line or "-packages" in line]
    last = next((line for line in reversed(frames) if not _is_of(line, own)), "")
    found = _CALLER.search(last)
    return found[1] if found else None


def _is_of(line: str, module: str) -> bool:
    return any(name == module for name in _CALLER.findall(line)) or "<frozen importlib" in line


def _finding(
    row: _Row, said: str, version: Version | None, caller: str | None, evidence: Evidence, number: int
) -> Finding:
    here = f", and this is {version}" if version is not None else ""
    return Finding(
        rule=src002_removed_call.RULE.code,
        name=src002_removed_call.RULE.name,
        severity=Severity.ERROR,
        subject=row.package,
        message=f"`{said}` is in {_wanted(row)} alone{here}",
        evidence=(evidence,),
        remedy=_remedy(row, caller),
        log_lines=(number,),
    )


def _wanted(row: _Row) -> str:
    return f"Python {row.versions}" if row.package == "python" else f"`{row.package}{row.versions}`"


def _remedy(row: _Row, caller: str | None) -> Remedy:
    other = f"take {_wanted(row)}"
    other += ", with what is built for it, from the same index" if row.package in _TORCH_FAMILY else ""
    other += ", in a new environment" if row.package == "python" else ""
    of_caller = f"take a release of `{caller}` that goes with what is there" if caller else ""
    has_command = row.package != "python" and row.package not in _TORCH_FAMILY
    return Remedy(
        "; or ".join(way for way in (other, of_caller, row.instead) if way),
        commands=(f'python -m pip install "{row.package}{row.versions}"',) if has_command else (),
    )
