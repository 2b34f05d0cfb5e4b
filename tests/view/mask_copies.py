"""Runs the code that Masks copies and compares the mask that it makes with the engine's own.
mask_copies.py MASK_COPIES"""

import sys

from copies import copies, made
import numpy as np

forbidden = 0
for text, paths in copies(sys.argv[1], 100, "masks"):
    shape, digits = text.split("\n")[:2]
    mask = np.array([digit == "1" for digit in digits]).reshape([int(n) for n in shape.split()])
    forbidden += int((~mask).sum())
    for path in paths:
        got = np.asarray(made(path)["mask"])
        assert got.dtype == bool, (path.name, got.dtype)
        if not (np.broadcast_to(got, mask.shape) == mask).all():
            sys.exit(f"FAILED: {path.name} makes\n{got}\nnot\n{mask}\n{path.read_text()}")
assert forbidden > 1000, forbidden
