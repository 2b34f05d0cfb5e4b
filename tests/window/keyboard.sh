#!/usr/bin/env bash
# Lists, the focus ring and typed numbers in the real window; the journal shows it, and played again it
# gives the same state.   keyboard.sh ATTNSCOPE
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/window.sh"

start --preset the-cat-sat-down --save-session recorded.json

# An open list has the keyboard: Escape closes it and nothing else. With nothing open it does nothing.
does '"action":"move_selection"' press shift+Down
never '"action"' click 745 24
never '"action":"step_by"\|"action":"set_scaling"' press Right s
never '"action":"clear_selection"' press Escape
never '"action":"clear_selection"' press Escape
click 745 24
press Down
does '"action":"load_preset"' press Return

# The second stop of Tab is the rail's second workspace; Space there does not play.
press Tab Tab
does '"action":"set_workspace"' press space
(($(count '"action":"toggle_play"') == 0)) || fail "Space on a focused control plays"
goes_to step

# Escape takes the ring away: Enter is the matrix's again. A number of X is kept when a stage is clicked.
press Escape
does '"action":"move_selection"' press Home shift+Down
does '"action":"begin_cell_edit"' press Return
typed 2.5
does '"action":"leave_cell_edit"' click 900 80
does '"action":"undo"' press ctrl+z

# What is no number stays open to be mended; Tab takes the number and goes on to the next cell.
does '"action":"move_selection"' press Home shift+Up
does '"action":"begin_cell_edit"' press Return
typed 1.2.3
does '"action":"commit_cell_edit"' press Return
typed 7
does '"action":"commit_and_move","cells":1' press Tab
never '"action":"set_scaling"\|"action":"step_by"' xdotool type --delay 40 4
does '"action":"cancel_cell_edit"' press Escape

# The popover and the inspector: Escape closes the popover and nothing else.
does '"action":"show_model","on":true' press d
next_control() { press Tab Right; }
first_that '"action":"set_key_width"' next_control 1 2 3
does '"action":"show_model","on":false' press Escape
(($(count '"action":"clear_selection"') == 0)) || fail "Escape in the popover cleared the selection"
press Escape
does '"action":"show_inspector","on":false' press i
does '"action":"show_inspector","on":null' press i

quits_and_replays
