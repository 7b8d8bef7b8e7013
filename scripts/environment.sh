# Sourced by the scripts beside it: makes a virtual environment in .venv (or $ENVDOCTOR_VENV) with the Python at hand.
# Needs a Python from 3.10 on. Debian and Ubuntu keep venv in a package of its own, which is installed where we may.

VENV="${ENVDOCTOR_VENV:-.venv}"
PYTHON="${PYTHON:-python3}"

if ! command -v "$PYTHON" >/dev/null 2>&1; then
    echo "error: no \`$PYTHON\` here; install Python 3.10 or later, or set PYTHON" >&2
    exit 2
fi
if ! "$PYTHON" -c 'import sys; sys.exit(sys.version_info < (3, 10))'; then
    echo "error: \`$PYTHON\` is $("$PYTHON" -V 2>&1); envdoctor needs 3.10 or later (set PYTHON)" >&2
    exit 2
fi
if ! "$PYTHON" -c 'import ensurepip, venv' >/dev/null 2>&1; then
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
        apt-get update -qq && apt-get install -y -qq python3-venv >/dev/null
    else
        echo "error: \`$PYTHON\` has no venv; install it with: sudo apt-get install python3-venv" >&2
        exit 2
    fi
fi
[ -x "$VENV/bin/python" ] || "$PYTHON" -m venv "$VENV"
"$VENV/bin/python" -m pip install --quiet --disable-pip-version-check --upgrade "pip>=25.1"
# Where PYTHONDONTWRITEBYTECODE is set, every start would compile all of it again, which doubles the time of a check.
"$VENV/bin/python" -m compileall -q src/envdoctor
