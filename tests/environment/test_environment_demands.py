"""What installed distributions ask of each other: when the rules speak, and when they must not."""

from __future__ import annotations

from dataclasses import replace

import pytest
from packaging.pylock import Pylock
from packaging.requirements import Requirement as PackagingRequirement
from packaging.specifiers import SpecifierSet

from envdoctor.adapters.probe.installed_environment import read_environment
from envdoctor.diagnose.engine import examine
from envdoctor.diagnose.examination import Examination
from envdoctor.lock.pylock_reader import override_of_row
from envdoctor.model.environment import EnvironmentKind, EnvironmentLock, InstalledEnvironment, Interpreter
from envdoctor.model.finding import Severity
from envdoctor.model.origin import FileOrigin, ProfileOrigin
from envdoctor.model.override import Override, OverrideSource
from envdoctor.model.profile import Exclusion, Profile, ProfileTarget
from envdoctor.model.project import Project
from envdoctor.model.requirement import Requirement
from envdoctor.model.target import Arch, Backend, OperatingSystem, Target

WINDOWS = Target(OperatingSystem.WINDOWS, Arch.X86_64, (3, 10))
LINUX = Target(OperatingSystem.LINUX, Arch.X86_64, (3, 10))


def test_env001_missing_and_unsatisfied(site, diagnose):
    site.add("tortoise", "2.5.0", "transformers==4.29.2", "einops")
    site.add("transformers", "4.31.0")
    findings = diagnose(read_environment(site.folder), "ENV001")
    assert [(finding.subject, finding.severity) for finding in findings] == [("tortoise", Severity.ERROR)] * 2
    assert findings[0].message == "`tortoise` 2.5.0 requires `transformers==4.29.2`, but 4.31.0 is installed"
    assert findings[1].message == "`tortoise` 2.5.0 requires `einops`, but it is not installed"
    assert findings[0].remedy is not None
    assert findings[0].remedy.commands == ('python -m pip install "transformers==4.29.2"',)


@pytest.mark.parametrize(
    ("requires", "wanted"),
    [("torch>=2.1", '"torch==2.5.1"'), ("torch @ https://index.example/torch-2.5.1-py3-none-any.whl", "https")],
)
def test_env001_nothing_is_moved_for_a_torch_that_is_not_there(site, diagnose, requires, wanted):
    site.add("torchvision", "0.20.1+cu121", "torch==2.5.1")
    site.add("torchaudio", "2.5.1+cu121", "torch==2.5.1")
    site.add("tts", "1", requires)
    found = {item.subject: item.remedy for item in diagnose(read_environment(site.folder), "ENV001", target=LINUX)}
    assert [command.partition(wanted)[0] for command in found["tts"].commands] == ["python -m pip install "]
    assert not any("torchvision" in command for remedy in found.values() for command in remedy.commands)


@pytest.mark.parametrize(
    ("requires", "version"),
    [
        ("b>=1", "2.0"),
        ("b==2.6.0", "2.6.0+cu124"),
        ("b>=1", "1.1rc1"),
        ("b (>=1.0.*)", "1.5"),
        ("b", "not-a-version"),
        ("b @ https://index.example/b-1.whl", "3"),
        ("b>=5; sys_platform == 'darwin'", "1"),
        ("b>=5; extra == 'gpu'", "1"),
        ("b[nosuch]>=1", "1"),
    ],
)
def test_env001_stays_silent_where_the_requirement_holds(site, diagnose, requires, version):
    site.add("a", "1", requires)
    site.add("b", version)
    assert diagnose(read_environment(site.folder), "ENV001", target=LINUX) == []


def test_env001_follows_extras_that_others_ask_for(site, diagnose):
    site.add("app", "1", "server[standard]>=1")
    site.add("server", "1", "fast-loop; extra == 'standard'", "unused; extra == 'other'")
    (finding,) = diagnose(read_environment(site.folder), "ENV001")
    assert finding.severity is Severity.WARNING
    assert finding.message == "`server` 1 (its extra `standard`) requires `fast-loop`, but it is not installed"


def test_env001_extras_of_extras_and_of_itself_end(site, diagnose):
    site.add("a", "1", "a[all]; extra == 'more'", "b[x]; extra == 'all'", "a[more]")
    site.add("b", "1", "c[y]; extra == 'x'")
    site.add("c", "1", "a[more]; extra == 'y'", "gone; extra == 'y'")
    (finding,) = diagnose(read_environment(site.folder), "ENV001")
    assert finding.subject == "c"


def test_env001_markers_are_those_of_the_target(site, diagnose):
    site.add("a", "1", "pywin32; sys_platform == 'win32'", "uvloop; sys_platform != 'win32'")
    environment = read_environment(site.folder)
    assert ["pywin32" in finding.message for finding in diagnose(environment, "ENV001", target=WINDOWS)] == [True]
    assert ["uvloop" in finding.message for finding in diagnose(environment, "ENV001", target=LINUX)] == [True]


def test_env001_the_folders_python_counts_more_than_the_targets(site, diagnose):
    site.add("a", "1", "tomli; python_version < '3.11'")
    environment = replace(read_environment(site.folder), python=(3, 12))
    assert diagnose(environment, "ENV001", target=LINUX) == []


@pytest.mark.parametrize(("full", "missing"), [(None, False), ("3.11.2", True), ("3.11.3", False)])
def test_env001_what_one_patch_release_needs_is_not_missing_from_all(site, diagnose, full, missing):
    site.add("redis", "5", "async-timeout; python_full_version < '3.11.3'")
    environment = replace(read_environment(site.folder), python=(3, 11), python_full=full)
    assert bool(diagnose(environment, "ENV001", target=LINUX)) is missing
    site.add("old", "1", "gone; python_full_version < '3.12'")
    environment = replace(read_environment(site.folder), python=(3, 11), python_full=full)
    assert "old" in [item.subject for item in diagnose(environment, "ENV001", target=LINUX)]


def test_env001_a_stand_in_of_the_family_is_not_missing(site, diagnose):
    site.add("faster-whisper", "1.1.0", "onnxruntime>=1.14")
    site.add("onnxruntime-directml", "1.20.1")
    (finding,) = diagnose(read_environment(site.folder), "ENV001")
    assert finding.severity is Severity.INFO
    assert "stands in for it" in finding.message


def test_env001_a_stand_in_that_is_too_old_does_not_do(site, diagnose):
    site.add("a", "1", "onnxruntime>=1.20")
    site.add("onnxruntime-gpu", "1.14.1")
    assert [finding.severity for finding in diagnose(read_environment(site.folder), "ENV001")] == [Severity.ERROR]


def profile(*, requirement: str, replaces: tuple[str, ...] = (), exclude: str = "") -> Profile:
    parsed = PackagingRequirement(requirement)
    wanted = Requirement(
        name=parsed.name,  # type: ignore[arg-type]
        origin=ProfileOrigin("p", "override[0]"),
        specifier=parsed.specifier,
        marker=parsed.marker,
    )
    return Profile(
        name="p",
        summary="",
        target=ProfileTarget(OperatingSystem.WINDOWS, Arch.X86_64, SpecifierSet(">=3.10"), Backend.ZLUDA),
        source="profiles/p.toml",
        overrides=(Override(wanted, because="no wheel for Windows", source=OverrideSource.PROFILE, replaces=replaces),),
        excludes=(Exclusion(exclude, "aborts under ZLUDA"),) if exclude else (),  # type: ignore[arg-type]
    )


def test_recorded_overrides_waive(site, diagnose):
    site.add("faster-whisper", "1.1.0", "av<12,>=11")
    site.add("other", "1", "av<12")
    site.add("av", "12.3.0")
    environment = read_environment(site.folder)
    everyone = diagnose(environment, "ENV001", profile=profile(requirement="av>=12"))
    assert [finding.waived is not None for finding in everyone] == [True, True]
    assert everyone[0].waived is not None
    assert everyone[0].waived.source == "profiles/p.toml: override[0]"
    one = diagnose(environment, "ENV001", profile=profile(requirement="av>=12", replaces=("faster-whisper",)))
    assert {finding.subject: finding.waived is not None for finding in one} == {"faster-whisper": True, "other": False}
    wrong = diagnose(environment, "ENV001", profile=profile(requirement="av>=13"))
    assert all(finding.waived is None for finding in wrong)


def test_a_waiver_of_a_base_profile_names_the_base_and_its_own_number(site, diagnose):
    site.add("faster-whisper", "1.1.0", "av<12,>=11")
    site.add("av", "12.3.0")
    child = profile(requirement="av>=12")
    (item,) = child.overrides
    inherited = replace(item.requirement, origin=ProfileOrigin("base", "override[4]"))
    child = replace(child, overrides=(replace(item, requirement=inherited),))
    (finding,) = diagnose(read_environment(site.folder), "ENV001", profile=child)
    assert finding.waived is not None
    assert finding.waived.source == "base: override[4]"


EMPTY = Pylock.from_dict({"lock-version": "1.0", "created-by": "envdoctor", "packages": []})


def locked_row(requirement: str, *replaces: str) -> Override:
    found = override_of_row({"requirement": requirement, "replaces": list(replaces)}, "l")
    assert found is not None
    return found


def test_overrides_of_the_lock_waive(site, diagnose):
    site.add("faster-whisper", "1.1.0", "av<12,>=11", "onnxruntime")
    site.add("av", "12.3.0")
    environment = read_environment(site.folder)
    av, left_out = locked_row("av>=12", "faster-whisper"), locked_row('onnxruntime ; python_version < "0"')
    found = diagnose(replace(environment, lock=EnvironmentLock(EMPTY, "l", (av, left_out))), "ENV001")
    assert {finding.waived.source for finding in found if finding.waived} == {
        "lock: overrides: faster-whisper -> av>=12",
        'lock: overrides: onnxruntime ; python_version < "0"',
    }
    assert len(found) == 2
    others = locked_row("av>=12", "someone-else")
    found = diagnose(replace(environment, lock=EnvironmentLock(EMPTY, "l", (others,))), "ENV001")
    assert not any(finding.waived for finding in found)


def test_env012_the_lock_accepts_only_the_lines_that_it_set_aside(site, diagnose):
    """A line that was changed after the fix is accepted by nobody, although environment and lock agree."""
    site.add("six", "1.16.0")
    environment = read_environment(site.folder)
    row = {"requirement": "six==1.16.0", "replaces": ["project"], "sets-aside": ["six==1.15.0 (requirements.txt:1)"]}
    override = override_of_row(row, "l")
    assert override is not None
    locked = replace(environment, lock=EnvironmentLock(EMPTY, "l", (override,)))

    def accepted(line: str) -> list[bool]:
        parsed = PackagingRequirement(line)
        origin = FileOrigin("requirements.txt", 1)
        asked = Requirement(parsed.name, origin, parsed.specifier, text=line)  # type: ignore[arg-type]
        found = diagnose(locked, "ENV012", project=Project("", requirements=(asked,)))
        return [finding.waived is not None for finding in found]

    assert accepted("six==1.16.0") == []
    assert accepted("six==1.15.0") == [True]
    assert accepted("six==1.17.0") == [False]


def test_excluded_projects_may_be_missing(site, diagnose):
    site.add("tts", "1", "deepspeed")
    accepted = profile(requirement="av>=12", exclude="deepspeed")
    (finding,) = diagnose(read_environment(site.folder), "ENV001", profile=accepted)
    assert finding.waived is not None
    assert finding.waived.reason == "aborts under ZLUDA"


def test_env002_names_both_sides_and_who_breaks_now(site, diagnose):
    site.add("audiocraft", "1.0.0", "hydra-core>=1.1")
    site.add("fairseq", "0.12.2", "hydra-core<1.1,>=1.0.7")
    site.add("hydra-core", "1.0.7")
    findings = diagnose(read_environment(site.folder))
    (conflict,) = [finding for finding in findings if finding.rule == "ENV002"]
    assert conflict.subject == "hydra-core"
    assert "`audiocraft` 1.0.0 (`hydra-core>=1.1`)" in conflict.message
    assert "`fairseq` 0.12.2" in conflict.message
    assert conflict.remedy is not None
    assert "it is `audiocraft`" in conflict.remedy.summary
    (unmet,) = [finding for finding in findings if finding.rule == "ENV001"]
    assert unmet.remedy is not None
    assert unmet.remedy.commands == ()
    assert "`fairseq`" in unmet.remedy.summary


def test_env002_of_companions_of_one_torch_asks_for_no_environments_of_their_own(site, diagnose):
    site.add("torchvision", "0.19.1", "torch==2.4.1")
    site.add("xformers", "0.0.27.post2", "torch==2.4.0")
    site.add("torch", "2.3.1")
    (conflict,) = [finding for finding in diagnose(read_environment(site.folder)) if finding.rule == "ENV002"]
    assert "take `torchvision==0.18.1`" in conflict.remedy.summary
    assert "take `xformers==0.0.27`" in conflict.remedy.summary


def test_env002_three_that_only_together_exclude_everything(site, diagnose):
    site.add("a", "1", "x>=1,<=2")
    site.add("b", "1", "x!=2")
    site.add("c", "1", "x>=2")
    site.add("d", "1", "x>=0.5")
    site.add("x", "1")
    (finding,) = diagnose(read_environment(site.folder), "ENV002")
    assert [item.where.rsplit("/", 1)[-1] for item in finding.evidence] == [
        "a-1.dist-info",
        "b-1.dist-info",
        "c-1.dist-info",
    ]


def test_env002_is_silent_where_a_version_would_do(site, diagnose):
    site.add("a", "1", "x>=2")
    site.add("b", "1", "x<3")
    site.add("x", "1.0")
    assert diagnose(read_environment(site.folder), "ENV002") == []


def test_commands_are_those_of_the_installer_that_is_there(site, diagnose):
    site.add("a", "1", "b>=2", INSTALLER="uv")
    environment = replace(read_environment(site.folder), executable="/my env/bin/python")

    def commands(item: InstalledEnvironment) -> tuple[str, ...]:
        (finding,) = diagnose(item, "ENV001")
        assert finding.remedy is not None
        return finding.remedy.commands

    assert commands(environment) == ('uv pip install --python "/my env/bin/python" "b>=2"',)
    site.add("pip", "25.0")
    assert commands(read_environment(site.folder)) == ('python -m pip install "b>=2"',)
    managed = replace(environment, kind=EnvironmentKind.PREFIX, told=Interpreter(externally_managed=True))
    assert commands(managed) == ()


def test_env001_leaves_a_torn_pair_to_the_advisory_that_says_which_of_the_two_to_move(site):
    site.add("torch", "2.4.1")
    site.add("torchaudio", "2.7.0", "torch==2.7.0", "absent")
    site.add("other", "1", "torch>=2.5")
    findings = examine(Examination(environment=read_environment(site.folder), target=LINUX))
    told = [(item.rule, item.subject, item.message) for item in findings if item.rule in ("ADV006", "ENV001")]
    assert told == [
        ("ADV006", "torchaudio", "`torchaudio` 2.7.0 was not built for `torch` 2.4.1"),
        ("ENV001", "other", "`other` 1 requires `torch>=2.5`, but 2.4.1 is installed"),
        ("ENV001", "torchaudio", "`torchaudio` 2.7.0 requires `absent`, but it is not installed"),
    ]
