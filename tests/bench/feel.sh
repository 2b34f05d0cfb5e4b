#!/usr/bin/env bash
# Measures how the window feels: first frame, rest, drags, a document, a figure.   feel.sh ATTNSCOPE
# Expected: 350 ms from the shell to the first frame, 450 ms with a document of 12 heads and 40 tokens, no frame at rest, 16 ms a
# frame of a drag, 60 frames/s of a stage's story with 4 tokens and 30 with 40, 500 ms for the figure of 64 tokens.
set -euo pipefail
app=$(readlink -f "$1")
driver=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../window

long_preset() {
    echo "{\"title\": \"40 tokens\", \"note\": \"toy weights, not trained\","
    echo "\"sentence\": \"$(printf 'word%d ' {0..38})end\", \"d_model\": 64, \"d_k\": 8, \"heads\": 8, \"seed\": 7}"
}

if [[ -z ${ATTNSCOPE_FEEL_ON_XVFB:-} ]]; then
    for workspace in step saturation; do
        echo -n "drag, $workspace, 1600x1000: "
        "$app" render --workspace "$workspace" --time-drag 200
    done
    echo -n "drag, step at weights with a cell: "
    "$app" render --stage weights --select weights:1,2 --time-drag 200
    some=$(mktemp -d)
    long_preset >"$some/40.json"
    echo -n "drag, step at weights, 40 tokens and 8 heads: "
    "$app" render "$some/40.json" --stage weights --time-drag 200
    echo -n "stages with their stories, 4 tokens: "
    "$app" render --time-step 400
    echo -n "stages with their stories, 40 tokens and 8 heads: "
    "$app" render "$some/40.json" --time-step 400
    rm -r "$some"
    words=$(printf 'word%d ' {1..64})
    figure=$(mktemp --suffix=.svg)
    for format in svg pdf png; do
        began=$(date +%s%N)
        "$app" render --sentence "$words" --stage weights -o "${figure%.svg}.$format"
        echo "figure of 64 tokens, $format: $((($(date +%s%N) - began) / 1000000)) ms with the start of the program"
    done
    rm -f "$figure" "${figure%.svg}".*
    ATTNSCOPE_FEEL_ON_XVFB=1 exec "$driver/on_xvfb.sh" "${BASH_SOURCE[0]}" "$app"
fi

# shellcheck source=tests/window/window.sh
source "$driver/window.sh"
now_ms() { echo $(($(date +%s%N) / 1000000)); }

# first_frame WORDS ARGS...: the time from before the shell starts the program to the line that the program writes after
# its first frame, and that line, which counts from main() on. The end of the program is not part of it.
first_frame() {
    local words=$1 began shown own code=0
    shift
    XDG_STATE_HOME=$(mktemp -d -p "$work")
    export XDG_STATE_HOME XDG_CONFIG_HOME=$XDG_STATE_HOME
    rm -f lines mark
    mkfifo lines
    { read -r own && echo "$EPOCHREALTIME $own" >mark && cat >/dev/null; } <lines &
    began=$EPOCHREALTIME
    "$app" --frame-log - "$@" >lines &
    pid=$!
    wait_for "the first frame" test -s mark
    kill -TERM "$pid"
    wait "$pid" || code=$?
    pid=
    ((code == 143)) || fail "the exit code is $code, not 143"
    read -r shown own <mark
    echo "first frame, $words: $(((${shown/[.,]/} - ${began/[.,]/}) / 1000)) ms from the shell, $own in the program"
}

for run in 1 2 3 4 5; do first_frame "run $run"; done
for run in 1 2 3; do first_frame "12 heads and 40 tokens, run $run" "$driver/../goldens/npz/twelve_heads.npz"; done

start
sleep 8 # the opening growth, and what is said for 4 s
before=$(awk '{ print $14 + $15 }' "/proc/$pid/stat")
drawn=$(wc -l <"$frames")
sleep 10
echo "10 s at rest: $(($(awk '{ print $14 + $15 }' "/proc/$pid/stat") - before)) clock ticks of 10 ms," \
    "$(($(wc -l <"$frames") - drawn)) frames"
quit
ends 0

# Frames while two runs are trained beside the window: with the mouse still, then moving.
echo '{"action":"set_workspace","workspace":"learn"}' >long.jsonl
for field in '"tokens","value":"64"' '"d_model","value":"128"' '"heads","value":"4"' '"batch","value":"32"'; do
    echo "{\"action\":\"set_learn_field\",\"run\":\"a\",\"field\":$field}" >>long.jsonl
done
echo '{"action":"train_to","until":20000}' >>long.jsonl
start --replay long.jsonl
for mouse in still moving; do
    sleep 2
    drawn=$(wc -l <"$frames")
    for ((step = 0; step < 100; ++step)); do
        if [[ $mouse == moving ]]; then xdotool mousemove $((300 + 8 * step)) $((300 + 4 * step)); fi
        sleep 0.1
    done
    tail -n +$((drawn + 1)) "$frames" >drawn.log
    most=$(awk 'NR > 1 && $1 - before > most { most = $1 - before } { before = $1 } END { print 1000 * most }' drawn.log)
    sort -n -k 3 drawn.log | awk -v mouse="$mouse" -v most="$most" '{ ms[NR] = $3 }
        END { printf "training, mouse %s, 10 s: %d frames, median %.1f ms, 95 %% %.1f ms, longest gap %.0f ms\n",
                  mouse, NR, ms[int((NR + 1) / 2)], ms[int(NR * 0.95)], most }'
done
quit
ends 0

# From a letter to every layer of a trained model over 40 tokens.
model=${XDG_DATA_HOME:-$HOME/.local/share}/attnscope/models/use-lite
if [[ -e $model/model.safetensors ]]; then
    # shellcheck source=tests/window/typing.sh
    source "$driver/typing.sh"
    start "$model"
    wait_for "the document" grep -q '"action":"document_ready"' "$journal"
    types_text "the cat sat on the mat and the dog lay by the door while the man read a long book near the fire and the rain fell on the roof of the old house all day and all of"
    focus_text
    press End
    for letter in a b c d e; do
        answers=$(count '"action":"document_ready"')
        began=$(now_ms)
        xdotool key "$letter"
        until more_than '"action":"document_ready"' "$answers"; do :; done
        echo "use-lite, a letter after 40 tokens: every layer $(($(now_ms) - began)) ms or less after the key"
    done
    quit
    ends 0
fi
