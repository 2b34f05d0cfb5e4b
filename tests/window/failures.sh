#!/usr/bin/env bash
# What goes wrong is one clear sentence; what can go on goes on.   failures.sh ATTNSCOPE
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/window.sh"

# refuses CODE WORDS COMMAND...: it ends with this code and one line that has these words.
refuses() {
    local code=$1 words=$2 got=0
    shift 2
    timeout 20 "$@" 2>error.txt >/dev/null || got=$?
    ((got == code)) || fail "exit code $got, not $code: $*"
    (($(wc -l <error.txt) == 1)) || fail "expected one line: $(cat error.txt)"
    grep -q -- "$words" error.txt || fail "'$words' is not in: $(cat error.txt)"
}

# The window cannot open.
refuses 1 'DISPLAY is not set' env -u DISPLAY -u WAYLAND_DISPLAY "$app"
refuses 1 'needs a display' env DISPLAY=:987 "$app"
refuses 1 'OpenGL 3.3' env MESA_GL_VERSION_OVERRIDE=2.1 "$app"
refuses 1 'no-folder/j' "$app" --journal "$work/no-folder/j"
refuses 2 'no-file' "$app" --session no-file
refuses 2 'in.npz' "$app" in.npz
refuses 2 '3x' "$app" --size 3x
printf '{"action":\n' >bad.jsonl
refuses 2 'bad.jsonl, line 1' "$app" --replay bad.jsonl
printf '[1, 2' >bad.json
refuses 2 'bad.json' "$app" --session bad.json

# What is there already stays, also where the window never opens.
printf '{"action":"undo"}\n' >old.jsonl
cp old.jsonl kept.jsonl
ln -s old.jsonl link.jsonl
refuses 2 'the same file as --replay' "$app" --replay old.jsonl --journal link.jsonl
refuses 1 'DISPLAY is not set' env -u DISPLAY -u WAYLAND_DISPLAY "$app" --journal old.jsonl --frame-log new.log
cmp old.jsonl kept.jsonl || fail "a journal was emptied by a window that never opened"
[[ ! -e new.log ]] || fail "a frame log was begun by a window that never opened"
echo 'my notes' >notes.txt
refuses 2 'notes.txt has other content; expected a journal' "$app" --journal notes.txt
refuses 2 'notes.txt has other content; expected a frame log' "$app" --frame-log notes.txt
[[ $(cat notes.txt) == 'my notes' ]] || fail "notes.txt was written over"

# Nothing half-written.
refuses 1 '/dev/full' "$app" render --format svg -o /dev/full
refuses 1 'no-folder/x.png' "$app" render -o no-folder/x.png
refuses 2 'nosuch' "$app" render --preset nosuch -o x.png
[[ ! -e x.png ]] || fail "x.png was written"

# The window stays: OpenGL 3.3 alone, an unknown preset, a full disk under the journal.
MESA_GL_VERSION_OVERRIDE=3.3 start --preset nosuch
leaves
journal=/dev/full
start --save-session session.json
press Right
leaves
[[ -s session.json ]] || fail "the session was not saved"

# Two windows, one journal.
journal=$work/journal.jsonl
start
refuses 1 'another process writes to it' "$app" --journal "$journal"
leaves

# The window manager's close button, where xdotool can press it.
if xdotool help 2>&1 | grep -q windowquit; then
    journal=$work/journal.jsonl
    start
    xdotool windowquit "$window"
    ends 0
fi
