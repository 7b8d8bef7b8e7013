"""Every report that a test writes as JSON obeys the package's schema; nothing is kept in the user's folders."""

from __future__ import annotations

import json
from pathlib import Path

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


@pytest.fixture(autouse=True)
def _cache(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> None:
    # Index pages of the real index are worth keeping from one run to the next.
    if request.node.get_closest_marker("online") is None:
        folder: Path = tmp_path_factory.getbasetemp() / "cache"
        request.getfixturevalue("monkeypatch").setenv("ENVDOCTOR_CACHE_DIR", str(folder))
