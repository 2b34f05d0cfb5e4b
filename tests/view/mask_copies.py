"""Runs the code that Masks copies and compares the mask that it makes with the engine's own.
mask_copies.py MASK_COPIES    Exit 77 (skipped) where numpy is missing; PyTorch is compared where it is there."""

import pathlib
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    print("skipped: numpy is not installed")
    sys.exit(77)
try:
    import torch
except ImportError:
    torch = None


def expected(path):
    shape, digits = path.read_text().split("\n")[:2]
    return np.array([digit == "1" for digit in digits]).reshape([int(n) for n in shape.split()])


def made(path):
    names = {}
    exec(compile(path.read_text(), path.name, "exec"), names)  # the code is ours
    return np.asarray(names["mask"])


def main(program):
    with tempfile.TemporaryDirectory() as folder:
        count = int(subprocess.run([program, folder], check=True, capture_output=True).stdout)
        assert count >= 100, count
        libraries = ["numpy"] + (["pytorch"] if torch else [])
        forbidden = 0
        for n in range(count):
            mask = expected(pathlib.Path(folder, f"{n}.txt"))
            forbidden += int((~mask).sum())
            for library in libraries:
                code = pathlib.Path(folder, f"{n}.{library}.py")
                got = made(code)
                assert got.dtype == bool, (library, got.dtype)
                if not (np.broadcast_to(got, mask.shape) == mask).all():
                    sys.exit(f"FAILED: this {library} code makes\n{got}\nnot\n{mask}\n{code.read_text()}")
        assert forbidden > 1000, forbidden
        print(f"{count} masks, {forbidden} forbidden pairs, by {' and '.join(libraries)}")


main(sys.argv[1])
