"""JUnit, annotations, Markdown and HTML: read back, escaped, safe."""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
import unicodedata
from base64 import b64encode
from html.parser import HTMLParser
from importlib.resources import files

import junitparser
import pytest
from markdown_it import MarkdownIt
from render_reports import REPORTS

from envdoctor.model.fact import Fact, FactState
from envdoctor.model.finding import Evidence, Finding, Severity
from envdoctor.model.repair import FileChange
from envdoctor.model.report import Report
from envdoctor.render import FORMATS, RenderOptions, UnknownFormat, render
from envdoctor.render.entries import repository_path
from envdoctor.render.untrusted import clean, one_line, shown


@pytest.mark.parametrize("format_", FORMATS)
@pytest.mark.parametrize("name", REPORTS)
def test_no_format_lets_control_characters_through(name: str, format_: str) -> None:
    text = render(REPORTS[name], format_, options=RenderOptions(verbose=True, show_waived=True))
    assert text.endswith("\n")
    assert not text.endswith("\n\n")
    odd = {char for char in text if unicodedata.category(char) in ("Cc", "Cs") or char in "\u202e\u2066\u200b"}
    assert odd <= {"\n"}


@pytest.mark.parametrize("format_", FORMATS)
@pytest.mark.parametrize("name", REPORTS)
def test_every_format_can_be_ascii(name: str, format_: str) -> None:
    assert render(REPORTS[name], format_, options=RenderOptions(unicode=False, verbose=True)).isascii()


@pytest.mark.parametrize("format_", FORMATS)
def test_every_format_names_every_open_problem(format_: str) -> None:
    text = render(REPORTS["finding_kinds"], format_, options=RenderOptions(verbose=True))
    assert all(rule in text for rule in ("SRC004", "RES102", "ABI003", "RES201"))


def test_an_unknown_format_is_refused_by_name() -> None:
    with pytest.raises(UnknownFormat, match="no format `pdf`; there are `human`, `json`"):
        render(REPORTS["healthy"], "pdf")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain", "plain"),
        ("a\x1b[31mb\x1b[0m", "ab"),
        ("a\x1b]8;;https://evil.example\x1b\\link\x1b]8;;\x07b", "alinkb"),
        ("a\x1b]0;never ended\nnext", "a\nnext"),
        ("a\x9b2Jb\x9d0;x\x9cc", "abc"),
        ("a\x1bcb", "ab"),
        ("a\r\nb\rc\u2028d", "a\nb\nc\nd"),
        ("a\u202eb\u2066c\ufeffd\U000e0041e", "abcde"),
        ("a\ud800b", "a\ufffdb"),
        ("שלום 👩‍🔬 漢", "שלום 👩‍🔬 漢"),
        ("tab\there", "tab\there"),
    ],
)
def test_cleaning(text: str, expected: str) -> None:
    assert clean(text) == expected


def test_one_line() -> None:
    assert one_line("  a\n\n b\tc ") == "a b c"


@pytest.mark.parametrize(
    ("path", "root", "expected"),
    [
        ("requirements.txt", None, "requirements.txt"),
        ("requirements.txt", "apps/tts/", "apps/tts/requirements.txt"),
        ("../shared.txt", "apps/tts", "apps/shared.txt"),
        ("../shared.txt", None, None),
        ("/etc/pip.conf", None, None),
        ("C:/pip.ini", None, None),
        ("a\\b.txt", None, "a/b.txt"),
    ],
)
def test_paths_in_the_repository(path: str, root: str | None, expected: str | None) -> None:
    assert repository_path(path, root) == expected


# junit


def junit(name: str, options: RenderOptions | None = None) -> junitparser.JUnitXml:
    text = render(REPORTS[name], "junit", options=options)
    return junitparser.JUnitXml.fromstring(text.encode("utf-8"))


@pytest.mark.parametrize("name", REPORTS)
def test_junit_is_read_back_and_its_counts_are_right(name: str) -> None:
    document = junit(name)
    counts = [document.tests, document.failures, document.errors, document.skipped]
    suites = list(document)
    assert counts == [
        sum(getattr(suite, key) for suite in suites) for key in ("tests", "failures", "errors", "skipped")
    ]
    document.update_statistics()
    assert counts == [document.tests, document.failures, document.errors, document.skipped]
    assert document.tests > 0


def test_junit_has_a_suite_for_each_family() -> None:
    assert [suite.name for suite in junit("xtts")] == ["check", "conflicts"]
    assert {suite.name for suite in junit("finding_kinds")} == {"check", "ABI", "RES", "ADV", "LOCK", "SRC"}
    assert [suite.name for suite in junit("kernels")] == ["smoke", "kernels"]


def test_junit_fails_skips_and_passes() -> None:
    results = {
        case.name: [type(result).__name__ for result in case.result]
        for suite in junit("finding_kinds")
        for case in suite
    }
    assert results["ABI003 cudnn-major: ctranslate2"] == ["Failure"]
    assert results["ADV001 torch-pypi-windows-is-cpu: torch"] == ["Skipped"]
    assert results["RES102 source-only: av"] == []
    strict = junit("finding_kinds", RenderOptions(fail_on="warning"))
    assert strict.failures == 3
    assert junit("finding_kinds", RenderOptions(fail_on="never")).failures == 0


def test_junit_says_what_could_not_be_looked_at() -> None:
    assert junit("unknown").errors == 1


# github

COMMAND = re.compile(r"::(error|warning|notice) ((?:file=[^,:]*,)?(?:line=\d+,)?title=[^,:]*)::(.*)")


@pytest.mark.parametrize("name", REPORTS)
def test_annotations_are_well_formed(name: str) -> None:
    *commands, verdict = render(REPORTS[name], "github", options=RenderOptions(show_waived=True)).splitlines()
    assert all(COMMAND.fullmatch(command) for command in commands)
    assert verdict.startswith("envdoctor ")


def test_annotations_escape_what_the_runner_would_read() -> None:
    finding = Finding("SRC001", "n", Severity.ERROR, "s", "100%\nnext", (Evidence("a%0Ab"),))
    line = render(Report("check", profile="a,b:c%", findings=(finding,)), "github").splitlines()[0]
    assert line == "::error title=SRC001 n (a%2Cb%3Ac%25)::100%25 next%0Aa%250Ab"


def test_a_log_line_cannot_be_a_command() -> None:
    text = render(Report("check", profile="x ##[error]y\n::error::z"), "github")
    assert text.count("\n") == 1
    assert "##[" not in text


def test_accepted_findings_are_annotated_only_on_request() -> None:
    assert "ADV001" not in render(REPORTS["finding_kinds"], "github")
    shown = render(REPORTS["finding_kinds"], "github", options=RenderOptions(show_waived=True))
    assert "::notice file=requirements.txt,line=2,title=ADV001" in shown


# markdown


def test_markdown_tables_keep_their_columns() -> None:
    text = render(REPORTS["nasty"], "markdown", options=RenderOptions(show_waived=True, verbose=True))
    widths: list[int] = []
    for line in text.splitlines():
        cells = len(re.findall(r"(?<!\\)\|", line)) if line.startswith("|") else 0
        if cells and widths and widths[-1]:
            assert cells == widths[-1], line
        widths.append(cells)


def test_markdown_renders_hostile_text_as_text() -> None:
    hostile = "**bold** [x](https://evil.example) @team #1 <img src=x> ![y](z) _em_ ~~s~~ $m$ a_b"
    page = (
        MarkdownIt("commonmark")
        .enable(["table", "strikethrough"])
        .render(
            render(Report("check", findings=(Finding("SRC001", "n", Severity.ERROR, hostile, hostile),)), "markdown")
        )
    )
    assert not re.search(r"<(a|img|em|s)\b", page)
    assert page.count("<strong>") == 1
    assert "@<!-- -->team" in page
    assert "a_b" in page


def test_markdown_folds_long_lists() -> None:
    text = render(REPORTS["many_warnings"], "markdown")
    assert text.count("<details>") == text.count("</details>") == 1
    assert "<summary>12 warnings</summary>" in text


# html


class Page(HTMLParser):
    """Collects tags, checks that they nest, and keeps the text."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in ("meta", "link", "img", "br", "input", "wbr"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.words.append(data)


@pytest.mark.parametrize("name", REPORTS)
def test_html_nests_loads_nothing_and_runs_only_its_own_script(name: str) -> None:
    page = Page()
    page.text = render(REPORTS[name], "html", options=RenderOptions(show_waived=True))
    page.feed(page.text)
    assert page.open == []
    names = {tag for tag, _ in page.tags}
    assert not names & {"link", "img", "iframe", "object", "embed", "form", "b", "use", "image"}
    attributes = [item for _, attrs in page.tags for item in attrs.items()]
    assert not [key for key, _ in attributes if key in ("src", "action", "xlink:href") or key.startswith("on")]
    assert all(value and value.startswith("#") for key, value in attributes if key == "href")
    assert not [value for _, value in attributes if value and "url(" in value]
    # One script, ours: the policy names its digest, so that no other one runs whatever a package calls itself.
    assert [tag for tag, _ in page.tags].count("script") == 1
    script = page.text[page.text.index("<script>") + 8 : page.text.index("</script>")]
    digest = b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = next(attrs["content"] for tag, attrs in page.tags if "http-equiv" in attrs)
    assert policy == f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    assert script == files("envdoctor.render").joinpath("report.js").read_text(encoding="utf-8")
    assert ("html", {"lang": "en"}) in page.tags


def test_html_is_accessible_in_its_structure() -> None:
    page = Page()
    page.feed(render(REPORTS["kernels"], "html"))
    tags = [tag for tag, _ in page.tags]
    assert tags.count("h1") == tags.count("main") == tags.count("title") == 1
    assert all(attrs.get("scope") in ("col", "row") for tag, attrs in page.tags if tag == "th")
    assert tags.count("caption") == tags.count("table")
    # A plot repeats figures that stand beside it.
    drawn = [attrs for _, attrs in page.tags if attrs.get("class") in ("track", "axis")]
    assert all(attrs.get("aria-hidden") == "true" for attrs in drawn)
    assert any("17.2x" in word for word in page.words)
    places = [attrs["id"] for _, attrs in page.tags if "id" in attrs]
    assert [attrs["href"] for tag, attrs in page.tags if tag == "a"] == [f"#{place}" for place in places]


def test_html_shows_a_conflict_as_a_graph_and_in_words() -> None:
    text = render(REPORTS["xtts"], "html")
    graphs = text.split('<svg class="graph"')[1:]
    assert len(graphs) == len(REPORTS["xtts"].conflicts)
    third = graphs[2].partition("</svg>")[0]
    for said in ("whisperx 3.3.1", "needs ==1.1.0", ">torch==2.1.1<", "requirements.txt:31", "where they meet"):
        assert said in third
    assert 'class="aside"' in third
    assert text.count("<summary>The same in words</summary>") == len(graphs)


def test_html_shows_repairs_as_diffs_without_the_lines_beside_them() -> None:
    before = "private @ https://me:secret@index.example/p.whl\ntorch==2.7 # <b>\nother\n"
    change = FileChange("requirements.txt", before, before.replace("2.7", "2.4.1"))
    report = REPORTS["diffrhythm2"]
    text = render(report, "html", options=RenderOptions(repair_changes={report.repairs[0].id: (change,)}))
    assert "<del>torch==2.7 # &lt;b&gt;</del><ins>torch==2.4.1 # &lt;b&gt;</ins>" in text
    assert "secret" not in text
    assert "other" not in text.partition('<pre class="diff">')[2].partition("</pre>")[0]


def test_html_names_project_and_date_and_nobodys_folders() -> None:
    places = (
        "/srv/me/webui/.venv",
        "/home/ann/x",
        "C:\\Users\\Ann B\\y",
        "/Users/ann",
        "/root/.cache",
        "/opt/rocm",
        "/data/me/z",
    )
    facts = tuple(Fact(f"tool.{number}", FactState.KNOWN, place, "PATH") for number, place in enumerate(places))
    options = RenderOptions(folder="/srv/me/webui", date="2026-11-28", private=(("/data/me", "~"),))
    text = render(Report("check", facts=facts), "html", options=options)
    assert "<dt>project</dt><dd>webui</dd><dt>date</dt><dd>2026-11-28</dd>" in text
    for place in ("./.venv", "~/x", "~\\y", "~", "~/.cache", "/opt/rocm", "~/z"):
        assert f">{place}<" in text
    assert "ann" not in text.lower().partition("<main")[2].partition("</main>")[0].replace("cannot", "")
    assert "/srv" not in text


def test_html_says_where_each_package_comes_from_and_how_large_it_is() -> None:
    text = render(REPORTS["diffrhythm2"], "html")
    assert "largest files" in text or "Files by size" in text
    assert all(code in text for code in ('<th scope="col">from</th>', '<th scope="col">size</th>'))


# the entry path


def test_a_format_loads_only_its_own_modules() -> None:
    code = (
        "import sys; from envdoctor.model.report import Report; from envdoctor.render import render;"
        "render(Report('check'), 'json'); print(*sorted(sys.modules))"
    )
    loaded = set(
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    )
    assert "envdoctor.render.json_document" in loaded
    assert not loaded & {
        "rich",
        "envdoctor.render.html_page",
        "envdoctor.render.sarif",
        "xml.etree.ElementTree",
        "html",
    }


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (f"`{'x' * 300}` is no name", f"`{'x' * 200}... (300 characters)` is no name"),
        (f"`a` {'x' * 300} `b`", f"`a` {'x' * 300} `b`"),
        (f"`envdoctor undo --env /{'x' * 300}` helps", f"`envdoctor undo --env /{'x' * 300}` helps"),
        (f"`{'x' * 300}` `{'y' * 201}`", f"`{'x' * 200}... (300 characters)` `{'y' * 200}... (201 characters)`"),
    ],
)
def test_of_what_is_quoted_all_that_is_long_is_cut_but_the_commands_to_type(said: str, expected: str) -> None:
    assert shown(said) == expected
