"""A CUDA device named outright in the sources.

## What it does

Lists places in the sources that name a CUDA device outright, where the target's backend is not CUDA.

## Why is this bad

The component goes to a device that is not there, whatever the settings of the program say. (ROCm and ZLUDA answer to
the name `cuda`; there it matters only where a component must run on the CPU.)

## Example

`pipeline.to("cuda:0")`

## References

- PyTorch, torch.device: https://pytorch.org/docs/stable/tensor_attributes.html
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from envdoctor.diagnose.examination import Examination
from envdoctor.diagnose.rule import Rule
from envdoctor.diagnose.source_scan import Hit, findings_by_file, scan_of
from envdoctor.model.finding import Finding, Remedy, Severity
from envdoctor.model.target import Backend
from envdoctor.model.unknown import SubjectKind

_DEVICE = r"""["']cuda:\d+["']|\.to\(\s*["']cuda["']\s*[,)]|\.cuda\(\s*\)|device\s*=\s*["']cuda["']"""
_GUARDED = ("is_available", " if ", "argparse", "add_argument")


def _find(examination: Examination) -> Iterator[Finding]:
    if examination.sources is None or examination.target is None or examination.target.backend is Backend.CUDA:
        return
    backend = examination.target.backend.value
    hits = scan_of(examination.sources).search(_DEVICE, having=("'cuda", '"cuda', ".cuda("))
    outright = [hit for hit in hits if not any(word in hit.text for word in _GUARDED)]

    def message(path: str, found: Sequence[Hit]) -> str:
        lines = ", ".join(str(line) for line in dict.fromkeys(hit.line for hit in found))
        return f"`{path}` names a CUDA device outright (line {lines}); the backend is {backend}"

    remedy = Remedy("pass the device in, so that a placement can move the component")
    yield from findings_by_file(RULE, outright, message, remedy)


RULE = Rule.of(__name__, __doc__, Severity.INFO, _find, needs={"sources", "target"}, about=SubjectKind.FILE)
