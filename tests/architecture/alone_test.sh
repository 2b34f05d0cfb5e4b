#!/usr/bin/env bash
# alone.py refuses a source that uses what it does not include, and nothing else.   alone_test.sh TREE BUILD
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
# Sources with the same headers share a precompiled header, which the others must not see.
for name in right other third fourth fifth; do
    cat >"$folder/$name.cpp" <<'END'
#include "core/tensor.h"
attn::Index tokens(const attn::Tensor& all) { return all.shape().t; }
END
done
cat >"$folder/own_header.cpp" <<'END'
#include "core/forward.h"
#include "core/sizes.h"
attn::Index tokens(const attn::Tensor& all) { return all.shape().t; }
END
cat >"$folder/standard_header.cpp" <<'END'
#include "core/sizes.h"
std::vector<attn::Index> tokens(attn::Index count) { return {count}; }
END
code=0
"$1/tests/architecture/alone.py" "$1" "$2" "$folder"/*.cpp >"$folder/output" || code=$?
if ((code != 1)) || ! grep -q 'own_header.cpp does not compile' "$folder/output" ||
    ! grep -q 'standard_header.cpp does not compile' "$folder/output" || ! grep -q ' 2 do not compile' "$folder/output"; then
    cat "$folder/output"
    exit 1
fi
