#!/usr/bin/env python3
"""Universal Sentence Encoder Lite in numpy, from the text to the sentence vector, apart from the program.

    use_lite.py FOLDER TRACE.npz TEXT [TFJS.safetensors]

Compares with `attnscope trace --model FOLDER --text TEXT -o TRACE.npz`, and that with what use_lite_tfjs.mjs wrote of the
same tokens. FOLDER is what `tools/model use-lite` made. Prints the largest difference of each stage as a part of its largest
number, and fails above 1e-5.
"""

import json
import math
import pathlib
import struct
import sys
import unicodedata

import numpy as np


def tensors(path):
    data = path.read_bytes()
    length = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:8 + length])
    return {name: np.frombuffer(data[8 + length:][slice(*row["data_offsets"])], "<f4").reshape(row["shape"]).astype(float)
            for name, row in header.items()}


def tokenize(text, rows):
    text = "▁" + unicodedata.normalize("NFKC", text).replace(" ", "▁")
    scores = {piece: (score, n) for n, (piece, score) in enumerate(rows) if n}
    unknown = min(score for score, _ in scores.values()) - 10
    best = [(0.0, 0, 0)] + [(-math.inf, 0, 0)] * len(text)
    for start in range(len(text)):
        for end in range(start + 1, len(text) + 1):
            score, n = scores.get(text[start:end], (unknown if end == start + 1 else None, 0))
            if score is not None and best[start][0] + score > best[end][0]:
                best[end] = (best[start][0] + score, start, n)
    ids, at = [], len(text)
    while at:
        ids.insert(0, best[at][2])
        at = best[at][1]
    return [n for i, n in enumerate(ids) if n or i == 0 or ids[i - 1]]


def norm(x, w, name):
    mean = x.mean(-1, keepdims=True)
    return (x - mean) / np.sqrt(((x - mean) ** 2).mean(-1, keepdims=True) + 1e-6) * w[f"{name}.weight"] + w[f"{name}.bias"]


def encode(ids, w):
    def linear(x, name):
        return x @ w[f"{name}.weight"] + w[f"{name}.bias"]

    def heads(x):
        return x.reshape(len(ids), 4, -1).transpose(1, 0, 2)

    x = 2 * w["embedding.weight"][ids]  # the graph adds the embedding to the embedding with its timing signal
    half = x.shape[1] // 2
    angle = np.arange(len(ids))[:, None] * np.exp(-math.log(1e4) / (half - 1) * np.arange(half))
    x = x + np.concatenate([np.sin(angle), np.cos(angle)], 1)
    found = {}
    for n in (0, 1):
        q, k, v = (heads(part) for part in np.split(linear(norm(x, w, f"layers.{n}.attention_norm"), f"layers.{n}.qkv"), 3, 1))
        scaled = q @ k.transpose(0, 2, 1) / math.sqrt(q.shape[-1])
        weights = np.exp(scaled - scaled.max(-1, keepdims=True))
        weights /= weights.sum(-1, keepdims=True)
        output = linear((weights @ v).transpose(1, 0, 2).reshape(len(ids), -1), f"layers.{n}.out")
        x = (linear(x, f"layers.{n}.residual") if n == 0 else x) + output
        hidden = np.maximum(linear(norm(x, w, f"layers.{n}.mlp_norm"), f"layers.{n}.up"), 0)
        x = x + linear(hidden, f"layers.{n}.down")
        for key, value in {"q": q, "k": k, "v": v, "scaled": scaled, "weights": weights, "output": output,
                           "residual": x}.items():
            found[f"l{n}.{key}"] = value
    vector = np.tanh(linear(x.mean(0), "read_out"))
    found["embedding"] = vector / np.sqrt((vector ** 2).sum())
    return found


def compare(trace, expected, reference):
    """The largest difference of all stages."""
    worst = 0.0
    for name, numbers in expected.items():
        error = np.abs(trace[name].reshape(numbers.shape) - numbers).max() / np.abs(numbers).max()
        print(f"{reference} {name:<14} {error:.1e}")
        worst = max(worst, error)
    return worst


def main():
    folder, trace, text = pathlib.Path(sys.argv[1]), np.load(sys.argv[2]), sys.argv[3]
    rows = json.loads((folder / "tokenizer.json").read_text("utf-8"))["model"]["vocab"]
    ids = tokenize(text, rows)
    if ids != [int(n) for n in trace["token_ids"]]:
        sys.exit(f"tokens differ: {ids} here, {trace['token_ids'].tolist()} there")
    print(" ".join(trace["tokens"]))
    worst = compare(trace, encode(ids, tensors(folder / "model.safetensors")), "numpy")
    if len(sys.argv) > 4:
        worst = max(worst, compare(trace, tensors(pathlib.Path(sys.argv[4])), "tfjs"))
    if not worst < 1e-5:
        sys.exit(f"the largest difference is {worst:.1e}; expected less than 1e-5")


main()
