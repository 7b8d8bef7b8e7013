"""The target is the one that is named: of an environment its Python, of facts and of what is pasted their releases."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from packaging.utils import canonicalize_name
from packaging.version import Version

from envdoctor.adapters.probe.host_facts_file import read_facts
from envdoctor.cli.main import main
from envdoctor.model.candidate import CoreMetadata, DistributionFile, FileKind, ProjectPage
from envdoctor.model.compatibility import KNOWN_PYTHONS
from envdoctor.model.environment import EnvironmentKind, InstalledDistribution, InstalledEnvironment, Interpreter
from envdoctor.model.fact import Fact, Facts, FactState
from envdoctor.model.target import Arch, OperatingSystem, Target, dotted
from envdoctor.verbs.listing_requirements import with_requirements
from envdoctor.verbs.patient import Patient
from envdoctor.verbs.scope import target_facts
from envdoctor.verbs.settings import Settings
from envdoctor.verbs.target_choice import TargetChoice, fitted, fitted_of_profile, host_target, pick_target

HERE = (sys.version_info[0], sys.version_info[1])
LINUX, MACOS = OperatingSystem.LINUX, OperatingSystem.MACOS


def _another_python() -> tuple[str, tuple[int, int]] | None:
    for minor in range(9, 16):
        name = shutil.which(f"python3.{minor}")
        if name is None or (3, minor) == HERE:
            continue
        done = subprocess.run([name, "-c", "import ensurepip, venv"], capture_output=True, check=False)
        if done.returncode == 0:
            return name, (3, minor)
    return None


@pytest.fixture
def other(tmp_path: Path) -> tuple[Path, str]:
    """An environment of another Python than the one that runs here."""
    found = _another_python()
    if found is None:
        pytest.skip("there is no other Python on PATH that starts")
    subprocess.run([found[0], "-m", "venv", "--without-pip", str(tmp_path / "its")], check=True)
    return tmp_path / "its", f"{found[1][0]}.{found[1][1]}"


@pytest.fixture
def offline_index(tmp_path: Path) -> list[str]:
    folder = tmp_path / "index"
    folder.mkdir()
    return ["--index-url", folder.as_uri(), "--cache-dir", str(tmp_path / "cache")]


def test_check_and_fix_take_the_python_of_the_environment(
    tmp_path: Path, other: tuple[Path, str], offline_index: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    place, python = other
    (tmp_path / "requirements.txt").write_text("nowhere-known==1.0\n", encoding="utf-8")
    main(["check", str(tmp_path), "--env", str(place), *offline_index, "--format", "json"])
    report = json.loads(capsys.readouterr().out)
    assert (report["target"]["python"], report["scope"]["target_from"]["python"]) == (python, "the environment")
    main(["fix", str(tmp_path), "--env", str(place), *offline_index, "--dry-run"])
    said = capsys.readouterr()
    assert "is for Python" not in said.out + said.err


def test_what_is_to_be_typed_next_is_for_the_same_python(
    tmp_path: Path, other: tuple[Path, str], capsys: pytest.CaptureFixture[str]
) -> None:
    place, python = other
    project = tmp_path / "project"
    project.mkdir()
    (project / "requirements.txt").write_text("six\n", encoding="utf-8")
    wheels = tmp_path / "index" / "six"
    wheels.mkdir(parents=True)
    (wheels / "six-1.0-py3-none-any.whl").write_bytes(_wheel())
    main(["check", str(project), "--env", str(place), "--index-url", wheels.parent.as_uri()])
    shown = capsys.readouterr().out
    assert f"envdoctor fix {project} --target-python {python} --env {place}" in shown


def _wheel() -> bytes:
    import io
    import zipfile

    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr("six-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: six\nVersion: 1.0\n")
        archive.writestr("six-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        archive.writestr("six-1.0.dist-info/RECORD", "")
    return data.getvalue()


def test_of_a_profiles_pythons_the_one_that_is_there_counts() -> None:
    target = Target(LINUX, Arch.X86_64, (3, 12), glibc=(2, 28))
    environment = InstalledEnvironment(
        (),
        source="env",
        kind=EnvironmentKind.VENV,
        python=(3, 11),
        told=Interpreter(platform="linux", glibc="glibc 2.36"),
    )
    fit = fitted_of_profile(target, ((3, 12), (3, 11)), Patient(environment), TargetChoice())
    assert (fit[0].python, fit[1], fit[0].glibc) == ((3, 11), (), (2, 36))
    exact = Patient(replace(environment, python_full="3.11.7"))
    for first, choices in (((3, 12), ((3, 12), (3, 11))), ((3, 11), ())):
        fit = fitted_of_profile(replace(target, python=first), choices, exact, TargetChoice())
        assert (fit[0].python_full, fit[1]) == ("3.11.7", ())
    facts = Facts((Fact("host.macos", FactState.KNOWN, "15.2", "sw_vers"), Fact("os", FactState.KNOWN, "macos", "x")))
    mac = fitted_of_profile(Target(MACOS, Arch.ARM64, (3, 12)), (), Patient(facts=facts), TargetChoice())
    assert mac[0].macos == (15, 2)
    other = fitted_of_profile(target, ((3, 12), (3, 10)), Patient(environment), TargetChoice(glibc="2.28"))
    assert (other[0].python, other[1], other[0].glibc) == ((3, 12), ((3, 12), (3, 10)), (2, 28))


@pytest.mark.parametrize(
    ("paste", "release"),
    [
        (
            (
                "PyTorch version: 2.4.0\nOS: macOS 12.6 (arm64)\nPython version: 3.10.4 (main)\n"
                "Python platform: macOS-12.6-arm64-arm-64bit\n"
            ),
            ("macos", (12, 6), "12.6"),
        ),
        (
            (
                "PyTorch version: 2.4.0\nOS: Ubuntu 20.04 (x86_64)\nLibc version: glibc-2.31\nPython version: 3.10.4\n"
                "Python platform: Linux-5.15-x86_64-with-glibc2.31\n"
            ),
            ("glibc", (2, 31), "2.31"),
        ),
    ],
)
def test_collect_env_tells_python_and_releases(paste: str, release: tuple[str, tuple[int, int], str]) -> None:
    name, value, shown = release
    patient = Patient(facts=read_facts(paste, "facts.txt"))
    target = fitted(host_target(), patient, TargetChoice())
    assert (target.python, getattr(target, name)) == ((3, 10), value)
    rows = {
        row.name: (row.value, row.origin) for row in target_facts(target, TargetChoice(), Settings(), None, patient)
    }
    assert rows["python"] == ("3.10", "facts")
    assert rows[name] == (shown, "facts")
    assert rows["os"][1] == rows["arch"][1] == "facts"


def test_a_python_newer_than_all_that_are_known_is_judged_as_the_newest_and_said_to_be() -> None:
    newest = KNOWN_PYTHONS[-1]
    there = (newest[0], newest[1] + 1)
    environment = InstalledEnvironment((), source="x", python=there, python_full=f"{dotted(there)}.0")
    target = fitted(replace(host_target(), python=(3, 11)), Patient(environment), TargetChoice())
    assert (target.python, target.python_full) == (newest, None)
    rows = target_facts(target, TargetChoice(), Settings(), None, Patient(environment))
    assert ("python", dotted(newest), "the newest that is known") in {(row.name, row.value, row.origin) for row in rows}


@pytest.mark.parametrize(("there", "taken", "said"), [("3.7.9", (3, 8), "old"), ("3.90.0", KNOWN_PYTHONS[-1], "new")])
def test_a_listing_of_a_python_that_is_not_known_is_judged_as_the_nearest_and_said_to_be(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], there: str, taken: tuple[int, int], said: str
) -> None:
    paste = tmp_path / "env.txt"
    text = f"PyTorch version: 2.4.0\nOS: Ubuntu 20.04 (x86_64)\nPython version: {there}\n[pip3] torch==2.4.0\n"
    paste.write_text(text, encoding="utf-8")
    main(["check", "--installed", str(paste), "--offline", "--format", "json"])
    report = json.loads(capsys.readouterr().out)
    assert report["target"]["python"] == dotted(taken)
    (finding,) = [item for item in report["findings"] if item["rule"] == "ENV010"]
    assert f"is too {said}: Python {there.rpartition('.')[0]} is {said}er than {dotted(taken)}" in finding["message"]
    main(["check", "--installed", str(paste), "--offline"])
    assert f"Python {dotted(taken)} assumed" in capsys.readouterr().out


def test_an_assumed_release_is_said_to_be_assumed() -> None:
    target = Target(LINUX, Arch.ARM64, (3, 12)).on_system(MACOS)
    rows = {row.name: row.origin for row in target_facts(target, TargetChoice(), Settings(), None, None)}
    assert rows["macos"] == "assumed"
    typed = target_facts(target, TargetChoice(os=MACOS, macos="14"), Settings(), None, None)
    assert {row.name: row.origin for row in typed}["macos"] == "--macos"


def test_facts_of_a_machine_restrain_an_installed_listing() -> None:
    facts = Facts((Fact("host.macos", FactState.KNOWN, "12.1", "sw_vers"), Fact("os", FactState.KNOWN, "macos", "x")))
    fit = fitted(host_target(), Patient(facts=facts), TargetChoice())
    assert (fit.macos, fit.level_assumed) == ((12, 1), False)
    assert fitted(host_target(), Patient(facts=facts), TargetChoice(macos="14")).macos == (14, 0)


class _TwoWheels:
    """An index with a release of which the wheels for two systems require different things."""

    name = canonicalize_name("torch")

    def page(self, _name: str) -> ProjectPage:
        tags = ("cp311-none-macosx_11_0_arm64", "cp311-cp311-manylinux_2_28_x86_64")
        files = [
            DistributionFile(self.name, Version("2.4.0"), f"torch-2.4.0-{tag}.whl", FileKind.WHEEL, f"https://x/{tag}")
            for tag in tags
        ]
        return ProjectPage(self.name, tuple(files))

    def prefetch_pages(self, names: object) -> None:
        pass

    def prefetch_metadata(self, files: object) -> None:
        list(files)  # type: ignore[call-overload]

    def metadata(self, file: DistributionFile) -> CoreMetadata:
        lines = ("nvidia-cublas==1",) if "manylinux" in file.filename else ("filelock",)
        return CoreMetadata(file.project, file.version, lines)


@pytest.mark.parametrize(
    ("system", "arch", "line"), [(LINUX, Arch.X86_64, "nvidia-cublas==1"), (MACOS, Arch.ARM64, "filelock")]
)
def test_the_requirements_are_those_of_the_wheel_for_the_target(system: OperatingSystem, arch: Arch, line: str) -> None:
    listed = InstalledDistribution(canonicalize_name("torch"), "2.4.0")
    environment = InstalledEnvironment((listed,), source="freeze", kind=EnvironmentKind.LISTING)
    found = with_requirements(environment, _TwoWheels(), Target(system, arch, (3, 11)))  # type: ignore[arg-type]
    assert found.distributions[0].requires_dist == (line,)


SMI = """\
+-----------------------------------------------------------------------------------------+
| NVIDIA-SMI 535.54.03              Driver Version: 535.54.03      CUDA Version: 12.2     |
|-----------------------------------------+------------------------+----------------------+
| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |
|   0  NVIDIA GeForce GTX 1080        Off |   00000000:01:00.0 Off |                  N/A |
+-----------------------------------------------------------------------------------------+
"""


@pytest.mark.parametrize(("option", "assumed"), [("--gpu", True), ("--facts", False)])
def test_a_card_is_judged_for_the_assumed_system_where_a_listing_tells_none(
    option: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    *,
    assumed: bool,
) -> None:
    here = Target(LINUX, Arch.X86_64, (3, 11))
    monkeypatch.setattr("envdoctor.verbs.target_choice.host_target", lambda: here)
    listing, smi = tmp_path / "l.txt", tmp_path / "smi.txt"
    listing.write_text("torch==2.10.0\n", encoding="utf-8")
    smi.write_text(SMI, encoding="utf-8")
    given = [option, "GTX 1080" if option == "--gpu" else str(smi)]
    assert main(["check", "--installed", str(listing), *given, "--offline"]) == 1
    said = capsys.readouterr().out
    assert "RES208" in said
    assert ("linux x86_64 assumed" in said) is assumed


def _picked(**typed: Any) -> tuple[tuple[int, int], str | None]:
    target, _ = pick_target(TargetChoice(**typed), None, None)
    return target.python, target.python_full


def test_the_patch_release_is_known_of_this_machine_and_where_it_is_typed_and_of_no_other() -> None:
    assert _picked(python="3.11.7") == ((3, 11), "3.11.7")
    assert _picked(python="3.11") == ((3, 11), None)
    assert _picked(python="3.11.7", os=OperatingSystem.WINDOWS) == ((3, 11), "3.11.7")
    assert _picked(os=OperatingSystem.WINDOWS)[1] is None
    here = ".".join(map(str, sys.version_info[:3])) if sys.version_info.releaselevel == "final" else None
    assert _picked() == (HERE, here)
