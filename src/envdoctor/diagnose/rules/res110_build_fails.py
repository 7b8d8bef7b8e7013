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
there: `pip install --no-build-isolation flash-attn`, once torch is installed, is the way; where the project, or a
setting of pip or uv, says so itself, only a torch that its script installs later is reported. `numpy` 1.24.0 is built
with setuptools 59.2.0, which stops on Python 3.12.

## References

- pip, Build system interface: https://pip.pypa.io/en/stable/reference/build-system/
- setuptools, History: 82.0.0 removed `pkg_resources`
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any

from packaging.requirements import InvalidRequirement
from packaging.requirements import Requirement as ParsedRequirement
from packaging.utils import canonicalize_name

from envdoctor.diagnose.examination import Examination, chain_to
from envdoctor.diagnose.rule import Rule
from envdoctor.diagnose.source_outline import parsed
from envdoctor.diagnose.wheel_facts import shipped_wheel_facts
from envdoctor.model.candidate import DistributionFile, FileKind
from envdoctor.model.dataclass import dataclass
from envdoctor.model.finding import Evidence, Finding, Remedy, Severity
from envdoctor.model.project import BUILD_ISOLATION, NO_BUILD_ISOLATION, FileOption, Project
from envdoctor.model.requirement import Requirement, RequirementKind, may_hold
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
_CONDA = {"torch": "pytorch"}
_BUILDERS = frozenset({
    *("setuptools", "wheel", "pip", "packaging", "cython", "ninja", "cmake", "pybind11", "nanobind", "psutil", "cffi"),
    *("setuptools-scm", "setuptools-rust", "scikit-build", "versioneer", "toml", "tomli", "requests"),
})  # fmt: skip
"""Build requirements that bring neither; any other one may, as ``oldest-supported-numpy`` brings numpy."""


@dataclass(frozen=True, slots=True)
class _Sdist:
    script: SetupScript
    requires: tuple[ParsedRequirement, ...]
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


def _build_requires(text: str) -> tuple[ParsedRequirement, ...] | None:
    """Return the build requirements; None where another backend than setuptools builds, or nothing can be read."""
    try:
        table: dict[str, Any] = read_toml(text).get("build-system", {})
        lines = [ParsedRequirement(line) for line in table.get("requires", ("setuptools", "wheel"))]
    except (TomlError, InvalidRequirement, AttributeError, TypeError):
        return None
    backend = str(table.get("build-backend", "setuptools.build_meta"))
    return tuple(lines) if backend.startswith("setuptools") else None


def _caps_setuptools(requires: Iterable[ParsedRequirement]) -> bool:
    """Return whether a build requirement keeps setuptools below the release that dropped ``pkg_resources``."""
    own = [item for item in requires if canonicalize_name(item.name) == "setuptools"]
    return any(item.url or not item.specifier.contains(_NO_PKG_RESOURCES, prereleases=True) for item in own)


def _too_old_setuptools(requires: Iterable[ParsedRequirement], target: Target) -> ParsedRequirement | None:
    """Return the build requirement that admits no setuptools which runs on the target's Python."""
    if target.python < (3, 12):
        return None
    environment = target.marker_environment()
    own = (item for item in requires if canonicalize_name(item.name) == "setuptools" and not item.url)
    held = (item for item in own if may_hold(item.marker, environment))
    return next((item for item in held if not any(map(item.specifier.contains, _ON_312))), None)


def _troubles(
    package: ResolvedPackage, sdist: _Sdist, examination: Examination, target: Target
) -> Iterator[tuple[Severity, str, str]]:
    """Yield how bad it is, what stops the build, and the way around."""
    name, python, imports = package.name, target.python, sdist.script.imports()
    shared = _shares_the_environment(examination, package)
    # Without isolation it is built with the setuptools that is there, of which nothing is known.
    old = _too_old_setuptools(sdist.requires, target) if shared is None else None
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
    if "pkg_resources" in imports and shared is None and not _caps_setuptools(sdist.requires):
        words = f"its setup.py imports `pkg_resources` (line {imports['pkg_resources']}), which setuptools 82 removed"
        way = (
            "take a version that has a wheel or does without, or build it with an older setuptools: a file that says "
            f"`setuptools<82`, for `pip install --build-constraint FILE {name}` or `uv pip install --build-constraints`"
        )
        yield Severity.ERROR, words, way
    if shared is None and not {canonicalize_name(item.name) for item in sdist.requires} <= _BUILDERS:
        return
    for module in _ISOLATED:
        if module not in imports or module in sdist.own:
            continue
        found = f"its setup.py imports `{module}` (line {imports[module]}), which"
        way = f"install {module} first and then `pip install --no-build-isolation {name}`"
        later = _installed_too_late(examination, package, module) if shared is not None else None
        if shared is None:
            words = "its build requirements do not bring: an isolated build does not see the one that is installed"
            also = f'with uv, `no-build-isolation-package = ["{name}"]` in `[tool.uv]`'
            yield Severity.WARNING, f"{found} {words}", f"{way}; {also}{_isolated_all_the_same(examination, package)}"
        elif later is not None:
            yield Severity.WARNING, f"{found} is not there yet: `{later}` ({later.origin}) installs it", way


def _lines_to(examination: Examination, name: str) -> list[Requirement]:
    """Return the lines of people that lead to a package, those set aside among them."""
    packages = {item.name: item for item in examination.resolution.packages} if examination.resolution else {}
    queue, seen, found = [name], {name}, list[Requirement]()
    while queue:
        package = packages.get(canonicalize_name(queue.pop()))
        for wanted in (*package.wanted_by, *package.set_aside) if package else ():
            if wanted.asked_by is None:
                found.append(wanted)
            elif wanted.asked_by not in seen:
                seen.add(wanted.asked_by)
                queue.append(wanted.asked_by)
    return found


def _step_of(examination: Examination, package: ResolvedPackage) -> int | None:
    """Return the first command of a script that has the package built, None outside scripts."""
    return min((line.step or 0 for line in _lines_to(examination, package.name)), default=0) or None


def _shares_the_environment(examination: Examination, package: ResolvedPackage) -> FileOption | None:
    """Return the option by which the project itself has a package built without isolation."""
    options, step = examination.project.options if examination.project else (), _step_of(examination, package)
    for option in options:
        named = not option.value or canonicalize_name(option.value) == package.name
        if option.name == NO_BUILD_ISOLATION and named and option.step in (None, step):
            return option
    return None


def _isolated_all_the_same(examination: Examination, package: ResolvedPackage) -> str:
    """Return what pip makes of a ``no-build-isolation`` that is set to ``1`` or ``yes``; empty where none is."""
    for option in examination.project.options if examination.project else ():
        if option.name == BUILD_ISOLATION and option.step in (None, _step_of(examination, package)):
            set_to = f"pip's `no-build-isolation` is set to `{option.value}` ({option.origin})"
            return f"; {set_to}, which leaves isolation on: `0` switches it off"
    return ""


def _added(examination: Examination, package: ResolvedPackage) -> Iterator[ParsedRequirement]:
    """Yield what the project adds to a package's build requirements."""
    for option in examination.project.options if examination.project else ():
        name, _, wanted = option.value.partition(" ")
        if option.name == "extra-build-dependencies" and canonicalize_name(name) == package.name:
            with suppress(InvalidRequirement):
                yield ParsedRequirement(wanted)


def _installed_too_late(examination: Examination, package: ResolvedPackage, module: str) -> Requirement | None:
    """Return the line of a script that installs the module no earlier than the package; None: it may be there."""
    step, project = _step_of(examination, package), examination.project
    if step is None or project is None or _starts_from_torch(project, step):
        return None
    every = [item for item in (*project.requirements, *project.superseded) if item.kind is RequirementKind.REQUIRE]
    lines = [item for item in every if item.name in (module, _CONDA.get(module))]
    earlier = any(not item.step or item.step < step for item in (*lines, *_lines_to(examination, module)))
    return None if earlier else next(iter(lines), None)


def _starts_from_torch(project: Project, step: int) -> bool:
    return any(command.torch_there for command in project.commands if command.step == step)


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
        if sdist is not None:
            sdist = replace(sdist, requires=(*sdist.requires, *_added(examination, package)))
        chain = chain_to(resolution, package.name)
        for severity, words, way in _troubles(package, sdist, examination, target) if sdist is not None else ():
            yield RULE.finding(
                subject=package.name,
                message=f"the build of `{package.name}` {package.version} stops: {words}; wanted by {chain}",
                severity=severity,
                evidence=(Evidence(f"setup.py in {package.file.filename}", f"index {package.file.index}"),),
                remedy=Remedy(way),
                location=chain.location,
            )


RULE = Rule.of(__name__, __doc__, Severity.ERROR, _find, ranks=Severity.WARNING)
