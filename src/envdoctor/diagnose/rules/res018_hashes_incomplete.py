"""Some requirements have hashes and others have none.

## What it does

Looks at the files and commands in which a requirement has a `--hash`, or that say `--require-hashes`, and reports what
has none: requirements from version control, which can have none, those without a hash or an exact version, and
packages that only other packages ask for.

## Why is this bad

One `--hash` makes `pip` check all of them. It refuses the whole file: "Hashes are required in --require-hashes mode".

## Example

```
idna==3.7 --hash=sha256:82fee1fc78...
vocos @ git+https://github.com/gemelo-ai/vocos.git
```

## References

- pip, Secure installs: https://pip.pypa.io/en/stable/topics/secure-installs/
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from envdoctor.diagnose.examination import Examination
from envdoctor.diagnose.rule import Rule
from envdoctor.model.finding import Evidence, Finding, Remedy, Severity
from envdoctor.model.origin import FileOrigin
from envdoctor.model.project import Project
from envdoctor.model.requirement import Requirement, RequirementKind, may_hold

_VCS = re.compile(r"^(?:git|hg|svn|bzr)\+")
_HASH = re.compile(r"#(?:[^#]*&)?(?:sha256|sha384|sha512)=", re.I)
_MOST = 6


def _root(origin: FileOrigin) -> str:
    while origin.included_from is not None:
        origin = origin.included_from
    return origin.path


def _lines(examination: Examination) -> dict[tuple[str, int | None], list[Requirement]]:
    """Return what each pip call would read: the lines of a file with those that it includes, or of one step."""
    found: dict[tuple[str, int | None], list[Requirement]] = {}
    environment = examination.target.marker_environment() if examination.target else None
    for line in examination.project.requirements if examination.project else ():
        if examination.project and examination.project.lock_of(line) is not None:
            continue
        counts = line.kind is RequirementKind.REQUIRE and (environment is None or may_hold(line.marker, environment))
        if counts and isinstance(line.origin, FileOrigin):
            found.setdefault((_root(line.origin), line.step), []).append(line)
    return found


def _why(line: Requirement) -> str:
    """Return why a line cannot be checked, empty where it can."""
    if line.url and _VCS.match(line.url):
        return "hashes of version control repositories cannot be checked"
    if line.editable:
        return "an editable install has no hash"
    if line.hashes or (line.url and _HASH.search(line.url)):
        pinned = any(item.operator in ("==", "===") and "*" not in item.version for item in line.specifier)
        return "" if pinned or line.url else "its version is not pinned with `==`"
    return "it has no `--hash`"


def _find(examination: Examination, project: Project) -> Iterator[Finding]:
    options = project.options
    groups = _lines(examination)
    for (path, step), lines in groups.items():
        demanded = any(item.name == "require-hashes" and _root(item.origin) == path for item in options)
        if not demanded and not any(line.hashes for line in lines):
            continue
        refused = [(line, why) for line in lines if (why := _why(line))]
        evidence = [Evidence(f"{line}: {why}", str(line.origin)) for line, why in refused]
        names = [f"`{line.name}`" for line, _ in refused]
        if not refused and len(groups) == 1:
            evidence, names = _only_brought(examination, lines)
        if names:
            yield _finding(path, step, refused[0][0] if refused else lines[0], names, evidence)


def _only_brought(examination: Examination, lines: list[Requirement]) -> tuple[list[Evidence], list[str]]:
    """Return the packages of the plan that no line names: pip wants their hashes too."""
    written = {line.name for line in lines}
    packages = examination.resolution.packages if examination.resolution else ()
    if all(line.no_deps for line in lines):
        return [], []
    missing = [package for package in packages if package.name not in written]
    return (
        [Evidence(f"{item.name} {item.version} is asked for by packages alone") for item in missing],
        [f"`{item.name}`" for item in missing],
    )


def _finding(path: str, step: int | None, line: Requirement, names: list[str], evidence: list[Evidence]) -> Finding:
    shown = ", ".join(names[:_MOST]) + (f" and {len(names) - _MOST} more" if len(names) > _MOST else "")
    command = f" in step {step}" if step is not None else ""
    have = "has" if len(names) == 1 else "have"
    return RULE.finding(
        subject=names[0].strip("`"),
        message=f"`{path}`{command} gives hashes, and pip then refuses what has none to check: {shown} {have} none",
        evidence=tuple(evidence[:20]),
        remedy=Remedy("give every requirement its hashes and exact version (`pip-compile --generate-hashes`), or none"),
        location=line.origin if isinstance(line.origin, FileOrigin) else None,
    )


RULE = Rule.of(__name__, __doc__, Severity.ERROR, _find)
