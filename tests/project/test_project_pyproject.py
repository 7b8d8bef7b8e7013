"""pyproject.toml: PEP 621, PEP 735, setuptools, Poetry and uv."""

from __future__ import annotations

import pytest

from envdoctor.adapters.project.decoding import ProjectFileError
from envdoctor.adapters.project.poetry_versions import poetry_specifier, python_marker
from envdoctor.model.project import GroupChoice, ReadingProblemKind
from envdoctor.model.requirement import RequirementKind
from envdoctor.toml_lines import Lines

BASE = '[project]\nname = "Mine"\nversion = "1"\nrequires-python = ">=3.10, <3.14"\n'


def lines(project):
    return [(one.name, one.origin.line) for one in project.requirements]


def test_standard_lists_have_real_lines(read_files):
    text = BASE + 'dependencies = [ "torch", # torch\n  "numpy", "numpy",\n\n  """scipy""",\n  \'\'\'a\'\'\', "b", ]\n'
    project = read_files({"pyproject.toml": text})
    assert lines(project) == [("torch", 5), ("numpy", 6), ("numpy", 6), ("scipy", 8), ("a", 9), ("b", 9)]
    assert (project.name, str(project.requires_python), str(project.requires_python_origin)) == (
        "Mine",
        "<3.14,>=3.10",
        "pyproject.toml:4",
    )


def test_extras_are_read_when_asked_for_and_follow_themselves(read_files):
    text = BASE + (
        'dependencies = ["torch"]\n[project.optional-dependencies]\nall = ["mine[tts,GPU]", "x"]\n'
        'tts = ["f5_tts", "mine[all]"]\ngpu = [\n "bnb"]\nother = ["never"]\n'
    )
    assert lines(read_files({"pyproject.toml": text})) == [("torch", 5)]
    project = read_files({"pyproject.toml": text}, groups=["all"])
    assert [(one.name, one.origin.line, one.group and one.group.name) for one in project.requirements] == [
        ("torch", 5, None),
        ("x", 7, "all"),
        ("bnb", 10, "gpu"),
        ("f5-tts", 8, "tts"),
    ]


def test_an_extra_without_a_name_is_read_as_any_other(read_files):
    text = BASE + 'dependencies = ["torch"]\n[project.optional-dependencies]\n"" = ["x"]\n'
    assert lines(read_files({"pyproject.toml": text})) == [("torch", 5)]


def test_dependency_groups_include_each_other(read_files):
    text = BASE + (
        'dependencies = []\n[dependency-groups]\nTest = ["pytest", {include-group = "lint"}, 3]\nlint = ["ruff"]\n'
        'loop = [{include-group = "pool"}]\npool = ["p", {include-group = "loop"}, {include-group = "none"}]\n'
    )
    project = read_files({"pyproject.toml": text}, groups=["test"])
    assert [(one.name, one.origin.line, one.group and one.group.name) for one in project.requirements] == [
        ("pytest", 7, "Test"),
        ("ruff", 8, "Test"),
    ]
    assert ["dependency-groups.Test[2]" in problem.message for problem in project.problems if not problem.group] == [
        True
    ]
    looped = read_files({"pyproject.toml": text}, groups=["loop"])
    assert [(problem.origin.line, problem.kind) for problem in looped.problems if not problem.group] == [
        (10, ReadingProblemKind.INVALID_REQUIREMENT),
        (10, ReadingProblemKind.INVALID_REQUIREMENT),
    ]


def test_faults_are_problems_with_their_key(read_files):
    text = '[project]\nrequires-python = "^3.8"\ndependencies = ["a", 3,\n "b==1."]\n'
    project = read_files({"pyproject.toml": text})
    assert lines(project) == [("a", 3)]
    assert [(problem.origin.line, problem.kind) for problem in project.problems] == [
        (2, ReadingProblemKind.INVALID_REQUIREMENT),
        (3, ReadingProblemKind.INVALID_REQUIREMENT),
        (4, ReadingProblemKind.INVALID_REQUIREMENT),
    ]
    wrong = read_files({"pyproject.toml": '[project]\ndependencies = "torch"\n'})
    assert "`project.dependencies` must be an array" in wrong.problems[0].message


def test_what_pythons_own_reader_refuses_is_refused_here(read_files):
    text = f'{BASE}[tool.uv.sources]\na = {{\n  path = "a",\n}}\n'
    with pytest.raises(ProjectFileError, match="invalid TOML"):
        read_files({"pyproject.toml": text})


def test_setuptools_dynamic_file(read_files):
    text = (
        '[project]\nname="a"\ndynamic = ["dependencies"]\n[tool.setuptools.dynamic]\n'
        'dependencies = {file = ["deps.txt"]}\n'
    )
    project = read_files({"pyproject.toml": text, "deps.txt": "torch\nnumpy\n"})
    assert [(str(one.origin), str(one.origin.included_from)) for one in project.requirements] == [
        ("deps.txt:1", "pyproject.toml:5"),
        ("deps.txt:2", "pyproject.toml:5"),
    ]


@pytest.mark.parametrize("named", ['files = ["needs.txt"]', 'filename = "needs.txt"'])
def test_hatch_requirements_txt(read_files, named):
    hook = "[tool.hatch.metadata.hooks.requirements_txt"
    text = (
        '[project]\nname="a"\ndynamic = ["dependencies", "optional-dependencies"]\n'
        f'{hook}]\n{named}\n{hook}.optional-dependencies]\nlogin = ["needs-login.txt"]\n'
    )
    files = {"pyproject.toml": text, "needs.txt": "six\n", "needs-login.txt": "attrs\n"}
    project = read_files(files, choice=GroupChoice(extras=("login",)))
    assert ([one.name for one in project.requirements], project.problems) == (["six", "attrs"], ())


def test_dynamic_falls_to_setup_files_or_is_said(read_files):
    text = '[project]\nname="a"\ndynamic = ["dependencies"]\n'
    alone = read_files({"pyproject.toml": text})
    assert [problem.kind for problem in alone.problems] == [ReadingProblemKind.DYNAMIC]
    config = read_files({"pyproject.toml": text, "setup.cfg": "[options]\ninstall_requires =\n  torch\n"})
    assert [str(one.origin) for one in config.requirements] == ["setup.cfg:3"]
    single = read_files({"pyproject.toml": text}, at="pyproject.toml")
    assert [str(one.origin) for one in single.requirements] == ["setup.cfg:3"]


def test_own_settings_are_kept_beside_a_requirements_file(read_files):
    files = {
        "pyproject.toml": BASE + 'dependencies = ["scipy"]\n[tool.envdoctor]\nprofile = "xtts-zluda"\n',
        "requirements.txt": "torch\n",
    }
    project = read_files(files)
    assert project.settings == {"profile": "xtts-zluda"}
    assert [one.name for one in project.requirements] == ["scipy", "torch"]
    assert str(project.requires_python) == "<3.14,>=3.10"


def test_uv_tables(read_files):
    text = BASE + (
        'dependencies = ["torch", "tool", "vision"]\n[tool.uv]\noverride-dependencies = ["av>=12"]\n'
        'constraint-dependencies = ["numpy<2"]\n[[tool.uv.index]]\nname = "cu"\nurl = "https://index.example/cu"\n'
        'explicit = true\n[[tool.uv.index]]\nurl = "https://index.example/x"\n[tool.uv.sources]\n'
        'torch = [{index = "none", marker = "sys_platform == \'darwin\'"}, '
        '{index = "cu", marker = "sys_platform == \'linux\'"}]\n'
        'tool = {git = "https://git.example/t", tag = "v1"}\n'
    )
    project = read_files({"pyproject.toml": text}, target_environment={"sys_platform": "linux"})
    torch, tool, vision, numpy = project.requirements
    assert (torch.index_url, vision.index_url) == ("https://index.example/cu", None)
    assert tool.url == "git+https://git.example/t@v1"
    assert (numpy.kind, numpy.origin.line) == (RequirementKind.CONSTRAINT, 8)
    assert [(one.pep508, one.origin.line) for one in project.overrides] == [("av>=12", 7)]
    assert [one.url for one in project.index_options] == ["https://index.example/x"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("^2.0.0", ">=2.0.0,<3"),
        ("^2.0.0+cu118", ">=2.0.0,<3"),
        ("^0.29.34", ">=0.29.34,<0.30"),
        ("^0.0.1", ">=0.0.1,<0.0.2"),
        ("^0.0", ">=0.0,<0.1"),
        ("^0", ">=0,<1"),
        ("^1.2", ">=1.2,<2"),
        ("^2023.3.0", ">=2023.3.0,<2024"),
        ("~1.2.3", ">=1.2.3,<1.3"),
        ("~1.2", ">=1.2,<1.3"),
        ("~1", ">=1,<2"),
        ("*", ""),
        ("1.*", "==1.*"),
        ("==1.2.*", "==1.2.*"),
        ("0.9.2", "==0.9.2"),
        ("=0.9.2", "==0.9.2"),
        (">=1,<2", ">=1,<2"),
        (">=1 <2", ">=1,<2"),
        ("~=1.2", "~=1.2"),
        ("!=1.5", "!=1.5"),
        (">=1.0, !=1.5.*", ">=1.0,!=1.5.*"),
        ("^3.8 || ^3.9", ">=3.8,<4"),
        ("^1.2 || ^3.0", ">=1.2,<4,!=2.*"),
        ("^3||^1", ">=1,<4,!=2.*"),
        ("^2.0 || ^3.0", ">=2,<4"),
        (">=3.8,<3.9 || >=3.10", ">=3.8,!=3.9.*"),
        ("~=3", ">=3,<4"),
        ("~=3.4", "~=3.4"),
        ("2.0.1+cu118", "==2.0.1+cu118"),
    ],
)
def test_poetry_constraints(text, expected):
    from packaging.specifiers import SpecifierSet

    assert poetry_specifier(text) == SpecifierSet(expected)


@pytest.mark.parametrize("text", ["^", "^x", "1 2 x!", "== ==", "^1.0 || x"])
def test_poetry_constraints_that_are_none(text):
    with pytest.raises(ValueError, match=r"not a version constraint|alternatives"):
        poetry_specifier(text)


def test_poetry_python_markers():
    assert python_marker("^3.8") == 'python_version >= "3.8" and python_version < "4.0"'
    assert python_marker(">=3.9.1") == 'python_full_version >= "3.9.1"'
    assert python_marker("*") == ""


def test_poetry_tables(read_files):
    text = (
        '[tool.poetry]\nname = "p"\n[tool.poetry.dependencies]\npython = "^3.8"\n'
        'torch = {version = "^2.0", source = "cu"}\n'
        'librosa = "0.9.2" # pinned\nopt = {version = "1", optional = true}\n'
        'many = [\n {version = "1.0", python = "<3.9"},\n'
        ' {version = "2.0", markers = "os_name == \'nt\'", platform = "win32"},\n]\n'
        'git = {git = "https://git.example/g.git", rev = "abc", extras = ["A_b"]}\nbad = "^x"\nalt = "<1 || >2"\n'
        '[tool.poetry.extras]\nmore = ["opt"]\n[tool.poetry.group.dev.dependencies]\npytest = "*"\n'
        '[[tool.poetry.source]]\nname = "cu"\nurl = "https://index.example/cu"\npriority = "explicit"\n'
    )
    project = read_files({"pyproject.toml": text})
    assert [(one.pep508, one.origin.line) for one in project.requirements] == [
        ("torch<3,>=2.0", 5),
        ("librosa==0.9.2", 6),
        ('many==1.0 ; python_version < "3.9"', 9),
        ('many==2.0 ; os_name == "nt" and sys_platform == "win32"', 10),
        ("git[a-b] @ git+https://git.example/g.git@abc", 12),
        ("alt", 14),
    ]
    assert project.requirements[1].text == 'librosa = "0.9.2"'
    assert project.requirements[0].index_url == "https://index.example/cu"
    assert (str(project.requires_python), project.requires_python_origin.line) == ("<4,>=3.8", 4)
    assert [(problem.origin.line, problem.kind) for problem in project.problems] == [
        (13, ReadingProblemKind.INVALID_REQUIREMENT),
        (14, ReadingProblemKind.UNREAD),
    ]
    grouped = read_files({"pyproject.toml": text}, groups=["more", "dev"])
    assert [(one.name, one.group.name) for one in grouped.requirements if one.group] == [
        ("opt", "more"),
        ("pytest", "dev"),
    ]


def test_lines_of_awkward_toml():
    text = (
        'a.b."c d" = 1\n[x]\ny = """\n[no]\nz = 1\n"""\nk = \'\'\'it\'s\'\'\' # ] "\nq = { r = [\n1,\n'
        '2 ], s.t = "\\"]" }\n'
        '[[arr]]\nv = 1\n[[arr]]\nv = 2\n[arr.sub]\nw = [["a"],\n["b", "c"]]\n'
    )
    found = Lines(text)
    assert found.of(("a", "b", "c d")) == 1
    assert [found.of(("x", *path)) for path in (("y",), ("k",), ("q",), ("q", "r", 1))] == [3, 7, 8, 10]
    assert found.of(("x", "q", "s", "t")) == 10
    assert [found.of_text(path) for path in ("arr[0].v", "arr[1].v", "arr[1].sub.w[1][1]")] == [12, 14, 17]
    assert found.of_text("arr[1].sub.w[7].no") == 16


UV_BUILDS = """
no-build-isolation-package = ["flash-attn"]
[{0}pip]
no-build-isolation = true
[{0}extra-build-dependencies]
apex = ["torch>=2", {{ requirement = "numpy", match-runtime = true }}, 3]
"""
TOLD = [
    ("no-build-isolation", "flash-attn"),
    ("no-build-isolation", ""),
    ("extra-build-dependencies", "apex torch>=2"),
    ("extra-build-dependencies", "apex numpy"),
]


def test_what_uv_builds_without_isolation_is_told(read_files):
    project = "[project]\nname = 'x'\nversion = '1'\n[tool.uv]\n"
    read = read_files({"pyproject.toml": project + UV_BUILDS.format("tool.uv.")})
    assert [(one.name, one.value) for one in read.options] == TOLD
    read = read_files({"pyproject.toml": f"{project}no-build-isolation = true\n", "uv.toml": UV_BUILDS.format("")})
    assert [(one.name, one.value) for one in read.options] == TOLD
