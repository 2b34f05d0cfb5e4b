#!/usr/bin/env bash
# Mouse and keyboard through both workspaces; the journal shows it, and played again it gives the same
# state.   steps.sh ATTNSCOPE
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/window.sh"

double_click() {
    point_at "$1" "$2"
    input click --repeat 2 --delay 150 1
    settle
}
start --preset the-cat-sat-down --save-session recorded.json

# A cell of X: select it with the mouse, edit it by double click, undo, redo, undo.
mapfile -t canvas < <(points 200 900 80 260 700 40)
first_that '"action":"select_cell"' click "${canvas[@]}"
# Both clicks may fall into one slow frame.
first_that '"action":"begin_cell_edit"' double_click "$x,$y" "$x,$y" "$x,$y"
press ctrl+a
typed 2.5
does '"action":"set_cell"\|"action":"commit_cell_edit"' press Return
does '"action":"undo"' press ctrl+z
does '"action":"redo"' press ctrl+y
does '"action":"undo"' press ctrl+z

# Every stage, and back; scaling off.
for ((stage = 1; stage < 10; ++stage)); do does '"action":"step_by","steps":1' press Right; done
does '"action":"step_by","steps":-1' press Left
first_that '"action":"explain_source"' double_click "${canvas[@]}"  # all that is there is computed
does '"action":"go_to_end"' press Home
does '"action":"set_scaling","on":false' press s

# Saturation: the handle from stop to stop, the pin, the details, typed logits.
goes_to saturation
first_that '"action":"set_saturation_width"' drag_right $(points 300 500 100 500 580 40)
does '"action":"end_gesture"' drag_right "$x" "$y"
does '"action":"set_saturation_width"' press Right
does '"action":"pin_saturation"' press c
does '"action":"set_saturation_model"' press m # only fixed logits are pinned by the mouse
first_that '"action":"pin_saturation"' click $(points 700 700 80 600 700 8)
does '"action":"set_saturation_model"' press m
does '"action":"show_saturation_details","on":true' press d
does '"action":"show_five_bars"' press b

quits_and_replays
