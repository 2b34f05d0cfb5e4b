#!/usr/bin/env bash
# Tensors of 12 heads and 40 labelled tokens, by mouse and keyboard: opened in Step and Large, edited, undone, exported as
# SVG and PDF; the journal played again gives the same session and the same picture, at any window size.
#   document.sh ATTNSCOPE
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/window.sh"
file=$here/../goldens/npz/twelve_heads.npz
cp "$file" heads.npz

# Ctrl+O, the path, Enter.
opens() {
    press ctrl+o
    typed "$1"
    press Return
}
exports() {
    press ctrl+e
    settle
    press ctrl+a
    typed "$1"
    press Return
    wait_for "the figure $1" test -s "$1"
}

start --save-session recorded.json
does '"action":"open_file"' opens heads.npz
document_is_there

# Step: every stage, another head, scaling off and on, a cell edited and undone.
for ((stage = 1; stage < 8; ++stage)); do does '"action":"step_by"' press Right; done
does '"action":"show_head","head":1' press h
does '"action":"set_scaling","on":false' press s
does '"action":"undo"' press ctrl+z
does '"action":"go_to_end","last":false' press Home
does '"action":"move_selection"' press shift+Down
does '"action":"begin_cell_edit"' press Return
settle
press ctrl+a
typed 2.5
does '"action":"commit_cell_edit"' press Return
does '"action":"undo"' press ctrl+z
does '"action":"redo"' press ctrl+y
does '"action":"go_to_stage"\|"action":"go_to_end","last":true' press End

# Figures, and no figure over a file without asking.
does '"action":"export_figure"' exports output.svg
grep -q '<text' output.svg || fail "output.svg has no text"
does '"action":"export_figure"' exports output.pdf
head -c 5 output.pdf | grep -q '%PDF-' || fail "output.pdf is no PDF"
echo kept >kept.svg
press ctrl+e
settle
press ctrl+a
typed kept.svg
press Return
settle
grep -q kept kept.svg || fail "kept.svg was written over without asking"

# Large: the same document, the same head.
# Escape may come before the question whether to write over.
goes_to_large() {
    press Escape
    press_both 3 m
    settle
    more_than '"action":"set_workspace","workspace":"large"' 0
}
wait_for "the workspace Large" goes_to_large
types_cell() {
    press g
    typed "$1"
    press Return
}
does '"action":"set_map_camera"' press plus
does '"action":"go_to_cell"' types_cell '39, 12'
does '"action":"set_causal","on":false' press m

quits_and_replays

# The same state in a smaller window, and one picture of session and journal.
"$app" --replay "$journal" --save-session small.json --exit-after-replay --size 1280x720 ||
    fail "the journal cannot be played in a small window"
cmp recorded.json small.json || fail "another window size gives another state"
"$app" render --replay "$journal" --chrome -o replayed.png
"$app" render --session recorded.json --chrome -o session.png
cmp replayed.png session.png || fail "session and journal look different"
