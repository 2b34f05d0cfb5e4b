#!/usr/bin/env bash
# Random input in the real window: it goes on, ends at a signal with nothing broken, and its journal gives the same state.
#   random_input.sh ATTNSCOPE [SESSIONS [FIRST-SEED]]
# ATTN_INPUT_EVENTS: events of a session.
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/window.sh"
sessions=${2:-3}
first=${3:-$((RANDOM * 32768 + RANDOM))}
events=${ATTN_INPUT_EVENTS:-150}

alive() { kill -0 "$pid" 2>/dev/null && ! grep -q '^State:.*Z' "/proc/$pid/status"; }
# at_rest: no frame since the last call.
at_rest() {
    local now
    now=$(stat -c %s "$frames")
    [[ $now == "${frames_before:-}" ]] && return
    frames_before=$now
    sleep 0.2  # between two looks
    return 1
}

for ((seed = first; seed < first + sessions; ++seed)); do
    mkdir "$work/$seed"
    cd "$work/$seed"
    start --size 1500x950 --save-session recorded.json 2>said.txt
    "$here"/random_events.py "$seed" "$events" "$window" >events.txt
    xdotool - <events.txt >/dev/null 2>&1 || true
    alive || fail "seed $seed: the program ended: $(tail -n 3 said.txt)"
    press Escape || true
    for ((n = 0; n < 30; ++n)); do
        if at_rest; then break; fi
    done
    kill -s TERM "$pid"
    ends 143
    if grep -qE 'corruption|double free|free\(\)|Assertion|Sanitizer' said.txt; then fail "seed $seed: $(cat said.txt)"; fi
    "$app" --replay "$journal" --save-session replayed.json --exit-after-replay 2>replayed.txt ||
        fail "seed $seed: the journal cannot be played: $(tail -n 3 replayed.txt)"
    # The bottom line may give a number of a result that had not come yet when the journal was played.
    sed -i -E 's/"message":"([^"\\]|\\.)*","severity":"[a-z]*"//' recorded.json replayed.json
    if ! cmp -s recorded.json replayed.json; then
        diff recorded.json replayed.json | head -20 >&2
        fail "seed $seed: the journal gives another state"
    fi
    echo "seed $seed: $(wc -l <"$journal") actions, the same state when played again"
done
