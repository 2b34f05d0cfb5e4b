#!/usr/bin/env bash
# A model's folder in the window: opened by its path, stepped through, another head and another layer of other widths; a text
# is typed for it, undone and typed on; the journal played again gives the same session.
#   model.sh ATTNSCOPE
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/window.sh"
source "$here/typing.sh"
opens_encoder
for ((stage = 1; stage < 9; ++stage)); do does '"action":"step_by"' press Right; done
does '"action":"show_head","head":1' press h
does '"action":"show_layer","layer":1' press y
does '"action":"move_selection"' press shift+Down
does '"action":"show_layer","layer":0' press y

# Every keystroke asks for a text, and what is on screen keeps its head and stage.
types_text 'The street was'
shows_tokens ▁The ▁street ▁was
shows_not ▁cross ▁tired
# Undo goes back to the text before the typing, redo to the last.
does '"action":"undo"' press ctrl+z
shows_tokens ▁The ▁animal ▁cross ▁tired
does '"action":"redo"' press ctrl+y
shows_tokens ▁The ▁street ▁was
shows_not ▁tired
# What is typed on is compared with it; an empty text changes nothing.
types_text 'The street was too tired'
shows_tokens ▁street ▁too ▁tired
click "$x" "$y"
press ctrl+a
does '"action":"type_text","text":""' press BackSpace
shows_tokens ▁street ▁too ▁tired
types_text 'because it was tired'

quits_and_replays
grep -q '"text": "because it was tired"' recorded.json || fail "the session has not the last text"
grep -q '"before": "The street was too tired"' recorded.json || fail "the session has not the text before"
grep -q '"stage":"context"' recorded.json || fail "the stage was lost"
grep -q '"head":1' recorded.json || fail "the head was lost"
