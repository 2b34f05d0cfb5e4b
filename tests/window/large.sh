#!/usr/bin/env bash
# The map of 16,384 tokens by mouse and keyboard: zoomed and panned while the exact pass runs, to the needle,
# its arithmetic read; the journal shows it, and played again it gives the same state. The pass of a longer one is
# begun and paused.   large.sh ATTNSCOPE
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/window.sh"
source "$here/png.sh"

picture() { find "$work" -name 'attnscope-*.png' | sort | tail -n 1; }
pictures_are() { (($(find "$work" -name 'attnscope-*.png' | wc -l) == $1)); }
draws_more_than() { (($(drawn) > $1)); }
# A frame is drawn after everything that came before: what the app wrote is what it shows.
wait_for_frame() { wait_for "a frame" draws_more_than "$(drawn)"; }

roll() {
    point_at "$1" "$2"
    input click --repeat "$3" --delay 80 "$4"
    settle
}
wheel_in() { roll "$1" "$2" 3 4; }
wheel_out() { roll "$1" "$2" 2 5; }

start --planted 16384 --save-session recorded.json

# Only a matrix can be zoomed: the wheel is turned until it is there. The preview stands, the exact pass goes
# on. The canvas reaches from about (236, 190) to (886, 840).
zoomed() {
    wheel_in 600 500
    more_than '"action":"set_map_camera"' 0
}
wait_for "the matrix" zoomed
does '"action":"set_map_camera"' drag_down 600 450
does '"action":"set_map_camera"' wheel_in 640 420 # however little the first wheel did: two notches out do not fit it
does '"action":"set_map_camera"' wheel_out 640 420
does '"action":"set_map_picture","picture":"scores"' press w
does '"action":"set_map_picture","picture":"weights"' press w
does '"skip_first_key":false,"one_per_query":true' press k
does '"skip_first_key":false,"one_per_query":false' press o
does '"action":"set_map_colors"' press c
does '"action":"fit_map"' press f

# To the needle, which stands in the middle of the canvas: the click selects that very cell.
does '"action":"go_to_needle"' press n
wait_for_frame
does '"action":"select_map_cell"' click 561 515
does '"action":"search_map"' press a

# Its arithmetic is drawn: the picture differs from the one without a selection.
press F12
wait_for "a picture" pictures_are 1
[[ $(png_size "$(picture)") == 1600x1000 ]] || fail "the picture is $(png_size "$(picture)"), not 1600x1000"

# Typed: another cell, by its numbers.
does '"action":"show_go_to","on":true' press g
typed '12000, 7'
does '"action":"go_to_cell","cell":{"row":12000,"column":7}' press Return

quits_and_replays

# The exact pass is begun and paused while it is not done; of these tokens it takes long on every machine, and it does
# not begin by itself.
start --planted 524288
wait_for "the matrix" zoomed
does '"action":"set_full_pass","on":true' press space
does '"action":"set_full_pass","on":false' press space
does '"action":"quit"' quit
ends 0
