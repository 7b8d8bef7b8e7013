"""What ``envdoctor explain`` tells of one package, as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from envdoctor.model.report import Explained
from envdoctor.model.resolution import Absence, Explanation
from envdoctor.render.explanation_text import newer_reason
from envdoctor.render.json_document import finding_dict, package_dict, requirement_dict
from envdoctor.render.plain_values import document
from envdoctor.render.reasons import reason, worded
from envdoctor.render.untrusted import cleaned

__all__ = ["explanation_json"]


def explanation_json(answers: Mapping[str, Explained]) -> str:
    """Return the answers of the environments that know the package, one each (``envdoctor.explanation/1``)."""
    told = [
        _answer(part, answer, answer.explanation) for part, answer in answers.items() if answer.explanation is not None
    ]
    return document("explanation", answers=told)


def _answer(part: str, answer: Explained, explanation: Explanation) -> dict[str, Any]:
    package = explanation.package
    return {
        "environment": part or None,
        "name": explanation.name,
        "package": package and package_dict(package),
        "absence": explanation.absence and _absence(explanation.absence),
        "wanted_by": [requirement_dict(item) for item in package.wanted_by] if package else [],
        "set_aside": [requirement_dict(item) for item in package.set_aside] if package else [],
        "other_wishes": [
            {"requirement": requirement_dict(item.requirement), "came_with": requirement_dict(item.set_aside)}
            for item in answer.others
        ],
        "because": answer.because or None,
        "chains": [list(chain) for chain in explanation.chains],
        "newer": [{"version": str(item.version), "reason": newer_reason(item)} for item in explanation.newer],
        "older": explanation.older,
        "findings": [finding_dict(item) for item in cleaned(worded(answer.report)).findings],
    }


def _absence(absence: Absence) -> dict[str, Any]:
    because = reason(absence.unknown) if absence.unknown is not None else absence.because
    return {
        "kind": absence.kind.value,
        "because": because or None,
        "asked_by": [requirement_dict(item) for item in absence.asked_by],
    }
