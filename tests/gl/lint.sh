#!/usr/bin/env bash
# Compiles every shader offline, in each of its variants; skips (77) where glslangValidator is not installed.
#   lint.sh FOLDER    of the shaders as the build wrote them, with everything that they include
set -euo pipefail

command -v glslangValidator >/dev/null || { echo "glslangValidator is not here: not checked"; exit 77; }

shopt -s nullglob
shaders=("$1"/*.comp)
((${#shaders[@]} > 0)) || { echo "FAILED: no shader in $1"; exit 1; }
for shader in "${shaders[@]}"; do glslangValidator -l "$shader"; done
for defines in -DVALUE_QUADS=2 -DPAIRWISE -DDROPOUT '-DVALUE_QUADS=2 -DPAIRWISE -DDROPOUT'; do
    # shellcheck disable=SC2086  # one word a define
    glslangValidator -l $defines "$1/fused.comp"
done
