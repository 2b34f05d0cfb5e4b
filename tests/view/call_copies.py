"""Runs the code that "Copy the whole call" copies and compares what it makes with the engine's own stages.
call_copies.py CALL_COPIES"""

import sys

from copies import copies, made
import numpy as np

TOLERANCE = 2e-5  # float32 against float64, of the stage's largest number


def expected(text):
    for line in text.splitlines():
        key, *words = line.split()
        yield key, np.array(words[4:], float).reshape([int(n) for n in words[:4]])


for text, paths in copies(sys.argv[1], 60, "calls"):
    for path in paths:
        names = made(path)
        for key, stage in expected(text):
            got = np.asarray(names[key]).reshape(stage.shape)
            largest = np.abs(stage[np.isfinite(stage)]).max(initial=1e-3)
            if not np.allclose(got, stage, 0, TOLERANCE * largest, equal_nan=True):
                sys.exit(f"FAILED: {key} of {path.name} is\n{got}\nnot\n{stage}\n{path.read_text()}")
