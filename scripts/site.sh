#!/bin/sh
# Builds the documentation as a site in build/site; fails where a link leads nowhere: `sh scripts/site.sh`.
set -eu
cd "$(dirname "$0")/.."
. scripts/environment.sh
"$VENV/bin/python" -m pip install --quiet --disable-pip-version-check --group site
NO_MKDOCS_2_WARNING=1 "$VENV/bin/python" -m mkdocs build --quiet
