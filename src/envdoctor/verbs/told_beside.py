"""What formats tell beside a report: rules from the catalogue, and a repair as changes of the project's files."""

from __future__ import annotations

import os
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from envdoctor.model.report import Report
from envdoctor.verbs.scope import place_in_repository

__all__ = ["told_beside"]


def told_beside(report: Report, format: str) -> dict[str, Any]:  # noqa: A002 - the option's own name
    """Return what a format needs to know beside the report: values for the options of ``render``, by name."""
    folder = report.scope.root
    told: dict[str, Any] = {"folder": folder or None, "project_root": place_in_repository(Path(folder))}
    if format in ("sarif", "html"):
        told |= _catalogue(report)
    if format == "html":
        private = ((str(Path().absolute()), "."), (os.path.expanduser("~"), "~"))  # noqa: PTH111 - none is no error
        told |= {"date": datetime.now(tz=timezone.utc).date().isoformat(), "private": private}
    return told


def _catalogue(report: Report) -> dict[str, Any]:
    # Imported here: most formats have no catalogue.
    from envdoctor.diagnose.documentation import documentation
    from envdoctor.diagnose.rulebook import rule
    from envdoctor.verbs.project_repair import changes_of_repairs

    known = {code: rule(code) for code in sorted({finding.rule for finding in report.findings})}
    names = {item.name if item.rule.startswith("ADV") else item.rule for item in report.findings}
    return {
        "rule_summaries": {code: found.summary for code, found in known.items() if found is not None},
        "rule_pages": {name: page for name in sorted(names) if (page := documentation(name))},
        "repair_changes": changes_of_repairs(report),
    }
