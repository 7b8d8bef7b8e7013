"""pixi's manifest, alone and in pyproject.toml."""

from __future__ import annotations

from envdoctor.model.project import GroupChoice

TABLES = (
    '[{0}workspace]\nname = "mine"\nchannels = ["conda-forge"]\nplatforms = ["linux-64", "win-64"]\n'
    '[{0}dependencies]\npython = "3.11.*"\nnumpy = ">=1.26"\ncxx-compiler = "*"\n'
    '[{0}pypi-dependencies]\ntorch = {{ version = "==2.4.1", extras = ["opt"] }}\n'
    'near = {{ path = "libs/near", editable = true }}\n'
    '[{0}target.win-64.pypi-dependencies]\npywin32 = "*"\n'
    '[{0}feature.test.dependencies]\npytest = "*"\n'
    '[{0}pypi-options]\nextra-index-urls = ["https://index.example/simple"]\n'
)
NEAR = {"libs/near/pyproject.toml": '[project]\nname = "near"\ndependencies = ["six"]\n'}


def lines(project):
    return [(one.pep508, one.conda) for one in project.requirements]


def test_a_manifest_of_its_own(read_files):
    project = read_files({"pixi.toml": TABLES.format(""), **NEAR})
    windows = 'pywin32 ; sys_platform == "win32" and platform_machine == "AMD64"'
    assert lines(project) == [("numpy>=1.26", True), ("torch[opt]==2.4.1", False), (windows, False), ("six", False)]
    assert (project.name, str(project.environment_python)) == ("mine", "==3.11.*")
    assert [option.url for option in project.index_options] == ["https://index.example/simple"]
    assert [(group.name.name, [one.name for one in group.requirements]) for group in project.groups] == [
        ("test", ["pytest"])
    ]


def test_tables_of_pyproject_count_with_its_own_list(read_files):
    text = '[project]\nname = "x"\ndependencies = ["idna"]\n' + TABLES.format("tool.pixi.")
    linux = {"sys_platform": "linux", "platform_machine": "x86_64", "python_version": "3.11"}
    project = read_files(
        {"pyproject.toml": text, **NEAR}, target_environment=linux, choice=GroupChoice(groups=("test",))
    )
    assert [one.name for one in project.requirements] == ["idna", "numpy", "torch", "pytest", "six"]


def test_it_hides_no_list_beside_it(read_files):
    project = read_files({"pixi.toml": TABLES.format(""), "requirements.txt": "rich\n", **NEAR})
    assert [one.name for one in project.requirements] == ["rich"]
    assert {group.name.name: group.alone for group in project.groups} == {"pixi.toml": True}


def test_what_is_built_without_isolation_is_told(read_files):
    start = "[workspace]\nname = 'x'\nchannels = []\nplatforms = []\n[pypi-dependencies]\na = '*'\n[pypi-options]\n"
    for value, told in (("true", [""]), ("false", []), ("['a', 3]", ["a"])):
        project = read_files({"pixi.toml": f"{start}no-build-isolation = {value}\n"})
        assert [(one.name, one.value) for one in project.options] == [("no-build-isolation", name) for name in told]
