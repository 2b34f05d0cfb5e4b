#!/usr/bin/env bash
# OpenGL computes while the window goes on; where it cannot, the CPU carries on.   device.sh ATTNSCOPE
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/window.sh"

info=$("$app" info)
if grep -q '^  gl  *not available' <<<"$info"; then
    grep '^  gl ' <<<"$info"
    exit 77
fi

computed_by() { grep -qE "\"backend\": ?\"$1\"" "$2" || fail "$2 is not computed by $1: $(grep -oE '"backend": ?"[a-z]*"' "$2")"; }

# A replay ends when gl has answered; a gl that fails would be left for auto.
printf '{"action":"set_backend","name":"gl"}\n{"action":"set_causal","on":true}\n' >edits.jsonl
"$app" --replay edits.jsonl --exit-after-replay --save-session answered.json
computed_by gl answered.json
MESA_GL_VERSION_OVERRIDE=3.3 "$app" --replay edits.jsonl --exit-after-replay --save-session refused.json
computed_by auto refused.json

# Keys are heard from the first frame on, and the end does not wait for numbers that nobody will see.
start --backend gl --save-session left.json
does '"action":"set_causal","on":true' press m
does '"action":"set_scaling","on":false' press s
leaves
computed_by gl left.json

# A picture waits for gl, and is the same every time.
"$app" render --chrome --backend gl --stage weights -o gl.png
"$app" render --chrome --backend gl --stage weights -o again.png
cmp gl.png again.png || fail "the second picture by gl is another"
