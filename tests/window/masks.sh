#!/usr/bin/env bash
# The mask, painted and switched in the real window; conventions; copies.
#   masks.sh ATTNSCOPE
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/window.sh"

# mask: the painted mask as the journal so far makes it, "1111 1011 …"; "" where there is none.
mask() {
    "$app" --replay "$journal" --save-session now.json --exit-after-replay || fail "the journal cannot be played"
    { grep -o '"mask": \[[^]]*\]' now.json || true; } | grep -o '[01]\{4\}' | tr '\n' ' '
}
# has NAME MASK: what is painted.
has() { [[ $(mask) == "$2" ]] || fail "$1: the paint is '$(mask)', not '$2'"; }
# pair NAME: the row and the column of the last painted pair.
painted() { grep '"action":"paint_mask"' "$journal" | tail -n 1; }

start --preset the-cat-sat-down --save-session recorded.json --size 1600x1000
goes_to masks
shows 'The mask allows 10 of 16 pairs' # the example, which an undo takes back
does '"action":"undo"' press ctrl+z
shows 'No mask: every query may attend to every key'

# Where the cells of the mask are: a click on a lattice, undone at once, tells the pair under each point.
declare -A at
for ((y = 362; y <= 740; y += 125)); do
    for ((x = 258; x <= 580; x += 106)); do
        before=$(count '"action":"paint_mask"')
        click "$x" "$y"
        more_than '"action":"paint_mask"' "$before" || continue
        pair=$(painted | sed -E 's/.*"row":([0-9]+),"column":([0-9]+).*/\1,\2/')
        [[ -n ${at[$pair]:-} ]] || at[$pair]="$x $y"
        does '"action":"undo"' press ctrl+z
        ((${#at[@]} < 16)) || break 2
    done
done
((${#at[@]} == 16)) || fail "only ${#at[@]} of 16 pairs were found: ${!at[*]}"
has "after every click was undone" ""

# One pair; the same again; a line with one undo step; a rectangle with Shift.
click ${at[1,2]}
has "a click" "1111 1101 1111 1111 "
shows 'The mask allows 15 of 16 pairs'
click ${at[1,2]}
has "a second click" ""
drag ${at[0,0]} ${at[3,3]}
has "a drag" "0111 1011 1101 1110 "
does '"action":"undo"' press ctrl+z
has "one undo" ""
xdotool keydown shift
drag ${at[1,0]} ${at[2,2]}
input keyup shift
settle
has "a drag with Shift" "1111 0001 0001 1111 "

# Keys: a rectangle from the selected pair on, toggled by Space.
does '"action":"select_pair"' press Right
does '"action":"select_pair"' press shift+Down
does '"action":"paint_mask"' press space
has "keys" "1111 0001 0000 1110 "
shows 'row 2 (sat)' 'no allowed key'
does '"action":"undo"' press ctrl+z

# A rule from the palette and with its key; what a rule forbids is not painted.
does '"action":"set_causal","on":true' press m
does '"action":"set_block","length":2' palette 'block mask'
click ${at[0,3]}
shows 'forbidden by the causal rule'
does '"action":"undo"' press ctrl+z

# Conventions: −1e9 over an empty row.
does '"action":"paint_mask"' palette 'forbid every key'
does '"action":"show_masks_tab","tab":"conventions"' press v
shows 'differs from' 'all masked' '0.25'
does '"action":"set_convention"' press Next
does '"action":"set_convention","side":0' press c
does '"action":"show_masks_tab","tab":"compose"' press v

# Copies.
does '"action":"copy_mask","code":"numpy"' press n
does '"action":"copy_mask","code":"pytorch"' press shift+n

quits_and_replays
grep -q '"tab":"compose"' recorded.json || fail "the session does not have the tab"
grep -q '"causal": true' recorded.json || fail "the session does not have the rule"
