# shellcheck shell=bash
# Drives one attnscope window. Source it with the program as $1; a failed step ends the test. Sets here, the scripts' folder.
set -euo pipefail
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
app=$(readlink -f "$1")
work=$(mktemp -d)
pid=
# shellcheck disable=SC2154  # work and pid are ours
trap '[[ -z $pid ]] || kill "$pid" 2>/dev/null || true; rm -rf "$work"' EXIT
cd "$work"
journal=$work/journal.jsonl
frames=$work/frames.log

fail() {
    echo "FAILED: $*" >&2
    if [[ -e $journal ]]; then
        echo "the last lines of the journal:" >&2
        tail -n 5 "$journal" >&2
    fi
    exit 1
}

# wait_for WORDS COMMAND...: until the command succeeds; fails after 20 s, naming the words.
wait_for() {
    local words=$1 tries
    shift
    for ((tries = 0; tries < 400; ++tries)); do
        if "$@" >/dev/null 2>&1; then return; fi
        look_again
    done
    fail "waited for $words"
}

# The only pauses of these scripts: between two looks at what is waited for, and of a length drawn by chance.
look_again() { sleep 0.05; }
random_pause() { sleep "0.$((RANDOM % 10))"; }

# drawn: the frames so far.   input ARGS...: xdotool, whose frames `settle` waits for.
drawn() { wc -l <"$frames"; }
awaits=
input() {
    awaits=$(drawn)
    xdotool "$@"
}
# settle: the window has drawn what the last input changed, and rests. An input that changes nothing draws no frame, and an animation
# goes on, so each of the two is waited for up to a second.
settle() {
    local tries last now same=0
    for ((tries = 0; tries < 20; ++tries)); do
        if [[ -z $awaits ]] || (($(drawn) > awaits)); then break; fi
        look_again
    done
    awaits=
    last=$(drawn)
    for ((tries = 0; tries < 20 && same < 2; ++tries)); do
        look_again
        now=$(drawn)
        ((same = now == last ? same + 1 : 0, last = now, 1))
    done
}
# rests SECONDS: until no frame was drawn for so long; fails after 30 s.
rests() {
    local tries same=0 last now
    last=$(drawn)
    for ((tries = 0; tries < 600; ++tries)); do
        look_again
        now=$(drawn)
        ((same = now == last ? same + 1 : 0, last = now, 1))
        if ((same >= $1 * 20)); then return; fi
    done
    fail "frames are drawn all the time"
}
# stays SECONDS WORDS COMMAND...: the command succeeds again and again for so long.
stays() {
    local seconds=$1 words=$2 tries
    shift 2
    for ((tries = 0; tries < seconds * 20; ++tries)); do
        "$@" >/dev/null 2>&1 || fail "not for $seconds s: $words"
        look_again
    done
}

# start ARGS...: the app, up to its first frame, with the keyboard on it. Sets pid and window.
start() {
    : >"$journal"
    # What other starts kept is not offered, unless a test is about that.
    if [[ -z ${keeps_places:-} ]]; then
        XDG_STATE_HOME=$(mktemp -d -p "$work")
        XDG_CONFIG_HOME=$XDG_STATE_HOME
        export XDG_STATE_HOME XDG_CONFIG_HOME
    fi
    rm -f "$frames"
    "$app" --journal "$journal" --frame-log "$frames" "$@" &
    pid=$!
    wait_for "the first frame" test -s "$frames"
    window=$(xdotool search --sync --onlyvisible --pid "$pid" | head -n 1)
    xdotool windowfocus --sync "$window"
}

# ends CODE: the app ends by itself, with this exit code.
ends() {
    local code=0
    wait_for "the end of the app" bash -c "! kill -0 $pid || grep -q '^State:.*Z' /proc/$pid/status"
    wait "$pid" || code=$?
    pid=
    ((code == $1)) || fail "the exit code is $code, not $1"
}

# What opened by the key before has its text field a frame later.
typed() {
    settle
    xdotool type --delay 40 "$@"
}

press() { input key --delay 60 "$@"; }
# press_both KEY KEY: the second once the first was drawn.
press_both() {
    press "$1"
    settle
    press "$2"
}
point_at() {
    input mousemove --sync "$1" "$2"
    settle
}
click() {
    point_at "$1" "$2"
    input click 1
    settle
}
count() { grep -c -- "$1" "$journal" || true; }
more_than() { (($(count "$1") > $2)); }

# quit: Ctrl+Q; changes that are not saved are left.
quit() {
    press ctrl+q
    settle
    if [[ -n $pid ]] && kill -0 "$pid" 2>/dev/null; then press d 2>/dev/null || true; fi
}

# does PATTERN COMMAND...: the command makes another line of the journal match.
does() {
    local pattern=$1 before
    shift
    before=$(count "$pattern")
    "$@"
    wait_for "'$pattern' in the journal after: $*" more_than "$pattern" "$before"
}

# goes_to WORKSPACE: by the digit of its group and its letter.
declare -A keys_of=([step]="1 s" [masks]="1 m" [lookup]="1 l" [saturation]="2 s" [gradients]="2 g" [learn]="2 l"
    [numerics]="2 n" [heads]="3 h" [large]="3 m" [tensors]="3 t" [kinds]="4 v" [compare]="4 c" [positions]="1 p"
    [verify]="5 v" [cost]="5 c" [exercises]="5 e")
goes_to() {
    local digit letter
    read -r digit letter <<<"${keys_of[$1]}"
    does "\"action\":\"set_workspace\",\"workspace\":\"$1\"" press_both "$digit" "$letter"
}

# quits: Ctrl+Q ends the app, which has nothing to ask; leaves: whatever it asks.
quits() {
    does '"action":"quit"' press ctrl+q
    ends 0
}
leaves() {
    quit
    ends 0
}

# first_that PATTERN COMMAND POINT...: tries the command at one point after the other until a line of the
# journal matches, so that a control may move a little. Sets x and y.
first_that() {
    local pattern=$1 command=$2 before point
    before=$(count "$pattern")
    shift 2
    for point in "$@"; do
        x=${point%,*} y=${point#*,}
        "$command" "$x" "$y"
        settle
        if more_than "$pattern" "$before"; then return; fi
    done
    fail "'$pattern' at none of $*"
}

# never PATTERN COMMAND...: the command leaves no line that matches in the journal.
never() {
    local pattern=$1 before
    shift
    before=$(count "$pattern")
    "$@"
    settle
    if more_than "$pattern" "$before"; then fail "'$pattern' in the journal after: $*"; fi
}

# palette WORDS: the command that they find.
palette() {
    press ctrl+k
    typed "$1"
    press Return
}

# draw_journal: what the journal so far draws, as drawn.svg; shows PATTERN...: it has each of these texts.
draw_journal() {
    "$app" render --replay "$journal" --chrome --size 1600x1000 -o drawn.svg || fail "the journal cannot be drawn"
}
shows() {
    local words
    draw_journal
    for words; do grep -q -- "$words" drawn.svg || fail "'$words' is not on the screen"; done
}

# drag X0 Y0 X1 Y1: in a few steps.
drag() {
    point_at "$1" "$2"
    input mousedown 1
    settle
    local step
    for step in 1 2 3 4 5; do
        point_at $(($1 + ($3 - $1) * step / 5)) $(($2 + ($4 - $2) * step / 5))
    done
    input mouseup 1
    settle
}
drag_right() { drag "$1" "$2" $(($1 + 80)) "$2"; }
drag_down() { drag "$1" "$2" $(($1 + 80)) $(($2 + 50)); }

# opens_encoder: the app with the small sentence encoder, whose tokenizer knows some words, until its document is there.
opens_encoder() {
    mkdir sentences
    cp "$here"/../goldens/models/use_lite/{config.json,model.safetensors} sentences
    cat >sentences/tokenizer.json <<'END'
{"normalizer": {"type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": "▁"},
  {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}]},
 "model": {"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0], ["▁The", -1], ["▁animal", -1], ["▁didn't", -1],
  ["▁cross", -1], ["▁the", -1], ["▁street", -1], ["▁because", -1], ["▁it", -1], ["▁was", -1], ["▁too", -1], ["▁tired", -1]]}}
END
    start --save-session recorded.json sentences
    document_is_there
}
document_is_there() { wait_for "the document" grep -q '"action":"document_ready"' "$journal"; }

# points X0 X1 DX Y0 Y1 DY: a lattice, row by row.
points() {
    local px py
    for ((py = $4; py <= $5; py += $6)); do
        for ((px = $1; px <= $2; px += $3)); do echo "$px,$py"; done
    done
}

# quits_and_replays: Ctrl+Q ends the app, which was started with --save-session recorded.json, and its journal played again
# gives the same session.
quits_and_replays() {
    quits
    [[ -s recorded.json ]] || fail "the session was not saved"

    "$app" --replay "$journal" --save-session replayed.json --exit-after-replay ||
        fail "the journal cannot be played"
    if ! cmp recorded.json replayed.json; then
        diff recorded.json replayed.json >&2 || true
        fail "the journal gives another state"
    fi
    echo "$(wc -l <"$journal") actions, the same state when played again"
}
