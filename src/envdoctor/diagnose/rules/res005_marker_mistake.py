"""A marker compares a variable with a value that it never has.

## What it does

Reports an environment marker that compares a variable with a value that it never has, and says which was meant.

## Why is this bad

The condition is always true or always false, so the requirement applies everywhere or nowhere, without an error.

## Example

`WeTextProcessing; platform_machine != "Darwin"` is wanted on macOS too: `platform_machine` is `arm64` there;
`platform_system` was meant. `sys_platform == "win64"` never holds: it is `win32` on 64-bit Windows too.

## References

- PyPA, Environment markers: https://packaging.python.org/specifications/dependency-specifiers/#environment-markers
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from packaging.version import Version

from envdoctor.diagnose.examination import line_of
from envdoctor.diagnose.rule import Rule
from envdoctor.model.finding import Evidence, Finding, Remedy, Severity
from envdoctor.model.origin import DistributionOrigin
from envdoctor.model.project import Project

_VALUES = {
    "platform_system": ("Linux", "Windows", "Darwin", "Java", "FreeBSD"),
    "sys_platform": ("linux", "win32", "darwin", "cygwin", "emscripten", "wasi", "aix"),
    "os_name": ("posix", "nt", "java"),
    "platform_machine": ("x86_64", "AMD64", "arm64", "ARM64", "aarch64", "i386", "i686", "x86", "armv7l", "ppc64le"),
    "platform_python_implementation": ("CPython", "PyPy", "Jython", "IronPython"),
    "implementation_name": ("cpython", "pypy"),
}
_ALIASES = {
    "platform_system": {"macos": "Darwin", "osx": "Darwin", "win32": "Windows", "win64": "Windows", "mac": "Darwin"},
    "sys_platform": {
        "win64": "win32",
        "windows": "win32",
        "win": "win32",
        "macos": "darwin",
        "osx": "darwin",
        "mac": "darwin",
        "linux64": "linux",
    },
    "os_name": {"windows": "nt", "win32": "nt", "linux": "posix", "darwin": "posix", "macos": "posix"},
    "platform_machine": {"x64": "AMD64", "win_amd64": "AMD64"},
}
_COMPARISON = re.compile(r'(?<!\w)(\w+)\s*(===|==|!=|<=|>=|~=|<|>|not in|in)\s*"([^"]*)"|"([^"]*)"\s*(==|!=)\s*(\w+)')


def _meant(variable: str, value: str) -> str | None:
    """Return what was meant, or None where the comparison may be right."""
    known = _VALUES.get(variable)
    if known is None or value in known:
        return None
    same = next((item for item in known if item.casefold() == value.casefold()), None)
    if same:
        return f'`{variable}` is "{same}", written exactly so'
    for other, values in _VALUES.items():
        if other != variable and value in values:
            return f"`{other}` was meant"
    alias = _ALIASES.get(variable, {}).get(value.casefold())
    if alias:
        return f'`{variable}` is "{alias}" there'
    folded = {item.casefold(): (other, item) for other, values in _VALUES.items() for item in values}
    if value.casefold() in folded:
        other, item = folded[value.casefold()]
        return f'`{other}`, which is "{item}", was meant'
    return None


def _version_mistake(variable: str, operator: str, value: str) -> str | None:
    if variable not in ("python_version", "python_full_version") or operator in ("in", "not in"):
        return None
    try:
        version = Version(value.removesuffix(".*"))
    except ValueError:
        return f'"{value}" is not a version, so the texts are compared letter by letter'
    if variable == "python_version" and operator == "==" and len(version.release) > 2 and not value.endswith("*"):
        return "`python_version` has no patch number; `python_full_version` was meant"
    return None


def _mistakes(marker: str) -> Iterator[tuple[str, str]]:
    for match in _COMPARISON.finditer(marker):
        variable, operator, value = match.group(1, 2, 3) if match.group(1) else match.group(6, 5, 4)
        if variable == "extra":
            continue
        reason = _version_mistake(variable, operator, value)
        if reason is None and operator in ("==", "!=", "==="):
            reason = _meant(variable, value)
        if reason:
            yield match.group(0), reason


def _find(project: Project) -> Iterator[Finding]:
    for requirement in project.requirements:
        if requirement.marker is None or isinstance(requirement.origin, DistributionOrigin):
            continue
        for comparison, reason in _mistakes(str(requirement.marker)):
            never = "always true" if "!=" in comparison else "never true"
            yield RULE.finding(
                subject=requirement.name,
                message=f"the marker `{comparison}` of `{requirement.name}` is {never}: {reason}",
                evidence=(Evidence(str(requirement), str(requirement.origin)),),
                remedy=Remedy("correct the marker"),
                location=line_of(requirement),
            )


RULE = Rule.of(__name__, __doc__, Severity.WARNING, _find)
