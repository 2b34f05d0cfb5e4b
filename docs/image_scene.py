#!/usr/bin/env python3
"""Writes a picture of a few shapes and the attention of a sentence over it, whose rules are known: for docs/images.sh and tests by eye.

    image_scene.py OUT.npz [SIZE GRID]

Tokens: CLS, GRID × GRID patches, and words. Head 0 compares what a word names with what a patch shows; head 1 compares places; in head 2
most weight goes to one patch at the border, as in models that put unused weight there.
"""
import json
import sys

import numpy

SIZE, GRID = (int(each) for each in sys.argv[2:4]) if len(sys.argv) > 3 else (336, 14)
WORDS = ["the", "sun", "over", "a", "hill", "and", "a", "red", "house"]
THINGS = {"sun": 1, "hill": 2, "house": 3, "red": 3}  # what is drawn, by number; 0: sky

y, x = (each / SIZE for each in numpy.mgrid[0:SIZE, 0:SIZE])
sky = numpy.stack([0.35 + 0.5 * y, 0.62 + 0.25 * y, 0.92 - 0.05 * y], -1)
picture, thing = sky, numpy.zeros((SIZE, SIZE), int)


def paint(where, color, number):
    global picture
    picture = numpy.where(where[..., None], numpy.asarray(color), picture)
    thing[where] = number


paint((x - 0.74) ** 2 + (y - 0.24) ** 2 < 0.012, (1.0, 0.84, 0.3), 1)
paint(y > 0.62 + 0.10 * numpy.sin(5.2 * x + 0.6), (0.36, 0.62, 0.34), 2)
paint(y > 0.80 + 0.05 * numpy.sin(7.0 * x + 2.0), (0.25, 0.48, 0.28), 2)
paint((abs(x - 0.32) < 0.12) & (abs(y - 0.64) < 0.12), (0.80, 0.27, 0.24), 3)
paint((abs(x - 0.32) < 0.55 * (y - 0.34)) & (abs(y - 0.44) < 0.085), (0.45, 0.20, 0.20), 3)
paint((abs(x - 0.27) < 0.03) & (abs(y - 0.62) < 0.03), (0.98, 0.92, 0.70), 3)
paint((abs(x - 0.37) < 0.028) & (abs(y - 0.70) < 0.06), (0.35, 0.16, 0.14), 3)

edges = numpy.linspace(0, SIZE, GRID + 1).astype(int)
parts = [thing[a:b, c:d] for a, b in zip(edges, edges[1:]) for c, d in zip(edges, edges[1:])]
shown = numpy.array([[(part == number).mean() for number in range(4)] for part in parts])  # of each patch, each thing
place = numpy.array([[(row + 0.5) / GRID, (column + 0.5) / GRID] for row in range(GRID) for column in range(GRID)])

patches, words = GRID * GRID, len(WORDS)
tokens = 1 + patches + words
scores = numpy.zeros((3, tokens, tokens))
scores[:, :, 0] = 2.5  # CLS takes what no key asks for
for n, word in enumerate(WORDS):
    query = 1 + patches + n
    if word in THINGS:
        scores[0, query, 1:1 + patches] = 6.0 * shown[:, THINGS[word]]
scores[0, 1:1 + patches, 1:1 + patches] = 5.0 * shown @ shown.T
scores[0, 0, 1:1 + patches] = 3.0 * (shown[:, 1] + shown[:, 3])
distance = ((place[:, None] - place[None]) ** 2).sum(-1)
scores[1, 1:1 + patches, 1:1 + patches] = 6.0 - 60.0 * distance
scores[2, :, 1 + patches - GRID] = 6.0
weights = numpy.exp(scores - scores.max(-1, keepdims=True))
weights[:, :1 + patches, 1 + patches:] = 0.0  # the mask: patches do not see words, and words no later ones
weights[:, 1 + patches:, 1 + patches:] *= numpy.tril(numpy.ones((words, words)))
weights /= weights.sum(-1, keepdims=True)
numpy.savez(sys.argv[1], weights=weights.astype(numpy.float32), image=(255 * picture).clip(0, 255).astype(numpy.uint8),
            image_tokens=numpy.array([1, patches]), image_grid=numpy.array([GRID, GRID]),
            tokens=numpy.array(json.dumps(["CLS", *["*"] * patches, *WORDS])))
