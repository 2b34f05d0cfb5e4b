#!/usr/bin/env bash
# The first screen: a trained model reads "it" as the animal. Its button tired → wide gives another sentence, which it reads as the
# street; scaling is switched off; the journal played again gives the same session.
#   first_screen.sh ATTNSCOPE
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/window.sh"

mkdir elsewhere && cd elsewhere  # not the journal's folder: the model is found by its name
start --save-session recorded.json
shows 'The model reads “it” as: animal' 'tired → wide'
mapfile -t buttons < <(points 400 460 30 936 936 10)
first_that '"action":"type_text"' click "${buttons[@]}"
wait_for "the other sentence" bash -c "tail -n 1 '$journal' | grep -q document_ready"
shows 'The model reads “it” as: street' 'wide → tired'
does '"action":"undo"' press ctrl+z
shows 'The model reads “it” as: animal'
does '"action":"set_scaling"' press s
quits_and_replays
