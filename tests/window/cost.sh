#!/usr/bin/env bash
# The Cost workspace by mouse and keyboard: tokens, the pass, rows and cards, a measurement on request; the journal shows
# it, and played again it gives the same state.   cost.sh ATTNSCOPE
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/window.sh"

start --preset the-cat-sat-down --save-session recorded.json
goes_to cost

does '"action":"set_cost_tokens","tokens":16384' press Right
does '"action":"set_cost_tokens","tokens":8192' press Left
first_that '"action":"set_cost_tokens"' drag_right $(points 300 500 100 240 420 40)
does '"action":"end_gesture"' drag_right "$x" "$y"
does '"action":"undo"' press ctrl+z
does '"action":"set_cost_pass","pass":"backward"' press b
does '"action":"set_cost_pass","pass":"forward"' press b
does '"action":"select_cost"' press Down
mapfile -t rows < <(points 220 220 10 500 960 9)
first_that '"action":"select_cost","item":"scores"' click "${rows[@]}"

# Nothing is measured by itself, nor what is too large; the document's sizes are.
! grep -q measure_cost "$journal" || fail "it was measured without being asked"
does '"action":"set_cost_preset","key":"document"' palette 'sizes current'
does '"action":"measure_cost"' press m
rests 1  # until the measured times are drawn

quits_and_replays
