"""Locks of uv, Poetry and PDM, pylock.toml, and notebooks as input."""

from __future__ import annotations

import json

import pytest

from envdoctor.adapters.project import ProjectFileError, file_names, locks
from envdoctor.adapters.project.sources import open_sources
from envdoctor.model.project import LeftOut, ReadingProblemKind
from envdoctor.model.target import Arch, OperatingSystem, Target

LINUX = Target(os=OperatingSystem.LINUX, arch=Arch.X86_64, python=(3, 11)).marker_environment()
UV = """
version = 1
requires-python = ">=3.10"
[[package]]
name = "app"
version = "1"
source = { editable = "." }
dependencies = [
  { name = "requests", extra = ["socks"] },
  { name = "pywin32", marker = "sys_platform == 'win32'" },
  { name = "numpy", version = "1.26.4", source = { registry = "x" }, marker = "python_full_version < '3.12'" },
  { name = "numpy", version = "2.1.0", source = { registry = "x" }, marker = "python_full_version >= '3.12'" },
]
[package.dev-dependencies]
dev = [{ name = "pytest" }]
[[package]]
name = "requests"
version = "2.32.0"
source = { registry = "x" }
dependencies = [{ name = "idna" }]
[package.optional-dependencies]
socks = [{ name = "pysocks" }]
[[package]]
name = "idna"
version = "3.7"
source = { registry = "x" }
[[package]]
name = "pysocks"
version = "1.7.1"
source = { git = "https://git.example/pysocks" }
[[package]]
name = "pywin32"
version = "306"
source = { registry = "x" }
[[package]]
name = "numpy"
version = "1.26.4"
source = { registry = "x" }
[[package]]
name = "numpy"
version = "2.1.0"
source = { registry = "x" }
[[package]]
name = "pytest"
version = "8.0"
source = { registry = "x" }
"""
POETRY = """
[[package]]
name = "idna"
version = "3.7"
optional = false
groups = ["main"]
[[package]]
name = "pytest"
version = "8.0"
optional = false
groups = ["dev"]
[[package]]
name = "pywin32"
version = "306"
optional = false
groups = ["main", "dev"]
markers = {main = "sys_platform == 'win32'"}
"""
POETRY_1_8 = """
[[package]]
name = "requests"
version = "2.32.0"
optional = false
[package.dependencies]
idna = ">=2"
pysocks = {version = ">=1", optional = true, markers = "extra == 'socks'"}
[[package]]
name = "idna"
version = "3.7"
optional = false
[[package]]
name = "pytest"
version = "8.0"
optional = false
"""
PDM = """
[[package]]
name = "idna"
version = "3.7"
groups = ["default"]
[[package]]
name = "pywin32"
version = "306"
groups = ["default"]
marker = "sys_platform == 'win32'"
[[package]]
name = "idna"
version = "3.7"
extras = ["all"]
groups = ["default"]
[[package]]
name = "pytest"
version = "8.0"
groups = ["dev"]
"""
PYLOCK = """
lock-version = "1.0"
created-by = "somebody"
[[packages]]
name = "idna"
version = "3.7"
[[packages]]
name = "pywin32"
version = "306"
marker = "sys_platform == 'win32'"
[[packages]]
name = "near"
directory = { path = "." }
"""
PIPFILE = """{"_meta": {}, "default": {"idna": {"version": "==3.7"},
"pywin32": {"version": "==306", "markers": "sys_platform == 'win32'"}}, "develop": {"pytest": {"version": "==8"}}}
"""
PYPROJECT = '[project]\nname = "app"\ndependencies = ["requests"]\n'


@pytest.mark.parametrize(
    ("name", "text", "pins"),
    [
        ("uv.lock", UV, ["requests==2.32.0", "idna==3.7", "numpy==1.26.4"]),
        ("poetry.lock", POETRY, ["idna==3.7"]),
        ("poetry.lock", POETRY_1_8, ["requests==2.32.0", "idna==3.7"]),
        ("pdm.lock", PDM, ["idna==3.7"]),
        ("Pipfile.lock", PIPFILE, ["idna==3.7"]),
        ("pylock.toml", PYLOCK, ["idna==3.7"]),
    ],
)
def test_what_a_lock_pins_for_the_target_stands_beside_the_list(read_files, name, text, pins):
    project = read_files({"pyproject.toml": PYPROJECT, name: text}, target_environment=LINUX)
    assert [one.pep508 for one in project.requirements] == ["requests"]
    (group,) = project.groups
    assert (group.name.name, group.alone, [one.pep508 for one in group.requirements]) == (name, False, pins)


def test_a_lock_that_is_asked_for_decides(read_files):
    project = read_files({"uv.lock": UV}, at="uv.lock", target_environment=LINUX)
    assert [str(one.origin) for one in project.requirements] == ["uv.lock:16", "uv.lock:23", "uv.lock:35"]
    assert str(project.requires_python) == ">=3.10"
    alone = read_files({"poetry.lock": POETRY}, at="poetry.lock", target_environment=LINUX)
    assert [one.name for one in alone.requirements] == ["idna"]


FORK = """
version = 1
[manifest]
overrides = [{ name = "protobuf", specifier = ">=3.20,<6" }, { name = "six", marker = "sys_platform == 'never'" }]
[[package]]
name = "app"
version = "1"
source = { virtual = "." }
dependencies = [
  { name = "torch", version = "2.8.0", source = { registry = "x" }, marker = "sys_platform == 'linux'" },
  { name = "torch", version = "2.8.0", source = { registry = "y" }, marker = "sys_platform == 'darwin'" },
  { name = "protobuf" },
]
[[package]]
name = "torch"
version = "2.8.0"
source = { registry = "y" }
resolution-markers = ["sys_platform == 'darwin'"]
[[package]]
name = "torch"
version = "2.8.0"
source = { registry = "x" }
resolution-markers = ["sys_platform == 'linux'"]
[[package]]
name = "protobuf"
version = "5.29.6"
source = { registry = "x" }
"""


def test_of_one_version_from_two_indexes_the_fork_of_the_target_counts(read_files):
    project = read_files({"uv.lock": FORK}, at="uv.lock", target_environment=LINUX)
    assert [(one.pep508, str(one.origin)) for one in project.requirements] == [
        ("torch==2.8.0", "uv.lock:19"),
        ("protobuf==5.29.6", "uv.lock:24"),
    ]


def test_a_build_with_a_label_is_looked_up_where_it_was_locked_from(read_files):
    index = "https://index.example/whl/cu128"
    text = FORK.replace('"2.8.0"', '"2.8.0+cu128"').replace('registry = "x"', f'registry = "{index}"')
    project = read_files({"uv.lock": text}, at="uv.lock", target_environment=LINUX)
    assert [(one.name, one.index_url) for one in project.requirements] == [("torch", index), ("protobuf", None)]


def test_what_uv_overrode_is_no_demand_of_a_lock_by_itself(read_files):
    project = read_files({"uv.lock": FORK}, at="uv.lock", target_environment=LINUX)
    assert [one.pep508 for one in project.overrides] == ["protobuf==5.29.6"]
    beside = read_files({"pyproject.toml": PYPROJECT, "uv.lock": FORK}, target_environment=LINUX)
    assert beside.overrides == ()


def test_a_lock_of_our_own_is_no_list(read_files):
    text = PYLOCK + '[tool.envdoctor]\nprofile = "x"\n'
    project = read_files({"pyproject.toml": PYPROJECT, "pylock.toml": text}, target_environment=LINUX)
    assert not project.groups


def test_a_lock_that_is_none(read_files):
    (problem,) = read_files({"uv.lock": "version = 1\n"}, at="uv.lock").problems
    assert problem.kind is ReadingProblemKind.EMPTY
    with pytest.raises(ProjectFileError, match="invalid TOML"):
        read_files({"uv.lock": "<<<<<<< HEAD\n"}, at="uv.lock")


@pytest.mark.parametrize(
    ("name", "text", "known", "later"),
    [
        ("pylock.toml", 'lock-version = {}\n[[packages]]\nname = "idna"\nversion = "3"\n', '"1.9"', '"2.0"'),
        ("uv.lock", 'version = {}\n[[package]]\nname = "idna"\nversion = "3"\n', "1", "2"),
        ("poetry.lock", '[[package]]\nname = "idna"\nversion = "3"\n[metadata]\nlock-version = {}\n', '"2.1"', '"3.0"'),
        ("pdm.lock", '[[package]]\nname = "idna"\nversion = "3"\n[metadata]\nlock_version = {}\n', '"4.5.0"', '"5.0"'),
    ],
)
def test_a_lock_of_a_version_that_nobody_knows_yet_is_named(read_files, name, text, known, later):
    for version in (known, later, "{}", "true"):
        problems = read_files({name: text.replace("{}", version, 1)}, at=name).problems
        told = [one.message for one in problems if one.kind is ReadingProblemKind.UNREAD]
        assert bool(told) == (version != known)
        assert all("which is not known here" in one for one in told)


NOTEBOOK = {
    "cells": [
        {"cell_type": "markdown", "source": ["!pip install notthis\n"]},
        {
            "cell_type": "code",
            "source": [
                "%pip install -q torch==2.4.1\n",
                '!pip install "numpy<2" {extra} && echo ok\n',
                "import torch\n",
                "# !pip install old\n",
            ],
        },
        {"cell_type": "code", "source": "%%bash\npip install einops\n"},
    ],
    "nbformat": 4,
}


def test_install_lines_of_a_notebook(read_files, tmp_path):
    text = json.dumps(NOTEBOOK, indent=1)
    project = read_files({"x.ipynb": text}, at="x.ipynb")
    assert [one.name for one in project.requirements] == ["torch", "numpy", "einops"]
    lines = text.splitlines()
    first = project.requirements[0].origin.line
    assert "torch==2.4.1" in lines[first - 1]
    assert [one.kind for one in project.problems] == [ReadingProblemKind.UNREAD]
    (source,) = open_sources(tmp_path / "x.ipynb").python_files()
    assert [line for line in source.text.splitlines() if line] == ["import torch", "# !pip install old"]


def test_a_notebook_beside_a_list_is_named(read_files):
    project = read_files({"requirements.txt": "torch\n", "x.ipynb": json.dumps(NOTEBOOK)})
    assert [(one.path, one.reason) for one in project.left_out] == [("x.ipynb", LeftOut.NOTEBOOK)]


@pytest.mark.parametrize("text", ["{}", "[]", '{"cells": 3}', "not json", '{"cells": []}'])
def test_what_is_no_notebook_is_refused(read_files, text):
    with pytest.raises(ProjectFileError):
        read_files({"x.ipynb": text}, at="x.ipynb")


HASH = "sha256:" + "a" * 64
OTHER = "sha256:" + "b" * 64
FILES = f'files = [{{ hash = "{HASH}" }}, {{ hash = "{OTHER}" }}]\n'
WITH_HASHES = {
    "uv.lock": f"""
[[package]]
name = "a"
version = "1"
source = {{ registry = "x" }}
sdist = {{ hash = "{OTHER}" }}
wheels = [{{ hash = "{HASH}" }}]
[[package]]
name = "app"
source = {{ virtual = "." }}
dependencies = [{{ name = "a" }}]
""",
    "poetry.lock": f'[[package]]\nname = "a"\nversion = "1"\n{FILES}',
    "pdm.lock": f'[[package]]\nname = "a"\nversion = "1"\n{FILES}',
    "Pipfile.lock": json.dumps({"default": {"a": {"version": "==1", "hashes": [HASH, OTHER]}}}),
    "pylock.toml": f"""
[[packages]]
name = "a"
version = "1"
sdist = {{ hashes = {{ sha256 = "{OTHER[7:]}" }} }}
wheels = [{{ hashes = {{ sha256 = "{HASH[7:]}" }} }}]
""",
}
OLD_POETRY = f"""[[package]]
name = "a"
version = "1"
[metadata.files]
a = [{{ hash = "{HASH}" }}, {{ hash = "{OTHER}" }}]
"""


@pytest.mark.parametrize(("name", "text"), [*WITH_HASHES.items(), ("poetry.lock", OLD_POETRY)])
def test_a_pin_has_the_hashes_of_the_files_that_are_locked(name, text, read_files):
    project = read_files({name: text}, at=name)
    (pin,) = project.requirements
    assert sorted(pin.hashes) == [HASH, OTHER]
    assert project.lock_of(pin) == name


def test_what_an_override_leaves_out_of_a_lock_is_known_to_it(read_files):
    project = read_files({"uv.lock": UV + '[manifest]\noverrides = [{ name = "brotli" }]\n'}, at="uv.lock")
    assert {"brotli", "app", "pytest"} <= project.locked["uv.lock"]


A = 'name = "a"\nversion = "2"\n'


@pytest.mark.parametrize(
    ("name", "entry", "said"),
    [
        ("uv.lock", 'name = "a"\nsource = { registry = "x" }', "`package[1]` (`a`) has no `version`"),
        ("uv.lock", 'name = "a"\nversion = 2', "`package[1]` (`a`) has a `version` that is not a text"),
        ("uv.lock", 'name = "a"\nversion = "2"\nwheels = "w"', "`package[1]` (`a`) has a `wheels` that is not a list"),
        ("poetry.lock", 'version = "2"', "`package[1]` has no `name`"),
        ("poetry.lock", 'name = 3\nversion = "2"', "`package[1]` has a `name` that is not a text"),
        ("uv.lock", 'name = "a"\nsource = { virtual = "a" }', ""),
        (
            "uv.lock",
            f'{A}dependencies = [{{ name = "ghost" }}]',
            "`package[1]` (`a`) is not whole: `dependencies[0]` asks for `ghost`, which the lock does not have",
        ),
        (
            "uv.lock",
            f'{A}dependencies = [{{ name = "b" }}, "b"]',
            "`package[1]` (`a`) is not whole: `dependencies[1]` is not a table",
        ),
        (
            "uv.lock",
            f"{A}optional-dependencies = {{ x = [{{ version = '1' }}] }}",
            "`package[1]` (`a`) is not whole: `optional-dependencies.x[0]` has no `name`",
        ),
        (
            "uv.lock",
            f'{A}dependencies = [{{ name = "b", marker = "python >" }}]',
            "`package[1]` (`a`) is not whole: `dependencies[0]` has a `marker` that cannot be read",
        ),
        ("uv.lock", f'{A}dependencies = "b"', "`package[1]` (`a`) has a `dependencies` that is not a list"),
        ("uv.lock", f"{A}dependencies = [{{ name = 'b', marker = \"extra == 'extra-1-p-x'\" }}]", ""),
        ("poetry.lock", f"{A}dependencies = ['b']", "`package[1]` (`a`) has a `dependencies` that is not a table"),
        (
            "poetry.lock",
            f"{A}dependencies = {{ b = {{ version = '1', markers = 3 }} }}",
            "`package[1]` (`a`) depends on `b` with an entry that has a `markers` that is not a text",
        ),
        ("poetry.lock", f"{A}dependencies = {{ b = ['1', {{ version = '2', markers = 'os_name == \"nt\"' }}] }}", ""),
        ("pdm.lock", f"{A}marker = 'python_version >'", "`package[1]` (`a`) has a `marker` that cannot be read"),
    ],
)
def test_a_damaged_lock_beside_a_project_is_named_with_the_reason(name: str, entry: str, said: str, read_files) -> None:
    text = f'version = 1\n[[package]]\nname = "b"\nversion = "1"\n[[package]]\n{entry}\n'
    project = read_files({"pyproject.toml": '[project]\nname = "p"\nversion = "1"\n', name: text})
    problems = [one for one in project.problems if "damaged" in one.message]
    assert [one.message for one in problems] == ([f"`{name}` is damaged: {said}; they are not read"] if said else [])
    assert all((one.origin.path, one.origin.line) == (name, 5) for one in problems)


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ("==1", "is not a table"),
        ({"hashes": []}, "has no `version`"),
        ({"version": 1}, "has a `version` that is not a text"),
        ({"version": "==1", "hashes": "sha256:0"}, "has a `hashes` that is not a list"),
        ({"version": "==1", "markers": "python >"}, "has a `markers` that cannot be read"),
        ({"git": "https://git.example/a", "ref": "0"}, ""),
        ({"version": "==1", "markers": "python_version >= '3.8'"}, ""),
    ],
)
def test_a_damaged_package_of_pipenv_s_lock_is_named_with_the_reason(entry: object, said: str, read_files) -> None:
    text = json.dumps({"default": {"b": {"version": "==1"}, "a": entry}}, indent=1)
    project = read_files({"pyproject.toml": '[project]\nname = "p"\nversion = "1"\n', "Pipfile.lock": text})
    problems = [one for one in project.problems if "damaged" in one.message]
    assert [one.message for one in problems] == (
        [f"`Pipfile.lock` is damaged: `a` {said}; they are not read"] if said else []
    )
    assert all(one.origin.line == 6 for one in problems)


def test_the_keys_of_every_lock_are_known() -> None:
    assert {name.lower() for name in locks._SHAPES} == {*file_names._LOCKS, "pylock.toml"}
