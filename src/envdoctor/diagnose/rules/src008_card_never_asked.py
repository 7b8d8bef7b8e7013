"""Sources that choose between CUDA and the CPU alone.

## What it does

Lists the files that take `cuda` where torch offers it and the CPU otherwise, where the target's backend answers to
another name (DirectML, Intel's XPU, Apple's MPS), and which do not ask for that one.

## Why is this bad

Nothing fails: the work runs on the CPU, many times slower, although the card is there and its build of torch installed.
Where no file of the project names the card's own device, that is certain and a warning; else a note, since another file
may be the one that decides.

## Example

`device = "cuda" if torch.cuda.is_available() else "cpu"` with torch-directml.

## References

- Microsoft, torch_directml.device: https://learn.microsoft.com/windows/ai/directml/pytorch-windows
- PyTorch, Getting started on Intel GPU: https://docs.pytorch.org/docs/stable/notes/get_start_xpu.html
- PyTorch, MPS backend: https://docs.pytorch.org/docs/stable/notes/mps.html
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from envdoctor.diagnose.examination import Examination
from envdoctor.diagnose.rule import Rule
from envdoctor.diagnose.source_scan import Hit, findings_by_file, scan_of
from envdoctor.model.finding import Finding, Remedy, Severity
from envdoctor.model.target import Backend
from envdoctor.model.unknown import SubjectKind

_CHOICE = (
    r"""["']cuda(?::0)?["']\)? if (?:torch\.)?cuda\.is_available\(\)"""
    r"""|if (?:torch\.)?cuda\.is_available\(\):\s+(?:return\b|[\w.]+\s*=)[^\n]*["']cuda"""
)
_ASKED_AS = {
    Backend.DIRECTML: (r"torch_directml|privateuseone", "torch_directml.device()"),
    Backend.XPU: (r"\bxpu\b|torch\.accelerator|\bAccelerator\(", 'torch.device("xpu")'),
    Backend.MPS: (r"\bmps\b|torch\.accelerator|\bAccelerator\(", 'torch.device("mps")'),
}
"""How sources name the device of a backend, and what they had to say."""


def _find(examination: Examination) -> Iterator[Finding]:
    if examination.sources is None or examination.target is None or examination.target.backend not in _ASKED_AS:
        return
    backend, scan = examination.target.backend, scan_of(examination.sources)
    own, device = _ASKED_AS[backend]
    asking = {path for path, item in scan.by_path.items() if re.search(own, item.text)}
    hits = [hit for hit in scan.search(_CHOICE, having=("cuda.is_available()",)) if hit.path not in asking]

    def message(path: str, _: Sequence[Hit]) -> str:
        return f"`{path}` chooses between CUDA and the CPU alone, so that on {backend.value} the card stays idle"

    remedy = Remedy(f"have it ask for `{device}` where neither is meant, or pass the device in")
    yield from findings_by_file(RULE, hits, message, remedy, Severity.INFO if asking else None)


RULE = Rule.of(__name__, __doc__, Severity.WARNING, _find, needs={"sources", "target"}, about=SubjectKind.FILE)
