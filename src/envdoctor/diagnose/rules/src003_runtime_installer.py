"""The program installs packages while it runs.

## What it does

Reports project sources that run `pip` while the program runs.

## Why is this bad

A working environment changes behind the lock's back at the next start: a package comes back that was left out on
purpose, or a newer one replaces a pin. Where no script of the project leads to the file, or the line stands in for an
import that failed (`except ImportError`), the finding is mild.

## Example

`subprocess.check_call([sys.executable, "-m", "pip", "install", "--upgrade", "tts"])`

## References

- pip, User guide, Using pip from your program: https://pip.pypa.io/en/stable/user_guide/
"""

from __future__ import annotations

from collections.abc import Iterator

from envdoctor.diagnose.examination import Examination, Sources
from envdoctor.diagnose.reachable import reachable_files
from envdoctor.diagnose.rule import Rule
from envdoctor.diagnose.source_scan import called_in, scan_of
from envdoctor.model.finding import Evidence, Finding, Remedy, Severity
from envdoctor.model.origin import FileOrigin
from envdoctor.model.unknown import SubjectKind

_CALL = (
    r"(?:subprocess\.(?:run|call|check_call|check_output|Popen)|os\.system|os\.popen|run_cmd|run_pip)\s*\("
    r"[^#\n]{0,80}(?:\n[^#\n]{0,80}){0,4}?"
    r"(?:\bpip3?\s+install\b|[\"']pip3?[\"']\s*,\s*[\"']install[\"'])"
    r"|\bpip\.(?:main|_internal\.main)\s*\("
)
_CALLED = ("subprocess.", "os.system", "os.popen", "run_cmd", "run_pip", "pip.main", "pip._internal")


def _is_tooling(path: str) -> bool:
    name = path.rsplit("/", 1)[-1]
    return name == "setup.py" or path.startswith(("tests/", "test/", "docs/"))


def _find(examination: Examination, sources: Sources) -> Iterator[Finding]:
    scan = scan_of(sources)
    reachable = frozenset(reachable_files(scan, examination.project.files if examination.project else ()))
    for hit in scan.search(_CALL, having=_CALLED):
        if _is_tooling(hit.path):
            continue
        where = FileOrigin(hit.path, hit.line)
        runs = hit.path in reachable and hit.line not in scan.stand_in_lines(hit.path)
        yield RULE.finding(
            subject=hit.path,
            message=f"`{hit.path}` installs packages with pip while the program runs (line {hit.line})",
            severity=RULE.severity if runs else Severity.INFO,
            evidence=(Evidence(hit.text[:160], str(where)),),
            remedy=Remedy("stub that function, and let the lock decide what is installed"),
            location=where,
            symbols=called_in([hit]),
        )


RULE = Rule.of(__name__, __doc__, Severity.WARNING, _find, about=SubjectKind.FILE)
