"""PDM, Hatch, Pipenv and pyenv: groups, indexes, overrides, and the Python of an environment."""

from __future__ import annotations

import pytest

from envdoctor.model.project import GroupChoice, IndexOptionKind

PDM = (
    '[project]\nname = "x"\ndependencies = ["torch"]\n[tool.pdm.dev-dependencies]\n'
    'test = ["pytest<8", "-e file:///${PROJECT_ROOT}/libs/near#egg=near"]\n'
    '[[tool.pdm.source]]\nname = "private"\nurl = "https://index.example/simple"\n'
    '[[tool.pdm.source]]\nname = "pypi"\nurl = "https://mirror.example/simple"\n'
    '[tool.pdm.resolution]\nexcludes = ["never"]\n[tool.pdm.resolution.overrides]\nprotobuf = "4.25.8"\nnumpy = ">=2"\n'
)


def test_pdm(read_files):
    files = {"pyproject.toml": PDM, "libs/near/pyproject.toml": '[project]\nname = "near"\ndependencies = ["six"]\n'}
    project = read_files(files)
    assert [one.name for one in project.requirements] == ["torch"]
    assert [[one.name for one in group.requirements] for group in project.groups] == [["pytest", "six"]]
    assert [(option.kind, option.url) for option in project.index_options] == [
        (IndexOptionKind.EXTRA_INDEX_URL, "https://index.example/simple"),
        (IndexOptionKind.INDEX_URL, "https://mirror.example/simple"),
    ]
    assert [one.pep508 for one in project.overrides] == [
        "protobuf==4.25.8",
        "numpy>=2",
        'never ; python_version < "0"',
    ]


def test_environments_of_hatch_are_groups(read_files):
    text = (
        '[project]\nname = "x"\ndependencies = []\n[tool.hatch.envs.docs]\ndependencies = ["mkdocs", "{root:uri}"]\n'
        'extra-dependencies = ["ruff"]\n[tool.hatch.envs.empty]\npython = "3.12"\n'
    )
    project = read_files({"pyproject.toml": text}, choice=GroupChoice(groups=("docs",)))
    assert [one.name for one in project.requirements] == ["mkdocs", "ruff"]


def test_the_python_of_a_pipfile_is_what_the_project_runs_on(read_files):
    project = read_files({"Pipfile": '[packages]\ntorch = "*"\n[requires]\npython_version = "3.10"\n'})
    assert (str(project.environment_python), str(project.requires_python)) == ("==3.10.*", "==3.10.*")


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("3.11\n", "==3.11.*"),
        ("# pinned\n3.11.7\n3.10\n", "==3.11.7"),
        ("cpython-3.12.1\n", "==3.12.1"),
        ("my-env\n", "None"),
        ("pypy3.10\n", "None"),
    ],
)
def test_python_version_names_the_python_and_binds_nothing(read_files, text, wanted):
    project = read_files({".git/HEAD": "", ".python-version": text, "app/requirements.txt": "torch\n"}, at="app")
    assert (str(project.environment_python), project.requires_python) == (wanted, None)


def test_a_conda_file_knows_better_than_python_version(read_files):
    files = {"environment.yml": "dependencies:\n- python=3.10\n- numpy\n", ".python-version": "3.12\n"}
    assert str(read_files(files).environment_python) == "==3.10.*"
