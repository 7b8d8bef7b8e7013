"""The rules about drivers, tools and space: when they speak, and when they must not."""

from __future__ import annotations

import pytest
from packaging.utils import canonicalize_name
from packaging.version import Version

from envdoctor.diagnose.examination import Examination
from envdoctor.diagnose.host_needs import card_against
from envdoctor.diagnose.rulebook import rule
from envdoctor.model.binary import Binary, BinaryFormat, BinaryInventory
from envdoctor.model.candidate import BuildRisk, DistributionFile, FileKind
from envdoctor.model.environment import EnvironmentKind, InstalledDistribution, InstalledEnvironment
from envdoctor.model.fact import Fact, Facts, FactState
from envdoctor.model.finding import Finding, Severity
from envdoctor.model.resolution import Resolution, ResolvedPackage
from envdoctor.model.target import Arch, Backend, OperatingSystem, Target
from envdoctor.profile.load import load_profile

LINUX = Target(OperatingSystem.LINUX, Arch.X86_64, (3, 11))
JETSON = Target(OperatingSystem.LINUX, Arch.AARCH64, (3, 12))


def find(code: str, examination: Examination) -> list[Finding]:
    found = rule(code)
    assert found is not None
    return list(found.find(examination))


def facts(*absent: str, **known: object) -> Facts:
    named = {key.replace("__", "."): value for key, value in known.items()}
    return Facts(
        [
            *(Fact(name, FactState.KNOWN, value, "test") for name, value in named.items()),
            *(Fact(name, FactState.ABSENT, source="PATH") for name in absent),
        ]
    )


def needs(name: str, *libraries: str) -> Binary:
    return Binary(f"/s/{name}/_C.abi3.so", BinaryFormat.ELF, ("x86_64",), libraries, extension=True, distribution=name)


def planned(name: str, size: int, risk: BuildRisk | None = None) -> Resolution:
    kind, suffix = (FileKind.SDIST, "tar.gz") if risk else (FileKind.WHEEL, "whl")
    project = canonicalize_name(name)
    file = DistributionFile(project, Version("1"), f"{name}-1.{suffix}", kind, "https://index.example/x", size=size)
    return Resolution((ResolvedPackage(project, Version("1"), file, (file,), build_risk=risk),))


def test_host001_driver_below_the_floor():
    examination = Examination(
        target=LINUX,
        binaries=BinaryInventory((needs("kernels", "libcudart.so.13"), needs("fine", "libcudart.so.12"))),
        facts=facts(driver__version="550.54.15"),
    )
    (finding,) = find("HOST001", examination)
    assert finding.message == "`kernels` needs CUDA 13, which needs driver 580 or later, and this is 550.54.15"


def test_host001_is_silent_where_the_driver_fits_is_not_known_or_is_of_another_machine():
    inventory = BinaryInventory((needs("kernels", "libcudart.so.13"),))
    for known in (facts(driver__version="580.97"), facts(), facts("driver.version")):
        assert find("HOST001", Examination(target=LINUX, binaries=inventory, facts=known)) == []
    elsewhere = facts(driver__version="550.54", os="windows")
    assert find("HOST001", Examination(target=LINUX, binaries=inventory, facts=elsewhere)) == []


def test_host001_leaves_torch_to_the_advisory():
    torch = InstalledDistribution(canonicalize_name("torch"), "2.11.0+cu130")
    examination = Examination(
        target=LINUX,
        environment=InstalledEnvironment((torch,)),
        binaries=BinaryInventory((needs("torch", "libcudart.so.13"),)),
        facts=facts(driver__version="550.54"),
    )
    assert find("HOST001", examination) == []


def test_host002_needs_of_a_profile():
    profile = load_profile("amphion-cuda13-aarch64")
    known = facts("tool.git-lfs.version", "library.libespeak-ng", driver__version="540.4.0", os="linux", arch="aarch64")
    phonemizer = InstalledEnvironment((InstalledDistribution(canonicalize_name("phonemizer"), "3.3.0"),))
    found = find("HOST002", Examination(target=JETSON, profile=profile, facts=known, environment=phonemizer))
    by_subject = {finding.subject: finding for finding in found}
    assert set(by_subject) == {"driver", "espeak-ng", "git-lfs"}
    assert by_subject["espeak-ng"].severity is Severity.WARNING
    assert "is 540.4.0, and the stack needs 580 or later" in by_subject["driver"].message
    assert "JetPack 7" in by_subject["driver"].remedy.summary


def test_host002_says_nothing_of_what_was_not_looked_for_or_of_another_machine():
    profile = load_profile("amphion-cuda13-aarch64")
    assert find("HOST002", Examination(target=JETSON, profile=profile)) == []
    laptop = facts("library.libespeak-ng", "tool.ffmpeg.version", "library.libavutil", os="linux", arch="x86_64")
    assert find("HOST002", Examination(target=JETSON, profile=profile, facts=laptop)) == []


def test_host002_compiler_for_source_distributions():
    absent = facts("tool.g++.version", "tool.gcc.version", "tool.clang.version", "tool.cl.version")
    native = Examination(target=LINUX, resolution=planned("av", 10, BuildRisk.COMPILER), facts=absent)
    (finding,) = find("HOST002", native)
    assert (finding.subject, finding.severity) == ("cxx-compiler", Severity.WARNING)
    pure = Examination(target=LINUX, resolution=planned("jieba", 10, BuildRisk.ANYWHERE), facts=absent)
    assert find("HOST002", pure) == []
    some = facts("tool.g++.version", "tool.cl.version", tool__clang__version="18.1")
    assert find("HOST002", Examination(target=LINUX, resolution=planned("av", 1, BuildRisk.COMPILER), facts=some)) == []


def test_host003_disk_and_memory():
    resolution = planned("torch", 2_700_000_000)
    low = Examination(target=LINUX, resolution=resolution, facts=facts(host__disk_free_bytes=5_000_000_000))
    (finding,) = find("HOST003", low)
    assert finding.severity is Severity.ERROR
    assert finding.message == "5.0 GB are free; the resolution takes about 6.8 GB, 9.4 GB with downloads"
    tight = Examination(target=LINUX, resolution=resolution, facts=facts(host__disk_free_bytes=8_000_000_000))
    assert [item.severity for item in find("HOST003", tight)] == [Severity.WARNING]
    roomy = facts(host__disk_free_bytes=20_000_000_000, host__memory_bytes=16 << 30)
    assert find("HOST003", Examination(target=LINUX, resolution=resolution, facts=roomy)) == []
    small = Examination(target=LINUX, resolution=resolution, facts=facts(host__memory_bytes=1 << 30))
    assert [item.subject for item in find("HOST003", small)] == ["memory"]


@pytest.mark.parametrize(
    ("wsl", "root", "told"),
    [
        (True, "/mnt/c/Users/u/p/.venv", 1),
        (True, "/home/u/p/.venv", 0),
        (True, "/mnt/data/p/.venv", 0),
        (False, "/mnt/c/p/.venv", 0),
    ],
)
def test_an_environment_on_a_disk_of_windows_under_wsl(wsl: bool, root: str, told: int) -> None:
    environment = InstalledEnvironment((), root=root, kind=EnvironmentKind.VENV)
    examination = Examination(environment=environment, facts=facts(host__wsl=wsl))
    assert len(find("HOST005", examination)) == told


@pytest.mark.parametrize(
    ("backend", "vendor", "against"),
    [
        (Backend.ZLUDA, "nvidia", "and the card is Some Card"),
        (Backend.ZLUDA, "amd", ""),
        (Backend.DIRECTML, "qualcomm", ""),
        (Backend.DIRECTML, "other", ""),
    ],
)
def test_a_card_of_a_maker_that_no_backend_names_is_none_against_directml(backend, vendor, against):
    card = {"gpu[0].vendor": vendor, "gpu[0].name": "Some Card"}
    assert card_against(backend, facts(**card)) == against
