"""A module that an import does not find: not installed, not in the version that is there, or hidden by a file."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence

from packaging.utils import canonicalize_name

from envdoctor.diagnose.logs.log_failures import LogFailure
from envdoctor.shipped import data_file

__all__ = ["missing_module"]

_MODULE = re.compile(r"\bNo module named '?([\w.]+)")
_NO_PACKAGE = re.compile(r"No module named '(?!__main__)(\w+)\.[\w.]+'; '\1' is not a package")
_IN_CIRCLE = re.compile(
    r"partially initialized module '(\w+)'.{0,200}\(most likely due to a circular import\)(?: \((.{1,300})\))?$"
)
_TO_BE_RENAMED = re.compile(r"\(consider renaming '(.{1,300}[/\\](\w+)\.py)' (?:since|if) it has the same name as ")
"""What Python says from 3.13 on."""
_RELATIVE = re.compile(r"'__main__' is not a package|attempted relative import with no known parent package")
_OF_AN_INSTALL = re.compile(r"(?:site|dist)-packages|[/\\]lib(?:64)?[/\\]python\d|[/\\]Lib[/\\]\w+\.py$")
"""Where packages and Python's own modules are: a file there hides none."""
_INSTALLED = re.compile(r"[\\/](?:site|dist)-packages[\\/]+(\w+)")
_SHARED = frozenset({"azure", "backports", "google", "mpl_toolkits", "ruamel"})
"""Folders of several distributions: that one of their modules is there tells nothing of the others."""


def missing_module(failure: LogFailure, lines: Sequence[str]) -> tuple[str, str] | None:
    """Return what an import did not find, empty where that is not known, and what helps; None: another failure.

    ``lines``: those of the log from the failure's first to its last.
    """
    if found := _NO_PACKAGE.search(failure.line):
        return _hidden(found[1])
    if found := _TO_BE_RENAMED.search(failure.line) or _IN_CIRCLE.search(failure.line):
        path, name = (found[1], found[2]) if found.re is _TO_BE_RENAMED else (found[2] or "", found[1])
        its_own = re.search(rf"(?:^|[/\\]){name}\.py$", path) and not _OF_AN_INSTALL.search(path)
        if _is_known(name) and (its_own or not path):
            return _hidden(name) if path else _half_loaded(name)
        return None
    if _RELATIVE.search(failure.line):
        return "", "start it as a part of its package, from the folder above that: `python -m PACKAGE.MODULE`"
    if found := _MODULE.search(failure.line):
        asked_by = next((named[1] for line in reversed(lines) if (named := _INSTALLED.search(line))), "")
        return _not_there(found[1].rstrip("."), asked_by)
    return None


def _hidden(name: str) -> tuple[str, str]:
    """Return what is told of a package that a file hides; it is there, so nothing is to be installed."""
    helps = (
        f"rename the file `{name}.py` of the program's own folder, and delete its `__pycache__`; where there "
        f"is none, {_which(name)} tells which file is taken"
    )
    return f"a single file stands in the place of the package `{name}`, and is found before it", helps


def _half_loaded(name: str) -> tuple[str, str]:
    helps = (
        f"see which file is taken ({_which(name)}, in the program's folder): where it is the program's own "
        f"`{name}.py`, rename it; where it is the package's, start a new session, whose first error tells why its "
        "loading breaks off"
    )
    return f"`{name}` is used before it is loaded whole: a file hides it, or its own loading broke off", helps


def _which(name: str) -> str:
    return f'`python -c "import importlib.util; print(importlib.util.find_spec({name!r}).origin)"`'


def _not_there(module: str, asked_by: str) -> tuple[str, str]:
    name = module.partition(".")[0]
    brought_by = _brings(module)
    if brought_by and module != name and name not in _SHARED:
        # Python names the package itself where that is what it does not find.
        helps = (
            f"nothing is to be installed under that name: take a version of `{brought_by}` that has the module, or a "
            "release of what imports it that goes with the version that is there; where the program has a folder of "
            "that name itself, start it from there"
        )
        if asked_by == name:
            helps = (
                f"it is a part of `{brought_by}` itself, whose files are of two versions or not all there, or are for "
                "another Python: uninstall it until none is left, and install it again; where a source tree of that "
                "name lies beside the program, start from elsewhere"
            )
        return f"`{name}` is there, and has no module `{module}`", helps
    way = f"install `{brought_by}`" if brought_by else f"see what brings the module `{module}`, and install it"
    helps = (
        f"{way} into the environment that the program runs in, or start the program from its own folder where the "
        "module is a part of it; `envdoctor check --env DIR` looks into it"
    )
    asked = module if name in _SHARED else name
    return f"the module `{asked}` is not there, which `{brought_by}` brings" if brought_by else "", helps


def _brings(module: str) -> str:
    """Return the usual distribution that gives a module; empty where that is not known."""
    name, _, rest = module.partition(".")
    known = data_file("import-names")["modules"].get(name, ())
    if name in _SHARED and rest:
        # `google.cloud.storage` is in google-cloud-storage, `google.protobuf` in protobuf.
        dotted = canonicalize_name(module)
        known = [one for one in known if f"{dotted}-".startswith(f"{one}-") or rest.partition(".")[0] == one]
    return next(iter(known), "")


def _is_known(name: str) -> bool:
    """Return whether it is a package's name or one of Python's own; others are modules that the program has itself."""
    return name in sys.stdlib_module_names or name in data_file("import-names")["modules"]
