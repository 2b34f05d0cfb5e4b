#!/usr/bin/env bash
# The Kinds workspace in the real window: a pair, a setting of one side, the online softmax, undo; the journal played
# again gives the same state.   kinds.sh ATTNSCOPE
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/window.sh"

start --preset the-cat-sat-down --save-session recorded.json
goes_to kinds

# Pairs by key and from the palette, A and B in each other's place, undo.
does '"action":"choose_kinds","pair":"scaled-unscaled"' press n
does '"action":"choose_kinds","pair":"rope"' press n
does '"action":"swap_kinds"' press x
does '"action":"undo"' press ctrl+z
does '"action":"choose_kinds","pair":"window"' palette "compare: all keys"

# A weight, and the settings of a side: some control of them is under one of these points.
first_that '"action":"select_kinds_pair"' click $(points 240 440 100 240 400 40)
does '"action":"show_more","on":true' click 1522 26
first_that '"action":"set_kind","side":"a"' click $(points 1384 1400 8 200 222 8)
does '"action":"show_more","on":false' press Escape
does '"action":"undo"' press ctrl+z

# The online softmax: every chunk, back, other chunks, playing to the end.
does '"action":"show_online","on":true' press o
does '"action":"step_online","steps":1' press Right
does '"action":"step_online","steps":1' press Right
does '"action":"step_online","steps":-1' press Left
does '"action":"set_online_chunk","keys":1' press minus
does '"action":"play_online"' press space
wait_for "the last chunk by itself" more_than '"action":"step_online","steps":1' 5
does '"action":"go_to_online_end","last":false' press Home
does '"action":"show_online","on":false' press Escape

quits_and_replays
