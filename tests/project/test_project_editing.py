"""What a repair changes of a line, in every form that people write requirements in, and what it leaves alone."""

from __future__ import annotations

import pytest

from envdoctor.adapters.project.editing import Edit, NotEditable, edited

LINES = [
    ("torch==2.7\n", "torch", "torch==2.7", "torch==2.4.1\n"),
    ("  Torch [cuda] >= 2.7 , <3  ; os_name == 'nt'  # why\r\n", "torch", "Torch [cuda] >= 2.7 , <3  ; os_name == 'nt'",
     "  Torch [cuda]==2.4.1  ; os_name == 'nt'  # why\r\n"),
    ("torch (>=2.7)\n", "torch", "torch (>=2.7)", "torch==2.4.1\n"),
    ("Foo_Bar.baz~=1.0;python_version<'4'\n", "foo-bar-baz", "Foo_Bar.baz~=1.0;python_version<'4'",
     "Foo_Bar.baz==2.4.1;python_version<'4'\n"),
    ('    "torch>=2.7",  # the newest\n', "torch", "torch>=2.7", '    "torch==2.4.1",  # the newest\n'),
    ("deps = ['a', 'torch>=2.7', 'torchaudio>=2.7']\n", "torch", "torch>=2.7",
     "deps = ['a', 'torch==2.4.1', 'torchaudio>=2.7']\n"),
    ('torch = "^2.7"  # poetry\n', "torch", 'torch = "^2.7"', 'torch = "==2.4.1"  # poetry\n'),
    ('torch = { version = "^2.7", extras = ["a"] }\n', "torch", "torch = ^2.7",
     'torch = { version = "==2.4.1", extras = ["a"] }\n'),
    ('torch = "*"\n', "torch", 'torch = "*"', 'torch = "==2.4.1"\n'),
    ("  - torch=2.7\n", "torch", "torch=2.7", "  - torch==2.4.1\n"),
    ("      - torch==2.7.*\n", "torch", "torch==2.7.*", "      - torch==2.4.1\n"),
    ("pip install torch==2.7 torchaudio==2.7 --no-cache\n", "torch", "torch==2.7",
     "pip install torch==2.4.1 torchaudio==2.7 --no-cache\n"),
]  # fmt: skip


@pytest.mark.parametrize(("line", "name", "written", "after"), LINES)
def test_a_specifier_is_replaced_and_the_rest_stays(line: str, name: str, written: str, after: str) -> None:
    text = f"# head\n{line}other>=1\n"
    assert edited(text, [Edit(2, name, written, "==2.4.1")]) == f"# head\n{after}other>=1\n"


LEFT_OUT = [
    # The last quote is the marker's own.
    ("spleeter; sys_platform != 'darwin'\n", "spleeter; sys_platform != 'darwin'", ""),
    ('spleeter ; sys_platform == "linux"  # fast\n', 'spleeter ; sys_platform == "linux"', ""),
    ("  \"spleeter; sys_platform != 'darwin'\",\n", "spleeter; sys_platform != 'darwin'", ""),
    ("spleeter  # voices\n", "spleeter", ""),
    ('    "spleeter==2",\n', "spleeter==2", ""),
    ('deps = ["a", "spleeter==2", "b"]\n', "spleeter==2", 'deps = ["a", "b"]\n'),
    ('deps = ["a", "spleeter==2"]\n', "spleeter==2", 'deps = ["a"]\n'),
    ('spleeter = "^2"\n', 'spleeter = "^2"', ""),
    ("  - spleeter\n", "spleeter", ""),
]


@pytest.mark.parametrize(("line", "written", "after"), LEFT_OUT)
def test_a_line_is_left_out_and_its_neighbours_stay(line: str, written: str, after: str) -> None:
    assert edited(f"one\n{line}two\n", [Edit(2, "spleeter", written, None)]) == f"one\n{after}two\n"


ADDED = [
    ("gradio==4.16.0\n", "gradio==4.16.0", "gradio==5.0\npydantic==2.10.6\n"),
    ("gradio==4.16.0", "gradio==4.16.0", "gradio==5.0\npydantic==2.10.6\n"),
    ('    "gradio==4.16.0"  # last\n', "gradio==4.16.0", '    "gradio==5.0",  # last\n    "pydantic==2.10.6",\n'),
    ('gradio = "4.16.0"\n', 'gradio = "4.16.0"', 'gradio = "==5.0"\npydantic = "==2.10.6"\n'),
    ("      - gradio==4.16.0\r\n", "gradio==4.16.0", "      - gradio==5.0\r\n      - pydantic==2.10.6\r\n"),
]


@pytest.mark.parametrize(("line", "written", "after"), ADDED)
def test_a_pin_is_added_in_the_form_of_the_line_beside_it(line: str, written: str, after: str) -> None:
    assert edited(line, [Edit(1, "gradio", written, "==5.0", ("pydantic==2.10.6",))]) == after


INSTEAD = [
    ("spleeter==2  # voices\n", "spleeter==2", "spleeter-light\n"),
    ('    "spleeter==2",\n', "spleeter==2", '    "spleeter-light",\n'),
    ('spleeter = "^2"\n', 'spleeter = "^2"', 'spleeter-light = "*"\n'),
    ("  - spleeter\n", "spleeter", "  - spleeter-light\n"),
]


@pytest.mark.parametrize(("line", "written", "after"), INSTEAD)
def test_what_stands_in_for_a_line_that_goes_takes_its_place(line: str, written: str, after: str) -> None:
    edit = Edit(2, "spleeter", written, None, ("spleeter-light",))
    assert edited(f"one\n{line}two\n", [edit]) == f"one\n{after}two\n"


def test_edits_of_one_file_do_not_move_each_other() -> None:
    edits = [Edit(1, "a", "a==1", None), Edit(2, "b", "b==1", "==2", ("d==1",)), Edit(3, "c", "c==1", "==2")]
    assert edited("a==1\nb==1\nc==1\n", edits) == "b==2\nd==1\nc==2\n"


REFUSED = [
    (Edit(3, "torch", "torch==2.7", "==2.4.1"), "has no line 3 any more"),
    (Edit(1, "torch", "torch==2.6", "==2.4.1"), "does not say `torch==2.6` in one place"),
    (Edit(2, "numpy", "numpy==1.26", "==2.0"), "line 2 does not say"),
]


@pytest.mark.parametrize(("edit", "why"), REFUSED)
def test_what_is_not_there_is_not_changed(edit: Edit, why: str) -> None:
    with pytest.raises(NotEditable, match=why):
        edited("torch==2.7\nb\n", [edit])


def test_a_line_with_hashes_is_not_changed() -> None:
    text = "torch==2.7 \\\n    --hash=sha256:00\nb\n"
    with pytest.raises(NotEditable, match="hashes"):
        edited(text, [Edit(1, "torch", "torch==2.7", "==2.4.1")])


def test_a_word_of_a_command_is_not_left_out() -> None:
    with pytest.raises(NotEditable, match="says more"):
        edited("pip install spleeter==2 a\n", [Edit(1, "spleeter", "spleeter==2", None)])
