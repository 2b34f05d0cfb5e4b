#!/usr/bin/env bash
# Work that outlives the window: it is killed again and again (KILLS times, 12 unless said), and each time the saved session is
# whole, what was not saved is offered at the next start and resumed as it was; a full disk; settings and recent files.
#   kept.sh ATTNSCOPE             KEPT_SEED=N repeats a run: the seed of its random moments
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/window.sh"
export XDG_STATE_HOME=$work/state XDG_CONFIG_HOME=$work/config
keeps_places=1
kept_folder=$XDG_STATE_HOME/attnscope
mkdir -p "$kept_folder"
chance=${KEPT_SEED:-$SRANDOM}
echo "KEPT_SEED=$chance"
RANDOM=$chance

unsaved() { compgen -G "$kept_folder/unsaved-*.json" >/dev/null; }
none_unsaved() { ! unsaved; }
seed_in() { sed -n 's/.*"seed": \([0-9]*\).*/\1/p' "$1" | tail -n 1; }
unsaved_seed() { seed_in "$(compgen -G "$kept_folder/unsaved-*.json" | head -n 1)"; }
kill_app() {
    kill -9 "$pid"
    wait "$pid" 2>/dev/null || true
    pid=
}
has_seed() { [[ $(unsaved_seed) == "$1" ]]; }

# Nothing was done: nothing is kept, and a quit leaves nothing.
start --preset eight-heads
stays 1 "nothing was done, so nothing is kept" none_unsaved
quits
[[ -z $(ls "$kept_folder") ]] || fail "a quit left $(ls "$kept_folder")"

# Killed at any moment after a change was kept.
seed=7 # of the preset that the window opens on
for ((n = 1; n <= ${KILLS:-12}; ++n)); do
    start --preset eight-heads
    if ((n > 1)); then does '"action":"open_file"' press Return; fi
    settle
    edits=$((RANDOM % 3 + 1))
    for ((edit = 0; edit < edits; ++edit)); do does '"action":"set_seed"' press r; done
    ((seed += edits))
    if ((n % 2)); then
        wait_for "seed $seed on the disk" has_seed "$seed"
    else # as it may be: a change of the last moment may be missing, never more
        random_pause
    fi
    kill_app
    unsaved || fail "kill $n: nothing is left"
    for left in "$kept_folder"/unsaved-*.json; do
        "$app" render "$left" -o "$work/left.png" || fail "kill $n: $left does not open"
    done
    found=$(compgen -G "$kept_folder/unsaved-*.json" | sort | tail -n 1)
    found=$(seed_in "$found")
    ((found >= seed - edits && found <= seed)) || fail "kill $n: seed $found is left, not $seed"
    seed=$found
done
echo "$((n - 1)) kills, each offered back"

# Resumed and saved: nothing is unsaved any more. Saved work is never lost, on a full disk neither.
start --preset eight-heads
does '"action":"open_file"' press Return
wait_for "the resumed work" grep -q document_ready "$journal"
settle
press ctrl+s
typed "$work/mine.json"
does '"action":"save_session"' press Return
wait_for "the session" test -s "$work/mine.json"
[[ $(seed_in "$work/mine.json") == "$seed" ]] || fail "seed $(seed_in "$work/mine.json") was saved, not $seed"
wait_for "no unsaved work" none_unsaved
does '"action":"set_theme","theme":"light"' press t
settle
quits
grep -q '"theme": "light"' "$XDG_CONFIG_HOME/attnscope/settings.json" || fail "the theme was not kept"
grep -q mine.json "$kept_folder/recent.json" || fail "mine.json is not among the recent files"
start --preset eight-heads
wait_for "the theme of the settings" grep -q '"action":"set_theme","theme":"light"' "$journal"
does '"action":"open_file"' palette "open recent mine"
quits

# Ctrl+Q ends nothing while a change is not saved: it asks. Again: the change is offered at the next start.
start --preset eight-heads
does '"action":"set_seed"' press r
press ctrl+q
stays 1 "Ctrl+Q does not end the app over a change that is not saved" kill -0 "$pid"
press Escape
does '"action":"set_seed"' press r
press ctrl+q
settle
quits
unsaved || fail "Ctrl+Q twice kept nothing"
start --preset eight-heads
does '"action":"open_file"' press Return
wait_for "the resumed work" grep -q document_ready "$journal"
settle
press ctrl+q
stays 1 "Ctrl+Q does not end the app over resumed work" kill -0 "$pid"
press Return
typed "$work/asked.json"
does '"action":"save_session"' press Return
ends 0
[[ -s $work/asked.json ]] || fail "nothing was saved at the end"
none_unsaved || fail "saved work is left as unsaved"
start --preset eight-heads
does '"action":"set_seed"' press r
press ctrl+q
settle
does '"action":"quit"' press d
ends 0
none_unsaved || fail "changes that were left are kept"

mkdir "$work/small"
if mount -t tmpfs -o size=64k tmpfs "$work/small" 2>/dev/null; then
    trap 'umount "$work/small"; [[ -z $pid ]] || kill "$pid" 2>/dev/null || true; rm -rf "$work"' EXIT
    start --preset eight-heads
    settle
    press ctrl+s
    typed "$work/small/mine.json"
    does '"action":"save_session"' press Return
    wait_for "the session" test -s "$work/small/mine.json"
    cp "$work/small/mine.json" before.json
    does '"action":"set_seed"' press r
    head -c 100k /dev/zero >"$work/small/full" 2>/dev/null || true
    does '"action":"save_session"' press ctrl+s
    stays 1 "the saved session is the same after a full disk" cmp before.json "$work/small/mine.json"
    rm "$work/small/full"
    press Escape  # the path that failed stands in the prompt
    settle
    does '"action":"save_session"' press ctrl+s
    changed() { ! cmp -s before.json "$work/small/mine.json"; }
    wait_for "the session where there is room again" changed
    quits
else
    echo "not tried: a full disk (no file system can be mounted here)"
fi
