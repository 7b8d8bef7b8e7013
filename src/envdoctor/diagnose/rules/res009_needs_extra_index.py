"""A requirement that the default index cannot meet.

## What it does

Reports requirements that only an extra index can meet: those with a local version label such as `+cu118`.

## Why is this bad

The default index carries no local versions. Without the index the line cannot be met; with an index option in the
middle of a file, it holds for every package, and another project of the same name may come from there.

## Example

```
--extra-index-url https://download.pytorch.org/whl/cu118
torch==2.0.1+cu118
```

## References

- PyPA, Local version identifiers: https://packaging.python.org/specifications/version-specifiers/
"""

from __future__ import annotations

from collections.abc import Iterator

from envdoctor.diagnose.examination import Examination, line_of, silent
from envdoctor.diagnose.rule import Rule
from envdoctor.model.finding import Evidence, Finding, Remedy, Severity
from envdoctor.model.index_url import mirror_variable
from envdoctor.model.project import IndexOptionKind, Project
from envdoctor.model.requirement import Requirement, may_hold

_NAMING = (IndexOptionKind.INDEX_URL, IndexOptionKind.EXTRA_INDEX_URL, IndexOptionKind.FIND_LINKS)


def _places(examination: Examination, requirement: Requirement) -> Iterator[str]:
    if requirement.index_url:
        yield f"the index of its own command, {requirement.index_url}"
    for option in examination.project.index_options if examination.project else ():
        if option.kind in _NAMING:
            yield f"{option.url} (given at {option.origin})"
    for index in examination.profile.indexes if examination.profile else ():
        if requirement.name in index.packages:
            yield f"{index.url} (index {index.name} of the profile)"


def _variable(examination: Examination, requirement: Requirement, label: str) -> str | None:
    """Return the environment variable that names a mirror of the index, None where none is named."""
    for index in examination.profile.indexes if examination.profile else ():
        if requirement.name in index.packages:
            return mirror_variable(index.name)
    for option in examination.project.index_options if examination.project else ():
        if option.kind in _NAMING and option.url.rstrip("/").endswith(f"/{label}"):
            return mirror_variable(label)
    return None


def _remedy(examination: Examination, requirement: Requirement, label: str, *, known: bool) -> Remedy:
    bind = f"bind `{requirement.name}` to the index that has `+{label}` builds, and nothing else to it"
    if not known:
        return Remedy(f"{bind}: `[[index]]` in a profile, or `--extra-index-url URL` on a line of its own")
    variable = _variable(examination, requirement, label)
    return Remedy(f"{bind}; `{variable}=URL` names a mirror of that index" if variable else bind)


def _find(examination: Examination, project: Project) -> Iterator[Finding]:
    environment = examination.target.marker_environment() if examination.target else None
    for requirement in project.requirements:
        label = next((item.version.partition("+")[2] for item in requirement.specifier if "+" in item.version), None)
        if label is None or requirement.url or not may_hold(requirement.marker, environment):
            continue  # A direct reference says itself where it is.
        places = list(_places(examination, requirement))
        verb = "can have" if silent(examination) else "has"
        message = f"`{requirement}` needs an extra index: builds labelled `+{label}` are not on the default index"
        yield RULE.finding(
            subject=requirement.name,
            message=f"{message}; only {places[0]} {verb} it"
            if places
            else f"{message}, and the project names no other",
            severity=Severity.INFO if places else Severity.WARNING,
            evidence=(Evidence(str(requirement), str(requirement.origin)),),
            remedy=_remedy(examination, requirement, label, known=bool(places)),
            location=line_of(requirement),
        )


RULE = Rule.of(__name__, __doc__, Severity.WARNING, _find)
