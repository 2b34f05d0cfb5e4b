#!/usr/bin/env bash
# The trained sentence encoder, where it was fetched: a text is typed into the window, and the session's text has a head of
# layer 0 that looks at the previous token: the mean of weights[i, i−1] over i ≥ 1 is above 1/2.   use_lite.sh ATTNSCOPE
model=${XDG_DATA_HOME:-$HOME/.local/share}/attnscope/models/use-lite
if [[ ! -e $model/model.safetensors ]]; then
    echo "use-lite is not here: ./run model use-lite fetches it"
    exit 77
fi
if ! command -v python3 >/dev/null; then
    echo "skipped: python3 is not installed"
    exit 77
fi
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/window.sh"
source "$here/typing.sh"
text="The animal didn't cross the street because it was too wide"

start --save-session recorded.json "$model"
document_is_there
types_text "$text"
quits_and_replays

grep -qF "\"text\": \"$text\"" recorded.json || fail "the session has another text"
"$app" trace --model "$model" --text "$text" --keep weights -o trace.npz
python3 - <<'END'
import ast
import struct
import sys
import zipfile

data = zipfile.ZipFile("trace.npz").read("l0.weights.npy")
start = 10 + struct.unpack("<H", data[8:10])[0]
_, heads, tokens, _ = ast.literal_eval(data[10:start].decode())["shape"]
values = struct.unpack(f"<{heads * tokens * tokens}f", data[start:])
previous = range(tokens, tokens * tokens, tokens + 1)  # [i, i-1], i from 1
means = [sum(values[head * tokens * tokens + at] for at in previous) / (tokens - 1) for head in range(heads)]
print(f"{tokens} tokens; weights[i, i-1] of layer 0, mean by head:", *(f"{mean:.3f}" for mean in means))
sys.exit(0 if max(means) > 0.5 else "FAILED: no head of layer 0 looks at the previous token")
END
