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
    local hits files
    [[ -d $1 ]] || return 0
    files=$(find "$1" ${4:+-maxdepth 1} -type f \( -name '*.h' -o -name '*.cpp' -o -name '*.inl' \) -not -name check.cpp)
    [[ -n $files ]] || return 0
    # shellcheck disable=SC2086  # one word a file
    hits=$(grep -nE -e "$2" $files /dev/null || true)
    [[ -n $hits ]] || return 0
    echo "$3:"
    echo "$hits"
    found=1
}

# forbid FOLDER "NAME|NAME" WHY: no #include whose path has one of the names, at its start or after a slash.
forbid() { search "$1" "^[[:space:]]*#[[:space:]]*include[[:space:]]*[<\"]([^>\"]*/)?($2)" "$3"; }

# The same of the files of one folder alone.
search_in() { search "$1" "$2" "$3" alone; }
forbid_in() { search_in "$1" "^[[:space:]]*#[[:space:]]*include[[:space:]]*[<\"]([^>\"]*/)?($2)" "$3"; }

graphics='GLFW/|epoxy/|GL/|GLES[0-9]*/|EGL/|KHR/|imgui_impl_'

forbid core 'app/|view/|ui/|gl/|cli/' 'core includes nothing above it'
forbid core "$graphics|imgui|iostream>|cstdio>|stdio.h>|print>" 'core knows no window, no GL and no printing'
search core '^([^/]|/[^/])*\b(v?f?printf|f?puts|putchar|perror|exit|_Exit|abort) *\(|std::c(out|err|log)\b|(std|fmt)::print' \
    'core never prints and never exits'
# What draws stands in folders named draw; everything else of these three is plain data and words.
rooms=$(find app/common app/window app/workspaces -type d 2>/dev/null | sort || true)
for room in $rooms; do
    if [[ $room == */draw ]]; then
        forbid_in "$room" 'gl/|cli/|files/|figures/|jobs/|keep/' 'what draws includes only view'
        forbid_in "$room" 'core/' 'panels compute nothing: what they draw comes from view'
        search_in "$room" '^[[:space:]]+static[[:space:]]' 'panels hold no state'
        forbid_in "$room" "$graphics" 'panels draw with ImGui alone: no window, no GL'
    else
        forbid_in "$room" 'draw/|gl/|cli/|files/|figures/|jobs/|keep/' 'view includes only core'
        forbid_in "$room" "$graphics|imgui" 'view is plain C++: no ImGui, no window, no GL'
    fi
done
forbid app/common 'app/window/|app/workspaces/' 'common is what the others stand on'
forbid app/gl 'common/|window/|workspaces/|cli/|files/|jobs/' 'gl includes only core'
forbid app/files 'draw/|gl/|cli/|jobs/' 'files includes only core and view'
forbid app/files "$graphics|imgui" 'files is plain C++: no ImGui, no window, no GL'
forbid app/jobs 'draw/|gl/|cli/|files/' 'jobs includes only core and view'
forbid app/jobs "$graphics|imgui" 'jobs is plain C++: no ImGui, no window, no GL'
forbid app/figures 'draw/|gl/|cli/' 'figures includes only view and core'
forbid app/figures "$graphics|imgui" 'figures know no window, no GL and no ImGui'
forbid app/cli 'draw/' 'cli draws no panels itself'

# A workspace owns itself: nobody outside its folder includes it, or names its actions or what it keeps in the state.
for room in $(find app/workspaces -mindepth 1 -maxdepth 1 -type d 2>/dev/null | sort || true); do
    outside=$(find app -type f \( -name '*.h' -o -name '*.cpp' \) -not -path "$room/*" || true)
    names=$(cat "$room"/*.h 2>/dev/null | sed -nE \
        -e 's/^inline constexpr (Look|Controls)<([A-Za-z]+)> ([a-z_]+);.*/\2\n\3/p' \
        -e '/^struct [A-Za-z]+ \{/{s/^struct ([A-Za-z]+) .*/\1/;h}' \
        -e '/constexpr Meta kMeta/{g;p}' | sort -u | paste -sd '|' || true)
    hits=$(grep -nE "^#include \"$room/" $outside /dev/null || true)
    [[ -z $names ]] || hits+=$(sed -sE 's/"([^"\\\\]|\\\\.)*"//g; s,^[[:space:]]*//.*,,' $outside | grep -wE "$names" || true)
    [[ -n $hits ]] || continue
    printf '%s owns itself: nobody else names it:\n%s\n' "$room" "$hits"
    found=1
done

# What view names is seen before what core names, in silence.
twice=$(grep -roE --include='*.h' '^(inline )?constexpr [A-Za-z_:<>, ]+ k[A-Z][A-Za-z0-9]*' core app/common app/window app/workspaces 2>/dev/null |
    grep -v /draw/ | sed -E 's/:.* / /' | sort -u | cut -d' ' -f2 | sort | uniq -d || true)
for name in $twice; do
    echo "one constant has one meaning:"
    grep -rnE --include='*.h' "constexpr .*\b$name\b" core app
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
