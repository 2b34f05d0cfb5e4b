#!/usr/bin/env python3
"""Makes tests/goldens/models/megatron-bert: random weights and, in float64, all of two layers and the logits.

From transformers' modeling_megatron_bert.py: BERT whose norms come before attention, before the MLP and after the last layer,
and a token classifier. Needs NumPy alone.   python3 tests/goldens/make_megatron_bert.py
"""
import json
import math
import pathlib
import struct

import numpy as np

FOLDER = pathlib.Path(__file__).parent / "models" / "megatron-bert"
WIDTH, LAYERS, HEADS, INNER, VOCABULARY, POSITIONS, LABELS, EPSILON = 24, 2, 4, 32, 45, 16, 9, 1e-5
IDS = np.array([1, 44, 20, 20, 5, 9, 33, 2])
random = np.random.default_rng(41)
weights = {}


def number(name, *shape, about=0.0, spread=0.4):
    weights[name] = (about + spread * random.standard_normal(shape)).astype(np.float32)
    return weights[name].astype(np.float64)


def norm(x, name):
    x = x - x.mean(-1, keepdims=True)
    x = x / np.sqrt((x * x).mean(-1, keepdims=True) + EPSILON)
    return x * number(name + ".weight", WIDTH, about=1.0) + number(name + ".bias", WIDTH)


def linear(x, name, out):
    return x @ number(name + ".weight", out, x.shape[-1]).T + number(name + ".bias", out)


def heads(x):
    return x.reshape(len(IDS), HEADS, WIDTH // HEADS).transpose(1, 0, 2)


def write(path, arrays):
    header, data = {}, b""
    for name, array in arrays.items():
        header[name] = {"dtype": {"float32": "F32", "int64": "I64"}[str(array.dtype)], "shape": list(array.shape),
                        "data_offsets": [len(data), len(data) + array.nbytes]}
        data += array.tobytes()
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def main():
    expected = {"ids": IDS}
    e = "bert.embeddings."
    x = (number(e + "word_embeddings.weight", VOCABULARY, WIDTH)[IDS] + number(e + "position_embeddings.weight", POSITIONS, WIDTH)[:len(IDS)]
         + number(e + "token_type_embeddings.weight", 2, WIDTH)[0])
    for layer in range(LAYERS):
        b = f"bert.encoder.layer.{layer}."
        h = norm(x, b + "attention.ln")
        q, k, v = (heads(linear(h, b + f"attention.self.{part}", WIDTH)) for part in ("query", "key", "value"))
        scores = q @ k.transpose(0, 2, 1) / math.sqrt(WIDTH // HEADS)
        a = np.exp(scores - scores.max(-1, keepdims=True))
        a /= a.sum(-1, keepdims=True)
        output = linear((a @ v).transpose(1, 0, 2).reshape(len(IDS), WIDTH), b + "attention.output.dense", WIDTH)
        x = x + output
        u = linear(norm(x, b + "ln"), b + "intermediate.dense", INNER)
        u = u * 0.5 * (1.0 + np.vectorize(math.erf)(u / math.sqrt(2.0)))
        x = x + linear(u, b + "output.dense", WIDTH)
        for name, value in (("q", q), ("k", k), ("v", v), ("weights", a), ("output", output), ("residual", x)):
            expected[f"l{layer}.{name}"] = np.ascontiguousarray(value, dtype=np.float32)
    expected["logits"] = linear(norm(x, "bert.encoder.ln"), "classifier", LABELS).astype(np.float32)
    FOLDER.mkdir(exist_ok=True)
    write(FOLDER / "model.safetensors", weights)
    write(FOLDER / "expected.safetensors", expected)
    config = {"architectures": ["MegatronBertForTokenClassification"], "model_type": "megatron-bert", "hidden_size": WIDTH,
              "num_hidden_layers": LAYERS, "num_attention_heads": HEADS, "intermediate_size": INNER, "vocab_size": VOCABULARY,
              "max_position_embeddings": POSITIONS, "layer_norm_eps": EPSILON, "hidden_act": "gelu",
              "id2label": {str(n): f"label {n}" for n in range(LABELS)}}
    (FOLDER / "config.json").write_text(json.dumps(config, indent=1) + "\n")


if __name__ == "__main__":
    main()
