"""The words for what is not known are made in one place, from values."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from envdoctor.model.finding import Evidence, Finding, Severity
from envdoctor.model.kernel import KernelResult, KernelStatus
from envdoctor.model.origin import FileOrigin
from envdoctor.model.refusal import Refusal, RefusalKind
from envdoctor.model.report import Report
from envdoctor.model.unknown import Subject, SubjectKind, Unknown, UnknownKind
from envdoctor.render import FORMATS, render
from envdoctor.render.reasons import bare_reason, message_of, refusal_text, unknown_text, why_no_repair

URL = "https://index.example/"
ALPHA = Subject(SubjectKind.PACKAGE, "alpha")
ALPHA_2 = Subject(SubjectKind.PACKAGE, "alpha", "2.0")
FILE = "alpha-2.0-py3-none-any.whl"
ADDED = "what it would add to the others is not known"
DEPENDS = "whether it wants `x` depends on the machine"
MAIN = Subject(SubjectKind.INDEX, "main")


@pytest.mark.parametrize(
    ("unknown", "text"),
    [
        (
            Unknown(UnknownKind.OFFLINE, ALPHA, "main", URL),
            f"`alpha`: index main ({URL}): offline and not in the cache",
        ),
        (
            Unknown(UnknownKind.BAD_ANSWER, ALPHA, "main", URL, status=403),
            f"`alpha`: index main ({URL}): it, or a proxy on the way, refuses (403)",
        ),
        (
            Unknown(UnknownKind.BAD_METADATA, ALPHA_2, file=FILE, cause="its hash is another"),
            f"`alpha` 2.0: {FILE}: its hash is another",
        ),
        (
            Unknown(UnknownKind.ONLY_A_BUILD, ALPHA_2, file=FILE),
            f"`alpha` 2.0: {FILE}: only its build would tell its dependencies",
        ),
        (
            Unknown(UnknownKind.ONLY_A_BUILD, ALPHA_2, file=FILE, cause=DEPENDS),
            f"`alpha` 2.0: {FILE}: {DEPENDS}, and only its build would tell its dependencies",
        ),
        (Unknown(UnknownKind.DIRECT_REFERENCE, ALPHA), "`alpha`: a direct reference, which is not fetched"),
        (
            Unknown(UnknownKind.MARKER, ALPHA, demand="alpha ; odd", origin=FileOrigin("requirements.txt", 3)),
            "`alpha ; odd` (requirements.txt:3): its marker cannot be evaluated",
        ),
        (
            Unknown(UnknownKind.MARKER, ALPHA_2, demand="beta ; odd"),
            "`alpha` 2.0 requires `beta ; odd`: its marker cannot be evaluated",
        ),
        (
            Unknown(UnknownKind.NO_REQUIREMENT, Subject(SubjectKind.PACKAGE), demand="beta =="),
            "`beta ==`: not a requirement",
        ),
        (
            Unknown(UnknownKind.SEARCH_GIVEN_UP, Subject(SubjectKind.PROJECT), cause="no answer after 2 rounds"),
            "the search gave up: no answer after 2 rounds",
        ),
    ],
)
def test_each_reason_has_its_words(unknown: Unknown, text: str) -> None:
    assert unknown_text(unknown) == text
    finding = Finding("RES107", "not-checked", Severity.WARNING, "alpha", "", unknowns=(unknown,))
    assert message_of(finding) == f"could not be checked: {text}"


def test_what_one_reason_keeps_away_is_said_once_without_the_addresses_that_differ() -> None:
    unknowns = tuple(
        Unknown(UnknownKind.OFFLINE, Subject(SubjectKind.PACKAGE, name), "main", f"{URL}{name}") for name in "abc"
    )
    finding = Finding("RES107", "not-checked", Severity.WARNING, "index", "", unknowns=unknowns)
    assert message_of(finding) == "3 projects could not be checked: index main: offline and not in the cache"


@pytest.mark.parametrize(
    ("refusal", "text"),
    [
        (
            Refusal(RefusalKind.UNKNOWN, "alpha", unknown=Unknown(UnknownKind.OFFLINE, ALPHA, "main", URL)),
            f"`alpha` cannot be locked: index main ({URL}): offline and not in the cache",
        ),
        (
            Refusal(
                RefusalKind.UNKNOWN,
                "alpha",
                unknown=Unknown(UnknownKind.NO_METADATA, ALPHA_2, file=FILE, cause="it has none"),
            ),
            f"`alpha` cannot be locked: the metadata of its version 2.0 could not be read: {FILE}: it has none",
        ),
        (
            Refusal(
                RefusalKind.UNKNOWN,
                place=URL,
                index="main",
                unknown=Unknown(UnknownKind.UNREACHABLE, MAIN, "main", URL, cause="refused"),
                environment="tools",
            ),
            f"{URL}: index `main` could not be reached: refused; {ADDED} (environment `tools`)",
        ),
        (
            Refusal(
                RefusalKind.UNKNOWN,
                place=URL,
                unknown=Unknown(UnknownKind.UNREACHABLE, MAIN, "main", URL, cause="refused"),
            ),
            f"{URL}: refused",
        ),
    ],
)
def test_a_lock_is_refused_in_words_of_what_is_not_known(refusal: Refusal, text: str) -> None:
    assert refusal_text(refusal) == text


def test_every_format_says_what_is_not_known_and_the_environment_that_it_is_about() -> None:
    unknown = Unknown(UnknownKind.UNREACHABLE, MAIN, "main", URL, cause="no route to host")
    silent = Finding("RES106", "stand-in-index", Severity.WARNING, "main", "it is silent", unknowns=(unknown,))
    unread = Unknown(UnknownKind.OFFLINE, ALPHA, "main", URL)
    missed = Finding("RES107", "not-checked", Severity.WARNING, "alpha", "", environment="tools", unknowns=(unread,))
    report = Report("check", complete=False, findings=(silent, missed))
    for name in FORMATS:
        text = " ".join(render(report, name).split())
        assert "offline and not in the cache" in text, name
        assert "no route to host" in text or name == "github", name
    told = json.loads(render(report, "json"))["findings"]
    assert told[0]["evidence"] == [{"what": "no route to host", "where": "index main"}]
    assert told[1]["message"].startswith("environment `tools`: could not be checked: `alpha`: index main")
    assert Evidence("no route to host", "index main") not in silent.evidence


def test_a_kernel_is_told_by_a_finding_about_it_and_not_by_words_that_name_it() -> None:
    failed = KernelResult("fft", "cuda:0", KernelStatus.CRASHED, detail="SIGABRT")
    slower = Finding("GPU008", "slower-than-cpu", Severity.INFO, "cuda:0", "1 kernel is slower than the CPU: `fft`")
    about = Finding("GPU002", "kernel-crashed", Severity.ERROR, "fft", "it crashed", subject_kind=SubjectKind.KERNEL)
    named = Report("smoke", kernels=(failed,), findings=(replace(slower, subject_kind=SubjectKind.DEVICE),))
    assert "SIGABRT" in render(named, "github")
    assert "SIGABRT" not in render(replace(named, findings=(about,)), "github")


@pytest.mark.parametrize("kind", UnknownKind)
def test_every_reason_has_words_or_those_of_its_cause(kind):
    in_others_words = {
        UnknownKind.UNREACHABLE,
        UnknownKind.BAD_ANSWER,
        UnknownKind.NO_METADATA,
        UnknownKind.BAD_METADATA,
        UnknownKind.NOT_UNDERSTOOD,
        UnknownKind.SEARCH_GIVEN_UP,
    }
    subjects_alone = {UnknownKind.NOT_RUN}
    cause = "words of another" if kind in in_others_words else ""
    said = bare_reason(Unknown(kind, ALPHA, cause=cause))
    assert (said == cause) == (kind in in_others_words | subjects_alone)


def test_what_no_repair_mends_is_named_with_where_its_remedy_stands() -> None:
    none = Report("repair", None)
    assert why_no_repair(none) == "nothing is to be repaired: no requirements conflict"
    errors = tuple(Finding(rule, "x", Severity.ERROR, "x", "x") for rule in ("ADV041", "ADV042", "ADV041"))
    report = replace(none, findings=(*errors, Finding("ADV043", "x", Severity.WARNING, "x", "x")))
    assert why_no_repair(report).endswith("conflict; `envdoctor check` says what to try of ADV041 and ADV042")
