"""Source distributions whose build stops before it begins, by what their setup.py says."""

from __future__ import annotations

import pytest
from diagnose_fixtures import (
    MemoryArchives,
    by_distribution,
    require,
    resolution_of,
    resolved,
    target_of,
)

from envdoctor.diagnose.engine import examine
from envdoctor.diagnose.examination import Examination
from envdoctor.diagnose.rules.res110_build_fails import parse_setup_script
from envdoctor.model.candidate import BuildRisk
from envdoctor.model.finding import Finding, Severity
from envdoctor.model.origin import FileOrigin
from envdoctor.model.project import FileOption, InstallCommand, Project

LEGACY = "[build-system]\nrequires = ['setuptools<82', 'wheel']\n"
WITH_TORCH = "[build-system]\nrequires = ['setuptools', 'torch>=2']\nbuild-backend = 'setuptools.build_meta'\n"
OLDEST_NUMPY = "[build-system]\nrequires = ['setuptools', 'Cython', 'oldest-supported-numpy']\n"
PLAIN = "[build-system]\nrequires = ['setuptools', 'ninja']\n"
OTHER = "[build-system]\nrequires = ['mesonpy']\nbuild-backend = 'mesonpy'\n"
NUMBA = "max_python_version = '3.11'  # exclusive\ndef _guard_py_ver():\n    raise RuntimeError\n\n_guard_py_ver()\n"


def _found(setup: str, project: str = "", python: str = "3.11") -> list[Finding]:
    members = {"thing-1.0/setup.py": setup, **({"thing-1.0/pyproject.toml": project} if project else {})}
    resolution = resolution_of(resolved("thing==1.0", sdist=True))
    target = target_of(f"linux/x86_64/{python}/cpu")
    found = examine(Examination(target=target, resolution=resolution, archives=MemoryArchives({"thing": members})))
    return [item for item in found if item.rule == "RES110"]


@pytest.mark.parametrize(
    ("setup", "project", "said"),
    [
        ("import pkg_resources\nimport setuptools\n", "", (Severity.ERROR, "imports `pkg_resources` (line 1)")),
        ("from pkg_resources import parse_version\n", WITH_TORCH, (Severity.ERROR, "imports `pkg_resources`")),
        ("import pkg_resources\n", LEGACY, None),
        ("import pkg_resources\n", OTHER, None),
        ("try:\n    import pkg_resources\nexcept ImportError:\n    pass\n", "", None),
        ("def version():\n    import pkg_resources\n", "", None),
        ("import torch\n", "", (Severity.WARNING, "imports `torch` (line 1)")),
        ("import torch\n", WITH_TORCH, None),
        ("try:\n    import torch\nexcept ModuleNotFoundError:\n    pass\n", "", None),
        ("import numpy as np\n", "", (Severity.WARNING, "imports `numpy`")),
        ("import numpy\n", OLDEST_NUMPY, None),
        ("import torch\n", PLAIN, (Severity.WARNING, "imports `torch`")),
        ("print 'of Python 2'\nimport torch\n", "", None),
        (NUMBA, "", (Severity.ERROR, "refuses Python 3.11 (line 1)")),
        ("import sys\nif sys.version_info >= (3, 11):\n    sys.exit('no')\n", "", (Severity.ERROR, "refuses Python")),
        ("import sys\nif sys.version_info < (3, 8):\n    raise RuntimeError\n", "", None),
        ("import sys\nif sys.version_info[0] < 3:\n    sys.exit(1)\n", "", None),
    ],
)  # fmt: skip
def test_what_stops_a_build(setup: str, project: str, said: tuple[Severity, str] | None) -> None:
    findings = _found(setup, project)
    assert [item.severity for item in findings] == ([said[0]] if said else [])
    assert all(said is not None and said[1] in item.message for item in findings)


OLD = "[build-system]\nrequires = ['setuptools==59.2.0', 'wheel']\n"
_PARTED = "\"setuptools<60; python_version < '3.12'\", \"setuptools; python_version >= '3.12'\""
OLD_HERE = f"[build-system]\nrequires = [{_PARTED}]\n"


@pytest.mark.parametrize(
    ("project", "python", "told"),
    [
        (OLD, "3.12", True),
        (OLD, "3.11", False),
        (OLD_HERE, "3.12", False),
        (LEGACY, "3.12", False),
        ("", "3.12", False),
        ("[build-system]\nrequires = ['setuptools<66']\n", "3.13", True),
        ("[build-system]\nrequires = ['setuptools>=40,<=66.1.0']\n", "3.13", False),
    ],
)
def test_a_build_with_a_setuptools_that_does_not_run_here_stops(project: str, python: str, told: bool) -> None:
    findings = _found("from setuptools import setup\nsetup()\n", project, python)
    assert [item.severity for item in findings] == ([Severity.ERROR] if told else [])
    assert all("does not run on Python 3.1" in item.message for item in findings)


def test_how_to_build_what_is_of_no_use_on_the_target_is_not_told() -> None:
    package = resolved("xformers==0.0.30", sdist=True, risk=BuildRisk.COMPILER)
    archives = MemoryArchives({"xformers": {"xformers-0.0.30/setup.py": "import torch\n"}})
    said = {}
    for target in ("macos/aarch64/3.11/mps", "linux/x86_64/3.11/cuda"):
        examination = Examination(target=target_of(target), resolution=resolution_of(package), archives=archives)
        said[target] = [item.rule for item in examine(examination) if item.subject == "xformers"]
    assert list(said.values()) == [["RES102"], ["RES102", "RES110"]]


def test_a_build_may_import_what_stands_beside_its_setup_script() -> None:
    members = {"numpy-1.0/setup.py": "import numpy.distutils\n", "numpy-1.0/numpy/__init__.py": ""}
    resolution, target = resolution_of(resolved("numpy==1.0", sdist=True)), target_of("linux/x86_64/3.11/cpu")
    archives = MemoryArchives({"numpy": members})
    found = examine(Examination(target=target, resolution=resolution, archives=archives))
    assert not [item for item in found if item.rule == "RES110"]


def test_a_build_that_needs_torch_is_told_how() -> None:
    (finding,) = _found("import torch\n")
    assert finding.remedy is not None
    assert "`pip install --no-build-isolation thing`" in finding.remedy.summary
    assert 'no-build-isolation-package = ["thing"]' in finding.remedy.summary


def _built(
    setup: str,
    *options: FileOption,
    step: int | None = None,
    torch: int | None = None,
    there: bool = False,
    more: str = "",
) -> list[Finding]:
    """Return what is said of `thing`, which a script's command ``step`` installs, where ``torch`` installs torch."""
    line = require("thing", FileOrigin("Dockerfile", 9), step=step)
    wants = by_distribution("torch", "thing", "1.0")
    lines = [line, *([require("torch==2.3.1", FileOrigin("Dockerfile", 4), step=torch)] if torch else [])]
    packages = [resolved("thing==1.0", sdist=True, wanted_by=[line])]
    packages += [resolved("torch==2.3.1", wanted_by=[*lines[1:], wants])]
    if more:
        lines.append(require(more, FileOrigin("Dockerfile", 2), step=1))
        packages.append(resolved(f"{more}==1.0", wanted_by=[lines[-1]]))
        packages[1] = resolved("torch==2.3.1", wanted_by=[*lines[1:2], wants, by_distribution("torch", more, "1.0")])
    origins = [FileOrigin("Dockerfile", at) for at in (1, 2, 3)]
    commands = tuple(InstallCommand(at, "install", (), one, torch_there=there) for at, one in enumerate(origins, 1))
    project = Project(".", requirements=tuple(lines), options=options, commands=commands)
    found = examine(
        Examination(
            target=target_of("linux/x86_64/3.12/cuda"),
            project=project,
            resolution=resolution_of(*packages),
            archives=MemoryArchives({"thing": {"thing-1.0/setup.py": setup}}),
        )
    )
    assert not [item for item in found if item.name == "internal"]
    return [item for item in found if item.rule == "RES110"]


def _said(name: str, value: str = "", step: int | None = None) -> FileOption:
    return FileOption(name, value, FileOrigin("Dockerfile", 9), step)


def test_a_build_that_the_project_itself_does_without_isolation_does_not_stop() -> None:
    assert _built("import torch\n", step=2, torch=1)
    assert not _built("import torch\n", _said("no-build-isolation", step=2), step=2, torch=1)
    assert _built("import torch\n", _said("no-build-isolation", step=3), step=2, torch=1)
    assert not _built("import torch\n", _said("no-build-isolation"))
    assert not _built("import torch\n", _said("no-build-isolation"), step=2, torch=1)
    (late,) = _built("import torch\n", _said("no-build-isolation"), step=1, torch=2)
    assert "which is not there yet: `torch==2.3.1` (Dockerfile:4) installs it" in late.message
    assert not _built("import torch\n", _said("no-build-isolation", "Thing"))
    assert _built("import torch\n", _said("no-build-isolation", "other"))
    # Which setuptools is there nobody knows.
    assert _built("import pkg_resources\n")
    assert not _built("import pkg_resources\n", _said("no-build-isolation"))


def test_a_variable_of_pip_that_leaves_isolation_on_is_told() -> None:
    (finding,) = _built("import torch\n", _said("build-isolation", "1"))
    assert finding.remedy is not None
    assert finding.remedy.summary.endswith(
        "; pip's `no-build-isolation` is set to `1` (Dockerfile:9), which leaves isolation on: `0` switches it off"
    )
    (finding,) = _built("import torch\n", _said("build-isolation", "1", step=3), step=2, torch=1)
    assert finding.remedy is not None
    assert "isolation on" not in finding.remedy.summary


def test_what_is_added_to_the_build_requirements_is_there() -> None:
    added = "extra-build-dependencies"
    assert not _built("import torch\n", _said(added, "thing torch"))
    assert not _built("import torch\n", _said(added, "thing torch>=2"))
    assert _built("import torch\n", _said(added, "other torch"))
    assert _built("import torch\n", _said(added, "thing ninja"))
    assert not _built("import pkg_resources\n", _said(added, "thing setuptools<82"))
    assert _built("import pkg_resources\n", _said(added, "thing nonsense=="))


def test_without_isolation_a_torch_that_the_script_installs_later_is_missed() -> None:
    shared = _said("no-build-isolation", step=2)
    (finding,) = _built("import torch\n", shared, step=2, torch=3)
    assert "which is not there yet: `torch==2.3.1` (Dockerfile:4) installs it" in finding.message
    assert finding.remedy is not None
    assert finding.remedy.summary == "install torch first and then `pip install --no-build-isolation thing`"
    assert _built("import torch\n", shared, step=2, torch=2)
    # Another package has brought it, or the image may have it.
    assert not _built("import torch\n", shared, step=2, torch=3, more="accelerate")
    assert not _built("import torch\n", shared, step=2, torch=3, there=True)
    assert not _built("import torch\n", shared, step=2)


def test_an_older_python_is_admitted() -> None:
    assert not _found(NUMBA, python="3.10")
    script = parse_setup_script(
        "import sys\nif sys.version_info[:2] == (3, 9) or sys.version_info >= (3, 13):\n    exit(1)\n"
    )
    assert script is not None
    assert [python for python in ((3, 9), (3, 10), (3, 12), (3, 13)) if script.refuses(python)] == [(3, 9), (3, 13)]


def test_a_script_that_cannot_be_read_says_nothing() -> None:
    resolution = resolution_of(resolved("thing==1.0", sdist=True))
    target = target_of("linux/x86_64/3.11/cpu")
    found = examine(Examination(target=target, resolution=resolution, archives=MemoryArchives({})))
    assert not [item for item in found if item.rule == "RES110"]
