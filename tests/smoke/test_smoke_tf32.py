"""The workloads under the rounding of TF32, which a CPU does not have: written into the convolutions' operands."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from envdoctor.adapters.smoke import kernel_catalogue
from envdoctor.adapters.smoke.bundle import write_bundle

pytestmark = pytest.mark.torch

ROUNDED = """
import json, sys
sys.path.insert(0, sys.argv[1])
import torch
from envdoctor_smoke import kernel_catalogue
from envdoctor_smoke.child import measure, registry

def rounded(x):
    if x.dtype != torch.float32:
        return x
    bits = x.detach().contiguous().view(torch.int32)
    return ((bits + 0x1000) & ~0x1FFF).view(torch.float32)

def rounding(plain):
    return lambda x, weight, *rest, **named: plain(rounded(x), rounded(weight), *rest, **named)

for name in ("conv1d", "conv2d", "conv_transpose1d", "conv_transpose2d"):
    setattr(torch.nn.functional, name, rounding(getattr(torch.nn.functional, name)))
registry.load()
errors = {}
for name in sys.argv[2:]:
    bench = registry.Workbench(name, torch.float32, torch.device("cpu"), "cpu")
    case = registry.build(name, bench)
    answer = measure.as_tuple(case.call(case.modules, case.inputs))
    errors[name] = measure.difference(answer, measure._expected(case))[0]
print(json.dumps(errors))
"""
# Trained, exported, converted and compiled ones do not go through these four functions alone.
ASKED = tuple(
    entry.name
    for entry in kernel_catalogue.WORKLOADS
    if "tf32-off" not in entry.settings
    and not entry.name.endswith(("step", "align", "export"))
    and not entry.name.startswith("kokoro-coreml")
)


def test_workloads_stay_within_their_tolerance_where_convolutions_round_to_tf32(tmp_path: Path) -> None:
    python = os.environ.get("ENVDOCTOR_TORCH_PYTHON", sys.executable)
    command = [python, "-c", ROUNDED, str(write_bundle(tmp_path / "smoke.pyz")), *ASKED]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    if "No module named 'torch'" in answer.stderr:
        pytest.skip("no torch here; name an interpreter that has it in ENVDOCTOR_TORCH_PYTHON")
    assert answer.returncode == 0, answer.stderr[-2000:]
    errors = json.loads(answer.stdout)
    # Half of it is left for devices that cut off instead of rounding.
    assert {name: error for name, error in errors.items() if error > kernel_catalogue.find(name).tolerance / 2} == {}
    assert set(errors) == set(ASKED)
