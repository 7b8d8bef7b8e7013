"""A call that the planned version no longer has.

## What it does

Reports calls in the project's sources that the planned or installed version of a package no longer has.

## Why is this bad

Everything resolves and installs; the program dies when it reaches the line. Where no script of the project leads to
the file, the finding is mild. A line that the sources guard (`hasattr`, a test of the version, `try`) is not reported,
nor is a name that they put back themselves (`np.float = float`): in the same file, or in one that a script leads to.

A log that says so (`cannot import name`, `has no attribute`, `No module named`) is read by a table of the versions that
have a name, removed or not yet there; where the version is known to have it, nothing is said.

## Example

`torchaudio.info(path)` with torchaudio 2.9 or later, `np.float` with numpy 1.24 or later.

## References

- The advisories say where each removal is documented or was seen.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from envdoctor.diagnose.examination import Examination, Sources
from envdoctor.diagnose.package_view import PackageView, scenes
from envdoctor.diagnose.reachable import reachable_files
from envdoctor.diagnose.rule import Rule
from envdoctor.diagnose.source_scan import Hit, SourceScan, called_in, scan_of
from envdoctor.diagnose.wheel_facts import shipped_wheel_facts
from envdoctor.model.finding import Evidence, Finding, Remedy, Severity
from envdoctor.model.origin import FileOrigin
from envdoctor.model.version_table import contains
from envdoctor.shipped import data_file

_SILENCED = re.compile(r"""\bfilterwarnings\(|\bgetLogger\(|\bmodule\s*=\s*r?['"]""")
"""Where a name is only the text by which warnings are kept quiet."""
_ASSIGNED = re.compile(r"\s*=(?!=)")
_SET = re.compile(r"""\bsetattr\(\s*([\w.]+)\s*,\s*['"](\w+)['"]""")


def _finding(row: dict[str, Any], package: PackageView, hits: list[Hit], *, reached: bool) -> Finding:
    more = f" and {len(hits) - 1} more" if len(hits) > 1 else ""
    where = f"{hits[0].path}:{hits[0].line}{more}"
    return RULE.finding(
        subject=package.name,
        message=f"`{row['call']}` is gone in `{package.name}` {package.version}; used at {where}",
        severity=RULE.severity if reached else Severity.INFO,
        evidence=tuple(Evidence(hit.text[:160], f"{hit.path}:{hit.line}") for hit in hits[:5]),
        remedy=Remedy(row["instead"]),
        location=FileOrigin(hits[0].path, hits[0].line),
        symbols=called_in(hits[:5]),
    )


def _find(examination: Examination, sources: Sources) -> Iterator[Finding]:
    scan = scan_of(sources)
    reachable = frozenset(reachable_files(scan, examination.project.files if examination.project else ()))
    for scene in scenes(examination, shipped_wheel_facts()):
        for row in data_file("removed-calls")["removed"]:
            package = scene.get(row["package"])
            if package is not None and contains(row["version"], package.version):
                hits = scan.search(row["pattern"], having=tuple(row["having"]))
                hits = _not_put_back(re.compile(row["pattern"]), hits, scan, reachable)
                hits = [hit for hit in hits if hit.line not in scan.guarded_lines(hit.path) and not _is_text(hit)]
                if hits:
                    reached = [hit for hit in hits if hit.path in reachable]
                    yield _finding(row, package, reached or hits, reached=bool(reached))


def _is_text(hit: Hit) -> bool:
    return _SILENCED.search(hit.text) is not None


def _not_put_back(pattern: re.Pattern[str], hits: list[Hit], scan: SourceScan, reachable: frozenset[str]) -> list[Hit]:
    """Return the hits but those of names that the sources assign to the module themselves."""
    back = {
        (hit.path, _name(match))
        for hit in hits
        for match in pattern.finditer(hit.text)
        if _ASSIGNED.match(hit.text, match.end())
    }
    for hit in scan.search(_SET.pattern, having=("setattr(",)) if hits else ():
        set_to = (pattern.match(f"{match[1]}.{match[2]}") for match in _SET.finditer(hit.text))
        back |= {(hit.path, _name(match)) for match in set_to if match is not None}
    for_all = {name for path, name in back if path in reachable}

    def is_put_back(hit: Hit) -> bool:
        names = {_name(match) for match in pattern.finditer(hit.text)} - for_all
        return bool(back) and all((hit.path, name) in back for name in names) and pattern.search(hit.text) is not None

    return [hit for hit in hits if not is_put_back(hit)]


def _name(match: re.Match[str]) -> str:
    return match[0].rpartition(".")[2]


RULE = Rule.of(__name__, __doc__, Severity.WARNING, _find)
