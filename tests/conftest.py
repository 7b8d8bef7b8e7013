"""What every test holds to: reports in JSON obey the schema, overrides in locks are read back as what they are.

Nothing is kept in the user's folders, and nothing of their pip's settings counts.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from envdoctor.lock import pylock_writer
from envdoctor.lock.pylock_reader import override_of_row
from envdoctor.model.override import Override
from envdoctor.model.report import Report
from envdoctor.render import RenderOptions, json_document

_SETTINGS = (
    *("PIP_FIND_LINKS", "PIP_EXTRA_INDEX_URL", "PIP_CONSTRAINT", "PIP_NO_INDEX"),
    *("PIP_UPLOADED_PRIOR_TO", "UV_EXCLUDE_NEWER", "PIP_NO_BUILD_ISOLATION", "UV_NO_BUILD_ISOLATION"),
)
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
def _overrides(monkeypatch: pytest.MonkeyPatch) -> None:
    written = pylock_writer.override_row

    def override_row(override: Override) -> dict[str, Any]:
        row = written(override)
        read = override_of_row(row, "pylock.toml")
        assert read is not None
        assert written(read) == row
        assert list(map(str, read.sets_aside)) == [text.rpartition(" (")[0] for text in row["sets-aside"]]
        return row

    monkeypatch.setattr(pylock_writer, "override_row", override_row)


@pytest.fixture(autouse=True)
def _pip_settings(request: pytest.FixtureRequest) -> None:
    """Leave out what this machine's pip and uv are told of indexes, dates and builds: it is not every machine's."""
    monkeypatch: pytest.MonkeyPatch = request.getfixturevalue("monkeypatch")
    for name in _SETTINGS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    if request.node.get_closest_marker("online") is None:
        monkeypatch.delenv("PIP_INDEX_URL", raising=False)


@pytest.fixture(autouse=True)
def _cache(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> None:
    # Index pages of the real index are worth keeping from one run to the next.
    if request.node.get_closest_marker("online") is None:
        folder: Path = tmp_path_factory.getbasetemp() / "cache"
        request.getfixturevalue("monkeypatch").setenv("ENVDOCTOR_CACHE_DIR", str(folder))
