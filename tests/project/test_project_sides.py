"""Which of a project's files and lists decide, which stand beside them, and what is only named."""

from __future__ import annotations

import pytest

from envdoctor.adapters.project import ProjectFileError, read_project
from envdoctor.adapters.project.sources import CheckoutSources
from envdoctor.diagnose.engine import examine
from envdoctor.diagnose.examination import Examination
from envdoctor.model.finding import Command, Evidence, Remedy
from envdoctor.model.project import GroupChoice, LeftOut, ReadingProblemKind
from envdoctor.model.requirement import GroupKind, GroupName
from envdoctor.model.resolution import Resolution

PYPROJECT = (
    '[project]\nname = "mine"\nversion = "1"\ndependencies = ["torch"]\n[project.optional-dependencies]\n'
    'cli = ["click<8"]\nweb = ["bad==1."]\n[dependency-groups]\ntest = ["pytest<7"]\n'
)
CLI, TEST = GroupName(GroupKind.EXTRA, "cli"), GroupName(GroupKind.GROUP, "test")


def asked(project):
    return [(one.name, one.origin.path) for one in project.requirements]


def apart(project):
    return {group.name.name: [one.name for one in group.requirements] for group in project.groups}


def test_extras_and_groups_that_nobody_asked_for_stand_apart(read_files):
    project = read_files({"pyproject.toml": PYPROJECT})
    assert asked(project) == [("torch", "pyproject.toml")]
    assert apart(project) == {"cli": ["click"], "test": ["pytest"]}
    (problem,) = project.problems
    assert (problem.kind, problem.group) == (
        ReadingProblemKind.INVALID_REQUIREMENT,
        GroupName(GroupKind.EXTRA, "web"),
    )
    assert not project.unread


@pytest.mark.parametrize(
    ("choice", "names", "groups"),
    [
        (GroupChoice(extras=("CLI",)), ["torch", "click"], (CLI,)),
        (GroupChoice(groups=("test",)), ["torch", "pytest"], (TEST,)),
        (GroupChoice(all_groups=True), ["torch", "pytest"], (TEST,)),
        (GroupChoice(only=("test",)), ["pytest"], (TEST,)),
        (GroupChoice(either=("cli", "test")), ["torch", "click", "pytest"], (CLI, TEST)),
    ],
)
def test_what_is_asked_for_decides(read_files, choice, names, groups):
    project = read_files({"pyproject.toml": PYPROJECT, "requirements.txt": ""}, choice=choice)
    assert [one.name for one in project.requirements] == names
    assert project.asked == groups
    assert not {name.name for name in groups} & set(apart(project))


@pytest.mark.parametrize("choice", [GroupChoice(extras=("test",)), GroupChoice(groups=("cli",))])
def test_an_extra_is_no_group(read_files, choice):
    with pytest.raises(ProjectFileError, match="there is no"):
        read_files({"pyproject.toml": PYPROJECT}, choice=choice)


def test_pyproject_and_the_list_beside_it_both_count(read_files):
    project = read_files({"pyproject.toml": PYPROJECT, "requirements.txt": "torchaudio==2.4.1\n"})
    assert asked(project) == [("torch", "pyproject.toml"), ("torchaudio", "requirements.txt")]


def test_a_file_of_another_tool_hides_no_list(read_files):
    files = {
        "environment.yaml": "name: x\ndependencies:\n  - python=3.10\n  - packaging\n",
        "requirements_versions.txt": "numpy==1.26.4\n",
        "requirements-dev.txt": "-r requirements_versions.txt\npytest\n",
        "requirements-rocm.txt": "torch\n",
    }
    project = read_files(files)
    assert asked(project) == [("numpy", "requirements_versions.txt"), ("torch", "requirements-rocm.txt")]
    assert apart(project) == {"environment.yaml": ["packaging"], "requirements-dev.txt": ["numpy", "pytest"]}
    assert {group.name.name: group.alone for group in project.groups} == {
        "environment.yaml": True,
        "requirements-dev.txt": False,
    }
    assert (str(project.environment_python), project.requires_python) == ("==3.10.*", None)


def test_a_script_does_not_beat_the_metadata(read_files):
    files = {"pyproject.toml": PYPROJECT, "install.sh": "pip install torch==1.0 $UNKNOWN\n"}
    project = read_files(files, target_environment={"sys_platform": "linux"})
    assert asked(project) == [("torch", "pyproject.toml")]
    assert [(one.path, one.reason) for one in project.left_out] == [("install.sh", LeftOut.SCRIPT)]


def test_a_project_inside_the_project_is_named(read_files):
    files = {
        "requirements.txt": "torch\n",
        "Dockerfile": "RUN pip install -r backend/requirements.txt\n",
        "backend/requirements.txt": "fastapi\n",
        "models/x/pyproject.toml": '[project]\nname = "x"\n',
        "lib/pyproject.toml": "[tool.ruff]\n",
        ".venv/lib/requirements.txt": "never\n",
    }
    project = read_files(files)
    assert {one.path: one.reason for one in project.left_out} == {
        "Dockerfile": LeftOut.IMAGE,
        "backend/requirements.txt": LeftOut.NESTED,
        "models/x/pyproject.toml": LeftOut.NESTED,
    }


def test_a_side_file_that_cannot_be_read_does_not_end_the_reading(read_files):
    project = read_files({"requirements.txt": "torch\n", "environment.yml": "services:\n  web: 1\n"})
    assert [(one.path, one.reason) for one in project.left_out] == [("environment.yml", LeftOut.UNREADABLE)]
    assert asked(project) == [("torch", "requirements.txt")]


ROOT = (
    '[project]\nname = "app"\nversion = "1"\ndependencies = ["core[fast]>=1"]\n'
    '[tool.uv.workspace]\nmembers = ["libs/*"]\nexclude = ["libs/old"]\n'
    "[tool.uv.sources]\ncore = { workspace = true }\n"
)
CORE = (
    '[project]\nname = "core"\nversion = "1"\ndependencies = ["idna==3.7", "util"]\n'
    '[project.optional-dependencies]\nfast = ["numpy"]\n'
)


def test_members_of_a_workspace_are_read_where_they_lie(read_files):
    files = {
        "pyproject.toml": ROOT,
        "libs/core/pyproject.toml": CORE,
        "libs/util/pyproject.toml": '[project]\nname = "util"\ndependencies = ["six"]\n',
        "libs/old/pyproject.toml": '[project]\nname = "old"\ndependencies = ["never"]\n',
    }
    project = read_files(files)
    assert sorted(one.name for one in project.requirements) == ["idna", "numpy", "six"]
    assert not project.problems
    member = read_files(files, at="libs/core")
    assert sorted(one.name for one in member.requirements) == ["idna", "six"]


def test_a_member_that_is_not_there_is_not_looked_up_elsewhere(read_files):
    project = read_files({"pyproject.toml": ROOT})
    assert not project.requirements
    assert [(one.kind, one.origin.line) for one in project.problems] == [(ReadingProblemKind.MISSING_FILE, 4)]


def test_sources_of_uv_count_for_the_list_that_they_name(read_files):
    text = (
        '[project]\nname = "x"\ndependencies = ["torch==2.8.0", "near"]\n'
        '[project.optional-dependencies]\ncpu = ["torch==2.8.0"]\ncu = ["torch==2.8.0"]\n'
        '[tool.uv.sources]\ntorch = [{ index = "c", extra = "cpu" }, { index = "g", extra = "cu" }]\n'
        'near = { path = "../near" }\n'
        '[[tool.uv.index]]\nname = "c"\nurl = "https://index.example/cpu"\nexplicit = true\n'
        '[[tool.uv.index]]\nname = "g"\nurl = "https://index.example/cu"\nexplicit = true\n'
    )
    files = {"app/pyproject.toml": text, "near/pyproject.toml": '[project]\nname = "near"\ndependencies = ["six"]\n'}
    project = read_files({**files, ".git/HEAD": ""}, at="app")
    assert [(one.name, one.index_url) for one in project.requirements] == [("torch", None), ("six", None)]
    urls = {group.name.name: group.requirements[0].index_url for group in project.groups}
    assert urls == {"cpu": "https://index.example/cpu", "cu": "https://index.example/cu"}
    asked_for = read_files({}, at="app", choice=GroupChoice(extras=("cpu",)))
    assert [one.index_url for one in asked_for.requirements if one.name == "torch"] == [
        None,
        "https://index.example/cpu",
    ]


@pytest.mark.parametrize(
    "line",
    [
        "certifi @ file:///croot/certifi_1707/build/certifi",
        "numpy @ file:///croot/build/dist/numpy-1.26.4-cp311-cp311-linux_x86_64.whl#sha256=00",
        "file:///home/somebody/project/idna-3.7-py3-none-any.whl",
    ],
)
def test_a_path_of_another_machine_is_an_error_and_its_name_stays(read_files, line):
    project = read_files({"requirements.txt": f"{line}\nrequests\n"})
    assert [(one.kind, one.origin.line) for one in project.problems] == [(ReadingProblemKind.MISSING_FILE, 1)]
    assert [one.url for one in project.requirements] == [None, None]


def test_a_file_url_of_the_project_is_read(read_files, tmp_path):
    text = (
        '[project]\nname = "x"\ndependencies = ["near @ file:///${PROJECT_ROOT}/libs/near"]\n'
        f'[project.optional-dependencies]\nfar = ["near @ {(tmp_path / "libs/near").as_uri()}"]\n'
    )
    files = {"pyproject.toml": text, "libs/near/pyproject.toml": '[project]\nname = "near"\ndependencies = ["six"]\n'}
    project = read_files(files)
    assert [one.name for one in project.requirements] == ["six"]
    assert apart(project) == {"far": ["six"]}


def test_what_was_not_read_and_what_an_extra_brings_are_told_by_the_command(tmp_path):
    (tmp_path / "pyproject.toml").write_text(PYPROJECT.replace("bad==1.", "bad"))
    (tmp_path / "Dockerfile").write_text("RUN pip install torch\n")
    (tmp_path / "app.py").write_text("import never_declared\n")
    (tmp_path / "cli.py").write_text("import click\n")
    sources = CheckoutSources(tmp_path)
    project = read_project(tmp_path, variables={})
    found = examine(Examination(project=project, sources=sources, resolution=Resolution(()), archives=NoArchives()))
    (finding,) = [item for item in found if item.rule == "RES017"]
    assert finding.message == "`Dockerfile` was not read: this report says nothing of it"
    assert finding.evidence == (Evidence("says how an image is built", "Dockerfile"),)
    assert finding.remedy == Remedy("judge it by itself", commands=(Command("check", file="Dockerfile"),))
    assert [item.subject for item in found if item.rule == "SRC001"] == ["never-declared"]


def test_the_lines_of_a_script_that_are_not_judged_are_told_by_the_command(tmp_path):
    (tmp_path / "a.sh").write_text("if x; then pip install one; else pip install two; fi\n")
    project = read_project(tmp_path / "a.sh", variables={})
    (finding,) = [item for item in examine(Examination(project=project)) if item.rule == "RES017"]
    assert finding.message == "`a.sh:1` was not judged: other lines of the script run in its place"
    assert finding.remedy is None


class NoArchives:
    """Archives that hold nothing."""

    def names(self, file):
        return ()

    def read(self, file, member):
        return None


def test_all_members_of_a_workspace_are_judged_with_its_root(read_files):
    files = {
        "pyproject.toml": '[tool.uv.workspace]\nmembers = ["packages/*"]\n',
        "packages/a/pyproject.toml": '[project]\nname = "a"\ndependencies = ["idna==3.7", "b"]\n',
        "packages/b/pyproject.toml": '[project]\nname = "b"\ndependencies = ["idna==3.6"]\n',
    }
    project = read_files(files)
    assert sorted(one.pep508 for one in project.requirements) == ["idna==3.6", "idna==3.7"]
    assert not project.left_out
    assert [one.pep508 for one in read_files(files, at="packages/b").requirements] == ["idna==3.6"]


def test_what_asks_for_nothing_was_not_judged(read_files):
    assert read_files({"requirements.txt": "# nothing\n"}).unread
    assert not read_files({"pyproject.toml": '[project]\nname = "a"\n', "requirements.txt": ""}).unread


def test_environments_of_uv_are_kept(read_files):
    text = '[project]\nname = "x"\n[tool.uv]\nenvironments = ["sys_platform == \'linux\'", "no marker"]\n'
    project = read_files({"pyproject.toml": text})
    assert [(str(marker), origin.line) for marker, origin in project.environments] == [('sys_platform == "linux"', 4)]
    assert ["must be a marker" in problem.message for problem in project.problems] == [True]


OUR_LOCK = (
    'lock-version = "1.0"\ncreated-by = "envdoctor 0.1"\n[[packages]]\nname = "idna"\nversion = "3.7"\n'
    '[tool.envdoctor.target]\nos = "linux"\n'
)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("Dockerfile", "FROM python\nRUN pip install torch\n"),
        ("start.sh", "pip install torch\n"),
        ("go.bat", "pip install torch\n"),
        ("a.ipynb", '{"cells": [{"cell_type": "code", "source": ["%pip install torch"]}]}'),
    ],
)
@pytest.mark.parametrize("whose", ["the project", "profile project"])
def test_our_own_lock_does_not_hide_what_it_was_made_of(read_files, name, text, whose):
    constraints = f"# Constraints of {whose}: pip install -c constraints.project.txt ...\nidna==3.7\n"
    project = read_files({name: text, "pylock.toml": OUR_LOCK, "constraints.project.txt": constraints})
    assert asked(project) == [("torch", name)]
    assert project.left_out == ()


def test_our_own_lock_alone_is_read(read_files):
    assert asked(read_files({"pylock.toml": OUR_LOCK})) == [("idna", "pylock.toml")]


def test_constraints_that_no_lock_of_ours_wrote_are_named(read_files):
    project = read_files({"requirements.txt": "torch\n", "constraints.cuda.txt": "idna==3.7\n"})
    assert [one.path for one in project.left_out] == ["constraints.cuda.txt"]


@pytest.mark.parametrize("extra", ['["six"]', "[]"])
def test_a_list_for_developers_does_not_decide_beside_an_extra_that_is_asked_for(read_files, extra):
    text = f'[build-system]\nrequires = []\n[project]\nname = "x"\ndynamic = []\noptional-dependencies.gpu = {extra}\n'
    files = {"pyproject.toml": text, "requirements-dev.txt": "idna\n"}
    for choice in (GroupChoice(extras=("gpu",)), GroupChoice()):
        project = read_files(files, choice=choice)
        assert "idna" not in [line.name for line in project.requirements]
        assert apart(project)["requirements-dev.txt"] == ["idna"]


def test_a_list_for_developers_decides_where_nothing_else_says_anything(read_files):
    project = read_files({"requirements-dev.txt": "idna\n", "pyproject.toml": "[tool.ruff]\n"})
    assert asked(project) == [("idna", "requirements-dev.txt")]


def test_extras_of_a_member_of_the_workspace_are_read_apart(read_files):
    root = '[project]\nname = "root"\ndependencies = ["torch"]\n[tool.uv.workspace]\nmembers = ["part/*"]\n'
    core = (
        '[project]\nname = "core"\ndependencies = ["six"]\n[project.optional-dependencies]\ngpu = ["cupy"]\n'
        'all = ["core[gpu]", "tqdm"]\n'
        '[dependency-groups]\ndev = ["pytest"]\n'
    )
    project = read_files({"pyproject.toml": root, "part/core/pyproject.toml": core})
    assert [line.name for line in project.requirements] == ["torch", "six"]
    assert project.left_out == ()
    assert {str(one.name): [line.name for line in one.requirements] for one in project.groups} == {
        "extra `gpu` of `part/core`": ["cupy"],
        "extra `all` of `part/core`": ["tqdm", "cupy"],
        "group `dev` of `part/core`": ["pytest"],
    }


def test_an_extra_of_a_member_that_a_line_asks_for_decides_and_its_others_do_not(read_files):
    root = (
        '[project]\nname = "root"\ndependencies = ["core[gpu]"]\noptional-dependencies.gpu = ["idna"]\n'
        '[tool.uv.workspace]\nmembers = ["part/*"]\n'
    )
    core = '[project]\nname = "core"\noptional-dependencies = { gpu = ["cupy"], cpu = ["six"] }\n'
    project = read_files(
        {"pyproject.toml": root, "part/core/pyproject.toml": core}, choice=GroupChoice(extras=("gpu",))
    )
    assert sorted(line.name for line in project.requirements) == ["cupy", "idna"]
    assert [(one.name.of, one.name.name) for one in project.groups] == [("part/core", "cpu")]
    assert [str(name) for name in project.asked] == ["extra `gpu`"]


def test_what_lies_beside_the_files_that_are_named_in_their_place_is_named(read_files):
    names = ("requirements.txt", "demo-requirements.txt", "environment.yml", "part/requirements.txt", "constraints.txt")
    files = {name: "name: x\n" if name.endswith("yml") else "six\n" for name in names}
    own = {"constraints.mine.txt": "# Constraints of profile mine\n", "pylock.toml": "[tool.envdoctor]\n"}
    project = read_files({**files, **own, "named.txt": "idna\n"}, files=["named.txt"])
    assert [line.name for line in project.requirements] == ["idna"]
    assert {one.path: one.reason for one in project.left_out} == {
        **dict.fromkeys(names, LeftOut.OTHERS_NAMED),
        "part/requirements.txt": LeftOut.NESTED,
    }


def test_a_large_lock_of_ours_is_no_other_tools(read_files):
    lock = "lock-version = '1.0'\n" + "# a\n" * 300_000 + "[tool.envdoctor.target]\nos = 'linux'\n"
    project = read_files({"requirements.txt": "six\n", "named.txt": "idna\n", "pylock.toml": lock}, files=["named.txt"])
    assert [one.path for one in project.left_out] == ["requirements.txt"]
