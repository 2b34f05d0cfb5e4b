"""What tests of copied code share. Exit 77 (skipped) where numpy is missing; PyTorch is compared where it is there."""

import contextlib
import importlib.util
import io
import pathlib
import subprocess
import sys
import tempfile
import warnings

if not importlib.util.find_spec("numpy"):
    print("skipped: numpy is not installed")
    sys.exit(77)


def made(path):
    """The names that the code makes."""
    names = {}
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")  # of rows without a key
        exec(compile(path.read_text(), path.name, "exec"), names)  # the code is ours
    return names


def copies(program, least, words):
    """(what is expected, the file of each library's code) of at least so many."""
    libraries = ["numpy"] + (["pytorch"] if importlib.util.find_spec("torch") else [])
    with tempfile.TemporaryDirectory() as folder:
        count = int(subprocess.run([program, folder], check=True, capture_output=True).stdout)
        assert count >= least, count
        for n in range(count):
            yield pathlib.Path(folder, f"{n}.txt").read_text(), [pathlib.Path(folder, f"{n}.{library}.py") for library in libraries]
    print(f"{count} {words} by {' and '.join(libraries)}")
