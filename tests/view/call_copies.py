"""Runs the code that "Copy the whole call" copies and compares what it makes with the engine's own stages.
call_copies.py CALL_COPIES    Exit 77 (skipped) where numpy is missing; PyTorch is compared where it is there."""

import contextlib
import io
import pathlib
import subprocess
import sys
import tempfile
import warnings

try:
    import numpy as np
except ImportError:
    print("skipped: numpy is not installed")
    sys.exit(77)
try:
    import torch
except ImportError:
    torch = None

TOLERANCE = 2e-5  # float32 against float64, of the stage's largest number


def expected(path):
    for line in path.read_text().splitlines():
        key, *words = line.split()
        yield key, np.array(words[4:], float).reshape([int(n) for n in words[:4]])


def made(path):
    names = {}
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")  # of rows without a key
        exec(compile(path.read_text(), path.name, "exec"), names)  # the code is ours
    return names


def main(program):
    with tempfile.TemporaryDirectory() as folder:
        count = int(subprocess.run([program, folder], check=True, capture_output=True).stdout)
        assert count >= 60, count
        libraries = ["numpy"] + (["pytorch"] if torch else [])
        for n in range(count):
            for library in libraries:
                path = pathlib.Path(folder, f"{n}.{library}.py")
                names = made(path)
                for key, stage in expected(pathlib.Path(folder, f"{n}.txt")):
                    got = np.asarray(names[key]).reshape(stage.shape)
                    largest = np.abs(stage[np.isfinite(stage)]).max(initial=1e-3)
                    if not np.allclose(got, stage, 0, TOLERANCE * largest, equal_nan=True):
                        sys.exit(f"FAILED: {key} of this {library} code is\n{got}\nnot\n{stage}\n{path.read_text()}")
        print(f"{count} calls by {' and '.join(libraries)}")


main(sys.argv[1])
