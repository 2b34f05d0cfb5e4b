#!/usr/bin/env bash
# Presenting in the real window: the canvas alone, driven by keys; the journal shows it, and played again it
# gives the same state.   presenter.sh ATTNSCOPE
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/window.sh"

start --preset three-heads --save-session recorded.json

does '"action":"set_presenter","on":true' press p
does '"action":"step_by","steps":1' press Right
never '"action":"set_workspace"' click 40 100 # where the rail was
does '"action":"show_head"' press h
does '"action":"toggle_play"' press space
does '"action":"toggle_play"' press space
goes_to saturation
goes_to step

# What is open on top is closed first.
does '"action":"show_help","on":true' press F1
does '"action":"show_help","on":false' press Escape
does '"action":"show_about","on":true' press ctrl+F1
does '"action":"show_about","on":false' press Escape
does '"action":"set_presenter","on":false' press Escape
does '"action":"set_workspace"' click 40 100

does '"action":"set_presenter","on":true' press p
does '"action":"set_presenter","on":false' press p
does '"action":"set_presenter","on":true' press p

quits_and_replays
grep -q '"presenter":true' recorded.json || fail "the session does not say that it presents"
