#!/usr/bin/env bash
# Measures how the window feels: first frame, rest, drags.   feel.sh ATTNSCOPE
# Wants: 300 ms to the first frame, 1 % of a processor at rest, 16 ms a frame.
set -euo pipefail
app=$(readlink -f "$1")
gui=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../gui

if [[ -z ${ATTNSCOPE_FEEL_ON_XVFB:-} ]]; then
    for workspace in step saturation; do
        echo -n "drag, $workspace, 1600x1000: "
        "$app" render --workspace "$workspace" --time-drag 200
    done
    echo -n "drag, step at weights with a cell: "
    "$app" render --stage weights --select weights:1,2 --time-drag 200
    ATTNSCOPE_FEEL_ON_XVFB=1 exec "$gui/on_xvfb.sh" "${BASH_SOURCE[0]}" "$app"
fi

# shellcheck source=tests/gui/window.sh
source "$gui/window.sh"
now_ms() { echo $(($(date +%s%N) / 1000000)); }

for run in 1 2 3 4 5; do
    began=$(now_ms)
    start
    echo "first frame, run $run: $(($(date -r "$frames" +%s%N) / 1000000 - began)) ms or less from the shell," \
        "$(head -n 1 "$frames") in the program"
    press ctrl+q
    ends 0
done

start
sleep 2
before=$(awk '{ print $14 + $15 }' "/proc/$pid/stat")
drawn=$(wc -l <"$frames")
sleep 10
echo "10 s at rest: $(($(awk '{ print $14 + $15 }' "/proc/$pid/stat") - before)) clock ticks of 10 ms," \
    "$(($(wc -l <"$frames") - drawn)) frames"
press ctrl+q
ends 0
