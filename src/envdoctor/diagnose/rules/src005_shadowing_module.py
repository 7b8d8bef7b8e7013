"""A file of the project takes the place of a module of Python, or of a package that is required.

## What it does
Looks for single files such as `random.py` or `requests.py` in the folders that scripts are started in (the top of the
project, and folders with a file that has `if __name__ == "__main__"`), where a file there imports that name and means
the other module: it takes something out of it that the project's file does not define. A package that is required and
asked for by another required one is meant by that one, too. Folders with an `__init__.py` are left alone: their files
have longer names.

## Why it is bad
Python puts the folder of the script first on its search path. Every `import random`, in whatever library, gets the
project's file: "module 'random' has no attribute 'Random'", "cannot import name ... (consider renaming ...)".

## Example
`random.py` beside `train.py`, which says `from random import shuffle`.

## What to do
Rename the file.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator

from packaging.utils import canonicalize_name

from envdoctor.diagnose.examination import Examination, Sources
from envdoctor.diagnose.rule import Rule
from envdoctor.diagnose.source_scan import ImportSite, SourceScan, scan_of
from envdoctor.model.finding import Evidence, Finding, Remedy, Severity
from envdoctor.model.origin import DistributionOrigin, FileOrigin
from envdoctor.model.project import SourceFile
from envdoctor.model.unknown import SubjectKind
from envdoctor.shipped import data_file

# Loaded before a script begins, so that no file can take their place.
_LOADED = frozenset(sys.builtin_module_names) | {
    *("abc", "codecs", "encodings", "genericpath", "io", "ntpath", "os", "posixpath", "site", "stat", "zipimport"),
    *("__main__", "this", "antigravity", "test", "idlelib"),
}
_STARTED = re.compile(r"^if[ \t]+__name__[ \t]*==", re.MULTILINE)


def _find(examination: Examination, sources: Sources) -> Iterator[Finding]:
    scan = scan_of(sources)
    folders = _folders(scan)
    own = canonicalize_name(examination.project.name or "") if examination.project is not None else ""
    required = {module: project for module, project in _required(examination).items() if project != own}
    for path, file in scan.by_path.items():
        folder, _, name = path.rpartition("/")
        module = name.removesuffix(".py")
        if folder not in folders or module in _LOADED or not name.endswith(".py") or module == own.replace("-", "_"):
            continue
        project = required.get(module)
        if project is None and module not in sys.stdlib_module_names:
            continue
        sites = [site for site in _sites(scan, folder, module) if _means_the_other(scan, site, file)]
        others = _asked_by(examination, project) if project is not None and folder == "" else ()
        if sites or (others and any(True for _ in _sites(scan, folder, module))):
            yield _finding(path, module, project, sites, others)


def _folders(scan: SourceScan) -> set[str]:
    """Return the folders that scripts are started in."""
    found = {""} | {path.rpartition("/")[0] for path, file in scan.by_path.items() if _STARTED.search(file.text)}
    aside = ("tests", "test", "docs", "doc", "documentation")
    return {
        folder
        for folder in found
        if f"{folder}/__init__.py".lstrip("/") not in scan.by_path and not set(aside) & set(folder.split("/"))
    }


def _required(examination: Examination) -> dict[str, str]:
    """Return the modules of what is required or installed, each with its project."""
    known: dict[str, list[str]] = data_file("import-names")["modules"]
    resolution, environment = examination.resolution, examination.environment
    names = {item.name for item in (resolution.packages if resolution is not None else ())}
    names |= {item.name for item in (environment.distributions if environment is not None else ())}
    found = {name.replace("-", "_"): str(name) for name in names}
    return found | {module: owner for module, owners in known.items() for owner in owners if owner in names}


def _asked_by(examination: Examination, project: str) -> tuple[str, ...]:
    """Return other packages that ask for a project: when they are imported, they import its module."""
    resolution = examination.resolution
    package = resolution.get(canonicalize_name(project)) if resolution is not None else None
    wanted = package.wanted_by if package is not None else ()
    return tuple(sorted({item.origin.name for item in wanted if isinstance(item.origin, DistributionOrigin)}))


def _sites(scan: SourceScan, folder: str, module: str) -> Iterator[ImportSite]:
    """Yield imports of a module by the files of a folder."""
    for path in scan.by_path:
        if path.rpartition("/")[0] == folder:
            yield from (site for site in scan.top_level_imports(path) if site.module.partition(".")[0] == module)


def _means_the_other(scan: SourceScan, site: ImportSite, file: SourceFile) -> bool:
    """Return whether an import takes something out of a module that the project's file does not have."""
    if "." in site.module or site.path == file.path:
        return True  # A single file has no modules inside, and does not import itself.
    if "import *" in file.text:
        return False
    taken = set(site.names)
    if not taken:
        text = scan.by_path[site.path].text
        taken = set(re.findall(rf"(?<![\w.]){re.escape(site.module)}\.([A-Za-z]\w*)", text))
    return any(not re.search(rf"\b{re.escape(name)}\b", file.text) for name in taken - {"*"})


def _finding(path: str, module: str, project: str | None, sites: list[ImportSite], others: tuple[str, ...]) -> Finding:
    what = f"the module of `{project}`" if project is not None else f"Python's own `{module}`"
    evidence = [Evidence(f"import {site.module}", f"{site.path}:{site.line}") for site in sites[:5]]
    evidence += [Evidence(f"`{name}` asks for `{project}`", name) for name in others[:3]] if not sites else []
    return RULE.finding(
        subject=path,
        message=f"`{path}` takes the place of {what} for every script that is started in its folder",
        evidence=tuple(evidence),
        remedy=Remedy(f"rename `{path}`, and what imports it"),
        location=FileOrigin(path, 1),
    )


RULE = Rule.of(
    __name__,
    __doc__,
    Severity.WARNING,
    _find,
    summary="A file of the project takes the place of a module of Python or of a required package",
    about=SubjectKind.FILE,
)
