"""Rules over a project's sources, and the engine that runs all rules."""

from __future__ import annotations

from dataclasses import fields, replace

import pytest
from diagnose_fixtures import MemoryArchives, MemoryIndex, MemorySources, require, resolution_of, resolved, target_of
from packaging.specifiers import SpecifierSet

from envdoctor.diagnose import engine
from envdoctor.diagnose.documentation import documentation
from envdoctor.diagnose.engine import examine
from envdoctor.diagnose.examination import Examination
from envdoctor.diagnose.rule import Rule
from envdoctor.diagnose.rulebook import all_rules
from envdoctor.diagnose.source_scan import SourceScan
from envdoctor.model.finding import Evidence, Finding, Severity
from envdoctor.model.origin import DistributionOrigin, FileOrigin
from envdoctor.model.profile import Patch, PatchKind, Profile, ProfileTarget
from envdoctor.model.project import Group, Project, ReadingProblem, ReadingProblemKind
from envdoctor.model.requirement import GroupKind, GroupName
from envdoctor.model.target import Arch, Backend, OperatingSystem, Target

CUDA, ZLUDA = target_of("linux/x86_64/3.11/cuda"), target_of("windows/x86_64/3.11/zluda")
COREML = target_of("macos/arm64/3.11/coreml")


def found(code: str, files: dict[str, str], *pins: str, target=CUDA, **fields) -> list[Finding]:
    examination = Examination(
        target=target, sources=MemorySources(files), resolution=resolution_of(*map(resolved, pins)), **fields
    )
    findings = examine(examination)
    assert not [item for item in findings if item.name == "internal"]
    return [item for item in findings if item.rule == code]


def test_an_undeclared_import_names_file_line_and_project() -> None:
    files = {"inference.py": "from g2p import english\n", "g2p/english.py": '"""Doc."""\nimport re\nimport inflect\n'}
    (finding,) = found("SRC001", files, "numpy==1.26.0")
    assert finding.subject == "inflect"
    assert finding.location == FileOrigin("g2p/english.py", 3)
    assert finding.message == "`inflect` is imported at g2p/english.py:3, but nothing that is required provides it"


def test_pip_is_in_an_environment_without_being_asked_for() -> None:
    assert not found("SRC001", {"a.py": "import pip\nimport numpy\n"}, "numpy==1.26.0")


@pytest.mark.parametrize(("backend", "project"), [("cuda", "paddlepaddle-gpu"), ("cpu", "paddlepaddle")])
def test_a_framework_that_is_called_otherwise_is_named_for_the_card(backend: str, project: str) -> None:
    target = target_of(f"linux/x86_64/3.11/{backend}")
    (finding,) = found("SRC001", {"train.py": "import paddle\n"}, "numpy==1.26.0", target=target)
    assert finding.subject == project
    assert not found("SRC001", {"train.py": "import paddle\n"}, f"{project}==2.6.2", target=target)


@pytest.mark.parametrize(("python", "project"), [("3.12", "paddlepaddle-gpu"), ("3.13", "paddlepaddle")])
def test_no_framework_is_named_that_the_target_cannot_have(python: str, project: str) -> None:
    index = MemoryIndex({"paddlepaddle-gpu": ["paddlepaddle_gpu-2.6.2-cp312-cp312-manylinux1_x86_64.whl"]})
    target = target_of(f"linux/x86_64/{python}/cuda")
    (finding,) = found("SRC001", {"train.py": "import paddle\n"}, "numpy==1.26.0", target=target, index=index)
    assert finding.subject == project


_FAST = {"app/fast/__init__.py": "from .engine import Engine\n", "app/fast/engine.py": "import inflect\n"}


@pytest.mark.parametrize(
    ("core", "told"),
    [
        ("def load(fast):\n    if fast:\n        from .fast import Engine\n", []),
        ("try:\n    from .fast import Engine\nexcept ImportError:\n    Engine = None\n", []),
        ("def load():\n    from .fast import Engine\n", ["inflect"]),
        ("if __name__ == '__main__':\n    from .fast import Engine\n", ["inflect"]),
        ("from .fast import Engine\nif Engine:\n    from .fast import engine\n", ["inflect"]),
    ],
)
def test_what_is_imported_under_a_condition_alone_is_not_missed(core: str, told: list[str]) -> None:
    files = {"setup.py": "", "app/__init__.py": "from .core import load\n", "app/core.py": core, **_FAST}
    assert [item.subject for item in found("SRC001", files, "numpy==1.26.0")] == told


def test_project_names_that_differ_from_the_module_are_known() -> None:
    (finding,) = found(
        "SRC001",
        {"a.py": "import cv2, yaml\nfrom IPython.display import Audio\n"},
        "pyyaml==6.0",
        "opencv-python-headless==4.9",
    )
    assert finding.subject == "ipython"


@pytest.mark.parametrize(
    "text",
    [
        "try:\n    import inflect\nexcept ImportError:\n    inflect = None\n",
        "def f():\n    import inflect\n",
        "if TYPE_CHECKING:\n    import inflect\n",
        '"""\nimport inflect\n"""\n',
        "import os, sys, json\nfrom __future__ import annotations\n",
        "from . import inflect\nfrom .inflect import x\n",
        "import helper\nfrom package.inside import x\n",
        "from contextlib import suppress\nwith suppress(ImportError):\n    import inflect\n",
        "import numpy as np\nimport sklearn.metrics\n",
        "import (broken\n",
    ],
)
def test_these_imports_are_no_reason_for_alarm(text: str) -> None:
    files = {"a.py": text, "helper.py": "", "package/inside.py": "x = 1\n"}
    assert not found("SRC001", files, "numpy==1.26.0", "scikit-learn==1.3.0")


def test_files_that_no_script_reaches_do_not_count() -> None:
    files = {
        "app.py": "import a.b\n",
        "a/b.py": "x = 1\n",
        "a/train.py": "import inflect\n",
        "tests/t.py": "import six\n",
    }
    assert not found("SRC001", files, "numpy==1.26.0")
    files["a/b.py"] = "def f():\n    from . import train\n"
    assert [item.subject for item in found("SRC001", files, "numpy==1.26.0")] == ["inflect"]


def test_a_part_of_another_program_does_not_declare_that_programs_modules() -> None:
    node = "import folder_paths\nimport comfy.utils\nimport transformers\nimport inflect\n"
    assert [item.subject for item in found("SRC001", {"nodes.py": node}, "numpy==1.26.0")] == ["inflect"]
    extension = "from modules import scripts\nimport gradio\nimport inflect\n"
    assert [item.subject for item in found("SRC001", {"scripts/x.py": extension}, "numpy==1.26.0")] == ["inflect"]
    alone = "import transformers\n"
    assert [item.subject for item in found("SRC001", {"a.py": alone}, "numpy==1.26.0")] == ["transformers"]


def test_an_add_on_of_blender_is_run_by_blender() -> None:
    head = 'bl_info = {\n    "name": "x",\n}\n'
    assert not found("SRC001", {"addon.py": f"{head}import bpy\nimport inflect\n"}, "numpy==1.26.0")
    parts = {
        "run.py": "import addon.panel\n",
        "addon/__init__.py": f"{head}import bpy\n",
        "addon/panel.py": "import bpy\n",
    }
    assert not found("SRC001", parts, "numpy==1.26.0")
    archives = MemoryArchives({"numpy": {"numpy/__init__.py": ""}})
    assert found("SRC001", {"render.py": "import bpy\n"}, "numpy==1.26.0", archives=archives)


@pytest.mark.parametrize(
    ("list_", "told"),
    [("requirements_macOS.txt", True), ("requirements-win.txt", True), ("requirements-gpu.txt", False)],
)
def test_a_list_for_another_system_brings_nothing(list_: str, told: bool) -> None:
    name = GroupName(GroupKind.FILE, list_)
    project = Project(".", groups=(Group(name, (require("torch"),), alone=True),))
    assert bool(found("SRC001", {"a.py": "import torch\n"}, "numpy==1.26.0", project=project)) is told
    mac = target_of("macos/arm64/3.11/mps")
    here = found("SRC001", {"a.py": "import torch\n"}, "numpy==1.26.0", project=project, target=mac)
    assert bool(here) is (list_ == "requirements-win.txt")


PACKAGE = {"src/app/__init__.py": "import numpy\n", "src/app/server/__init__.py": ""}


@pytest.mark.parametrize("path", ["benchmark/run.py", "animations/a.py", "docker/get.py", "ci/report.py", "utils/x.py"])
def test_of_a_package_what_it_ships_counts_and_nothing_beside_it(path: str) -> None:
    assert not found("SRC001", {**PACKAGE, path: "import six\n"}, "numpy==1.26.0")
    (finding,) = found("SRC001", {**PACKAGE, path: "", "src/app/core.py": "import six\n"}, "numpy==1.26.0")
    assert finding.subject == "six"


@pytest.mark.parametrize(
    ("more", "severity"),
    [
        ({}, Severity.INFO),
        ({"src/app/other.py": "from .export import dump\n"}, Severity.INFO),
        ({"tests/test_export.py": "from app.export import dump\n"}, Severity.INFO),
        ({"src/app/reader.py": "def f():\n    from .export import dump\n"}, Severity.WARNING),
        ({"src/app/__init__.py": ""}, Severity.WARNING),
        ({"pyproject.toml": '[project.scripts]\nexport = "app.export:main"\n'}, Severity.WARNING),
        ({"src/app/__main__.py": "from . import export\n"}, Severity.WARNING),
    ],
)
def test_what_a_file_imports_that_nothing_loads_is_a_note(more: dict[str, str], severity: Severity) -> None:
    files = {
        "src/app/__init__.py": "from .reader import Reader\n",
        "src/app/reader.py": "",
        "src/app/export.py": "import inflect\n",
    }
    (finding,) = found("SRC001", {**files, **more}, "numpy==1.26.0")
    assert (finding.subject, finding.severity) == ("inflect", severity)
    assert ("nothing of the project loads" in finding.message) is (severity is Severity.INFO)


def test_a_part_of_a_package_that_needs_an_extra_needs_it_as_a_whole() -> None:
    extra = Group(GroupName(GroupKind.EXTRA, "server"), (require("fastapi"),))
    files = {
        **PACKAGE,
        "src/app/server/app.py": "import fastapi\nimport starlette\n",
        "src/app/server/settings.py": "import pydantic\n",
        "src/app/core.py": "import six\n",
    }
    project = Project(".", groups=(extra,))
    assert [item.subject for item in found("SRC001", files, "numpy==1.26.0", project=project)] == ["six"]


def test_a_folder_with_a_list_of_its_own_is_judged_by_that_list() -> None:
    listed = Group(
        GroupName(GroupKind.FILE, "tools/requirements.txt"),
        (require("tqdm", FileOrigin("tools/requirements.txt", 1)),),
    )
    files = {"app.py": "import tools.get\nimport numpy\n", "tools/get.py": "import tqdm, six\n"}
    assert [item.subject for item in found("SRC001", files, "numpy==1.26.0")] == ["six", "tqdm"]
    assert not found("SRC001", files, "numpy==1.26.0", project=Project(".", groups=(listed,)))


@pytest.mark.parametrize(
    "table",
    [
        '[build-system]\nrequires = ["six>=1"]\n',
        '[tool.hatch.build.hooks.hatch-builder]\ndependencies = ["Six>=1"]\n',
        "[build-system\n",
    ],
)
def test_what_the_build_alone_needs_is_declared(table: str) -> None:
    findings = found("SRC001", {"pyproject.toml": table, "buildapi.py": "import six\n"}, "numpy==1.26.0")
    assert len(findings) == (1 if table.startswith("[build-system\n") else 0)


@pytest.mark.parametrize("kind", [ReadingProblemKind.DYNAMIC, ReadingProblemKind.UNREAD])
def test_where_requirements_could_not_be_read_no_import_is_undeclared(kind: ReadingProblemKind) -> None:
    problem = ReadingProblem(kind, FileOrigin("setup.py", 3), "some requirements of `setup.py` are computed")
    assert not found("SRC001", {"a.py": "import six\n"}, "numpy==1.26.0", project=Project(".", problems=(problem,)))


def test_an_import_that_no_run_reaches_is_no_error_of_an_advisory() -> None:
    files = {"app.py": "import numpy\n", "benchmarks/fp8/run.py": "import deepspeed\n"}
    examination = Examination(target=CUDA, sources=MemorySources(files), resolution=resolution_of(resolved("a==1")))
    assert not [item for item in examine(examination) if item.subject == "deepspeed"]


def test_an_import_for_which_an_extra_is_needed_anyway_is_no_error_of_an_advisory() -> None:
    extra = Group(GroupName(GroupKind.EXTRA, "train"), (require("peft"),))
    files = {"setup.py": "", "app/__init__.py": "", "app/train.py": "import peft\nimport deepspeed\n"}
    examination = Examination(target=CUDA, sources=MemorySources(files), resolution=resolution_of(resolved("a==1")))
    assert [item for item in examine(examination) if item.subject == "deepspeed"]
    examination = replace(examination, project=Project(".", groups=(extra,)))
    assert not [item for item in examine(examination) if item.subject == "deepspeed"]


@pytest.mark.parametrize("line", ['predict: "predict.py:Predictor"', "train: predict.py:train", "  predict: x.py:P"])
def test_a_script_that_cog_runs_is_judged_by_cogs_own_list(line: str) -> None:
    files = {"predict.py": "import inflect\n", "cog.yaml": f"build:\n  gpu: true\n{line}\n"}
    assert bool(found("SRC001", files, "numpy==1.26.0")) is line.startswith(" ")


def test_scripts_beside_a_requirements_file_are_entries_too() -> None:
    files = {"README.py": "x = 1\n", "models/tts/demo.py": "import six\n"}
    project = Project(".", files=("models/tts/requirements.txt",))
    assert len(found("SRC001", files, "numpy==1.26.0", project=project)) == 1
    assert not found("SRC001", files, "numpy==1.26.0")


def test_a_module_that_the_table_does_not_know_needs_proof() -> None:
    files = {"a.py": "import zzmodule\n"}
    assert not found("SRC001", files, "zz-provider==1.0")
    inside = MemoryArchives({"zz-provider": {"zzmodule/__init__.py": ""}})
    assert not found("SRC001", files, "zz-provider==1.0", archives=inside)
    elsewhere = MemoryArchives({"zz-provider": {"other.py": "", "zz_provider-1.0.dist-info/RECORD": ""}})
    assert len(found("SRC001", files, "zz-provider==1.0", archives=elsewhere)) == 1
    assert not found("SRC001", files, "zz-provider==1.0", "blind==1.0", archives=elsewhere)


def test_archives_are_not_opened_where_names_tell() -> None:
    archives = MemoryArchives({})
    found(
        "SRC001", {"a.py": "import numpy\nimport yaml\nimport os\n"}, "numpy==1.26.0", "pyyaml==6.0", archives=archives
    )
    assert archives.opened == []


def test_distutils_is_missing_from_python_3_12_on() -> None:
    files = {"a.py": "from distutils.version import LooseVersion\n"}
    assert not found("SRC001", files, "numpy==1.26.0")
    (finding,) = found("SRC001", files, "numpy==1.26.0", target=target_of("linux/x86_64/3.12/cuda"))
    assert finding.subject == "setuptools"


@pytest.mark.parametrize(
    ("text", "pin", "count"),
    [
        ("x = torchaudio.info(p)\n", "torchaudio==2.9.0", 1),
        ("x = torchaudio.info(p)\n", "torchaudio==2.8.0", 0),
        ("x = np.float(3)\n", "numpy==1.26.0", 1),
        ("x = np.float32(3)\ny = np.float_\nz = np.bool_\n", "numpy==1.26.0", 0),
        ("# x = np.float(3)\n", "numpy==1.26.0", 0),
        ("np.float = float\nx = np.float(3)\n", "numpy==1.26.0", 0),
        ("np.float = float\nx = np.int(3)\n", "numpy==1.26.0", 1),
        ("setattr(np, 'float', float)\nx = np.float(3)\n", "numpy==1.26.0", 0),
        ("setattr(model, 'float', float)\nx = np.float(3)\n", "numpy==1.26.0", 1),
        ("np.float = np.int\n", "numpy==1.26.0", 1),
        ("ok = x.dtype == np.float == y.dtype\n", "numpy==1.26.0", 1),
        ("x = np.trapz(y)\n", "numpy==2.3.5", 0),
        ("x = np.trapz(y)\n", "numpy==2.4.0", 1),
        ("x = np.in1d(a, b)\ny = np.row_stack(c)\n", "numpy==2.0.0", 0),
        ("x = np.row_stack(c)\n", "numpy==2.5.0", 1),
        ("from torchvision.transforms.functional_tensor import rgb_to_grayscale\n", "torchvision==0.29.2", 1),
        ("from torchvision.transforms.functional_tensor import rgb_to_grayscale\n", "torchvision==0.16.2", 0),
        ("m = LanguageIdentifier.from_pickled_model(p)\n", "py3langid==0.4.0", 1),
        ("m = librosa.filters.mel(sr, n_fft)\n", "librosa==0.10.2", 1),
        ("m = librosa.filters.mel(sr=sr, n_fft=n_fft)\n", "librosa==0.10.2", 0),
        ('f = np.trapezoid if hasattr(np, "trapezoid") else np.trapz\n', "numpy==2.4.0", 0),
        ('if hasattr(np, "trapz"):\n    x = np.trapz(y)\n', "numpy==2.4.0", 0),
        ('if Version(np.__version__) < Version("2"):\n    x = np.trapz(y)\n', "numpy==2.4.0", 0),
        ("try:\n    f = np.trapezoid\nexcept AttributeError:\n    f = np.trapz\n", "numpy==2.4.0", 0),
        ("try:\n    import moviepy.editor as m\nexcept:\n    import moviepy as m\n", "moviepy==2.1.1", 0),
        ("try:\n    x = np.trapz(y)\nexcept Exception:\n    x = None\n", "numpy==2.4.0", 1),
        ('if version == "v2":\n    x = np.trapz(y)\n', "numpy==2.4.0", 1),
    ],
)
def test_removed_calls(text: str, pin: str, count: int) -> None:
    assert len(found("SRC002", {"a.py": text}, pin)) == count


@pytest.mark.parametrize(("shim", "count"), [("app.py", 0), ("tools/old.py", 1)])
def test_a_name_that_a_started_script_puts_back_is_there_for_all(shim: str, count: int) -> None:
    files = {"app.py": "import lib.a\n", "lib/a.py": "x = np.float(3)\n"}
    files[shim] = files.get(shim, "") + "np.float = float\n"
    assert len(found("SRC002", files, "numpy==1.26.0")) == count


@pytest.mark.parametrize("folder", ["docs", "documentation"])
def test_a_script_of_the_documentation_is_not_the_program(folder: str) -> None:
    files = {"demo/a.py": "import numpy\n", f"{folder}/challenge/run.py": "import openvino\n"}
    assert not found("SRC001", files, "numpy==1.26.0")


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ('subprocess.check_call([sys.executable, "-m", "pip", "install", "x"])\n', 1),
        ('subprocess.run(\n    [\n        sys.executable,\n        "-m", "pip", "install", url]\n)\n', 1),
        ('os.system("pip install deepspeed")\n', 1),
        ('pip.main(["install", "x"])\n', 1),
        ('print("run pip install x")\n', 0),
        ('raise ImportError("please pip install x")\n', 0),
        ('subprocess.run(["ffmpeg", "-i", path])\n', 0),
    ],
)
def test_runtime_installer(text: str, count: int) -> None:
    assert len(found("SRC003", {"a.py": text}, "numpy==1.26.0")) == count


def test_an_installer_that_stands_in_for_a_failed_import_is_a_note() -> None:
    call = '    os.system("pip install -U six")\n'
    (finding,) = found("SRC003", {"a.py": f"try:\n    import six\nexcept (ImportError, AssertionError):\n{call}"})
    assert finding.severity is Severity.INFO
    for text in (f"try:\n    import six\n{call}except ImportError:\n    pass\n", f"if True:\n{call}"):
        (finding,) = found("SRC003", {"a.py": text})
        assert finding.severity is Severity.WARNING


def test_hard_coded_devices_are_gathered_by_file() -> None:
    text = 'model.to("cuda:0")\nx = x.cuda()\ndevice = "cuda" if torch.cuda.is_available() else "cpu"\n'
    (finding,) = found("SRC004", {"a.py": text}, "torch==2.1.1+cu118", target=ZLUDA)
    assert finding.severity is Severity.INFO
    assert "line 1, 2" in finding.message
    assert not found("SRC004", {"a.py": text}, "torch==2.1.1")


_ELSE_CPU = 'device = torch.device("cuda" if torch.cuda.is_available() else "cpu")\n'
_IN_BRANCHES = 'def device():\n    if torch.cuda.is_available():\n        return "cuda"\n    return "cpu"\n'


@pytest.mark.parametrize("text", [_ELSE_CPU, _IN_BRANCHES, "d = 'cuda:0' if torch.cuda.is_available() else 'cpu'\n"])
@pytest.mark.parametrize("backend", ["directml", "xpu", "mps"])
def test_a_choice_between_cuda_and_the_cpu_leaves_another_card_idle(text: str, backend: str) -> None:
    target = replace(CUDA, backend=Backend(backend))
    [finding] = found("SRC008", {"app.py": text}, target=target)
    assert (finding.severity, finding.subject) == (Severity.WARNING, "app.py")
    assert finding.location is not None


@pytest.mark.parametrize(
    ("text", "backend"),
    [
        (_ELSE_CPU, Backend.CUDA),
        (_ELSE_CPU, Backend.ROCM),
        (_ELSE_CPU, Backend.CPU),
        (_IN_BRANCHES.replace('    return "cpu"', "    import torch_directml\n    return torch_directml.device()"),
         Backend.DIRECTML),
        (_ELSE_CPU.replace('"cpu"', '"mps" if torch.backends.mps.is_available() else "cpu"'), Backend.MPS),
        ("if torch.cuda.is_available():\n    torch.cuda.empty_cache()\n", Backend.DIRECTML),
        ("# 'cuda' if torch.cuda.is_available() else 'cpu'\n", Backend.DIRECTML),
    ],
)  # fmt: skip
def test_a_choice_that_finds_the_card_is_no_reason_for_alarm(text: str, backend: Backend) -> None:
    assert found("SRC008", {"app.py": text}, target=replace(CUDA, backend=backend)) == []


def test_where_another_file_asks_for_the_card_a_choice_without_it_is_a_note() -> None:
    files = {"app.py": "import torch_directml\n", "inference.py": _ELSE_CPU}
    [finding] = found("SRC008", files, target=replace(CUDA, backend=Backend.DIRECTML))
    assert (finding.severity, finding.subject) == (Severity.INFO, "inference.py")


def test_a_patch_of_the_profile_makes_a_source_finding_mild() -> None:
    files = {"app.py": "import scripts.b\n", "scripts/b.py": "import inflect\n"}
    patch = Patch(PatchKind.GUARD_IMPORT, ("scripts/**/*.py",), "not needed", module="other")
    stack = ProfileTarget(OperatingSystem.LINUX, Arch.X86_64, SpecifierSet(">=3.10"), Backend.CUDA)
    profile = Profile("p", "s", stack, patches=(patch,))
    assert found("SRC001", files, "numpy==1.26.0")[0].severity is Severity.WARNING
    (finding,) = found("SRC001", files, "numpy==1.26.0", profile=profile)
    assert finding.severity is Severity.INFO
    assert finding.evidence[-1].what == "profile p patches this: not needed"
    guarded = replace(profile, patches=(replace(patch, module="inflect"),))
    assert not found("SRC001", files, "numpy==1.26.0", profile=guarded)


def test_every_file_is_read_once() -> None:
    sources = MemorySources({f"m{number}.py": "import numpy\nx = torch.load(p)\n" for number in range(20)})
    examine(Examination(target=ZLUDA, sources=sources, resolution=resolution_of(resolved("torch==2.7.1+cu118"))))
    assert set(sources.reads.values()) == {1}


def _boom(_examination: Examination) -> list[Finding]:
    raise RuntimeError("boom")


def test_a_rule_that_fails_becomes_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    broken = Rule("RES999", "broken", Severity.ERROR, "s", _boom)
    monkeypatch.setattr(engine, "rules_for", lambda _: [*all_rules()[:1], broken])
    (finding,) = [item for item in examine(Examination()) if item.name == "internal"]
    assert finding.severity is Severity.WARNING
    assert "RES999" in finding.message
    assert not engine.is_understood([finding])
    assert engine.breakages(Examination(resolution=resolution_of())) == ()


EMPTY = Examination()
THIN = [
    EMPTY,
    replace(EMPTY, target=CUDA),
    replace(EMPTY, resolution=resolution_of(resolved("torch==2.1.1"))),
    replace(EMPTY, project=Project("."), sources=MemorySources({})),
    replace(EMPTY, log="nothing"),
]


@pytest.mark.parametrize("examination", THIN)
def test_no_rule_fails_on_little(examination: Examination) -> None:
    assert [item for item in examine(examination) if item.name == "internal"] == []


def test_findings_are_in_order_of_weight() -> None:
    packages = (resolved("torch==2.1.1"), resolved("numpy==2.1.0"), resolved("docopt==0.6.2", sdist=True, yanked=True))
    findings = examine(Examination(target=ZLUDA, resolution=resolution_of(*packages)))
    ranks = [item.severity.rank for item in findings]
    assert ranks == sorted(ranks)
    assert ranks[0] == 0


def test_codes_are_unique_and_documented() -> None:
    rules = all_rules()
    assert len({rule.code for rule in rules}) == len(rules)
    for rule in rules:
        assert rule.needs <= {field.name for field in fields(Examination)}, rule.code
        text = documentation(rule.code) or ""
        assert text.startswith(f"# {rule.code} {rule.name}\n")
        assert text.count("\n## ") >= 2, rule.code


def test_a_scan_can_stand_for_its_sources() -> None:
    scan = SourceScan(MemorySources({"a.py": "x = 1\n", "b.bat": "main\\app\n"}))
    assert [item.path for item in scan.python_files()] == ["a.py"]
    assert scan.read("b.bat")
    assert scan.read("c.bat") is None
    assert list(scan.glob("*.bat")) == ["b.bat"]


@pytest.mark.parametrize(
    ("files", "evidence"),
    [
        ({"random.py": "def pick(): ...\n", "train.py": "from random import shuffle\n"}, "train.py:1"),
        ({"random.py": "x = 1\n", "train.py": "import random\nrandom.seed(1)\n"}, "train.py:1"),
        ({"random.py": "import random\nrandom.seed(1)\n"}, "random.py:1"),
        ({"logging.py": "x = 1\n", "app.py": "import logging.handlers\n"}, "app.py:1"),
        ({"requests.py": "def ask(): ...\n", "app.py": "import requests\nrequests.get('x')\n"}, "app.py:1"),
        (
            {
                "tools/queue.py": "x = 1\n",
                "tools/go.py": "from queue import Queue\nif __name__ == '__main__':\n    1\n",
            },
            "tools/go.py:1",
        ),
    ],
)
def test_a_file_that_takes_the_place_of_a_module_is_told(files: dict[str, str], evidence: str) -> None:
    (finding,) = found("SRC005", files, "requests==2.32.0")
    assert finding.severity is Severity.WARNING
    assert finding.subject == next(
        path for path in files if path.endswith(("random.py", "logging.py", "requests.py", "queue.py"))
    )
    assert [item.where for item in finding.evidence] == [evidence]


@pytest.mark.parametrize(
    "files",
    [
        {"random.py": "def pick(): ...\n", "train.py": "from random import pick as p\n"},
        {"random.py": "def pick(): ...\n", "train.py": "import random\nrandom.pick()\n"},
        {"random.py": "def pick(): ...\n", "train.py": "import json\n"},
        {"kit/random.py": "x = 1\n", "kit/__init__.py": "", "kit/a.py": "from random import shuffle\n"},
        {"kit/random.py": "x = 1\n", "kit/a.py": "from random import shuffle\n"},
        {"tests/random.py": "x = 1\n", "tests/a.py": "from random import shuffle\nif __name__ == '__main__':\n    1\n"},
        {"random.py": "from kit.random import *\n", "train.py": "from random import shuffle\n"},
        {"__init__.py": "", "random.py": "x = 1\n", "train.py": "from random import shuffle\n"},
        {"httpx.py": "x = 1\n", "train.py": "from httpx import get\n"},
        {"requests/__init__.py": "x = 1\n", "app.py": "from requests import get\n"},
        {"time.py": "x = 1\n", "app.py": "from time import sleep\n"},
    ],
)
def test_a_file_of_another_name_or_one_that_is_meant_takes_no_place(files: dict[str, str]) -> None:
    assert found("SRC005", files, "requests==2.32.0") == []


def test_a_file_that_another_package_would_import_is_told() -> None:
    project = resolved("requests==2.32.0")
    project = replace(project, wanted_by=(require("requests", DistributionOrigin("hub", "1.0")),))
    examination = Examination(
        target=CUDA,
        sources=MemorySources({"requests.py": "def ask(): ...\n", "app.py": "import requests\nrequests.ask()\n"}),
        resolution=resolution_of(project, resolved("hub==1.0")),
    )
    (finding,) = [item for item in examine(examination) if item.rule == "SRC005"]
    assert finding.evidence == (Evidence("`hub` asks for `requests`", "hub"),)


def test_a_project_is_not_in_its_own_place() -> None:
    files = {"requests.py": "def ask(): ...\n", "app.py": "from requests import get\n"}
    assert found("SRC005", files, "requests==2.32.0", project=Project(".", name="Requests")) == []


_EXPORT = """
import coremltools as ct
import torch
from model import Encoder

def main():
    traced = torch.jit.trace(Encoder().eval(), torch.zeros(1, 4))
    ct.convert(traced, inputs=[ct.TensorType(shape=(1, 4))])
"""
_MODEL = """
from torch import nn

class Encoder(nn.Module):
    def forward(self, x, lengths):
        {line}
        return x

def collate(x, lengths):
    return nn.utils.rnn.pack_padded_sequence(x, lengths)
"""


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("x = nn.utils.rnn.pack_padded_sequence(x, lengths)", "a packed sequence"),
        ("x = torch.repeat_interleave(x, lengths, dim=0)", "repeat_interleave with a tensor of repeats"),
        ("x = x.repeat_interleave(lengths, dim=1)", "repeat_interleave with a tensor of repeats"),
        ("y = torch.full((int(lengths.max()), 3), 0.0)", "torch.full of a size that is computed"),
        ("x = x[torch.nonzero(lengths)]", "a shape that depends on the data"),
        ("n = lengths.max().item()", "a number that is taken out of a tensor"),
        ("x = torch.istft(x, 20)", "complex numbers"),
    ],
)
def test_what_core_ml_refuses_is_found_in_the_model_of_an_exporter(line: str, what: str) -> None:
    (finding,) = found("SRC006", {"export.py": _EXPORT, "model.py": _MODEL.format(line=line)}, target=COREML)
    assert finding.message.startswith(f"{what} at model.py:6")


@pytest.mark.parametrize(
    "files",
    [
        {"export.py": _EXPORT, "model.py": _MODEL.format(line="x = torch.repeat_interleave(x, 2, dim=0)")},
        {"export.py": _EXPORT, "model.py": _MODEL.format(line="x = x.repeat_interleave(3, dim=1)")},
        {"export.py": _EXPORT, "model.py": _MODEL.format(line="y = torch.full((3, 4), 0.0)")},
        {"export.py": _EXPORT, "model.py": _MODEL.format(line="x = torch.where(lengths > 2, x, 0)")},
        {"export.py": _EXPORT, "train.py": _MODEL.format(line="x = pack_padded_sequence(x, lengths)"), "model.py": ""},
        {
            "train.py": _MODEL.format(line="n = lengths.item()"),
            "run.py": "import coremltools\nfrom train import Encoder\n",
        },
    ],
)
def test_constant_sizes_and_models_that_no_exporter_loads_are_silent(files: dict[str, str]) -> None:
    assert found("SRC006", files) == []


@pytest.mark.parametrize(("target", "told"), [(COREML, [Severity.INFO]), (CUDA, []), (None, [])])
def test_the_models_of_a_project_without_an_exporter_are_a_note_where_core_ml_is_meant(
    target: Target | None, told: list[Severity]
) -> None:
    files = {"model.py": _MODEL.format(line="x = nn.utils.rnn.pack_padded_sequence(x, lengths)")}
    assert [item.severity for item in found("SRC006", files, target=target)] == told


@pytest.mark.parametrize(
    ("before", "after", "what"),
    [
        ("Encoder().eval()", "Encoder().half().eval()", "half precision before the trace"),
        ("Encoder().eval()", "Encoder()", "a model that is traced without `.eval()` at export.py"),
        ("shape=(1, 4)", "shape=(1, ct.RangeDim())", "a range without an end"),
        ("    ct.convert(", "    for n in (3, 5):\n        ct.convert(", "a model that is traced once"),
    ],
)
def test_what_an_exporter_does_before_the_conversion(before: str, after: str, what: str) -> None:
    (finding,) = found("SRC006", {"export.py": _EXPORT.replace(before, after), "model.py": ""}, target=COREML)
    assert finding.message.startswith(what)
    assert finding.severity is Severity.WARNING


def test_an_exporter_beside_a_program_for_another_backend_is_a_note() -> None:
    files = {"export.py": _EXPORT.replace("Encoder().eval()", "Encoder().half().eval()"), "model.py": ""}
    (finding,) = found("SRC006", files)
    assert finding.severity is Severity.INFO


@pytest.mark.parametrize(("test", "told"), [("half and not coreml", 0), ("half", 1)])
def test_what_is_done_for_other_formats_alone_is_silent(test: str, told: int) -> None:
    export = f"{_EXPORT}    if {test}:\n        model = model.half()\n"
    assert len(found("SRC006", {"export.py": export, "model.py": ""}, target=COREML)) == told


def test_a_forward_that_the_exporter_replaces_is_a_note() -> None:
    line = "x = nn.utils.rnn.pack_padded_sequence(x, lengths)"
    files = {"export.py": _EXPORT + "    Encoder.forward = None\n", "model.py": _MODEL.format(line=line)}
    (finding,) = found("SRC006", files, target=COREML)
    assert finding.severity is Severity.INFO


@pytest.mark.parametrize(
    ("module", "says"), [("torchvision", "add `torchvision` to"), ("data", "add what gives `data`,")]
)
def test_a_project_is_named_for_certain_where_it_is_known(module: str, says: str) -> None:
    archives = MemoryArchives({"numpy": {"numpy/__init__.py": ""}})
    (finding,) = found("SRC001", {"a.py": f"import {module}\n"}, "numpy==1.26.0", archives=archives)
    assert finding.remedy is not None
    assert finding.remedy.summary.startswith(says)


def test_the_text_by_which_a_warning_is_kept_quiet_calls_nothing() -> None:
    name = "torchvision.transforms.functional_tensor"
    quiet = f'import warnings\nwarnings.filterwarnings("ignore", module="{name}")\n'
    assert not found("SRC002", {"a.py": quiet}, "torchvision==0.27.1")
    assert found("SRC002", {"a.py": f"import {name}\n"}, "torchvision==0.27.1")


@pytest.mark.parametrize(
    ("line", "severity"),
    [("import librosa", Severity.WARNING), ("def f():\n    import cv2", Severity.ERROR), ("", Severity.ERROR)],
)
def test_a_binary_for_numpy_1_that_nobody_imports_fails_nobody(line: str, severity: Severity) -> None:
    (finding,) = found("RES205", {"a.py": f"{line}\n"}, "opencv-python==4.9.0.80", "numpy==2.2.6")
    assert finding.severity is severity
    assert ("no file of the project imports it" in finding.message) is (severity is Severity.WARNING)
