#!/bin/sh
# The gate for style, types and layers: `sh scripts/lint.sh`.
set -eu
cd "$(dirname "$0")/.."
. scripts/environment.sh
"$VENV/bin/python" -m pip install --quiet --disable-pip-version-check --editable . --group lint
"$VENV/bin/ruff" check .
"$VENV/bin/ruff" format --check .
"$VENV/bin/mypy"
"$VENV/bin/lint-imports"
