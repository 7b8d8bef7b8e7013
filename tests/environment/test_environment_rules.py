"""The rules over installed distributions: when they speak, and when they must not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from packaging.pylock import Pylock

from envdoctor.adapters.probe.installed_environment import read_environment
from envdoctor.model.environment import EnvironmentLock, ImportOutcome, InstalledEnvironment, PatchedFile
from envdoctor.model.finding import Severity
from envdoctor.model.target import Arch, OperatingSystem, Target

WINDOWS = Target(OperatingSystem.WINDOWS, Arch.X86_64, (3, 10))
LINUX = Target(OperatingSystem.LINUX, Arch.X86_64, (3, 10))


def test_env003_two_versions_in_one_folder(site, diagnose):
    site.add("numpy", "1.26.4")
    site.add("numpy", "2.1.0")
    (finding,) = diagnose(read_environment(site.folder), "ENV003")
    assert finding.message == "`numpy` is installed twice in one folder: 1.26.4 and 2.1.0"


def test_env003_the_same_version_told_twice_is_information(site, diagnose):
    site.add("cryptography", "38.0.4")
    (site.folder / "cryptography-38.0.4.egg-info").write_text("Name: cryptography\nVersion: 38.0.4\n", encoding="utf-8")
    assert [finding.severity for finding in diagnose(read_environment(site.folder), "ENV003")] == [Severity.INFO]


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


@pytest.mark.parametrize(
    ("listing", "severity", "said"),
    [
        ("transformers==4.50.0\ntransformers==4.51.3\nnumpy==2.2.6\n", Severity.WARNING, "listed twice: "),
        (
            (
                "# packages in environment at /c/envs/t:\n"
                "pytorch  2.3.1  py3.10_cuda12.1_cudnn8.9.2_0  pytorch\ntorch  2.6.0  pypi_0  pypi\n"
            ),
            Severity.ERROR,
            "installed twice in one folder: ",
        ),
    ],
)
def test_env003_a_list_without_folders_does_not_tell_which_of_two_counts(diagnose, listing, severity, said):
    from envdoctor.adapters.probe.listing import read_listing

    (finding,) = diagnose(read_listing(listing, "list.txt"), "ENV003")
    assert finding.severity is severity
    assert said in finding.message


def test_env005_the_same_code_twice_is_a_warning(site, diagnose):
    site.add("one", "1", files={"pkg/a.py": "x"})
    site.add("other", "1", files={"pkg/a.py": "x"})
    assert [finding.severity for finding in diagnose(read_environment(site.folder), "ENV005")] == [Severity.WARNING]


@pytest.mark.parametrize(
    ("start_file", "kept", "severity"),
    [
        ({"fork.pth": "import fork"}, "new", Severity.INFO),
        ({}, "new", Severity.ERROR),
        ({"fork.pth": "import fork"}, "another", Severity.ERROR),
    ],
)
def test_env005_a_fork_that_puts_its_own_files_in_place_at_each_start_is_no_fault(
    site, diagnose, start_file, kept, severity
):
    """urllib3-future is made to stand beside urllib3: a remedy that takes either away would break who asks for it."""
    site.add("pkg", "1", files={"pkg/__init__.py": "old", "pkg/a.py": "old"})
    site.add(
        "pkg-fork",
        "1",
        files={"pkg/__init__.py": "new", "pkg/a.py": "new", "fork/__init__.py": "new", "fork/a.py": kept, **start_file},
    )
    (finding,) = diagnose(read_environment(site.folder), "ENV005")
    assert finding.severity is severity
    assert ("`pkg-fork` puts its own in place" in finding.message) is (finding.remedy is None)
    assert (finding.remedy is None) is (severity is Severity.INFO)


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
    assert finding.severity is Severity.WARNING
    mixed = read_listing("onnxruntime==1.20.1\nonnxruntime-gpu==1.20.1\n", "freeze.txt")
    assert [item.severity for item in diagnose(mixed, "ENV005")] == [Severity.ERROR]


@pytest.mark.parametrize(
    ("listing", "package"),
    [
        ("cupy-cuda12x==13.6.0\ncupy-cuda13x==13.6.0\n", "cupy"),
        ("pytorch-triton==3.4.0+gitae848267\ntriton==3.3.0\n", "triton"),
        ("nvidia-nccl-cu12==2.27.5\nnvidia-nccl-cu13==2.28.9\n", "nvidia.nccl"),
        ("bitsandbytes==0.49.2\nbitsandbytes-rocm==0.42.0\n", "bitsandbytes"),
        ("tensorflow==2.15.0\ntensorflow-intel==2.15.0\n", ""),
    ],
)
def test_env005_knows_of_a_listing_every_family_that_a_plan_is_judged_by(diagnose, listing, package):
    from envdoctor.adapters.probe.listing import read_listing

    said = [item.message for item in diagnose(read_listing(f"{listing}numpy==2.2.6\n", "freeze.txt"), "ENV005")]
    assert len(said) == bool(package)
    assert all(f"own the same import package `{package}`" in message for message in said)


def test_env005_two_builds_of_one_triton_are_a_warning_and_those_for_two_makers_an_error(diagnose):
    from envdoctor.adapters.probe.listing import read_listing

    for other, severity in (
        ("pytorch-triton==3.3.1+gitc8757738", Severity.WARNING),
        ("triton-xpu==3.3.1", Severity.ERROR),
    ):
        (finding,) = diagnose(read_listing(f"{other}\ntriton==3.3.1\nnumpy==2.2.6\n", "freeze.txt"), "ENV005")
        assert finding.severity is severity


@pytest.mark.parametrize(
    "pins",
    [
        "webrtcvad==2.0.10\nwebrtcvad-wheels==2.0.14",
        "psycopg2==2.9.9\npsycopg2-binary==2.0.14",
        # All of these stand in images that work: which of them lies there, a list does not tell.
        "opencv-python==4.8.0.76\nopencv-contrib-python==4.8.0.76\nopencv-python-headless==4.10.0.84",
        "nvidia-nccl-cu12==2.28.9\nnvidia-nccl-cu13==2.31.2",
        "nvidia-cudnn-cu11==8.5.0.96\nnvidia-cudnn-cu12==9.1.0.70",
        # triton has carried AMD's backend since 3.0.
        "triton==3.2.0+gite5be006a\npytorch-triton-rocm==3.0.0+rocm6.3.4.git75cc27c2",
        "triton==3.3.0\npytorch-triton==3.3.1+gitc8757738",
    ],
)
def test_env005_releases_of_one_module_that_differ_in_number_alone_are_a_warning(diagnose, pins):
    from envdoctor.adapters.probe.listing import read_listing

    (finding,) = diagnose(read_listing(f"{pins}\nnumpy==2.2.6\n", "freeze.txt"), "ENV005")
    assert finding.severity is Severity.WARNING
    assert "the one installed last decides on" in finding.message


@pytest.mark.parametrize("other", ["4.10.0.84", "4.11.0.86"])
def test_env005_builds_with_the_same_module_are_a_warning(site, diagnose, other):
    site.add("opencv-python", "4.10.0.84", files={"cv2/__init__.py": "", "cv2/cv2.abi3.so": "gui"})
    site.add("opencv-python-headless", other, files={"cv2/__init__.py": "", "cv2/cv2.abi3.so": "none"})
    (finding,) = diagnose(read_environment(site.folder), "ENV005")
    assert finding.severity is Severity.WARNING
    assert "decides on windows" in finding.message
    assert "1 of them with different content" in finding.message


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


@pytest.mark.parametrize(("installer", "severity"), [("pip", Severity.WARNING), ("rpm", Severity.INFO)])
def test_env006_libraries_that_the_system_stripped_are_information(site, diagnose, installer, severity):
    site.add("yaml", "6.0", files={"yaml/_yaml.abi3.so": "123"}, INSTALLER=installer)
    (site.folder / "yaml/_yaml.abi3.so").write_text("1", encoding="utf-8")
    (finding,) = diagnose(read_environment(site.folder), "ENV006")
    assert finding.severity is severity


def test_what_debian_has_split_or_stripped_is_information(site, tmp_path, diagnose):
    site.folder = tmp_path / "lib" / "python3" / "dist-packages"
    site.add("pygobject", "3.42", "pycairo>=1.16", files={"gi/_gi.abi3.so": "123"})
    (site.folder / "gi/_gi.abi3.so").write_text("1", encoding="utf-8")
    findings = diagnose(read_environment(site.folder))
    assert {(finding.rule, finding.severity) for finding in findings} == {
        ("ENV001", Severity.INFO),
        ("ENV006", Severity.INFO),
    }


def test_env006_is_silent_about_what_is_told_elsewhere(site, diagnose):
    site.add("six", "1", files={"six.py": "1"})
    site.add("one", "1", files={"shared/x.py": "1"})
    site.add("two", "1", files={"shared/x.py": "12"})
    (site.folder / "six.py").write_text("12", encoding="utf-8")
    read = read_environment(site.folder)
    assert {finding.subject for finding in diagnose(read, "ENV006")} == {"six"}
    patched = replace(read, patched=(PatchedFile("six.py", "six", ("a",), "patched"),))
    assert diagnose(patched, "ENV006") == []
    (site.folder / "shared/x.py").unlink()
    assert {finding.subject for finding in diagnose(read_environment(site.folder), "ENV006")} == {"one", "two", "six"}


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
    return replace(environment, lock=EnvironmentLock(lock, "pylock.toml"))


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


@pytest.mark.parametrize(
    ("distribution", "state", "severity", "message"),
    [
        ("six", "reverted", Severity.WARNING, "`six.py` of `six` has lost the patch `a`: `six` was installed again"),
        ("", "reverted", Severity.WARNING, "`six.py` has lost the patch `a`"),
        ("six", "changed", Severity.INFO, "`six.py` of `six` was changed after it had got the patch `a`"),
    ],
)
def test_env013_a_patch_that_is_lost(site, diagnose, distribution, state, severity, message):
    read = read_environment(site.folder)
    patched = replace(read, patched=(PatchedFile("six.py", distribution, ("a",), state),))
    (finding,) = diagnose(patched, "ENV013")
    assert (finding.severity, finding.message) == (severity, message)


def test_env013_what_is_as_patched_is_silent(site, diagnose):
    read = read_environment(site.folder)
    rows = (PatchedFile("six.py", "six", ("a",), "patched"), PatchedFile("app.py", "", ("b",), "gone"))
    assert diagnose(replace(read, patched=rows), "ENV013") == []
    assert diagnose(read, "ENV013") == []


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
        ("timed-out", "did not end within 5 s", "`import torch` did not end within 5 s: it hangs, or is slow"),
    ],
)
def test_env020_each_way_to_fail_is_a_finding(diagnose, status, detail, says):
    environment = InstalledEnvironment((), imports={"torch": ImportOutcome("torch", status, detail)})
    (finding,) = diagnose(environment, "ENV020")
    assert finding.severity is (Severity.WARNING if status == "timed-out" else Severity.ERROR)
    assert says in finding.message


def test_env020_an_import_that_went_well_is_silent(diagnose):
    environment = InstalledEnvironment((), imports={"torch": ImportOutcome("torch", "imported")})
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
