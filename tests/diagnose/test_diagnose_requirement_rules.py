"""Rules over requirements files and scripts."""

from __future__ import annotations

import re
import time
from dataclasses import replace

import pytest
from diagnose_fixtures import MemoryIndex, MemorySources, require, target_of
from packaging.specifiers import SpecifierSet
from packaging.utils import NormalizedName
from packaging.version import Version

from envdoctor.diagnose.engine import examine
from envdoctor.diagnose.examination import Examination
from envdoctor.model.candidate import ProjectPage, Rejection, RejectionKind
from envdoctor.model.conflict import Clash, ClashSide, Conflict
from envdoctor.model.finding import Finding, Severity
from envdoctor.model.origin import DistributionOrigin, FileOrigin, ProfileOrigin
from envdoctor.model.override import Override, OverrideSource
from envdoctor.model.profile import BoundIndex, Profile, ProfileTarget
from envdoctor.model.project import (
    IndexOption,
    IndexOptionKind,
    InstallCommand,
    Project,
    ReadingProblem,
    ReadingProblemKind,
)
from envdoctor.model.repair import Repair
from envdoctor.model.target import Arch, Backend, OperatingSystem
from envdoctor.model.upload_limit import UploadLimit


def found(code: str, **fields) -> list[Finding]:
    findings = examine(Examination(**fields))
    assert not [item for item in findings if item.name == "internal"]
    return [item for item in findings if item.rule == code]


def of_project(code: str, **fields) -> list[Finding]:
    return found(code, project=Project(".", **fields))


def line(text: str, number: int = 1, path: str = "requirements.txt", **fields):
    return require(text, FileOrigin(path, number), **fields)


def conflict(*core, package: str, **fields) -> Conflict:
    sides = (
        ClashSide(core[0]),
        ClashSide(require(f"{package}>=4.42", DistributionOrigin("coqui-tts", "0.24.2")), ("coqui-tts", package)),
    )
    return Conflict("C1", core, Clash(package, sides, **fields))


def test_conflicting_requirements_are_named_with_their_lines_and_the_clash() -> None:
    core = (line("transformers==4.36.2", 27), line("coqui-tts==0.24.2", 5))
    (finding,) = found("RES001", conflicts=(conflict(*core, package="transformers"),))
    assert finding.severity is Severity.ERROR
    assert finding.location == FileOrigin("requirements.txt", 27)
    assert finding.message == (
        "`transformers==4.36.2` (requirements.txt:27) and `coqui-tts==0.24.2` (requirements.txt:5) "
        "cannot be installed together: they need different versions of `transformers`"
    )
    assert "coqui-tts 0.24.2 needs `transformers>=4.42`" in finding.evidence[0].what


def test_a_repair_that_gives_up_a_build_label_says_which_build_comes() -> None:
    core = (line("torch==2.10.0+cu128"), line("torchcodec>=0.17", 2))
    override = Override(require("torch==2.11.0", core[0].origin), (core[0],))
    (finding,) = found(
        "RES001",
        conflicts=(conflict(*core, package="torch"),),
        repairs=(Repair("R1", (override,), ("C1",)),),
        target=target_of("linux/aarch64/3.11/cuda"),
    )
    assert finding.remedy is not None
    said = finding.remedy.summary
    assert said.startswith(
        "repair R1 overrides `torch==2.11.0` (a cu130 build in place of cu128; PyTorch's own indexes"
    )
    assert "+cu130" in said
    assert "rocm" not in said


def test_a_core_of_one_says_what_the_target_could_have() -> None:
    rejection = Rejection(RejectionKind.TAG, "torch", None, "torch-2.0.1-cp311-cp311-manylinux2014_aarch64.whl")
    conflicts = (
        conflict(line("torch==2.0.1"), package="torch", available=("2.15.0", "2.11.0"), rejections=(rejection,)),
    )
    target = target_of("linux/aarch64/3.12/cuda")
    (finding,) = found("RES101", conflicts=conflicts, target=target)
    assert "cannot be met on linux aarch64, Python 3.12, cuda; it could have 2.15.0, 2.11.0" in finding.message
    assert not found("RES001", conflicts=conflicts, target=target)


@pytest.mark.parametrize(
    ("asked", "available", "said"),
    [
        (
            "demo==7.0b5",
            ("9.0", "7.1", "7.0", "7.0b2"),
            "its index has no `demo` 7.0b5; nearest to it are 7.0b2 and 7.0,",
        ),
        ("demo==11", ("9.0", "7.1"), "its index has no `demo` 11; nearest to it is 9.0,"),
        ("demo==7.*", ("9.0",), "choose a version"),
        ("demo>=11", ("9.0",), "choose a version"),
    ],
)
def test_a_version_that_no_index_has_is_told_with_its_neighbours(
    asked: str, available: tuple[str, ...], said: str
) -> None:
    conflicts = (conflict(line(asked), package="demo", available=available),)
    (finding,) = found("RES101", conflicts=conflicts, target=target_of("macos/arm64/3.11/mps"))
    assert finding.remedy
    assert finding.remedy.summary.startswith(said)


def test_what_a_withdrawn_release_asks_for_is_told_with_what_took_its_place() -> None:
    asked = line("tensorflow-gpu")
    demand = require("python-version>3.7", DistributionOrigin("tensorflow-gpu", "2.12.0"))
    clash = Clash("python-version", (ClashSide(demand, ("tensorflow-gpu",)),), available=("0.0.2",))
    target = target_of("linux/x86_64/3.11/cuda")
    (finding,) = found("RES101", conflicts=(Conflict("C1", (asked,), clash),), target=target)
    assert finding.remedy
    assert finding.remedy.summary.startswith(
        "ask for `tensorflow`, which has the GPU builds too: `tensorflow-gpu 2.12.0`"
    )


def test_a_release_that_cannot_be_installed_is_not_the_nearest_that_the_target_has() -> None:
    index = MemoryIndex(
        {
            "tensorflow-gpu": [
                "tensorflow_gpu-2.11.0-cp310-cp310-manylinux2014_x86_64.whl",
                "tensorflow-gpu-2.12.0.tar.gz",
            ]
        }
    )
    conflicts = (
        Conflict("C1", (asked := line("tensorflow-gpu==2.11.0"),), Clash("tensorflow-gpu", (ClashSide(asked),))),
    )
    (finding,) = found("RES101", conflicts=conflicts, target=target_of("linux/x86_64/3.11/cuda"), index=index)
    assert finding.remedy
    assert "Python 3.10 has `tensorflow-gpu` 2.11.0" in finding.remedy.summary
    assert "2.12" not in finding.remedy.summary


def test_where_a_build_refuses_the_target_s_python_the_wheels_say_which_have_one() -> None:
    files = [*(f"demo-1.0-cp3{minor}-cp3{minor}-manylinux2014_x86_64.whl" for minor in (10, 11)), "demo-1.0.tar.gz"]
    index = MemoryIndex({"demo": [*files, "demo-2.0.tar.gz", "demo-3.0-cp312-cp312-manylinux2014_x86_64.whl"]})
    refused = Rejection(RejectionKind.SOURCE_ONLY, "demo", Version("1.0"), files[-1], "its build refuses Python 3.12")
    clash = Clash("demo", (ClashSide(asked := line("demo==1.0")),), available=("3.0",), rejections=(refused,))
    conflicts = (Conflict("C1", (asked,), clash),)
    (finding,) = found("RES101", conflicts=conflicts, target=target_of("linux/x86_64/3.12/cpu"), index=index)
    assert finding.remedy
    assert finding.remedy.summary.startswith("Python 3.10 and 3.11 has `demo` 1.0 on linux x86_64")
    assert finding.remedy.summary.endswith("the nearest `demo` with a file for this target is 3.0")


_TYPED, _SET = UploadLimit("x", "--exclude-newer"), UploadLimit("x", "exclude-newer", "pyproject.toml:9")


@pytest.mark.parametrize(
    ("asked", "limit", "said"),
    [
        ("demo==9", _TYPED, "`--exclude-newer` leaves out `demo` 9, which its index has: give a later date; nearest"),
        ("demo>=8", _TYPED, "`--exclude-newer` leaves out `demo` 8 to 9, which its index has: give a later date; near"),
        ("demo==9", _SET, "`exclude-newer` (pyproject.toml:9) leaves out `demo` 9, which its index has: set a later "),
        ("demo==10", _TYPED, "its index has no `demo` 10; nearest"),
    ],
)
def test_a_version_that_a_date_left_out_is_told_with_who_set_it(asked: str, limit: UploadLimit, said: str) -> None:
    class Dated(MemoryIndex):
        def page(self, name: str) -> ProjectPage:
            return replace(super().page(name), too_new=(Version("8"), Version("9")), limit=limit)

    index = Dated({"demo": ["demo-7.1-py3-none-any.whl"]})
    conflicts = (conflict(line(asked), package="demo", available=("7.1",)),)
    (finding,) = found("RES101", conflicts=conflicts, target=target_of("linux/x86_64/3.11/cpu"), index=index)
    assert finding.remedy
    assert finding.remedy.summary.startswith(said)
    assert re.search(r"; nearest to (?:it|them) is 7\.1,", finding.remedy.summary)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("scikit-lern", "`scikit-learn`?"),
        ("transfomers", "`transformers`?"),
        ("torch-audio", "`torchaudio`?"),
        ("pytorch-lightening", "`pytorch-lightning`?"),
        ("opencv", "`opencv-python` or `opencv-python-headless`?"),
        ("pil", "`pillow` or `pillow-simd`?"),
        ("our-own-models", ""),
        ("abc", ""),
    ],
)
def test_of_a_name_that_no_index_has_a_well_known_one_is_asked_about(written: str, meant: str) -> None:
    rejection = Rejection(RejectionKind.NOT_FOUND, written)
    asked = line(written)
    conflicts = (Conflict("C1", (asked,), Clash(written, (ClashSide(asked),), rejections=(rejection,))),)
    (finding,) = found("RES101", conflicts=conflicts, target=target_of("linux/x86_64/3.11/cpu"))
    assert f"no index has a project called `{written}`" in finding.message
    assert finding.message.endswith(f"; did you mean {meant}" if meant else f"`{written}`")
    assert finding.remedy
    assert finding.remedy.summary.startswith("ask for `" if meant else "look up the project's name")


NO_INDEX = IndexOption(IndexOptionKind.NO_INDEX, "", FileOrigin("requirements.txt", 9))
GONE = ReadingProblem(ReadingProblemKind.MISSING_FILE, FileOrigin("requirements.txt", 1), "does not exist here")


@pytest.mark.parametrize(
    ("project", "said"),
    [
        (
            Project("", index_options=(NO_INDEX,)),
            "put a file of `six` where `--find-links` says, or leave out `--no-index` (requirements.txt:9)",
        ),
        (
            Project("", problems=(GONE,)),
            "put the file where requirements.txt:1 says, or ask for a version that an index has",
        ),
    ],
)
def test_what_no_index_is_to_have_is_put_where_it_is_looked_for(project: Project, said: str) -> None:
    asked = line("six")
    clash = Clash("six", (ClashSide(asked),), rejections=(Rejection(RejectionKind.NOT_FOUND, "six"),))
    target = target_of("linux/x86_64/3.11/cpu")
    (finding,) = found("RES101", conflicts=(Conflict("C1", (asked,), clash),), target=target, project=project)
    assert finding.remedy
    assert finding.remedy.summary == said


@pytest.mark.parametrize(
    ("files", "summary"),
    [
        (
            ["demo-1.0-py3-none-any.whl", "demo-3.0b1-py3-none-any.whl", "demo-3.0rc1-py3-none-any.whl"],
            "only pre-releases of `demo` agree with that, the newest is 3.0rc1: ask for it by name (`demo==3.0rc1`)",
        ),
        (["demo-1.0-py3-none-any.whl", "demo-3.0rc1-cp311-cp311-win_amd64.whl"], "no Python helps"),
        (["demo-1.0-py3-none-any.whl"], "choose a version"),
    ],
)
def test_where_only_a_pre_release_would_do_it_is_named(files: list[str], summary: str) -> None:
    asked = line("demo>=2")
    conflicts = (Conflict("C1", (asked,), Clash("demo", (ClashSide(asked),))),)
    target = target_of("linux/x86_64/3.11/cpu")
    (finding,) = found("RES101", conflicts=conflicts, target=target, index=MemoryIndex({"demo": files}))
    assert finding.remedy
    assert finding.remedy.summary.startswith(summary)


@pytest.mark.parametrize("arch", ["aarch64", "x86_64"])
def test_of_a_gpu_build_that_the_target_cannot_have_the_one_for_the_cpu_is_named(arch: str) -> None:
    files = {
        "onnxruntime-gpu": ["onnxruntime_gpu-1.20.0-cp311-cp311-win_amd64.whl"],
        "onnxruntime": ["onnxruntime-1.20.0-cp311-cp311-manylinux_2_27_aarch64.manylinux_2_28_aarch64.whl"],
    }
    asked = line("onnxruntime-gpu")
    conflicts = (Conflict("C1", (asked,), Clash("onnxruntime-gpu", (ClashSide(asked),))),)
    target = target_of(f"linux/{arch}/3.11/cuda")
    (finding,) = found("RES101", conflicts=conflicts, target=target, index=MemoryIndex(files))
    assert finding.remedy
    there = "take `onnxruntime` in its place on this target" in finding.remedy.summary
    assert there is (arch == "aarch64")
    assert ("keep the line off" in finding.remedy.summary) is not there


@pytest.mark.parametrize(("backend", "there"), [("cuda", True), ("zluda", True), ("rocm", False), ("directml", False)])
def test_of_triton_the_builds_for_windows_are_named(backend: str, *, there: bool) -> None:
    files = {
        "triton": ["triton-3.4.0-cp311-cp311-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl"],
        "triton-windows": ["triton_windows-3.4.0.post20-cp311-cp311-win_amd64.whl"],
    }
    asked = line("triton>=3.4")
    conflicts = (Conflict("C1", (asked,), Clash("triton", (ClashSide(asked),))),)
    target = target_of(f"windows/x86_64/3.11/{backend}")
    (finding,) = found("RES101", conflicts=conflicts, target=target, index=MemoryIndex(files))
    assert finding.remedy
    assert finding.remedy.summary.endswith("it gives the same module") is there


@pytest.mark.parametrize(
    ("target", "file", "said"),
    [
        ("linux/aarch64/3.12/cuda", "demo-2.0-cp312-cp312-manylinux_2_34_aarch64.whl", "glibc 2.34 or later"),
        ("linux/aarch64/3.12/cuda", "demo-2.0-cp312-cp312-manylinux_2_34_x86_64.whl", ""),
        ("macos/arm64/3.12/mps", "demo-2.0-cp312-cp312-macosx_15_0_arm64.whl", "macOS 15.0 or later: where"),
        (
            "macos/arm64/3.10/mps",
            "demo-2.0-cp312-cp312-macosx_15_0_arm64.whl",
            "and Python 3.12 alone: where the machine has that, say `--macos 15.0 --target-python 3.12`",
        ),
        (
            "linux/x86_64/3.13/cuda",
            "demo-2.0-cp311-cp311-manylinux_2_39_x86_64.whl",
            "and Python 3.11 alone: where the machine has that, say `--glibc 2.39 --target-python 3.11`",
        ),
        ("macos/arm64/3.10/mps", "demo-2.0-cp312-cp312-win_amd64.whl", ""),
    ],
)
def test_a_newer_glibc_or_macos_that_has_a_file_is_named(target: str, file: str, said: str) -> None:
    asked = line("demo")
    conflicts = (Conflict("C1", (asked,), Clash("demo", (ClashSide(asked),))),)
    index = MemoryIndex({"demo": [file]})
    (finding,) = found("RES101", conflicts=conflicts, target=target_of(target), index=index)
    assert finding.remedy
    assert said in finding.remedy.summary
    assert ("no Python helps" in finding.remedy.summary) is not bool(said)


def test_of_the_versions_those_are_named_that_the_other_python_has() -> None:
    files = [f"demo-0.{minor}-cp38-cp38-manylinux1_x86_64.whl" for minor in (2, 3)]
    files += ["demo-0.1-cp36-cp36m-macosx_10_9_x86_64.whl", "demo-0.7-cp39-cp39-macosx_10_9_x86_64.whl"]
    conflicts = (Conflict("C1", (line("demo"),), Clash("demo", (ClashSide(line("demo")),))),)
    target = target_of("linux/x86_64/3.11/cpu")
    (finding,) = found("RES101", conflicts=conflicts, target=target, index=MemoryIndex({"demo": files}))
    assert finding.remedy
    assert finding.remedy.summary.startswith("Python 3.8 has `demo` 0.2 to 0.3 on linux x86_64")


def test_the_newest_python_that_has_all_the_pins_is_named() -> None:
    files = {
        "torch": [f"torch-2.3.0-cp3{minor}-cp3{minor}-win_amd64.whl" for minor in (9, 10, 11, 12)],
        "av": [f"av-11.0.0-cp3{minor}-cp3{minor}-win_amd64.whl" for minor in (9, 10)],
    }
    lines = (line("torch==2.3.0", 1), line("av==11.0.0", 2))
    conflicts = tuple(Conflict(f"C{item.origin.line}", (item,), Clash(item.name, (ClashSide(item),))) for item in lines)
    target = target_of("windows/x86_64/3.13/cpu")
    torch, av = found("RES101", conflicts=conflicts, target=target, index=MemoryIndex(files))
    assert torch.remedy
    assert torch.remedy.summary.startswith("Python 3.9 to 3.12 has `torch` 2.3.0 on windows x86_64")
    assert "make the environment with Python 3.10" in torch.remedy.summary
    assert av.remedy
    assert "make the environment with Python 3.10" in av.remedy.summary
    (alone,) = found("RES101", conflicts=conflicts[:1], target=target, index=MemoryIndex(files))
    assert alone.remedy
    assert "make the environment with Python 3.12" in alone.remedy.summary


def test_an_invalid_requirement_names_what_may_be_meant() -> None:
    problem = ReadingProblem(
        ReadingProblemKind.INVALID_REQUIREMENT,
        FileOrigin("requirements.txt", 32),
        "the version ends in a dot",
        "httpx==0.23.",
        ("httpx==0.23.0", "httpx==0.23.3", "httpx==0.23.*"),
    )
    (finding,) = of_project("RES002", problems=(problem,))
    assert "`httpx==0.23.` is an invalid requirement" in finding.message
    assert finding.remedy
    assert "`httpx==0.23.*`" in finding.remedy.summary
    assert finding.remedy.summary.startswith("write one of `httpx==0.23.0`, ")


def test_a_duplicate_names_both_lines() -> None:
    first, second = line("accelerate==0.25.0", 1), line("accelerate==0.25.0", 16)
    (finding,) = of_project("RES003", duplicates=((first, second),))
    assert "listed twice" in finding.message
    assert finding.subject == "accelerate"
    assert finding.location == FileOrigin("requirements.txt", 16)


def test_files_that_nothing_joins_may_say_the_same() -> None:
    first, second = line("torch", 1, "a/requirements.txt"), line("torch", 1, "b/requirements.txt")
    assert not of_project("RES003", duplicates=((first, second),))
    joined = FileOrigin("b/requirements.txt", 1, included_from=FileOrigin("a/requirements.txt", 9))
    assert of_project("RES003", duplicates=((first, require("torch", joined)),))


def test_files_that_a_third_one_includes_may_say_the_same() -> None:
    """The lists of two packages of one repository, say: each is installed without the other, too."""
    first, second = (
        require("torch", FileOrigin(path, 1, included_from=FileOrigin("requirements.txt", at)))
        for at, path in enumerate(("a/base.txt", "b/base.txt"), 1)
    )
    assert not of_project("RES003", duplicates=((first, second),))


def test_a_line_for_conda_and_what_the_package_itself_asks_for_repeat_nothing() -> None:
    first = line("torch", 10, "environment.yml")
    metadata = FileOrigin("setup.py", 9, included_from=FileOrigin("environment.yml", 14))
    assert not of_project("RES003", duplicates=((first, require("torch", metadata)),))
    assert not of_project("RES003", duplicates=((require("torch", first.origin, conda=True), first),))


@pytest.mark.parametrize(
    ("message", "harmless", "severity"),
    [
        ("UTF-16 LE with a byte order mark", False, Severity.WARNING),
        ("a byte order mark, says its author", False, Severity.WARNING),
        ("starts with a UTF-8 byte order mark", True, Severity.INFO),
        ("not UTF-8; read as Latin-1", False, Severity.WARNING),
    ],
)
def test_encoding_is_said_by_weight(message: str, severity: Severity, *, harmless: bool) -> None:
    problem = ReadingProblem(ReadingProblemKind.ENCODING, FileOrigin("requirements.txt"), message, harmless=harmless)
    (finding,) = of_project("RES004", problems=(problem,))
    assert finding.severity is severity
    assert "encoding" in finding.message


@pytest.mark.parametrize(
    ("marker", "meant"),
    [
        ('platform_machine != "Darwin"', "`platform_system` was meant"),
        ('sys_platform == "win64"', '"win32"'),
        ('sys_platform == "Windows"', "`platform_system` was meant"),
        ('platform_system == "linux"', '"Linux", written exactly so'),
        ('os_name == "Windows"', "`platform_system` was meant"),
        ('sys_platform == "macos"', '"darwin"'),
        ('platform_machine == "x64"', '"AMD64"'),
        ('python_version == "3.10.4"', "`python_full_version` was meant"),
        ('python_version >= "py3"', "not a version"),
        ('"Darwin" == sys_platform', "written exactly so"),
    ],
)
def test_marker_mistakes(marker: str, meant: str) -> None:
    (finding,) = of_project("RES005", requirements=(line(f"wetext ; {marker}"),))
    assert meant in finding.message


@pytest.mark.parametrize(
    "marker",
    [
        'platform_system == "Darwin"',
        'sys_platform != "win32"',
        'platform_machine == "aarch64"',
        'platform_machine == "AMD64" and os_name == "nt"',
        'python_version < "3.12"',
        'python_version < "0"',
        'python_version == "3.10.*"',
        'python_version in "3.9 3.10"',
        'platform_machine == "loongarch64"',
        'sys_platform == "freebsd13"',
        '"tegra" in platform_release',
        'extra == "linux"',
        'sys_platform == "linux" or sys_platform == "linux2"',
        'platform_python_implementation == "CPython"',
    ],
)
def test_right_markers_are_left_alone(marker: str) -> None:
    assert not of_project("RES005", requirements=(line(f"wetext ; {marker}"),))


@pytest.mark.parametrize(
    ("kind", "severity"),
    [
        (ReadingProblemKind.MISSING_FILE, Severity.ERROR),
        (ReadingProblemKind.UNKNOWN_OPTION, Severity.ERROR),
        (ReadingProblemKind.IGNORED_OPTION, Severity.WARNING),
        (ReadingProblemKind.DYNAMIC, Severity.WARNING),
        (ReadingProblemKind.UNSUPPORTED, Severity.INFO),
    ],
)
def test_what_was_not_read_is_said(kind: ReadingProblemKind, severity: Severity) -> None:
    problem = ReadingProblem(kind, FileOrigin("requirements.txt", 3), "there is no `base.txt`", "-r base.txt")
    (finding,) = of_project("RES006", problems=(problem,))
    assert finding.severity is severity
    known = kind not in (ReadingProblemKind.UNSUPPORTED, ReadingProblemKind.IGNORED_OPTION, ReadingProblemKind.EMPTY)
    assert (finding.remedy is not None) is known


def command(step: int, verb: str, *arguments: str, **fields) -> InstallCommand:
    fields.setdefault("quiet", True)
    fields.setdefault("checked", False)
    return InstallCommand(step, verb, (verb, *arguments), FileOrigin("install.bat", step + 7), **fields)


SCRIPT = (
    command(1, "install", "--upgrade", "pip", "--quiet"),
    command(2, "install", "-r", "requirements.txt", requirement_files=("requirements.txt",)),
    command(3, "uninstall", "torch", "torchvision", "torchaudio", "-y"),
    command(4, "install", "torch==2.3.0", "--index-url", "https://index.example/whl/cu118"),
    command(5, "install", "onnxruntime"),
)
SCRIPT_LINES = (line("torch", 1), line("torchvision", 3), line("torchaudio", 4), line("numpy>=1.25.0", 5))


def test_step_order_names_what_is_installed_and_removed() -> None:
    (finding,) = of_project("RES007", commands=SCRIPT, requirements=SCRIPT_LINES)
    assert (
        "install.bat:9 installs `torch`, `torchaudio`, `torchvision`, which install.bat:10 removes" in finding.message
    )
    assert "wasted" in finding.message


def test_what_a_later_step_removes_is_looked_up_in_the_file_itself() -> None:
    left = (line("numpy>=1.25.0", 5),)
    sources = MemorySources({"requirements.txt": "torch\ntorchsde\ntorchvision\nnumpy>=1.25.0\n"})
    project = Project(".", commands=SCRIPT, requirements=left)
    (finding,) = found("RES007", project=project, sources=sources)
    assert "installs `torch`, `torchvision`, which" in finding.message
    (blind,) = found("RES007", project=project)
    assert "installs `torch`, which" in blind.message
    assert not found("RES007", project=project, sources=MemorySources({"requirements.txt": "einops\n"}))


@pytest.mark.parametrize(
    ("later", "path", "said", "severity"),
    [
        (("numpy==2",), "install.bat", "puts `numpy==2` in its place", Severity.INFO),
        (("-r", "all.txt"), "all.txt", "puts `numpy==2` in its place", Severity.WARNING),
        (("numpy==2", "-i", "https://i.example"), "install.bat", "puts `numpy==2` in its place", Severity.WARNING),
        (("-U", "numpy"), "install.bat", "puts the newest `numpy` in its place", Severity.INFO),
    ],
)
def test_what_a_later_command_puts_in_the_place_of_another_version_is_said(
    later: tuple[str, ...], path: str, said: str, severity: Severity
) -> None:
    commands = (command(1, "install", "numpy==1"), command(2, "install", *later, upgrade="-U" in later))
    new = replace(line("numpy" if "-U" in later else "numpy==2", 1), step=2, origin=FileOrigin(path, 9))
    old = replace(line("numpy==1", 1), step=1)
    (finding,) = of_project("RES007", commands=commands, requirements=(new,), superseded=(old,))
    assert finding.message == f"step order: install.bat:8 asks for `numpy==1`, and install.bat:9 {said}"
    assert finding.severity is severity


def test_many_steps_take_no_square_of_their_number() -> None:
    installs = [command(at, "install", f"demo{at}", "torch", requirement_files=("all.txt",)) for at in range(1, 2000)]
    removals = [command(at, "uninstall", f"gone{at}", "-y") for at in range(2000, 4000)]
    last = command(4000, "uninstall", "demo7", "torch"), command(4001, "install", "torch")
    commands = (*installs, *removals, *last)
    begun = time.process_time()
    texts = [finding.message for finding in of_project("RES007", commands=commands, requirements=())]
    assert time.process_time() - begun < 15
    assert ["installs `torch`" in texts[0], "installs `demo7`" in texts[1]] == [True, True]


def test_steps_that_do_not_meet_are_fine() -> None:
    assert not of_project("RES007", commands=(SCRIPT[4], SCRIPT[3]), requirements=())


def test_quiet_unchecked_installs_are_one_finding() -> None:
    (finding,) = of_project("RES008", commands=SCRIPT)
    assert finding.severity is Severity.WARNING
    assert "does not check whether 4 `pip install` commands succeed (4 of them quiet" in finding.message


def test_checked_installs_are_fine_and_loud_ones_mild() -> None:
    assert not of_project("RES008", commands=(command(1, "install", "torch", checked=True),))
    tools = (command(1, "install", "six", tool="uv"), command(2, "install", "pytorch=2.4", tool="conda"))
    (told,) = of_project("RES008", commands=tools)
    assert [item.what for item in told.evidence] == ["uv pip install six", "conda install pytorch=2.4"]
    assert "2 install commands succeed" in told.message
    (finding,) = of_project("RES008", commands=(command(1, "install", "torch", quiet=False),))
    assert finding.severity is Severity.INFO
    assert "whether its `pip install` command succeeds (line 8), so" in finding.message
    (finding,) = of_project("RES008", commands=(command(1, "install", "torch", quiet=True),))
    assert "whether its `pip install` command succeeds (quiet, line 8), so" in finding.message


def test_a_local_version_needs_an_extra_index() -> None:
    option = IndexOption(
        IndexOptionKind.EXTRA_INDEX_URL, "https://index.example/whl/cu118", FileOrigin("requirements.txt", 36)
    )
    (known,) = of_project("RES009", requirements=(line("torch==2.0.1+cu118", 37),), index_options=(option,))
    assert known.severity is Severity.INFO
    assert "only https://index.example/whl/cu118 (given at requirements.txt:36) has it" in known.message
    (unknown,) = of_project("RES009", requirements=(line("torch==2.0.1+cu118", 37),))
    assert unknown.severity is Severity.WARNING
    assert not of_project("RES009", requirements=(line("torch==2.0.1"),))


def test_a_compatible_release_pin_says_what_it_means() -> None:
    (finding,) = of_project("RES010", requirements=(line("numpy~=1.23.4", 9), line("tqdm~=4.64.1", 5)))
    assert (
        finding.message == "`numpy~=1.23.4` means numpy>=1.23.4,<1.24, and other packages depend on which numpy it is"
    )
    assert finding.severity is Severity.INFO
    assert not of_project("RES010", requirements=(line("numpy~=1.23"), line("numpy==1.23.4"), line("pandas~=1.5.0")))


def test_an_override_without_a_file_for_the_target_is_told_with_the_python_that_has_one() -> None:
    pinned = Override(require("torch==2.4.1", ProfileOrigin("p", "override[0]")), source=OverrideSource.PROFILE)
    own = ProfileTarget(OperatingSystem.WINDOWS, Arch.X86_64, SpecifierSet(">=3.10"), Backend.CPU)
    index = MemoryIndex({"torch": [f"torch-2.4.1-cp3{minor}-cp3{minor}-win_amd64.whl" for minor in (11, 12)]})
    for python, said in (
        ("3.13", "the override `torch==2.4.1` has no file for windows x86_64, Python 3.13, cpu: make the environment"),
        ("3.12", "override what these lines are tied to as well"),
    ):
        (finding,) = found(
            "RES014",
            project=Project("."),
            override_failure=(line("torch==2.7"),),
            profile=Profile("p", "", own, overrides=(pinned,)),
            target=target_of(f"windows/x86_64/{python}/cpu"),
            index=index,
        )
        assert finding.remedy
        assert finding.remedy.summary.startswith(said)
        assert ("Python 3.12" in finding.remedy.summary.partition(": make")[2]) is (python == "3.13")


def test_whether_an_override_holds_is_not_known_where_its_index_gave_no_answer() -> None:
    pinned = Override(require("torch==2.14.0+rocm10.1.0", ProfileOrigin("p", "override[0]")))
    bound = BoundIndex("amd", "https://index.example/", (NormalizedName("torch"),))
    own = ProfileTarget(OperatingSystem.LINUX, Arch.X86_64, SpecifierSet(">=3.10"), Backend.ROCM)

    class StandIns(MemoryIndex):
        def page(self, name: str) -> ProjectPage:
            page = super().page(name)
            return replace(page, files=tuple(replace(file, stand_in=stand_in) for file in page.files))

    index = StandIns({"torch": ["torch-2.7.0-cp311-cp311-manylinux_2_28_x86_64.whl"]})
    for stand_in, severity in ((True, Severity.WARNING), (False, Severity.ERROR)):
        (finding,) = found(
            "RES014",
            project=Project("."),
            override_failure=(line("torch==2.7"),),
            profile=Profile("p", "", own, overrides=(pinned,), indexes=(bound,)),
            target=target_of("linux/x86_64/3.11/rocm"),
            index=index,
        )
        assert finding.severity is severity
        assert ("is not known: index `amd` could not be reached, and no other has" in finding.message) is stand_in


@pytest.mark.parametrize(
    ("target", "file", "marker"),
    [
        ("macos/x86_64/3.12/cpu", "macosx_14_0_arm64", "sys_platform != 'darwin' or platform_machine != 'x86_64'"),
        ("macos/arm64/3.12/mps", "manylinux_2_17_x86_64", "sys_platform != 'darwin'"),
        ("linux/aarch64/3.12/cuda", "manylinux_2_17_x86_64", "platform_machine != 'aarch64'"),
    ],
)
def test_the_marker_keeps_a_line_off_no_other_machines(target: str, file: str, marker: str) -> None:
    asked = line("demo")
    conflicts = (Conflict("C1", (asked,), Clash("demo", (ClashSide(asked),))),)
    index = MemoryIndex({"demo": [f"demo-2.0-cp312-cp312-{file}.whl"]})
    (finding,) = found("RES101", conflicts=conflicts, target=target_of(target), index=index)
    assert finding.remedy
    assert f"the marker `; {marker}`" in finding.remedy.summary


@pytest.mark.parametrize("reached", [True, False])
def test_what_an_index_out_of_reach_has_is_told_by_what_is_known(reached: bool) -> None:
    asked = line("torch==2.5.1")
    clash = Clash("torch", (ClashSide(asked),), available=("2.15.0+cu132", "2.12.0+cu132"))

    class Standing(MemoryIndex):
        def page(self, name: str) -> ProjectPage:
            page = super().page(name)
            files = (replace(file, index="pytorch-cu132", stand_in=not reached) for file in page.files)
            return replace(page, files=tuple(files))

    index = Standing({"torch": ["torch-2.12.0-cp312-cp312-win_amd64.whl"]})
    target = target_of("windows/x86_64/3.12/cuda")
    (finding,) = found("RES101", conflicts=(Conflict("C1", (asked,), clash),), target=target, index=index)
    assert finding.remedy
    said = finding.remedy.summary
    if reached:
        assert said.startswith("its index has no `torch` 2.5.1; nearest to it is 2.12.0+cu132")
    else:
        assert said.startswith("index `pytorch-cu132` could not be reached; by what is known here it has no `torch`")
