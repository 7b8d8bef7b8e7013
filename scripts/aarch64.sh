#!/usr/bin/env bash
# Sets up and runs the tests on a CPython for aarch64 Linux, under qemu: `bash scripts/aarch64.sh [pytest arguments]`.
# `bash scripts/aarch64.sh -c PROGRAM ...` runs a program of that environment instead: `-c envdoctor host`.
# Without arguments it runs the tests of what asks the machine. All is made in .aarch64 (or $ENVDOCTOR_AARCH64).
# Nothing is installed into the system: qemu, where it is not here, and Python come out of Debian's or Ubuntu's packages,
# unpacked there. Root is needed once, to tell the kernel of qemu (binfmt_misc), so that what the tests start runs, too.
# ENVDOCTOR_AARCH64_PYTHON may name another Python for aarch64, cross-compiled for example, with .aarch64/venv still to
# be made. No GPU is there. Where this cannot be had, one line says why, and the exit code is 77: nothing has run.
set -euo pipefail
there=$PWD
cd "$(dirname "$0")/.."
base=$(realpath -m "${ENVDOCTOR_AARCH64:-.aarch64}")
root="$base/root" venv="$base/venv" binfmt=/proc/sys/fs/binfmt_misc

cannot() {
    echo "not run: no aarch64 here: $*" >&2
    exit 77
}

# packages ARCHITECTURE PROGRAM ...: apt-get or apt-cache with lists of that architecture, beside the system's own.
packages() {
    "$2" -o "APT::Architecture=$1" -o "APT::Architectures=$1" -o "Dir::State::Lists=$base/lists" \
        -o APT::Sandbox::User=root -o Acquire::Retries=0 -o Acquire::http::Timeout=30 "${@:3}"
}

fetch_lists() {
    command -v apt-get >/dev/null || cannot "it comes out of Debian's or Ubuntu's packages"
    rm -rf "$base/lists"
    mkdir -p "$base/lists/partial"
    # Where nothing can be reached, apt-get warns and is content.
    packages "$1" apt-get update -qq 2>/dev/null && compgen -G "$base/lists/*Packages*" >/dev/null ||
        cannot "the system's package servers cannot be reached"
}

# unpack ARCHITECTURE FOLDER PACKAGE...
unpack() {
    local architecture=$1 folder=$2 package
    shift 2
    rm -rf "$base/packages"
    mkdir -p "$base/packages" "$folder"
    (cd "$base/packages" && packages "$architecture" apt-get download -qq "$@") ||
        cannot "the packages cannot be downloaded"
    for package in "$base"/packages/*.deb; do dpkg-deb -x "$package" "$folder"; done
    rm -rf "$base/packages" "$base/lists"
}

set_up_qemu() {
    local qemu bytes='\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00'
    [ "$(id -u)" = 0 ] || cannot "its programs run with qemu-user-static, which root installs"
    [ -e "$binfmt/register" ] || mount -t binfmt_misc binfmt_misc "$binfmt" || cannot "no binfmt_misc in this kernel"
    qemu=$(command -v qemu-aarch64-static) || {
        qemu="$base/qemu/usr/bin/qemu-aarch64-static"
        [ -x "$qemu" ] || {
            fetch_lists "$(dpkg --print-architecture)"
            unpack "$(dpkg --print-architecture)" "$base/qemu" qemu-user-static
        }
    }
    # How a program for aarch64 begins. F: the kernel opens qemu now and keeps it, so that it may lie anywhere.
    printf '%s' ":qemu-aarch64:M::\x7fELF\x02\x01\x01$bytes:" \
        '\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff' ":$qemu:F" >"$binfmt/register" ||
        cannot "the kernel may not be told of qemu"
}

# Where the libraries and the loader of programs for aarch64 are.
export QEMU_LD_PREFIX="$root"

unpack_python() {
    local python
    fetch_lists arm64
    python=$(packages arm64 apt-cache depends python3-minimal |
        sed -n 's/.*Depends: \(python3\.[0-9]*\)-minimal.*/\1/p' | head -1)
    unpack arm64 "$root" "$python" "$python-minimal" "lib$python-minimal" "lib$python-stdlib" "$python-venv" \
        libc6 libc-bin libgcc-s1 libstdc++6 libexpat1 zlib1g libssl3 libffi8 libbz2-1.0 liblzma5 \
        libsqlite3-0 libuuid1 libncursesw6 libtinfo6 libreadline8 libcrypt1 libdb5.3 libnsl2 libtirpc3 \
        libgssapi-krb5-2 libkrb5-3 libk5crypto3 libcom-err2 libkrb5support0 libkeyutils1 libgomp1 python3-pip-whl \
        python3-setuptools-whl ca-certificates media-types
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
}

# uv of this machine, where there is one, takes a tenth of the time of pip under qemu.
install() {
    local uv
    if uv=$(PATH="$PATH:.venv/bin" command -v uv); then
        "$uv" pip install --quiet --python "$venv/bin/python" --editable . --group test && return
    fi
    "$venv/bin/python" -m pip --version >/dev/null 2>&1 || "$venv/bin/python" -m ensurepip >/dev/null
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --upgrade "pip>=25.1"
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --editable . --group test
}

[ -e "$binfmt/qemu-aarch64" ] || set_up_qemu
[ -e "$base/python" ] || unpack_python
[ -x "$venv/bin/python" ] || "${ENVDOCTOR_AARCH64_PYTHON:-$(readlink "$base/python")}" -m venv --without-pip "$venv"
install
if [ "${1:-}" = -c ]; then
    cd "$there"
    exec "$venv/bin/$2" "${@:3}"
fi
[ $# -gt 0 ] || set -- -q tests/host tests/environment tests/binary tests/smoke
exec "$venv/bin/python" -m pytest -p no:cacheprovider "$@"
