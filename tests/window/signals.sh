#!/usr/bin/env bash
# What ends the window from outside: the session is saved, and the exit code says what came.   signals.sh ATTNSCOPE
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/window.sh"

# A background process of a script ignores SIGINT from its start; a person's does not.
real=$app
app=$work/interruptible
printf '#!/bin/sh\nexec env --default-signal=INT,HUP,TERM "%s" "$@"\n' "$real" >"$app"
chmod +x "$app"

saved() { [[ -s session.json ]] && grep -q '"document"' session.json; }

for signal in TERM INT HUP; do
    rm -f session.json
    start --save-session session.json
    does '"action":"step_by"' press Right
    kill -s "$signal" "$pid"
    ends $((128 + $(kill -l "$signal")))
    saved || fail "the session was not saved on SIG$signal"
done

# One that is ignored stays ignored: nohup.
app=$work/nohup
printf '#!/bin/sh\ntrap "" HUP\nexec "%s" "$@"\n' "$real" >"$app"
chmod +x "$app"
start
kill -s HUP "$pid"
does '"action":"step_by"' press Right
leaves

# The display goes away.
app=$real
rm -f session.json
Xvfb -displayfd 3 -screen 0 1600x1000x24 +extension GLX -noreset 2>/dev/null 3>display.txt &
server=$!
wait_for "a second display" test -s display.txt
rm -f "$frames"
DISPLAY=:$(cat display.txt) "$app" --frame-log "$frames" --save-session session.json 2>lost.txt &
pid=$!
wait_for "the first frame" test -s "$frames"
kill -KILL "$server"
ends 1
saved || fail "the session was not saved when the display was lost"
grep -q 'the display is lost; the session is saved in session.json' lost.txt || fail "it said: $(cat lost.txt)"
