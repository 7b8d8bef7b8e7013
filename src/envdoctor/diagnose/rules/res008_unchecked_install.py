"""A script goes on after pip has failed.

## What it does

Reports install scripts that go on after `pip` has failed, above all where `--quiet` hides the failure.

## Why is this bad

The script ends as if all were well, with no torch or with half of the packages; the error shows much later.

## Example

```
pip install torch==2.3.0 --index-url ... --quiet
pip install onnxruntime --quiet
```

In a batch file add `|| exit /b 1`; in a shell script `set -e`.

## References

- GNU Bash manual, The Set Builtin: https://www.gnu.org/software/bash/manual/
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from envdoctor.diagnose.rule import Rule
from envdoctor.model.finding import Evidence, Finding, Remedy, Severity
from envdoctor.model.project import InstallCommand, Project
from envdoctor.model.unknown import SubjectKind


def _find(project: Project) -> Iterator[Finding]:
    by_file: dict[str, dict[InstallCommand, None]] = {}
    for command in project.commands:
        if command.verb == "install" and not command.checked:
            # What a function or another script does counts once, however often it is called.
            by_file.setdefault(command.origin.path, {})[replace(command, step=0)] = None
    for path, found in by_file.items():
        commands = list(found)
        quiet = [item for item in commands if item.quiet]
        first = (quiet or commands)[0]
        many = len(commands) > 1
        tool = "`pip install`" if all(item.tool in ("pip", "uv") for item in commands) else "install"
        what = f"{len(commands)} {tool} commands succeed" if many else f"its {tool} command succeeds"
        how = (f"{len(quiet)} of them quiet, " if many else "quiet, ") if quiet else ""
        lines = f"line{'s' if many else ''} {', '.join(str(item.origin.line) for item in commands)}"
        yield RULE.finding(
            subject=path,
            message=(f"`{path}` does not check whether {what} ({how}{lines}), so it goes on without the package"),
            severity=Severity.WARNING if quiet else Severity.INFO,
            evidence=tuple(Evidence(item.said, str(item.origin)) for item in commands),
            remedy=Remedy("stop at the first failure: `|| exit /b 1` in a batch file, `set -e` in a shell script"),
            location=first.origin,
        )


RULE = Rule.of(__name__, __doc__, Severity.WARNING, _find, about=SubjectKind.FILE)
