"""Rules over what a project declares beside versions: its Python, extras, hashes and extra indexes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pytest
from diagnose_fixtures import MemoryIndex, examination_of, require, resolution_of, resolved, target_of
from packaging.markers import Marker
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from envdoctor.diagnose.engine import breakages, examine
from envdoctor.diagnose.examination import Examination
from envdoctor.model.candidate import comparable, malformed_hash
from envdoctor.model.compatibility import admits, admitted_minors
from envdoctor.model.finding import Finding, Severity
from envdoctor.model.index_url import index_name
from envdoctor.model.origin import FileOrigin
from envdoctor.model.project import IndexOption, IndexOptionKind, Project
from envdoctor.model.resolution import ResolvedPackage
from envdoctor.profile.load import load_profile

TARGET = target_of("linux/x86_64/3.11/cpu")
GOOD, OTHER = "a" * 64, "b" * 64


def found(code: str, **fields) -> list[Finding]:
    findings = examine(Examination(target=TARGET, **fields))
    assert not [item for item in findings if item.name == "internal"]
    return [item for item in findings if item.rule == code]


def python_wanted(specifier: str) -> list[Finding]:
    origin = FileOrigin("pyproject.toml", 4)
    project = Project(".", "demo", requires_python=SpecifierSet(specifier), requires_python_origin=origin)
    return found("RES011", project=project)


def test_a_python_that_the_project_does_not_admit_is_an_error_with_one_that_it_does() -> None:
    (finding,) = python_wanted(">=3.12,<3.14")
    assert finding.severity is Severity.ERROR
    assert finding.message == "the project requires Python `<3.14,>=3.12`, and the target has 3.11"
    assert finding.location == FileOrigin("pyproject.toml", 4)
    assert finding.remedy
    assert "--target-python 3.13" in finding.remedy.summary


def test_a_python_range_that_admits_nothing_is_to_be_corrected() -> None:
    (finding,) = python_wanted(">=3.12,<3.9")
    assert finding.remedy
    assert finding.remedy.summary.startswith("correct")


@pytest.mark.parametrize("specifier", [">=3.8", ">3.11", ">=3.11.9", "==3.11.*", "<3.12", "!=3.11.2", "~=3.11.4"])
def test_one_patch_release_that_is_admitted_is_enough(specifier: str) -> None:
    assert not python_wanted(specifier)
    assert admits(SpecifierSet(specifier), (3, 11))


def test_admitted_minors_are_in_order() -> None:
    assert admitted_minors(SpecifierSet(">=3.9,!=3.10.*,<3.12")) == ((3, 9), (3, 11))


INDEX = MemoryIndex({}, {"diffusers==0.31.0": ('torch>=2; extra == "torch"', "flax; 'flax' == extra")})


def extras_of(text: str, line: int = 3) -> list[Finding]:
    project = Project(".", requirements=(require(text, FileOrigin("requirements.txt", line)),))
    return found("RES012", project=project, resolution=resolution_of(resolved("diffusers==0.31.0")), index=INDEX)


def test_an_extra_that_is_not_there_names_the_one_that_is_near() -> None:
    (finding,) = extras_of("diffusers[torchh]")
    assert finding.severity is Severity.WARNING
    assert "`diffusers` 0.31.0 has no extra `torchh`" in finding.message
    assert finding.location == FileOrigin("requirements.txt", 3)
    assert finding.remedy
    assert finding.remedy.summary == "did you mean `torch`? its extras: `flax`, `torch`"


@pytest.mark.parametrize("text", ["diffusers", "diffusers[torch,flax]", "diffusers[docs]; sys_platform == 'win32'"])
def test_extras_that_are_there_or_not_asked_for_on_the_target_are_fine(text: str) -> None:
    assert not extras_of(text)


@pytest.mark.parametrize(
    ("text", "at_fault"),
    [("jax[cuda12-pip]==0.4.25", ("jax",)), ("jax[cuda12-pop]==0.4.25", ()), ("jax[cpu-only]", ())],
)
def test_a_version_that_lost_an_extra_of_the_one_that_was_asked_for_is_at_fault(text, at_fault) -> None:
    files = {"jax": [f"jax-{version}-py3-none-any.whl" for version in ("0.4.25", "0.7.1")]}
    index = MemoryIndex(files, {"jax==0.4.25": ("jaxlib; extra == 'cuda12-pip'",), "jax==0.7.1": ("jaxlib",)})
    project = Project(".", requirements=(require(text, FileOrigin("requirements.txt", 1)),))
    resolution = resolution_of(resolved("jax==0.7.1"))
    seen = Examination(target=TARGET, project=project, resolution=resolution, index=index)
    (told,) = [item for item in breakages(seen) if item.rule == "RES012"]
    assert (told.severity, told.packages) == (Severity.WARNING, at_fault)


def test_no_hash_of_a_file_that_stands_in_is_compared() -> None:
    file = replace(resolved("torch==2.8.0").file, hashes=(("sha256", GOOD),))
    assert comparable((file,), (f"sha256:{OTHER}",))
    assert not comparable((replace(file, stand_in=True),), (f"sha256:{OTHER}",))


def hashed(hashes: Iterable[str], served: str | None = GOOD) -> list[Finding]:
    package = resolved("httpx==0.28.0")
    file = replace(package.file, hashes=(("sha256", served),) if served else ())
    package = replace(package, file=file, files=(file,))
    wanted = require("httpx==0.28.0", FileOrigin("requirements.txt", 7), hashes=tuple(hashes))
    return found("RES013", project=Project(".", requirements=(wanted,)), resolution=resolution_of(package))


def test_hashes_that_no_file_has_are_an_error_at_their_line() -> None:
    (finding,) = hashed([f"sha256:{OTHER}"])
    assert finding.severity is Severity.ERROR
    assert finding.location == FileOrigin("requirements.txt", 7)
    assert "no file of `httpx` 0.28.0 has a hash" in finding.message


@pytest.mark.parametrize(
    ("hashes", "served"),
    [
        ((), GOOD),
        ((f"sha256:{OTHER}", f"sha256:{GOOD}"), GOOD),
        ((f"sha256:{GOOD.upper()}",), GOOD),
        ((f"sha256:{OTHER}",), None),
        (("sha512:" + "c" * 128,), GOOD),
    ],
    ids=["none", "one of two", "upper case", "index without hashes", "kind that the index does not give"],
)
def test_hashes_that_agree_or_cannot_be_compared_are_fine(hashes: tuple[str, ...], served: str | None) -> None:
    assert not hashed(hashes, served)


@pytest.mark.parametrize("text", ["md5:" + "a" * 32, "sha256", "sha256:abc", "sha256:" + "g" * 64, GOOD])
def test_what_installers_do_not_take_as_a_hash_is_said(text: str) -> None:
    assert malformed_hash(text)
    (finding,) = hashed([text])
    assert "is no hash that installers take" in finding.message


EXTRA = FileOrigin("requirements.txt", 1)
URL = "https://packages.example/simple"
NAMED = index_name(URL, str(EXTRA))


class OutbiddingIndex(MemoryIndex):
    """An index of two, the extra one of which has `rich` 99."""

    confused = (("rich", NAMED, Version("99.0"), Version("15.0.0")),)


def outbid_by(package: ResolvedPackage) -> list[Finding]:
    options = (IndexOption(IndexOptionKind.EXTRA_INDEX_URL, URL, EXTRA),)
    project = Project(".", index_options=options)
    return found("RES109", project=project, resolution=resolution_of(package), index=OutbiddingIndex({}))


def test_an_extra_index_that_outbids_the_default_one_is_named_with_its_line() -> None:
    (finding,) = outbid_by(resolved("rich==99.0", index=NAMED))
    assert finding.severity is Severity.WARNING
    assert finding.location == EXTRA
    assert "outbids the default index (15.0.0)" in finding.message


@pytest.mark.parametrize(
    "package",
    [resolved("rich==15.0.0"), resolved("rich==15.0.0+cu121", index=NAMED), resolved("httpx==1.0")],
    ids=["from the default index", "a local build of the same release", "another project"],
)
def test_what_the_extra_index_does_not_outbid_is_fine(package: ResolvedPackage) -> None:
    assert not outbid_by(package)


def test_what_the_profile_leaves_out_is_named_where_it_is_installed() -> None:
    profile = load_profile("xtts-zluda")
    base = examination_of(
        {"installed": ["deepspeed==0.11.1", "torch==2.1.1+cu118"], "target": "windows/x86_64/3.11/zluda"}
    )
    (finding,) = (item for item in examine(replace(base, profile=profile)) if item.rule == "ENV014")
    assert finding.severity is Severity.ERROR
    assert finding.subject == "deepspeed"
    assert "abort under ZLUDA" in finding.message
    assert finding.remedy
    assert finding.remedy.commands == ("python -m pip uninstall -y deepspeed",)
    without = examination_of({"installed": ["torch==2.1.1+cu118"]})
    assert [item for item in examine(replace(without, profile=profile)) if item.rule == "ENV014"] == []
    assert [item for item in examine(base) if item.rule == "ENV014"] == []


def test_a_target_that_uv_is_told_to_leave_out_is_a_warning() -> None:
    origin = FileOrigin("pyproject.toml", 9)
    mac = Project(".", "demo", environments=((Marker("sys_platform == 'darwin'"), origin),))
    (finding,) = found("RES011", project=mac)
    assert finding.severity is Severity.WARNING
    assert finding.location == origin
    both = replace(mac, environments=(*mac.environments, (Marker("sys_platform == 'linux'"), origin)))
    assert not found("RES011", project=both)
