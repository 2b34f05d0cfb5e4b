#!/usr/bin/env bash
# Draws every workspace, both themes, at three sizes, and compares the pictures with the sheets, or renews those.
#   draw.sh ATTNSCOPE TEST_SNAPSHOTS SHEETS [--renew]
set -euo pipefail
app=$1 compare=$2 sheets=$3 renew=${4:-}
pictures=$(mktemp -d)
trap 'rm -rf "$pictures"' EXIT
export XDG_CONFIG_HOME=$pictures/config XDG_STATE_HOME=$pictures/state  # settings of a first launch
for size in 1280x720 1600x1000 2560x1440; do
    if ! "$app" render --all --main-shots --size "$size" -o "$pictures/$size" >"$pictures/drawn" 2>&1; then
        grep -q 'OpenGL' "$pictures/drawn" && { echo "skipped: no OpenGL here: $(tail -n 1 "$pictures/drawn")"; exit 77; }
        cat "$pictures/drawn"
        exit 1
    fi
done
"$compare" "$pictures" "$sheets" $renew
