#!/usr/bin/env bash
# Installs core from a build, builds main.cpp against it as another program would, and compares what it prints.
#   check.sh BUILD COMPILER
# 77: this build does not install core (cmake/install_core.cmake says why).
set -euo pipefail
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
build=$1 compiler=$2
fail() { echo "core_example: $*"; exit 1; }
grep -q attnscope-config "$build/cmake_install.cmake" || { echo "core is not installed by this build"; exit 77; }

# The page shows what is tried here.
shown() { sed -n "/^\`\`\`$1\$/,/^\`\`\`\$/p" "$here/../../docs/core.md" | sed '1d;$d'; }
diff "$here/main.cpp" <(shown cpp) && diff "$here/expected.txt" <(shown text) && diff <(sed 1d "$here/CMakeLists.txt") <(shown cmake) ||
    fail "docs/core.md shows another program"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cmake --install "$build" --component development --prefix "$work/prefix" >/dev/null
headers=$work/prefix/include/attnscope
[[ ! -e $work/prefix/bin && ! -e $work/prefix/share ]] || fail "the component development has parts of the program"
missing=$(grep -rhoP '^#include "\K[^"]+' "$headers" | sort -u | while read -r header; do
    [[ -e $headers/$header ]] || echo "$header"
done)
[[ -z $missing ]] || fail "headers that installed ones read are not installed: $missing"
! grep -rnP '^#include <(?!tl/)[^>]*/' "$headers" || fail "these headers want other libraries than tl::expected"

cmake -S "$here" -B "$work/build" -DCMAKE_PREFIX_PATH="$work/prefix" -DCMAKE_CXX_COMPILER="$compiler" >"$work/said" 2>&1 ||
    fail "$(cat "$work/said")"
cmake --build "$work/build" >"$work/said" 2>&1 || fail "$(cat "$work/said")"
"$work/build/example" | diff "$here/expected.txt" -
