"""Every report that a test writes as JSON obeys the schema that the package ships."""

from __future__ import annotations

import json

import jsonschema
import pytest

from envdoctor.model.report import Report
from envdoctor.render import RenderOptions, json_document

_VALIDATOR = jsonschema.Draft202012Validator(json_document.report_schema())


@pytest.fixture(autouse=True)
def _schema(monkeypatch: pytest.MonkeyPatch) -> None:
    written = json_document.render

    def render(report: Report, options: RenderOptions) -> str:
        text = written(report, options)
        _VALIDATOR.validate(json.loads(text))
        return text

    monkeypatch.setattr(json_document, "render", render)
