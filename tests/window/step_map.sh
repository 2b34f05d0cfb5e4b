#!/usr/bin/env bash
# 300 tokens in Step, by mouse and keyboard: the stages of scores and weights are a map; it is stepped through, zoomed and
# panned, a cell is clicked, and the number that the inspector shows is the one that the reference backend computes.
#   step_map.sh ATTNSCOPE
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/window.sh"
cp "$here/../goldens/npz/mapped_tokens.npz" tokens.npz

# Only a map that is there can be zoomed.
zoomed() {
    point_at 620 560
    input click --repeat 6 --delay 80 4
    settle
    more_than '"action":"set_map_camera"' 0
}
# score_of ROW COLUMN: M[ROW, COLUMN] as the reference backend computes it, a float32 after the header of a .npy.
score_of() {
    "$app" trace tokens.npz --backend reference --keep masked -o reference.npz >trace.txt
    unzip -p reference.npz masked.npy >masked.npy
    local header=$((10 + $(od -An -tu2 -j8 -N2 masked.npy)))
    od -An -tf4 -j$((header + 4 * (300 * $1 + $2))) -N4 masked.npy
}
# last FIELD: of the cell in the last line that selected one.
last() { grep '"action":"select_map_cell"' "$journal" | tail -n 1 | sed -E "s/.*\"$1\":([0-9]+).*/\1/"; }

start tokens.npz --save-session recorded.json
document_is_there
goes_to step
does '"action":"step_by","steps":-1' press Left
does '"action":"step_by","steps":1' press Right
wait_for "the map" zoomed
does '"action":"set_map_camera"' drag_down 560 480
does '"action":"fit_map"' press f
wait_for "the map" zoomed
does '"action":"select_map_cell"' click 620 560
does '"action":"step_by","steps":-1' press Left
quits_and_replays

# What the inspector shows of that cell, to four decimals.
grep -q '"stage":"masked"' recorded.json || fail "the stage is not masked"
"$app" render --session recorded.json --chrome --size 1600x1000 -o window.svg
grep -q "masked score\[$(last row) → $(last column)\]" window.svg || fail "the inspector names another cell"
command -v unzip >/dev/null || exit 0
expected=$(score_of "$(last row)" "$(last column)")
sed -nE 's|^<text .*>([−-]?[0-9.]+)</text>$|\1|p' window.svg | sed 's/−/-/' |
    awk -v expected="$expected" '(d = $1 - expected) < 1e-4 && d > -1e-4 { found = 1 } END { exit !found }' ||
    fail "no number of the window is $expected"
