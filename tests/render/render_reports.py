"""Reports that every renderer is shown."""

from __future__ import annotations

from dataclasses import replace

from packaging.requirements import Requirement as Pep508
from packaging.utils import canonicalize_name
from packaging.version import Version

from envdoctor.model.candidate import BuildRisk, DistributionFile, FileKind, Rejection, RejectionKind
from envdoctor.model.conflict import Clash, ClashSide, Conflict
from envdoctor.model.fact import Fact, FactState
from envdoctor.model.finding import Applicability, Evidence, Finding, Remedy, Severity, Waiver
from envdoctor.model.kernel import KernelResult, KernelStatus, Placement
from envdoctor.model.origin import CommandLineOrigin, DistributionOrigin, FileOrigin, Origin, ProfileOrigin
from envdoctor.model.override import Override, OverrideSource
from envdoctor.model.repair import Repair, VersionChange
from envdoctor.model.report import Report
from envdoctor.model.requirement import Requirement
from envdoctor.model.resolution import Resolution, ResolvedPackage, WalkedBack
from envdoctor.model.target import Arch, Backend, OperatingSystem, Target

WINDOWS_DIRECTML = Target(OperatingSystem.WINDOWS, Arch.X86_64, (3, 11), Backend.DIRECTML)
WINDOWS_ZLUDA = Target(OperatingSystem.WINDOWS, Arch.X86_64, (3, 11), Backend.ZLUDA)
LINUX_CUDA = Target(OperatingSystem.LINUX, Arch.AARCH64, (3, 12), Backend.CUDA, gpu_architecture="sm_110")


def requirement(text: str, origin: Origin) -> Requirement:
    """Return the requirement that ``text`` says."""
    parsed = Pep508(text)
    return Requirement(
        name=canonicalize_name(parsed.name),
        origin=origin,
        specifier=parsed.specifier,
        extras=frozenset(parsed.extras),
        marker=parsed.marker,
        text=text,
    )


def line(text: str, number: int, path: str = "requirements.txt") -> Requirement:
    return requirement(text, FileOrigin(path, number))


def demand(text: str, name: str, version: str, *, coupling: bool = False) -> Requirement:
    return requirement(text, DistributionOrigin(name, version, coupling=coupling))


def package(name: str, version: str, filename: str, size: int | None = None, **changes: object) -> ResolvedPackage:
    kind = FileKind.WHEEL if filename.endswith(".whl") else FileKind.SDIST
    file = DistributionFile(canonicalize_name(name), Version(version), filename, kind, "", size=size)
    file = replace(file, **{key: value for key, value in changes.items() if key in ("index", "stand_in")})
    risk = BuildRisk.COMPILER if kind is FileKind.SDIST else None
    return ResolvedPackage(file.project, file.version, file, (file,), build_risk=risk)


def conflict_finding(conflict: Conflict) -> Finding:
    """Return the finding that a rule makes of a conflict."""
    members = " and ".join(f"`{member}` ({member.origin})" for member in conflict.core)
    origin = conflict.core[0].origin
    place = origin if isinstance(origin, FileOrigin) else None
    if len(conflict.core) == 1:
        rule, name, message = "RES101", "not-for-target", f"{members} cannot be met on this target"
    else:
        rule, name, message = "RES001", "conflicting-requirements", f"{members} cannot be installed together"
    remedy = Remedy("choose a version, or a Python, for which there is a file")
    about = conflict.clash.package
    return Finding(rule, name, Severity.ERROR, about, message, remedy=remedy, location=place, conflict=conflict.id)


def healthy() -> Report:
    """Nothing wrong."""
    return Report(
        "check",
        replace(LINUX_CUDA, probed=True, python_full="3.12.9"),
        "amphion-cuda13-aarch64",
        resolution=Resolution((package("six", "1.17.0", "six-1.17.0-py2.py3-none-any.whl", 11050),)),
        timings={"total_s": 0.31, "index_s": 0.2, "resolve_s": 0.05},
        next_command="envdoctor lock --profile amphion-cuda13-aarch64",
    )


def diffrhythm2() -> Report:
    """Two cores on one package's pins, and the profile's repair in use."""
    directml = requirement("torch-directml", ProfileOrigin("diffrhythm2-directml", "requires[0]"))
    lines = {name: line(f"{name}==2.7", number) for number, name in ((1, "torch"), (2, "torchaudio"))}
    considered = tuple(
        f"0.2.{patch}.dev{date}"
        for patch, date in ((1, 240521), (2, 240614), (3, 240715), (4, 240815), (4, 240913), (5, 240914))
    )
    origin = ("torch-directml", considered[-1])
    conflicts = (
        Conflict(
            "C1",
            (lines["torch"], directml),
            Clash(
                canonicalize_name("torch"),
                (
                    ClashSide(lines["torch"]),
                    ClashSide(demand("torch==2.4.1", *origin), ("torch-directml",), considered),
                ),
            ),
        ),
        Conflict(
            "C2",
            (lines["torchaudio"], directml),
            Clash(
                canonicalize_name("torch"),
                (
                    ClashSide(demand("torch==2.7.0", "torchaudio", "2.7.0"), ("torchaudio",), ("2.7.0",)),
                    ClashSide(demand("torch==2.4.1", *origin), ("torch-directml",), considered),
                ),
            ),
        ),
    )
    reasons = (
        "torch-directml 0.2.5.dev240914 is linked against 2.4.1, no other exists; flex_attention's import is guarded",
        "it goes with torch",
    )
    overrides = tuple(
        Override(
            requirement(f"{name}==2.4.1", ProfileOrigin("diffrhythm2-directml", f"override[{number}]")),
            (old,),
            because,
            source=OverrideSource.PROFILE,
        )
        for number, ((name, old), because) in enumerate(zip(lines.items(), reasons, strict=True))
    )
    changes = tuple(VersionChange(canonicalize_name(name), "2.7", "2.4.1") for name in lines)
    packages = (
        package("pyopenjtalk", "0.4.0", "pyopenjtalk-0.4.0.tar.gz", 1_400_000),
        package("torch", "2.4.1", "torch-2.4.1-cp311-cp311-win_amd64.whl", 199_300_000),
        package("torchaudio", "2.4.1", "torchaudio-2.4.1-cp311-cp311-win_amd64.whl"),
    )
    return Report(
        "check",
        WINDOWS_DIRECTML,
        "diffrhythm2-directml",
        conflicts=conflicts,
        repairs=(Repair("R1", overrides, ("C1", "C2"), changes, 2, verified=True, from_profile=True),),
        resolution=Resolution(packages, "R1"),
        findings=(
            *(conflict_finding(item) for item in conflicts),
            Finding(
                "RES102",
                "source-only",
                Severity.WARNING,
                "pyopenjtalk",
                "`pyopenjtalk` 0.4.0 has no wheel for this target and needs a compiler",
                (Evidence("files: 1 sdist, 0 wheels", "index default"),),
                Remedy("install a C++ compiler and CMake below 4", Applicability.DISPLAY),
                FileOrigin("requirements.txt", 24),
            ),
        ),
        timings={"total_s": 1.2, "index_s": 0.8, "resolve_s": 0.2},
        next_command="envdoctor lock --profile diffrhythm2-directml",
    )


def xtts() -> Report:
    """Three cores with chains of several steps, no repair in use, and two that people can choose from."""
    faster, coqui = line("faster-whisper==1.0.1", 4), line("coqui-tts[languages]==0.24.2", 5)
    transformers, whisperx = line("transformers==4.36.2", 27), line("whisperx", 31)
    coqui_wants = demand("transformers<4.43.0,>=4.42.0", "coqui-tts", "0.24.2")
    chained = ClashSide(
        demand("tokenizers<0.20,>=0.19", "transformers", "4.42.4"),
        ("coqui-tts", "transformers"),
        ("4.42.0", "4.42.1", "4.42.2", "4.42.3", "4.42.4"),
    )
    conflicts = (
        Conflict(
            "C1",
            (coqui, transformers),
            Clash(
                canonicalize_name("transformers"),
                (ClashSide(transformers), ClashSide(coqui_wants, ("coqui-tts",), ("0.24.2",))),
            ),
        ),
        Conflict(
            "C2",
            (faster, coqui),
            Clash(
                canonicalize_name("tokenizers"),
                (
                    ClashSide(
                        demand("tokenizers<0.16,>=0.13", "faster-whisper", "1.0.1"), ("faster-whisper",), ("1.0.1",)
                    ),
                    chained,
                ),
            ),
        ),
        Conflict(
            "C3",
            (line("torch==2.1.1", 2), faster, whisperx),
            Clash(
                canonicalize_name("faster-whisper"),
                (
                    ClashSide(faster),
                    ClashSide(demand("faster-whisper==1.1.0", "whisperx", "3.3.1"), ("whisperx",), ("3.3.0", "3.3.1")),
                ),
            ),
        ),
    )
    first = Repair(
        "R1",
        (
            Override(requirement("faster-whisper==1.1.0", CommandLineOrigin("--repair")), (faster,)),
            Override(
                requirement("transformers>=4.42,<4.43", CommandLineOrigin("--repair")), (transformers, coqui_wants)
            ),
        ),
        ("C1", "C2", "C3"),
        (
            VersionChange(canonicalize_name("faster-whisper"), "1.0.1", "1.1.0"),
            VersionChange(canonicalize_name("transformers"), "4.36.2", "4.42.4"),
        ),
        2,
        verified=True,
    )
    second = replace(
        first,
        id="R2",
        cost=3,
        verified=False,
        cautions=("`whisperx` 3.1.5 is yanked: unofficial release by a third party",),
    )
    return Report(
        "check",
        WINDOWS_ZLUDA,
        "xtts-zluda",
        conflicts=conflicts,
        repairs=(first, second),
        findings=tuple(conflict_finding(item) for item in conflicts),
        next_command="envdoctor lock --profile xtts-zluda --repair 1",
    )


def missing_version() -> Report:
    """A core of one line: the version it asks for does not exist for the target."""
    pin = line("torch==2.0.1", 1, "models/tts/maskgct/requirements.txt")
    names = [
        f"torch-2.0.1-cp{tag}-manylinux2014_aarch64.whl" for tag in ("38-cp38", "39-cp39", "310-cp310", "311-cp311")
    ]
    torch = canonicalize_name("torch")
    clash = Clash(
        torch,
        (ClashSide(pin),),
        tuple(f"2.{minor}.0" for minor in range(15, 1, -1)),
        tuple(
            Rejection(RejectionKind.TAG, torch, Version("2.0.1"), name, "built for another Python") for name in names
        ),
    )
    conflict = Conflict("C1", (pin,), clash)
    finding = conflict_finding(conflict)
    return Report("check", LINUX_CUDA, "amphion-maskgct", conflicts=(conflict,), findings=(finding,))


def finding_kinds() -> Report:
    """Every severity, with and without a place, remedies of every kind, many mild ones, waived ones."""
    mild = tuple(
        Finding(
            "SRC004",
            "undeclared-import",
            Severity.INFO,
            name,
            f"`{name}` is imported and not declared",
            location=FileOrigin("app/main.py", number),
        )
        for number, name in enumerate(("inflect", "six", "peft", "langid", "pyworld", "IPython"), 3)
    )
    signs = tuple(
        Evidence(f"`libcudnn_ops_infer.so.8` wanted by part {number}", f"wheel member {number}") for number in range(5)
    )
    return Report(
        "check",
        WINDOWS_ZLUDA,
        None,
        findings=(
            *mild,
            Finding(
                "RES102",
                "source-only",
                Severity.WARNING,
                "av",
                "`av` 11.0.0 has no wheel for this target",
                remedy=Remedy("take a version with a wheel", Applicability.SAFE, ("envdoctor fix --repair 1",)),
            ),
            Finding(
                "ABI003",
                "cudnn-major",
                Severity.ERROR,
                "ctranslate2",
                "`ctranslate2` 4.4.0 needs cuDNN 8 and `torch` 2.11.0 brings cuDNN 9",
                signs,
                Remedy(
                    "replace `ctranslate2`",
                    Applicability.UNSAFE,
                    ("python -m pip install ctranslate2==4.5.0\npython -m pip check",),
                ),
                FileOrigin("setup/requirements gpu.txt", 7),
            ),
            Finding(
                "RES201",
                "invalid-requirement",
                Severity.ERROR,
                "httpx==0.23.",
                "`httpx==0.23.` is not a requirement",
                location=FileOrigin("requirements.txt"),
            ),
            Finding(
                "ADV001",
                "torch-pypi-windows-is-cpu",
                Severity.WARNING,
                "torch",
                "every Windows `torch` on the default index is the CPU build",
                waived=Waiver("the launcher replaces it", "pyproject.toml: tool.envdoctor.waivers[0]", "2027-01-31"),
                location=FileOrigin("requirements.txt", 2),
            ),
            Finding(
                "LOCK002",
                "stale-lock",
                Severity.ERROR,
                "pylock.xtts-zluda.toml",
                "the lock is older than the requirements",
                waived=Waiver("accepted by the profile", "pylock.xtts-zluda.toml"),
            ),
        ),
    )


def many_warnings() -> Report:
    """More conflicts, repairs and warnings than fit a screen."""
    torch = canonicalize_name("torch")
    conflicts = tuple(
        Conflict(
            f"C{number}",
            (line(f"torch==2.{number}", number), line("numpy<1.20", 90)),
            Clash(
                torch,
                (
                    ClashSide(line(f"torch==2.{number}", number)),
                    ClashSide(demand("torch<2", "numpy", "1.19.5", coupling=True), ("numpy",), ("1.19.5",)),
                ),
            ),
        )
        for number in range(1, 9)
    )
    repair = Repair(
        "R1", (Override(line("numpy<2", 90), (), source=OverrideSource.LOCK),), ("C1",), cost=1, verified=True
    )
    warnings = tuple(
        Finding(
            "ENV010",
            "version-differs",
            Severity.WARNING,
            f"package-{number}",
            f"`package-{number}` is not what the lock says",
        )
        for number in range(12)
    )
    return Report(
        "check",
        # No finding restates these conflicts: their blocks alone have to speak.
        conflicts=conflicts,
        conflicts_truncated=True,
        findings=warnings,
        repairs=tuple(replace(repair, id=f"R{number}", from_profile=number == 5) for number in range(1, 7)),
    )


def incomplete() -> Report:
    """The index did not answer."""
    return Report(
        "check",
        LINUX_CUDA,
        "amphion-vevo",
        complete=False,
        resolution=Resolution(
            (
                package(
                    "torch",
                    "2.11.0",
                    "torch-2.11.0-cp312-cp312-manylinux_2_28_aarch64.whl",
                    500,
                    index="cu130",
                    stand_in=True,
                ),
            ),
            walked_back=(
                WalkedBack(
                    canonicalize_name("fairseq"), Version("0.10.2"), Version("0.12.2"), (line("omegaconf>2.1", 8),)
                ),
            ),
        ),
        findings=(
            Finding(
                "RES901",
                "index-unavailable",
                Severity.WARNING,
                "cu130",
                "index `cu130` did not answer, so stand-ins were used",
            ),
        ),
    )


def unknown() -> Report:
    """Nothing at all could be looked at."""
    return Report("smoke", complete=False)


def kernels() -> Report:
    """Every status of a kernel, and where work went because of them."""
    results = (
        KernelResult(
            "gemm-float32",
            "cuda:0",
            KernelStatus.PASSED,
            1.2e-6,
            1e-4,
            127.4,
            0.74,
            12.7,
            8_388_608,
            2.9,
            "TFLOP/s",
            rate_limit=23.1,
        ),
        KernelResult("gemm-bfloat16", "cuda:0", KernelStatus.PASSED, 0.0029, 0.02, 130.0, 0.5, 1.25, 8_388_608),
        KernelResult("conv1d", "cuda:0", KernelStatus.PASSED, 1e-7, 1e-4, 2100.0, 1500.0, 750.0, setting="cudnn-off"),
        KernelResult(
            "stft",
            "cuda:0",
            KernelStatus.WRONG_ANSWER,
            float("nan"),
            1e-4,
            12.0,
            float("inf"),
            1.0,
            detail="first wrong value at [0, 3]: nan in place of 0.25",
        ),
        KernelResult("attention", "cuda:0", KernelStatus.CRASHED, detail="SIGABRT in hipBLASLt"),
        KernelResult("fft", "cuda:0", KernelStatus.TIMED_OUT, detail="no answer in 30 s"),
        KernelResult("conv2d", "cuda:0", KernelStatus.OUT_OF_MEMORY, peak_bytes=25_000_000_000),
        KernelResult("float64", "cuda:0", KernelStatus.UNSUPPORTED),
        KernelResult("conv3d", "cuda:1", KernelStatus.SKIPPED, detail="not asked for by the profile"),
    )
    return Report(
        "smoke",
        replace(WINDOWS_ZLUDA, gpu_architecture="gfx1030", probed=True),
        "xtts-zluda",
        kernels=results,
        placement=(Placement("xtts", "cpu", ("attention crashed (SIGABRT)",)), Placement("whisper", "cuda:0")),
        next_command="envdoctor fix --profile xtts-zluda",
    )


def facts() -> Report:
    """Facts known, absent, unknown and overridden."""
    return Report(
        "host",
        facts=(
            Fact("gpu[0].name", FactState.KNOWN, "AMD Radeon RX 6800 XT", "rocm-smi"),
            Fact("gpu[0].memory_bytes", FactState.KNOWN, 17_163_091_968, "/sys/class/drm"),
            Fact("gpu[0].architecture", FactState.KNOWN, "gfx1030", "/sys/class/kfd", "ROCM_BOOTSTRAP_FORCE_GFX_ARCH"),
            Fact("gpu[0].integrated", FactState.KNOWN, False, "/sys/class/drm"),
            Fact("cpu.flags", FactState.KNOWN, ["avx2", "fma"], "/proc/cpuinfo"),
            Fact("cpu.load", FactState.KNOWN, 0.5, "/proc/loadavg"),
            Fact("nvidia.driver", FactState.ABSENT, source="nvml"),
            Fact("hip.version", FactState.UNKNOWN, reason="the probe ran out of its 5 s"),
            Fact("directml.version", FactState.UNKNOWN),
        ),
    )


def nasty() -> Report:
    """What a hostile package, index or file name might hold."""
    hostile = "\x1b[31mred\x1b[0m \x1b]0;title\x07| <script>alert('1')</script> & \"quoted\" 100% `tick``s`"
    hostile += "\r\nsecond line\x00\x9b2J ::set-output"
    path = "req,uire:ments%20é'\"<b>.txt"
    requirement_ = replace(line("nasty==1", 3, path), text="nasty===1\u202e\x1b[2J|x")
    clash = Clash(
        canonicalize_name("nasty"),
        (ClashSide(requirement_, (), ()),),
        (),
        (Rejection(RejectionKind.NO_METADATA, canonicalize_name("nasty"), None, None, hostile),),
    )
    return Report(
        "check",
        WINDOWS_ZLUDA,
        "odd <profile>",
        conflicts=(Conflict("C1", (requirement_,), clash),),
        findings=(
            Finding(
                "SRC001",
                "hostile",
                Severity.ERROR,
                "שלום العربية 🦀 漢字",
                hostile,
                (Evidence(hostile, hostile),),
                Remedy(hostile, Applicability.DISPLAY, ("echo '--> ]]>' \x1b[1m|| true",)),
                FileOrigin(path, 3),
                None,
            ),
            Finding(
                "SRC002",
                "long",
                Severity.WARNING,
                "a" * 150,
                "long " + "b" * 150 + " " + "漢" * 60,
                location=FileOrigin("../outside.py", 1),
            ),
            Finding("SRC003", "waived-hostile", Severity.WARNING, "x", hostile, waived=Waiver(hostile, hostile)),
        ),
        facts=(
            Fact("odd|name", FactState.KNOWN, hostile, "<source>"),
            Fact("odd.mapping", FactState.KNOWN, {"k": "\x1b[1mv"}),
        ),
        kernels=(KernelResult("gemm|<b>", "cuda:0", KernelStatus.CRASHED, detail=hostile),),
        next_command="envdoctor check 'a b' --profile \"odd <profile>\"",
    )


REPORTS = {
    function.__name__: function()
    for function in (
        healthy,
        diffrhythm2,
        xtts,
        missing_version,
        finding_kinds,
        many_warnings,
        incomplete,
        unknown,
        kernels,
        facts,
        nasty,
    )
}
