#!/usr/bin/env bash
# Nothing happens: no frame is drawn and no time is used.   idle.sh ATTNSCOPE
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/window.sh"

ticks() { awk '{ print $14 + $15 }' "/proc/$pid/stat"; }

start "${@:2}"
xdotool mousemove --sync 1599 999
rests 10 # longer than a message stays
frames_before=$(drawn)
no_more() { (($(drawn) == frames_before)); }
ticks_before=$(ticks)
stays 4 'no frame is drawn while nothing happens' no_more
ticks_used=$(($(ticks) - ticks_before))
echo "4 s at rest: no frame, $ticks_used clock ticks of processor time"
leaves
