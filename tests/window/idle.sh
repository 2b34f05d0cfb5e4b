#!/usr/bin/env bash
# Nothing happens: no frame is drawn and no time is used.   idle.sh ATTNSCOPE
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/window.sh"

ticks() { awk '{ print $14 + $15 }' "/proc/$pid/stat"; }

start "${@:2}"
xdotool mousemove --sync 1599 999
sleep 8 # the opening growth, and what is said for 4 s
frames_before=$(wc -l <"$frames")
ticks_before=$(ticks)
sleep 4
frames_drawn=$(($(wc -l <"$frames") - frames_before))
ticks_used=$(($(ticks) - ticks_before))
echo "4 s at rest: $frames_drawn frames, $ticks_used clock ticks of processor time"
((frames_drawn == 0)) || fail "$frames_drawn frames were drawn while nothing happened"
leaves
