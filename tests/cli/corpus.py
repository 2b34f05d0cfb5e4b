#!/usr/bin/env python3
"""`attnscope heads --texts`, held against `attnscope heads --text` of each text and numpy; killed at several moments, it goes on
and gives the same bytes.

    corpus.py ATTNSCOPE MODEL

Exit code 77: it cannot run here, and why.
"""
import csv
import io
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

try:
    import numpy as np
except ImportError:
    print("skipped: there is no numpy (python3-numpy)")
    sys.exit(77)

PROGRAM, GOLDEN = sys.argv[1], pathlib.Path(sys.argv[2])
KILLS = int(sys.argv[3]) if len(sys.argv) > 3 else 4


def run(*words):
    done = subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, f"{words}: {done.returncode}: {done.stderr}"
    return done.stdout


def model(folder):
    folder.mkdir()
    for name in ("config.json", "model.safetensors"):
        shutil.copy(GOLDEN / name, folder)
    (folder / "vocab.json").write_text('{"a":0,"b":1,"ab":2,"Ġ":3,"c":4}')
    (folder / "merges.txt").write_text("#version: 0.2\na b\n")
    return folder


def sentences(count, seed):
    letters = random.Random(seed)
    return ["".join(letters.choice("abc ") for _ in range(letters.randint(1, 9))).strip() or "ab" for _ in range(count)]


def near(is_, should, what):
    is_, should = np.asarray(is_), np.asarray(should)
    assert (np.isnan(is_) == np.isnan(should)).all(), f"{what}: not defined elsewhere"
    error = np.nanmax(np.abs(is_ - should), initial=0.0)
    assert error < 2e-6, f"{what}: {error:.2g}"


def test_statistics(folder):
    """Of each text alone what the program said before there was a corpus; the rest by numpy."""
    lines = sentences(25, 3)
    pathlib.Path("lines.txt").write_text("\n".join(lines) + "\n")
    values = []
    for line in lines:
        rows = list(csv.DictReader(io.StringIO(run("heads", folder, "--text", line, "-o", "-"))))
        columns = list(rows[0])
        measures = columns[columns.index("label") + 1:columns.index("rows")]
        values.append([[float(row[m]) if row[m] else np.nan for m in measures] for row in rows])
    values = np.array(values)  # [texts, heads, measures]
    run("heads", folder, "--texts", "lines.txt", "-o", "out.npz", "--batch", "7")
    with np.load("out.npz") as out:
        shape = out["mean"].shape
        assert list(out["measures"]) == measures and len(measures) >= 10 and shape[0] * shape[1] == values.shape[1], shape
        flat = {name: out[name].reshape(values.shape[1:]) for name in out.files if out[name].ndim == 3}
        text = str(out["corpus"][0])
    with np.errstate(all="ignore"):
        near(flat["mean"], np.nanmean(values, axis=0), "mean")
        near(flat["std"], np.nanstd(values, axis=0), "std")
        near(flat["min"], np.nanmin(values, axis=0), "min")
        near(flat["max"], np.nanmax(values, axis=0), "max")
    assert (flat["texts"] == (~np.isnan(values)).sum(axis=0)).all(), "texts"
    for name in ("min", "max"):
        for (head, measure), number in np.ndenumerate(flat[f"{name}_text"]):
            if not np.isnan(number):
                near(values[int(number), head, measure], flat[name][head, measure], f"{name}: its text")
    words = {row["text"]: row["words"] for row in map(json.loads, text.splitlines()) if "words" in row}
    assert words and all(lines[number] == said for number, said in words.items()), "words of the extremes"


def test_kills(folder):
    pathlib.Path("many.txt").write_text("\n".join(sentences(6000, 4)) + "\n")
    words = ("heads", folder, "--texts", "many.txt", "--save-every", "0")
    begun = time.monotonic()
    run(*words, "-o", "whole.npz")
    took = time.monotonic() - begun
    expected = pathlib.Path("whole.npz").read_bytes()
    moments = random.Random(7)
    stopped = 0
    for n in range(KILLS):
        out, kept = pathlib.Path(f"killed-{n}.npz"), pathlib.Path(f"killed-{n}.npz.partial")
        for _ in range(1 + n % 2):  # some are killed twice
            job = subprocess.Popen([PROGRAM, *map(str, words), "-o", str(out)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            while job.poll() is None and not kept.exists():
                time.sleep(0.005)
            time.sleep(0.5 * took * moments.random())
            job.send_signal(signal.SIGKILL)
            job.wait()
        stopped += kept.exists() and not out.exists()
        run(*words, "-o", out)
        assert out.read_bytes() == expected, f"killed and gone on: other bytes ({n})"
        assert not kept.exists(), "what was kept is left behind"
    assert stopped > 0, "none was killed before its end"
    print(f"  {stopped} of {KILLS} were killed before their end")


def main():
    with tempfile.TemporaryDirectory() as place:
        os.chdir(place)
        folder = model(pathlib.Path("model"))
        for name, test in (("statistics", test_statistics), ("kills", test_kills)):
            begun = time.monotonic()
            test(folder)
            print(f"{name}: {time.monotonic() - begun:.1f} s")


main()
