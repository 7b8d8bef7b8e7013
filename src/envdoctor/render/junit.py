"""JUnit XML: a suite for conflicts, one for each family of rules, one for kernels.

What fails the check is a failure, what is accepted is skipped, milder findings pass and speak in ``system-out``.
"""

from __future__ import annotations

from collections.abc import Iterable
from xml.etree import ElementTree as ET

from envdoctor.model.finding import Severity
from envdoctor.model.kernel import KernelResult, KernelStatus
from envdoctor.model.report import Report
from envdoctor.render import RenderOptions
from envdoctor.render.entries import Entry, entries, repository_path
from envdoctor.render.untrusted import one_line
from envdoctor.render.wording import headline, scope_lines

__all__ = ["render"]


def render(report: Report, options: RenderOptions) -> str:
    """Return the document."""
    root = ET.Element("testsuites", name="envdoctor")
    root.append(_looked_at(report))
    found = entries(report)
    for family in dict.fromkeys(entry.family for entry in found if entry.family != "kernels"):
        suite = ET.SubElement(root, "testsuite", name=family)
        for entry in found:
            if entry.family == family:
                suite.append(_case(entry, options))
    if report.kernels:
        suite = ET.SubElement(root, "testsuite", name="kernels")
        suite.extend(_kernel_case(result, options) for result in report.kernels)
    for suite in root:
        _count(suite, [suite])
    _count(root, root)
    ET.indent(root)
    encoding = "unicode" if options.unicode else "us-ascii"
    text = ET.tostring(root, encoding=encoding)
    body = text if isinstance(text, str) else text.decode("ascii").partition("?>\n")[2]
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{body}\n'


def _looked_at(report: Report) -> ET.Element:
    """Return a suite with one case: whether everything could be looked at; so no document is without a case."""
    suite = ET.Element("testsuite", name=report.command)
    properties = ET.SubElement(suite, "properties")
    values = {
        "verdict": report.verdict.value,
        "summary": headline(report),
        "profile": report.profile,
        "target": str(report.target) if report.target else None,
        "next": report.next_command,
        **dict(scope_lines(report, everything=True)),
    }
    for name, value in values.items():
        if value:
            ET.SubElement(properties, "property", name=name, value=one_line(value))
    case = ET.SubElement(suite, "testcase", classname="envdoctor", name="everything could be looked at")
    if not report.complete:
        ET.SubElement(case, "error", type="incomplete", message="not everything could be looked at")
    return suite


def _case(entry: Entry, options: RenderOptions) -> ET.Element:
    attributes = {"classname": f"envdoctor.{entry.family}", "name": _name(entry)}
    if entry.location:
        path = repository_path(entry.location.path, options.project_root)
        attributes["file"] = one_line(path or entry.location.path)
        if entry.location.line:
            attributes["line"] = str(entry.location.line)
    case = ET.Element("testcase", attributes)
    text = "\n".join(
        filter(
            None,
            (
                entry.message,
                f"at {entry.location}" if entry.location else "",
                *entry.details,
                entry.remedy and f"try: {entry.remedy}",
            ),
        )
    )
    if entry.waived:
        until = f", until {entry.waived.expires}" if entry.waived.expires else ""
        reason = one_line(f"accepted: {entry.waived.reason} ({entry.waived.source}{until})")
        ET.SubElement(case, "skipped", message=reason)
    elif options.fail_on != "never" and entry.severity.rank <= Severity(options.fail_on).rank:
        failure = ET.SubElement(case, "failure", type=entry.severity.value, message=entry.message)
        failure.text = text
        return case
    ET.SubElement(case, "system-out").text = f"{entry.severity.value}: {text}"
    return case


def _name(entry: Entry) -> str:
    """Return a name that stays the same from run to run, so that a service can tell a new failure from an old one."""
    return one_line(f"{entry.title}: {entry.identity if entry.family == 'conflicts' else entry.subject}")


def _kernel_case(result: KernelResult, options: RenderOptions) -> ET.Element:
    attributes = {"classname": "envdoctor.kernels", "name": f"{result.kernel} on {result.device}"}
    if result.first_ms is not None and result.first_ms < float("inf"):
        attributes["time"] = f"{result.first_ms / 1000:.6f}"
    case = ET.Element("testcase", attributes)
    detail = one_line(result.detail or result.status.value)
    if result.status is KernelStatus.SKIPPED:
        ET.SubElement(case, "skipped", message=detail)
    elif result.failed and options.fail_on != "never":
        ET.SubElement(case, "failure", type=result.status.value, message=detail).text = detail
    elif result.detail or result.status is not KernelStatus.PASSED:
        ET.SubElement(case, "system-out").text = f"{result.status.value}: {detail}"
    return case


def _count(element: ET.Element, suites: Iterable[ET.Element]) -> None:
    cases = [case for suite in suites for case in suite.iter("testcase")]
    element.set("tests", str(len(cases)))
    for attribute, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        element.set(attribute, str(sum(case.find(tag) is not None for case in cases)))
