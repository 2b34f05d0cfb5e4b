#!/usr/bin/env bash
# Heads of a model switched off in the real window: by key and by button, several, undone, all on again; the run is an answer
# beside the window, the screen names the heads, the session keeps them, the journal played again gives the same state.
#   switches.sh ATTNSCOPE
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/window.sh"
is_answered() { grep '"action":"\(switch_\|replace_row\|patch_head\|document_ready\)' "$journal" | tail -n 1 | grep -q document_ready; }
answered() { wait_for "the answer" is_answered; }
# The letters of the first line, without spaces: lines are broken.
says() {
    draw_journal
    sed 's/<[^>]*>//g' drawn.svg | tr -d ' \n' | grep -qF -- "${1// /}" || fail "'$1' is not on the screen"
}
says_not() {
    draw_journal
    ! sed 's/<[^>]*>//g' drawn.svg | tr -d ' \n' | grep -qF -- "${1// /}" || fail "'$1' is on the screen"
}

opens_encoder
goes_to heads
does '"action":"show_head","head":1,"batch":null,"layer":0' press Right
does '"action":"switch_head","layer":0,"head":1,"on":false' press w
answered
says 'Without L0 H1 the text'
says 'Most changed: L1 H'

# The button of the popover does the same for the next head; undo brings that one back alone.
does '"action":"show_head","head":2,"batch":null,"layer":0' press Right
does '"action":"show_more","on":true' click 1535 26
first_that '"action":"switch_head","layer":0,"head":2,"on":false' click $(points 1390 1450 30 338 350 6)
does '"action":"show_more","on":false' press Escape
answered
says 'Without L0 H1 and L0 H2 the text'
does '"action":"undo"' press ctrl+z
says 'Without L0 H1 the text'

# A row of weights and v of another text stand beside the head that is off, and are undone one by one.
does '"action":"replace_row","layer":0,"head":2' press e
answered
says 'of L0 H2 replaced the text'
press v
settle
does '"action":"patch_head","layer":0,"head":2,"part":"v"' press Return
answered
says 'with v of layer 0 key head 2 from'
does '"action":"undo"' press ctrl+z
does '"action":"undo"' press ctrl+z
does '"action":"show_head"' press Left # another message than that of the undo
says_not 'of L0 H2 replaced the text'
says 'Without L0 H1 the text'

does '"action":"switch_all_heads_on"' press shift+w
answered
says_not 'Without L0'
does '"action":"undo"' press ctrl+z
says 'Without L0 H1 the text'

quits_and_replays
grep -q '"off": \[\[0,1\]\]' recorded.json || fail "the session has not the head that is off"
