#!/usr/bin/env bash
# The Numerics workspace by mouse and keyboard: gain, cells, typed logits, the document's row; the journal shows it, and
# played again it gives the same state.   numerics.sh ATTNSCOPE
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/window.sh"

start --preset the-cat-sat-down --save-session recorded.json
goes_to numerics

# The gain: a key, and a drag over one of the curves, which is one gesture.
does '"action":"set_numerics_gain","gain":32' press Right
does '"action":"set_numerics_gain","gain":16' press Left
mapfile -t curves < <(points 250 450 100 780 900 30)
first_that '"action":"set_numerics_gain"' drag_right "${curves[@]}"
does '"action":"end_gesture"' drag_right "$x" "$y"
does '"action":"undo"' press ctrl+z

# A bar of the matrix, and the next format, algorithm and key.
first_that '"action":"select_numerics_cell"' click $(points 620 620 40 300 620 40)
does '"action":"select_numerics_cell"' press f
does '"action":"select_numerics_cell"' press a
does '"action":"select_numerics_cell"' press period

# Logits are typed, minus infinity too.
mapfile -t fields < <(points 400 560 20 24 40 8)
type_logits() { click "$1" "$2"; press ctrl+a; xdotool type --delay 40 '1, -inf, 12'; press Return; }
first_that '"action":"set_numerics_logits","logits":\[1.0,"-inf",12.0\]' type_logits "${fields[@]}"
does '"action":"set_numerics_row","row":"document"' press d
does '"action":"set_numerics_row","row":"typed"' press d

quits_and_replays
