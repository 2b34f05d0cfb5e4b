#!/usr/bin/env bash
# Edits in the real window: what they changed, the flash, gradients of every loss.
#   edits.sh ATTNSCOPE
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/window.sh"

# types NUMBER: into the selected cell.
types() {
    does '"action":"begin_cell_edit"' press Return
    typed "$1"
    does '"action":"commit_cell_edit"' press Return
}
# marks: how many ● and how many ○ the ribbon has, as the journal so far draws it: "3 7 ".
marks() {
    draw_journal
    { grep -o '<circle[^>]* r="3.5"[^>]*>' drawn.svg || true; } | grep -o 'fill="[^"]*"' | sort | uniq -c |
        awk '{ print $1 }' | sort -n | tr '\n' ' '
}

start --preset the-cat-sat-down --save-session recorded.json --size 1600x1000
xdotool mousemove --sync 1599 999
[[ -z $(marks) ]] || fail "there are marks before the first edit: $(marks)"

# W_V at the stage V: V, context and output change, the rest cannot.
for stage in q k v; do does '"action":"step_by"' press Right; done
mapfile -t grid < <(for y in 200 230 260 290; do for x in 500 600 700 800; do echo "$x,$y"; done; done)
selected=
for point in "${grid[@]}"; do
    click "${point%,*}" "${point#*,}"
    if more_than '"action":"select_cell","cell":{"tensor":"w_v"' 0; then selected=1 && break; fi
done
[[ -n $selected ]] || fail "no click selects a number of W_V"
xdotool mousemove --sync 1599 999
settle
types 3
frames_then=$(drawn)
flashes() { (($(drawn) > frames_then + 5)); }
wait_for "old → new, which is shown for a moment" flashes
rests 10 # also after the bottom line is empty again
echo "the flash is drawn, then nothing"
shows 'V, context and output change'
[[ $(marks) == "3 7 " ]] || fail "the marks are not 3 ● and 7 ○ but: $(marks)"

# Gradients: of the sum, of one output, of the squared error with a typed target.
does '"action":"show_gradients","on":true' press g
shows 'L = Σ output'
does '"action":"go_to_end","last":true' press End
does '"action":"move_selection"' press shift+Down
does '"action":"set_loss_cell"' palette 'gradient of this cell'
shows 'L = output\[cat, 0\]'
does '"action":"set_loss","kind":"squared"' palette 'squared error'
does '"action":"move_selection"' press shift+Right
types 0.5
shows '>target<' 'output − target'
does '"action":"set_loss","kind":"sum"' palette 'sum of all outputs'
does '"action":"set_loss","kind":"squared"' palette 'squared error'

quits_and_replays
grep -q '"kind": *"squared"' recorded.json || fail "the session does not have the loss"
grep -q '"value": *0.5' recorded.json || fail "the session does not have the target"
