"""The program as WebAssembly, run by node, computes what the program computes: every stage that `attnscope trace` saves, to 1e-5, by
each backend. Skipped where it is not built.

    engine_test.py ATTNSCOPE TREE

docs/web.md says how it is built; ATTNSCOPE_NODE_PROGRAM names another attnscope-node.cjs than that of build/web.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

PROGRAM = pathlib.Path(os.environ.get("ATTNSCOPE_NODE_PROGRAM", pathlib.Path(sys.argv[2]) / "build/web/web/attnscope-node.cjs"))
if not PROGRAM.exists():
    print(f"{PROGRAM} is not built: it wants Emscripten 4 or later (docs/web.md)")
    sys.exit(77)
NODE = os.environ.get("ATTNSCOPE_NODE") or shutil.which("node")
if NODE is None:
    print("node is not installed (Debian: nodejs)")
    sys.exit(77)
try:
    import numpy as np
except ImportError:
    print("numpy is not installed (Debian: python3-numpy)")
    sys.exit(77)

TOLERANCE = 1e-5
SIZES = [(1, 1, 4, 4, 4), (2, 3, 33, 16, 24), (1, 2, 257, 64, 64)]  # B, H, T, d_k, d_v


def run(*words):
    begun = time.monotonic()
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, words))}: {done.stderr}")
    return time.monotonic() - begun


def differences(one, other):
    """Of each array of both; equal infinities differ by nothing."""
    for name in sorted(set(one.files) & set(other.files)):
        if one[name].size == other[name].size and one[name].dtype == np.float32:
            a, b = one[name].ravel().astype(np.float64), other[name].ravel().astype(np.float64)
            same = (a == b) | (np.isnan(a) & np.isnan(b))
            with np.errstate(invalid="ignore"):
                yield name, float(np.where(same, 0.0, np.abs(a - b)).max(initial=0.0))


faults, compared = [], 0
with tempfile.TemporaryDirectory() as scratch:
    scratch = pathlib.Path(scratch)
    random = np.random.default_rng(7)
    for b, h, t, d_k, d_v in SIZES:
        shapes = {"Q": (b, h, t, d_k), "K": (b, h, t, d_k), "V": (b, h, t, d_v)}
        np.savez(scratch / "in.npz", **{name: random.standard_normal(shape).astype(np.float32) for name, shape in shapes.items()})
        for backend in ("reference", "staged", "fused"):
            trace = ["trace", scratch / "in.npz", "--causal", "--backend", backend, "-o"]
            run(sys.argv[1], *trace, scratch / "native.npz")
            seconds = run(NODE, PROGRAM, *trace, scratch / "web.npz")
            found = dict(differences(np.load(scratch / "native.npz"), np.load(scratch / "web.npz")))
            compared += len(found)
            wanted = {"context", "logsumexp"} if backend == "fused" else {"scores", "weights", "context", "logsumexp"}
            faults += [f"{backend} {b}x{h}x{t}: {name} is not there" for name in wanted - set(found)]
            faults += [f"{backend} {b}x{h}x{t}: {name} differs by {by:.1e}" for name, by in found.items() if not by <= TOLERANCE]
            print(f"{backend} {b}x{h}x{t}x{d_k}: {len(found)} arrays, largest difference {max(found.values()):.1e}, {seconds:.2f} s")
print("\n".join(faults))
sys.exit(bool(faults))
