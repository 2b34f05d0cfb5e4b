#!/usr/bin/env bash
# Predict mode and the glossary with mouse and keyboard; the journal shows it, and played again it gives the same state.
#   teach.sh ATTNSCOPE
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/window.sh"

start --preset the-cat-sat-down --size 1280x800 --save-session recorded.json

# A row of the weights is guessed by hand and by keys, revealed, guessed again; then the stage itself.
does '"action":"set_predicting","on":true' press shift+p
for ((stage = 1; stage < 8; ++stage)); do does '"action":"step_by","steps":1' press Right; done
first_that '"action":"guess_entry"' click $(points 200 700 60 420 660 60)
does '"action":"pick_guess"' press period
does '"action":"guess_entry"' press Up
does '"action":"reveal_guess"' press Return
does '"action":"guess_again"' press BackSpace
does '"action":"reveal_guess"' press Return
does '"action":"reveal_guess"' press Return
does '"action":"select_cell"\|"action":"move_selection"' press shift+Down
does '"action":"set_predicting","on":false' press shift+p

# The glossary: typed, chosen, and to the place where the term is seen.
does '"action":"show_glossary","on":true' press shift+g
typed "causal"
does '"action":"set_glossary_query","query":"causal mask"' xdotool type --delay 40 " mask"
does '"action":"choose_term"' press Down
does '"action":"choose_term"' press Up
does '"action":"set_workspace","workspace":"masks"' press Return
does '"action":"show_glossary","on":true' press shift+g
does '"action":"show_glossary","on":false' press Escape

quits_and_replays
