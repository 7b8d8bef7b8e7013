"""The report as one JSON document (``envdoctor.report/1``); ``report.schema.json`` beside this file is its schema."""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from importlib import resources
from typing import TYPE_CHECKING, Any

from envdoctor import __version__
from envdoctor.model.origin import CommandLineOrigin, DistributionOrigin, FileOrigin, Origin, ProfileOrigin
from envdoctor.model.report import SCHEMA, Report, Scope
from envdoctor.model.requirement import GroupKind, Requirement
from envdoctor.render.untrusted import clean, shortened
from envdoctor.render.wording import holds, judged, why

if TYPE_CHECKING:
    from envdoctor.model.candidate import Rejection
    from envdoctor.model.conflict import ClashSide, Conflict
    from envdoctor.model.fact import Fact
    from envdoctor.model.finding import Finding
    from envdoctor.model.kernel import KernelResult
    from envdoctor.model.repair import Repair
    from envdoctor.model.resolution import Resolution, ResolvedPackage
    from envdoctor.model.target import Target
    from envdoctor.render import RenderOptions

__all__ = ["finding_dict", "package_dict", "render", "report_dict", "report_schema", "requirement_dict"]

Object = dict[str, Any]


def render(report: Report, options: RenderOptions) -> str:
    """Return the document, indented, keys in the contract's order."""
    text = json.dumps(report_dict(report), indent=2, ensure_ascii=not options.unicode, allow_nan=False)
    return f"{text}\n"


def report_schema() -> Object:
    """Return the JSON Schema (2020-12) of the document."""
    text = resources.files("envdoctor.render").joinpath("report.schema.json").read_text(encoding="utf-8")
    schema: Object = json.loads(text)
    return schema


def report_dict(report: Report) -> Object:
    """Return ``report`` as JSON values; every key of the contract is there, empty or null where there is nothing."""
    return {
        "schema": SCHEMA,
        "tool": {"name": "envdoctor", "version": __version__},
        "command": report.command,
        "profile": report.profile,
        "target": _target(report.target) if report.target else None,
        "verdict": report.verdict.value,
        "complete": report.complete,
        "conflicts": [_conflict(item) for item in report.conflicts],
        "conflicts_truncated": report.conflicts_truncated,
        "repairs": [_repair(item) for item in report.repairs],
        "resolution": _resolution(report.resolution) if report.resolution else None,
        "findings": [finding_dict(item) for item in report.findings],
        "facts": [_fact(item) for item in report.facts],
        "kernels": [_kernel(item) for item in report.kernels],
        "placement": [
            {"component": item.component, "device": item.device, "because": list(item.because)}
            for item in report.placement
        ],
        "scope": _scope(report.scope),
        "timings": {name: seconds for name, seconds in report.timings.items() if math.isfinite(seconds)},
        "next_command": report.next_command,
        **({"next_elsewhere": report.next_elsewhere} if report.next_elsewhere else {}),
        **({"rank": asdict(report.rank)} if report.rank is not None else {}),
        **({} if judged(report) else {"judged": False}),
        **({"environments": [_part(item) for item in report.parts]} if report.parts else {}),
    }


def _scope(scope: Scope) -> Object:
    groups: dict[GroupKind, list[Object]] = {kind: [] for kind in GroupKind}
    for name in scope.asked:
        groups[name.kind].append({"name": name.name, "decides": True, "holds": None, "reason": ""})
    for outcome in scope.beside:
        name = outcome.name
        of = {"of": name.of} if name.of else {}
        groups[name.kind].append(
            {"name": name.name, **of, "decides": False, "holds": holds(outcome), "reason": why(outcome)}
        )
    return {
        "read": [{"path": one.path, "as": one.form} for one in scope.read],
        "not_read": [
            {"path": one.path, "reason": f"{one.reason.value}: {one.detail}" if one.detail else one.reason.value}
            for one in scope.not_read
        ],
        "groups": groups[GroupKind.GROUP],
        "extras": groups[GroupKind.EXTRA],
        "files": groups[GroupKind.FILE],
        "environments": list(scope.environments),
        "index": [{"url": one.value, "from": one.origin} for one in scope.index_settings],
        "uploaded_before": [
            {"for": one.name or None, "time": one.value or None, "from": one.origin} for one in scope.upload_settings
        ],
        "target_from": {one.name: one.origin for one in scope.target_facts},
    }


def _part(report: Report) -> Object:
    return {
        "name": report.environment,
        "target": _target(report.target) if report.target else None,
        "verdict": report.verdict.value,
        "complete": report.complete,
        "resolution": _resolution(report.resolution) if report.resolution else None,
    }


def _target(target: Target) -> Object:
    return {
        "os": target.os.value,
        "arch": target.arch.value,
        "python": target.python_version,
        "backend": target.backend.value,
        "probed": target.probed,
        "gpu_architecture": target.gpu_architecture,
        "python_full": target.python_full,
    }


def _origin(origin: Origin) -> Object:
    if isinstance(origin, FileOrigin):
        result: Object = {"kind": origin.kind, "path": origin.path, "line": origin.line}
        if origin.included_from:
            result["included_from"] = _origin(origin.included_from)
        return result
    if isinstance(origin, ProfileOrigin):
        return {"kind": origin.kind, "name": origin.name, "key": origin.key}
    if isinstance(origin, DistributionOrigin):
        more: Object = {"coupling": True} if origin.coupling else {}
        more |= {"instead_of": origin.instead_of} if origin.instead_of else {}
        return {"kind": origin.kind, "name": origin.name, "version": origin.version, **more}
    return _command_line(origin)


def _command_line(origin: CommandLineOrigin) -> Object:
    return {"kind": origin.kind, "option": origin.option}


def requirement_dict(requirement: Requirement) -> Object:
    """Return a requirement as the report has it."""
    named = requirement.group
    group = {named.kind.value: named.name} if named and named.kind is not GroupKind.FILE else {}
    return {
        "requirement": str(requirement),
        "origin": {**_origin(requirement.origin), **group},
        "pep508": shortened(clean(requirement.pep508)),
    }


def _conflict(conflict: Conflict) -> Object:
    clash = conflict.clash
    return {
        "id": conflict.id,
        "core": [requirement_dict(item) for item in conflict.core],
        "clash": {
            "package": clash.package,
            "sides": [_side(item) for item in clash.sides],
            "available": list(clash.available),
            "rejections": [_rejection(item) for item in clash.rejections],
        },
    }


def _side(side: ClashSide) -> Object:
    result = requirement_dict(side.requirement)
    if side.via or side.versions_considered:
        result["via"] = list(side.via)
        result["versions_considered"] = list(side.versions_considered)
    return result


def _rejection(rejection: Rejection) -> Object:
    return {
        "kind": rejection.kind.value,
        "name": rejection.project,
        "version": str(rejection.version) if rejection.version else None,
        "file": rejection.filename,
        "detail": rejection.detail,
    }


def _repair(repair: Repair) -> Object:
    return {
        "id": repair.id,
        "cost": repair.cost,
        "verified": repair.verified,
        "from_profile": repair.from_profile,
        "overrides": [
            {
                "requirement": str(item.requirement),
                "sets_aside": [requirement_dict(aside) for aside in item.sets_aside],
                **({"because": item.because} if item.because else {}),
            }
            for item in repair.overrides
        ],
        "resolves": list(repair.resolves),
        "changes": [{"name": item.name, "from": item.before, "to": item.after} for item in repair.changes],
        "cautions": list(repair.cautions),
        **({"command": repair.command} if repair.command else {}),
    }


def _resolution(resolution: Resolution) -> Object:
    return {
        "repair": resolution.repair,
        "packages": [package_dict(item) for item in resolution.packages],
        "walked_back": [
            {
                "name": item.name,
                "version": str(item.version),
                "newest": str(item.newest),
                "forced_by": [requirement_dict(forcing) for forcing in item.forced_by],
            }
            for item in resolution.walked_back
        ],
    }


def package_dict(package: ResolvedPackage) -> Object:
    """Return a package of a resolution as the report has it."""
    return {
        "name": package.name,
        "version": str(package.version),
        "file": package.file.filename,
        "source": package.file.kind.value,
        "index": package.file.index,
        "extras": sorted(package.extras),
        "size": package.file.size,
        "build_risk": package.build_risk.value if package.build_risk else None,
        "stand_in": package.file.stand_in,
    }


def finding_dict(finding: Finding) -> Object:
    """Return a finding as the report has it."""
    remedy, location, waived = finding.remedy, finding.location, finding.waived
    return {
        "rule": finding.rule,
        "name": finding.name,
        "severity": finding.severity.value,
        "subject": finding.subject,
        "message": finding.message,
        "evidence": [{"what": item.what, "where": item.where} for item in finding.evidence],
        "remedy": remedy
        and {
            "applicability": remedy.applicability.value,
            "summary": remedy.summary,
            "commands": list(map(str, remedy.commands)),
        },
        "waived": waived and {"reason": waived.reason, "source": waived.source, "expires": waived.expires},
        "location": location and {"path": location.path, "line": location.line},
        **({"environment": finding.environment} if finding.environment else {}),
    }


def _fact(fact: Fact) -> Object:
    return {
        "name": fact.name,
        "state": fact.state.value,
        "value": _fact_value(fact.value),
        "source": fact.source,
        "overridden_by": fact.overridden_by,
        "reason": fact.reason,
        **({"timed_out": True} if fact.timed_out else {}),
    }


def _fact_value(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [str(item) for item in value]
    return _number(value) if isinstance(value, float) else value


def _kernel(result: KernelResult) -> Object:
    return {
        "kernel": result.kernel,
        "device": result.device,
        "status": result.status.value,
        "error_relative": _number(result.error_relative),
        "tolerance": _number(result.tolerance),
        "first_ms": _number(result.first_ms),
        "steady_ms": _number(result.steady_ms),
        "reference_ms": _number(result.reference_ms),
        "peak_bytes": result.peak_bytes,
        "rate": _number(result.rate),
        "rate_unit": result.rate_unit,
        "rate_limit": _number(result.rate_limit),
        "detail": result.detail,
        "setting": result.setting,
    }


def _number(value: float | None) -> float | None:
    """Return ``value``, or None where it is not finite: JSON has no NaN, and a kernel that gave one says so itself."""
    return value if value is None or math.isfinite(value) else None
