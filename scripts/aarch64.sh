#!/usr/bin/env bash
# Sets up and runs the tests on a CPython for aarch64 Linux, under qemu: `bash scripts/aarch64.sh [pytest arguments]`.
# `bash scripts/aarch64.sh -c PROGRAM ...` runs a program of that environment instead: `-c envdoctor host`.
# Without arguments it runs the tests of what asks the machine. All is made in .aarch64 (or $ENVDOCTOR_AARCH64).
# Needs root on Debian or Ubuntu: the kernel is told of qemu (binfmt_misc), so that what the tests start runs, too.
# Python comes out of the system's arm64 packages, which are unpacked there and not installed; ENVDOCTOR_AARCH64_PYTHON
# may name another one for aarch64, cross-compiled for example, with .aarch64/venv still to be made. No GPU is there.
set -euo pipefail
there=$PWD
cd "$(dirname "$0")/.."
base=$(realpath -m "${ENVDOCTOR_AARCH64:-.aarch64}")
root="$base/root" venv="$base/venv"

if ! command -v qemu-aarch64-static >/dev/null || [ ! -e /proc/sys/fs/binfmt_misc/qemu-aarch64 ]; then
    if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
        echo "error: qemu for aarch64 is not set up here: sudo apt-get install qemu-user-static binfmt-support" >&2
        exit 2
    fi
    apt-get update -qq
    apt-get install -y -qq --no-install-recommends qemu-user-static binfmt-support >/dev/null
    [ -e /proc/sys/fs/binfmt_misc/register ] || mount -t binfmt_misc binfmt_misc /proc/sys/fs/binfmt_misc
    [ -e /proc/sys/fs/binfmt_misc/qemu-aarch64 ] || update-binfmts --enable qemu-aarch64
fi
# Where the libraries and the loader of programs for aarch64 are.
export QEMU_LD_PREFIX="$root"

unpack_python() {
    local apt=(-o APT::Architecture=arm64 -o APT::Architectures=arm64 -o "Dir::State::Lists=$base/lists"
        -o APT::Sandbox::User=root) python
    mkdir -p "$base/lists/partial" "$base/packages" "$root"
    apt-get "${apt[@]}" update -qq
    python=$(apt-cache "${apt[@]}" depends python3-minimal |
        sed -n 's/.*Depends: \(python3\.[0-9]*\)-minimal.*/\1/p' | head -1)
    (
        cd "$base/packages"
        apt-get "${apt[@]}" download -qq "$python" "$python-minimal" "lib$python-minimal" "lib$python-stdlib" \
            "$python-venv" libc6 libc-bin libgcc-s1 libstdc++6 libexpat1 zlib1g libssl3 libffi8 libbz2-1.0 liblzma5 \
            libsqlite3-0 libuuid1 libncursesw6 libtinfo6 libreadline8 libcrypt1 libdb5.3 libnsl2 libtirpc3 \
            libgssapi-krb5-2 \
            libkrb5-3 libk5crypto3 libcom-err2 libkrb5support0 libkeyutils1 libgomp1 python3-pip-whl \
            python3-setuptools-whl ca-certificates media-types
        for package in ./*.deb; do dpkg-deb -x "$package" "$root"; done
    )
    mkdir -p "$root/etc/ssl"
    cp -r /etc/ssl/certs "$root/etc/ssl/"
    # Without its own cache of libraries, the loader reads the one of this machine, which names none for aarch64.
    printf '%s\n' /lib/aarch64-linux-gnu /usr/lib/aarch64-linux-gnu /usr/local/lib >"$root/etc/ld.so.conf"
    "$root/sbin/ldconfig" -r "$root"
    # qemu before 8.1 shows the processors of this machine; onnxruntime looks for its own kind there, and crashes.
    mkdir -p "$root/proc"
    for number in $(seq 0 $(($(nproc) - 1))); do
        printf 'processor\t: %s\nFeatures\t: fp asimd aes pmull sha1 sha2 crc32 atomics asimdrdm\n' "$number"
        printf 'CPU %s\n' "implementer : 0x41" "architecture: 8" "variant : 0x3" "part : 0xd0c" "revision : 1"
        echo
    done >"$root/proc/cpuinfo"
    ln -sfn "$root/usr/bin/$python" "$base/python"
    rm -rf "$base/packages" "$base/lists"
}

[ -e "$base/python" ] || unpack_python
[ -x "$venv/bin/pip" ] || "${ENVDOCTOR_AARCH64_PYTHON:-$(readlink "$base/python")}" -m venv "$venv"
pip=("$venv/bin/python" -m pip install --quiet --disable-pip-version-check)
[ -x "$venv/bin/pytest" ] || "${pip[@]}" --upgrade "pip>=25.1"
"${pip[@]}" --editable . --group test

if [ "${1:-}" = -c ]; then
    cd "$there"
    exec "$venv/bin/$2" "${@:3}"
fi
[ $# -gt 0 ] || set -- -q tests/host tests/environment tests/binary tests/smoke
exec "$venv/bin/python" -m pytest -p no:cacheprovider "$@"
