"""SARIF 2.1.0 (OASIS, errata 01), as code scanning services read it.

A result always has a location, for GitHub refuses a whole upload over one that has none: where no line is known it
is the first file that the report names, without a region.
"""

from __future__ import annotations

import difflib
import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

from envdoctor import __version__
from envdoctor.model.finding import Severity, Waiver
from envdoctor.model.origin import FileOrigin
from envdoctor.model.repair import FileChange
from envdoctor.model.report import Report
from envdoctor.model.requirement import Requirement
from envdoctor.render import RenderOptions
from envdoctor.render.conflict_wording import override_text
from envdoctor.render.entries import Entry, entries, repository_path
from envdoctor.render.untrusted import clean, without_secrets
from envdoctor.render.wording import headline, scope_lines

__all__ = ["render"]

Object = dict[str, Any]

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
_LINE_NUMBERS = re.compile(r"(?<=\S):\d+\b")
_FINGERPRINT = "envdoctorFinding/v1"


def render(report: Report, options: RenderOptions) -> str:
    """Return the log with one run."""
    log = {"$schema": _SCHEMA, "version": "2.1.0", "runs": [_run(report, options)]}
    return json.dumps(log, indent=2, ensure_ascii=not options.unicode, allow_nan=False) + "\n"


def _run(report: Report, options: RenderOptions) -> Object:
    found = entries(report)
    rules = _rules(found, options)
    numbers = {rule["id"]: number for number, rule in enumerate(rules)}
    anchor = _anchor(found, options)
    seen: Counter[str] = Counter()
    return {
        "tool": {"driver": {"name": "envdoctor", "semanticVersion": __version__, "rules": rules}},
        "automationDetails": {"id": _category(report)},
        "invocations": [_invocation(report)],
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {"%SRCROOT%": {"description": {"text": "the root of the repository"}}},
        "results": [_result(item, report, numbers, anchor, seen, options) for item in found],
        "properties": {
            "verdict": report.verdict.value,
            "complete": report.complete,
            "profile": report.profile,
            "target": str(report.target) if report.target else None,
            "conflictsTruncated": report.conflicts_truncated,
            "scope": dict(scope_lines(report, everything=True)),
        },
    }


def _category(report: Report) -> str:
    """Return the run's category: each profile or target of a matrix keeps its own set of alerts."""
    about = report.profile or (str(report.target) if report.target else "")
    parts = ["envdoctor", report.command, re.sub(r"[^A-Za-z0-9._]+", "-", about).strip("-")]
    return "/".join(filter(None, parts)) + "/"


def _invocation(report: Report) -> Object:
    invocation: Object = {"executionSuccessful": report.complete}
    if not report.complete:
        text = "not everything could be looked at, so what is not said here may still be wrong"
        invocation["toolExecutionNotifications"] = [{"level": "warning", "message": {"text": text}}]
    invocation["properties"] = {"summary": headline(report)}
    return invocation


def _rule_id(entry: Entry) -> str:
    """Return the rule's code; all advisories share one rule, so each is told apart by its own id."""
    return f"{entry.rule}/{entry.name}" if entry.family == "ADV" else entry.rule


def _rules(found: list[Entry], options: RenderOptions) -> list[Object]:
    rules: dict[str, Object] = {}
    for entry in found:
        summary = options.rule_summaries.get(entry.rule, "") if entry.family != "ADV" else ""
        page = options.rule_pages.get(entry.name if entry.family == "ADV" else entry.rule, "")
        rules.setdefault(
            _rule_id(entry),
            {
                "id": _rule_id(entry),
                "name": entry.name,
                "shortDescription": {"text": summary or entry.name.replace("-", " ")},
                **(_help(page) if page else {}),
                "defaultConfiguration": {"level": _LEVELS[entry.severity]},
                "properties": {"tags": [entry.family]},
            },
        )
    return [rules[name] for name in sorted(rules)]


def _help(page: str) -> Object:
    """Return the documentation of a rule: what it looks for, the whole page, and the first source that it names."""
    _, _, body = page.partition("\n")
    body = body.strip()
    about = re.search(r"^## (?:What it does|What is wrong)\n+(.+?)(?=\n## |\Z)", body, re.MULTILINE | re.DOTALL)
    told = " ".join((about[1] if about else body.partition("\n\n")[0]).split())
    source = re.search(r"^- .*?(https://[^\s)>\]]+)", body, re.MULTILINE)
    return {
        "fullDescription": {"text": told},
        "help": {"text": body, "markdown": body},
        **({"helpUri": source[1]} if source else {}),
    }


def _result(
    entry: Entry, report: Report, numbers: dict[str, int], anchor: str, seen: Counter[str], options: RenderOptions
) -> Object:
    rule = _rule_id(entry)
    text = "\n".join(filter(None, (entry.message, *entry.details, entry.remedy and f"Try: {entry.remedy}")))
    place = _physical(entry.location, options) or {"artifactLocation": _artifact(anchor)}
    result: Object = {
        "ruleId": rule,
        "ruleIndex": numbers[rule],
        "kind": "fail",
        "level": _LEVELS[entry.severity],
        "message": {"text": _message(text)},
        "locations": [{"physicalLocation": place, "logicalLocations": [{"name": entry.subject}]}],
    }
    related = [_related(number, item, options) for number, item in enumerate(entry.related, 1)]
    if related:
        result["relatedLocations"] = related
    fixes = _fixes(entry, report, options)
    if fixes:
        result["fixes"] = fixes
    result["partialFingerprints"] = {_FINGERPRINT: _fingerprint(entry, seen)}
    result["suppressions"] = [_suppression(entry.waived)] if entry.waived else []
    result["properties"] = {"subject": entry.subject, "family": entry.family, "remedy": entry.remedy or None}
    return result


def _fixes(entry: Entry, report: Report, options: RenderOptions) -> list[Object]:
    """Return the repairs that resolve a conflict, as edits of the project's files (3.55)."""
    fixes = []
    for repair in report.repairs if entry.conflict else ():
        changes = options.repair_changes.get(repair.id, ())
        if entry.conflict not in repair.resolves or not all(_tellable(change) for change in changes):
            continue
        edits = [(repository_path(change.path, options.project_root), change) for change in changes]
        changed: list[Object] = [
            {"artifactLocation": _artifact(path), "replacements": list(_replacements(change))}
            for path, change in edits
            if path
        ]
        if changed:
            actions = "; ".join(override_text(override).action for override in repair.overrides)
            fixes.append({"description": {"text": _message(f"{repair.id}: {actions}")}, "artifactChanges": changed})
    return fixes


def _tellable(change: FileChange) -> bool:
    """Return whether what is inserted may be shown as it is: an address with a password may not."""
    new = set(change.after.splitlines()) - set(change.before.splitlines())
    return all(without_secrets(clean(line)) == line for line in new)


def _replacements(change: FileChange) -> Iterator[Object]:
    before, after = change.before.splitlines(keepends=True), change.after.splitlines(keepends=True)
    for kind, start, end, first, last in difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if kind == "equal":
            continue
        region = {"startLine": start + 1, "startColumn": 1, "endLine": end + 1, "endColumn": 1}
        if start < end == len(before) and not before[-1].endswith(("\n", "\r")):
            # No line follows in which the region could end.
            region |= {"endLine": end, "endColumn": len(before[-1]) + 1}
        yield {"deletedRegion": region, "insertedContent": {"text": "".join(after[first:last])}}


def _message(text: str) -> str:
    """Return text in which nothing is a placeholder or a link of SARIF's own (3.11.5, 3.11.6)."""
    text = re.sub(r"\{(\d+)\}", r"{{\1}}", text)
    return re.sub(r"\[([^\[\]]*)\]\(", r"\\[\1\\](", text)


def _anchor(found: list[Entry], options: RenderOptions) -> str:
    for entry in found:
        path = repository_path(entry.location.path, options.project_root) if entry.location else None
        if path:
            return path
    return repository_path("pyproject.toml", options.project_root) or "pyproject.toml"


def _artifact(path: str) -> Object:
    return {"uri": quote(path), "uriBaseId": "%SRCROOT%"}


def _physical(location: FileOrigin | None, options: RenderOptions) -> Object | None:
    path = repository_path(location.path, options.project_root) if location else None
    if location is None or path is None:
        return None
    place: Object = {"artifactLocation": _artifact(path)}
    if location.line:
        place["region"] = {"startLine": location.line}
    return place


def _related(number: int, member: Requirement, options: RenderOptions) -> Object:
    location: Object = {"id": number, "message": {"text": _message(f"{member} ({member.origin})")}}
    origin = member.origin
    place = _physical(origin, options) if isinstance(origin, FileOrigin) and not origin.elsewhere else None
    if place:
        location["physicalLocation"] = place
    else:
        location["logicalLocations"] = [{"name": str(member.origin)}]
    return location


def _fingerprint(entry: Entry, seen: Counter[str]) -> str:
    """Return what identifies a result from run to run: no line number goes into it, a repetition is numbered."""
    path = entry.location.path if entry.location else ""
    text = _LINE_NUMBERS.sub("", entry.identity)
    digest = hashlib.sha256("\0".join((_rule_id(entry), entry.subject, path, text)).encode()).hexdigest()[:32]
    seen[digest] += 1
    return digest if seen[digest] == 1 else f"{digest}:{seen[digest]}"


def _suppression(waiver: Waiver) -> Object:
    until = f", until {waiver.expires}" if waiver.expires else ""
    justification = f"{waiver.reason} ({waiver.source}{until})"
    return {"kind": "external", "status": "accepted", "justification": justification}
