"""Rules over what a target ends up with."""

from __future__ import annotations

from dataclasses import replace

import pytest
from diagnose_fixtures import (
    MemoryArchives,
    MemoryIndex,
    by_distribution,
    file_of,
    require,
    resolution_of,
    resolved,
    target_of,
)
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from envdoctor.diagnose.engine import breakages, examine
from envdoctor.diagnose.examination import Examination
from envdoctor.diagnose.rules.res208_no_kernel_for_card import runs_on
from envdoctor.model.candidate import BuildRisk, ProjectPage
from envdoctor.model.fact import Fact, Facts, FactState
from envdoctor.model.finding import Finding, Look, Severity
from envdoctor.model.origin import DistributionOrigin, FileOrigin
from envdoctor.model.override import Override
from envdoctor.model.profile import Profile, ProfileTarget
from envdoctor.model.project import Project, ReadingProblem, ReadingProblemKind
from envdoctor.model.repair import Repair
from envdoctor.model.resolution import ResolvedPackage, WalkedBack
from envdoctor.model.unknown import Subject, SubjectKind, Unknown, UnknownKind
from envdoctor.ports import IndexUnavailable, ProjectNotFound

WINDOWS = target_of("windows/x86_64/3.11/zluda")
LINUX = target_of("linux/x86_64/3.11/cuda")
THOR = target_of("linux/aarch64/3.12/cuda")


def found(code: str, *packages: ResolvedPackage, target=LINUX, **fields) -> list[Finding]:
    walked = fields.pop("walked_back", ())
    resolution = resolution_of(*packages, walked_back=walked, repair=fields.pop("repair", None))
    findings = examine(Examination(target=target, resolution=resolution, **fields))
    assert not [item for item in findings if item.name == "internal"]
    return [item for item in findings if item.rule == code]


def facts_of(known: dict[str, object]) -> Facts:
    return Facts(Fact(name, FactState.KNOWN, value, "test") for name, value in known.items())


def pinned(text: str, line: int = 1):
    return require(text, FileOrigin("requirements.txt", line))


def test_source_only_is_graded_and_says_who_wants_it() -> None:
    packages = (
        resolved("wetextprocessing==1.0.4", wanted_by=[pinned("WeTextProcessing", 23)]),
        resolved(
            "pynini==2.1.6",
            sdist=True,
            risk=BuildRisk.COMPILER,
            wanted_by=[by_distribution("pynini==2.1.6", "WeTextProcessing", "1.0.4")],
        ),
        resolved("docopt==0.6.2", sdist=True, risk=BuildRisk.ANYWHERE),
        resolved("strange==1.0", sdist=True, risk=BuildRisk.COMPILER),
        resolved("unknown==1.0", sdist=True, risk=BuildRisk.UNKNOWN),
        resolved("numpy==2.1.0"),
    )
    findings = {item.subject: item for item in found("RES102", *packages)}
    assert findings.keys() == {"pynini", "docopt", "strange", "unknown"}
    assert findings["pynini"].message == (
        "`pynini` 2.1.6 has no wheel for this target and needs OpenFst, a C++ compiler; "
        "wanted by `WeTextProcessing` (requirements.txt:23) -> pynini"
    )
    assert findings["pynini"].location == FileOrigin("requirements.txt", 23)
    assert findings["docopt"].severity is Severity.INFO
    assert findings["strange"].severity is Severity.WARNING
    assert "needs a compiler" in findings["strange"].message
    assert "may need a compiler" in findings["unknown"].message


def test_a_known_substitute_is_named_with_the_command_that_takes_it() -> None:
    (finding,) = found("RES102", resolved("webrtcvad==2.0.10", sdist=True, risk=BuildRisk.COMPILER))
    assert finding.remedy is not None
    assert "`envdoctor lock --substitute webrtcvad` takes it" in finding.remedy.summary


@pytest.mark.parametrize(
    ("wheel", "said", "takes"),
    [
        ("webrtcvad_wheels-2.0.14-cp311-cp311-manylinux_2_17_x86_64.whl", "has wheels", True),
        ("webrtcvad_wheels-2.0.14-cp38-cp38-win_amd64.whl", "has no wheel for this target either", False),
        ("", "of which the index in use does not tell", True),
    ],
)
def test_a_substitute_is_advised_where_the_index_has_a_wheel_of_it(wheel: str, said: str, takes: bool) -> None:
    index = MemoryIndex({"webrtcvad": ["webrtcvad-2.0.10.tar.gz"], "webrtcvad-wheels": [wheel]})
    if not wheel:
        index = _Silent({"webrtcvad": ["webrtcvad-2.0.10.tar.gz"]})
    (finding,) = found("RES102", resolved("webrtcvad==2.0.10", sdist=True, risk=BuildRisk.COMPILER), index=index)
    assert finding.remedy is not None
    assert said in finding.remedy.summary
    assert ("--substitute" in finding.remedy.summary) is takes


class _Silent(MemoryIndex):
    """An index that answers for what it has alone."""

    def page(self, name: str) -> ProjectPage:
        try:
            return super().page(name)
        except ProjectNotFound:
            subject = Subject(SubjectKind.INDEX, "default")
            raise IndexUnavailable(Unknown(UnknownKind.UNREACHABLE, subject, "default")) from None


def test_what_fetches_the_real_wheel_by_itself_is_not_said_to_work_anywhere() -> None:
    (finding,) = found("RES102", resolved("tensorrt-cu12==10.8.0.43", sdist=True, risk=BuildRisk.FETCHES))
    assert finding.severity is Severity.WARNING
    assert "its build fetches more by itself, which is not looked at here" in finding.message
    assert finding.remedy is not None
    assert finding.remedy.summary.startswith("name the index that it fetches from")


def test_what_fetches_a_wheel_of_kernels_says_what_they_need_too() -> None:
    package = resolved("mamba-ssm==2.2.4", sdist=True, risk=BuildRisk.FETCHES)
    (finding,) = found("RES102", package)
    assert finding.severity is Severity.WARNING
    assert "needs the CUDA toolkit (nvcc), a C++ compiler, torch at build time, and its build" in finding.message
    assert finding.remedy is not None
    assert "index that it fetches from" not in finding.remedy.summary
    (finding,) = found("RES102", package, target=target_of("macos/aarch64/3.11/mps"))
    assert "which macOS does not have" in finding.message


def test_an_optional_extension_is_no_reason_to_warn() -> None:
    (finding,) = found("RES102", resolved("distance==0.1.3", sdist=True, risk=BuildRisk.COMPILER))
    assert finding.severity is Severity.INFO
    assert "works anywhere" in finding.message


@pytest.mark.parametrize(
    ("pin", "instead"),
    [
        ("sklearn==0.0.post12", "scikit-learn"),
        ("pytorch==1.0.2", "torch"),
        ("skimage==0.0", "scikit-image"),
        ("tensorflow-gpu==2.12.0", "tensorflow"),
        ("nvidia-cublas-cu13==0.0.1", "nvidia-cublas"),
        ("nvidia-cuda-nvcc-cu13==0.0.1", "nvidia-cuda-nvcc"),
    ],
)
def test_a_source_distribution_that_fails_on_purpose_never_works_anywhere(pin: str, instead: str) -> None:
    (finding,) = found("RES102", resolved(pin, sdist=True, risk=BuildRisk.ANYWHERE))
    assert finding.severity is Severity.ERROR
    assert "cannot be installed" in finding.message
    assert finding.remedy
    assert finding.remedy.summary.startswith(f"ask for `{instead}`")
    assert not found("RES102", resolved(pin))
    plan = resolution_of(resolved(pin, sdist=True, risk=BuildRisk.ANYWHERE))
    assert [item.rule for item in breakages(Examination(target=LINUX, resolution=plan))] == ["RES102"]
    plan = resolution_of(resolved("webrtcvad==2.0.10", sdist=True, risk=BuildRisk.COMPILER))
    assert not breakages(Examination(target=LINUX, resolution=plan)), "what a compiler builds is no breakage"


def test_the_first_release_of_sklearn_installs_and_brings_scikit_learn() -> None:
    (finding,) = found("RES102", resolved("sklearn==0.0", sdist=True, risk=BuildRisk.ANYWHERE))
    assert finding.severity is Severity.INFO


def test_a_build_that_leaves_out_what_the_wheels_have_is_not_said_to_work_anywhere() -> None:
    index = MemoryIndex({"coremltools": ["coremltools-8.0.tar.gz", "coremltools-8.0-cp311-none-macosx_11_0_arm64.whl"]})
    (finding,) = found(
        "RES102",
        resolved("coremltools==8.0", sdist=True, risk=BuildRisk.ANYWHERE),
        index=index,
        target=target_of("macos/aarch64/3.13/cpu"),
    )
    assert "without the native libraries" in finding.message
    assert "anywhere" not in finding.message
    assert finding.remedy
    assert finding.remedy.summary == "Python 3.11 has a wheel of `coremltools` 8.0"


def test_kernels_for_cuda_are_not_built_on_macos() -> None:
    package = resolved("xformers==0.0.22", sdist=True, risk=BuildRisk.COMPILER)
    (finding,) = found("RES102", package, target=target_of("macos/aarch64/3.11/mps"))
    assert "need the CUDA toolkit, which macOS does not have" in finding.message
    assert finding.remedy is not None
    assert "; sys_platform != 'darwin'" in finding.remedy.summary
    (finding,) = found("RES102", package, target=LINUX)
    assert "needs the CUDA toolkit (nvcc), a C++ compiler, torch at build time" in finding.message


def test_a_pin_that_a_repair_moved_is_told_what_it_would_have_needed() -> None:
    line = pinned("faster-whisper==1.0.1", 4)
    index = MemoryIndex(
        {
            "faster-whisper": ["faster_whisper-1.0.1-py3-none-any.whl"],
            "av": ["av-11.0.0.tar.gz", "av-12.3.0-cp311-cp311-win_amd64.whl", "av-12.3.0.tar.gz"],
            "tokenizers": ["tokenizers-0.15.2-cp311-none-win_amd64.whl"],
        },
        {"faster-whisper==1.0.1": ["av==11.*", "tokenizers<0.16,>=0.13", "gone>=1", "tool>1; extra == 'dev'"]},
    )
    repair = Repair("R1", (Override(pinned("faster-whisper==1.1.0"), (line,)),), ("C1",))
    (finding,) = found(
        "RES102", resolved("faster-whisper==1.1.0"), target=WINDOWS, index=index, repairs=(repair,), repair="R1"
    )
    assert (finding.subject, finding.look) == ("av", Look.AS_THEY_STAND), "a lock settles it"
    assert "`av` 11.0.0 has no wheel for this target and needs FFmpeg headers" in finding.message
    assert "`faster-whisper==1.0.1` (requirements.txt:4), which demands `av==11.*`" in finding.message
    assert finding.location == FileOrigin("requirements.txt", 4)


def test_a_pin_that_holds_is_not_looked_behind() -> None:
    index = MemoryIndex({"x": ["x-1.0-py3-none-any.whl"], "y": ["y-1.0.tar.gz"]}, {"x==1.0": ["y==1.0"]})
    repair = Repair("R1", (Override(pinned("x==1.0"), (pinned("x==1.0"),)),), ("C1",))
    assert not found("RES102", resolved("x==1.0"), index=index, repairs=(repair,))


def test_legacy_metadata_quotes_the_lines() -> None:
    package = resolved("omegaconf==2.0.6", mended=("PyYAML (>=5.1.*)",))
    (finding,) = found("RES103", package)
    assert "legacy metadata" in finding.message
    assert finding.evidence[0].what == "Requires-Dist: PyYAML (>=5.1.*)"


def test_walked_back_says_who_forced_it() -> None:
    walked = WalkedBack("fairseq", Version("0.10.2"), Version("0.12.2"), (by_distribution("omegaconf<2.1", "x", "1"),))
    (finding,) = found(
        "RES104", resolved("fairseq==0.10.2", sdist=True, wanted_by=[pinned("fairseq")]), walked_back=(walked,)
    )
    assert finding.severity is Severity.WARNING
    assert "is 0.10.2 and not 0.12.2, the newest: pinned by `omegaconf<2.1` of x 1" in finding.message


@pytest.mark.parametrize(("newest", "told"), [("kernels-2.0.tar.gz", 0), ("kernels-2.0-py3-none-any.whl", 1)])
def test_what_must_be_built_anyway_is_not_walked_back_to_a_build(newest: str, told: int) -> None:
    walked = WalkedBack("kernels", Version("1.0"), Version("2.0"), (by_distribution("torch<2", "x", "1"),))
    package = resolved("kernels==1.0", sdist=True, wanted_by=[by_distribution("kernels", "x", "1")])
    index = MemoryIndex({"kernels": ["kernels-1.0.tar.gz", newest]})
    assert len(found("RES104", package, walked_back=(walked,), index=index)) == told


def _dated(package: ResolvedPackage, year: int) -> ResolvedPackage:
    return replace(package, file=replace(package.file, upload_time=f"{year}-01-01T00:00:00Z"))


@pytest.mark.parametrize(("pinned_in", "severity"), [(2021, Severity.INFO), (2024, Severity.WARNING)])
def test_a_release_that_is_younger_than_what_pins_it_belongs_there(pinned_in: int, severity: Severity) -> None:
    walked = WalkedBack("numpy", Version("1.0"), Version("2.0"), (by_distribution("numpy<2", "gui", "1"),))
    newest = replace(file_of("numpy", "numpy-2.0-py3-none-any.whl"), upload_time="2025-06-01T00:00:00Z")
    index = MemoryIndex({"numpy": []})
    index.page = lambda name: ProjectPage(name, (newest,))  # type: ignore[method-assign]
    packages = _dated(resolved("numpy==1.0", wanted_by=[pinned("numpy")]), 2023), _dated(resolved("gui==1"), pinned_in)
    (finding,) = found("RES104", *packages, walked_back=(walked,), index=index)
    assert finding.severity is severity


def test_walked_back_says_what_stands_against_the_newest() -> None:
    forced = (by_distribution("pynini>=2.1.6", "texts", "1.2"), pinned("pynini==2.1.5"))
    walked = WalkedBack("texts", Version("1.0"), Version("1.2"), forced)
    (finding,) = found("RES104", resolved("texts==1.0", wanted_by=[pinned("texts>=1")]), walked_back=(walked,))
    assert "pinned by `pynini==2.1.5` of requirements.txt:" in finding.message
    assert finding.message.endswith("; 1.2 needs `pynini>=2.1.6`")
    assert finding.remedy is not None
    assert "needs another version in `pynini==2.1.5`" in finding.remedy.summary


def test_everyday_walks_back_are_mild_or_left_out() -> None:
    forced = (by_distribution("x<3", "y", "1"),)
    asked = WalkedBack("spacy", Version("3.7.5"), Version("4.0"), forced)
    (finding,) = found("RES104", resolved("spacy==3.7.5", wanted_by=[pinned("spacy>=3.2")]), walked_back=(asked,))
    assert finding.severity is Severity.INFO
    among = resolved("aiofiles==23.2.1", wanted_by=[by_distribution("aiofiles<24", "gradio", "4.43.0")])
    between = WalkedBack("aiofiles", Version("23.2.1"), Version("25.1"), forced)
    assert not found("RES104", among, walked_back=(between,))


def test_yanked() -> None:
    (finding,) = found("RES105", resolved("whisperx==3.1.5", yanked=True), resolved("numpy==1.0"))
    assert "`whisperx` 3.1.5 has been yanked" in finding.message


@pytest.mark.parametrize(
    ("pins", "subjects"),
    [
        (("torch==2.10.0", "torchaudio==2.11.0"), ["torchaudio"]),
        (("torch==2.14.0", "torchaudio==2.11.0"), []),
        (("torch==2.15.0", "torchaudio==2.11.1"), []),
        (("torch==2.4.1", "torchaudio==2.7.0", "torchvision==0.29.2"), ["torchaudio", "torchvision"]),
        (("torch==2.4.1", "torchaudio==2.4.1", "torchvision==0.19.1"), []),
        (("torch==2.9.1", "torchcodec==0.12.0"), ["torchcodec"]),
        (("torch==2.7.1+cu118", "torchaudio==2.7.1+cu118", "torchvision==0.22.1+cu118"), []),
        (("torch==2.7.1+cu118", "torchaudio==2.7.1+cpu"), ["torchaudio"]),
        (("torch==2.7.0", "torch-directml==0.2.5.dev240914"), ["torch-directml"]),
        (("torchaudio==2.11.0",), []),
    ],
)
def test_unpaired_binaries(pins, subjects) -> None:
    findings = found("RES201", *map(resolved, pins))
    assert [item.subject for item in findings] == subjects
    assert all("ABI mismatch" in item.message for item in findings)


def test_an_override_of_torch_alone_is_named() -> None:
    torch = resolved("torch==2.4.1", set_aside=(pinned("torch==2.7"),))
    (finding,) = found("RES201", torch, resolved("torchaudio==2.7.0"))
    assert "an override of torch alone has torn the pair apart" in finding.message


VERSION_CPU = "__version__ = '2.4.1+cpu'\ncuda: Optional[str] = None\nhip: Optional[str] = None\n"
VERSION_CUDA = "__version__ = '2.9.1+cu128'\ncuda: Optional[str] = '12.8'\nhip: Optional[str] = None\n"


@pytest.mark.parametrize(
    ("target", "pin", "text", "expected"),
    [
        (WINDOWS, "torch==2.4.1", VERSION_CPU, True),
        (WINDOWS, "torch==2.4.1", None, True),
        (target_of("windows/x86_64/3.11/directml"), "torch==2.4.1", VERSION_CPU, False),
        (THOR, "torch==2.9.1", None, True),
        (THOR, "torch==2.11.0", None, False),
        (LINUX, "torch==2.9.1", None, False),
        (LINUX, "torch==2.9.1", VERSION_CUDA, False),
        (LINUX, "torch==99.0", None, False),
        (WINDOWS, "torch==2.7.1+cu118", None, False),
        (THOR, "ctranslate2==4.6.0", None, True),
        (LINUX, "ctranslate2==4.6.0", None, False),
    ],
)
def test_cpu_only_build(target, pin: str, text: str | None, expected: bool) -> None:
    archives = MemoryArchives({"torch": {"torch/version.py": text}} if text else {})
    findings = found("RES202", resolved(pin), target=target, archives=archives)
    assert bool(findings) is expected
    assert all("CPU-only build" in item.message for item in findings)


def test_files_of_an_index_that_another_stands_in_for_are_not_opened() -> None:
    package = resolved("torch==2.1.1", index="pytorch-cu118")
    archives = MemoryArchives({"torch": {"torch/version.py": VERSION_CUDA}})
    assert not found("RES202", package, target=WINDOWS, archives=archives)


def test_shared_files_are_counted() -> None:
    members = {"onnxruntime/__init__.py": "", "onnxruntime/capi/x.so": "", "onnxruntime-1.15.0.dist-info/RECORD": ""}
    archives = MemoryArchives({"onnxruntime": members, "onnxruntime-gpu": members})
    packages = (resolved("onnxruntime==1.15.0"), resolved("onnxruntime-gpu==1.15.0"))
    (finding,) = found("RES203", *packages, archives=archives)
    assert "`onnxruntime` 1.15.0 and `onnxruntime-gpu` 1.15.0 own 2 files in `onnxruntime/` (file conflict)" in (
        finding.message
    )
    (blind,) = found("RES203", *packages)
    assert "own the same files" in blind.message
    (three,) = found("RES203", *packages, resolved("onnxruntime-directml==1.15.0"))
    assert three.message.startswith(
        "`onnxruntime` 1.15.0, `onnxruntime-directml` 1.15.0 and `onnxruntime-gpu` 1.15.0 own the same files"
    )


def test_who_brings_one_of_two_that_share_files_is_named() -> None:
    brought = resolved(
        "onnxruntime==1.20.1", wanted_by=[by_distribution("onnxruntime<2,>=1.14", "faster-whisper", "1.2")]
    )
    (finding,) = found("RES203", resolved("faster-whisper==1.2"), brought, resolved("onnxruntime-gpu==1.20.1"))
    assert [item.what for item in finding.evidence if "->" in item.what] == [
        f"`faster-whisper==1.2` ({require('faster-whisper==1.2').origin}) -> onnxruntime"
    ]
    assert finding.remedy is not None
    assert "`onnxruntime` comes with `faster-whisper`: uv leaves it out with `override-dependencies = " in (
        finding.remedy.summary
    )
    (both,) = found("RES203", resolved("onnxruntime==1.20.1"), resolved("onnxruntime-gpu==1.20.1"))
    assert both.remedy is not None
    assert "comes with" not in both.remedy.summary


def _cv2(name: str, version: str, binary: str) -> dict[str, str]:
    record = f"cv2/__init__.py,sha256=one,1\ncv2/cv2.abi3.so,sha256={binary},1\n"
    return {"cv2/__init__.py": "", "cv2/cv2.abi3.so": "", f"{name}-{version}.dist-info/RECORD": record}


@pytest.mark.parametrize(
    ("other", "binaries", "severity", "said"),
    [
        ("4.10.0.84", ("gui", "none"), Severity.WARNING, "1 of them with other content"),
        ("4.10.0.84", ("one", "one"), Severity.INFO, "with the same content"),
        ("4.10.0.84", None, Severity.WARNING, "decides on windows (`cv2.imshow`)"),
        ("4.11.0.86", ("gui", "none"), Severity.WARNING, "and the release"),
        ("4.11.0.86", None, Severity.WARNING, "and the release"),
    ],
)
def test_builds_that_give_the_same_module_are_no_error(other, binaries, severity, said) -> None:
    """What pip installs of ComfyUI and its nodes: `import cv2` works, whichever of the two comes last."""
    archives = None
    if binaries is not None:
        archives = MemoryArchives(
            {
                "opencv-python": _cv2("opencv_python", "4.10.0.84", binaries[0]),
                "opencv-python-headless": _cv2("opencv_python_headless", other, binaries[1]),
            }
        )
    packages = (resolved("opencv-python==4.10.0.84"), resolved(f"opencv-python-headless=={other}"))
    (finding,) = found("RES203", *packages, archives=archives)
    assert finding.severity is severity
    assert said in finding.message
    assert ("decides on" in finding.message) is (severity is Severity.WARNING)


def test_of_one_version_the_two_builds_of_onnxruntime_are_an_error_all_the_same() -> None:
    (finding,) = found("RES203", resolved("onnxruntime==1.20.1"), resolved("onnxruntime-gpu==1.20.1"))
    assert finding.severity is Severity.ERROR


def test_a_family_whose_files_are_apart_is_fine() -> None:
    archives = MemoryArchives({"triton": {"triton/a.py": ""}, "pytorch-triton": {"other/a.py": ""}})
    assert not found("RES203", resolved("triton==3.1"), resolved("pytorch-triton==3.1"), archives=archives)
    assert not found("RES203", resolved("onnxruntime==1.15.0"), resolved("opencv-python==4.9.0"))


@pytest.mark.parametrize(
    ("pins", "count"),
    [
        (("onnxruntime-gpu==1.31.1", "torch==2.7.1+cu126"), 1),
        (("onnxruntime-gpu==1.20.0", "torch==2.7.1+cu126"), 0),
        (("onnxruntime-gpu==1.20.0", "torch==2.9.1"), 0),
        (("nvidia-cudnn-cu12==9.1", "nvidia-cublas-cu13==13.0"), 1),
        (("nvidia-cudnn-cu12==9.1", "nvidia-cublas-cu12==12.8"), 0),
        (("ctranslate2==4.6.0", "torch==2.1.1"), 1),
        (("ctranslate2==4.8.5", "torch==2.1.1"), 0),
        (("ctranslate2==4.4.0", "torch==2.1.1"), 0),
        (("nvidia-cutlass-dsl-libs-cu12==4.6", "nvidia-cudnn-cu13==9.24", "nvidia-cutlass-dsl-libs-cu13==4.6"), 0),
    ],
)
def test_cuda_mismatch(pins, count: int) -> None:
    assert len(found("RES204", *map(resolved, pins))) == count
    assert not found("RES204", *map(resolved, pins), target=target_of("linux/x86_64/3.11/cpu"))


CONDA_SAYS = (
    (("torch==2.1.2", "pytorch=2.1.2"), ["pytorch-cuda=11.8"], None),
    (("torch==2.1.2", "pytorch=2.1.2=py3.10_cuda11.8_cudnn8.7.0_0"), [], None),
    (("torch==2.1.2", "conda-forge::pytorch=2.1.2"), [], None),
    (("torch==2.1.2", "pytorch=2.1.2"), ["cpuonly"], "conda"),
    (("torch==2.1.2", "pytorch=2.1.2=cpu_py310h1"), [], "conda"),
)


@pytest.mark.parametrize(("torch", "others", "said"), CONDA_SAYS)
def test_a_torch_that_conda_installs_is_no_build_of_the_index(torch, others: list[str], said: str | None) -> None:
    pin, text = torch
    origin = FileOrigin("environment.yml", 6)
    line = replace(require(pin, origin), conda=True, text=text)
    problems = tuple(ReadingProblem(ReadingProblemKind.OF_CONDA, origin, "left to conda", other) for other in others)
    project = Project(".", requirements=(line,), problems=problems)
    windows = target_of("windows/x86_64/3.10/cuda")
    findings = found("RES202", resolved(pin, wanted_by=[line]), target=windows, project=project)
    assert [item.remedy.summary.partition(" ")[2][:5] for item in findings if item.remedy] == ([said] if said else [])
    beside = resolved("onnxruntime-gpu==1.16.3", wanted_by=[require("onnxruntime-gpu==1.16.3", origin)])
    assert not found("RES204", resolved(pin, wanted_by=[line]), beside, project=project) or said
    assert found("RES202", resolved(pin), target=windows)


@pytest.mark.parametrize(
    ("pins", "fields", "message", "way"),
    [
        (("cupy-cuda11x==13.3.0", "torch==2.7.1+cu126"), {}, "needs CUDA 11 of the system", "take `cupy-cuda12x`"),
        (("cupy-cuda12x==13.3.0", "torch==2.15.0+cu132"), {}, "needs CUDA 12 of the system", "take `cupy-cuda13x`"),
        (("paddlepaddle-gpu==2.6.2", "torch==2.7.1+cu126"), {}, "needs CUDA 11 and cuDNN 8 of the system", "have CUDA"),
        (("paddlepaddle-gpu==2.6.2.post120", "torch==2.7.1+cu126"), {}, None, ""),
        (("paddlepaddle-gpu==2.6.2", "torch==2.7.1+cu118"), {}, None, ""),
        (("paddlepaddle-gpu==2.6.2", "torch==2.7.1+cu126"), {"target": WINDOWS}, None, ""),
        (("cupy-cuda12x==13.3.0", "torch==2.7.1+cu126"), {}, None, ""),
        (("cupy-cuda11x==13.3.0",), {}, None, ""),
        (("cupy-cuda11x==13.3.0", "torch==2.7.1+cpu"), {}, None, ""),
        (("cupy-cuda12x==14.0.0", "nvidia-cublas-cu12==12.8", "torch==2.15.0+cu132"), {}, None, ""),
        (("cupy-cuda11x==13.3.0", "torch==2.7.1+cu126"), {"facts": facts_of({"cuda.toolkits": ("11.8",)})}, None, ""),
    ],
)
def test_another_cuda_than_torchs_has_to_come_from_the_system(pins, fields, message: str | None, way: str) -> None:
    findings = found("RES204", *map(resolved, pins), **fields)
    assert [message in item.message for item in findings] == ([True] if message else [])
    for item in findings:
        assert item.severity is Severity.WARNING
        assert item.remedy is not None
        assert item.remedy.summary.startswith(way)
        assert "nothing to do where it has them" in item.remedy.summary


def test_cuda_major_is_read_from_dependencies_first() -> None:
    torch = resolved("torch==99.0", dependencies=(by_distribution("nvidia-cuda-runtime-cu12==12.8", "torch", "99.0"),))
    assert len(found("RES204", torch, resolved("onnxruntime-gpu==1.31.1"))) == 1


def test_numpy_abi() -> None:
    (finding,) = found("RES205", resolved("torch==2.1.1"), resolved("numpy==2.1.0"))
    assert "built against NumPy 1" in finding.message
    assert not found("RES205", resolved("torch==2.1.1"), resolved("numpy==1.26.4"))
    assert not found("RES205", resolved("torch==2.4.1"), resolved("numpy==2.1.0"))


@pytest.mark.parametrize(
    ("asks", "told"), [("numpy", True), ("numpy>=1.21.6", True), ("numpy>=1.21.6,<3", False), ("numpy>=2", False)]
)
def test_what_was_written_before_numpy_2_does_not_admit_it(asks: str, told: bool) -> None:
    asked = (by_distribution(asks, "onnxruntime", "1.16.3"),)
    findings = found("RES205", resolved("onnxruntime==1.16.3", dependencies=asked), resolved("numpy==2.1.0"))
    assert bool(findings) is told


@pytest.mark.parametrize(
    ("pin", "numpy", "sdist", "told"),
    [
        ("opencv-python==4.8.1.78", "2.4.6", False, True),
        ("opencv-python==4.10.0.82", "2.0.0", False, True),
        ("opencv-python==4.10.0.84", "2.4.6", False, False),
        ("opencv-python==4.8.1.78", "1.26.4", False, False),
        ("opencv-python==4.8.1.78", "2.4.6", True, False),
        ("pandas==1.5.3", "2.4.6", False, True),
        ("pandas==2.2.2", "2.4.6", False, False),
        ("tokenizers==0.15.2", "2.4.6", False, False),
    ],
)
def test_wheels_of_well_known_binaries_tell_their_numpy(pin: str, numpy: str, sdist: bool, told: bool) -> None:
    findings = found("RES205", resolved(pin, sdist=sdist), resolved(f"numpy=={numpy}"))
    assert [item.subject for item in findings] == ([pin.split("==")[0]] if told else [])
    assert all(item.remedy and " or later" in item.remedy.summary for item in findings)
    assert all(item.location == FileOrigin("requirements.txt", 1) for item in findings)


def test_unstated_coupling() -> None:
    torch = resolved("torch==2.1.0", wanted_by=[pinned("torch==2.1.0")])
    free = resolved("torchaudio==2.1.0", wanted_by=[pinned("torchaudio")])
    held = resolved("torchaudio==2.1.0", wanted_by=[pinned("torchaudio==2.1.0")])
    index = MemoryIndex({"torchaudio": ["torchaudio-2.11.0-cp311-cp311-manylinux_2_28_x86_64.whl"]})
    (finding,) = found("RES206", torch, free, index=index)
    assert "metadata alone lets `torchaudio` 2.11.0 stand beside `torch` 2.1.0" in finding.message
    assert "`torchaudio` 2.1.0 was chosen" in finding.message
    assert not found("RES206", torch, held, index=index)
    newer = MemoryIndex({"torchaudio": ["torchaudio-2.11.0-cp312-cp312-manylinux_2_28_x86_64.whl"]})
    assert not found("RES206", torch, free, index=newer), "no wheel for this Python: no installer would take it"
    assert not found("RES206", resolved("torch==2.11.0"), resolved("torchaudio==2.11.0"))


@pytest.mark.parametrize(("glibc", "told"), [((2, 28), True), ((2, 35), False)])
def test_a_source_that_has_a_wheel_for_want_of_a_file_says_for_which(glibc: tuple[int, int], told: bool) -> None:
    names = ["llguidance-1.7.6.tar.gz", "llguidance-1.7.6-cp39-abi3-manylinux_2_31_x86_64.whl"]
    package = resolved("llguidance==1.7.6", sdist=True, risk=BuildRisk.COMPILER)
    target = replace(LINUX, glibc=glibc)
    (finding,) = found("RES102", package, index=MemoryIndex({"llguidance": names}), target=target)
    assert finding.remedy is not None
    assert ("for glibc 2.31 or later: where the machine has that, say `--glibc 2.31`" in finding.remedy.summary) is told


@pytest.mark.parametrize(
    ("name", "newest", "chosen", "why"),
    [
        ("dgl", "2.1.0", "1.1.3", "which no table binds to a torch"),
        ("intel_extension_for_pytorch", "2.8.0", "2.7.0", "because they were built for each other"),
    ],
)
def test_what_the_installer_alone_would_take_beside_torch_is_told(
    name: str, newest: str, chosen: str, why: str
) -> None:
    project = name.replace("_", "-")
    torch = resolved("torch==2.7.1", wanted_by=[pinned("torch==2.7.1")])
    free = resolved(f"{project}=={chosen}", wanted_by=[pinned(project)])
    index = MemoryIndex({project: [f"{name}-{newest}-cp311-cp311-manylinux_2_28_x86_64.whl"]})
    (finding,) = found("RES206", torch, free, index=index)
    assert f"`{project}` {newest} stand beside `torch` 2.7.1" in finding.message
    assert finding.message.endswith(f"`{project}` {chosen} was chosen, {why}")


@pytest.mark.parametrize(("repaired", "told"), [(("torch==2.1.0", "torchaudio==2.1.0"), 0), (("torch==2.1.0",), 1)])
def test_a_pair_that_the_repair_in_use_pins_is_stated(repaired: tuple[str, ...], told: int) -> None:
    overrides = tuple(Override(pinned(item), (pinned("torch==2.3.0"),)) for item in repaired)
    torch = resolved("torch==2.1.0", set_aside=(pinned("torch==2.3.0"),), wanted_by=[])
    free = resolved("torchaudio==2.1.0", wanted_by=[])
    assert len(found("RES206", torch, free, repairs=(Repair("R1", overrides, ("C1",)),), repair="R1")) == told


def test_a_line_that_a_repair_set_aside_is_still_the_place_of_a_finding() -> None:
    torch = resolved(
        "torch==2.4.1",
        set_aside=(pinned("torch==2.7.1", 7),),
        wanted_by=[by_distribution("torch>=2", "bitsandbytes", "0.45.0")],
    )
    bits = resolved("bitsandbytes==0.45.0", wanted_by=[pinned("bitsandbytes", 4)])
    (finding,) = found("RES202", torch, bits, target=WINDOWS)
    assert finding.location == FileOrigin("requirements.txt", 7)


def test_what_the_newest_pip_cannot_install_is_an_error_unless_a_profile_is_in_use() -> None:
    line = pinned("fairseq==0.12.2")
    packages = (
        resolved("fairseq==0.12.2", wanted_by=[line]),
        resolved(
            "omegaconf==2.0.6",
            mended=("PyYAML (>=5.1.*)",),
            wanted_by=[by_distribution("omegaconf<2.1", "fairseq", "0.12.2")],
        ),
    )
    (finding,) = found("RES103", *packages, strict_core=(str(line),))
    assert finding.severity is Severity.ERROR
    assert finding.remedy
    assert "`pip install --no-deps omegaconf==2.0.6`" in finding.remedy.summary
    stack = ProfileTarget(LINUX.os, LINUX.arch, SpecifierSet(">=3.10"), LINUX.backend)
    (accepted,) = found(
        "RES103",
        *packages,
        strict_core=(str(line),),
        profile=Profile("p", "s", stack),
    )
    assert accepted.severity is Severity.WARNING


def test_a_torch_that_a_companion_holds_back_is_an_unstated_coupling_too() -> None:
    coupling = by_distribution("torch==2.11.*", "torchcodec", "0.11.1", coupling=True)
    pin = by_distribution("torch==2.11.0", "torchvision", "0.26.0")
    index = MemoryIndex({"torch": [f"torch-{v}-cp311-cp311-manylinux_2_28_x86_64.whl" for v in ("2.11.0", "2.15.0")]})
    free = resolved("torch==2.11.0", wanted_by=[pinned("torch>=2.3.1"), coupling, pin])
    (finding,) = found("RES206", free, resolved("torchcodec==0.11.1"), index=index)
    assert finding.message.startswith("metadata alone lets `torchcodec` 0.11.1 stand beside `torch` 2.15.0")
    held = resolved("torch==2.11.0", wanted_by=[pinned("torch<2.12"), coupling, pin])
    assert not found("RES206", held, resolved("torchcodec==0.11.1"), index=index)


@pytest.mark.parametrize(
    ("card", "architectures", "ptx", "answer"),
    [
        ("sm_120", ("sm_80", "sm_90"), None, False),
        ("sm_89", ("sm_80", "sm_90"), None, True),
        ("sm_110", ("sm_100", "sm_120"), "sm_120", False),
        ("sm_121", ("sm_120",), None, True),
        ("sm_130", ("sm_120",), "sm_120", True),
        ("sm_86", ("sm_86",), None, True),
        ("sm_80", ("sm_86",), None, False),
        ("gfx1030", ("sm_86",), None, None),
    ],
)
def test_which_code_runs_on_which_card(card, architectures, ptx, answer) -> None:
    assert runs_on(card, architectures, ptx) is answer


@pytest.mark.parametrize(
    ("torch", "asks", "card", "told"),
    [
        ("2.5.1", ("nvidia-cublas-cu12==12.4.5.8", "nvidia-cuda-runtime-cu12==12.4.127"), "sm_120", 1),
        ("2.8.0", ("nvidia-cublas-cu12==12.8.4.1", "nvidia-cuda-runtime-cu12==12.8.90"), "sm_120", 0),
        ("2.8.0", ("nvidia-cublas-cu12==12.8.4.1", "nvidia-cuda-runtime-cu12==12.8.90"), "sm_61", 1),
        ("2.11.0", ("nvidia-cudnn-cu13==9.19", "cuda-toolkit[cublas]==13.0.2"), "sm_70", 1),
        ("2.11.0", ("nvidia-cudnn-cu13==9.19", "cuda-toolkit[cublas]==13.0.2"), "sm_120", 0),
        ("2.5.1", ("nvidia-cublas-cu12==12.4.5.8",), "sm_120", 0),  # a major alone tells no kernels
    ],
)
def test_a_build_without_a_label_is_known_by_the_runtime_that_it_pins(torch, asks, card: str, told: int) -> None:
    pins = tuple(by_distribution(text, "torch", torch) for text in asks)
    target = target_of("linux/x86_64/3.11/cuda", gpu=card)
    assert len(found("RES208", resolved(f"torch=={torch}", dependencies=pins), target=target)) == told


def test_no_kernel_for_the_profile_s_card() -> None:
    card = target_of("windows/x86_64/3.10/cuda", gpu="sm_120")
    (finding,) = found("RES208", resolved("torch==2.6.0+cu124"), target=card)
    assert "no kernel of `torch` 2.6.0+cu124 (cu124) runs on sm_120" in finding.message
    assert not found("RES208", resolved("torch==2.7.1+cu128"), target=card)
    assert not found("RES208", resolved("torch==2.6.0+cu124"), target=WINDOWS)
    assert found("RES208", resolved("torch==2.9.0+cu128"), target=target_of("linux/aarch64/3.12/cuda", gpu="sm_110"))


def _big(*extra: str) -> Examination:
    packages = [resolved(f"package-{number}==1.{number}.0") for number in range(200)]
    return Examination(target=WINDOWS, resolution=resolution_of(*packages, *map(resolved, extra)))


def test_judging_counts_breakages_alone() -> None:
    good = ("torch==2.1.1+cu118", "torchaudio==2.1.1+cu118", "numpy==1.26.4")
    assert len(breakages(_big(*good))) == 0
    assert len(breakages(_big("torch==2.1.1+cu118", "torchaudio==2.7.0+cu118", "numpy==2.1.0"))) == 2
    assert len(breakages(_big(*good, "gradio==4.43.0", "pydantic==2.14.4"))) == 1


_EXTRAS = [
    *(f'nvidia-{part}~={release}.0; extra == "cuda"' for part, release in (("cuda-runtime", 13), ("curand", 10))),
    'nvidia-cudnn-cu13~=9.0; extra == "cudnn"',
]


@pytest.mark.parametrize(
    ("pins", "fields", "said"),
    [
        (["onnxruntime-gpu==1.31.1"], {}, "loads CUDA 13's libraries and cuDNN 9, and nothing in the resolution"),
        (["onnxruntime-gpu==1.18.1"], {}, "loads CUDA 11's libraries and cuDNN 8"),
        (["onnxruntime-gpu==1.20.0", "torch==2.6.0+cpu"], {}, "loads CUDA 12's libraries"),
        (["ctranslate2==4.8.5"], {}, "`ctranslate2` 4.8.5 loads CUDA 12's libraries, and nothing"),
        (["ctranslate2==4.8.5", "torch==2.15.0+cu132"], {}, "needs CUDA 12, and `torch` 2.15.0+cu132 brings CUDA 13"),
        (["ctranslate2==3.24.0"], {}, "`ctranslate2` 3.24.0 loads CUDA 11's libraries and cuDNN 8"),
        (["ctranslate2==3.24.0", "torch==2.8.0"], {}, "needs CUDA 11, and `torch` 2.8.0 brings CUDA 12"),
        (["ctranslate2==3.24.0", "torch==2.3.1+cu118"], {}, None),
        (["onnxruntime-gpu==1.31.1", "nvidia-cublas-cu12==12.9"], {}, "and `nvidia-cublas-cu12` 12.9 brings CUDA 12"),
        (["onnxruntime-gpu==1.31.1", "nvidia-cublas==13.1"], {}, None),
        (["onnxruntime-gpu==1.26.0", "nvidia-cublas-cu12==12.9"], {}, None),
        (["onnxruntime-gpu==1.31.1", "torch==2.15.0+cu132"], {}, None),
        (["onnxruntime-gpu==1.31.1", "torch==2.9.0a0+872d972e41"], {}, None),  # of which nobody here knows the build
        (["ctranslate2==4.8.5", "torch==2.15.0+cu132", "nvidia-cublas-cu12==12.9", "nvidia-cublas==13.1"], {}, None),
        (["onnxruntime-gpu==1.31.1"], {"facts": facts_of({"host.jetpack": "7.2"})}, None),
        (["ctranslate2==4.8.5"], {"facts": facts_of({"cuda.toolkits": ("12.8",)})}, None),
        (["ctranslate2==4.8.5"], {"target": target_of("linux/aarch64/3.11/cuda")}, None),
        (["onnxruntime-gpu==1.31.1"], {"target": target_of("linux/x86_64/3.11/cpu")}, None),
    ],
)
def test_a_package_that_finds_no_cuda_in_the_resolution_is_told(pins, fields, said: str | None) -> None:
    findings = found("RES204", *map(resolved, pins), **fields)
    assert [said in item.message for item in findings] == ([True] if said else [])


@pytest.mark.parametrize(
    ("asks", "remedy"),
    [
        ("ctranslate2<4,>=3.22", "faster-whisper 0.9.0 asks for `ctranslate2<4,>=3.22`: take `torch>=2.0,<2.1` of the"),
        ("ctranslate2>=3.22", "take `ctranslate2>=4,<4.9`, which was built for CUDA 12"),
    ],
)
def test_a_package_that_another_holds_back_is_not_to_be_raised(asks: str, remedy: str) -> None:
    wanted = require(asks, DistributionOrigin("faster-whisper", "0.9.0"))
    (finding,) = found("RES204", resolved("ctranslate2==3.24.0", wanted_by=[wanted]), resolved("torch==2.8.0"))
    assert finding.remedy is not None
    assert finding.remedy.summary.startswith(remedy)
    assert ("below 2.4" in finding.remedy.summary) == ("<4," in asks)


@pytest.mark.parametrize(("beside", "range_"), [("tts==0.21.1", ">=4.33,<4.50"), ("rotary==1.0", ">=4.52,<5")])
def test_the_transformers_that_is_advised_suits_coqui_tts_too(beside: str, range_: str) -> None:
    plan = [resolved("transformers==5.20.2"), resolved("torch==2.1.0"), resolved(beside)]
    (finding,) = found("ADV041", *plan)
    assert finding.remedy is not None
    assert f"transformers{range_}" in finding.remedy.summary.replace("transformers >", "transformers>")


@pytest.mark.parametrize(
    ("beside", "newer"),
    [("protobuf==4.25.0", False), ("grpcio==1.57.0", False), ("protobuf==7.35.0", True)],
)
def test_a_newer_tensorboard_is_advised_where_the_plan_admits_what_it_needs(beside: str, newer: bool) -> None:
    plan = [resolved("tensorboard==2.20.0", wanted_by=[require("tensorboard")]), resolved("setuptools==84.2.1")]
    (finding,) = found("ADV212", *plan, resolved(beside))
    assert finding.remedy is not None
    assert (finding.remedy.commands == ('pip install "tensorboard>=2.21"',)) is newer
    assert newer or finding.remedy.commands == ('pip install "setuptools<82"',)


def test_a_toolkit_of_the_system_makes_it_a_note() -> None:
    toolkit = facts_of({"cuda.toolkits": ("11.8", "13.0")})
    (finding,) = found("RES204", resolved("onnxruntime-gpu==1.31.1"), facts=toolkit)
    assert finding.severity is Severity.INFO
    assert "the system has CUDA 13.0, and whether it has cuDNN 9 is not known here" in finding.message
    (other,) = found("RES204", resolved("onnxruntime-gpu==1.31.1"), facts=facts_of({"cuda.toolkits": ("11.8",)}))
    assert other.severity is Severity.WARNING


@pytest.mark.parametrize("there", [True, False])
def test_extras_are_advised_where_the_index_has_what_they_ask_for(there: bool) -> None:
    """Those of onnxruntime-gpu 1.27.0 name distributions that hold a placeholder alone."""
    wheels = {
        "nvidia-cuda-runtime": ["nvidia_cuda_runtime-13.0.1-py3-none-manylinux_2_17_x86_64.whl"],
        "nvidia-curand": ["nvidia_curand-10.4.0-py3-none-manylinux_2_17_x86_64.whl"],
        "nvidia-cudnn-cu13": [f"nvidia_cudnn_cu13-{'9.13.0' if there else '0.0.0a0'}-py3-none-any.whl"],
    }
    index = MemoryIndex(wheels, {"onnxruntime-gpu==1.31.1": _EXTRAS})
    (finding,) = found("RES204", resolved("onnxruntime-gpu==1.31.1"), index=index)
    assert finding.remedy is not None
    asked = "`onnxruntime-gpu[cuda,cudnn]`" if there else "`nvidia-cuda-runtime==13.*`, `nvidia-cublas==13.*`, "
    assert finding.remedy.summary.startswith(f"ask for {asked}")
    assert "`onnxruntime.preload_dlls()`" in finding.remedy.summary


@pytest.mark.parametrize(("torch", "told"), [("2.15.0+cu132", True), ("2.10.0+cu128", False), ("2.15.0+cpu", False)])
def test_an_extension_of_xformers_for_another_cuda_major_is_told(torch: str, told: bool) -> None:
    """xformers 0.0.35 asks for torch>=2.10, and its extension for libcudart.so.12: executed beside torch 2.15."""
    inside = {"xformers/cpp_lib.json": '{"version": {"cuda": 1208, "hip": null, "torch": "2.10.0+cu128"}}'}
    archives = MemoryArchives({"xformers": inside})
    findings = found("RES204", resolved("xformers==0.0.35"), resolved(f"torch=={torch}"), archives=archives)
    assert bool(findings) is told
    plan = resolution_of(resolved("xformers==0.0.35"), resolved(f"torch=={torch}"))
    ranked = breakages(Examination(target=LINUX, resolution=plan, archives=archives))
    assert ("RES204" in {item.rule for item in ranked}) is told, "a repair that does not load must rank lower"
    for finding in findings:
        assert "was built for CUDA 12, and `torch` 2.15.0+cu132 brings CUDA 13: it does not load" in finding.message
        assert finding.remedy is not None
        assert finding.remedy.summary.startswith("take `torch>=2.8,<2.11` of the default index or one for CUDA 12")
        held = resolved(f"torch=={torch}", wanted_by=[require("torch>=2.11")])
        (other,) = found("RES204", resolved("xformers==0.0.35"), held, archives=archives)
        assert other.remedy is not None
        assert other.remedy.summary.startswith("take a torch, one for CUDA 12 of PyTorch's indexes")
