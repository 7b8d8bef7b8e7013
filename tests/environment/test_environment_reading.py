"""Reading an environment by its folder."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

from envdoctor.adapters.probe import environment_files
from envdoctor.adapters.probe.environment_files import parse_record
from envdoctor.adapters.probe.environment_layout import plain_path
from envdoctor.adapters.probe.environment_metadata import parse_headers, read_egg_requires
from envdoctor.adapters.probe.installed_environment import EnvironmentNotFound, read_environment
from envdoctor.model.environment import EnvironmentKind, EnvironmentProblemKind


def test_a_bare_folder_gives_names_versions_and_requirements(site):
    site.add(
        "Foo.Bar",
        "1.0",
        "baz>=2; python_version >= '3.8'",
        headers="Requires-Python: >=3.8\nProvides-Extra: Gpu_Extra\n",
        INSTALLER="uv\n",
        top_level__txt="foo\n_foo\n",
        WHEEL="Wheel-Version: 1.0\nTag: py2-none-any\nTag: py3-none-any\n",
    )
    environment = read_environment(site.folder)
    (distribution,) = environment.distributions
    assert distribution.name == "foo-bar"
    assert distribution.requires_dist == ("baz>=2; python_version >= '3.8'",)
    assert distribution.requires_python == ">=3.8"
    assert distribution.provides_extra == ("gpu-extra",)
    assert distribution.installer == "uv"
    assert distribution.top_level == ("foo", "_foo")
    assert distribution.wheel_tags == ("py2-none-any", "py3-none-any")
    assert distribution.location == str(site.folder)
    assert environment.source == "folder"
    assert environment.kind is EnvironmentKind.FOLDER


def test_nothing_of_the_description_is_taken_for_a_header():
    headers = parse_headers(b"Name: a\nVersion: 1\nLicense: MIT\n  Name: b\nRequires-Dist: c\n")
    assert headers.name == "a"
    assert headers.requires_dist == ["c"]


def test_folded_and_crlf_headers_are_joined(site):
    info = site.add("a", "1")
    (info / "METADATA").write_bytes(b"Name: a\r\nVersion: 1\r\nRequires-Dist: b\r\n (>=1)\r\n\r\nRequires-Dist: no\r\n")
    (distribution,) = read_environment(site.folder).distributions
    assert distribution.requires_dist == ("b (>=1)",)


def test_headers_longer_than_one_read_are_read_to_their_end(site):
    info = site.add("a", "1")
    licence = "\n ".join(["License: x", *["y" * 70] * 1000])
    (info / "METADATA").write_text(f"Name: a\nVersion: 1\n{licence}\nRequires-Dist: late\n\nbody", encoding="utf-8")
    assert read_environment(site.folder).distributions[0].requires_dist == ("late",)


def test_an_editable_install_is_marked(site):
    site.add("a", "1", direct_url__json='{"dir_info": {"editable": true}, "url": "file:///src/a"}')
    (distribution,) = read_environment(site.folder).distributions
    assert distribution.editable
    assert "file:///src/a" in (distribution.direct_url or "")


def test_egg_info_folders_files_and_links(site, tmp_path):
    egg = site.folder / "old-1.0-py3.8.egg-info"
    egg.mkdir()
    (egg / "PKG-INFO").write_text("Name: old\nVersion: 1.0\n", encoding="utf-8")
    (egg / "requires.txt").write_text("six>=1\n\n[gpu:python_version<'3']\ncupy\n", encoding="utf-8")
    (site.folder / "flat-2.0.egg-info").write_text("Name: flat\nVersion: 2.0\n", encoding="utf-8")
    project = tmp_path / "project"
    (project / "mine.egg-info").mkdir(parents=True)
    (project / "mine.egg-info" / "PKG-INFO").write_text("Name: mine\nVersion: 0.1\n", encoding="utf-8")
    (site.folder / "mine.egg-link").write_text(f"{project}\n.\n", encoding="utf-8")
    found = {item.name: item for item in read_environment(site.folder).distributions}
    assert set(found) == {"old", "flat", "mine"}
    assert found["old"].requires_dist == ("six>=1", "cupy ; (python_version<'3') and extra == \"gpu\"")
    assert found["mine"].editable


def test_an_egg_link_that_leads_nowhere_is_a_problem(site):
    (site.folder / "gone.egg-link").write_text("/nonexistent/project\n", encoding="utf-8")
    environment = read_environment(site.folder)
    assert [problem.kind for problem in environment.problems] == [EnvironmentProblemKind.SOURCE_GONE]


def test_egg_requires_with_a_marker_alone():
    assert read_egg_requires(b"a\n[:sys_platform == 'win32']\nb\n") == (["a", "b ; sys_platform == 'win32'"], [])


def test_leftovers_and_folders_without_metadata_are_problems(site):
    site.add("torch", "2.6.0")
    (site.folder / "~orch").mkdir()
    (site.folder / "~orch-2.5.0.dist-info").mkdir()
    (site.folder / "half-1.0.dist-info").mkdir()
    environment = read_environment(site.folder)
    assert [item.name for item in environment.distributions] == ["torch"]
    kinds = [problem.kind for problem in environment.problems]
    assert kinds.count(EnvironmentProblemKind.LEFTOVER) == 2
    assert kinds.count(EnvironmentProblemKind.NO_METADATA) == 1


def test_record_rows_with_commas_quotes_and_backslashes():
    rows = parse_record(b'"a,b.py",sha256=x,3\r\nc\\d.py,,\nplain.py,sha256=y,notanumber\n')
    assert [(row.path, row.hash, row.size) for row in rows] == [
        ("a,b.py", "sha256=x", 3),
        ("c/d.py", None, None),
        ("plain.py", "sha256=y", None),
    ]


def test_file_lists_are_read_only_of_distributions_that_share_a_folder(site):
    site.add("a", "1", files={"pkg/a.py": "1"})
    site.add("b", "1", files={"pkg/b.py": "1"})
    site.add("c", "1", files={"own/c.py": "1"})
    environment = read_environment(site.folder)
    assert {item.name for item in environment.distributions if item.files is not None} == {"a", "b"}
    environment = read_environment(site.folder, files=True)
    assert {item.name for item in environment.distributions if item.files is not None} == {"a", "b", "c"}


@pytest.mark.parametrize("files", [False, True])
def test_files_are_compared_with_the_disk(site, files):
    site.add("a", "1", files={"a/fine.py": "1", "a/gone.py": "1", "a/longer.py": "1", "a/x.pyc": "1", "../s": "1"})
    for path in ("a/gone.py", "a/x.pyc", "../s"):
        (site.folder / path).unlink()
    (site.folder / "a/longer.py").write_text("123", encoding="utf-8")
    problems = read_environment(site.folder, files=files).problems
    assert [(problem.kind, problem.detail) for problem in problems] == [
        (EnvironmentProblemKind.MISSING_FILE, "a/gone.py"),
        (EnvironmentProblemKind.CHANGED_FILE, "a/longer.py: 3 bytes, 1 recorded"),
    ]


def test_of_many_files_the_sizes_of_libraries_alone_are_compared(site, monkeypatch):
    monkeypatch.setattr(environment_files, "MANY_FILES", 3)
    names = ("a/gone.py", "a/gone.so", "a/longer.py", "a/longer.so", "a/fine.so")
    site.add("a", "1", files=dict.fromkeys(names, "1"))
    for path in names[:2]:
        (site.folder / path).unlink()
    for path in names[2:4]:
        (site.folder / path).write_text("123", encoding="utf-8")
    assert [(problem.kind, problem.detail) for problem in read_environment(site.folder).problems] == [
        (EnvironmentProblemKind.MISSING_FILE, "a/gone.py"),
        (EnvironmentProblemKind.MISSING_FILE, "a/gone.so"),
        (EnvironmentProblemKind.CHANGED_FILE, "a/longer.so: 3 bytes, 1 recorded"),
    ]


@pytest.mark.parametrize(
    "row", ["a/x.py,,", "a/x.py,sha256=x,", "a/x.py,sha256=x,03\r", '"a/x.py",sha256=x,3', "a\\x.py,,3", "a,,", "\0,,1"]
)
def test_rows_that_are_written_otherwise_are_no_difference(site, row):
    info = site.add("a", "1", files={"a/x.py": "123"}, record=False)
    (info / "RECORD").write_bytes(f"{row}\n\r\n".encode())
    problems = read_environment(site.folder).problems
    assert [item.detail for item in problems] == (["\0"] if row.startswith("\0") else [])


def test_a_package_whose_folder_was_deleted_is_seen_without_asking_for_files(site, diagnose):
    site.add("torch", "2.6.0", files={"torch/__init__.py": "1", "torch/lib.so": "1"})
    site.add("numpy", "1.26.4", files={"numpy/__init__.py": "1"})
    shutil.rmtree(site.folder / "torch")
    environment = read_environment(site.folder)
    assert [(problem.kind, problem.subject) for problem in environment.problems] == [
        (EnvironmentProblemKind.MISSING_FILE, "torch")
    ] * 2
    assert [finding.rule for finding in diagnose(environment)] == ["ENV006"]


@pytest.mark.skipif(os.name == "nt", reason="Windows's layout is read there by its own interpreter")
def test_a_venv_of_windows_read_elsewhere(tmp_path, diagnose, clean):
    (tmp_path / "Lib" / "site-packages").mkdir(parents=True)
    (tmp_path / "Scripts").mkdir()
    (tmp_path / "Scripts" / "python.exe").write_bytes(b"MZ")
    (tmp_path / "pyvenv.cfg").write_text("home = C:\\Python310\nversion = 3.10.11\n", encoding="utf-8")
    info = tmp_path / "Lib" / "site-packages" / "a-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        "Name: a\nVersion: 1\nRequires-Dist: uvloop; sys_platform != 'win32'\n", encoding="utf-8"
    )
    environment = read_environment(tmp_path, environ={**clean, "PYTHONPATH": "/src", "PIP_USER": "1"})
    assert [problem.kind for problem in environment.problems] == [EnvironmentProblemKind.NO_INTERPRETER]
    assert [finding.severity.value for finding in diagnose(environment)] == ["info"]


@pytest.mark.skipif(os.name == "nt", reason="CreateProcess starts no shell script")
def test_a_shim_leads_to_the_environment_behind_it(venv, venv_site, tmp_path, clean):
    venv_site.add("foo", "1.0")
    shim = tmp_path / "shims" / "python"
    shim.parent.mkdir()
    shim.write_text(f'#!/bin/sh\nexec "{venv}/bin/python" "$@"\n', encoding="utf-8")
    shim.chmod(0o755)
    environment = read_environment(shim, environ=clean)
    assert environment.kind is EnvironmentKind.VENV
    assert [item.name for item in environment.distributions] == ["foo"]
    assert environment.executable == str(shim)


def test_the_python_of_a_bare_folder_is_told_by_its_compiled_wheels(site):
    site.add("numpy", "1", WHEEL="Tag: cp310-cp310-win_amd64\n")
    site.add("abi3", "1", WHEEL="Tag: cp37-abi3-win_amd64\n")
    assert read_environment(site.folder).python == (3, 10)


def test_windows_and_conda_layouts(tmp_path):
    windows = tmp_path / "win"
    (windows / "Lib" / "site-packages").mkdir(parents=True)
    (windows / "pyvenv.cfg").write_text("home = C:\\Python310\nversion = 3.10.11\n", encoding="utf-8")
    environment = read_environment(windows)
    assert environment.kind is EnvironmentKind.VENV
    assert environment.python == (3, 10)
    assert environment.site_packages == (str(windows / "Lib" / "site-packages"),)
    conda = tmp_path / "conda"
    (conda / "lib" / "python3.11" / "site-packages").mkdir(parents=True)
    (conda / "conda-meta").mkdir()
    record = '{"build": "h1", "channel": "https://conda.example/conda-forge/linux-64"}'
    (conda / "conda-meta" / "libblas-3.9.0-20_mkl.json").write_text(record, encoding="utf-8")
    environment = read_environment(conda)
    assert environment.python == (3, 11)
    assert environment.conda_packages == (("libblas", "3.9.0", "20_mkl", "conda-forge"),)
    assert [problem.kind for problem in environment.problems] == [EnvironmentProblemKind.NO_INTERPRETER]


@pytest.mark.parametrize(
    ("path", "plain"),
    [
        (r"\\?\C:\my env", r"C:\my env"),
        (r"\\?\UNC\server\share\env", r"\\server\share\env"),
        (r"\\?\unc\server\share\env", r"\\server\share\env"),
        (r"\\?\Volume{7f1c}\env", r"\\?\Volume{7f1c}\env"),
        (r"\\server\share\env", r"\\server\share\env"),
        (r"C:\env", r"C:\env"),
    ],
)
def test_a_path_is_read_without_the_prefix_that_keeps_slashes_for_names(path, plain):
    assert plain_path(path, windows=True) == plain
    assert plain_path(path, windows=False) == path


@pytest.mark.skipif(os.name != "nt", reason="only Windows has the prefix")
def test_an_environment_behind_the_prefix_is_the_same(site):
    site.add("one", "1.0")
    plain, prefixed = (read_environment(place) for place in (site.folder, Path(f"\\\\?\\{site.folder}")))
    assert prefixed.distributions == plain.distributions
    assert prefixed.problems == plain.problems


def test_what_is_no_environment_is_refused_with_a_reason(tmp_path):
    with pytest.raises(EnvironmentNotFound, match="does not exist"):
        read_environment(tmp_path / "nothing")
    with pytest.raises(EnvironmentNotFound, match="is not an environment"):
        read_environment(tmp_path)
    (tmp_path / "notes.txt").write_text("x", encoding="utf-8")
    with pytest.raises(EnvironmentNotFound, match="not a Python executable"):
        read_environment(tmp_path / "notes.txt")


def test_a_project_with_a_venv_in_it_is_pointed_to_the_venv(tmp_path):
    (tmp_path / ".venv").mkdir()
    (tmp_path / ".venv" / "pyvenv.cfg").write_text("home = /usr/bin\n", encoding="utf-8")
    with pytest.raises(EnvironmentNotFound, match=r"did you mean `.*\.venv`"):
        read_environment(tmp_path)


def test_a_venv_is_read_and_asked(venv, venv_site, clean):
    venv_site.add("foo", "1.0")
    environment = read_environment(venv, environ=clean)
    assert environment.source == "probe"
    assert environment.python == sys.version_info[:2]
    assert environment.told.markers["sys_platform"] == sys.platform
    assert [item.name for item in environment.distributions] == ["foo"]
    assert environment.root == str(venv)
    assert not environment.problems


def test_the_executable_and_a_relative_path_name_the_same_environment(venv, venv_site, clean, monkeypatch):
    venv_site.add("foo", "1.0")
    monkeypatch.chdir(venv.parent)
    by_folder = read_environment(venv.name, environ=clean)
    python = "Scripts/python.exe" if os.name == "nt" else "bin/python"
    by_program = read_environment(Path(venv.name, python), environ=clean)
    assert by_folder.distributions == by_program.distributions
    assert by_program.executable == str(venv / python)
    assert by_folder.source == by_program.source == "probe"


def test_without_asking_no_process_is_started(venv, venv_site, monkeypatch):
    venv_site.add("foo", "1.0")
    monkeypatch.setattr("subprocess.Popen", lambda *_, **__: pytest.fail("a process was started"))
    environment = read_environment(venv, ask=False)
    assert environment.source == "folder"
    assert environment.python == sys.version_info[:2]


def test_nothing_of_the_patient_is_imported_here(venv, venv_site, clean):
    venv_site.add("patient", "1.0", files={"patient_module.py": "raise SystemExit(9)\n"})
    before = set(sys.modules)
    read_environment(venv, files=True, environ=clean)
    assert "patient_module" not in set(sys.modules) - before
    assert str(venv) not in os.pathsep.join(sys.path)


def test_pythonpath_folders_come_first_in_the_order_of_imports(venv, venv_site, clean, site):
    venv_site.add("foo", "1.0")
    site.add("foo", "2.0")
    environment = read_environment(venv, environ={**clean, "PYTHONPATH": str(site.folder)})
    assert [item.version for item in environment.distributions] == ["2.0", "1.0"]
    found = environment.get("foo")
    assert found is not None
    assert found.version == "2.0"
