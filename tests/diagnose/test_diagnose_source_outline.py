"""What is taken from a file's syntax, and when a file is parsed at all."""

from __future__ import annotations

import warnings

import pytest
from diagnose_fixtures import MemorySources

from envdoctor.diagnose import source_scan
from envdoctor.diagnose.source_outline import TextPlaces, outline_of, parsed
from envdoctor.diagnose.source_scan import SourceScan

IN_A_DOCSTRING = [
    '"""pip install torch"""',
    "'pip install torch'",
    'def f():\n    r"""Says how.\n\n    pip install torch\n    """',
    "def f():\n    '''Says how.\n\n    pip install torch\n    '''",
    'def f(): """Says how.\n    pip install torch\n    """',
    'x = 1; """Says\n pip install torch"""',
    '"says \\\npip install torch"',
    '("says"\n "pip install torch")',
    'MARK = \'"""\'\n"""\npip install torch\n"""',
    '# an odd """\n"""\npip install torch\n"""',
    'x = "\\"""b"\n"""\npip install torch\n"""',
    'x = \'some """ here\'\n"""\npip install torch\n"""',
]


@pytest.mark.parametrize("text", IN_A_DOCSTRING)
def test_what_stands_in_a_docstring_is_never_taken_for_code_by_its_quotes(text: str) -> None:
    scan = SourceScan(MemorySources({"app.py": text + "\n"}))
    assert scan.search(r"pip install torch", having=("pip",)) == []


NO_DOCSTRING = [
    'run("pip install torch")',
    'TEXT = """\npip install torch\n"""',
    'TEXT = f"""\npip install torch\n"""',
    '"""Doc."""\nx = 1\nrun("pip install torch")',
]


@pytest.mark.parametrize("text", NO_DOCSTRING)
def test_other_texts_count_and_are_told_without_parsing(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_text: str) -> None:
        raise AssertionError("parsed")

    monkeypatch.setattr(source_scan, "parsed", fail)
    scan = SourceScan(MemorySources({"app.py": text + "\n"}))
    assert len(scan.search(r"pip install torch", having=("pip",))) == 1


def test_a_file_is_parsed_once_for_all_that_is_asked_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def counted(text: str) -> object:
        asked.append(text)
        return parsed(text)

    monkeypatch.setattr(source_scan, "parsed", counted)
    scan = SourceScan(
        MemorySources({"app.py": '"""Doc\ncuda"""\nimport os\ntry:\n    import torch\nfinally:\n    pass\n'})
    )
    assert scan.search("cuda") == []
    assert [site.module for site in scan.top_level_imports("app.py")] == ["os"]
    assert scan.lines_under_a_condition("app.py") == {5}
    assert scan.guarded_lines("app.py") == set()
    assert scan.stand_in_lines("app.py") == set()
    assert len(asked) == 1


def test_a_line_is_a_hit_once_and_says_where_it_stands() -> None:
    scan = SourceScan(MemorySources({"app.py": "import x\na.cuda(); b.cuda()\n\nc.cuda()"}))
    assert [(hit.line, hit.text) for hit in scan.search(r"\.cuda\(")] == [(2, "a.cuda(); b.cuda()"), (4, "c.cuda()")]


def test_few_trees_are_kept() -> None:
    files = {f"part{number}.py": f'"""Says cuda {number}\ncuda"""\n' for number in range(100)}
    scan = SourceScan(MemorySources(files))
    assert scan.search("cuda") == []
    assert len(scan._trees) <= source_scan._TREES


def test_an_outline_tells_guards_and_the_main_program_apart() -> None:
    text = (
        "import a\n"
        "with open('x') as f:\n    import b\n"
        "with suppress(ImportError):\n    import c\n"
        "if __name__ == '__main__':\n    import d\n"
        "def f():\n    import e\n    if x:\n        import g\n"
        "from h import i, j\nfrom . import k\n"
    )
    found = outline_of(parsed(text))
    assert [module for _, module, _ in found.unguarded] == ["a", "b", "h"]
    assert found.unguarded[-1][2] == ("i", "j")
    assert found.conditional == {11}


@pytest.mark.parametrize("text", ["def f(:\n", "\0", "(" * 5000 + ")" * 5000])
def test_what_has_no_syntax_has_an_empty_outline(text: str) -> None:
    assert outline_of(parsed(text)).docstrings == frozenset()
    assert outline_of(parsed(text)).unguarded == ()


def test_a_plain_text_has_no_docstring_before_its_first_quote() -> None:
    assert not TextPlaces("import os\nrun(x)\n").may_be_docstring(10, "run(x)")


def test_what_the_compiler_says_of_somebodys_escapes_is_kept_back() -> None:
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        assert parsed('NUMBER = "\\d"\n') is not None
        assert parsed(b'NUMBER = "\\d"\n') is not None
    assert told == []
