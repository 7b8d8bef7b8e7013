"""A pasted list of versions, with the requirements that an index has for them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pytest
from packaging.utils import canonicalize_name
from packaging.version import Version

from envdoctor.adapters.probe.listing import read_listing
from envdoctor.model.candidate import CoreMetadata, DistributionFile, FileKind, ProjectPage
from envdoctor.model.environment import InstalledDistribution, InstalledEnvironment, Interpreter
from envdoctor.model.target import Arch, OperatingSystem, Target
from envdoctor.model.unknown import Subject, SubjectKind, Unknown, UnknownKind
from envdoctor.ports import IndexUnavailable, ProjectNotFound
from envdoctor.verbs.listing_requirements import python_of_wheels, with_requirements

RELEASES = {
    ("faster-whisper", "1.1.0"): ("av<12,>=11", "tokenizers<1,>=0.13"),
    ("av", "12.3.0"): (),
    ("tensorflow", "2.20.0"): ("numpy", "absl-py", "gast", "h5py", "keras>=3.10", "wrapt; extra == 'x'"),
    ("torch", "2.6.0"): ("setuptools; python_version >= '3.12'", "filelock"),
    ("torch", "2.4.1"): ("nvidia-cublas-cu12==12.1.3.1", "triton==3.0.0"),
    ("mkl-fft", "1.3.11"): ("mkl", "numpy<1.27.0,>=1.26.4"),
    ("mkl-service", "2.4.0"): ("mkl",),
    ("transformers", "4.40.0"): ("tokenizers<0.20", "safetensors"),
    ("spyder", "6.0.0"): ("pyqt5<5.16", "graphviz", "mkl", "nbconvert>=4", "zeroconf"),
    ("pydantic", "2.8.2"): ("pydantic-core==2.20.1",),
    ("pydantic", "2.9.2"): ("pydantic-core==2.23.4",),
    ("outer", "1.0"): ("pydantic>=2.9",),
    ("tensorflow", "1.15.0"): ("gast",),
    ("tensorflow", "2.10.1"): (),
    ("old", "1.0"): (),
    ("pyqt5", "5.15.9"): ("PyQt5-sip<13", "PyQt5-Qt5>=5.15.2"),
}
LINUX = Target(OperatingSystem.LINUX, Arch.X86_64, (3, 11))


class SmallIndex:
    """An index of three releases; it can be out of reach."""

    def __init__(self, *, reachable: bool = True) -> None:
        self.reachable = reachable
        self.files = {("mkl-fft", "1.3.11"): ("mkl_fft-1.3.11-81-cp310-cp310-manylinux_2_28_x86_64.whl",)}

    def page(self, name: str) -> ProjectPage:
        if not self.reachable:
            raise IndexUnavailable(Unknown(UnknownKind.UNREACHABLE, Subject(SubjectKind.INDEX, "default"), "default"))
        files = [
            DistributionFile(canonicalize_name(project), Version(version), filename, FileKind.WHEEL, "https://x")
            for project, version in RELEASES
            if project == name
            for filename in self.files.get((project, version), (f"{project}-{version}.whl",))
        ]
        if not files:
            raise ProjectNotFound(name, "default")
        return ProjectPage(canonicalize_name(name), tuple(files))

    def prefetch_pages(self, names: Iterable[str]) -> None:
        list(names)

    def metadata(self, file: DistributionFile) -> CoreMetadata:
        return CoreMetadata(file.project, file.version, RELEASES[file.project, str(file.version)])

    def prefetch_metadata(self, files: Iterable[DistributionFile]) -> None:
        list(files)


def test_a_freeze_is_checked_with_the_requirements_of_the_index(diagnose):
    text = "faster-whisper==1.1.0\nav==12.3.0\nlocal-thing==1.0\n"
    environment = with_requirements(read_listing(text, "freeze.txt"), SmallIndex())
    findings = diagnose(environment, "ENV001")
    assert [finding.message for finding in findings] == [
        "`faster-whisper` 1.1.0 requires `av<12,>=11`, but 12.3.0 is installed",
        "`faster-whisper` 1.1.0 requires `tokenizers<1,>=0.13`, but it is not installed",
    ]
    (finding,) = diagnose(environment, "ENV011")
    assert "does not tell what these require: local-thing, which files its distributions own" in finding.message


def test_what_a_freeze_leaves_out_is_not_missing(diagnose):
    environment = with_requirements(read_listing("torch==2.6.0\nfilelock==3.1\n", "freeze.txt"), SmallIndex())
    markers = {"python_version": "3.12", "python_full_version": "3.12.1"}
    environment = replace(environment, told=Interpreter(markers=markers))
    assert diagnose(environment, "ENV001") == []


def test_a_listing_of_a_choice_does_not_say_that_others_are_missing(diagnose):
    text = "PyTorch version: 2.6.0\n[pip3] torch==2.6.0\n[pip3] av==12.3.0\n[pip3] faster-whisper==1.1.0\n"
    environment = with_requirements(read_listing(text, "env.txt"), SmallIndex())
    assert [finding.subject for finding in diagnose(environment, "ENV001")] == ["faster-whisper"]


def test_builds_from_elsewhere_are_not_given_the_requirements_of_the_indexs_own():
    environment = read_listing("torch==2.6.0+cu124\n", "freeze.txt")
    assert with_requirements(environment, SmallIndex()) is environment


def test_an_index_out_of_reach_leaves_the_listing_as_it_was():
    environment = read_listing("torch==2.6.0\n", "freeze.txt")
    assert with_requirements(environment, SmallIndex(reachable=False)) is environment


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        ("tensorflow==2.20.0\nnumpy==2.1.0\n", 0),  # `pip list | grep`, without the command
        ("tensorflow==2.20.0\nnumpy==2.1.0\npip==26.3\n", 4),
        ("tensorflow==2.20.0\nnumpy==2.1.0\nkeras==3.10\nh5py==3\n", 2),
        ("tensorflow==2.20.0\nnumpy==2.1.0\nkeras==3.10\n", 0),
        ("tensorflow==2.20.0\nspyder==6.0.0\nmkl-service==2.4.0\npip==24.0\n", 0),
    ],
)
def test_rows_of_which_more_is_missing_than_listed_are_a_choice(diagnose, text, missing):
    environment = with_requirements(read_listing(text, "list.txt"), SmallIndex())
    assert len(diagnose(environment, "ENV001")) == missing
    (note,) = diagnose(environment, "ENV011")
    assert ("distributions that it leaves out" in note.message) is (missing == 0)


def test_what_conda_put_in_asks_for_nothing_under_pips_names(diagnose):
    text = (
        "# packages in environment at /opt/conda/envs/x:\n#\n# Name Version Build Channel\n"
        "python 3.10.14 h1 conda-forge\n"
        "pytorch 2.4.1 py3.10_cuda12.4_cudnn9.1.0_0 pytorch\n"
        "mkl_fft 1.3.11 py310h5eee18b_0 main\n"
        "numpy 2.0.1 pypi_0 pypi\n"
        "tokenizers 0.21.0 pypi_0 pypi\n"
        "transformers 4.40.0 pyhd8ed1ab_0 conda-forge\n"
    )
    environment = with_requirements(read_listing(text, "list.txt"), SmallIndex(), LINUX)
    findings = diagnose(environment, "ENV001")
    # What pip changed under conda's feet is told.
    assert [finding.message for finding in findings] == [
        "`transformers` 4.40.0 requires `tokenizers<0.20`, but 0.21.0 is installed"
    ]


def test_what_conda_gives_under_its_own_names_is_not_missing(diagnose):
    text = (
        "# packages in environment at /opt/conda/envs/x:\n#\n# Name Version Build Channel\n"
        "python 3.10.14 h1 conda-forge\n"
        "mkl 2023.1.0 h213fc3f_46344\n"
        "python-graphviz 0.20.1 pypi_0 pypi\n"
        "pyqt 5.15.10 h1 conda-forge\n"
        "pip 24.0 pyhd8ed1ab_0 conda-forge\n"
        "nbconvert-core 7.16 h2 conda-forge\n"
        "spyder 6.0.0 pypi_0 pypi\n"
    )
    environment = with_requirements(read_listing(text, "list.txt"), SmallIndex(), LINUX)
    assert [finding.message for finding in diagnose(environment, "ENV001")] == [
        "`spyder` 6.0.0 requires `zeroconf`, but it is not installed"
    ]


@pytest.mark.parametrize(
    "text",
    [
        "mkl-service==2.4.0\ntorch==2.4.1\n",
        "numpy @ file:///home/conda/feedstock_root/build_artifacts/numpy_1/work\nmkl-service==2.4.0\ntorch==2.4.1\n",
        "conda==24.1.0\ntorch==2.4.1\n",
        "pyqt5==5.15.9\npyqt5-sip==12.12.2\n",
    ],
)
def test_a_freeze_of_condas_environment_does_not_show_its_libraries(diagnose, text):
    environment = with_requirements(read_listing(text, "freeze.txt"), SmallIndex(), LINUX)
    assert not list(diagnose(environment, "ENV001"))


def test_each_of_two_versions_is_asked_for_by_its_own_metadata(diagnose):
    text = "pydantic==2.8.2\npydantic-core==2.20.1\npydantic==2.9.2\npydantic-core==2.23.4\nouter==1.0\n"
    environment = with_requirements(read_listing(text, "freeze.txt"), SmallIndex())
    assert [item.requires_dist for item in environment.distributions if item.name == "pydantic"] == [
        ("pydantic-core==2.20.1",),
        ("pydantic-core==2.23.4",),
    ]
    # Which of two counts is not known: what one of them meets is not held against anybody.
    assert not list(diagnose(environment, "ENV001"))


def test_of_wheels_for_other_pythons_the_newest_one_for_the_system_speaks():
    index = SmallIndex()
    index.files["tensorflow", "1.15.0"] = (
        "tensorflow-1.15.0-cp27-cp27m-macosx_10_11_x86_64.whl",
        "tensorflow-1.15.0-cp27-cp27mu-manylinux2010_x86_64.whl",
        "tensorflow-1.15.0-cp37-cp37m-macosx_10_11_x86_64.whl",
        "tensorflow-1.15.0-cp37-cp37m-manylinux2010_x86_64.whl",
        "tensorflow-1.15.0-cp37-cp37m-win_amd64.whl",
    )
    environment = with_requirements(read_listing("tensorflow==1.15.0\n", "freeze.txt"), index, LINUX)
    assert environment.distributions[0].metadata_path == "tensorflow-1.15.0-cp37-cp37m-manylinux2010_x86_64.whl"


@pytest.mark.parametrize(
    ("text", "python"),
    [
        ("tensorflow==2.10.1\nold==1.0\n", (3, 10)),
        ("old==1.0\n", (3, 10)),
        ("faster-whisper==1.1.0\n", (3, 11)),  # Wheels for any Python tell none.
        ("", (3, 11)),
    ],
)
def test_the_wheels_of_a_listing_tell_the_python_that_nothing_else_tells(text, python):
    index = SmallIndex()
    tags = [f"cp{version}-cp{version}-manylinux2014_x86_64" for version in ("38", "39", "310")]
    index.files["tensorflow", "2.10.1"] = tuple(f"tensorflow-2.10.1-{each}.whl" for each in tags)
    index.files["old", "1.0"] = ("old-1.0-cp310-cp310-manylinux2014_x86_64.whl",)
    index.files["faster-whisper", "1.1.0"] = ("faster_whisper-1.1.0-py3-none-any.whl",)
    environment = read_listing(text or "local-thing==1.0\n", "freeze.txt")
    assert python_of_wheels(environment, index, LINUX) == python


@pytest.mark.parametrize(
    ("demands", "wanted"),
    [
        (("numpy<3.0,>=1.20", "numpy<2,>1.18", "numpy>=1.25,!=1.26.1"), "numpy!=1.26.1,<2,>=1.25"),
        (("numpy==1.26.4", "numpy>=1.20,<2"), "numpy==1.26.4"),
        (("numpy<=1.26", "numpy<1.26", "numpy>1.20", "numpy>=1.20"), "numpy<1.26,>1.20"),
        (("numpy==1.26.*", "numpy>=1.20"), "numpy==1.26.*,>=1.20"),
    ],
)
def test_of_what_all_ask_for_the_clauses_that_count_are_advised(diagnose, demands, wanted):
    asking = tuple(
        InstalledDistribution(canonicalize_name(f"asks-{number}"), "1.0", requires_dist=(demand,))
        for number, demand in enumerate(demands)
    )
    numpy = InstalledDistribution(canonicalize_name("numpy"), "2.4.3")
    (first, *_) = diagnose(InstalledEnvironment((*asking, numpy)), "ENV001")
    assert first.remedy is not None
    (command,) = first.remedy.commands
    assert f'"{wanted}"' in str(command)
