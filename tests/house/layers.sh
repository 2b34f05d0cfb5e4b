#!/usr/bin/env bash
# Fails when a file knows what its layer must not know:  core <- view <- ui <- main,  core <- gl <- main,
# core <- view <- files <- cli.
# Usage: layers.sh TREE
set -euo pipefail
cd "$1"

found=0

# search FOLDER REGEX WHY: every line of the folder's sources that matches is a violation. core/check.cpp is the
# one place of core that prints and stops: it reports a bug of ours.
search() {
    local hits
    [[ -d $1 ]] || return 0
    hits=$(grep -rnE --include='*.h' --include='*.cpp' --include='*.inl' --exclude=check.cpp -e "$2" "$1" || true)
    [[ -n $hits ]] || return 0
    echo "$3:"
    echo "$hits"
    found=1
}

# forbid FOLDER "NAME|NAME" WHY: no #include whose path has one of the names, at its start or after a slash.
forbid() { search "$1" "^[[:space:]]*#[[:space:]]*include[[:space:]]*[<\"]([^>\"]*/)?($2)" "$3"; }

graphics='GLFW/|epoxy/|GL/|GLES[0-9]*/|EGL/|KHR/|imgui_impl_'

forbid core 'app/|view/|ui/|gl/|cli/' 'core includes nothing above it'
forbid core "$graphics|imgui|iostream>|cstdio>|stdio.h>|print>" 'core knows no window, no GL and no printing'
search core '^([^/]|/[^/])*\b(v?f?printf|f?puts|putchar|perror|exit|_Exit|abort) *\(|std::c(out|err|log)\b|(std|fmt)::print' \
    'core never prints and never exits'
forbid app/view 'ui/|gl/|cli/|files/' 'view includes only core'
forbid app/view "$graphics|imgui" 'view is plain C++: no ImGui, no window, no GL'
forbid app/ui 'gl/|cli/|files/' 'ui includes only view'
forbid app/ui 'core/' 'panels compute nothing: what they draw comes from view'
search app/ui '^[[:space:]]+static[[:space:]]' 'panels hold no state'
forbid app/ui "$graphics" 'ui draws with ImGui alone: no window, no GL'
forbid app/gl 'view/|ui/|cli/|files/|jobs/' 'gl includes only core'
forbid app/files 'ui/|gl/|cli/|jobs/' 'files includes only core and view'
forbid app/files "$graphics|imgui" 'files is plain C++: no ImGui, no window, no GL'
forbid app/jobs 'ui/|gl/|cli/|files/' 'jobs includes only core and view'
forbid app/jobs "$graphics|imgui" 'jobs is plain C++: no ImGui, no window, no GL'
forbid app/figures 'ui/|gl/|cli/' 'figures includes only view and core'
forbid app/figures "$graphics|imgui" 'figures know no window, no GL and no ImGui'
forbid app/ui 'figures/|jobs/' 'ui draws through a Painter and knows none of the figures'
forbid app/cli 'ui/' 'cli draws no panels itself'

# A workspace is a room: it knows no other, and what they share knows none of them.
for layer in app/view app/ui; do
    workspaces=$(find "$layer" -mindepth 1 -maxdepth 1 -type d -printf '%f\n' 2>/dev/null |
        grep -vxE 'common|document|window' | sort || true)
    for room in "$layer"/*/; do
        room=$(basename "$room")
        others=$(grep -vx "$room" <<<"$workspaces" | paste -sd '|' || true)
        [[ -z $others ]] || forbid "$layer/$room" "$layer/($others)/" "$layer/$room knows no (other) workspace"
    done
    forbid "$layer/common" "$layer/(document|window)/" "$layer/common is what the other rooms stand on"
done

# What view names is seen before what core names, in silence.
twice=$(grep -roE --include='*.h' '^(inline )?constexpr [A-Za-z_:<>, ]+ k[A-Z][A-Za-z0-9]*' core app/view 2>/dev/null |
    sed -E 's/:.* / /' | sort -u | cut -d' ' -f2 | sort | uniq -d || true)
for name in $twice; do
    echo "one constant has one meaning:"
    grep -rnE --include='*.h' "constexpr .*\b$name\b" core app/view
    found=1
done

circle=$(grep -rE --include='*.h' --include='*.cpp' --include='*.inl' '^#include "' core app |
    sed -E 's/:#include "/ /; s/".*//' | tsort 2>&1 >/dev/null || true)
if [[ -n $circle ]]; then
    printf 'files that include each other in a circle:\n%s\n' "$circle"
    found=1
fi

unguarded=$(grep -rL --include='*.h' -x '#pragma once' core app tests || true)
if [[ -n $unguarded ]]; then
    printf 'no #pragma once:\n%s\n' "$unguarded"
    found=1
fi
exit "$found"
