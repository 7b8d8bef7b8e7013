"""The build of a source distribution stops before it begins.

## What it does

Reads the `setup.py` and the `pyproject.toml` of each source distribution in the plan, and runs nothing: what `setup.py`
imports whatever happens (not in `try`, not in a function), which Pythons it refuses, and what the build requirements
bring into the isolated environment in which it runs.

## Why is this bad

pip and uv build in an environment of its own, which holds the build requirements and nothing else: setuptools of today,
which has no `pkg_resources` any more, and no torch, although torch is installed. The installation of everything else
stops, too. Kernels for CUDA on macOS are left to RES102, which says to keep them off.

## Example

`mmcv` 2.2.0 imports `pkg_resources` in its setup.py and declares no build requirements. `flash-attn` imports torch
there: `pip install --no-build-isolation flash-attn`, once torch is installed, is the way. `numpy` 1.24.0 is built with
setuptools 59.2.0, which stops on Python 3.12.

## References

- pip, Build system interface: https://pip.pypa.io/en/stable/reference/build-system/
- setuptools, History: 82.0.0 removed `pkg_resources`
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from envdoctor.diagnose.examination import Examination, chain_to
from envdoctor.diagnose.rule import Rule
from envdoctor.diagnose.source_outline import parsed
from envdoctor.diagnose.wheel_facts import shipped_wheel_facts
from envdoctor.model.candidate import DistributionFile, FileKind
from envdoctor.model.dataclass import dataclass
from envdoctor.model.finding import Evidence, Finding, Remedy, Severity
from envdoctor.model.requirement import may_hold
from envdoctor.model.resolution import Resolution, ResolvedPackage
from envdoctor.model.target import Target
from envdoctor.ports import ArchiveReader, IndexUnavailable, MetadataUnavailable
from envdoctor.toml_tables import TomlError, read_toml

__all__ = ["SetupScript", "parse_setup_script"]

_COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}  # fmt: skip
_NEWEST = re.compile(r"^max_python_version\s*=\s*['\"](\d+)\.(\d+)", re.MULTILINE)
_GUARD = re.compile(r"^_guard_py_ver\(\)", re.MULTILINE)


class SetupScript:
    """One ``setup.py``."""

    def __init__(self, text: str, tree: ast.Module) -> None:
        self._text = text
        self._tree = tree

    def imports(self) -> dict[str, int]:
        """Return the top-level modules that it imports whatever happens, each with its line: none in ``try``."""
        found: dict[str, int] = {}
        for statement in self._tree.body:
            if isinstance(statement, ast.Import):
                for name in statement.names:
                    found.setdefault(name.name.partition(".")[0], statement.lineno)
            elif isinstance(statement, ast.ImportFrom) and not statement.level and statement.module:
                found.setdefault(statement.module.partition(".")[0], statement.lineno)
        return found

    def refuses(self, python: tuple[int, int]) -> int | None:
        """Return the line at which it stops on a Python, None where it does not, as far as its text shows."""
        newest = _NEWEST.search(self._text)
        if newest is not None and _GUARD.search(self._text) and python >= (int(newest[1]), int(newest[2])):
            return self._text.count("\n", 0, newest.start()) + 1
        for statement in self._tree.body:
            if isinstance(statement, ast.If) and _stops(statement.body) and _holds(statement.test, python):
                return statement.lineno
        return None


def parse_setup_script(text: str) -> SetupScript | None:
    """Return a script to ask, None for one that does not parse: of Python 2, mostly."""
    tree = parsed(text)
    return SetupScript(text, tree) if tree is not None else None


def _stops(body: list[ast.stmt]) -> bool:
    return any(
        isinstance(item, ast.Raise)
        or (isinstance(item, ast.Expr) and isinstance(item.value, ast.Call) and ast.unparse(item.value.func) in _EXITS)
        for item in body
    )


_EXITS = ("sys.exit", "exit", "quit")


def _holds(test: ast.expr, python: tuple[int, int]) -> bool:
    """Return whether a test of ``sys.version_info`` alone is known to hold on a Python."""
    if isinstance(test, ast.BoolOp):
        answers = [_holds(value, python) for value in test.values]
        return all(answers) if isinstance(test.op, ast.And) else any(answers)
    if not isinstance(test, ast.Compare) or len(test.ops) != 1:
        return False
    compare, left = _COMPARE.get(type(test.ops[0])), _version(test.left, python)
    right = tuple(_numbers(test.comparators[0]))
    if compare is None or left is None or not right:
        return False
    # The patch release is not known: two numbers are compared, and of a longer bound nothing is said.
    return len(right) <= len(left) and compare(left[: len(right)], right)


def _version(node: ast.expr, python: tuple[int, int]) -> tuple[int, ...] | None:
    said = ast.unparse(node)
    if said in ("sys.version_info", "sys.version_info[:2]"):
        return python
    if said in ("sys.version_info[0]", "sys.version_info.major"):
        return python[:1]
    return None


def _numbers(node: ast.expr) -> Iterator[int]:
    for item in node.elts if isinstance(node, ast.Tuple) else [node]:
        if isinstance(item, ast.Constant) and isinstance(item.value, int):
            yield item.value


_NO_PKG_RESOURCES = "82.0"
_ON_312 = ("66.1.0", "66.1.1", *(f"{major}.0.0" for major in range(67, 90)))
"""Releases of setuptools that run on Python 3.12: those before 66.1 import what that Python has no more."""
_ISOLATED = ("torch", "numpy")
"""What such builds import most; other modules may come along with the build requirements that there are."""
_BUILDERS = frozenset({
    *("setuptools", "wheel", "pip", "packaging", "cython", "ninja", "cmake", "pybind11", "nanobind", "psutil", "cffi"),
    *("setuptools-scm", "setuptools-rust", "scikit-build", "versioneer", "toml", "tomli", "requests"),
})  # fmt: skip
"""Build requirements that bring neither; any other one may, as ``oldest-supported-numpy`` brings numpy."""


@dataclass(frozen=True, slots=True)
class _Sdist:
    script: SetupScript
    requires: tuple[Requirement, ...]
    """Build requirements; setuptools and wheel where none are declared, as pip has it."""
    own: frozenset[str]
    """The modules beside ``setup.py``: numpy's own setup.py imports numpy, from its folder."""


def _opened(archives: ArchiveReader, file: DistributionFile) -> _Sdist | None:
    try:
        names = archives.names(file)
        path = min((name for name in names if name.endswith("/setup.py")), key=lambda name: name.count("/"), default="")
        content = archives.read(file, path) if path.count("/") == 1 else None
        project = archives.read(file, f"{path.partition('/')[0]}/pyproject.toml") if content else None
    except (MetadataUnavailable, IndexUnavailable):
        return None
    script = parse_setup_script(content.decode("utf-8", "replace")) if content else None
    requires = _build_requires((project or b"").decode("utf-8", "replace"))
    if script is None or requires is None:
        return None
    return _Sdist(script, requires, frozenset(name.split("/")[1].removesuffix(".py") for name in names if "/" in name))


def _build_requires(text: str) -> tuple[Requirement, ...] | None:
    """Return the build requirements; None where another backend than setuptools builds, or nothing can be read."""
    try:
        table: dict[str, Any] = read_toml(text).get("build-system", {})
        lines = [Requirement(line) for line in table.get("requires", ("setuptools", "wheel"))]
    except (TomlError, InvalidRequirement, AttributeError, TypeError):
        return None
    backend = str(table.get("build-backend", "setuptools.build_meta"))
    return tuple(lines) if backend.startswith("setuptools") else None


def _caps_setuptools(requires: Iterable[Requirement]) -> bool:
    """Return whether a build requirement keeps setuptools below the release that dropped ``pkg_resources``."""
    own = [item for item in requires if canonicalize_name(item.name) == "setuptools"]
    return any(item.url or not item.specifier.contains(_NO_PKG_RESOURCES, prereleases=True) for item in own)


def _too_old_setuptools(requires: Iterable[Requirement], target: Target) -> Requirement | None:
    """Return the build requirement that admits no setuptools which runs on the target's Python."""
    if target.python < (3, 12):
        return None
    environment = target.marker_environment()
    own = (item for item in requires if canonicalize_name(item.name) == "setuptools" and not item.url)
    held = (item for item in own if may_hold(item.marker, environment))
    return next((item for item in held if not any(map(item.specifier.contains, _ON_312))), None)


def _troubles(package: ResolvedPackage, sdist: _Sdist, target: Target) -> Iterator[tuple[Severity, str, str]]:
    """Yield how bad it is, what stops the build, and the way around."""
    name, python, imports = package.name, target.python, sdist.script.imports()
    old = _too_old_setuptools(sdist.requires, target)
    if old is not None:
        words = f"it is built with `setuptools{old.specifier}`, which does not run on Python {target.python_version}"
        yield (
            Severity.ERROR,
            words,
            "take a version that has a wheel for this Python, or a Python for which this one has",
        )
        return
    line = sdist.script.refuses(python)
    if line is not None:
        words = f"its setup.py refuses Python {python[0]}.{python[1]} (line {line})"
        yield Severity.ERROR, words, "take a Python that it admits, or a version that has a wheel for this one"
    if "pkg_resources" in imports and not _caps_setuptools(sdist.requires):
        words = f"its setup.py imports `pkg_resources` (line {imports['pkg_resources']}), which setuptools 82 removed"
        way = (
            "take a version that has a wheel or does without, or build it with an older setuptools: a file that says "
            f"`setuptools<82`, for `pip install --build-constraint FILE {name}` or `uv pip install --build-constraints`"
        )
        yield Severity.ERROR, words, way
    if not {canonicalize_name(item.name) for item in sdist.requires} <= _BUILDERS:
        return
    for module in _ISOLATED:
        if module in imports and module not in sdist.own:
            words = (
                f"its setup.py imports `{module}` (line {imports[module]}), which its build requirements do not bring: "
                "an isolated build does not see the one that is installed"
            )
            way = (
                f"install {module} first and then `pip install --no-build-isolation {name}`; with uv, "
                f'`no-build-isolation-package = ["{name}"]` in `[tool.uv]`'
            )
            yield Severity.WARNING, words, way


def _find(examination: Examination, resolution: Resolution, target: Target) -> Iterator[Finding]:
    archives = examination.archives
    if archives is None:
        return
    for package in resolution.packages:
        if package.file.kind is not FileKind.SDIST or package.file.stand_in:
            continue
        need = shipped_wheel_facts().build_need(package.name, package.version, target)
        if need is not None and need.is_in_vain(target):
            continue  # RES102 says to keep it off: no way to build it is of use.
        sdist = _opened(archives, package.file)
        chain = chain_to(resolution, package.name)
        for severity, words, way in _troubles(package, sdist, target) if sdist is not None else ():
            yield RULE.finding(
                subject=package.name,
                message=f"the build of `{package.name}` {package.version} stops: {words}; wanted by {chain}",
                severity=severity,
                evidence=(Evidence(f"setup.py in {package.file.filename}", f"index {package.file.index}"),),
                remedy=Remedy(way),
                location=chain.location,
            )


RULE = Rule.of(__name__, __doc__, Severity.ERROR, _find, ranks=Severity.WARNING)
