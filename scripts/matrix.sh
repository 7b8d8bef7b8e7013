#!/bin/sh
# Runs the tests with every Python from 3.10 on that is here, and with the lowest dependencies that pyproject.toml allows:
# `sh scripts/matrix.sh [pytest arguments]`. Environments lie in .matrix/.
set -eu
cd "$(dirname "$0")/.."
failed=""

# run NAME COMMAND...: go on after a failure, and say at the end which failed.
run() {
    name=$1
    shift
    echo "== $name"
    "$@" || failed="$failed $name"
}

lowest=""
for version in 3.10 3.11 3.12 3.13 3.14 3.15; do
    # A shim of a version manager may be there without a Python behind it.
    "python$version" -c '' 2>/dev/null || { echo "== python$version is not here"; continue; }
    lowest=${lowest:-$version}
    run "python$version" env PYTHON="python$version" ENVDOCTOR_VENV=".matrix/$version" sh scripts/test.sh -q "$@"
done
[ -n "$lowest" ] || { echo "error: no Python from 3.10 on is here" >&2; exit 2; }

lowest_dependencies() {
    python=".matrix/lowest/bin/python"
    [ -x "$python" ] || "python$lowest" -m venv .matrix/lowest
    "$python" -m pip install --quiet --disable-pip-version-check "pip>=25.1" uv
    # Those that pyproject.toml names alone: what the tests need has wishes of its own for the others.
    .matrix/lowest/bin/uv pip compile --quiet --no-config --no-deps --resolution lowest-direct --python "$python" \
        pyproject.toml -o .matrix/lowest.txt
    "$python" -m pip install --quiet --disable-pip-version-check --editable . --group test --constraint .matrix/lowest.txt
    "$python" -m pytest -q "$@"
}
run "lowest dependencies on python$lowest" lowest_dependencies "$@"

[ -z "$failed" ] || { echo "failed:$failed" >&2; exit 1; }
