#!/usr/bin/env bash
# The Compare workspace in the real window: a baseline pinned in Step, the present compared with it, blink, another
# baseline, a target weight that becomes an edit; the journal played again gives the same state.   compare.sh ATTNSCOPE
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/window.sh"

start --save-session recorded.json --preset the-cat-sat-down
does '"action":"pin_baseline"' press b
goes_to compare
does '"action":"set_blink","side":1' press space
does '"action":"set_blink","side":0' press space
does '"action":"set_blink"' press v
does '"action":"set_scaling"' press s
does '"action":"pin_baseline"' press b
does '"action":"choose_baseline","pin":0' press shift+1
does '"action":"select_compare_cell","row":1' press Down
does '"action":"set_target_weight"' press u
does '"action":"apply_target_weight","word":true' palette "change the word"
does '"action":"unpin","pin":0' press Delete

quits_and_replays
