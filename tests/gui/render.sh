#!/usr/bin/env bash
# Pictures without a window or a display: complete, of the size asked for, the same every time.
#   render.sh ATTNSCOPE
set -euo pipefail
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
source "$here/png.sh"
unset DISPLAY WAYLAND_DISPLAY
app=$(readlink -f "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

fail() {
    echo "FAILED: $*" >&2
    exit 1
}

for workspace in step saturation; do
    "$app" render --chrome --workspace "$workspace" --size 1280x720 -o "$workspace.png"
    "$app" render --chrome --workspace "$workspace" --size 1280x720 -o again.png
    cmp "$workspace.png" again.png || fail "$workspace looks different the second time"
    [[ $(png_size "$workspace.png") == 1280x720 ]] || fail "$workspace.png is $(png_size "$workspace.png")"
done
! cmp -s step.png saturation.png || fail "both workspaces look the same"

"$app" render --chrome --theme light --scale 1.5 --stage weights --select weights:1,2 -o light.png
"$app" render --chrome --theme dark --scale 1.5 --stage weights --select weights:1,2 -o dark.png
! cmp -s light.png dark.png || fail "both themes look the same"

"$app" render --all -o out/ >listed.txt
(($(wc -l <listed.txt) >= 4)) || fail "--all listed $(cat listed.txt)"
while read -r path; do [[ -s $path ]] || fail "$path is listed but not there"; done <listed.txt
