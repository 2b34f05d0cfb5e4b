#!/usr/bin/env python3
"""Makes tests/goldens/models/bert~labels: random weights and, in float64, all of two layers and the logits.

From transformers' modeling_bert.py, BertForTokenClassification: norms of the embedding and of each sum, and a token classifier.
Needs Python alone.   python3 tests/goldens/make_bert_labels.py
"""
import json
import math
import pathlib
import random
import struct

FOLDER = pathlib.Path(__file__).parent / "models" / "bert~labels"
WIDTH, LAYERS, HEADS, INNER, VOCABULARY, POSITIONS, LABELS, EPSILON = 24, 2, 4, 32, 45, 16, 9, 1e-5
IDS = [1, 44, 20, 20, 5, 9, 33, 2]
draw = random.Random(43)
weights = {}


def as_float32(value):
    return struct.unpack("<f", struct.pack("<f", value))[0]


def vector(name, count, about=0.0, spread=0.4):
    weights[name] = [as_float32(draw.gauss(about, spread)) for _ in range(count)]
    return weights[name]


def matrix(name, rows, columns):
    weights[name] = [vector("row", columns) for _ in range(rows)]
    del weights["row"]
    return weights[name]


def add(a, b):
    return [[x + y for x, y in zip(*rows)] for rows in zip(a, b)]


def norm(x, name):
    scale, shift = vector(name + ".weight", WIDTH, about=1.0), vector(name + ".bias", WIDTH)
    made = []
    for row in x:
        mean = sum(row) / WIDTH
        root = math.sqrt(sum((value - mean) ** 2 for value in row) / WIDTH + EPSILON)
        made.append([(value - mean) / root * g + b for value, g, b in zip(row, scale, shift)])
    return made


def linear(x, name, out):
    w, b = matrix(name + ".weight", out, len(x[0])), vector(name + ".bias", out)
    return [[sum(p * q for p, q in zip(row, column)) + bias for column, bias in zip(w, b)] for row in x]


def heads(x):
    size = WIDTH // HEADS
    return [[row[h * size:(h + 1) * size] for row in x] for h in range(HEADS)]


def softmax(row):
    powers = [math.exp(value - max(row)) for value in row]
    return [power / sum(powers) for power in powers]


def attention(q, k):
    root = math.sqrt(WIDTH // HEADS)
    return [[softmax([sum(x * y for x, y in zip(a, b)) / root for b in keys]) for a in queries] for queries, keys in zip(q, k)]


def contexts(a, v):
    size = WIDTH // HEADS
    return [[sum(a[h][t][j] * v[h][j][c] for j in range(len(IDS))) for h in range(HEADS) for c in range(size)] for t in range(len(IDS))]


def shape_of(values):
    return [len(values)] + (shape_of(values[0]) if isinstance(values[0], list) else [])


def flat(values):
    return [each for value in values for each in flat(value)] if isinstance(values[0], list) else values


def write(path, arrays):
    header, data = {}, b""
    for name, values in arrays.items():
        whole = name == "ids"
        blob = struct.pack(f"<{len(flat(values))}{'q' if whole else 'f'}", *flat(values))
        header[name] = {"dtype": "I64" if whole else "F32", "shape": shape_of(values), "data_offsets": [len(data), len(data) + len(blob)]}
        data += blob
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def main():
    expected = {"ids": IDS}
    e = "bert.embeddings."
    tokens, places = matrix(e + "word_embeddings.weight", VOCABULARY, WIDTH), matrix(e + "position_embeddings.weight", POSITIONS, WIDTH)
    kinds = matrix(e + "token_type_embeddings.weight", 2, WIDTH)
    x = norm([[p + q + r for p, q, r in zip(tokens[token], places[n], kinds[0])] for n, token in enumerate(IDS)], e + "LayerNorm")
    for layer in range(LAYERS):
        b = f"bert.encoder.layer.{layer}."
        q, k, v = (heads(linear(x, b + f"attention.self.{part}", WIDTH)) for part in ("query", "key", "value"))
        a = attention(q, k)
        output = linear(contexts(a, v), b + "attention.output.dense", WIDTH)
        x = norm(add(x, output), b + "attention.output.LayerNorm")
        u = linear(x, b + "intermediate.dense", INNER)
        u = [[value * 0.5 * (1.0 + math.erf(value / math.sqrt(2.0))) for value in row] for row in u]
        x = norm(add(x, linear(u, b + "output.dense", WIDTH)), b + "output.LayerNorm")
        for name, value in (("q", q), ("k", k), ("v", v), ("weights", a), ("output", output), ("residual", x)):
            expected[f"l{layer}.{name}"] = value
    expected["logits"] = linear(x, "classifier", LABELS)
    FOLDER.mkdir(exist_ok=True)
    write(FOLDER / "model.safetensors", weights)
    write(FOLDER / "expected.safetensors", expected)
    config = {"architectures": ["BertForTokenClassification"], "model_type": "bert", "hidden_size": WIDTH,
              "num_hidden_layers": LAYERS, "num_attention_heads": HEADS, "intermediate_size": INNER, "vocab_size": VOCABULARY,
              "max_position_embeddings": POSITIONS, "layer_norm_eps": EPSILON, "hidden_act": "gelu",
              "id2label": {str(n): f"label {n}" for n in range(LABELS)}}
    (FOLDER / "config.json").write_text(json.dumps(config, indent=1) + "\n")


if __name__ == "__main__":
    main()
