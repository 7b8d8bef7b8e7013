"""What a lock set aside stays set aside, in the form in which it was."""

from __future__ import annotations

from dataclasses import replace

from packaging.utils import canonicalize_name
from resolve_universe import WINDOWS, MemoryIndex, read

from envdoctor.lock.pylock_reader import LockedProject, override_of_row, parse_lock
from envdoctor.model.origin import ProfileOrigin
from envdoctor.model.override import Override, OverrideSource
from envdoctor.model.profile import Exclusion, Profile, ProfileTarget
from envdoctor.model.project import Project
from envdoctor.model.target import Arch, Backend, OperatingSystem
from envdoctor.resolve.diagnosis import diagnose
from envdoctor.verbs.resolver_input import manifest_of


def _recorded(requirement: str, aside: str, **more: object) -> Override:
    row = {"requirement": requirement, "sets-aside": [aside], "replaces": ["project"], **more}
    found = override_of_row(row, "pylock.toml")
    assert found is not None
    return found


LEFT_OUT = _recorded('decoder ; python_version < "0"', "decoder (requirements.txt:1)")
LOCKED = LockedProject("pylock.toml", {}, (LEFT_OUT,))


def _profile(*excluded: str, overrides: tuple[Override, ...] = ()) -> Profile:
    specifier = read("python>=3.10")[0].specifier
    target = ProfileTarget(OperatingSystem.WINDOWS, Arch.X86_64, specifier, Backend.CPU)
    exclusions = tuple(Exclusion(canonicalize_name(n), "no need") for n in excluded)
    return Profile("p", "", target, excludes=exclusions, overrides=overrides)


def test_what_a_lock_left_out_is_left_out_again() -> None:
    manifest = manifest_of(Project("", requirements=read("decoder", "voice")), WINDOWS, locked=LOCKED)
    found = diagnose(manifest, MemoryIndex({"decoder": {"1": {}}, "voice": {"1": {}}}))
    assert found.resolution is not None
    assert [package.name for package in found.resolution.packages] == ["voice"]
    (override,) = found.repairs[0].overrides
    assert override.leaves_out
    assert str(override.requirement.origin) == "pylock.toml"


def test_what_the_profile_excludes_the_profile_speaks_for_and_not_the_lock() -> None:
    project = Project("", requirements=read("decoder"))
    for locked in (LOCKED, LockedProject("pylock.toml", {}, (LEFT_OUT,), chosen=True)):
        manifest = manifest_of(project, WINDOWS, profile=_profile("decoder"), locked=locked)
        assert manifest.overrides == ()
        found = diagnose(manifest, MemoryIndex({"decoder": {"1": {}}}))
        assert [override.because for override in found.repairs[0].overrides] == ["no need"]


def test_what_the_profile_asked_for_goes_when_the_profile_no_longer_does() -> None:
    entries = (replace(LEFT_OUT, source=OverrideSource.PROFILE), _recorded("voice==1", "voice==2 (x)"))
    manifest = manifest_of(
        Project("", requirements=read("decoder", "voice==2")),
        WINDOWS,
        profile=_profile(),
        locked=LockedProject("pylock.toml", {}, entries),
    )
    assert [str(override.requirement) for override in manifest.overrides] == ["voice==1"]


def test_a_chosen_repair_that_is_the_profiles_follows_the_profile() -> None:
    (line,) = read("voice==1")
    wanted = replace(line, origin=ProfileOrigin("p", "override[0]"))
    mine = Override(wanted, because="2 crashes", source=OverrideSource.PROFILE, replaces=("project",))
    entries = (
        _recorded("voice==1", "voice==2 (x)", because="2 crashes", **{"from-profile": True}),
        _recorded("left==1", "left==2 (x)", because="seen"),
    )
    manifest = manifest_of(
        Project("", requirements=read("voice==2", "left==2")),
        WINDOWS,
        profile=_profile(overrides=(mine,)),
        locked=LockedProject("pylock.toml", {}, entries, chosen=True),
    )
    assert manifest.overrides[0] is mine
    assert [(str(o.requirement), o.because) for o in manifest.overrides[1:]] == [("left==1", "seen")]


def test_a_lock_keeps_why_and_for_whom_something_is_set_aside() -> None:
    lock = """
lock-version = "1.0"
created-by = "envdoctor"
packages = []
[[tool.envdoctor.overrides]]
requirement = 'decoder ; python_version < "0"'
sets-aside = ["decoder>=1 (requirements.txt:2)", "decoder (voice 1)"]
replaces = ["project", "voice"]
because = "nothing imports it"
from-profile = true
"""
    locked = parse_lock(lock, "pylock.p.toml")
    (entry,) = locked.overrides
    assert (entry.because, entry.from_profile) == ("nothing imports it", True)
    assert locked.set_aside == {"decoder>=1"}
    assert locked.written == {"decoder>=1"}
