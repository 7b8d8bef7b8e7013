"""A value of another type than it should have is a problem or one message, never an accident."""

from __future__ import annotations

import json
import random
import sys
from typing import Any

import pytest
from test_project_locks import PDM, POETRY_1_8, PYLOCK, UV

from envdoctor.adapters.project import ProjectFileError, read_project
from envdoctor.model.target import Arch, OperatingSystem, Target

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

LINUX = Target(os=OperatingSystem.LINUX, arch=Arch.X86_64, python=(3, 11)).marker_environment()
PYPROJECT = """
[project]
name = "x"
dependencies = ["core", "torch"]
[project.optional-dependencies]
a = ["b"]
[dependency-groups]
t = ["c", { include-group = "t2" }]
t2 = ["d"]
[tool.uv]
override-dependencies = ["p>1"]
no-build = true
no-binary-package = ["q"]
conflicts = [[{ extra = "a" }, { group = "t" }]]
[tool.uv.workspace]
members = ["libs/*"]
exclude = ["z"]
[tool.uv.sources]
core = { workspace = true }
torch = [{ index = "i", extra = "a" }, { path = "x" }, { git = "https://git.example/x", rev = "v" }]
[[tool.uv.index]]
name = "i"
url = "https://index.example"
explicit = true
[tool.hatch.envs.d]
dependencies = ["e"]
[tool.poetry.dependencies]
python = "^3.8"
z = { version = "^1", optional = true }
[tool.poetry.extras]
zz = ["z"]
[tool.pdm.dev-dependencies]
test = ["pytest<8", "-e ./libs/near"]
[[tool.pdm.source]]
name = "pypi"
url = "https://mirror.example"
[tool.pdm.resolution.overrides]
protobuf = "4"
[tool.pixi.pypi-dependencies]
k = { version = "*", extras = ["a"] }
[tool.pixi.feature.f.dependencies]
numpy = "*"
[tool.setuptools.dynamic]
dependencies = { file = ["r.txt"] }
"""
DOCUMENTS = {
    "pyproject.toml": PYPROJECT,
    "uv.lock": UV,
    "poetry.lock": POETRY_1_8,
    "pdm.lock": PDM,
    "pylock.toml": PYLOCK,
}
WRONG = (3, True, "", "x y", [], {}, [1], ["a", 2], {"a": 1}, {"a": {"b": [1]}}, -1.5, "git+x", "==1")


def changed(value: Any, chance: random.Random) -> Any:
    if chance.random() < 0.06:
        return chance.choice(WRONG)
    if isinstance(value, list):
        return [changed(one, chance) for one in value]
    return {key: changed(one, chance) for key, one in value.items()} if isinstance(value, dict) else value


def written(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {written(one)}" for key, one in value.items()) + "}"
    return f"[{', '.join(map(written, value))}]" if isinstance(value, list) else json.dumps(value)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_any_value_may_have_a_wrong_type(tmp_path, name):
    document = tomllib.loads(DOCUMENTS[name])
    for seed in range(150):
        values = {key: changed(value, random.Random(f"{seed}{key}")) for key, value in document.items()}
        text = "\n".join(f"{json.dumps(key)} = {written(value)}" for key, value in values.items())
        (tmp_path / name).write_text(text)
        for path in (tmp_path, tmp_path / name):
            try:
                read_project(path, variables={}, target_environment=LINUX)
            except ProjectFileError as error:  # noqa: PERF203 - each file by itself
                assert "\n" not in str(error)


# A text of a marker may hold a line break, which nothing that is written out may.
BROKEN_MARKER = r"""
[project]
name = "x"
version = "1"
dependencies = ['core; os_name == "a\nb"']
[tool.uv]
override-dependencies = ['core<2; os_name == "a\nb"']
"""


def test_markers_with_a_line_break_are_put_together(tmp_path):
    (tmp_path / "pyproject.toml").write_text(BROKEN_MARKER)
    read = read_project(tmp_path, variables={}, target_environment=LINUX)
    (core,) = read.requirements
    assert str(core.specifier) == "<2"
    assert [core.marker.evaluate({**LINUX, "os_name": name}) for name in ("posix", "a\nb")] == [False, True]


def test_a_version_of_more_digits_than_python_reads_is_not_known(tmp_path):
    (tmp_path / "pyproject.toml").write_text(f"[project]\nname = 'x'\nversion = '{'9' * 5000}'\ndependencies = ['a']\n")
    assert [line.name for line in read_project(tmp_path, variables={}).requirements] == ["a"]
