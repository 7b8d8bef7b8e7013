"""What this user may not read of a project is named and leaves the answer open; the rest is judged."""

from __future__ import annotations

import configparser  # noqa: F401 - loaded before rights are given up
import os
from contextlib import suppress
from pathlib import Path

import pytest

from envdoctor.adapters.project import ProjectFileError, read_project
from envdoctor.diagnose.rules import res006_unread_requirement, res017_file_not_read
from envdoctor.model.project import LeftOut
from unprivileged import as_nobody

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows has no seteuid, and chmod takes no right to read")


@pytest.fixture
def read_denied(tmp_path: Path):
    """Write files and read the folder as somebody who may not read what is named."""
    for folder in (tmp_path, *tmp_path.parents):
        if folder.stat().st_uid == os.geteuid() and folder.stat().st_mode & 0o055 != 0o055:
            folder.chmod(folder.stat().st_mode | 0o055)

    def read(files: dict[str, str], *denied: str, mode: int = 0, at: str = ""):
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
        with suppress(ProjectFileError):
            read_project(tmp_path / at, variables={})  # Loads what is loaded late.
        for name in denied:
            (tmp_path / name).chmod(mode)
        try:
            with as_nobody():
                return read_project(tmp_path / at, variables={})
        finally:
            for name in denied:
                (tmp_path / name).chmod(0o755)

    return read


FORMS = {
    "pyproject.toml": '[project]\nname = "x"\ndependencies = ["six"]\n',
    "environment.yml": "name: x\ndependencies:\n - six\n",
    "setup.cfg": "[options]\ninstall_requires = six\n",
    "setup.py": "from setuptools import setup\nsetup(install_requires=['six'])\n",
    "Pipfile": '[packages]\nsix = "*"\n',
    "uv.toml": "no-index = true\n",
    "requirements-dev.txt": "six\n",
    "constraints.txt": "six<2\n",
    "uv.lock": "version = 1\n",
    "part.txt": "six\n",
    ".python-version": "3.11\n",
}


@pytest.mark.parametrize("name", FORMS)
def test_a_file_of_any_form_that_may_not_be_read_is_named_and_the_rest_is_read(read_denied, name):
    metadata = {"setup.cfg", "setup.py", "pyproject.toml"} - {name}
    files = {each: text for each, text in FORMS.items() if each not in metadata}
    project = read_denied({"requirements.txt": "idna\n-r part.txt\n", "part.txt": "", **files}, name)
    assert "idna" in [line.name for line in project.requirements]
    assert [(one.path, one.detail) for one in project.left_out if one.reason is LeftOut.DENIED] == [(name, "")]
    assert name not in project.files


@pytest.mark.parametrize("name", ["pyproject.toml", "part.txt", "requirements.txt"])
def test_what_decides_and_may_not_be_read_leaves_the_answer_open(read_denied, name):
    files = {"requirements.txt": "idna\n-r part.txt\n", "part.txt": "six", "pyproject.toml": FORMS["pyproject.toml"]}
    project = read_denied(files, name)
    assert project.unread == (name,)
    assert [each.message for each in project.problems] == [
        f"`{name}` may not be read (permission denied); what it asks for is not known"
    ]


@pytest.mark.parametrize("folder", ["requirements", "models"])
@pytest.mark.parametrize("mode", [0, 0o444])
def test_a_folder_below_that_may_not_be_entered_ends_nothing(read_denied, folder, mode):
    project = read_denied({"requirements.txt": "idna\n", f"{folder}/dev.txt": "six\n"}, folder, mode=mode)
    assert [line.name for line in project.requirements] == ["idna"]
    if mode == 0:
        assert project.unread == (folder,)
        assert [(one.path, one.reason) for one in project.left_out] == [(folder, LeftOut.DENIED)]


def test_the_one_file_that_is_named_must_be_readable(read_denied):
    with pytest.raises(ProjectFileError, match="permission denied"):
        read_denied({"requirements.txt": "idna\n"}, "requirements.txt", at="requirements.txt")


def test_a_file_that_may_not_be_read_is_said_once(read_denied, examined):
    project = read_denied({"requirements.txt": "idna\n", "environment.yml": "x"}, "environment.yml")
    assert not examined(res017_file_not_read.RULE, project)
    (finding,) = examined(res006_unread_requirement.RULE, project)
    assert not finding.evidence


@pytest.fixture
def examined():
    from envdoctor.diagnose.examination import Examination
    from envdoctor.model.target import Arch, OperatingSystem, Target

    target = Target(OperatingSystem.LINUX, Arch.X86_64, (3, 11))
    return lambda rule, project: list(rule.find(Examination(target=target, project=project)))


def _link(path: Path) -> None:
    path.symlink_to("nowhere")


NO_FILES = {
    "cannot be read (this is a symbolic link to nothing)": _link,
    "cannot be read (this is a named pipe, not a file)": getattr(os, "mkfifo", _link),
    "cannot be read (this is a directory, not a file)": Path.mkdir,
}


@pytest.mark.parametrize("said", NO_FILES)
@pytest.mark.parametrize("name", ["requirements.txt", "pyproject.toml", "setup.py", "constraints.txt"])
def test_what_would_decide_and_is_no_file_leaves_the_answer_open(tmp_path, said, name):
    beside = "setup.cfg" if name == "requirements.txt" else "requirements.txt"
    (tmp_path / beside).write_text({"setup.cfg": "[options]\ninstall_requires = six\n"}.get(beside, "idna\n"))
    NO_FILES[said](tmp_path / name)
    project = read_project(tmp_path, variables={})
    assert len(project.requirements) == 1
    assert project.unread == (name,)
    assert [each.message for each in project.problems] == [f"`{name}` {said}; what it asks for is not known"]


@pytest.mark.parametrize("name", ["environment.yml", "uv.lock", "requirements-dev.txt", "setup.py"])
def test_what_decides_nothing_and_is_no_file_is_only_named(tmp_path, examined, name):
    (tmp_path / "pyproject.toml").write_text(FORMS["pyproject.toml"])
    _link(tmp_path / name)
    project = read_project(tmp_path, variables={})
    assert project.unread == ()
    (finding,) = examined(res017_file_not_read.RULE, project)
    assert [(each.what, each.where) for each in finding.evidence] == [
        ("cannot be read: this is a symbolic link to nothing", name)
    ]


@pytest.mark.parametrize("name", ["requirements.txt", "requirements-gpu.txt", "environment.yml", "uv.lock"])
def test_a_folder_with_nothing_but_a_link_to_nothing_is_not_without_requirements(tmp_path, examined, name):
    _link(tmp_path / name)
    project = read_project(tmp_path, variables={})
    assert project.unread == (name,)
    assert not examined(res017_file_not_read.RULE, project)
