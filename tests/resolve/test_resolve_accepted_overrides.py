"""What a lock set aside stays set aside, in the form in which it was."""

from __future__ import annotations

from packaging.utils import canonicalize_name
from resolve_universe import WINDOWS, MemoryIndex, read

from envdoctor.lock.reading import AcceptedOverride, LockedProject
from envdoctor.model.profile import Exclusion, Profile, ProfileTarget
from envdoctor.model.project import Project
from envdoctor.model.target import Arch, Backend, OperatingSystem
from envdoctor.resolve.diagnosis import diagnose
from envdoctor.workflow.prescription import problem_of

LEFT_OUT = AcceptedOverride('decoder ; python_version < "0"', ("decoder (requirements.txt:1)",), ("project",))
LOCKED = LockedProject("pylock.toml", {}, (LEFT_OUT,))


def _profile(*excluded: str) -> Profile:
    specifier = read("python>=3.10")[0].specifier
    target = ProfileTarget(OperatingSystem.WINDOWS, Arch.X86_64, specifier, Backend.CPU)
    return Profile("p", "", target, excludes=tuple(Exclusion(canonicalize_name(n), "no need") for n in excluded))


def test_what_a_lock_left_out_is_left_out_again() -> None:
    problem = problem_of(Project("", requirements=read("decoder", "voice")), WINDOWS, locked=LOCKED)
    found = diagnose(problem, MemoryIndex({"decoder": {"1": {}}, "voice": {"1": {}}}))
    assert found.resolution is not None
    assert [package.name for package in found.resolution.packages] == ["voice"]
    (override,) = found.repairs[0].overrides
    assert override.leaves_out
    assert override.because == "recorded in pylock.toml"


def test_what_the_profile_excludes_the_profile_speaks_for_and_not_the_lock() -> None:
    project = Project("", requirements=read("decoder"))
    for locked in (LOCKED, LockedProject("pylock.toml", {}, (LEFT_OUT,), chosen=True)):
        problem = problem_of(project, WINDOWS, profile=_profile("decoder"), locked=locked)
        assert problem.overrides == ()
        found = diagnose(problem, MemoryIndex({"decoder": {"1": {}}}))
        assert [override.because for override in found.repairs[0].overrides] == ["no need"]
