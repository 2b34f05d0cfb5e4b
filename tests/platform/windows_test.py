"""The Windows program, run by Wine, computes what the program computes: every array that `attnscope trace` saves to 1e-5, and what
`heads` and `diff` print of it. Skipped where one of the two programs is missing.

    windows_test.py ATTNSCOPE TREE

docs/install.md has the build; ATTNSCOPE_WINDOWS_PROGRAM names another attnscope.exe than that of build/windows.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

PROGRAM = pathlib.Path(os.environ.get("ATTNSCOPE_WINDOWS_PROGRAM", pathlib.Path(sys.argv[2]) / "build/windows/attnscope.exe"))
if not PROGRAM.exists():
    print(f"{PROGRAM} is not built: it wants mingw-w64 (docs/install.md)")
    sys.exit(77)
WINE = shutil.which("wine")
if WINE is None:
    print("wine is not installed (Debian: wine, wine64)")
    sys.exit(77)
try:
    import numpy as np
except ImportError:
    print("numpy is not installed (Debian: python3-numpy)")
    sys.exit(77)

TOLERANCE = 1e-5
SIZES = [(1, 1, 4, 4, 4), (2, 3, 33, 16, 24), (1, 2, 257, 64, 64)]  # B, H, T, d_k, d_v
CALLS = [[], ["--causal"], ["--causal", "--grad"], ["--score", "cosine", "--window", "5"], ["--rope", "half", "--causal", "--backend", "reference"],
         ["--backend", "fused", "--causal"], ["--backend", "staged", "--softcap", "20", "--dropout", "0.2", "--seed", "3"]]


def run(*arguments):
    done = subprocess.run([str(each) for each in arguments], capture_output=True, text=True, check=False, env=ENVIRONMENT)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, arguments))}: exit code {done.returncode}: {done.stderr}")
    return done.stdout


def differences(one, other):
    """Of each array of both; equal infinities differ by nothing."""
    for name in sorted(set(one.files) & set(other.files)):
        if one[name].shape == other[name].shape and one[name].dtype.kind == "f":
            a, b = one[name].ravel().astype(np.float64), other[name].ravel().astype(np.float64)
            same = (a == b) | (np.isnan(a) & np.isnan(b))
            with np.errstate(invalid="ignore"):
                yield name, float(np.where(same, 0.0, np.abs(a - b)).max(initial=0.0))


faults, worst = [], 0.0
with tempfile.TemporaryDirectory() as scratch:
    scratch = pathlib.Path(scratch)
    # Wine reads names of files as the locale's letters; without mono and gecko it asks no question.
    ENVIRONMENT = {**os.environ, "WINEDEBUG": "-all", "WINEDLLOVERRIDES": "mscoree,mshtml=", "LC_ALL": "C.UTF-8",
                   "WINEPREFIX": os.environ.get("WINEPREFIX", str(scratch / "prefix"))}
    (scratch / "ä 中").mkdir()  # neither is a letter of Windows' older code pages
    random = np.random.default_rng(7)
    for b, h, t, d_k, d_v in SIZES:
        shapes = {"Q": (b, h, t, d_k), "K": (b, h, t, d_k), "V": (b, h, t, d_v)}
        call = scratch / "ä 中" / "in.npz"
        np.savez(call, **{name: random.standard_normal(shape).astype(np.float32) for name, shape in shapes.items()})
        for options in CALLS:
            native, windows = scratch / "native.npz", scratch / "ä 中" / "windows.npz"
            run(sys.argv[1], "trace", call, *options, "-o", native)
            run(WINE, PROGRAM, "trace", call, *options, "-o", windows)
            one, other = np.load(native), np.load(windows)
            found = dict(differences(one, other))
            text = f"{b}x{h}x{t}x{d_k} {' '.join(options)}"
            if set(one.files) != set(other.files) or not {"context", "logsumexp"} <= set(found):
                faults.append(f"{text}: other arrays: {set(one.files) ^ set(other.files)}")
            faults += [f"{text}: {name} differs by {by:.1e}" for name, by in found.items() if not by <= TOLERANCE]
            worst = max(worst, max(found.values()))
            print(f"{text}: {len(found)} arrays, largest difference {max(found.values()):.1e}")
    found = run(WINE, PROGRAM, "diff", native, windows)
    if "\r" in found:
        faults.append("diff: lines end in CR LF")
    run(WINE, PROGRAM, "heads", call, "-o", scratch / "windows.csv")
    run(sys.argv[1], "heads", call, "-o", scratch / "native.csv")
    lines = [(scratch / name).read_text().splitlines() for name in ("native.csv", "windows.csv")]
    if [len(lines[0]), lines[0][0]] != [len(lines[1]), lines[1][0]]:
        faults.append(f"heads: {lines[1][:2]} in place of {lines[0][:2]}")
print(f"largest difference of all: {worst:.1e}")
print("\n".join(faults))
sys.exit(bool(faults))
