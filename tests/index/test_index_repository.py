"""Names and requirements of lines that name a repository come from its own files, as they lie at that ref."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from index_server import Answer, IndexServer
from packaging.version import Version

from envdoctor.adapters.index import repository_files
from envdoctor.adapters.index.repository_files import RepositoryPlace, RepositoryUnread, place_of
from envdoctor.adapters.project import read_project
from envdoctor.model.candidate import CoreMetadata, DistributionFile, FileKind, ProjectPage
from envdoctor.model.project import ReadingProblemKind
from envdoctor.model.target import Arch, OperatingSystem, Target
from envdoctor.model.unknown import UnknownKind
from envdoctor.ports import ProjectNotFound
from envdoctor.render.reasons import bare_reason
from envdoctor.resolve.diagnosis import diagnose
from envdoctor.verbs.repositories import with_repositories
from envdoctor.verbs.resolver_input import manifest_of

TARGET = Target(OperatingSystem.LINUX, Arch.X86_64, (3, 11))
COMMIT = "0123456789abcdef0123456789abcdef01234567"
INNER = (
    '[project]\nname = "inner-tool"\nversion = "1.2"\ndependencies = ["alpha<2"]\n'
    '[project.optional-dependencies]\nfast = ["beta"]\n'
)


@pytest.mark.parametrize(
    ("reference", "place"),
    [
        ("git+https://github.com/o/r.git@v1", ("github.com", "o/r", "v1", "")),
        ("git+https://github.com/o/r", ("github.com", "o/r", "HEAD", "")),
        (
            "git+https://user:word@github.com/o/r/@feat/x#subdirectory=py/core",
            ("github.com", "o/r", "feat/x", "py/core/"),
        ),
        ("git+ssh://git@gitlab.com/a/b/c.git@main", ("gitlab.com", "a/b/c", "main", "")),
        ("https://github.com/o/r/archive/refs/heads/main.zip", ("github.com", "o/r", "main", "")),
        (f"https://github.com/o/r/archive/{COMMIT}.tar.gz", ("github.com", "o/r", COMMIT, "")),
        ("git+https://forge.example/o/r@main", None),
        ("https://files.example/r/archive/main.zip", None),
        ("hg+https://github.com/o/r", None),
        ("git+https://github.com/o/../r", None),
        ("git+https://github.com/o/r@--upload-pack=x", None),
        ("git+https://github.com/o/r#subdirectory=../..", None),
        ("git+https://[bad", None),
    ],
)
def test_a_forge_is_asked_for_one_file_at_one_ref(reference: str, place: tuple[str, ...] | None) -> None:
    assert place_of(reference) == (None if place is None else RepositoryPlace(*place))


@pytest.fixture
def forge(server: IndexServer, monkeypatch: pytest.MonkeyPatch) -> str:
    """Make the server a forge; return the URL of a repository on it."""
    host = server.root.removeprefix("http://")
    monkeypatch.setitem(repository_files.FORGES, host, f"http://{host}/raw/{{project}}/{{ref}}/{{path}}")
    return f"git+http://{host}/o/r.git"


def _serve(server: IndexServer, ref: str, **files: str) -> None:
    for name, text in files.items():
        path = name.replace("_py", ".py").replace("_toml", ".toml").replace("_cfg", ".cfg").replace("_txt", ".txt")
        server.answers[f"/raw/o/r/{ref}/{path}"] = Answer(text.encode(), "text/plain")


def _project(folder: Path, text: str):
    folder.mkdir(exist_ok=True)
    (folder / "requirements.txt").write_text(text)
    return read_project(folder, variables={})


def test_a_line_without_a_name_gets_that_of_its_repository_and_its_requirements(server, forge, opened, tmp_path):
    _serve(server, "v1", pyproject_toml=INNER)
    read = _project(tmp_path / "p", f"{forge}@v1\n")
    assert read.unread
    found = with_repositories(read, opened(), TARGET)
    assert [str(line.name) for line in found.requirements] == ["inner-tool", "alpha"]
    origin = found.requirements[1].origin
    assert (origin.path, origin.line, origin.elsewhere) == (f"{forge[4:]}@v1/pyproject.toml", 4, True)
    assert str(origin.included_from) == "requirements.txt:1"
    assert not found.unread
    assert not found.problems
    assert server.count("/raw/") == 1


def test_extras_and_the_marker_of_the_line_count(server, forge, opened, tmp_path):
    _serve(server, "v1", pyproject_toml=INNER)
    line = f'inner-tool[fast] @ {forge}@v1 ; sys_platform == "linux"\n'
    found = with_repositories(_project(tmp_path / "p", line), opened(), TARGET)
    assert [(str(each.name), str(each.marker)) for each in found.requirements[1:]] == [
        ("alpha", 'sys_platform == "linux"'),
        ("beta", 'sys_platform == "linux"'),
    ]
    elsewhere = with_repositories(_project(tmp_path / "q", line), opened(), replace(TARGET, os=OperatingSystem.WINDOWS))
    assert [str(each.name) for each in elsewhere.requirements] == ["inner-tool"]


@pytest.mark.parametrize(
    ("files", "names"),
    [
        (
            {"setup_py": "from setuptools import setup\nsetup(name='old', install_requires=['alpha'])\n"},
            ["old", "alpha"],
        ),
        ({"setup_cfg": "[metadata]\nname = cfg\n[options]\ninstall_requires =\n  alpha\n"}, ["cfg", "alpha"]),
        (
            {
                "pyproject_toml": "[build-system]\nrequires = []\n",
                "setup_py": "from setuptools import setup\nsetup(name='r',\n"
                "  install_requires=open('requirements.txt').read().splitlines())\n",
                "requirements_txt": "alpha\n",
            },
            ["r", "alpha"],
        ),
        (
            {"pyproject_toml": '[tool.poetry]\nname = "poem"\n[tool.poetry.dependencies]\nalpha = "^1"\n'},
            ["poem", "alpha"],
        ),
    ],
)
def test_older_forms_of_metadata_are_read_as_those_of_a_folder(server, forge, opened, tmp_path, files, names):
    _serve(server, "HEAD", **files)
    found = with_repositories(_project(tmp_path / "p", f"{forge}\n"), opened(), TARGET)
    assert [str(line.name) for line in found.requirements] == names
    assert not found.unread


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        ({}, "there is no pyproject.toml, setup.cfg or setup.py"),
        ({"pyproject_toml": "[project]\nname = 'x'\ndynamic = ['dependencies']\n"}, "the dependencies are `dynamic`"),
        ({"setup_py": "import x\nfrom setuptools import setup\nsetup(name='x', install_requires=x.y())\n"}, "computed"),
        ({"pyproject_toml": "<html>Sign in</html>"}, "not what it claims to be"),
        ({"pyproject_toml": "[project]\nname = 'x'\ndependencies = ['y @ file:./y']\n"}, "its own repository"),
    ],
)
def test_what_only_a_build_would_tell_stays_unknown_with_the_reason(server, forge, opened, tmp_path, files, reason):
    _serve(server, "v1", **files)
    read = with_repositories(_project(tmp_path / "p", f"thing @ {forge}@v1\n"), opened(), TARGET)
    diagnosis = diagnose(manifest_of(read, TARGET), _Index())
    (unknown,) = diagnosis.unknowns
    assert unknown.kind is UnknownKind.DIRECT_REFERENCE
    assert reason in bare_reason(unknown)


def test_a_nameless_line_that_cannot_be_read_says_why(server, forge, opened, tmp_path):
    found = with_repositories(_project(tmp_path / "p", f"{forge}@gone\n"), opened(), TARGET)
    (problem,) = found.problems
    assert problem.kind is ReadingProblemKind.UNREAD
    assert problem.message.endswith("(or nobody may read it without a password)")
    assert found.unread


def test_offline_reads_the_cache_and_else_says_so(server, forge, opened, tmp_path):
    _serve(server, "v1", pyproject_toml=INNER)
    read = _project(tmp_path / "p", f"{forge}@v1\n")
    (problem,) = with_repositories(read, opened(offline=True), TARGET).problems
    assert problem.message.endswith("its repository could not be read: offline and not in the cache")
    with_repositories(read, opened(), TARGET)
    assert not with_repositories(read, opened(offline=True), TARGET).problems
    assert server.count("/raw/") == 1


def test_a_commit_is_asked_for_once_and_a_branch_when_it_is_old(server, forge, opened, tmp_path):
    for ref in (COMMIT, "main"):
        _serve(server, ref, pyproject_toml=INNER)
        read = _project(tmp_path / "p", f"{forge}@{ref}\n")
        for _ in range(2):
            assert not with_repositories(read, opened(freshness=0.0), TARGET).problems
    assert (server.count(COMMIT), server.count("/main/")) == (1, 2)


def test_a_repository_may_ask_for_another(server, forge, opened, tmp_path):
    _serve(server, "v1", pyproject_toml=f"[project]\nname = 'outer'\ndependencies = ['inner-tool @ {forge}@v2']\n")
    _serve(server, "v2", pyproject_toml=INNER.replace("alpha<2", f"outer @ {forge}@v1"))
    found = with_repositories(_project(tmp_path / "p", f"{forge}@v1\n"), opened(), TARGET)
    assert [str(line.name) for line in found.requirements] == ["outer", "inner-tool", "outer"]


def test_a_python_that_the_repository_refuses_is_an_error(server, forge, opened, tmp_path):
    _serve(server, "v1", pyproject_toml=INNER.replace("version", 'requires-python = ">=3.12"\nversion'))
    found = with_repositories(_project(tmp_path / "p", f"{forge}@v1\n"), opened(), TARGET)
    assert [each.message for each in found.problems] == [
        "`inner-tool` requires Python `>=3.12`, and the target has 3.11"
    ]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("other @ {forge}@v1", 1),
        ("{forge}@v1#egg=other", 1),
        ("Inner_Tool @ {forge}@v1", 0),
        ("{forge}@v1#egg=inner.tool", 0),
        ('other @ {forge}@v1 ; sys_platform == "win32"', 0),
    ],
)
def test_another_name_than_that_of_the_repository_is_an_error(server, forge, opened, tmp_path, line: str, told: int):
    """pip 26.3: "has inconsistent name: expected 'other', but metadata has 'inner-tool'", and no candidate is left."""
    _serve(server, "v1", pyproject_toml=INNER)
    found = with_repositories(_project(tmp_path / "p", line.format(forge=forge) + "\n"), opened(), TARGET)
    said = "what lies there is called `inner-tool` and not `other`, so installers discard it"
    assert [each.message for each in found.problems] == [said] * told


def test_a_repository_of_this_machine_is_read_by_git_at_its_ref(opened, tmp_path):
    folder = tmp_path / "repo"
    folder.mkdir()
    git = ["git", "-C", str(folder), "-c", "user.name=n", "-c", "user.email=n@example.org"]
    try:
        subprocess.run([*git, "init", "-q"], check=True)
    except FileNotFoundError:
        pytest.skip("there is no git here")
    (folder / "pyproject.toml").write_text(INNER)
    subprocess.run([*git, "add", "."], check=True)
    subprocess.run([*git, "commit", "-qm", "first"], check=True)
    subprocess.run([*git, "tag", "v1"], check=True)
    (folder / "pyproject.toml").write_text(INNER.replace("alpha", "omega"))
    found = with_repositories(_project(tmp_path / "p", f"git+{folder.as_uri()}@v1\n"), opened(), TARGET)
    assert [str(line.name) for line in found.requirements] == ["inner-tool", "alpha"]
    gone = with_repositories(_project(tmp_path / "q", f"git+{folder.as_uri()}@v9\n"), opened(), TARGET)
    assert gone.problems[0].message.endswith("there is no repository with a commit `v9`")


def test_without_git_a_local_repository_is_unknown(opened, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    index = opened()
    with pytest.raises(RepositoryUnread, match="there is no git"):
        index.repository_files(f"git+{tmp_path.as_uri()}", ("pyproject.toml",))


class _Index:
    """alpha 1 and 2, and beta, which asks for a version of inner-tool."""

    def page(self, name):
        versions = {"alpha": ("1.0", "2.0"), "beta": ("1.0",)}.get(name)
        if versions is None:
            raise ProjectNotFound(name, "default")
        files = [
            DistributionFile(
                name, Version(v), f"{name}-{v}-py3-none-any.whl", FileKind.WHEEL, f"https://index.example/{v}"
            )
            for v in versions
        ]
        return ProjectPage(name, tuple(files))

    def metadata(self, file):
        asks = ("inner-tool>=2",) if file.project == "beta" else ()
        return CoreMetadata(file.project, file.version, asks)

    def prefetch_pages(self, names):
        pass

    def prefetch_metadata(self, files):
        pass


def test_a_conflict_names_the_line_of_the_repository(server, forge, opened, tmp_path):
    _serve(server, "v1", pyproject_toml=INNER)
    read = with_repositories(_project(tmp_path / "p", f"{forge}@v1\nalpha>=2\n"), opened(), TARGET)
    diagnosis = diagnose(manifest_of(read, TARGET), _Index())
    (conflict,) = diagnosis.conflicts
    assert {str(line.origin) for line in conflict.core} == {
        "requirements.txt:2",
        f"{forge[4:]}@v1/pyproject.toml:4",
    }
    assert not diagnosis.unknowns


def test_a_version_that_the_repository_does_not_have_is_not_called_met(server, forge, opened, tmp_path):
    _serve(server, "v1", pyproject_toml=INNER)
    read = with_repositories(_project(tmp_path / "p", f"{forge}@v1\nbeta\n"), opened(), TARGET)
    (unknown,) = diagnose(manifest_of(read, TARGET), _Index()).unknowns
    assert "its repository says version 1.2, and `>=2` is asked for" in bare_reason(unknown)
