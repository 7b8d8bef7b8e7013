"""What the functions of a script install: where they are called, and with what."""

from __future__ import annotations

import pytest
from project_asked import names

from envdoctor.model.project import LeftOut, ReadingProblemKind

LISTS = {"requirements.txt": "main\n", "sub/requirements.txt": "inner\n"}
CALLED = {
    "in the folder where it is called": (
        "reqs() {\n  pip install -r requirements.txt\n}\ncd sub\nreqs\n",
        ["inner"],
    ),
    "a folder that it goes into": (
        "enter() { cd sub; }\nenter\npip install -r requirements.txt\n",
        ["inner"],
    ),
    "a folder that it is given": ("deps() (\n cd $1\n pip install -r requirements.txt\n)\ndeps sub\n", ["inner"]),
    "all that it is given": ('get() { python -m pip install "$@"; }\nget one "two<2"\n', ["one", "two<2"]),
    "each by its number": ("function get { pip install $2 ${1}==3; }\nget one two\n", ["two", "one==3"]),
    "what is left of it": ("get() { shift; pip install $1; shift 1; pip install $1; }\nget a b c\n", ["b", "c"]),
    "a command": ('try() { "$@" || exit 1; }\ntry pip install one\n', ["one"]),
    "one that another calls": ("main() { get one; }\nget() { pip install $1; }\nmain\n", ["one"]),
    "those that call each other": ("a() { b; pip install one; }\nb() { a; }\na\n", ["one"]),
    "one in two lines": ("get ()\n{\n  pip install one\n}\nget\n", ["one"]),
    "one that nobody calls": ("get() { pip install one; }\n", ["one"]),
    "the script's own": ('main() {\n  pip install one\n}\nmain "$@"\n', ["one"]),
    "more than anybody reads": (
        "".join(f"f{n}() {{ f{n + 1}; f{n + 1}; }}\n" for n in range(30)) + "f30() { pip install one; }\nf0\n",
        ["one"],
    ),
}


@pytest.mark.parametrize("what", CALLED)
def test_a_function_installs_where_it_is_called(read_files, what):
    text, expected = CALLED[what]
    project = read_files({**LISTS, "i.sh": text}, at="i.sh")
    assert (names(project), project.unread) == (expected, ())


def test_functions_that_are_called_in_branches_exclude_each_other(read_files):
    text = "cpu() { pip install one; }\ngpu() {\n  pip install two\n}\n"
    for end in (
        'if [ "$1" = cuda ]; then gpu; else cpu; fi\n',
        "case $1 in\n  cpu) cpu ;;\n  cuda)\n    gpu\n    ;;\nesac\n",
    ):
        project = read_files({"i.sh": text + end}, at="i.sh", target_backend="cuda")
        assert names(project) == ["two"]
        assert [one.reason for one in project.left_out] == [LeftOut.BRANCH]


def test_what_a_loop_takes_from_the_arguments_is_not_known(read_files):
    text = "get() { while [ $# -gt 0 ]; do pip install $1; shift; done; }\nget one two\n"
    assert read_files({"i.sh": text}, at="i.sh").unread == ("$1",)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.ps1", "function Put-It {\n  $out = & pip install @Args 2>&1\n}\nPut-It torch==2.1"),
        ("a.ps1", "function Put-It { & pip install $args }\nput-it torch==2.1"),
        ("a.ps1", "function Pp { & $Python -m pip $args }\nPp install torch==2.1\nPp --version"),
        (
            "a.ps1",
            "function Pp {\n  param([string[]]$List)\n  & $Python -m pip @List\n}\nPp @('install', 'torch==2.1')",
        ),
        ("a.ps1", "function Pp([Parameter(Mandatory=$true)][string[]]$A) { py -m pip $A }\nPp -A install,torch==2.1"),
        ("a.ps1", "function Add { param([string]$Name)\n  pip install $Name\n}\nAdd -Name torch==2.1"),
        ("a.sh", 'put() {\n  said=$(pip install "$@" 2>&1) || {\n    exit 1\n  }\n}\nput "torch==2.1"'),
        ("a.sh", 'said=$(pip install "torch==2.1" 2>&1)'),
        ("a.sh", "said=`pip install torch==2.1 2>&1`"),
        ("a.sh", "if ! said=$(pip install torch==2.1); then exit 1; fi"),
    ],
)
def test_what_is_handed_on_and_an_install_whose_output_is_kept_are_installs(read_files, name, text):
    project = read_files({name: text + "\n"}, at=name)
    assert (names(project), project.problems) == (["torch==2.1"], ())


def test_a_call_of_powershell_has_its_own_options_and_place(read_files):
    put = "function Put {\n  & pip install @Args\n  if ($LASTEXITCODE -ne 0) { throw }\n}\n"
    arms = "".join(f'  "{one}" {{\n    Put torch -i https://index.example/{one}\n  }}\n' for one in ("CU128", "CPU"))
    text = f"{put}switch ($Device) {{\n{arms}}}\nPut -r more.txt --no-deps\n"
    project = read_files({"a.ps1": text, "more.txt": "six\n"}, at="a.ps1")
    assert names(project) == ["torch", "six"]
    assert [(one.url, one.step) for one in project.index_options] == [("https://index.example/CU128", 1)]
    assert [(one.checked, one.no_deps) for one in project.commands] == [(True, False), (True, True)]
    assert [line.origin.line for line in project.requirements] == [7, 1]


def test_what_conda_is_handed_by_nobody_is_not_known(read_files):
    project = read_files({"a.ps1": "function Put {\n  conda install @Args\n}\npip install six\n"}, at="a.ps1")
    assert names(project) == ["six"]
    assert [one.kind for one in project.problems] == [ReadingProblemKind.UNREAD]


def test_what_a_function_is_given_stands_where_it_is_called(read_files):
    text = 'get() {\n  pip install "$@"\n}\none() { pip install $1; }\n\nget torch==2.1\none six==1\n'
    project = read_files({"i.sh": text}, at="i.sh")
    assert [(one.pep508, one.origin.line) for one in project.requirements] == [("torch==2.1", 6), ("six==1", 7)]


def test_of_a_function_that_is_defined_several_times_each_is_read_where_it_stands(read_files):
    text = "f() {\n  pip install a==1\n}\nf\nf() {\n  pip install a==2\n}\nf\n"
    project = read_files({"a.sh": text}, at="a.sh")
    assert [one.pep508 for one in (*project.superseded, *project.requirements)] == ["a==1", "a==2"]
    text = 'if [ "$(uname)" = "Darwin" ]; then\n  f() { pip install a==1; }\nelse\n  f() { pip install a==2; }\nfi\nf\n'
    for platform, version in (("darwin", "1"), ("linux", "2")):
        project = read_files({"a.sh": text}, at="a.sh", target_environment={"sys_platform": platform})
        assert [one.pep508 for one in project.requirements] == [f"a=={version}"]


@pytest.mark.parametrize("arguments", ["$1$1$1$1$1$1$1$1", '"$@" "$@" "$@" "$@" "$@" "$@" "$@" "$@"'])
def test_arguments_that_double_with_each_function_end_somewhere(read_files, arguments):
    functions = "".join(f"f{at}() {{\n  f{at + 1} {arguments}\n}}\n" for at in range(9))
    text = f"{functions}f9() {{\n  pip install demo\n  echo $1\n}}\nf0 word\n"
    project = read_files({"a.sh": text}, at="a.sh")
    assert [one.name for one in project.requirements] == ["demo"]
