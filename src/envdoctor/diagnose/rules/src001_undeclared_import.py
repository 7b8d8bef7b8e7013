"""The sources import a module that nothing in the plan provides.

## What it does

Looks at the imports that running the project's scripts always reaches (not in `try`, not in functions) and reports
those that neither the standard library, nor the project itself, nor a planned or installed distribution gives. What an
extra or a group of the project brings is not reported.

## Why is this bad

Everything installs, and the program dies at its first line with `ModuleNotFoundError`.

## Example

`import inflect` where requirements.txt has no inflect, and nothing else brings it.

## References

- Python, The import system: https://docs.python.org/3/reference/import.html
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from envdoctor.diagnose.module_owners import ModuleOwners
from envdoctor.diagnose.reachable import local_modules, reachable_files
from envdoctor.diagnose.rule import Rule
from envdoctor.diagnose.source_scan import ImportSite, SourceScan, scan_of
from envdoctor.model.finding import Applicability, Evidence, Finding, Remedy, Severity
from envdoctor.model.origin import FileOrigin

if TYPE_CHECKING:
    from envdoctor.diagnose.examination import Examination

# Modules of the standard library that later versions dropped, with the first version without them.
_DROPPED = {
    "distutils": (3, 12),
    "imp": (3, 12),
    "asynchat": (3, 12),
    "asyncore": (3, 12),
    "smtpd": (3, 12),
    "audioop": (3, 13),
    "cgi": (3, 13),
    "cgitb": (3, 13),
    "chunk": (3, 13),
    "crypt": (3, 13),
    "imghdr": (3, 13),
    "pipes": (3, 13),
    "sndhdr": (3, 13),
    "telnetlib": (3, 13),
    "uu": (3, 13),
    "xdrlib": (3, 13),
    "binhex": (3, 11),
    "formatter": (3, 10),
    "parser": (3, 10),
    "symbol": (3, 10),
}
_ADDED = {"tomllib": (3, 11), "zoneinfo": (3, 9), "graphlib": (3, 9)}


def _standard(module: str, python: tuple[int, int]) -> bool:
    if module in _DROPPED:
        return python < _DROPPED[module]
    if module in _ADDED:
        return python >= _ADDED[module]
    return module in sys.stdlib_module_names or module == "__main__"


def _suspects(examination: Examination, scan: SourceScan, owners: ModuleOwners) -> dict[str, list[ImportSite]]:
    """Return imports at the left margin that nothing gives, by top-level module; not yet looked at as syntax."""
    python = examination.target.python if examination.target else sys.version_info[:2]
    local = local_modules(scan.by_path)
    found: dict[str, list[ImportSite]] = {}
    innocent: set[str] = set()
    files = examination.project.files if examination.project else ()
    for path in reachable_files(scan, files):
        for site in scan.imports(path):
            top = site.module.partition(".")[0]
            if site.indented or not top or top in innocent:
                continue
            if top not in found and (_standard(top, python) or top in local or owners.provides(top) is not False):
                innocent.add(top)
                continue
            found.setdefault(top, []).append(site)
    return found


def _confirmed(scan: SourceScan, sites: list[ImportSite]) -> list[ImportSite]:
    """Return the sites that are real, unguarded import statements: the files are parsed only now."""
    return [site for site in sites if any(site.line == real.line for real in scan.top_level_imports(site.path))]


def _in_a_group(examination: Examination) -> set[str]:
    """Return what extras and groups bring that nobody asked for: whoever runs such a file asks for its group."""
    named = (
        {line.name for group in examination.project.groups for line in group.requirements}
        if examination.project
        else set()
    )
    return named.union(*(outcome.packages for outcome in examination.groups))


def _excluded(examination: Examination, projects: tuple[str, ...]) -> bool:
    excluded = {item.name for item in examination.profile.excludes} if examination.profile else set()
    return bool(excluded & set(projects))


def _find(examination: Examination) -> Iterator[Finding]:
    if examination.sources is None or (examination.resolution is None and examination.environment is None):
        return
    if examination.unknowns:
        return  # What could not be read may be what provides it.
    scan, owners = scan_of(examination.sources), ModuleOwners(examination)
    guarded = {patch.module for patch in examination.profile.patches} if examination.profile else set()
    optional = _in_a_group(examination)
    for module, sites in sorted(_suspects(examination, scan, owners).items()):
        real = _confirmed(scan, sites)
        projects = owners.projects_of(module) or (module.replace("_", "-").casefold(),)
        if real and not optional & set(projects) and module not in guarded and not _excluded(examination, projects):
            yield _finding(module, projects[0], real)


def _finding(module: str, project: str, sites: list[ImportSite]) -> Finding:
    where = FileOrigin(sites[0].path, sites[0].line)
    return Finding(
        rule=RULE.code,
        name=RULE.name,
        severity=RULE.severity,
        subject=project,
        message=f"`{module}` is imported at {where}, but nothing that is required provides it",
        evidence=tuple(Evidence(f"import {site.module}", f"{site.path}:{site.line}") for site in sites[:5]),
        remedy=Remedy(f"add `{project}` to the requirements", Applicability.UNSAFE),
        location=where,
    )


RULE = Rule(
    code="SRC001",
    name="undeclared-import",
    severity=Severity.WARNING,
    summary="The sources import a module that nothing in the plan provides",
    find=_find,
    documentation=__doc__ or "",
    needs=frozenset({"sources"}),
)
