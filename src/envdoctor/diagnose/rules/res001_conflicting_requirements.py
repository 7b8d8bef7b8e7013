"""Requirements that people wrote cannot be installed together.

## What it does

Reports each minimal set of requirements that people wrote and that cannot be installed together.

## Why is this bad

No installer can satisfy the set; `pip` stops at the first clash and says nothing of the others.

## Example

```
transformers==4.36.2
coqui-tts==0.24.2      # needs transformers>=4.42,<4.43
```

Take one line away, or override it: the repairs of the report are the smallest sets that were resolved to the end.

## References

- PyPA, Dependency specifiers: https://packaging.python.org/specifications/dependency-specifiers/
"""

from __future__ import annotations

from collections.abc import Iterator

from packaging.version import Version

from envdoctor.diagnose.examination import Examination, line_of
from envdoctor.diagnose.rule import Rule
from envdoctor.diagnose.wheel_facts import labels_with, shipped_wheel_facts
from envdoctor.model.conflict import ClashSide, Conflict
from envdoctor.model.finding import Evidence, Finding, Remedy, Severity, in_words
from envdoctor.model.origin import DistributionOrigin
from envdoctor.model.override import Override
from envdoctor.model.repair import Repair
from envdoctor.model.target import Target

_APART = "change or remove one of these requirements, or use separate environments"


def _side(side: ClashSide) -> str:
    way = f" (by way of {' -> '.join(side.via)})" if len(side.via) > 1 else ""
    if isinstance(side.requirement.origin, DistributionOrigin):
        return f"{side.requirement.origin} needs `{side.requirement.pep508}`{way}"
    return f"{side.requirement.origin} asks for `{side.requirement}`"


def repair_remedy(repair: Repair, target: Target | None) -> Remedy:
    """Return a repair as what to do about a conflict."""
    changes = ", ".join(f"`{item.requirement.pep508}`{_build(item, target)}" for item in repair.overrides)
    return Remedy(f"repair {repair.id} overrides {changes}")


def _build(override: Override, target: Target | None) -> str:
    """Return which build comes where a label is given up: it may be for another card or driver than the one named."""
    named = [clause.version for aside in override.sets_aside for clause in aside.specifier if "+" in clause.version]
    pins = [Version(clause.version) for clause in override.requirement.specifier if clause.operator == "=="]
    if not named or not pins or pins[0].local or target is None:
        return ""
    old = named[0].partition("+")[2]
    label = shipped_wheel_facts().build_label(override.name, pins[0], target)
    if not label:
        return ""
    others = labels_with(pins[0]) if override.name == "torch" else ()
    like = [f"+{other}" for other in others if other.rstrip("0123456789.") == old.rstrip("0123456789.")]
    indexes = f"; PyTorch's own indexes have it as {', '.join(like)}" if like else ""
    return f" (a {label} build in place of {old}{indexes})"


def _remedy(conflict: Conflict, repair: Repair | None, target: Target | None) -> Remedy:
    remedy = repair_remedy(repair, target) if repair else Remedy(_APART)
    if not conflict.python:
        return remedy
    return Remedy(f"{remedy.summary}; or take Python {conflict.python}: it has wheels of them that belong together")


def _find(examination: Examination) -> Iterator[Finding]:
    for conflict in examination.conflicts:
        if len(conflict.core) < 2:
            continue
        names = [f"`{item}` ({item.origin})" for item in conflict.core]
        sides = "; ".join(_side(side) for side in conflict.clash.sides)
        package = conflict.clash.package
        repair = next((item for item in examination.repairs if conflict.id in item.resolves), None)
        yield RULE.finding(
            subject=package,
            message=f"{in_words(names)} cannot be installed together: they need different versions of `{package}`",
            evidence=(Evidence(sides, of_conflict=True),),
            remedy=_remedy(conflict, repair, examination.target),
            location=next((line for item in conflict.core if (line := line_of(item))), None),
            conflict=conflict.id,
            repair=repair.id if repair else "",
        )


RULE = Rule.of(__name__, __doc__, Severity.ERROR, _find, needs={"conflicts"})
