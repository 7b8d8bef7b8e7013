"""A plan as JSON, for programs and for reading before one says yes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from envdoctor.model.finding import Finding
from envdoctor.model.plan import Plan
from envdoctor.model.step import (
    BuildSdist,
    CreateEnvironment,
    DownloadFiles,
    InstallFromLock,
    PatchFile,
    PatchLater,
    PlannedFile,
    RemoveDistribution,
    RemoveFile,
    Step,
    WriteRecord,
    WriteStartup,
    WriteStub,
    WriteVariables,
)
from envdoctor.render.reasons import refusal_text

__all__ = ["plan_document", "plan_json"]

PLAN_SCHEMA = "envdoctor.plan/1"


def plan_document(plan: Plan) -> dict[str, Any]:
    """Return a plan as plain values."""
    return {
        "schema": PLAN_SCHEMA,
        "environment": plan.environment,
        "label": plan.label or None,
        "project": plan.project,
        "profile": plan.profile,
        "lock_sha256": plan.lock_digest,
        "environment_digest": plan.before_digest,
        "download_bytes": plan.download_bytes,
        "disk_bytes": plan.disk_bytes,
        "disk_free_bytes": plan.disk_free,
        "steps": [_step(step) for step in plan.steps],
        "refusals": [
            {
                "kind": item.kind.value,
                "subject": item.subject,
                "message": item.message or refusal_text(item),
                "remedy": item.remedy or None,
            }
            for item in plan.refusals
        ],
        "skipped": list(plan.skipped),
        "notes": list(plan.notes),
        "known_errors": [_finding(item) for item in plan.known_errors],
    }


def _finding(item: Finding) -> dict[str, Any]:
    remedy = item.remedy
    return {
        "rule": item.rule,
        "name": item.name,
        "subject": item.subject,
        "message": item.message,
        "remedy": {"summary": remedy.summary, "commands": list(map(str, remedy.commands))} if remedy else None,
    }


def plan_json(plans: Sequence[Plan]) -> str:
    """Return one document: a plan, or a list of them where a profile has several environments."""
    documents = [plan_document(plan) for plan in plans]
    whole = documents[0] if len(documents) == 1 else {"schema": PLAN_SCHEMA, "plans": documents}
    return json.dumps(whole, indent=2, ensure_ascii=False) + "\n"


def _step(step: Step) -> dict[str, Any]:
    return {"id": step.id, "kind": step.kind, "sentence": step.sentence, **_fields(step)}


def _fields(step: Step) -> dict[str, Any]:
    if isinstance(step, CreateEnvironment):
        return {"path": step.path, "python": step.python, "interpreter": step.interpreter, "tool": step.tool}
    if isinstance(step, DownloadFiles):
        return {"files": [_file(file) for file in step.files], "bytes": step.total}
    if isinstance(step, BuildSdist):
        return {"file": _file(step.file), "variables": dict(step.variables), "needs": list(step.needs)}
    if isinstance(step, RemoveDistribution):
        return {"name": step.name, "version": step.version, "because": step.because}
    if isinstance(step, InstallFromLock):
        return {
            "installer": step.installer,
            "packages": [{"name": file.name, "version": file.version} for file in step.files],
            "replaces": [{"name": name, "version": version} for name, version in step.replaces],
        }
    return _file_fields(step)


def _file_fields(
    step: PatchFile | RemoveFile | PatchLater | WriteStub | WriteStartup | WriteVariables | WriteRecord,
) -> dict[str, Any]:
    if isinstance(step, PatchFile):
        return {
            "path": step.path,
            "root": step.root,
            "patches": list(step.patches),
            "sha256_before": step.expected,
            "sha256_after": step.result,
            "distribution": step.distribution or None,
            "diff": step.diff,
        }
    if isinstance(step, RemoveFile):
        return {"path": step.path, "root": step.root, "sha256_before": step.expected, "patch": step.patch}
    if isinstance(step, PatchLater):
        return {"files": list(step.patch.files), "patch": step.name}
    if isinstance(step, WriteStub):
        return {"path": step.path, "module": step.module, "content": step.content}
    if isinstance(step, WriteStartup):
        return {"settings": list(step.settings), "variables": dict(step.variables), "files": dict(step.files)}
    if isinstance(step, WriteVariables):
        return {"variables": dict(step.variables)}
    return {"path": step.path, "what": step.what, "bytes": len(step.content.encode())}


def _file(file: PlannedFile) -> dict[str, Any]:
    return {
        "name": file.name,
        "version": file.version,
        "file": file.filename,
        "url": file.url,
        "hashes": dict(file.hashes),
        "bytes": file.size,
        "index": file.index,
        "source": "sdist" if file.sdist else "wheel",
    }
