#!/usr/bin/env python3
"""Every quantised type of GGUF against gguf-py and ggml, bit for bit, on random bytes and on numbers that ggml quantised.

    gguf_types_test.py PROGRAM         PROGRAM: gguf_numbers. Skips where gguf-py is not installed (Debian: python3-gguf).
    gguf_types_test.py --make FILE     the two halves of it, where PROGRAM runs on another system
    gguf_types_test.py --check FILE NUMBERS
"""

import pathlib
import subprocess
import sys
import tempfile

try:
    import gguf
except ImportError:
    print("skipped: gguf-py is not installed")
    sys.exit(77)
import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "goldens"))
import make_gguf_types as made  # noqa: E402

ROWS = 400  # of random bytes, and as many of quantised numbers
SEED = 47


def bits(numbers):
    return made.one_nan(numbers).view(np.uint32)


def check(codes, numbers):
    at, wrong = 0, 0
    for name, raw in codes.items():
        kind = gguf.GGMLQuantizationType[name]
        ours = numbers[at:at + len(raw) * made.WIDTH].reshape(len(raw), made.WIDTH)
        at += ours.size
        for reference, theirs in (("gguf-py", made.dequantised(raw, kind)), ("ggml", made.by_ggml(raw, kind))):
            if theirs is None:
                continue
            differs = np.argwhere(bits(ours) != bits(theirs))
            wrong += len(differs)
            print(f"{name:8} {reference:8} {ours.size} numbers, {len(differs)} differ")
            if len(differs):
                row, column = differs[0]
                print(f"  the first: row {row}, column {column}: {ours[row, column]!r}, {reference} {theirs[row, column]!r}")
    assert at == numbers.size, (at, numbers.size)
    return 1 if wrong else 0


if __name__ == "__main__":
    np.seterr(all="ignore")
    if sys.argv[1] == "--make":
        made.write(pathlib.Path(sys.argv[2]), SEED, ROWS)
        sys.exit(0)
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "types.gguf"
        codes = made.write(file, SEED, ROWS)
        if sys.argv[1] == "--check":
            assert file.read_bytes() == pathlib.Path(sys.argv[2]).read_bytes(), "another seed or another ggml"
            output = pathlib.Path(sys.argv[3]).read_bytes()
        else:
            output = subprocess.run([sys.argv[1], file], check=True, capture_output=True).stdout
        sys.exit(check(codes, np.frombuffer(output, np.float32)))
