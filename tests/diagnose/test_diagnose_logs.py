"""Error texts as people paste them get their cause, and harmless logs nothing."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from diagnose_fixtures import examination_of

from envdoctor.diagnose.advisories.advisory import Advisory
from envdoctor.diagnose.advisories.book import InvalidAdvisories, read_advisories, shipped_advisories
from envdoctor.diagnose.advisories.log_reading import read_log
from envdoctor.diagnose.advisories.log_text import fixed_text
from envdoctor.model.finding import Severity

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

TEXTS = tomllib.loads((Path(__file__).parent / "symptom_texts.toml").read_text(encoding="utf-8"))["text"]
ADVISORIES = shipped_advisories().advisories
WITH_SYMPTOM = [item for item in ADVISORIES if item.symptoms]


def _said(log: str) -> list[str]:
    return [item.rule for item in read_log(examination_of({"log": log}))]


@pytest.mark.parametrize("text", TEXTS, ids=lambda item: item["name"])
def test_a_pasted_text_gets_its_cause_and_no_other(text) -> None:
    assert _said(text["log"]) == sorted(text["says"])


def test_a_text_between_other_lines_of_a_log_gets_the_same_causes() -> None:
    before = "2026-03-01 10:00:00,123 INFO step 100 loss 3.14\n" * 50
    for text in TEXTS:
        if "far" not in text["name"]:
            assert _said(f"{before}{text['log']}\n{before}") == sorted(text["says"]), text["name"]


@pytest.mark.parametrize(
    "written",
    [
        "\x1b[1;31mRuntimeError\x1b[0m: \x1b[1mNumpy\x1b[22m is not available",
        "RuntimeError: Numpy  is\tnot available\r\n",
        "\x1b]0;a title\x07RuntimeError: Numpy is not available",
        "\x1b[1mRuntimeError: Numpy is\x1b(B\x1b[m not available",
        "\x1b[38:5:1mRuntimeError:\x1b[>4;1m Numpy is not available",
        "worker  | 10:00 [ERROR] RuntimeError: Numpy is not available (retrying)",
        "10%\r20%\rRuntimeError: Numpy is not available",
        "\r\r\r\r\nRuntimeError: Numpy is not available\r\r",
        "RuntimeError: Numpy\N{NO-BREAK SPACE}is not available",
    ],
)
def test_colours_spaces_and_what_stands_before_and_after_do_not_hide_a_symptom(written: str) -> None:
    assert _said(written) == ["ADV014"]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Exception in thread Thread-3 (run): _pickle.UnpicklingError: Weights only load f", "ailed. This file"),
        ("> Exception in thread Thread-3: _pickle.UnpicklingError: Weights only load", "> failed. This file"),
        ("  ╰─▶ Because it was read by pickle, which says Weights only", "      load failed. This file"),
    ],
)
def test_a_wrapped_line_is_read_across_its_seam(first: str, second: str) -> None:
    (finding,) = read_log(examination_of({"log": f"start\n{first}\n{second}\nend"}))
    assert finding.rule == "ADV013"
    assert finding.evidence[0].where == "log line 2"


def test_two_entries_of_a_log_are_not_read_as_one_line() -> None:
    assert _said("2026-03-01 10:00:00 INFO a long enough line that tells that Weights only\n10:00:01 load failed") == []


_AT_BUILD = "Several compilers at once"
_AT_FETCH = "It was killed while it fetched"
_FETCHED = "Collecting torch==2.6.0\n  Downloading torch-2.6.0-cp311-cp311-manylinux1_x86_64.whl (766.7 MB)\n"
_BUILT = "  Building wheel for encodec (setup.py): started\n"


@pytest.mark.parametrize(
    ("log", "remedy"),
    [
        (f"{_FETCHED}Killed", _AT_FETCH),
        (f"#8 1.2 Collecting torch (from -r a.txt (line 1))\n{_BUILT}zsh: killed     pip install -r a.txt", _AT_BUILD),
        (f"{_FETCHED}{_BUILT}g++: fatal error: Killed signal terminated program cc1plus", _AT_BUILD),
        # What went well is over: the program was killed, and no compiler.
        (f"{_FETCHED}{_BUILT}Successfully installed encodec-0.1.1 ninja-1.11.1\nLoading\nKilled", "Look into"),
        ("Requirement already satisfied: cmake in ./lib\nLoading\nKilled", "Look into"),
        (f"Collecting cmake\n{_FETCHED}Killed", _AT_FETCH),
        ("Downloading shards: 100%|###| 8/8\nLoading checkpoint shards:  50%|###| 4/8\nKilled", "Look into"),
        ("Collecting environment information...\nKilled", "Look into"),
        ("ninja: no work to do.\nLoading extension module fused_adam...\nexits with return code = -9", "Look into"),
        ("Requirement already satisfied: ninja in ./lib\nMemoryError", "Give the program less"),
        (f"{_BUILT}      MemoryError", _AT_BUILD),
        ("cl : Command line error : fatal error C1060: compiler is out of heap space", _AT_BUILD),
    ],
)
def test_what_was_killed_is_told_by_what_stands_before_it(log: str, remedy: str) -> None:
    (finding,) = read_log(examination_of({"log": log}))
    assert finding.remedy.summary.startswith(remedy)


def test_what_must_stand_beside_a_symptom_must_be_near_it() -> None:
    error = "TypeError: argument of type 'bool' is not iterable"
    assert _said("gradio\n" + "x\n" * 30 + error) == ["ADV042"]
    assert _said(error + "\n" + "x\n" * 30 + "Gradio") == ["ADV042"]
    assert _said("gradio\n" + "x\n" * 60 + error) == []
    assert _said(error + "\n" + "x\n" * 60 + f"gradio\n{error}") == ["ADV042"]


def test_the_sharper_of_two_answers_speaks_alone_and_the_other_where_it_is_silent() -> None:
    error = "ModuleNotFoundError: No module named 'pkg_resources'"
    assert _said(error) == ["ADV017"]
    assert _said(f'  File "C:\\v\\ctranslate2\\__init__.py", line 8, in <module>\n{error}') == ["ADV053"]


@pytest.mark.parametrize("advisory", ADVISORIES, ids=lambda item: item.code)
def test_an_advisory_speaks_in_place_of_one_that_logs_show_and_that_does_not_answer_back(advisory: Advisory) -> None:
    for code in advisory.instead_of:
        (other,) = [item for item in ADVISORIES if item.code == code]
        assert other.symptoms
        assert advisory.code not in other.instead_of


def test_a_finding_quotes_the_part_of_a_long_line_that_shows_the_symptom() -> None:
    log = "x" * 30_000 + " RuntimeError: Numpy is not available " + "y" * 30_000
    (finding,) = read_log(examination_of({"log": log}))
    assert "Numpy is not available" in finding.evidence[0].what
    assert len(finding.evidence[0].what) <= 200


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("No module named '?six", "No module named "),
        (r"numpy-1\.2[0-6]\.tar", "numpy-1.2"),
        ("a(?:long group)bcd", "bcd"),
        ("colou?r is it", "r is it"),
        ("one thing|another", ""),
        ("(?i)whatever", ""),
        (r"[^\]x]abc\ufeffde\w+fghi", "fghi"),
        (r"ab{2}cde", "cde"),
    ],
)
def test_the_text_that_a_pattern_needs_is_found(pattern: str, text: str) -> None:
    assert fixed_text(pattern) == text


def test_every_symptom_that_an_example_shows_holds_its_fixed_text() -> None:
    for advisory in WITH_SYMPTOM:
        for example in advisory.examples:
            lines = str(example.data.get("log", "")).splitlines()
            for pattern in advisory.symptoms:
                assert all(fixed_text(pattern) in line for line in lines if re.search(pattern, line))


WIDE = """
[[advisory]]
code = "ADV900"
id = "wide"
severity = "error"
message = "m"
cause = "c"
evidence = ["e"]
confidence = "metadata"
date = 2026-11-28
seen = []
remedy = { summary = "s" }
symptom = ["(?:one|two)", "(?i)whatever", "[unclosed"]
symptom_mentions = ["(unclosed"]
instead_of = ["ADV901"]
fires = [{ log = "one" }]
silent = [{ log = "" }]
"""


@pytest.mark.parametrize(
    ("pattern", "refused"),
    [
        (r"some text (a+)+$", True),
        (r"some text (?:\w+\s?)*!", True),
        (r"some text (?:x(?:y|z+)){2,}", True),
        (r"some text (?:(?=.*b)\w+?)+", True),
        (r"some text \w+ and \w+", False),
        (r"some text (?:\w{1,60}, ){0,20}av", False),
        (r"some text [+*]+(?:a|b)+\(\w+\)", False),
    ],
)
def test_a_pattern_that_may_take_for_ever_is_a_fault_of_others_advisories(
    tmp_path: Path, pattern: str, refused: bool
) -> None:
    text = WIDE.replace('symptom = ["(?:one|two)", "(?i)whatever", "[unclosed"]', f"symptom = ['{pattern}']")
    text = text.replace('"(unclosed"', "").replace(
        'instead_of = ["ADV901"]', f"when.all = [{{ source = '{pattern}' }}]"
    )
    (tmp_path / "wide.toml").write_text(text, encoding="utf-8")
    try:
        read_advisories(tmp_path)
    except InvalidAdvisories as error:
        faults = "\n".join(error.faults)
        assert ("`advisory[0].symptom`" in faults) is ("source`" in faults) is refused, faults
        assert faults.count("may take for ever") == 2 * refused
    else:
        assert not refused


def test_a_symptom_without_a_fixed_text_and_an_unknown_code_are_faults(tmp_path: Path) -> None:
    (tmp_path / "wide.toml").write_text(WIDE, encoding="utf-8")
    with pytest.raises(InvalidAdvisories) as caught:
        read_advisories(tmp_path)
    faults = "\n".join(caught.value.faults)
    for expected in (
        "`advisory[0].symptom`: `(?:one|two)` holds no text of 5 characters outside of groups",
        "`advisory[0].symptom`: `(?i)whatever` holds no text",
        "`advisory[0].symptom`: is not a regular expression",
        "`advisory[0].symptom_mentions`: is not a regular expression",
        "`advisory[0].instead_of`: there is no advisory `ADV901`",
    ):
        assert expected in faults


def test_an_xformers_that_a_program_runs_without_is_a_warning() -> None:
    says = "WARNING[XFORMERS]: xFormers can't load C++/CUDA extensions. xFormers was built for:\n"
    (mild,) = read_log(examination_of({"log": f"{says}To see the GUI go to: http://127.0.0.1:8188\n"}))
    (grave,) = read_log(examination_of({"log": f"{says}NotImplementedError: No operator found\n"}))
    assert (mild.severity, grave.severity) == (Severity.WARNING, Severity.ERROR)


_IMAGE_WARNING = "image.py:14: UserWarning: Failed to load image Python extension: "
_NO_KERNEL = "SM89 kernel is not available. Make sure you GPUs with compute capability 8.9."


@pytest.mark.parametrize(
    ("mild", "grave"),
    [
        (
            f"{_IMAGE_WARNING}'/v/torchvision/image.so: undefined symbol: _ZN3c1017RegisterOperatorsD1Ev'If you don't",
            "ImportError: /v/torchvision/_C.so: undefined symbol: _ZN3c1017RegisterOperatorsD1Ev",
        ),
        (
            f"Error running sage attention: {_NO_KERNEL}, using pytorch attention instead.",
            f"AssertionError: {_NO_KERNEL}",
        ),
    ],
)
def test_what_a_program_does_without_is_a_warning_where_its_words_say_so(mild: str, grave: str) -> None:
    (one,), (other,) = (list(read_log(examination_of({"log": text}))) for text in (mild, grave))
    assert one.rule == other.rule
    assert (one.severity, other.severity) == (Severity.WARNING, Severity.ERROR)


_HEAD = 'Traceback (most recent call last):\n  File "a.py", line 9, in <module>\n    go()\n'


@pytest.mark.parametrize(
    "line",
    [
        "NotImplementedError: The operator 'aten::_fft_r2c' is not currently implemented for the MPS device. If",
        "ValueError: This CTranslate2 package was not compiled with CUDA support",
        "ImportError: TorchCodec is required for load_with_torchcodec. Please install torchcodec to use this function.",
        "UnicodeDecodeError: 'gbk' codec can't decode byte 0xae in position 2221: illegal multibyte sequence",
    ],
)
def test_an_exception_that_nothing_caught_is_an_error_however_mild_its_advisory_is(line: str) -> None:
    (found,) = read_log(examination_of({"log": f"{_HEAD}{line}\n"}))
    assert found.severity is Severity.ERROR
    (found,) = read_log(examination_of({"log": f"{_HEAD}{line}\nRunning on local URL:  http://127.0.0.1:7860\n"}))
    assert found.severity is Severity.WARNING


def test_a_value_of_json_is_a_program_s_own_word_and_no_quotation() -> None:
    error = "error loading model architecture: unknown model architecture: 'deepseek2'"
    log = f'{{\n  "title": "Failed to load model",\n  "cause": "llama.cpp error: \'{error}\'",\n  "data": {{}}\n}}\n'
    assert [item.rule for item in read_log(examination_of({"log": log}))] == ["ADV473"]
    assert not list(read_log(examination_of({"log": f'The page says "{error}" where a model is too new.'})))
