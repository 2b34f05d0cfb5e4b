#!/usr/bin/env bash
# Makes attnscope-VERSION-windows-x86_64.zip by mingw-w64, from the source and from that of every library.
#   windows.sh FOLDER [-DFETCHCONTENT_SOURCE_DIR_<NAME>=FOLDER ...]
# Without those options CMake fetches the libraries' sources; third_party/README.md has their names.
set -euo pipefail
(($# >= 1)) || { sed -n '2,4s/^# \?//p' "$0"; exit 2; }
root=$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")
mkdir -p "$1"
out=$(readlink -f "$1")
shift
command -v x86_64-w64-mingw32-g++-posix >/dev/null || {
    echo "windows: x86_64-w64-mingw32-g++-posix is not installed (Debian: g++-mingw-w64-x86-64-posix)" >&2
    exit 1
}
cd "$root"
cmake --preset windows "$@" >&2
cmake --build --preset windows >&2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
(cd build/windows && cpack -G ZIP -B "$scratch" >&2)
mv "$scratch"/attnscope-*-windows-x86_64.zip "$out/"
(cd "$out" && sha256sum -- attnscope-*-windows-x86_64.zip)
