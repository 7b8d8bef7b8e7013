#!/bin/sh
# Sets up and runs the tests: `sh scripts/test.sh [pytest arguments]`.
set -eu
cd "$(dirname "$0")/.."
. scripts/environment.sh
"$VENV/bin/python" -m pip install --quiet --disable-pip-version-check --editable . --group test
exec "$VENV/bin/python" -m pytest "$@"
