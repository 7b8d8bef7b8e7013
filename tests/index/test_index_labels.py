"""Builds with a label that stand in for those of an index out of reach: they exist, they do not, or nobody knows."""

from __future__ import annotations

import pytest
from packaging.utils import canonicalize_name
from packaging.version import Version

from envdoctor.adapters.index.stand_ins import built_with, standing_in, without_foreign_libraries
from envdoctor.model.candidate import CoreMetadata, DistributionFile, FileKind, ProjectPage
from envdoctor.model.file_table import table_of
from envdoctor.model.index_url import file_path, index_name, mirror_variable
from envdoctor.shipped import torch_labels


@pytest.mark.parametrize(
    ("label", "project", "version", "known"),
    [
        ("cu118", "torch", "2.7.1", True),
        ("cu118", "torch", "2.8.0", False),
        ("cu128", "torch", "2.11.0", True),
        ("cu128", "torch", "2.12.1", None),
        ("cu128", "torch", "2.13.0", False),
        ("cu126", "torch", "2.14.1", True),
        ("cu126", "torch", "2.15.0", False),
        ("cu129", "torch", "2.14.0", False),
        ("cu130", "torch", "2.15.0", True),
        ("cu132", "torch", "2.15.0", True),
        ("cu132", "torch", "2.11.0", False),
        ("cu132", "torch", "2.16.0", None),
        ("rocm6.4", "torch", "2.10.0", False),
        ("rocm7.2", "torch", "2.14.0", None),
        ("rocm7.14", "torch", "2.15.0", None),
        ("rocm99.9", "torch", "2.15.0", True),
        ("cu128", "torchaudio", "2.11.0", True),
        ("cu128", "torchaudio", "2.11.1", False),
        ("cu129", "torchaudio", "2.11.0", True),
        ("cu132", "torchaudio", "2.11.1", True),
        ("cu126", "torchvision", "0.29.1", True),
        ("cu126", "torchvision", "0.29.2", False),
        ("cu118", "torchvision", "0.22.1", True),
        ("cu118", "numpy", "2.0.0", True),
    ],
)
def test_a_label_has_three_answers(label: str, project: str, version: str, known: bool | None) -> None:
    assert built_with(label, project, Version(version)) is known


def test_every_label_says_from_where_it_is_known_and_ends_after_it_begins() -> None:
    for life in torch_labels().values():
        assert life.last is None or life.first <= life.last
        assert life.has(life.first) in (True, None)
        assert life.has(Version("1.0")) is False


def test_only_a_pin_takes_a_stand_in_of_which_nobody_knows() -> None:
    versions = ("2.11.0", "2.12.1", "2.13.0")
    name = canonicalize_name("torch")
    files = tuple(
        DistributionFile(
            name,
            Version(version),
            f"torch-{version}-cp312-cp312-manylinux_2_28_x86_64.whl",
            FileKind.WHEEL,
            f"https://index.example/torch-{version}.whl",
        )
        for version in versions
    )
    page = standing_in(ProjectPage(name, files), "extra", "cu128")
    table = table_of(page.files)
    assert [str(version) for version in table.versions] == ["2.11.0+cu128", "2.12.1+cu128"]
    assert {str(page.files[row].version) for row in table.only_pinned} == {"2.12.1+cu128"}
    assert page.files[0].yanked is None


CUDA_WHEEL = (
    "filelock",
    "nvidia-cublas-cu12==12.6.4.1 ; platform_system == 'Linux'",
    "nvidia-cuda-runtime-cu12==12.6.77",
    "triton==3.3.1",
    "sympy>=1.13.3",
)


@pytest.mark.parametrize(
    ("label", "kept", "unknown"),
    [
        ("rocm6.3", ["filelock", "sympy>=1.13.3"], "of Triton"),
        ("xpu", ["filelock", "sympy>=1.13.3"], "of Triton"),
        ("cpu", ["filelock", "sympy>=1.13.3"], ""),
        ("cu118", ["filelock", "triton==3.3.1", "sympy>=1.13.3"], "of NVIDIA's libraries"),
        ("cu126", list(CUDA_WHEEL), ""),
        ("internal1", list(CUDA_WHEEL), ""),
    ],
)
def test_a_stand_in_asks_for_nothing_that_only_the_other_build_needs(label: str, kept: list[str], unknown: str) -> None:
    metadata = CoreMetadata(canonicalize_name("torch"), Version("2.7.1"), requires_dist=CUDA_WHEEL)
    found, left_out = without_foreign_libraries(metadata, label)
    assert (list(found.requires_dist), left_out) == (kept, unknown)


@pytest.mark.parametrize(
    ("url", "variable"),
    [
        ("https://download.example/whl/rocm6.3", "ENVDOCTOR_INDEX_ROCM6_3"),
        ("https://index.example/simple/", "ENVDOCTOR_INDEX_INDEX_EXAMPLE_SIMPLE"),
    ],
)
def test_the_variable_for_a_mirror_has_the_index_in_it_and_not_the_line(url: str, variable: str) -> None:
    assert mirror_variable(index_name(url, "of the team/requirements.txt:1")) == variable


@pytest.mark.parametrize(
    ("url", "of_windows", "elsewhere"),
    [
        ("file:///C:/my%20wheels/a.whl", "C:/my wheels/a.whl", "/C:/my wheels/a.whl"),
        ("file:///c|/a.whl", "c:/a.whl", "/c|/a.whl"),
        ("file://server/share/a%23.whl", "//server/share/a#.whl", "/share/a#.whl"),
        ("file:////server/share/a.whl", "//server/share/a.whl", "//server/share/a.whl"),
        ("file://///server/share/a.whl", "//server/share/a.whl", "///server/share/a.whl"),
        ("file://localhost/C:/a.whl", "C:/a.whl", "/C:/a.whl"),
        ("file://localhost/a.whl", "/a.whl", "/a.whl"),
        ("https://index.example/a.whl", None, None),
    ],
)
def test_a_file_url_leads_to_a_drive_or_a_server_on_windows(
    url: str, of_windows: str | None, elsewhere: str | None
) -> None:
    assert (file_path(url, windows=True), file_path(url, windows=False)) == (of_windows, elsewhere)
