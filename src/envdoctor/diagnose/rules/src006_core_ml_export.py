"""Operations of a Core ML exporter's model that do not convert, or convert into something else.

## What it does
Looks into the files that import coremltools and convert a model, and into the project's own modules that they load, for
what the converter refuses: packed sequences, `repeat_interleave` with a tensor of repeats, shapes that depend on the
data, `torch.full` of a computed size, complex numbers; for half precision before the trace, a trace with dropout left
on, a range without an end; and for a model that is traced once and converted for several buckets.

## Why it is bad
The conversion stops minutes later with a message about an operation of the graph, or succeeds and answers for the
length of the example alone.

## Example
```python
class Encoder(nn.Module):
    def forward(self, x, lengths):
        x = nn.utils.rnn.pack_padded_sequence(x, lengths)
```

Where the target is Core ML and no file of the project converts, the models of the project are looked into all the same,
for they are what an exporter of one's own will load: a note each. In a module that the exporter loads it is a note
where the exporter puts another `forward` in the place of its own; and so is all of it where the target is for another
backend. What stands under `not coreml` is left out.

## What to do
What each finding says; `advisories/data/core-ml-export.toml` has the sources.

## References
- coremltools, Converting from PyTorch: https://apple.github.io/coremltools/docs-guides/source/convert-pytorch.html
- coremltools, Flexible Input Shapes: https://apple.github.io/coremltools/docs-guides/source/flexible-inputs.html
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from typing import Any

from envdoctor.diagnose.examination import Examination, Sources
from envdoctor.diagnose.reachable import files_from
from envdoctor.diagnose.rule import Rule
from envdoctor.diagnose.source_outline import parsed
from envdoctor.diagnose.source_scan import Hit, SourceScan, scan_of
from envdoctor.model.finding import Evidence, Finding, Remedy, Severity
from envdoctor.model.origin import FileOrigin
from envdoctor.model.target import Backend
from envdoctor.model.unknown import SubjectKind
from envdoctor.shipped import data_file

_CONVERTS = re.compile(r"\b(?:ct|coremltools)\.(?:converters\.\w+\.)?convert\(")
_NOT_CORE_ML = re.compile(r"\bnot \w*core_?ml", re.IGNORECASE)
_TRACES = ("trace", "export")
_REPLACES = re.compile(r"\.forward\s*=|MethodType\(|setattr\([^)\n]{0,200}forward")
_FLEXIBLE = re.compile(r"\b(?:EnumeratedShapes|RangeDim)\(")


def find(examination: Examination, sources: Sources) -> Iterator[Finding]:
    """Yield one finding for each file and kind of operation."""
    scan = scan_of(sources)
    exporters = [path for path in scan.by_path if _is_exporter(scan, path)]
    if not exporters and examination.target is not None and examination.target.backend is Backend.COREML:
        for path in dict.fromkeys(_models(scan)):
            yield from _of_file(scan, path, exporter=False, told=False)
    replaced = any(_REPLACES.search(scan.by_path[path].text) for path in exporters)
    for path in files_from(scan, exporters) if exporters else ():
        told = _is_for_core_ml(examination) and (path in exporters or not replaced)
        yield from _of_file(scan, path, exporter=path in exporters, told=told)


def _models(scan: SourceScan) -> Iterator[str]:
    """Yield the files that may hold what is refused."""
    for row in data_file("core-ml-export")["refused"]:
        if row["where"] != "exporter":
            yield from (hit.path for hit in scan.search(row["pattern"], having=tuple(row["having"])))


def _is_for_core_ml(examination: Examination) -> bool:
    """Return whether the conversion is what the target is for; elsewhere the exporter is one script of many."""
    target = examination.target
    return target is None or target.backend in (Backend.COREML, Backend.UNKNOWN)


def _for_other_formats(tree: ast.Module) -> Iterator[int]:
    """Yield the lines that do not run where the model goes to Core ML: ``if half and not coreml``."""
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and _NOT_CORE_ML.search(ast.unparse(node.test)):
            for statement in node.body:
                yield from range(statement.lineno, (statement.end_lineno or statement.lineno) + 1)


def _is_exporter(scan: SourceScan, path: str) -> bool:
    text = scan.by_path[path].text
    if "coremltools" not in text or not _CONVERTS.search(text):
        return False
    return any(site.module.partition(".")[0] == "coremltools" for site in scan.imports(path))


def _of_file(scan: SourceScan, path: str, *, exporter: bool, told: bool) -> Iterator[Finding]:
    text = scan.by_path[path].text
    tree = parsed(text)
    if tree is None:
        return
    elsewhere = frozenset(_for_other_formats(tree))
    lines = {"model": frozenset(_lines_of_modules(tree)), "constructor": frozenset(_lines_of_modules(tree, inits=True))}
    for row in data_file("core-ml-export")["refused"]:
        if row["where"] == "exporter" and not exporter:
            continue
        if "unless" in row and re.search(row["unless"], text):
            continue
        hits = scan.search(row["pattern"], path, having=tuple(row["having"]))
        hits = [hit for hit in hits if row["where"] == "exporter" or hit.line in lines[row["where"]]]
        hits = [hit for hit in hits if hit.line not in elsewhere]
        if hits:
            yield _finding(row, hits, told=told)
    if exporter and not _FLEXIBLE.search(text):
        for line in _traced_once(tree):
            yield _finding(_TRACED_ONCE, [Hit(path, line, text.splitlines()[line - 1].strip())], told=told)


def _lines_of_modules(tree: ast.Module, *, inits: bool = False) -> Iterator[int]:
    """Yield the lines of the methods of torch modules; of the constructors, or of all others."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.ClassDef) or not any(_called(base).endswith("Module") for base in node.bases):
            continue
        for method in node.body:
            if isinstance(method, ast.FunctionDef) and (method.name == "__init__") is inits:
                yield from range(method.lineno, (method.end_lineno or method.lineno) + 1)


def _called(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _traced_once(tree: ast.Module) -> Iterator[int]:
    """Yield the line of a trace before a loop that converts its outcome again and again."""
    scopes: list[ast.Module | ast.FunctionDef] = [tree]
    scopes += [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    for scope in scopes:
        traces = [line for statement in scope.body for line in _calls(statement, _TRACES, loops=False)]
        for loop in (node for node in scope.body if isinstance(node, ast.For)):
            inside = [*_calls(loop, _TRACES, loops=True)]
            before = [line for line in traces if line < loop.lineno]
            if before and not inside and next(_calls(loop, ("convert",), loops=True), None) is not None:
                yield before[-1]


def _calls(node: ast.stmt, names: tuple[str, ...], *, loops: bool) -> Iterator[int]:
    """Yield the lines of calls of such names, ``torch.jit.trace`` by its last; those in loops only where wanted."""
    if isinstance(node, ast.For | ast.While | ast.FunctionDef | ast.ClassDef) and not loops:
        return
    for inner in ast.walk(node):
        if isinstance(inner, ast.Call) and isinstance(inner.func, ast.Attribute) and inner.func.attr in names:
            yield inner.lineno


_TRACED_ONCE = {
    "what": "a model that is traced once and converted for several shapes",
    "why": "a trace keeps the lengths of its example: each bucket needs a trace of its own",
    "instead": "trace inside the loop with an input of the bucket's shape, or convert once with `ct.EnumeratedShapes`",
    "evidence": "background: torch.jit.trace; coremltools, Flexible Input Shapes",
}


def _finding(row: Mapping[str, Any], hits: list[Hit], *, told: bool) -> Finding:
    more = f" and {len(hits) - 1} more" if len(hits) > 1 else ""
    severity = Severity(row.get("severity", "warning")) if told else Severity.INFO
    return RULE.finding(
        subject=hits[0].path,
        message=f"{row['what']} at {hits[0].path}:{hits[0].line}{more}: {row['why']}",
        severity=severity,
        evidence=(
            *(Evidence(hit.text[:120], f"{hit.path}:{hit.line}") for hit in hits[:4]),
            Evidence(row["evidence"], "where that is known from"),
        ),
        remedy=Remedy(row["instead"]),
        location=FileOrigin(hits[0].path, hits[0].line),
    )


RULE = Rule.of(
    __name__,
    __doc__,
    Severity.WARNING,
    find,
    summary="An operation of a Core ML exporter's model that does not convert",
    about=SubjectKind.FILE,
)
