"""What is said of the profile itself: its cautions, and another machine than it is for."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from diagnose_fixtures import examination_of
from packaging.utils import canonicalize_name

from envdoctor.diagnose.advisories.advising import advise
from envdoctor.diagnose.examination import Examination
from envdoctor.diagnose.rules import env014_excluded_but_installed, res211_profile_cautions
from envdoctor.diagnose.rules import res212_profile_of_another_machine as res212
from envdoctor.model.environment import InstalledDistribution, InstalledEnvironment, PatchedFile
from envdoctor.model.fact import Fact, Facts, FactState
from envdoctor.model.finding import Severity
from envdoctor.model.target import Arch, OperatingSystem, Target
from envdoctor.profile.load import load_profile
from envdoctor.profile.profile_target import target_for
from envdoctor.verbs.project_inputs import sources_of


def cards(*vendors: str) -> Facts:
    rows = [(f"gpu[{at}].{key}", f"{vendor} {key}" if key == "name" else vendor)
            for at, vendor in enumerate(vendors) for key in ("name", "vendor")]  # fmt: skip
    return Facts([Fact(name, FactState.KNOWN, value, "test") for name, value in rows])


def said(name: str, target: Target | None = None, facts: Facts = Facts(), root: Path | None = None) -> list[str]:  # noqa: B008
    profile = load_profile(name)
    sources = sources_of(root) if root is not None else None
    examination = Examination(target=target or target_for(profile), profile=profile, facts=facts, sources=sources)
    findings = list(res211_profile_cautions.RULE.find(examination))
    return [text for found in findings for text in (found.message, *(item.what for item in found.evidence))]


def test_a_caution_applies_where_its_condition_holds(tmp_path: Path) -> None:
    plain = said("xtts-zluda")
    assert any(text.startswith("Not run on Windows") for text in plain)
    assert not any("laptop" in text or "Python 3.10" in text for text in plain)
    assert any("laptop" in text for text in said("xtts-zluda", facts=cards("amd", "amd")))
    (tmp_path / "scripts").mkdir()
    (tmp_path / "scripts/install_rvc_venv.py").write_text("", "utf-8")
    profile = load_profile("xtts-zluda")
    new, old = (replace(target_for(profile), python=python) for python in ((3, 11), (3, 10)))
    assert said("xtts-zluda", new, root=tmp_path)[0].startswith(
        "If RVC is wanted, take the profile xtts-zluda-rvc, or Python 3.10"
    )
    assert not any("Python 3.10" in text for text in said("xtts-zluda", old, root=tmp_path))


@pytest.mark.parametrize("name", ["rvc-rocm-windows", "xtts-rocm-windows"])
def test_a_profile_for_rocm_says_nothing_of_zluda(name: str) -> None:
    texts = [caution.text for caution in load_profile(name).cautions]
    assert any("AMD's index" in text for text in texts)
    assert any("laptop" in text for text in texts)
    assert not any("zluda" in text.lower() for text in texts)


def test_a_caution_of_another_system_is_said_there() -> None:
    directml = load_profile("diffrhythm2-directml")
    assert not any("on Linux too" in text for text in said("diffrhythm2-directml"))
    there = replace(target_for(directml), os=OperatingSystem.LINUX)
    assert said("diffrhythm2-directml", there)[0].startswith("torch-directml installs on Linux too")
    assert not any("maintenance" in text for text in said("diffrhythm2-directml", there))
    rocm = load_profile("diffrhythm2-rocm")
    assert not said("diffrhythm2-rocm", replace(target_for(rocm), os=OperatingSystem.WINDOWS))
    cpu = load_profile("diffrhythm2-cpu")
    assert said("diffrhythm2-cpu", replace(target_for(cpu), os=OperatingSystem.WINDOWS))


@pytest.mark.parametrize(
    ("name", "system", "facts", "told"),
    [
        ("diffrhythm2-rocm", OperatingSystem.WINDOWS, (), "it is for linux x86_64, and the target is windows x86_64"),
        ("xtts-zluda", None, ("nvidia",), "it is for zluda, and the card is nvidia name"),
        ("xtts-zluda", None, ("intel", "amd"), None),
        ("xtts-zluda", None, (), None),
        ("diffrhythm2-cpu", OperatingSystem.WINDOWS, ("nvidia",), None),
    ],
)
def test_a_profile_for_another_machine_is_a_warning(
    name: str, system: OperatingSystem | None, facts: tuple[str, ...], told: str | None
) -> None:
    profile = load_profile(name)
    target = target_for(profile)
    if system is not None:
        target = replace(target, os=system, arch=Arch.X86_64)
    found = list(res212.RULE.find(Examination(target=target, profile=profile, facts=cards(*facts))))
    assert [item.severity for item in found] == ([Severity.WARNING] if told else [])
    assert not told or told in found[0].message


def test_what_an_excluded_package_brought_along_is_named() -> None:
    rows = {
        "deepspeed": ("hjson", "numpy", "py-cpuinfo", "ninja; extra == 'x'"),
        "torch": ("numpy",),
        "hjson": (),
        "numpy": (),
        "ninja": (),
    }
    here = tuple(InstalledDistribution(canonicalize_name(name), "1", requires) for name, requires in rows.items())
    examination = Examination(profile=load_profile("xtts-zluda"), environment=InstalledEnvironment(here))
    (finding,) = env014_excluded_but_installed.RULE.find(examination)
    assert finding.evidence[-1].what.startswith("it came with hjson, which nothing else here asks for")


def audio(call: str, profile: str | None, *, patched: bool | None = None) -> list[Severity]:
    """Return how bad ADV009 is of a project that makes that call; ``patched``: of an environment, fixed or not."""
    place = "plan" if patched is None else "installed"
    data = {place: ["torch==2.14.0", "torchaudio==2.11.0"], "sources": {"a.py": f"import torchaudio\n{call}\n"}}
    examination = examination_of(data)
    if patched and examination.environment is not None:
        names = ("audio-load-by-soundfile", "audio-save-by-soundfile")
        file = PatchedFile("torchaudio/__init__.py", "torchaudio", names, "patched")
        examination = replace(examination, environment=replace(examination.environment, patched=(file,)))
    examination = replace(examination, profile=load_profile(profile) if profile else None)
    return [item.severity for item in advise(examination) if item.rule == "ADV009"]


@pytest.mark.parametrize("call", ["x, sr = torchaudio.load(p)", "torchaudio.save(p, x, sr)"])
def test_torchaudio_needs_no_torchcodec_where_the_profile_patches_what_is_called(call: str) -> None:
    assert audio(call, None) == [Severity.WARNING]
    assert audio(call, "xtts-zluda") == [Severity.WARNING]
    assert audio(call, "xtts-rocm-windows") == []
    assert audio(call, "xtts-rocm-windows", patched=False) == [Severity.WARNING]
    assert audio(call, "xtts-rocm-windows", patched=True) == []
