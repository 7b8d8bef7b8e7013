#!/bin/sh
# Builds what a release publishes and tries it: `sh scripts/release_check.sh [TAG]`. The files are in dist/ afterwards.
set -eu
cd "$(dirname "$0")/.."
. scripts/environment.sh
"$VENV/bin/python" -m pip install --quiet --disable-pip-version-check build twine
version=$("$VENV/bin/python" -c 'import re; print(re.search(r"__version__ = \"(.+)\"", open("src/envdoctor/__init__.py").read())[1])')
if [ -n "${1:-}" ]; then
    [ "$1" = "v$version" ] || { echo "error: the tag is $1, and envdoctor says $version" >&2; exit 1; }
    # A placeholder would be published for good.
    if grep -n "git.example" pyproject.toml mkdocs.yml >&2; then
        echo "error: set the address of the repository there before a release" >&2
        exit 1
    fi
    grep -q "^## \[$version\]" CHANGELOG.md || { echo "error: CHANGELOG.md has no section [$version]" >&2; exit 1; }
fi
rm -rf dist
"$VENV/bin/python" -m build --outdir dist . >/dev/null
"$VENV/bin/python" -m twine check --strict dist/*
trial=$(mktemp -d)
trap 'rm -rf "$trial"' EXIT
"$VENV/bin/python" -m venv "$trial"
"$trial/bin/python" -m pip install --quiet --disable-pip-version-check dist/*.whl
[ "$("$trial/bin/envdoctor" --version)" = "envdoctor $version" ]
"$trial/bin/envdoctor" check examples/song-maker --profile diffrhythm2-directml --fail-on never --quiet \
    --recorded-index examples/song-maker/recorded-index >/dev/null
[ -f "$trial/share/man/man1/envdoctor.1" ]
echo "dist/ is ready: $(ls dist | tr '\n' ' ')"
