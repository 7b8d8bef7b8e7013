"""What must hold for any text, and agreement with pip's own reader."""

from __future__ import annotations

import string
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from packaging.requirements import Requirement as PackagingRequirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from envdoctor.adapters.project import ProjectFileError, read_project
from envdoctor.model.origin import FileOrigin

NAMES = (
    "requirements.txt",
    "pyproject.toml",
    "setup.cfg",
    "setup.py",
    "environment.yml",
    "Pipfile",
    "install.sh",
    "install.bat",
    "install.ps1",
    "Dockerfile",
    "script.py",
    "pixi.toml",
    "uv.lock",
    "poetry.lock",
    "pdm.lock",
    "pylock.toml",
    "Pipfile.lock",
    "x.ipynb",
    ".python-version",
)
PIECES = st.sampled_from(
    [
        "torch",
        "==2.1",
        ">=1,<2",
        ";",
        " python_version<'3'",
        "[a,b]",
        " @ ",
        "git+https://h.example/x",
        "#egg=y",
        " # c",
        "\\\n",
        "\n",
        "\r\n",
        "-r ",
        "-e ",
        "--hash=sha256:00",
        "-i ",
        "${A}",
        "requirements.txt",
        "(",
        ")",
        "'",
        '"',
        "[",
        "]",
        "{",
        "}",
        "[project]\n",
        "dependencies",
        " = ",
        "[options]\n",
        "install_requires",
        "setup(",
        "dependencies:\n",
        "- ",
        "  - ",
        "pip:",
        "pip install ",
        "[[package]]\n",
        "name",
        "version",
        "source",
        "[tool.uv]\n",
        "[tool.uv.sources]\n",
        "[tool.pixi.dependencies]\n",
        "[tool.pdm.dev-dependencies]\n",
        "foreach ($a in $b) {",
        "@(",
        "$a = ",
        "<#",
        "for a in ",
        "; do ",
        "extras['a'] = ",
        "if sys.platform == 'win32':\n    ",
        "pip uninstall ",
        "RUN ",
        " && ",
        " || ",
        ">",
        "%A%",
        "$A",
        "^\n",
        "`\n",
        "# /// script\n",
        "# ///\n",
        "\t",
        "\ufeff",
        "\x0c",
        "[tool.poetry.dependencies]\n",
        "^1.2",
        "x = ",
        ".",
        "..",
        "/",
        "file://",
        "http://[",
        "https://[::1",
        "\x85",
    ]
)
SETTINGS = settings(
    max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)


def _read_bytes(folder: Path, name: str, content: bytes) -> None:
    (folder / name).write_bytes(content)
    try:
        read_project(folder / name, variables={})
    except ProjectFileError as error:
        assert str(error)
        assert "\n" not in str(error)


@pytest.mark.parametrize("name", NAMES)
def test_any_pieces_give_a_result_or_one_message(tmp_path: Path, name: str):
    @SETTINGS
    @given(st.lists(PIECES, max_size=14).map("".join))
    def check(text: str) -> None:
        _read_bytes(tmp_path, name, text.encode())

    check()


@pytest.mark.parametrize("name", NAMES)
def test_any_bytes_give_a_result_or_one_message(tmp_path: Path, name: str):
    @SETTINGS
    @given(
        st.one_of(st.binary(max_size=60), st.text(max_size=60).map(lambda text: text.encode("utf-8", "surrogatepass")))
    )
    def check(content: bytes) -> None:
        _read_bytes(tmp_path, name, content)

    check()


PROJECT_NAMES = st.from_regex(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,8}[A-Za-z0-9])?", fullmatch=True)
VERSIONS = st.from_regex(r"[0-9]{1,3}(?:\.[0-9]{1,3}){0,2}(?:rc[0-9])?", fullmatch=True)
CLAUSES = st.builds("{}{}".format, st.sampled_from(["==", ">=", "<=", "!=", ">", "<"]), VERSIONS)
MARKERS = st.sampled_from(["", "; python_version < '3.12'", ' ; sys_platform == "win32"', "; extra == 'x'"])
EXTRAS = st.sampled_from(["", "[a]", "[A_b,c.d]"])
COMMENTS = st.sampled_from(["", "  # note", "\t#x", " #"])
REQUIREMENTS = st.builds(
    lambda name, extras, clauses, marker: f"{name}{extras}{','.join(clauses)}{marker}",
    PROJECT_NAMES,
    EXTRAS,
    st.lists(CLAUSES, max_size=3),
    MARKERS,
)


@SETTINGS
@given(
    st.lists(st.tuples(REQUIREMENTS, COMMENTS, st.integers(0, 2)), min_size=1, max_size=8),
    st.sampled_from(["\n", "\r\n"]),
)
def test_generated_requirements_keep_name_specifier_and_line(tmp_path: Path, lines, newline: str):
    text, expected, number = "", [], 1
    for requirement, comment, blanks in lines:
        read = PackagingRequirement(requirement)
        expected.append((read.name.lower(), read.specifier, number))
        text += requirement + comment + newline * (blanks + 1)
        number += blanks + 1
    (tmp_path / "requirements.txt").write_bytes(text.encode())
    project = read_project(tmp_path / "requirements.txt", variables={})
    assert not project.problems
    found = []
    for one, (name, _, _) in zip(project.requirements, expected, strict=True):
        assert isinstance(one.origin, FileOrigin)
        assert (
            one.name == "".join(name.replace("_", "-").replace(".", "-").split()).replace("--", "-") or "-" in one.name
        )
        found.append((name, one.specifier, one.origin.line))
    assert found == expected


LINES = st.one_of(
    REQUIREMENTS,
    REQUIREMENTS.map(lambda one: one.replace(",", " , ")),
    REQUIREMENTS.map(lambda one: one.replace("=", "\\\n=", 1)),
    st.sampled_from(
        [
            "",
            "# c",
            "  # c \\",
            "--pre",
            "-i https://index.example/",
            "--extra-index-url=https://index.example/ # c",
            "\\",
            "a @ https://files.example/a.zip",
            "git+https://git.example/b#egg=b",
            "https://files.example/c-1.0-py3-none-any.whl",
            "d --hash=sha256:00",
            "-e git+https://git.example/e#egg=e",
        ]
    ),
)


@settings(
    max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(st.lists(LINES, max_size=10))
def test_agrees_with_pip(tmp_path: Path, lines: list[str]):
    req_file = pytest.importorskip("pip._internal.req.req_file")
    constructors = pytest.importorskip("pip._internal.req.constructors")
    path = tmp_path / "requirements.txt"
    path.write_text("\n".join(lines) + "\n")
    theirs: list[tuple[str, SpecifierSet, int]] | None = []
    try:
        for parsed in req_file.parse_requirements(str(path), session=None):
            line = int(parsed.comes_from.rpartition("line ")[2].strip(string.punctuation))
            make = constructors.install_req_from_editable if parsed.is_editable else constructors.install_req_from_line
            made = make(parsed.requirement)
            specifier = SpecifierSet() if made.link and not made.link.is_wheel else SpecifierSet(str(made.specifier))
            theirs.append((made.name, specifier, line))
    except Exception:  # noqa: BLE001 - pip stops at its first bad line, in more than one way
        theirs = None
    project = read_project(path, variables={})
    ours = [
        (one.name, one.specifier, one.origin.line) for one in project.requirements if isinstance(one.origin, FileOrigin)
    ]
    if theirs is None:
        assert project.problems
    else:
        canonical = [(PackagingRequirement(name).name, specifier, line) for name, specifier, line in theirs]
        assert ours == [(canonicalize_name(name), specifier, line) for name, specifier, line in canonical]
