"""Source patches: what they change, what they leave alone, and what they refuse."""

from __future__ import annotations

import codecs

import pytest

from envdoctor.adapters.apply.patches import AnchorMissing, patched_text
from envdoctor.adapters.apply.preview import read_source
from envdoctor.model.profile import Patch, PatchKind


def patch(kind: PatchKind, file: str = "x.py", **fields: object) -> Patch:
    return Patch(kind=kind, files=(file,), because="test", **fields)  # type: ignore[arg-type]


def applied(the_patch: Patch, text: str) -> str:
    """Apply twice: the second time changes nothing."""
    once = patched_text(the_patch, text)
    assert patched_text(the_patch, once) == once
    return once


DISTRIBUTED = """\
# Which process am I?
import os

import deepspeed
import torch
from deepspeed.accelerator import get_accelerator

__all__ = ["rank"]


def rank():   # odd  spacing stays
    return os.environ.get( "RANK" )
"""


def test_guarded_imports_give_none_where_the_module_is_not_there() -> None:
    text = applied(patch(PatchKind.GUARD_IMPORT, module="deepspeed"), DISTRIBUTED)
    assert "try:\n    import deepspeed\nexcept ImportError:\n    deepspeed = None\nimport torch\n" in text
    assert "except ImportError:\n    get_accelerator = None\n" in text
    assert 'def rank():   # odd  spacing stays\n    return os.environ.get( "RANK" )\n' in text


def test_the_guarded_file_runs_without_the_module() -> None:
    source = DISTRIBUTED.replace("import torch\n", "").replace("deepspeed", "no_such_module_at_all")
    text = applied(patch(PatchKind.GUARD_IMPORT, module="no_such_module_at_all"), source)
    names: dict[str, object] = {}
    exec(compile(text, "x.py", "exec"), names)  # noqa: S102 - text of this test
    assert names["no_such_module_at_all"] is None
    assert names["get_accelerator"] is None


def test_a_fallback_gives_the_names_that_a_class_derives_from() -> None:
    source = (
        "from deepspeed import DeepSpeedConfig\nfrom json import loads\n"
        "from deepspeed.runtime.engine import DeepSpeedEngine\n\n\nclass Engine(DeepSpeedEngine):\n    pass\n"
    )
    fallback = "\nfrom collections import OrderedDict as DeepSpeedEngine\nDeepSpeedConfig = dict\n"
    text = applied(patch(PatchKind.GUARD_IMPORT, module="deepspeed", fallback=fallback), source)
    names: dict[str, object] = {}
    exec(compile(text, "x.py", "exec"), names)  # noqa: S102 - text of this test
    assert names["DeepSpeedConfig"] is dict
    assert isinstance(names["Engine"], type)
    assert text.count("OrderedDict") == 1


def test_an_import_that_is_guarded_already_stays() -> None:
    source = "try:\n    import deepspeed\nexcept (ImportError, OSError):\n    deepspeed = False\n"
    assert applied(patch(PatchKind.GUARD_IMPORT, module="deepspeed"), source) == source


def test_an_import_of_a_longer_name_is_not_meant() -> None:
    with pytest.raises(AnchorMissing, match="an import of `deepspeed`"):
        patched_text(patch(PatchKind.GUARD_IMPORT, module="deepspeed"), "import deepspeed_kernels\n")


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_stub_returns_before_anything_else(newline: str) -> None:
    source = 'def install_it(version):\n    """Fetch it."""\n    run_pip(version)\n\n\ninstall_it(1)\n'.replace(
        "\n", newline
    )
    text = applied(patch(PatchKind.STUB_FUNCTION, function="install_it"), source)
    assert text == source.replace(f'"""{newline}', f'"""{newline}    return{newline}', 1)


def test_a_stub_of_a_method_and_of_one_line() -> None:
    text = applied(patch(PatchKind.STUB_FUNCTION, function="A.go", value="[]"), "class A:\n\tdef go(self): crash()\n")
    assert text == "class A:\n\tdef go(self): return []; crash()\n"


def test_a_replaced_function_keeps_its_place_and_comments() -> None:
    source = (
        "class Z:\n    # about stft\n    def stft(self, x):\n        return 1\n\n    def other(self):\n        pass\n"
    )
    new = "def stft(self, x, n_fft=1024):\n    return torch.stft(x, n_fft)\n"
    text = applied(patch(PatchKind.REPLACE_FUNCTION, function="Z.stft", source=new), source)
    assert "    # about stft\n    def stft(self, x, n_fft=1024):\n        return torch.stft(x, n_fft)\n" in text
    assert text.endswith("\n    def other(self):\n        pass\n")


TTS = """\
class TTSWrapper:
    def __init__(self, folder, device = 'cuda'):
        self.cuda = device # as asked for
        self.device = 'cpu' if lowvram else (self.cuda if torch.cuda.is_available() else "cpu")

    def unload(self):
        self.device = 'cuda'
"""


def test_an_attribute_is_set_inside_its_function_alone() -> None:
    text = applied(
        patch(PatchKind.SET_ATTRIBUTE, function="TTSWrapper.__init__", attribute="self.device", value='"cpu"'), TTS
    )
    assert '        self.device = "cpu"\n' in text
    assert "        self.device = 'cuda'\n" in text


def test_a_missing_attribute_says_what_was_looked_for() -> None:
    with pytest.raises(AnchorMissing, match=r"an assignment to `self\.gpu` in `TTSWrapper\.__init__`"):
        patched_text(
            patch(PatchKind.SET_ATTRIBUTE, function="TTSWrapper.__init__", attribute="self.gpu", value="1"), TTS
        )


def test_a_plain_name_means_the_module_first() -> None:
    source = "def f():\n    device = 'cuda'\n\nif __name__ == '__main__':\n    device: str = 'cuda'\n"
    text = applied(patch(PatchKind.SET_ATTRIBUTE, attribute="device", value="'cpu'"), source)
    assert text == source.replace("device: str = 'cuda'", "device: str = 'cpu'")


CALLS = """\
state = torch.load(path, map_location="cpu")["module"]
whisper = WhisperModel(
    size,
    compute_type="float16",  # fast
)
again = torch.load(
    path
)
"""


def test_an_argument_is_added_in_the_style_of_the_call() -> None:
    text = applied(patch(PatchKind.SET_ARGUMENT, call="torch.load", argument="weights_only", value="False"), CALLS)
    assert 'torch.load(path, map_location="cpu", weights_only=False)["module"]' in text
    text = applied(patch(PatchKind.SET_ARGUMENT, call="WhisperModel", argument="device", value='"cpu"'), text)
    text = applied(patch(PatchKind.SET_ARGUMENT, call="WhisperModel", argument="compute_type", value='"int8"'), text)
    assert '    compute_type="int8",  # fast\n    device="cpu",' in text or 'compute_type="int8"' in text
    compile(text, "x.py", "exec")


def test_text_is_counted() -> None:
    source = 'a = "cuda:0"\r\nb = "cuda:0"\r\n'
    wanted = patch(PatchKind.REPLACE_TEXT, find='"cuda:0"', replace='"cpu"', count=2)
    assert applied(wanted, source) == 'a = "cpu"\r\nb = "cpu"\r\n'
    with pytest.raises(AnchorMissing, match="2 times; it occurs 1 times"):
        patched_text(wanted, 'a = "cuda:0"\n')


def test_text_that_is_part_of_the_new_text_is_not_replaced_again() -> None:
    wanted = patch(PatchKind.REPLACE_TEXT, find="ref_s", replace="1.0 * ref_s", count=1)
    assert applied(wanted, "return s, ref_s\n") == "return s, 1.0 * ref_s\n"


def test_text_over_several_lines_meets_windows_newlines() -> None:
    wanted = patch(PatchKind.REPLACE_TEXT, find="a\nb", replace="a\nc")
    assert applied(wanted, "x\r\na\r\nb\r\n") == "x\r\na\r\nc\r\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("torch==2.7 # why\n", "torch==2.4.1 # why\n"),
        ("torchaudio\nTorch >=2 ; sys_platform == 'win32'\r\n", "torchaudio\ntorch==2.4.1\r\n"),
        ("torch==2.7 \\\n    --hash=sha256:00\nx\n", "torch==2.4.1\nx\n"),
        ("torch\n", "torch==2.4.1\n"),
        ("torch[extra]==2.7\n", "torch==2.4.1\n"),
    ],
)
def test_a_requirement_line_is_replaced(before: str, after: str) -> None:
    assert (
        applied(patch(PatchKind.REPLACE_REQUIREMENT, "requirements.txt", requirement="torch==2.4.1"), before) == after
    )


def test_a_requirement_in_toml_keeps_its_neighbours() -> None:
    source = "dependencies = [\n  'torch>=2',  # gpu\n  'torchaudio',\n]\n"
    text = applied(patch(PatchKind.REPLACE_REQUIREMENT, "pyproject.toml", requirement="torch==2.4.1"), source)
    assert text == source.replace("torch>=2", "torch==2.4.1")


def test_source_that_does_not_parse_is_refused() -> None:
    with pytest.raises(AnchorMissing, match="valid Python"):
        patched_text(patch(PatchKind.STUB_FUNCTION, function="f"), "def f(:\n")


@pytest.mark.parametrize(
    "data",
    [
        codecs.BOM_UTF8 + "x = 'größer'\r\n".encode(),
        "# -*- coding: latin-1 -*-\nx = 'größer'\n".encode("latin-1"),
        "x = 1\n".encode("utf-16"),
        b"\xff\xfe\x00broken\x80",
        b"",
    ],
)
def test_bytes_come_out_as_they_went_in(data: bytes) -> None:
    source = read_source(data, "x.py")
    assert source.encode(source.text) == data
