#!/usr/bin/env bash
# The window ends at random moments under input, by signals and by its close button, with nothing broken.
#   exits.sh ATTNSCOPE [COUNT [FIRST-SEED]]
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/window.sh"
count=${2:-8}
first=${3:-$((RANDOM * 32768 + RANDOM))}
real=$app
app=$work/interruptible
printf '#!/bin/sh\nexec env --default-signal=INT,HUP,TERM "%s" "$@"\n' "$real" >"$app"
chmod +x "$app"

for ((seed = first; seed < first + count; ++seed)); do
    RANDOM=$((seed % 32768))
    start --size 1300x800 2>said.txt
    "$here"/random_events.py "$seed" 40 "$window" >events.txt
    xdotool - <events.txt >/dev/null 2>&1 &
    hands=$!
    sleep "0.$((RANDOM % 90 + 10))"  # the random moment
    case $((seed % 3)) in
    0) end=TERM code=143 ;;
    1) end=INT code=130 ;;
    *) end=HUP code=129 ;;
    esac
    kill -s $end "$pid"
    ends $code
    kill $hands 2>/dev/null || true
    wait $hands 2>/dev/null || true
    if grep -qE 'corruption|double free|free\(\)|Assertion|Sanitizer|terminate' said.txt; then
        fail "seed $seed, SIG$end: $(cat said.txt)"
    fi
done
echo "$count ends at random moments, first seed $first"
