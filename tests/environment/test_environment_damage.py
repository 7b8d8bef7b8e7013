"""Environments that a full disk, a power cut, a moved checkout or a helpful hand has damaged."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from envdoctor.adapters.probe.installed_environment import read_environment
from envdoctor.diagnose.engine import examine
from envdoctor.diagnose.examination import Examination
from envdoctor.model.finding import Finding, Severity
from envdoctor.model.target import Arch, Backend, OperatingSystem, Target

GONE = "C:/gone/project" if os.name == "nt" else "/gone/project"
EDITABLE = f'{{"dir_info": {{"editable": true}}, "url": "file:///{GONE.removeprefix("/")}"}}'


def distribution(site: Path, name: str, *, requires: str = "", installer: str = "pip") -> Path:
    info = site / f"{name}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n{requires}")
    (info / "INSTALLER").write_text(f"{installer}\n")
    (site / name).mkdir()
    files = {f"{name}/__init__.py": "x = 1\n", f"{name}/core.py": "y = 22\n", f"{name}/lib/libx.so.12": "ELF"}
    for path, text in files.items():
        (site / path).parent.mkdir(exist_ok=True)
        (site / path).write_bytes(text.encode())
    rows = [f"{path},,{len(text)}\n" for path, text in files.items()]
    (info / "RECORD").write_text("".join(rows) + f"{info.name}/METADATA,,\n{info.name}/RECORD,,\n", newline="\n")
    return info


def findings(site: Path) -> list[Finding]:
    return list(examine(Examination(environment=read_environment(site, ask=False))))


def _nul(site: Path, _info: Path) -> None:
    (site / "foo/__init__.py").write_bytes(b"\0" * 6)


def _nul_by_an_installer_of_windows(site: Path, info: Path) -> None:
    (site / "foo/__init__.py").write_bytes(b"\0" * 6)
    (info / "RECORD").write_bytes((info / "RECORD").read_bytes().replace(b"\n", b"\r\n"))


def _cut_short_by_nuls(site: Path, _info: Path) -> None:
    (site / "foo/core.py").write_bytes(b"\0" * 4)


def _emptied(site: Path, _info: Path) -> None:
    (site / "foo/core.py").write_bytes(b"")


def _library_gone(site: Path, _info: Path) -> None:
    (site / "foo/lib/libx.so.12").unlink()


def _no_record(_site: Path, info: Path) -> None:
    (info / "RECORD").unlink()


def _record_of_nuls(_site: Path, info: Path) -> None:
    (info / "RECORD").write_bytes(b"\0" * 300)


def _record_of_its_metadata_alone(_site: Path, info: Path) -> None:
    (info / "RECORD").write_text(f"{info.name}/METADATA,,\n{info.name}/RECORD,,\n")


def _checkout_gone(_site: Path, info: Path) -> None:
    (info / "direct_url.json").write_text(EDITABLE)


def _path_line_gone(site: Path, info: Path) -> None:
    (info / "direct_url.json").write_text(EDITABLE.replace(GONE, site.as_posix()))
    (site / "foo.pth").write_bytes(f"{GONE}/src\n".encode())
    (info / "RECORD").write_text(f"foo.pth,,{len(GONE) + 5}\n")


DAMAGES = {
    _nul: ("ENV006", Severity.ERROR, "1 empty, filled with NULs or damaged"),
    _nul_by_an_installer_of_windows: ("ENV006", Severity.ERROR, "1 empty, filled with NULs or damaged"),
    _cut_short_by_nuls: ("ENV006", Severity.ERROR, "1 empty, filled with NULs or damaged"),
    _emptied: ("ENV006", Severity.ERROR, "1 empty, filled with NULs or damaged"),
    _library_gone: ("ENV006", Severity.ERROR, "1 missing"),
    _no_record: ("ENV008", Severity.WARNING, "there is no RECORD in it"),
    _record_of_nuls: ("ENV008", Severity.WARNING, "its RECORD names no file"),
    _record_of_its_metadata_alone: ("ENV008", Severity.WARNING, "its RECORD does not name its own folder `foo`"),
    _checkout_gone: ("ENV008", Severity.ERROR, f"`{GONE}` is not there"),
    _path_line_gone: ("ENV008", Severity.ERROR, f"`{GONE}/src`, which `foo.pth` names, is not there"),
}


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda item: item.__name__.strip("_"))
def test_what_is_damaged_is_named(tmp_path: Path, damage: Callable[[Path, Path], None]) -> None:
    info = distribution(tmp_path, "foo")
    assert findings(tmp_path) == []
    damage(tmp_path, info)
    code, severity, words = DAMAGES[damage]
    found = [item for item in findings(tmp_path) if item.severity is not Severity.INFO]
    assert [(item.rule, item.severity, item.subject) for item in found] == [(code, severity, "foo")]
    assert words in found[0].message + " ".join(item.what for item in found[0].evidence)


@pytest.mark.parametrize("installer", ["conda", "debian", "rpm"])
def test_who_keeps_lists_elsewhere_needs_none_here(tmp_path: Path, installer: str) -> None:
    (distribution(tmp_path, "foo", installer=installer) / "RECORD").unlink()
    assert findings(tmp_path) == []


def test_an_editable_install_whose_sources_are_there_is_sound(tmp_path: Path) -> None:
    info = distribution(tmp_path / "site", "foo")
    (tmp_path / "pro ject").mkdir()
    (info / "direct_url.json").write_text(
        EDITABLE.replace(f"file:///{GONE.removeprefix('/')}", (tmp_path / "pro ject").as_uri())
    )
    assert findings(tmp_path / "site") == []


def test_a_package_without_metadata_is_told_apart_from_one_that_is_not_there(tmp_path: Path) -> None:
    distribution(tmp_path, "foo", requires="Requires-Dist: bar\n")
    shutil.rmtree(distribution(tmp_path, "bar"))
    error, note = sorted(findings(tmp_path), key=lambda item: item.rule)
    assert error.severity is Severity.ERROR
    assert f"of it only the folder `{tmp_path}/bar` is there, without metadata" in error.message
    assert (note.rule, note.severity, note.subject) == ("ENV008", Severity.INFO, "bar")


def test_where_a_distribution_keeps_no_list_a_folder_may_be_its_own(tmp_path: Path) -> None:
    (distribution(tmp_path, "foo", installer="debian") / "RECORD").unlink()
    distribution(tmp_path, "bar")
    assert findings(tmp_path) == []


@pytest.mark.parametrize(
    ("own", "backend", "wanted"),
    [
        ("__version__ = '2.9.1+cu128'\ncuda = '12.8'\nhip = None\n", Backend.ROCM, {"ABI008"}),
        ("__version__ = '2.9.1'\ncuda = None\nhip = '6.4.43482'\n", Backend.ROCM, set()),
    ],
)
def test_torch_says_itself_what_it_was_built_for(tmp_path: Path, own: str, backend: Backend, wanted: set[str]) -> None:
    distribution(tmp_path, "torch")
    (tmp_path / "torch/version.py").write_text(own)
    for path in (*tmp_path.glob("*/METADATA"),):
        path.write_text("Metadata-Version: 2.1\nName: torch\nVersion: 2.9.1\n")
    info = distribution(tmp_path, "torchvision")
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: torchvision\nVersion: 0.24.1+rocm6.4\n")
    environment = read_environment(tmp_path, ask=False)
    target = Target(OperatingSystem.LINUX, Arch.X86_64, (3, 11), backend=backend)
    found = examine(Examination(environment=environment, target=target))
    errors = [item for item in found if item.severity is Severity.ERROR]
    assert {item.rule for item in errors} - {"RES202"} == wanted
    if wanted:
        remedies = [item.remedy.summary for item in errors if item.rule == "ABI008" and item.remedy]
        assert remedies == ["install `torch` 2.9.1 from the index with +rocm6.4 builds, as `torchvision` is"]
        assert any("a CUDA build (cu128)" in item.message for item in errors if item.rule == "RES202")


def test_a_folder_beside_a_list_that_is_cut_is_not_to_be_deleted(tmp_path: Path) -> None:
    _record_of_its_metadata_alone(tmp_path, distribution(tmp_path, "foo"))
    (finding,) = findings(tmp_path)
    assert finding.remedy is not None
    assert finding.remedy.summary == "Install `foo` 1.0 again over what is there"


def _copy_of_python(folder: Path) -> Path:
    """Return the site-packages of a folder whose Python is a link to the one that runs this."""
    site = folder / f"lib/python{sys.version_info[0]}.{sys.version_info[1]}/site-packages"
    site.mkdir(parents=True)
    (folder / "bin").mkdir()
    (folder / "bin/python").symlink_to(os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable))
    return site


@pytest.mark.skipif(os.name == "nt", reason="a venv's Python is a program of its own there, and no link")
@pytest.mark.parametrize("conda", [False, True])
def test_a_python_of_another_environment_does_not_speak_for_the_one_that_was_named(tmp_path: Path, conda: bool) -> None:
    site = _copy_of_python(tmp_path)
    if conda:
        (tmp_path / "conda-meta").mkdir()
    distribution(site, "foo")
    read = read_environment(tmp_path, timeout_s=30)
    found = [item for item in examine(Examination(environment=read)) if item.rule == "ENV010"]
    assert [(item.severity, item.subject) for item in found] == [(Severity.ERROR, str(tmp_path))]
    assert "is not this environment's: it is that of" in found[0].message
    assert (read.root, read.executable) == (str(tmp_path), None)
    assert [item.name for item in read.distributions] == ["foo"]


@pytest.mark.skipif(os.name == "nt", reason="a venv's Python is a program of its own there, and no link")
def test_a_linked_venv_is_its_own_and_one_without_its_folder_for_packages_is_broken(tmp_path: Path) -> None:
    (tmp_path / "venv").mkdir()
    site = _copy_of_python(tmp_path / "venv")
    home = os.path.dirname(os.path.realpath(tmp_path / "venv/bin/python"))  # noqa: PTH120 - a text for a file
    (tmp_path / "venv/pyvenv.cfg").write_text(f"home = {home}\n")
    (tmp_path / "link").symlink_to(tmp_path / "venv")
    codes = [item.rule for item in examine(Examination(environment=read_environment(tmp_path / "link", timeout_s=30)))]
    assert "ENV010" not in codes
    shutil.rmtree(site)
    found = examine(Examination(environment=read_environment(tmp_path / "venv", timeout_s=30)))
    assert [item.message for item in found if item.rule == "ENV010"] == [
        f"`{tmp_path / 'venv'}` has no folder for packages: `{site}` is not there"
    ]


def test_a_distribution_without_a_list_is_installed_again_in_its_own_version(tmp_path: Path) -> None:
    (distribution(tmp_path, "foo") / "RECORD").unlink()
    remedies = [item.remedy for item in findings(tmp_path) if item.rule == "ENV008"]
    assert [item.commands for item in remedies if item is not None] == [
        ('python -m pip install --ignore-installed --no-deps "foo==1.0"',)
    ]


def test_uv_stops_at_a_missing_list_and_the_folder_goes_first(tmp_path: Path) -> None:
    info = distribution(tmp_path, "foo", installer="uv")
    (info / "RECORD").unlink()
    (remedy,) = [item.remedy for item in findings(tmp_path) if item.rule == "ENV008"]
    assert remedy is not None
    assert remedy.summary.startswith(f"Delete `{tmp_path}/{info.name}`, then")
    assert remedy.commands == ('uv pip install --python python --no-deps "foo==1.0"',)
