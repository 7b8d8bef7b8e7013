"""A log says that a name is missing: which versions have it is a table, and what asked for it is in the traceback."""

from __future__ import annotations

import pytest
from diagnose_fixtures import examination_of

from envdoctor.diagnose.engine import examine
from envdoctor.model.finding import Finding
from envdoctor.shipped import data_file

_HEAD = 'Traceback (most recent call last):\n  File "{}", line 3, in <module>\n    from x import y\n'
_PROGRAM = "/home/u/app/run.py"


def _findings(error: str, asked_by: str = _PROGRAM, **more: object) -> list[Finding]:
    log = f"{_HEAD.format(asked_by)}{error}\n"
    return [item for item in examine(examination_of({"log": log, **more})) if item.rule in ("SRC002", "LOG001")]


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (
            "ImportError: cannot import name 'AdamW' from 'transformers' (/v/transformers/__init__.py)",
            "`transformers.AdamW` is in `transformers<4.50` alone",
        ),
        (
            "AttributeError: module 'torch.library' has no attribute 'register_fake'",
            "`torch.library.register_fake` is in `torch>=2.4` alone",
        ),
        (
            "ImportError: cannot import name 'is_npu_available' from 'accelerate.utils' (/v/x.py)",
            "`accelerate.utils.is_npu_available` is in `accelerate>=0.21` alone",
        ),
        (
            "ImportError: cannot import name 'CpuOffload' from 'accelerate.hooks' (/v/accelerate/hooks.py)",
            "`accelerate.hooks.CpuOffload` is in `accelerate>=0.17` alone",
        ),
        (
            "AttributeError: module 'torchvision.io' has no attribute 'read_video'",
            "`torchvision.io.read_video` is in `torchvision<0.26` alone",
        ),
        ("ModuleNotFoundError: No module named 'moviepy.editor'", "`moviepy.editor` is in `moviepy<2` alone"),
        ("ModuleNotFoundError: No module named 'torch._six'", "`torch._six` is in `torch<2` alone"),
        (
            "ModuleNotFoundError: No module named 'torchcodec.decoders'",
            "`torchcodec.decoders` is in `torchcodec>=0.1` alone",
        ),
        (
            "ImportError: cannot import name 'AudioDecoder' from 'torchcodec.decoders' (/v/x.py)",
            "`torchcodec.decoders.AudioDecoder` is in `torchcodec>=0.3` alone",
        ),
        (
            "ImportError: cannot import name 'container_abcs' from 'torch._six' (/v/torch/_six.py)",
            "`torch._six.container_abcs` is in `torch<1.9` alone",
        ),
        (
            "AttributeError: 'DynamicCache' object has no attribute 'seen_tokens'",
            "`DynamicCache.seen_tokens` is in `transformers>=4.39,<4.54` alone",
        ),
        (
            "TypeError: hf_hub_download() got an unexpected keyword argument 'use_auth_token'",
            "`hf_hub_download(): use_auth_token` is in `huggingface-hub<1` alone",
        ),
        (
            "RuntimeError: Failed to import: cannot import name 'LossKwargs' from 'transformers.utils' (/x.py)",
            "`transformers.utils.LossKwargs` is in `transformers>=4.47,<4.54` alone",
        ),
        (
            "ImportError: cannot import name 'StrEnum' from 'enum' (/usr/lib/enum.py)",
            "`enum.StrEnum` is in Python >=3.11 alone",
        ),
        (
            "AttributeError: type object 'Dropdown' has no attribute 'update'",
            "`Dropdown.update` is in `gradio<4` alone",
        ),
        ("ModuleNotFoundError: No module named 'aifc'", "`aifc` is in Python <3.13 alone"),
        (
            "ImportError: cannot import name 'int4_weight_only' from 'torchao.quantization' (/v/torchao/x.py)",
            "`torchao.quantization.int4_weight_only` is in `torchao<0.16` alone",
        ),
        (
            "ImportError: cannot import name 'ScalingType' from 'torch.nn.functional' (/v/torch/nn/functional.py)",
            "`torch.nn.functional.ScalingType` is in `torch>=2.10` alone",
        ),
        ("AttributeError: module 'torch' has no attribute 'int1'", "`torch.int1` is in `torch>=2.6` alone"),
    ],
)
def test_a_name_that_other_versions_have_is_told_with_them(error: str, message: str) -> None:
    (finding,) = _findings(error)
    assert (finding.message, finding.severity.value) == (message, "error")
    assert finding.evidence[0].what.startswith(error[:60])


@pytest.mark.parametrize(
    "error",
    [
        "ImportError: cannot import name 'AdamW' from 'my_optimizers' (/home/u/app/my_optimizers.py)",
        "AttributeError: partially initialized module 'gradio' has no attribute 'inputs' (a circular import)",
        "ModuleNotFoundError: No module named 'imghdr_tools'",
        "AttributeError: 'Config' object has no attribute 'seen_tokens'",
        "TypeError: load() got an unexpected keyword argument 'use_auth_token'",
    ],
)
def test_another_name_is_not_understood(error: str) -> None:
    (finding,) = _findings(error)
    assert finding.rule == "LOG001"


def test_what_asked_for_the_name_is_named_with_the_other_way() -> None:
    """The program may be at fault, or the library in between: its newer release may ask for the name no more."""
    error = "ImportError: cannot import name 'FLAX_WEIGHTS_NAME' from 'transformers.utils' (/v/x.py)"
    (finding,) = _findings(error, "/v/lib/python3.11/site-packages/diffusers/pipelines/loading.py")
    assert finding.remedy is not None
    assert (
        finding.remedy.summary == "take `transformers<5`; or take a release of `diffusers` that goes with what is there"
    )
    assert finding.remedy.commands == ('python -m pip install "transformers<5"',)


@pytest.mark.parametrize("before", ["", _HEAD.format(_PROGRAM)])
def test_a_cause_that_stands_below_the_error_is_read(before: str) -> None:
    """diffusers and transformers load their parts late, and put the cause on a line of its own, without its class."""
    error = "RuntimeError: Failed to import diffusers.loaders because of the following error"
    cause = "cannot import name 'FLAX_WEIGHTS_NAME' from 'transformers.utils' (/v/x.py)"
    log = f"{before}{error} (look up to see its traceback):\n{cause}\n"
    (finding,) = examine(examination_of({"log": log}))
    assert finding.message.startswith("`transformers.utils.FLAX_WEIGHTS_NAME` is in `transformers<5` alone")


def test_no_command_for_a_torch_whose_build_and_companions_are_not_known() -> None:
    (finding,) = _findings("AttributeError: module 'torch.library' has no attribute 'custom_op'")
    assert finding.remedy is not None and not finding.remedy.commands


def test_a_version_that_has_the_name_is_not_blamed() -> None:
    error = "ImportError: cannot import name 'AdamW' from 'transformers' (/v/transformers/__init__.py)"
    (old,) = _findings(error, installed=["transformers==4.40.0"])
    (new,) = _findings(error, installed=["transformers==4.57.1"])
    assert old.rule == "LOG001"
    assert new.message == "`transformers.AdamW` is in `transformers<4.50` alone, and this is 4.57.1"


def test_the_python_of_the_paths_is_the_one_that_asked() -> None:
    error = "ImportError: cannot import name 'StrEnum' from 'enum' (/usr/lib/python3.12/enum.py)"
    assert [item.rule for item in _findings(error)] == ["LOG001"]


def test_every_row_says_versions_and_something_to_ask_for() -> None:
    rows = data_file("names")["there"]
    assert all(row["package"] and row["version"] and row["of"] for row in rows)
    keys = [(row["package"], row["version"], str(row["of"])) for row in rows]
    assert len(set(keys)) == len(keys)


@pytest.mark.parametrize(
    ("more", "package"),
    [
        ({"installed": ["triton-windows==3.3.0.post19"]}, "triton-windows"),
        ({"target": "windows/x86_64/3.12/cuda"}, "triton-windows"),
        ({"installed": ["triton==3.3.0"], "target": "linux/x86_64/3.12/cuda"}, "triton"),
    ],
)
def test_the_distribution_that_gives_the_module_there_is_named(more: dict[str, object], package: str) -> None:
    error = "ImportError: cannot import name 'AttrsDescriptor' from 'triton.compiler.compiler' (x/triton/compiler.py)"
    asked_by = r"C:\app\run.py" if "installed" not in more else _PROGRAM
    (finding,) = _findings(error, asked_by, **more)
    assert finding.subject == package
    assert finding.remedy is not None
    assert f"take `{package}>=2.3,<3.3`" in finding.remedy.summary


def test_what_is_built_for_one_torch_has_no_command_which_would_bring_the_newest() -> None:
    (finding,) = _findings("ImportError: cannot import name 'AudioDecoder' from 'torchcodec.decoders' (/v/x.py)")
    assert finding.remedy is not None
    assert not finding.remedy.commands
    assert "0.6 and 0.7 for 2.8" in finding.remedy.summary
