#!/bin/sh
# Sets up and runs the main job on the example project, on metadata that ships with it: `sh scripts/try.sh`.
set -eu
cd "$(dirname "$0")/.."
. scripts/environment.sh
"$VENV/bin/python" -m pip install --quiet --disable-pip-version-check --editable .
# 1 means that something was found, and something is wrong with the example on purpose.
"$VENV/bin/envdoctor" check examples/song-maker --profile diffrhythm2-directml \
    --recorded-index examples/song-maker/recorded-index "$@" || [ $? -eq 1 ]
echo "envdoctor is in $VENV; type \`. $VENV/bin/activate\` to have it on the path of this shell" >&2
