"""The file that is found in the place of a package, as the error of a failed import tells it, and what to do then."""

from __future__ import annotations

import re
import sys

from envdoctor.diagnose.logs.log_failures import LogFailure
from envdoctor.shipped import data_file

__all__ = ["hidden_package", "remedy_of_hidden", "told_of_hidden"]

_NO_PACKAGE = re.compile(r"No module named '(?!__main__)(\w+)\.[\w.]+'; '\1' is not a package")
_IN_CIRCLE = re.compile(
    r"partially initialized module '(\w+)'.{0,200}\(most likely due to a circular import\)(?: \((.{1,300})\))?$"
)
_TO_BE_RENAMED = re.compile(r"\(consider renaming '(.{1,300}[/\\](\w+)\.py)' (?:since|if) it has the same name as ")
"""What Python says from 3.13 on."""
_OF_AN_INSTALL = re.compile(r"(?:site|dist)-packages|[/\\]lib(?:64)?[/\\]python\d|[/\\]Lib[/\\]\w+\.py$")
"""Where packages and Python's own modules are: a file there hides none."""


def hidden_package(failure: LogFailure) -> tuple[str, bool] | None:
    """Return the package in whose place a file of the program is found, and whether it is sure; None: nothing tells."""
    if found := _NO_PACKAGE.search(failure.line):
        return found[1], True
    if found := _TO_BE_RENAMED.search(failure.line):
        name, path = found[2], found[1]
    elif found := _IN_CIRCLE.search(failure.line):
        name, path = found[1], found[2] or ""
    else:
        return None
    its_own = re.search(rf"(?:^|[/\\]){name}\.py$", path) and not _OF_AN_INSTALL.search(path)
    return (name, bool(path)) if _is_known(name) and (its_own or not path) else None


def told_of_hidden(name: str, *, sure: bool) -> str:
    """Return what the log shows."""
    if sure:
        return f"a single file stands in the place of the package `{name}`, and is found before it"
    return f"`{name}` is used before it is loaded whole: a file hides it, or its own loading broke off"


def remedy_of_hidden(name: str, *, sure: bool) -> str:
    """Return what helps; a package that is hidden is there, so nothing is to be installed."""
    which = f'`python -c "import importlib.util; print(importlib.util.find_spec({name!r}).origin)"`'
    if sure:
        return (
            f"rename the file `{name}.py` of the program's own folder, and delete its `__pycache__`; where there "
            f"is none, {which} tells which file is taken"
        )
    return (
        f"see which file is taken ({which}, in the program's folder): where it is the program's own `{name}.py`, "
        "rename it; where it is the package's, start a new session, whose first error tells why its loading breaks off"
    )


def _is_known(name: str) -> bool:
    """Return whether it is a package's name or one of Python's own; others are modules that the program has itself."""
    return name in sys.stdlib_module_names or name in data_file("import-names")["modules"]
