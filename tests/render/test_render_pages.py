"""Pages that are no reports: lists, documentation, outlines."""

from __future__ import annotations

import re

import pytest
from rich.cells import cell_len

from envdoctor.cli.main import main
from envdoctor.render import RenderOptions
from envdoctor.render.human.pages import document, listing, outline

SGR = re.compile(r"\x1b\[[0-9;]*m")
ROWS = [("alpha", "error", "what `alpha` is, in a sentence " * 3), ("b" * 20, "info", "short")]
MARKDOWN = (
    "# RES1 name\n\nOne paragraph\nof two lines.\n## Heading\nText `code`.\n\n- first\n  more of it\n- second\n\n"
    "    pip install x   # kept\n\n```\na ==  1\n```\n"
)


def test_a_list_has_columns_where_there_is_room() -> None:
    lines = listing(ROWS, RenderOptions(width=100)).splitlines()
    assert lines[0].startswith("alpha                 error  what `alpha` is")
    assert lines[1].startswith(" " * 29)
    assert lines[-1] == "bbbbbbbbbbbbbbbbbbbb  info   short"
    assert listing(ROWS, RenderOptions(width=60)).splitlines()[0] == "alpha error"


@pytest.mark.parametrize("width", [60, 100])
def test_a_list_tells_a_sentence_once_where_rows_have_it_one_after_the_other(width: int) -> None:
    rows = [("a", "x", "one"), ("b", "x", "one"), ("c", "x", "one"), ("d", "x", "two"), ("e", "x", "one")]
    said = listing(rows, RenderOptions(width=width)).split()
    assert [word for word in said if word in ("one", "two", "above")] == ["one", "above", "above", "two", "one"]


def test_documentation_keeps_headings_lists_and_code() -> None:
    assert document(MARKDOWN, RenderOptions()) == (
        "RES1 name\n\n  One paragraph of two lines.\n\nHeading\n  Text `code`.\n\n  - first more of it\n  - second\n\n"
        "    pip install x   # kept\n\n    a ==  1\n"
    )


def test_an_outline_keeps_its_indents() -> None:
    text = "title\n  " + "word " * 20 + "\n    below \x1b[31mred\n\nalone [bold]x[/bold]"
    shown = outline(text, RenderOptions(width=60))
    assert shown.startswith("title\n  word")
    assert "\n    word" in shown
    assert "\n    below red\n\nalone [bold]x[/bold]\n" in shown
    coloured = outline(text, RenderOptions(width=60, colour=True))
    assert SGR.sub("", coloured) == shown
    assert "\x1b[1mtitle" in coloured


VERBS = [["rule"], ["rule", "RES001"], ["profiles", "list"], ["profiles", "show", "xtts-zluda"], ["smoke", "--list"]]


@pytest.mark.parametrize("words", VERBS, ids=" ".join)
@pytest.mark.parametrize("width", [60, 100, 200])
def test_pages_fit_the_terminal_of_a_person(
    words: list[str], width: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    assert main([*words, "--color", "always"]) == 0
    out = capsys.readouterr().out
    assert "\x1b[" in out
    copied = re.compile(r"^    \S")
    assert all(cell_len(line) <= width or copied.match(line) for line in SGR.sub("", out).splitlines())


@pytest.mark.parametrize("words", VERBS, ids=" ".join)
def test_a_pipe_gets_one_line_each_without_colour(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 0
    out = capsys.readouterr().out
    assert "\x1b" not in out
    if words[-1] in ("rule", "--list"):
        assert max(map(len, out.splitlines())) > 100
