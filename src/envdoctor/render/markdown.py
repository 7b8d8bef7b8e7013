"""A summary for a pull request or a job page (GitHub and GitLab flavours); long lists fold into ``<details>``."""

from __future__ import annotations

import re
from collections.abc import Sequence

from envdoctor.model.conflict import Conflict
from envdoctor.model.finding import Finding, Severity, in_words
from envdoctor.model.report import Report
from envdoctor.render import RenderOptions
from envdoctor.render.conflict_wording import (
    accepted_text,
    bystanders,
    chain,
    override_text,
    rejection_lines,
    source_text,
    truncation_text,
)
from envdoctor.render.untrusted import one_line
from envdoctor.render.wording import (
    count,
    evidence_text,
    fact_text,
    headline,
    judged,
    milliseconds,
    other_findings,
    python_text,
    rate_text,
    resolution_text,
    scope_lines,
    speed_up,
    status_text,
    subject_line,
    versions,
)

__all__ = ["render"]

_FOLD_AT = 10
"""Rows beyond which a table is folded."""
_SPACE = re.compile(r"\s+")
_SPECIAL = re.compile(r"([\\`*\[\]|~$]|(?<![^\W_])_|_(?![^\W_]))")
_STARTS_BLOCK = re.compile(r"^(?=[#+=:-])|(?<=^\d)(?=[.)])")
# An empty comment between the sign and the word keeps a package's text from notifying people or linking issues.
_REFERENCE = re.compile(r"([@#])(?=\w)")
_CODE = re.compile(r"`([^`]+)`")
_WORDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}


def render(report: Report, options: RenderOptions) -> str:
    """Return the summary."""
    verdict = f": {report.verdict.value}" if judged(report) else ""
    about = f" for {_text(subject_line(report))}" if subject_line(report) else ""
    blocks = [f"## envdoctor {_text(report.command)}{verdict}", f"**{_text(headline(report))}**{about}"]
    if not report.complete:
        blocks.append("**Incomplete**: not everything could be looked at, so what is not said here may still be wrong.")
    blocks += _conflicts(report)
    blocks += _repairs(report)
    blocks += _findings(report, options)
    blocks += _hardware(report, options)
    blocks += _resolution(report, options)
    looked_at = [f"- {_escape(label)}: {_text(text)}" for label, text in scope_lines(report, everything=True)]
    if looked_at:
        blocks += ["### What was looked at", _folded("files, lists, indexes, target", "\n".join(looked_at), fold=True)]
    if report.next_command:
        blocks.append(f"Next:\n\n{_fence(report.next_command)}")
    elif report.next_elsewhere:
        blocks.append(f"Next, on a machine of the target:\n\n{_fence(report.next_elsewhere)}")
    text = "\n\n".join(blocks) + "\n"
    return text if options.unicode else text.encode("ascii", "xmlcharrefreplace").decode("ascii")


def _escape(text: str) -> str:
    text = _SPACE.sub(" ", text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _REFERENCE.sub(r"\1<!-- -->", _SPECIAL.sub(r"\\\1", text))


def _text(text: str) -> str:
    """Return prose; what stands in backticks becomes code, all else is literal."""
    pieces = _CODE.split(one_line(text))
    shown = "".join(_code(piece) if number % 2 else _escape(piece) for number, piece in enumerate(pieces))
    return _STARTS_BLOCK.sub(r"\\", shown)


def _code(text: str) -> str:
    # Not backticks: a pipe inside them would still end a table's cell.
    return f"<code>{_escape(text)}</code>"


def _fence(command: str) -> str:
    longest = max((len(run) for run in re.findall("`+", command)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}console\n{one_line(command)}\n{fence}"


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _folded(title: str, body: str, *, fold: bool) -> str:
    if not fold:
        return body
    return f"<details>\n<summary>{_escape(title)}</summary>\n\n{body}\n\n</details>"


def _conflicts(report: Report) -> list[str]:
    if not report.conflicts:
        return [f"{truncation_text(report)}."] if report.conflicts_truncated else []
    body = "\n".join(_conflict(report, item) for item in report.conflicts)
    more = [f"{truncation_text(report)}."] if report.conflicts_truncated else []
    title = count(len(report.conflicts), "conflict")
    return ["### Conflicts", _folded(title, body, fold=len(report.conflicts) > _FOLD_AT), *more]


def _conflict(report: Report, conflict: Conflict) -> str:
    members = in_words([f"{_code(str(item))} ({_text(str(item.origin))})" for item in conflict.core])
    several = f"cannot be installed together: they need different versions of {_code(conflict.clash.package)}"
    verb = several if len(conflict.core) > 1 else "cannot be installed on the target"
    lines = [f"- **{_escape(conflict.id)}** {members} {verb}"]
    accepted = accepted_text(report, conflict)
    lines += [f"  - {_text(accepted)}"] if accepted else []
    steps = [chain(conflict, side) for side in conflict.clash.sides]
    lines += [f"  - {' → '.join(_text(step) for step in way)}" for way in steps if len(way) > 1]
    others = bystanders(conflict) if len(conflict.core) > 1 else []
    lines += [f"  - {in_words([_code(item) for item in others])} leaves no other version"] if others else []
    lines += [f"  - {_text(reason)}" for reason in rejection_lines(conflict.clash)]
    if conflict.clash.available:
        package, available = conflict.clash.package, versions(conflict.clash.available[::-1])
        lines.append(f"  - this target can have {_code(package)} {_escape(available)}")
    return "\n".join(lines)


def _repairs(report: Report) -> list[str]:
    rows = []
    in_use = report.repairs_in_use
    for repair in report.repairs:
        marks = [*filter(None, [source_text(report, repair)]), *["in use"] * (repair.id in in_use)]
        marks += [] if repair.verified else ["not verified"]
        actions = []
        for override in repair.overrides:
            written = override_text(override)
            actions.append(_text(written.action))
            actions += [f"sets aside {_text(aside)}" for aside in written.aside]
        changes = [f"{_code(item.name)} {_escape(f'{item.before} → {item.after}')}" for item in repair.changes]
        cautions = [f"**caution**: {_text(item)}" for item in repair.cautions]
        mark = f" ({', '.join(marks)})" if marks else ""
        cells = [f"**{_escape(repair.id)}**{mark}", "<br>".join(actions), "<br>".join([*changes, *cautions])]
        rows.append([*cells, _escape(", ".join(repair.resolves))])
    return ["### Smallest repairs", _table(("repair", "what it does", "result", "resolves"), rows)] if rows else []


def _findings(report: Report, options: RenderOptions) -> list[str]:
    blocks = []
    found = other_findings(report)
    for severity in Severity:
        group = [item for item in found if item.severity is severity]
        if group:
            title = count(len(group), _WORDS[severity])
            mild = severity is Severity.INFO and not options.verbose
            blocks.append(_folded(title, _finding_table(group), fold=mild or len(group) > _FOLD_AT))
    waived = [item for item in report.findings if item.waived]
    if waived and options.show_waived:
        rows = [
            [_escape(item.rule), _text(item.message), _text(item.waived.reason), _text(item.waived.source)]
            for item in waived
            if item.waived
        ]
        body = _table(("rule", "finding", "accepted because", "where"), rows)
        blocks.append(_folded(f"{count(len(waived), 'finding')} accepted", body, fold=True))
    elif waived:
        blocks.append(f"{count(len(waived), 'finding')} accepted.")
    return ["### Findings", *blocks] if blocks else []


def _finding_table(findings: Sequence[Finding]) -> str:
    rows = []
    for item in findings:
        what = [_text(item.message), *(f"<sub>{_text(evidence_text(sign))}</sub>" for sign in item.evidence)]
        remedy = item.remedy
        tries = [_text(remedy.summary), *(_code(str(command)) for command in remedy.commands)] if remedy else []
        rule = f"{_WORDS[item.severity]} {_escape(f'{item.rule} {item.name}')}"
        where = _code(str(item.location)) if item.location else ""
        rows.append([rule, _code(item.subject), "<br>".join(what), where, "<br>".join(filter(None, tries))])
    return _table(("rule", "about", "what", "where", "try"), rows)


def _hardware(report: Report, options: RenderOptions) -> list[str]:
    blocks = []
    if report.kernels:
        rows = []
        for result in report.kernels:
            ratio = speed_up(result)
            time = milliseconds(result.steady_ms) if result.steady_ms is not None else ""
            gain = f"{ratio:.1f}x" if ratio is not None else ""
            names = [_code(result.kernel), _escape(result.device), _text(status_text(result))]
            first = milliseconds(result.first_ms) if result.first_ms is not None else ""
            rows.append([*names, first, time, gain, rate_text(result), _text(result.detail or "")])
        header = ("kernel", "device", "status", "first call", "time", "speed-up over the CPU", "rate", "")
        blocks += ["### Kernels", _table(header, rows)]
    if report.placement:
        lines = []
        for item in report.placement:
            because = f", because {_text('; '.join(item.because))}" if item.because else ""
            lines.append(f"- {_code(item.component)} runs on {_escape(item.device)}{because}")
        blocks += ["### Placement", "\n".join(lines)]
    if report.facts:
        facts = [
            [_code(fact.name), _text(fact_text(fact)), _text(fact.source), _text(fact.overridden_by or "")]
            for fact in report.facts
        ]
        body = _table(("fact", "value", "source", "set by"), facts)
        fold = len(facts) > _FOLD_AT and not options.verbose
        blocks += ["### Facts", _folded(count(len(facts), "fact"), body, fold=fold)]
    return blocks


def _resolution(report: Report, options: RenderOptions) -> list[str]:
    if report.parts:
        return [block for part in report.parts for block in _resolution(part, options)]
    resolution = report.resolution
    if resolution is None:
        return []
    using = f"with repair {_escape(resolution.repair)}" if resolution.repair else "as the requirements stand"
    where = f" of {_code(report.environment)} on Python {_escape(python_text(report))}" if report.environment else ""
    line = f"Resolution{where} {using}: {_escape(resolution_text(resolution))}."
    if not options.verbose:
        return [line]
    rows = [[_code(item.name), _escape(str(item.version)), _code(item.file.filename)] for item in resolution.packages]
    return [line, _folded("all packages", _table(("package", "version", "file"), rows), fold=True)]
