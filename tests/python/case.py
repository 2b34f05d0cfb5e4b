"""What every test of the package begins with: the program, the package, a folder of its own. Exit 77 (skipped) without numpy."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import warnings

try:
    import numpy
except ImportError:
    print("python3-numpy is not installed")
    sys.exit(77)

BINARY, PACKAGE = sys.argv.pop(1), sys.argv.pop(1)
sys.path.insert(0, PACKAGE)
sys.dont_write_bytecode = True
import attnscope


def softmax(scores):
    powers = numpy.exp(scores - scores.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def causal(tokens):
    return numpy.where(numpy.tril(numpy.ones((tokens, tokens), bool)), 0.0, -numpy.inf)


class Case(unittest.TestCase):
    def setUp(self):
        made = tempfile.TemporaryDirectory()
        self.addCleanup(made.cleanup)  # after what a test adds
        self.folder = pathlib.Path(made.name)
        self.random = numpy.random.default_rng(1)
        os.environ["ATTNSCOPE"] = BINARY
        for name in ("DISPLAY", "WAYLAND_DISPLAY"):
            os.environ.pop(name, None)
        warnings.simplefilter("error", attnscope.Note)  # of a test that expects none

    def trace(self, path, *options):
        out = self.folder / "trace.npz"
        subprocess.run([BINARY, "trace", path, "-o", out, *options], check=True, capture_output=True)
        return dict(numpy.load(out))

    def qkv(self, *shape):
        return [self.random.standard_normal(shape).astype(numpy.float32) for _ in range(3)]
