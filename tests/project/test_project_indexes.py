"""Where the tables of uv, PDM, Poetry and Pipenv say that packages come from."""

from __future__ import annotations

from pathlib import Path

import pytest

from envdoctor.adapters.index.project_indexes import indexes_of
from envdoctor.adapters.project import read_project
from envdoctor.model.index_url import mirror_variable
from envdoctor.model.project import ReadingProblemKind

_PROJECT = '[project]\nname = "x"\nversion = "1"\ndependencies = ["our-kit", "six"]\n'


def _options(folder: Path, files: dict[str, str], **variables: str) -> list[tuple[str, str, str]]:
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    project = read_project(folder, variables=variables)
    return [(option.kind.value, option.url, str(option.origin)) for option in project.index_options]


def test_uv_takes_pips_words_and_flat_pages(tmp_path: Path) -> None:
    table = (
        '[tool.uv]\nindex-url = "https://main.example/simple"\nextra-index-url = ["https://a.example/simple"]\n'
        'find-links = ["wheels"]\n[[tool.uv.index]]\nurl = "https://f.example/files"\nformat = "flat"\n'
    )
    assert _options(tmp_path, {"pyproject.toml": _PROJECT + table}) == [
        ("find-links", "https://f.example/files", "pyproject.toml:9"),
        ("index-url", "https://main.example/simple", "pyproject.toml:6"),
        ("extra-index-url", "https://a.example/simple", "pyproject.toml:7"),
        ("find-links", "wheels", "pyproject.toml:8"),
    ]


def test_uv_toml_stands_in_the_place_of_the_table(tmp_path: Path) -> None:
    files = {
        "pyproject.toml": _PROJECT + '[tool.uv]\nindex-url = "https://table.example/simple"\n'
        '[tool.uv.sources]\nour-kit = {index = "ours"}\n',
        "uv.toml": 'no-index = true\n[[index]]\nname = "ours"\nurl = "https://a.example/s"\nexplicit = true\n',
    }
    assert _options(tmp_path, files) == [("no-index", "", "uv.toml:1")]
    project = read_project(tmp_path)
    assert [line.index_url for line in project.requirements] == ["https://a.example/s", None]
    assert "uv.toml" in project.files


def test_uv_and_poetry_have_users_in_variables(tmp_path: Path) -> None:
    uv = '[[tool.uv.index]]\nname = "our.own"\nurl = "https://a.example/s"\n'
    found = _options(tmp_path, {"pyproject.toml": _PROJECT + uv}, UV_INDEX_OUR_OWN_PASSWORD="p@w")
    assert [url for _, url, _ in found] == ["https://:p%40w@a.example/s"]
    poetry = (
        '[tool.poetry]\nname = "x"\n[tool.poetry.dependencies]\nsix = {version = "*", source = "ours"}\n'
        '[[tool.poetry.source]]\nname = "ours"\nurl = "https://a.example/s"\npriority = "explicit"\n'
    )
    variables = {"POETRY_HTTP_BASIC_OURS_USERNAME": "me", "POETRY_HTTP_BASIC_OURS_PASSWORD": "pw"}
    assert _options(tmp_path, {"pyproject.toml": poetry}, **variables) == []
    (line,) = read_project(tmp_path, variables=variables).requirements
    assert line.index_url == "https://me:pw@a.example/s"


def test_a_source_of_pdm_may_be_a_page_of_files_or_serve_some_packages(tmp_path: Path) -> None:
    table = (
        '[[tool.pdm.source]]\nname = "ours"\nurl = "https://${USER_NAME}@a.example/s"\ninclude_packages = ["our-*"]\n'
        '[[tool.pdm.source]]\nname = "links"\nurl = "https://b.example/f.html"\ntype = "find_links"\n'
    )
    found = _options(tmp_path, {"pyproject.toml": _PROJECT + table}, USER_NAME="me")
    assert [(kind, url) for kind, url, _ in found] == [("find-links", "https://b.example/f.html")]
    project = read_project(tmp_path, variables={"USER_NAME": "me"})
    assert [line.index_url for line in project.requirements] == ["https://me@a.example/s", None]


@pytest.mark.parametrize("known", [True, False])
def test_variables_in_a_pipfile(tmp_path: Path, known: bool) -> None:
    (tmp_path / "Pipfile").write_text(
        '[[source]]\nname = "ours"\nurl = "https://u:${SECRET}@a.example/s"\n[packages]\nsix = "*"\n', encoding="utf-8"
    )
    project = read_project(tmp_path, variables={"SECRET": "s"} if known else {})
    (option,) = project.index_options
    assert option.url == f"https://u:{'s' if known else '${SECRET}'}@a.example/s"
    told = [problem for problem in project.problems if problem.kind is ReadingProblemKind.MISSING_VARIABLE]
    assert len(told) == (0 if known else 1)
    assert not told or ("SECRET" in told[0].message and told[0].text == "https://a.example/s")


@pytest.mark.parametrize(
    "table",
    [
        (
            '[[tool.uv.index]]\nname = "ours"\nurl = "https://a.example/whl/cpu"\nexplicit = true\n'
            '[tool.uv.sources]\nour-kit = {index = "ours"}\n'
        ),
        '[[tool.uv.index]]\nname = "ours"\nurl = "https://a.example/whl/cpu"\n',
        '[[tool.pdm.source]]\nname = "ours"\nurl = "https://a.example/whl/cpu"\ninclude_packages = ["our-kit"]\n',
        (
            '[[tool.poetry.source]]\nname = "ours"\nurl = "https://a.example/whl/cpu"\npriority = "supplemental"\n'
            "[tool.poetry.dependencies]\nsix = '*'\n"
        ),
    ],
    ids=["uv, explicit", "uv", "pdm", "poetry"],
)
def test_an_index_is_called_what_the_file_calls_it(tmp_path: Path, table: str) -> None:
    (tmp_path / "pyproject.toml").write_text(_PROJECT + table, encoding="utf-8")
    named = indexes_of(read_project(tmp_path))
    (name,) = [index.name for index in (*named.bound, *named.extra)]
    assert name.startswith("ours of pyproject.toml:")
    assert mirror_variable(name) == "ENVDOCTOR_INDEX_OURS"


def test_an_index_without_a_name_is_called_by_its_label(tmp_path: Path) -> None:
    table = '[[tool.uv.index]]\nurl = "https://a.example/whl/cpu"\n'
    (tmp_path / "pyproject.toml").write_text(_PROJECT + table, encoding="utf-8")
    (index,) = indexes_of(read_project(tmp_path)).extra
    assert index.name == "cpu of pyproject.toml:5"
