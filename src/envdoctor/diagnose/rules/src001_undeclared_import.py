"""The sources import a module that nothing in the plan provides.

## What it does

Looks at the imports that running the project's scripts, or importing its packages, always reaches (not in `try`, not in
functions; no file that the project itself imports in `if` or `try` alone) and reports those that neither the standard
library, nor the project itself, nor a planned or installed distribution gives. What an extra or a group of the project
brings is not reported, nor is any other import of a file that needs one of them; nor what the build alone needs, nor
what stands in a folder with a list of its own, in a script that
`cog.yaml` names, or in an add-on that Blender runs in its own Python. Of a part of ComfyUI or of stable-diffusion-webui
neither the program's own modules are reported nor what it brings. Where some of the project's requirements could not be
read, or the image of its Dockerfile has torch already, nothing is reported: they may bring it. Where only files of a
package import it that neither the package itself
nor a command of the project loads, it is a note: whoever runs such a file by hand needs it.

## Why is this bad

Everything installs, and the program dies at its first line with `ModuleNotFoundError`.

## Example

`import inflect` where requirements.txt has no inflect, and nothing else brings it.

## References

- Python, The import system: https://docs.python.org/3/reference/import.html
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import islice
from typing import Any

from envdoctor.diagnose.examination import Examination, Sources
from envdoctor.diagnose.in_place_of import no_wheel
from envdoctor.diagnose.module_owners import ModuleOwners
from envdoctor.diagnose.reachable import (
    conditional_files,
    local_modules,
    reachable_files,
    shipped_packages,
    unused_files,
)
from envdoctor.diagnose.rule import Rule
from envdoctor.diagnose.source_scan import ImportSite, SourceScan, scan_of
from envdoctor.model.finding import Applicability, Evidence, Finding, Remedy, Severity
from envdoctor.model.origin import FileOrigin
from envdoctor.model.project import Project, ReadingProblemKind
from envdoctor.shipped import data_file, same_module
from envdoctor.toml_tables import TomlError, read_toml

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
_FRAMEWORKS = frozenset({"paddlepaddle"})
"""What is imported to compute on the card, and has a build of its own, under a name of its own, for that."""
_SHOWN = 5
_BLENDER = re.compile(r"^bl_info\s*=\s*\{", re.MULTILINE)
_COG_SCRIPT = re.compile(r"""^(?:predict|train)\s*:\s*["']?([\w./-]+\.py)\b""", re.MULTILINE)
_ADDED = {"tomllib": (3, 11), "zoneinfo": (3, 9), "graphlib": (3, 9)}


def _standard(module: str, python: tuple[int, int]) -> bool:
    if module in _DROPPED:
        return python < _DROPPED[module]
    if module in _ADDED:
        return python >= _ADDED[module]
    # pip is in every environment but uv's, and who imports it installs by it (SRC003).
    return module in sys.stdlib_module_names or module in ("__main__", "pip")


def _suspects(
    examination: Examination, scan: SourceScan, owners: ModuleOwners, paths: list[str]
) -> dict[str, list[ImportSite]]:
    """Return imports at the left margin that nothing gives, by top-level module; not yet looked at as syntax."""
    python = examination.target.python if examination.target else sys.version_info[:2]
    local = local_modules(scan.by_path)
    found: dict[str, list[ImportSite]] = {}
    innocent: set[str] = set()
    for path in paths:
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
    real = (site for site in sites if any(site.line == item.line for item in scan.top_level_imports(site.path)))
    return list(islice(real, _SHOWN))


def _for_the_build(scan: SourceScan) -> set[str]:
    """Return the projects that the build of this one asks for (PEP 518, Hatch): its build scripts import them."""
    from packaging.requirements import InvalidRequirement, Requirement
    from packaging.utils import canonicalize_name

    file = scan.read("pyproject.toml")
    try:
        document = read_toml(file.text) if file is not None else {}
    except TomlError:
        return set()
    found: set[str] = set()
    tool = document.get("tool")
    for line in (*_lists(document.get("build-system"), "requires"), *_lists(tool, "dependencies", below="hatch")):
        with suppress(InvalidRequirement, TypeError):
            found.add(canonicalize_name(Requirement(line).name))
    return found


def _lists(table: object, key: str, below: str = "") -> Iterator[Any]:
    """Yield the items of the lists of that name in a table, and in all tables inside it."""
    for name, value in table.items() if isinstance(table, dict) else ():
        if below and name != below:
            continue
        if name == key and isinstance(value, list):
            yield from value
        yield from _lists(value, key)


def _folders_with_a_list(project: Project | None) -> tuple[str, ...]:
    """Return the folders below the top, each with a slash, that have a list of requirements of their own."""
    if project is None:
        return ()
    origins = [line.origin for group in project.groups for line in group.requirements]
    paths = [file.path for file in project.left_out] + [item.path for item in origins if isinstance(item, FileOrigin)]
    return tuple({f"{path.rpartition('/')[0]}/" for path in paths if "/" in path})


def _run_by_cog(scan: SourceScan) -> tuple[str, ...]:
    """Return the scripts that cog.yaml names: Cog runs them in its own image, with itself and that file's list."""
    file = scan.read("cog.yaml")
    return tuple(_COG_SCRIPT.findall(file.text)) if file is not None else ()


def _run_by_blender(scan: SourceScan, paths: Iterable[str]) -> tuple[str, ...]:
    """Return those files, and folders with a slash, that are add-ons of Blender: it runs them and has its modules."""
    found: list[str] = []
    for path in paths:
        folder = f"{path.rpartition('/')[0]}/" if "/" in path else ""
        for place, name in ((path, path), (folder, f"{folder}__init__.py")):
            file = scan.read(name)
            if place and file is not None and _BLENDER.search(file.text):
                found.append(place)
    return tuple(found)


def _of_the_host(scan: SourceScan, paths: Iterable[str]) -> frozenset[str]:
    """Return the modules that come from the program whose part this project is, by the modules that it alone has."""
    imported = {site.module.partition(".")[0] for path in paths for site in scan.imports(path)}
    imported -= local_modules(scan.by_path)
    hosts = [row for row in data_file("import-names")["host"] if imported & set(row["marks"])]
    return frozenset(name for row in hosts for name in (*row["modules"], *row["brings"]))


def _excluded(examination: Examination, projects: tuple[str, ...]) -> bool:
    excluded = {item.name for item in examination.profile.excludes} if examination.profile else set()
    return bool(excluded & set(projects))


def _find(examination: Examination, sources: Sources) -> Iterator[Finding]:
    if examination.resolution is None and examination.environment is None:
        return
    if examination.unknowns or _unread(examination.project):
        return  # What could not be read may be what provides it.
    scan, owners = scan_of(sources), ModuleOwners(examination)
    paths = reachable_files(scan, examination.project.files if examination.project else ())
    guarded = {patch.module for patch in examination.profile.patches} if examination.profile else set()
    suspects = {
        module: (owners.projects_of(module) or (module.replace("_", "-").casefold(),), sites)
        for module, sites in sorted(_suspects(examination, scan, owners, paths).items())
    }
    places = {site.path for _, sites in suspects.values() for site in sites}
    own_lists = (*_folders_with_a_list(examination.project), *_run_by_cog(scan), *_run_by_blender(scan, places))
    optional = {module for module in suspects if owners.optional(module)}
    files = {site.path for module in optional for site in suspects[module][1]}
    mates = _folders_below(scan, files)
    files |= conditional_files(scan, paths) if suspects else set()
    unused = unused_files(scan, paths) if suspects else set()
    settled, of_host = _for_the_build(scan), _of_the_host(scan, paths)
    for module, (projects, sites) in suspects.items():
        if module in {*optional, *of_host, *guarded} or settled & set(projects) or _excluded(examination, projects):
            continue
        sites = [site for site in sites if site.path not in files and not site.path.startswith((*own_lists, *mates))]
        used = _confirmed(scan, [site for site in sites if site.path not in unused])
        real = used or _confirmed(scan, sites)
        if real:
            known = bool(owners.projects_of(module)) or projects[0] in data_file("known-names")["names"]["known"]
            yield _finding(module, _for_target(examination, projects), real, used=bool(used), known=known)


def _for_target(examination: Examination, projects: tuple[str, ...]) -> str:
    """Return the project to add: the usual one, or that of a framework which the target's cards need, and can have."""
    target, usual = examination.target, projects[0]
    if target is None or usual not in _FRAMEWORKS:
        return usual
    other = next(iter(same_module(usual).values()), {}).get(target.backend.value, usual)
    return other if other in projects and not no_wheel(examination, other, target) else usual


def _unread(project: Project | None) -> bool:
    """Whether requirements are computed, or stand where they could not be read, or an image has torch and more."""
    unread = (ReadingProblemKind.DYNAMIC, ReadingProblemKind.UNREAD)
    if project is None:
        return False
    return bool(project.unread or project.brought) or any(item.kind in unread for item in project.problems)


def _folders_below(scan: SourceScan, files: set[str]) -> tuple[str, ...]:
    """Return the folders of these files, each with a slash, that are parts of a package: they need its extra, too."""
    tops = {"", *shipped_packages(scan)}
    folders = {f"{path.rpartition('/')[0]}/" for path in files if "/" in path}
    return tuple(folder for folder in folders if folder not in tops and folder.startswith(tuple(tops - {""})))


def _finding(module: str, project: str, sites: list[ImportSite], *, used: bool, known: bool) -> Finding:
    where = FileOrigin(sites[0].path, sites[0].line)
    # That a project is called as its module is likely, and no more.
    what = f"`{project}`" if known else f"what gives `{module}`, likely `{project}`,"
    return RULE.finding(
        subject=project,
        message=f"`{module}` is imported at {where}, "
        + ("" if used else "which nothing of the project loads, ")
        + "but nothing that is required provides it",
        severity=RULE.severity if used else Severity.INFO,
        evidence=tuple(Evidence(f"import {site.module}", f"{site.path}:{site.line}") for site in sites),
        remedy=Remedy(
            f"add {what} to the requirements" if used else f"add {what} where that file is run",
            Applicability.UNSAFE if used else Applicability.DISPLAY,
        ),
        location=where,
    )


RULE = Rule.of(__name__, __doc__, Severity.WARNING, _find)
