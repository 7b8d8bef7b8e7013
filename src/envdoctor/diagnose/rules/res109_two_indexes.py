"""An extra index outbids the default one.

## What it does

Reports packages of the plan that come from an index named by `--extra-index-url` or `--find-links` because it offers a
higher version than the default index, which has a project of that name too. A local build of the same release
(`2.5.1+cu121`) is not reported.

## Why is this bad

pip takes the best version from wherever it comes. Two projects of one name need not be the same project: whoever
registers a private project's name with a higher version takes its place on every machine (dependency confusion).

## Example

```
--extra-index-url https://packages.example/simple
rich
```

The extra index has `rich` 99.0, the default one 15.0.0: 99.0 is installed.

## References

- pip, Dependency confusion: https://pip.pypa.io/en/stable/cli/pip_install/
- uv, Searching across multiple indexes: https://docs.astral.sh/uv/concepts/indexes/
"""

from __future__ import annotations

from collections.abc import Iterator

from packaging.version import Version

from envdoctor.diagnose.examination import Examination, option_of, outbid
from envdoctor.diagnose.rule import Rule
from envdoctor.model.finding import Evidence, Finding, Remedy, Severity
from envdoctor.model.resolution import Resolution


def _find(examination: Examination, resolution: Resolution) -> Iterator[Finding]:
    for project, index, _, default_version in outbid(examination):
        package = next(
            (item for item in (resolution.packages) if item.name == project),
            None,
        )
        if (
            package is None
            or package.file.index != index
            or Version(package.version.public) <= Version(default_version.public)
        ):
            continue
        option = option_of(examination, index)
        yield RULE.finding(
            subject=project,
            message=(
                f"`{project}` {package.version} comes from index `{index}`, which outbids the default index "
                f"({default_version}): they need not be the same project"
            ),
            evidence=(Evidence(package.file.filename, f"index {index}"),),
            remedy=Remedy(
                f"make sure that `{project}` is meant to come from there, and bind it to that index alone; "
                "or pin the default index's version"
            ),
            location=option.origin if option else None,
        )


RULE = Rule.of(__name__, __doc__, Severity.WARNING, _find, needs={"index"})
