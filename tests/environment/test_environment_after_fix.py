"""What a check says right after a fix, and after one that was cut short."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from packaging.utils import canonicalize_name
from packaging.version import Version

from envdoctor.adapters.apply.journal import Journal
from envdoctor.cli.main import main
from envdoctor.lock.pylock_reader import LockedProject
from envdoctor.model.candidate import DistributionFile, FileKind
from envdoctor.model.fact import Fact, FactState
from envdoctor.model.finding import Command, Finding, Remedy, Severity
from envdoctor.model.report import Report
from envdoctor.model.resolution import Resolution, ResolvedPackage
from envdoctor.model.target import TargetBackend
from envdoctor.verbs.next_command import Typed, after_check
from envdoctor.verbs.patient import PatientChoice, open_patient
from envdoctor.verbs.target_choice import TargetChoice, host_target


def _read(place: Path) -> Any:
    return open_patient(PatientChoice(env=place, imports=False, machine=False)).environment


def test_a_fix_that_was_cut_short_is_an_error_with_undo(venv: Path, diagnose) -> None:
    journal = Journal.create(venv, {"profile": None})
    journal.close()
    (finding,) = diagnose(_read(venv), "ENV015")
    assert finding.severity is Severity.ERROR
    assert finding.evidence[0].where.endswith(journal.id)
    assert finding.remedy.commands == (Command("undo"),)


def test_a_fix_that_ended_or_was_taken_back_is_none(venv: Path, diagnose) -> None:
    for last in ("end", "undo-end"):
        journal = Journal.create(venv, {"profile": None})
        journal.write(last)
        journal.close()
    assert diagnose(_read(venv), "ENV015") == []


def test_an_environment_that_a_fix_did_not_make_to_the_end_is_told_with_undo(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = tmp_path / "env"
    Journal.create(place, {"profile": None}).close()
    assert main(["check", "--env", str(place)]) == 2
    assert f"cut short: `envdoctor undo --env {place}` takes it back" in capsys.readouterr().err


def _report(*remedies: Remedy | None) -> Report:
    findings = tuple(
        Finding(rule="ENV012", name="x", severity=Severity.ERROR, subject="x", message="x", remedy=remedy)
        for remedy in remedies
    )
    return Report("check", target=host_target(), findings=findings, resolution=Resolution((_SIX,)))


_FILE = DistributionFile(
    canonicalize_name("six"), Version("1.0"), "six-1.0-py3-none-any.whl", FileKind.WHEEL, "https://x"
)
_SIX = ResolvedPackage(_FILE.project, _FILE.version, _FILE, (_FILE,))
_LOCKED = LockedProject("pylock.toml", {_SIX.name: _SIX.version})


@pytest.mark.parametrize(
    ("remedy", "env", "command"),
    [
        (None, Path("env"), None),
        (Remedy("add it"), Path("env"), None),
        (Remedy("bring it back", commands=(Command("fix"),)), Path("env"), "envdoctor fix . --env env"),
        (Remedy("take it back", commands=(Command("undo"),)), Path("env"), "envdoctor undo --env env"),
        (None, None, "envdoctor fix ."),
    ],
)
def test_what_comes_next_is_no_fix_of_what_is_fixed(
    remedy: Remedy | None, env: Path | None, command: str | None
) -> None:
    assert after_check(_report(remedy), Typed(env=env), (), _LOCKED) == command


_BY_FIX = Remedy("install it", commands=(Command("fix"),))


@pytest.mark.parametrize(
    ("remedies", "more", "env", "command"),
    [
        ([_BY_FIX], [], Path("env"), "envdoctor fix . --env env"),
        ([_BY_FIX], [], None, "envdoctor lock ."),
        ([_BY_FIX, None], [], Path("env"), "envdoctor lock ."),
        ([_BY_FIX, Remedy("lock", commands=(Command("lock"),))], [], Path("env"), "envdoctor lock ."),
        ([_BY_FIX], [Finding("RES001", "conflict", Severity.ERROR, "y", "y", conflict="C1")], Path("env"),
         "envdoctor lock ."),
    ],
)  # fmt: skip
def test_what_only_the_environment_lacks_is_fixed_and_not_locked(
    remedies: list[Remedy | None], more: list[Finding], env: Path | None, command: str
) -> None:
    report = _report(*remedies)
    report = replace(report, findings=(*report.findings, *more))
    assert after_check(report, Typed(env=env), ()) == command


@pytest.mark.parametrize(
    ("severity", "backend", "command"),
    [
        (Severity.ERROR, None, "envdoctor check . --target-backend auto"),
        (Severity.ERROR, TargetBackend.CUDA, "envdoctor check . --target-backend auto"),
        (Severity.ERROR, TargetBackend.AUTO, None),
        (Severity.INFO, None, "envdoctor lock ."),
    ],
)
def test_what_has_no_kernel_for_the_card_is_not_locked_but_chosen_by_the_card(
    severity: Severity, backend: TargetBackend | None, command: str | None
) -> None:
    report = replace(
        _report(None),
        findings=(
            Finding(rule="RES208", name="x", severity=severity, subject="torch", message="x"),
            Finding(rule="RES102", name="x", severity=Severity.WARNING, subject="y", message="y"),
        ),
    )
    assert after_check(report, Typed(target=TargetChoice(backend=backend)), ()) == command


_CARD = Fact("gpu[0].architecture", FactState.KNOWN, "gfx1032", "--gpu")
_CONFLICT = Finding("RES001", "conflict", Severity.ERROR, "y", "y", conflict="C1")


@pytest.mark.parametrize(
    ("findings", "facts", "command"),
    [
        ([Finding("RES202", "x", Severity.ERROR, "torch", "x")], (_CARD,), "envdoctor check . --target-backend auto"),
        ([Finding("RES202", "x", Severity.ERROR, "torch", "x")], (), None),
        ([Finding("RES202", "x", Severity.ERROR, "torch", "x"), _CONFLICT], (), None),
        ([Finding("RES202", "x", Severity.ERROR, "onnxruntime-gpu", "x")], (_CARD,), None),
        ([Finding("ADV001", "x", Severity.ERROR, "y", "x", remedy=Remedy("take another"))], (), None),
        ([Finding("ADV001", "x", Severity.ERROR, "y", "x"), _CONFLICT], (), "envdoctor lock ."),
        ([Finding("ADV001", "x", Severity.ERROR, "y", "x", remedy=Remedy("", commands=(Command("lock"),)))], (),
         "envdoctor lock ."),
        ([Finding("RES202", "x", Severity.WARNING, "torch", "x")], (), "envdoctor lock ."),
        ([Finding("GPU102", "x", Severity.WARNING, "torch", "x")], (_CARD,), "envdoctor check . --target-backend auto"),
        ([Finding("GPU102", "x", Severity.INFO, "torch", "x")], (_CARD,), None),
    ],
)  # fmt: skip
def test_a_lock_is_proposed_where_it_mends_something(
    findings: list[Finding], facts: tuple[Fact, ...], command: str | None
) -> None:
    report = replace(_report(None), findings=tuple(findings), facts=facts)
    assert after_check(report, Typed(), ()) == command
