#!/usr/bin/env bash
# The trained sentence encoder, where it was fetched: a text is typed into the window and is the session's; its weights and the
# cosines of sentences are those of TensorFlow.js (tests/models/use_lite_tfjs.mjs).   use_lite.sh ATTNSCOPE
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
texts=("How old are you?" "What is your age?" "Stock prices fell sharply.")
for n in 0 1 2; do
    "$app" trace --model "$model" --text "${texts[n]}" --keep weights -o "text$n.npz"
done
python3 - <<'END'
import ast
import math
import struct
import sys
import zipfile


def array(file, name):
    data = zipfile.ZipFile(file).read(f"{name}.npy")
    start = 10 + struct.unpack("<H", data[8:10])[0]
    shape = ast.literal_eval(data[10:start].decode())["shape"]
    return shape, struct.unpack(f"<{math.prod(shape)}f", data[start:])


def check(what, found, expected):
    print(what, *(f"{number:.4f}" for number in found))
    if not all(abs(a - b) < 2e-4 for a, b in zip(found, expected)):
        sys.exit(f"FAILED: {what} is {found}; TensorFlow.js has {expected}")


(_, heads, tokens, _), values = array("trace.npz", "l0.weights")


def means(first):
    """Of each head, over every (tokens + 1)th weight of a head from `first` on: one diagonal."""
    size = tokens * tokens
    return [sum(values[head * size + at] for at in range(first, size, tokens + 1)[: tokens - 1]) / (tokens - 1)
            for head in range(heads)]


check("weights[i, i-1] of layer 0, mean by head:", means(tokens), [0.2239, 0.0465, 0.0241, 0.3942])
check("weights[i, i+1] of layer 0, mean by head:", means(1), [0.0595, 0.2895, 0.4408, 0.0256])
vectors = [array(f"text{n}.npz", "embedding")[1] for n in range(3)]
cosine = [sum(a * b for a, b in zip(vectors[n], vectors[1])) for n in (0, 2)]
check("cosines with 'What is your age?':", cosine, [0.8464, 0.0192])
END
