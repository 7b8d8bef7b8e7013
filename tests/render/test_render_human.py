"""The terminal page: width, colour, what is folded, what comes last."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from render_reports import REPORTS
from rich.cells import cell_len

from envdoctor.model.fact import Fact, FactState
from envdoctor.model.finding import Severity
from envdoctor.model.kernel import KernelResult, KernelStatus
from envdoctor.model.origin import FileOrigin
from envdoctor.model.report import Report
from envdoctor.model.unknown import SubjectKind
from envdoctor.render import RenderOptions, render
from envdoctor.render.human.console import Page
from envdoctor.render.wording import size, versions

SGR = re.compile(r"\x1b\[[0-9;]*m")
COPIED = re.compile(r"^(next: | {6}\S)")
"""Commands to copy are never broken."""


def page(name: str, **options: object) -> str:
    return render(REPORTS[name], "human", options=RenderOptions(**options))  # type: ignore[arg-type]


@pytest.mark.parametrize("width", [20, 40, 60, 80, 100, 140, 200, 300])
@pytest.mark.parametrize("unicode", [True, False])
@pytest.mark.parametrize("name", REPORTS)
def test_lines_fit_the_terminal(name: str, unicode: bool, width: int) -> None:
    for line in page(name, width=width, unicode=unicode, verbose=True, show_waived=True).splitlines():
        if not COPIED.match(line):
            assert cell_len(line) <= max(40, min(width, 200)), line


@pytest.mark.parametrize("width", [40, 80, 200])
@pytest.mark.parametrize("name", REPORTS)
def test_colour_adds_nothing_but_colour(name: str, width: int) -> None:
    plain = page(name, verbose=True, show_waived=True, width=width)
    coloured = page(name, verbose=True, show_waived=True, width=width, colour=True)
    assert "\x1b" not in plain
    assert SGR.sub("", coloured) == plain
    assert coloured != plain


@pytest.mark.parametrize("width", [40, 41, 57, 100])
@pytest.mark.parametrize(
    "text",
    [
        "",
        "one",
        " before and after ",
        "words " * 40,
        f"a word of {'long' * 40} letters among others, {'x' * 38} and {'y' * 39} beside {'z' * 40} and more",
        f"{'first' * 30} and {'last' * 8} {'l' * 76} x",
        f"marks ✔ … → of ours {'-' * 50}, and 漢字 that are two cells wide {'字' * 30} each",
    ],
)
def test_a_plain_page_breaks_its_lines_where_rich_does(text: str, width: int) -> None:
    pages = [Page(RenderOptions(width=width, colour=colour)) for colour in (False, True)]
    for each in pages:
        for first, rest in (("", None), ("  - ", "      "), ("a long beginning of 33 letters   ", "")):
            each.line(text, (text, "dim"), first=first, rest=rest)
        each.blank()
        each.verbatim(text.strip(), "    ")
    plain, coloured = (each.text() for each in pages)
    assert SGR.sub("", coloured) == plain


@pytest.mark.parametrize("name", [name for name, report in REPORTS.items() if report.next_command])
def test_the_page_ends_with_the_command_to_type_next(name: str) -> None:
    assert page(name, width=40).splitlines()[-1] == f"next: {REPORTS[name].next_command}"


def test_a_conflict_names_its_members_places_and_chains() -> None:
    text = page("xtts", width=100)
    assert "faster-whisper==1.0.1         requirements.txt:4" in text
    tree = text[text.index("they need different versions of tokenizers") :].splitlines()[1:7]
    assert tree == [
        "  ├── faster-whisper==1.0.1",
        "  │   └── faster-whisper 1.0.1 depends on tokenizers<0.16,>=0.13",
        "  └── coqui-tts[languages]==0.24.2",
        "      └── transformers",
        "          └── transformers 4.42.4 depends on tokenizers<0.20,>=0.19; none of the 5 versions",
        "              considered fits",
    ]


def test_a_wide_terminal_widens_tables_and_trees_and_no_running_text() -> None:
    tree = next(line for line in page("xtts", width=200).splitlines() if "tokenizers<0.20" in line and "└" in line)
    assert tree.endswith("none of the 5 versions considered fits")
    long = replace(REPORTS["diffrhythm2"].findings[0], message="word " * 60, conflict="")
    text = render(replace(REPORTS["diffrhythm2"], findings=(long,)), "human", options=RenderOptions(width=200))
    assert max(len(line) for line in text.splitlines() if "word word" in line) <= 100


def test_markup_in_a_name_stays_text() -> None:
    report = REPORTS["diffrhythm2"]
    finding = replace(
        report.findings[0], subject="[bold]x[/bold]", message="[link=https://a.b]y[/] :smile:", conflict=""
    )
    text = render(replace(report, findings=(finding,)), "human", options=RenderOptions(colour=True, links=True))
    assert "[bold]x[/bold]" in text
    assert "[link=" in text
    assert ":smile:" in text


LINK = re.compile(r"\x1b\]8;[^;]*;([^\x1b]*)\x1b\\")


def test_places_and_addresses_are_links_where_the_terminal_takes_them() -> None:
    report = REPORTS["diffrhythm2"]
    finding = replace(report.findings[0], message="see https://example.org/a_b.", conflict="")
    report = replace(report, findings=(finding,))
    options = RenderOptions(colour=True, links=True, folder="/srv/my app")
    text = render(report, "human", options=options)
    assert {"https://example.org/a_b", "file:///srv/my%20app/requirements.txt", ""} <= set(LINK.findall(text))
    plain = render(report, "human", options=replace(options, colour=False, links=False))
    assert SGR.sub("", LINK.sub("", text)) == plain
    assert "\x1b" not in plain
    assert not LINK.findall(render(report, "human", options=replace(options, links=False)))


def test_the_finding_of_a_conflict_is_not_told_twice() -> None:
    assert "RES001" not in page("xtts", verbose=True)


def test_a_finding_about_the_same_package_is_not_taken_for_the_conflict() -> None:
    other = replace(REPORTS["diffrhythm2"].findings[0], message="`torch==2.7` is yanked", conflict="")
    assert "is yanked" in render(replace(REPORTS["diffrhythm2"], findings=(other,)), "human")


def test_a_member_at_which_no_chain_starts_says_what_it_does() -> None:
    assert "  and torch==2.1.1 leaves no other version\n" in page("xtts")


def test_a_conflict_without_a_repair_says_what_to_try() -> None:
    assert "try: choose a version, or a Python, for which there is a file" in page("missing_version")
    assert "try: choose" not in page("diffrhythm2")


def test_mild_findings_fold_and_unfold() -> None:
    text = page("many_warnings")
    assert "4 more warnings folded; --verbose shows them: ENV010 version-differs x4" in " ".join(text.split())
    assert "package-11" in page("many_warnings", verbose=True)
    assert "2 more conflicts, in short" in text
    assert "from the lock" in text, "the repair that was decided on is shown wherever it stands"


def test_many_notes_fold_as_a_whole_and_a_few_do_not() -> None:
    assert "6 notes folded; --verbose shows them: SRC004 undeclared-import x6" in page("finding_kinds")
    few = replace(REPORTS["finding_kinds"], findings=REPORTS["finding_kinds"].findings[:3])
    assert "note SRC004 undeclared-import: six" in render(few, "human")


def test_a_note_on_the_whole_project_is_shown_beside_folded_ones() -> None:
    many = REPORTS["finding_kinds"].findings
    caution = replace(many[0], severity=Severity.INFO, subject_kind=SubjectKind.PROJECT, message="mind it")
    text = render(replace(REPORTS["finding_kinds"], findings=(*many, caution)), "human")
    assert "  mind it\n" in text
    assert "6 notes folded; --verbose shows them: SRC004 undeclared-import x6" in text


@pytest.mark.parametrize("format_", ["human", "markdown", "html"])
def test_a_search_that_was_cut_short_is_said(format_: str) -> None:
    text = render(Report("check", conflicts_truncated=True), format_)
    assert "search for conflicts was cut short before it found one" in text
    assert "may be more conflicts than these" in render(REPORTS["many_warnings"], format_)


def test_files_refused_for_one_reason_are_one_line() -> None:
    report = REPORTS["missing_version"]
    clash = report.conflicts[0].clash
    tags = tuple(replace(item, detail=(item.filename or "")[12:-4]) for item in clash.rejections)
    conflict = replace(report.conflicts[0], clash=replace(clash, rejections=tags))
    text = render(replace(report, conflicts=(conflict,)), "human", options=RenderOptions(width=100))
    assert "  - torch-2.0.1-cp38-cp38-manylinux2014_aarch64.whl and 3 more: no wheel for this target\n" in text


def test_a_repair_that_an_earlier_lock_decided_on_is_not_called_the_profiles() -> None:
    report = replace(REPORTS["diffrhythm2"], profile=None)
    for format_ in ("human", "markdown", "html"):
        text = render(report, format_)
        assert "from the lock" in text
        assert "from the profile" not in text


def test_errors_never_fold() -> None:
    report = REPORTS["finding_kinds"]
    errors = tuple(replace(report.findings[7], subject=f"s{number}") for number in range(40))
    text = render(replace(report, findings=errors), "human")
    assert all(f": s{number}\n" in text for number in range(40))


def test_accepted_findings_are_listed_on_request() -> None:
    assert "the launcher replaces it" not in page("finding_kinds")
    assert "2 findings accepted; --show-waived lists them" in page("finding_kinds")
    assert "because the launcher replaces it" in page("finding_kinds", show_waived=True)


def test_an_incomplete_look_is_said() -> None:
    assert "\nincomplete: " in page("unknown")


def test_facts_alone_get_no_verdict() -> None:
    assert page("facts").startswith("host: 9 facts, 2 unknown\n")


HOST = (
    Fact("os", FactState.KNOWN, "linux", "sys"),
    Fact("arch", FactState.KNOWN, "x86_64", "sys"),
    Fact("host.memory_bytes", FactState.KNOWN, 64 * 10**9, "/proc/meminfo"),
    Fact("gpu[0].name", FactState.KNOWN, "NVIDIA GeForce RTX 5080", "nvml"),
    Fact("gpu[0].vendor", FactState.KNOWN, "nvidia", "nvml"),
    Fact("gpu[0].architecture", FactState.KNOWN, "sm_120", "nvml"),
    Fact("gpu[0].memory_bytes", FactState.KNOWN, 16 * 10**9, "nvml"),
    Fact("gpu.count", FactState.KNOWN, 1, "nvml"),
    Fact("driver.version", FactState.KNOWN, "580.97", "nvml", overridden_by="ENVDOCTOR_FACT_DRIVER_VERSION"),
    Fact("cuda.toolkits", FactState.KNOWN, ["12.8", "13.0"], "/usr/local"),
    Fact("tool.gcc.version", FactState.KNOWN, "12.2.0", "gcc"),
    Fact("tool.gcc.path", FactState.KNOWN, "/usr/bin/gcc", "PATH"),
    Fact("tool.cmake.version", FactState.ABSENT, None, "PATH"),
    Fact("tool.cmake.path", FactState.ABSENT, None, "PATH"),
    Fact("environment.CUDA_HOME", FactState.ABSENT, None, "environment"),
    Fact("environment.LD_LIBRARY_PATH", FactState.KNOWN, "/opt/lib", "environment"),
    Fact("rocm.version", FactState.UNKNOWN, None, "rocminfo", reason="it did not end within 5 s"),
)


def test_a_machine_is_told_in_sections_and_what_is_absent_is_folded() -> None:
    text = render(Report("host", facts=HOST), "human")
    assert "✔ system\n  system     linux x86_64\n  memory     64.0 GB\n" in text
    assert "✔ cards\n  gpu[0]     NVIDIA GeForce RTX 5080, sm_120, 16.0 GB\n  driver     580.97\n" in text
    assert "  CUDA       12.8, 13.0\n" in text
    assert "  programs   gcc 12.2.0\n" in text
    assert "  LD_LIBRARY_PATH  /opt/lib\n" in text
    assert "  driver.version  set by ENVDOCTOR_FACT_DRIVER_VERSION\n" in text
    assert "? not known\n  rocm.version unknown: it did not end within 5 s\n" in text
    assert "- not there\n  cmake\n  1 more thing; --verbose lists every fact with its source\n" in text
    assert "CUDA_HOME" not in text
    whole = render(Report("host", facts=HOST), "human", options=RenderOptions(verbose=True))
    assert all(fact.name in whole for fact in HOST)
    assert "[/proc/meminfo]" in whole


def test_a_machine_without_cards_says_so_and_one_that_could_not_be_asked_does_not() -> None:
    assert "- cards\n  cards      none found\n" in render(Report("host", facts=HOST[:3]), "human")
    silent = (*HOST[:3], Fact("gpu.count", FactState.UNKNOWN, None, "nvml", reason="it did not answer"))
    text = render(Report("host", facts=silent), "human")
    assert "none found\n" not in text.split("toolkits")[0]
    assert "gpu.count unknown: it did not answer" in text


def test_every_kernel_status_is_a_word() -> None:
    kernels = tuple(KernelResult(f"k{number}", "cpu", status) for number, status in enumerate(KernelStatus))
    text = render(Report("smoke", kernels=kernels), "human")
    assert all(status.value in text for status in KernelStatus)


def test_versions_are_abbreviated() -> None:
    assert versions([]) == ""
    assert versions(["1"]) == "1"
    assert versions(["1", "2"]) == "1 and 2"
    assert versions(["1", "2", "3"]) == "1 to 3 (3 versions)"


@pytest.mark.parametrize(
    ("number", "text"),
    [(0, "0 bytes"), (999, "999 bytes"), (11050, "11 kB"), (2_100_000_000, "2.1 GB"), (5 * 10**12, "5000.0 GB")],
)
def test_sizes(number: int, text: str) -> None:
    assert size(number) == text


def test_the_widest_page_shows_a_rate_beside_the_limit_and_a_narrow_one_leaves_figures_out() -> None:
    passed = tuple(item for item in REPORTS["kernels"].kernels if item.status is KernelStatus.PASSED)
    report = replace(REPORTS["kernels"], kernels=passed)
    wide = render(report, "human", options=RenderOptions(width=100))
    assert "2.9 of 23.1 TFLOP/s" in wide
    assert "first" in wide
    narrow = render(report, "human", options=RenderOptions(width=64))
    assert "TFLOP/s" not in narrow
    assert "17.2x" in narrow


def test_several_devices_are_told_apart_however_narrow_the_page() -> None:
    passed = tuple(item for item in REPORTS["kernels"].kernels if item.status is KernelStatus.PASSED)
    report = replace(REPORTS["kernels"], kernels=(*passed, *(replace(item, device="cuda:1") for item in passed)))
    assert "cuda:1" in render(report, "human", options=RenderOptions(width=60))


def test_kernels_skipped_for_one_reason_are_one_line() -> None:
    skipped = [
        KernelResult(f"k{n}", "none", KernelStatus.SKIPPED, detail="`import-torch` did not pass") for n in range(9)
    ]
    report = replace(REPORTS["kernels"], kernels=(*REPORTS["kernels"].kernels, *skipped))
    text = render(report, "human")
    assert "k3" not in text
    assert "9 more skipped: `import-torch` did not pass" in text
    assert "k3" in render(report, "human", options=RenderOptions(verbose=True))


def test_the_profile_s_reason_for_an_override_takes_one_line() -> None:
    text = page("diffrhythm2", width=80)
    assert "      because torch-directml 0.2.5.dev240914 is linked against 2.4.1 ...\n" in text
    assert "      because it goes with torch\n" in text
    short = [line for line in page("diffrhythm2", width=40).splitlines() if line.startswith("      because")]
    assert len(short) == 2
    assert short[0].endswith(" ...")


def test_verbose_gives_the_whole_reason_for_an_override() -> None:
    (reason,) = re.findall(r"because torch-directml.*?(?=\n    -)", page("diffrhythm2", verbose=True), re.DOTALL)
    assert " ".join(reason.split()).endswith("flex_attention's import is guarded")


def test_a_place_is_not_wrapped_within_its_path() -> None:
    report = REPORTS["xtts"]
    long = f"/{'folder/' * 7}requirements.txt"
    conflict = report.conflicts[0]
    core = tuple(replace(item, origin=FileOrigin(long, 4)) for item in conflict.core)
    told = replace(report, conflicts=(replace(conflict, core=core), *report.conflicts[1:]))
    lines = render(told, "human", options=RenderOptions(width=80)).splitlines()
    for item in core:
        assert f"      {long}:4" in lines[lines.index(f"    {item}") + 1 :]


def test_letters_that_an_output_has_stay_as_they_are() -> None:
    """A path that is shown must be the one that is there, also in a pipe of a Windows that speaks cp1252 or cp936."""
    named = replace(REPORTS["nasty"], next_command=r"envdoctor check C:\größe\中")
    shown = {
        encoding: render(named, "human", options=RenderOptions(unicode=False, encoding=encoding)).splitlines()[-1]
        for encoding in ("ascii", "cp1252", "cp936")
    }
    assert shown == {
        "ascii": r"next: envdoctor check C:\gr\xf6\xdfe\\u4e2d",
        "cp1252": r"next: envdoctor check C:\größe\\u4e2d",
        "cp936": r"next: envdoctor check C:\gr\xf6\xdfe\中",
    }
