#!/usr/bin/env bash
# bits32.py refuses what 64 bits let pass, and nothing else.   bits32_test.sh TREE BUILD
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat >"$folder/narrowed.cpp" <<'END'
#include <cstddef>
#include <cstdint>
#include <span>
std::span<std::byte> bytes(void* data, std::uint64_t length) { return {static_cast<std::byte*>(data), length}; }
END
cat >"$folder/two_types.cpp" <<'END'
#include <algorithm>
#include <vector>
#include "core/tensor.h"
attn::Index last(attn::Index chosen, const std::vector<double>& p) { return std::min(chosen, std::ssize(p) - 1); }
END
cat >"$folder/right.cpp" <<'END'
#include <algorithm>
#include <vector>
#include "core/tensor.h"
attn::Index last(attn::Index chosen, const std::vector<double>& p) { return std::min<attn::Index>(chosen, std::ssize(p) - 1); }
END
code=0
"$1/tests/architecture/bits32.py" "$1" "$2" "$folder"/{narrowed,two_types,right}.cpp >"$folder/said" || code=$?
if ((code == 77)); then cat "$folder/said" && exit 77; fi
if ((code != 1)) || ! grep -q 'narrowed.cpp.*narrowing' "$folder/said" || ! grep -q "two_types.cpp.*min" "$folder/said" ||
    grep -q 'right.cpp.*error' "$folder/said"; then
    cat "$folder/said"
    exit 1
fi
