#!/usr/bin/env bash
# The Kinds workspace in the real window: a pair, a setting of one side, the online softmax, undo; the journal played
# again gives the same state.   kinds.sh ATTNSCOPE
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
source "$here/window.sh"

# first_that PATTERN POINT...: clicks one point after the other until a line of the journal matches.
first_that() {
    local pattern=$1 before point
    before=$(count "$pattern")
    shift
    for point in "$@"; do
        click "${point%,*}" "${point#*,}"
        sleep 0.2
        if more_than "$pattern" "$before"; then return; fi
    done
    fail "'$pattern' at none of $*"
}

start --preset the-cat-sat-down --save-session recorded.json
does '"action":"set_workspace","workspace":"kinds"' press 5

# Pairs by key and from the palette, A and B in each other's place, undo.
does '"action":"choose_kinds","pair":"scaled-unscaled"' press n
does '"action":"choose_kinds","pair":"rope"' press n
does '"action":"swap_kinds"' press x
does '"action":"undo"' press ctrl+z
press ctrl+k
xdotool type --delay 40 "compare: all keys"
does '"action":"choose_kinds","pair":"window"' press Return

# A weight, and the settings of a side: some control of them is under one of these points.
mapfile -t cells < <(for y in 420 460 500; do for x in 200 300 400; do echo "$x,$y"; done; done)
first_that '"action":"select_kinds_pair"' "${cells[@]}"
mapfile -t switches < <(for y in 66 100; do for ((x = 160; x <= 640; x += 24)); do echo "$x,$y"; done; done)
first_that '"action":"set_kind","side":"a"' "${switches[@]}"
press Escape
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
