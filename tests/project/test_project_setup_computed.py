"""What a setup.py computes: what is certain counts, and the expression that only running it would tell is named."""

from __future__ import annotations

import pytest
from packaging.specifiers import SpecifierSet

from envdoctor.model.project import ReadingProblemKind

HEAD = "import os\nfrom setuptools import setup\n"


@pytest.mark.parametrize(
    ("text", "expression"),
    [
        (
            "LIST = ['six']\nif not os.getenv('SKIP'):\n    LIST.extend(['idna'])\nsetup(install_requires=LIST)\n",
            "LIST.extend(['idna'])",
        ),
        (
            "LIST = ['six']\nif os.environ.get('GPU'):\n    LIST += ['idna']\nsetup(install_requires=LIST)\n",
            "LIST += ['idna']",
        ),
        (
            "LIST = ['six']\nfor name in os.listdir():\n    LIST.append(name)\nsetup(install_requires=LIST)\n",
            "LIST.append(name)",
        ),
    ],
)
def test_what_is_certain_counts_and_what_is_added_is_named(read_files, text, expression):
    project = read_files({"setup.py": HEAD + text})
    assert [line.name for line in project.requirements] == ["six"]
    (problem,) = project.problems
    assert problem.kind is ReadingProblemKind.DYNAMIC
    assert (
        problem.message
        == f"some requirements of `setup.py` are computed by `{expression}`: only running it would tell them"
    )
    assert project.unread


@pytest.mark.parametrize(
    ("text", "expression"),
    [
        ("setup(install_requires=needed())\n", "needed()"),
        ("LIST = ['six']\nif os.getenv('A'):\n    LIST = ['idna']\nsetup(install_requires=LIST)\n", "LIST"),
        ("setup(name='x', **config())\n", "**config()"),
    ],
)
def test_what_is_not_certain_at_all_is_named(read_files, text, expression):
    project = read_files({"setup.py": HEAD + text})
    assert not project.requirements
    assert [each.message.split("`")[-2] for each in project.problems] == [expression]


@pytest.mark.parametrize(
    "text",
    [
        "config = {'name': 'x', 'install_requires': ['six']}\nsetup(**config)\n",
        "config = dict(name='x', install_requires=['six'])\nsetup(version='1', **config)\n",
        "config = {'name': 'x'}\nconfig['install_requires'] = ['six']\nsetup(**config)\n",
        "setup(**{'name': 'x', 'install_requires': ['six']})\n",
    ],
)
def test_arguments_in_a_literal_dictionary_are_read(read_files, text):
    project = read_files({"setup.py": HEAD + text})
    assert [line.name for line in project.requirements] == ["six"]
    assert not project.problems
    assert project.name == "x"


@pytest.mark.parametrize(
    ("expression", "asked"),
    [
        ('["six==" + V]', "six==1.2"),
        ('[f"six>={V},<{W}"]', "six>=1.2,<2"),
        ('["six=={}".format(V)]', "six==1.2"),
        ('"six==" + V', "six==1.2"),
    ],
)
def test_a_text_of_plain_names_is_put_together(read_files, expression, asked):
    project = read_files({"setup.py": f"{HEAD}V = '1.2'\nW = '2'\nsetup(install_requires={expression})\n"})
    assert [(line.name, line.specifier) for line in project.requirements] == [("six", SpecifierSet(asked[3:]))]
    assert not project.problems


@pytest.mark.parametrize(
    "expression",
    ['"six==" + version()', 'f"six=={version()}"', '"six=={}".format(V)', '"six=={0}".format("1")', '"s%s" % V'],
)
def test_a_text_that_code_makes_is_no_invalid_requirement(read_files, expression):
    project = read_files({"setup.py": f"{HEAD}V = version()\nsetup(install_requires=['idna', {expression}])\n"})
    assert [each.kind for each in project.problems] == [ReadingProblemKind.DYNAMIC]


def test_lists_that_hold_all_lists_before_them_are_followed_to_an_end(read_files):
    """Each doubles what there is: 40 of them would be a million million requirements."""
    lists = "".join(f"extras['e{number}'] = sum(extras.values(), [])\n" for number in range(40))
    text = f"{HEAD}extras = {{'a': ['six']}}\n{lists}setup(install_requires=extras['e39'])\n"
    project = read_files({"setup.py": text})
    assert [each.kind for each in project.problems] == [ReadingProblemKind.DYNAMIC]
    assert "`extras['e39']`" in project.problems[0].message


@pytest.mark.parametrize(
    ("body", "asked"),
    [
        ("    '''For all.'''\n    return [*BASE, f'idna>={V}']\n", ["six", "idna"]),
        ("    found = list(BASE)\n    found.append('idna')\n    return found\n", ["six", "idna"]),
        ("    BASE = ['attrs']\n    return BASE\n", ["attrs"]),
        ("    BASE.append('idna')\n    return BASE\n", ["six", "idna"]),
    ],
)
def test_a_function_without_arguments_gives_what_its_last_line_says(read_files, body, asked):
    text = f"V = '3.1'\nBASE = ['six']\ndef needed():\n{body}TABLE = {{'rocm': needed()}}\n"
    for given in ("needed()", "list(TABLE['rocm'])"):
        project = read_files({"setup.py": f"{HEAD}{text}setup(install_requires={given})\n"})
        assert [line.name for line in project.requirements] == asked
        assert not project.problems


@pytest.mark.parametrize(
    "function",
    [
        "def needed():\n    if os.getenv('A'):\n        return ['idna']\n    return ['six']\n",
        "def needed(name='x'):\n    return ['six']\n",
        "@cached\ndef needed():\n    return ['six']\n",
        "def needed():\n    return needed()\n",
        "def needed():\n    yield 'six'\n",
        "def needed():\n    return os.listdir()\n",
    ],
)
def test_a_function_that_decides_is_not_followed(read_files, function):
    project = read_files({"setup.py": f"{HEAD}{function}setup(install_requires=needed())\n"})
    assert not project.requirements
    assert [each.kind for each in project.problems] == [ReadingProblemKind.DYNAMIC]


def test_functions_that_call_each_other_are_followed_to_an_end(read_files):
    functions = "".join(f"def f{at + 1}():\n    return f{at}() + f{at}()\n" for at in range(18))
    text = f"{HEAD}def f0():\n    return ['six']\n{functions}setup(install_requires=f18())\n"
    project = read_files({"setup.py": text})
    assert [each.kind for each in project.problems] == [ReadingProblemKind.DYNAMIC]


@pytest.mark.parametrize("system", [r"wi\n32", r"win\\32", r"win32\\", r"\0", r"win\"32"])
def test_a_system_whose_name_no_marker_can_hold_makes_no_marker(read_files, system):
    text = f'import sys\nLIST = ["six"]\nif sys.platform == "{system}":\n    LIST.append("idna")\n'
    project = read_files({"setup.py": HEAD + text + "setup(install_requires=LIST)\n"})
    assert [(line.name, line.marker) for line in project.requirements] == [("six", None)]
    assert [each.kind for each in project.problems] == [ReadingProblemKind.DYNAMIC]


def test_a_truth_is_no_number_of_a_python(read_files):
    text = 'import sys\nLIST = ["six"]\nif sys.version_info < (True, 5):\n    LIST.append("idna")\n'
    project = read_files({"setup.py": HEAD + text + "setup(install_requires=LIST)\n"})
    assert [line.name for line in project.requirements] == ["six"]


CHOOSING = {
    "a comprehension over a file": "LIST = [x for x in open('list.txt') if not x.startswith('torch')]",
    "a comprehension over a list": "ALL = ['torch==2.0', 'six']\nLIST = [x for x in ALL if 'torch' not in x]",
    "a function": (
        "def read(path):\n    found = []\n    for line in open(path):\n        if 'torch' in line:\n"
        "            continue\n        found.append(line)\n    return found\nLIST = read('list.txt')"
    ),
    "what is taken out": "LIST = ['torch==2.0', 'six']\nLIST.remove('torch==2.0')",
    "what is deleted": "LIST = ['torch==2.0', 'six']\ndel LIST[0]",
    "what is there": "try:\n    import torch\n    LIST = ['six']\nexcept ImportError:\n    LIST = ['six', 'torch']",
}
READING = {
    "comments": "LIST = [x.strip() for x in open('list.txt') if x.strip() and not x.startswith(('#', '--'))]",
    "addresses": (
        "def read(path):\n    found = []\n    for line in open(path):\n        if 'git+' in line or line == '':\n"
        "            continue\n        found.append(line)\n    return found\nLIST = read('list.txt')"
    ),
    "a list that may be gone": "try:\n    LIST = open('list.txt').readlines()\nexcept IOError:\n    LIST = []",
}


@pytest.mark.parametrize("how", CHOOSING)
def test_what_a_setup_py_leaves_out_of_a_list_only_running_it_would_tell(read_files, how):
    text = f"from setuptools import setup\n{CHOOSING[how]}\nsetup(install_requires=LIST)\n"
    project = read_files({"setup.py": text, "list.txt": "torch==2.0\nsix\n"}, at="setup.py")
    assert project.requirements == ()
    assert project.unread == ("setup.py",)


@pytest.mark.parametrize("how", READING)
def test_a_list_is_read_whose_lines_are_asked_for_no_name(read_files, how):
    text = f"from setuptools import setup\n{READING[how]}\nsetup(install_requires=LIST)\n"
    project = read_files({"setup.py": text, "list.txt": "# torch\nsix\n"}, at="setup.py")
    assert [one.name for one in project.requirements] == ["six"]
    assert project.unread == ()


def test_what_is_added_where_a_module_is_missing_is_not_known(read_files):
    text = "LIST = ['six']\ntry:\n    import torch\nexcept ModuleNotFoundError:\n    LIST.append('torch')\n"
    project = read_files(
        {"setup.py": f"from setuptools import setup\n{text}setup(install_requires=LIST)\n"}, at="setup.py"
    )
    assert [one.name for one in project.requirements] == ["six"]
    assert project.unread == ("setup.py",)
