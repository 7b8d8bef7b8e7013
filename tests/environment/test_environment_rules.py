"""The rules over installed distributions: when they speak, and when they must not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from packaging.pylock import Pylock
from packaging.requirements import Requirement as PackagingRequirement
from packaging.specifiers import SpecifierSet

from envdoctor.adapters.probe.environment import read_environment
from envdoctor.model.environment import ImportOutcome, InstalledEnvironment
from envdoctor.model.finding import Severity
from envdoctor.model.origin import ProfileOrigin
from envdoctor.model.profile import Exclusion, Profile, ProfileOverride, ProfileTarget
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
        overrides=(ProfileOverride(wanted, "no wheel for Windows", replaces),),
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


def test_overrides_of_the_lock_waive(site, diagnose):
    site.add("faster-whisper", "1.1.0", "av<12,>=11", "onnxruntime")
    site.add("av", "12.3.0")
    environment = read_environment(site.folder)
    environment.details["overrides"] = ["faster-whisper -> av>=12", 'onnxruntime; python_version<"0"']
    assert all(finding.waived for finding in diagnose(environment, "ENV001"))
    environment.details["overrides"] = ["someone-else -> av>=12"]
    assert not any(finding.waived for finding in diagnose(replace(environment), "ENV001"))


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


def test_env003_two_versions_in_one_folder(site, diagnose):
    site.add("numpy", "1.26.4")
    site.add("numpy", "2.1.0")
    (finding,) = diagnose(read_environment(site.folder), "ENV003")
    assert finding.message == "`numpy` is installed twice in one folder: 1.26.4 and 2.1.0"


def test_env003_the_same_version_told_twice_is_information(site, diagnose):
    site.add("cryptography", "38.0.4")
    (site.folder / "cryptography-38.0.4.egg-info").write_text("Name: cryptography\nVersion: 38.0.4\n", encoding="utf-8")
    assert [finding.severity for finding in diagnose(read_environment(site.folder), "ENV003")] == [Severity.INFO]


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
    managed = replace(environment, details={"kind": "prefix", "externally_managed": True})
    assert commands(managed) == ()


def test_env003_the_egg_info_of_an_editable_install_is_no_duplicate(site, diagnose):
    site.add("mine", "0.1", direct_url__json='{"dir_info": {"editable": true}}')
    (site.folder / "mine.egg-info").mkdir()
    (site.folder / "mine.egg-info" / "PKG-INFO").write_text("Name: mine\nVersion: 0.1\n", encoding="utf-8")
    assert diagnose(read_environment(site.folder), "ENV003") == []


def test_env004_names_the_distribution_that_was_interrupted(site, diagnose):
    site.add("torch", "2.6.0")
    (site.folder / "~orch").mkdir()
    (site.folder / "~orch-2.5.0.dist-info").mkdir()
    (finding,) = diagnose(read_environment(site.folder), "ENV004")
    assert finding.message == "`~orch` was left behind by an install of `torch` that did not end"
    assert len(finding.evidence) == 2


def test_env005_the_onnxruntime_trio_is_one_finding(site, diagnose):
    for number, name in enumerate(("onnxruntime", "onnxruntime-gpu", "onnxruntime-directml")):
        site.add(name, "1.20.1", files={"onnxruntime/__init__.py": "", "onnxruntime/capi/state.so": f"{number}"})
    (finding,) = diagnose(read_environment(site.folder), "ENV005")
    assert finding.severity is Severity.ERROR
    assert finding.message.startswith("`onnxruntime` 1.20.1")
    assert "own the same 2 files, 1 of them with different content" in finding.message
    for name in ("onnxruntime-gpu", "onnxruntime-directml"):
        assert f"`{name}`" in finding.message


def test_env005_the_same_code_twice_is_a_warning(site, diagnose):
    site.add("one", "1", files={"pkg/a.py": "x"})
    site.add("other", "1", files={"pkg/a.py": "x"})
    assert [finding.severity for finding in diagnose(read_environment(site.folder), "ENV005")] == [Severity.WARNING]


def test_env005_passes_over_namespaces_licences_and_careless_folders(site, diagnose):
    for name in ("nvidia-cublas-cu12", "nvidia-cuda-runtime-cu12"):
        files = {"nvidia/__init__.py": "", f"nvidia/{name}/lib.so": name, "LICENSE": name, "tests/__init__.py": name}
        site.add(name, "12.1", files=files)
    assert [finding.severity for finding in diagnose(read_environment(site.folder), "ENV005")] == [Severity.INFO]


def test_env005_knows_the_families_of_a_listing(diagnose):
    from envdoctor.adapters.probe.listing import read_listing

    environment = read_listing("opencv-python==4.10.0\nopencv-python-headless==4.10.0\nnumpy==1.26\n", "freeze.txt")
    (finding,) = diagnose(environment, "ENV005")
    assert "own the same import package `cv2`" in finding.message


def test_env006_missing_code_is_an_error_changed_data_is_not(site, diagnose):
    site.add("a", "1", files={"a/x.py": "1"})
    site.add("b", "1", files={"b/cacert.pem": "1"})
    site.add("c", "1", files={"c/x.py": "1"})
    site.add("d", "1", files={"d/x.py": "1", "../../bin/d": "1", "d/__pycache__/x.pyc": "1"})
    (site.folder / "a/x.py").unlink()
    (site.folder / "b/cacert.pem").write_text("12", encoding="utf-8")
    (site.folder / "c/x.py").write_text("12", encoding="utf-8")
    (site.folder / "d/__pycache__/x.pyc").unlink()
    findings = diagnose(read_environment(site.folder, files=True), "ENV006")
    assert {finding.subject: finding.severity for finding in findings} == {
        "a": Severity.ERROR,
        "b": Severity.INFO,
        "c": Severity.WARNING,
    }


def with_lock(environment: InstalledEnvironment) -> InstalledEnvironment:
    def package(name: str, version: str, marker: str | None = None) -> dict[str, object]:
        filename = f"{name}-{version}-py3-none-any.whl"
        wheel = {"name": filename, "url": f"https://index.example/{filename}", "hashes": {"sha256": "0" * 64}}
        entry: dict[str, object] = {"name": name, "version": version, "wheels": [wheel]}
        return {**entry, "marker": marker} if marker else entry

    packages = [
        package("torch", "2.7.1+cu128"),
        package("pywin32", "310", "sys_platform == 'win32'"),
        package("numpy", "1.26.4"),
    ]
    lock = Pylock.from_dict({"lock-version": "1.0", "created-by": "envdoctor", "packages": packages})
    environment.details["lock"] = lock
    return environment


def test_env007_drift_from_the_lock(site, diagnose):
    site.add("torch", "2.7.1")
    site.add("stray", "1")
    site.add("pip", "25")
    findings = diagnose(with_lock(read_environment(site.folder)), "ENV007", target=LINUX)
    assert [finding.message for finding in findings] == [
        "`torch` is locked at 2.7.1+cu128, but 2.7.1 is installed",
        "`numpy` 1.26.4 is locked, but not installed",
        "1 installed distribution is not in the lock",
    ]


def test_env007_an_environment_as_locked_is_silent(site, diagnose):
    site.add("torch", "2.7.1+cu128")
    site.add("numpy", "1.26.4")
    assert diagnose(with_lock(read_environment(site.folder)), "ENV007", target=LINUX) == []


def test_env008_every_kind_of_broken_metadata(site, diagnose):
    site.add("a", "1", "this is no requirement")
    site.add("b", "1.1build1")
    (site.folder / "half-1.0.dist-info").mkdir()
    info = site.add("c", "1")
    (info / "METADATA").write_text("Metadata-Version: 2.1\n", encoding="utf-8")
    findings = diagnose(read_environment(site.folder), "ENV008")
    assert [(finding.subject, finding.severity) for finding in findings] == [
        ("c-1.dist-info", Severity.WARNING),
        ("half-1.0.dist-info", Severity.WARNING),
        ("a", Severity.INFO),
        ("b", Severity.INFO),
    ]


@pytest.mark.parametrize(
    ("wanted", "python", "full", "count"),
    [
        (">=3.9,<3.12", (3, 12), "3.12.1", 1),
        (">=3.9,<3.12", (3, 11), "3.11.0", 0),
        ("!=3.10.0", (3, 10), None, 0),
        ("<3.10", (3, 10), None, 1),
        (">=3.6.*", (3, 10), "3.10.1", 0),
        (">=3.9", None, None, 0),
    ],
)
def test_env009_python_that_a_distribution_rules_out(site, diagnose, wanted, python, full, count):
    site.add("tts", "0.22.0", headers=f"Requires-Python: {wanted}\n")
    environment = replace(read_environment(site.folder), python=python, python_full=full)
    assert len(diagnose(environment, "ENV009")) == count


@pytest.mark.parametrize(
    ("status", "detail", "says"),
    [
        ("missing", "ModuleNotFoundError: No module named 'torch'", "no such module"),
        ("raised", "OSError: libcudart.so.12", "libcudart.so.12"),
        ("crashed", "SIGABRT", "kills the interpreter: SIGABRT"),
        ("timed-out", "did not end within 5 s", "hangs: it did not end within 5 s"),
    ],
)
def test_env020_each_way_to_fail_is_a_finding(diagnose, status, detail, says):
    environment = InstalledEnvironment((), details={"imports": {"torch": ImportOutcome("torch", status, detail)}})
    (finding,) = diagnose(environment, "ENV020")
    assert finding.severity is Severity.ERROR
    assert says in finding.message


def test_env020_an_import_that_went_well_is_silent(diagnose):
    environment = InstalledEnvironment((), details={"imports": {"torch": ImportOutcome("torch", "imported")}})
    assert diagnose(environment, "ENV020") == []


def test_an_empty_examination_and_an_empty_environment_say_nothing(diagnose, site):
    assert diagnose(read_environment(site.folder)) == []


CASES = Path(__file__).resolve().parents[3] / "shared" / "cases"


@pytest.mark.skipif(not CASES.is_dir(), reason="the recorded cases are not beside this checkout")
def test_two_engines_that_no_version_reconciles(diagnose):
    folder = CASES / "42-ttswebui-two-engines" / "input" / "site-packages"
    findings = diagnose(read_environment(folder), target=WINDOWS)
    assert [(finding.rule, finding.subject) for finding in findings] == [
        ("ENV001", "tortoise"),
        ("ENV001", "audiocraft"),
        ("ENV002", "transformers"),
        ("ENV002", "hydra-core"),
    ]
    assert all(finding.remedy and not finding.remedy.commands for finding in findings)


@pytest.mark.skipif(not CASES.is_dir(), reason="the recorded cases are not beside this checkout")
def test_a_list_of_one_torch_says_what_it_does_not_tell(diagnose):
    from envdoctor.adapters.probe.listing import read_listing

    text = (CASES / "24-rtx5080-torch-without-sm120" / "input" / "installed.txt").read_text(encoding="utf-8")
    environment = read_listing(text, "installed.txt")
    assert [(item.name, item.version) for item in environment.distributions] == [("torch", "2.6.0+cu124")]
    assert [finding.rule for finding in diagnose(environment)] == ["ENV011"]
