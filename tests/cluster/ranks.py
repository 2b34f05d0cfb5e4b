#!/usr/bin/env python3
"""attnscope-mpi gives the same bits on any number of ranks, goes on after a rank was killed, and refuses what is wrong.

    ranks.py ATTNSCOPE-MPI ATTNSCOPE [--kills N]

Exit code 77: it cannot run here, and why.
"""
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

RANKS = (1, 2, 3, 4, 7)
WAIT = 120  # seconds that no command may take


def skip(why):
    print(f"skipped: {why}")
    sys.exit(77)


try:
    import numpy as np
except ImportError:
    skip("there is no numpy (python3-numpy)")
if sys.argv[1] == "none":
    skip("the build found no MPI (libopenmpi-dev)")
if not shutil.which("mpirun"):
    skip("there is no mpirun (openmpi-bin)")

PROGRAM, SINGLE = sys.argv[1], sys.argv[2]
KILLS = int(sys.argv[sys.argv.index("--kills") + 1]) if "--kills" in sys.argv else 2
ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                   OMPI_MCA_rmaps_base_oversubscribe="1", OMPI_MCA_hwloc_base_binding_policy="none")


def command(ranks, *words):
    return ["mpirun", "-n", str(ranks), PROGRAM, *map(str, words)]


def run(ranks, *words):
    done = subprocess.run(command(ranks, *words), capture_output=True, text=True, env=ENVIRONMENT, timeout=WAIT)
    assert done.returncode == 0, f"{words} on {ranks}: {done.returncode}: {done.stderr}"
    return done.stdout + done.stderr


def refused(begin, words, expected):
    done = subprocess.run([*begin, *words], capture_output=True, text=True, env=ENVIRONMENT, timeout=WAIT)
    assert done.returncode == 2, f"{words}: {done.returncode}: {done.stderr}"
    lines = [line for line in done.stderr.splitlines() if line.startswith("attnscope-mpi")]
    assert lines and expected in lines[-1], f"{words}: '{expected}' is not in: {done.stderr}"


def numbers(rng, *shape):
    return rng.standard_normal(shape).astype(np.float32)


def bits_of(path):
    """Every array of a file, or every file of a map, as bytes."""
    if path.is_dir():
        return {str(f.relative_to(path)): f.read_bytes() for f in sorted(path.rglob("*")) if f.is_file()}
    with np.load(path) as arrays:
        return {name: arrays[name].tobytes() for name in arrays.files}


def same(a, b, what):
    assert a.keys() == b.keys(), f"{what}: {sorted(a.keys() ^ b.keys())[:3]}"
    other = [name for name in a if a[name] != b[name]]
    assert not other, f"{what}: {len(other)} of {len(a)} differ, the first is {other[0]}"


def save(path, options=None, **arrays):
    if options:
        arrays["options"] = np.array(json.dumps(options))
    np.savez(path, **arrays)
    return path


def maps(rng):
    """Of each: a file. 9001 tokens make more pieces of keys than a rank holds; of 500 every rank holds all keys."""
    q, k = numbers(rng, 2, 9001, 8), numbers(rng, 2, 9001, 8)
    yield RANKS, save("causal.npz", {"causal": "top-left", "alibi": True, "rope": "half"}, Q=q[:1], K=k[:1], V=k[:1],
               sinks=numbers(rng, 1))
    mask = rng.random((500, 700)) < 0.3
    mask[[3, 77]] = False
    k, q = k[:, :700].copy(), q[:2, :500].copy()
    k[1, 5, 2] = np.nan
    yield (1, 3), save("holes.npz", {"empty-rows": "nan"}, Q=q, K=k, V=k, mask=mask)
    yield (1, 7), save("three.npz", {"score": "cosine"}, Q=q[:1, :3], K=k[:1, :2600], V=k[:1, :2600])


def calls(rng):
    x = {"Q": numbers(rng, 2, 4, 1601, 16), "K": numbers(rng, 2, 2, 1601, 16), "V": numbers(rng, 2, 2, 1601, 8),
         "sinks": numbers(rng, 4)}
    x["dO"] = numbers(rng, 2, 4, 1601, 8)
    yield RANKS, save("all.npz", {"causal": "top-left", "alibi": True, "softcap": 5.0, "window-left": 900}, **x)
    mask = rng.random((1, 2, 800, 1000)) < 0.3
    mask[:, 1, [0, 400, 799]] = False
    y = {"Q": numbers(rng, 2, 2, 800, 16), "K": numbers(rng, 2, 2, 1000, 16), "V": numbers(rng, 2, 2, 1000, 8), "mask": mask}
    y["V"][0, 0, 990] = np.nan
    yield (1, 3), save("masks.npz", {"window": 600, "global-tokens": 3, "padding": "1000,950", "query-offset": 200}, **y)
    yield (1, 3), save("nan.npz", {"empty-rows": "nan", "score": "cosine", "temperature": 0.2}, **y)
    z = {name: array[:1, :2] for name, array in x.items() if name in "QKV"}
    yield (1, 3), save("alibi.npz", {"alibi": True}, Q=z["Q"], K=z["K"], V=z["V"])
    w = {name: numbers(rng, 24, 24) for name in ("W_Q", "W_K", "W_V", "W_O")}
    yield (1, 7), save("x.npz", {"heads": 3, "rope": "interleaved", "rope-base": 100.0}, X=numbers(rng, 900, 24), **w)
    yield (1, 7), save("short.npz", {}, Q=y["Q"][:, :, :2], K=y["K"][:, :, :5], V=y["V"][:, :, :5])


def near(expected, got, name):
    nan = np.isnan(expected)
    assert expected.shape == got.shape and (nan == np.isnan(got)).all(), f"{name}: other shape or NaN"
    infinite = np.isinf(expected)
    assert (expected[infinite] == got[infinite]).all(), f"{name}: other infinities"
    fine = ~(nan | infinite)
    scale = np.abs(expected[fine]).max(initial=1e-30)
    error = np.abs(expected[fine] - got[fine]).max(initial=0.0) / scale
    assert error < 3e-6, f"{name}: {error:.2g} of its largest"


def test_maps(rng):
    for ranks_of, file in maps(rng):
        first = None
        for ranks in ranks_of:
            folder = pathlib.Path(f"map-{file}-{ranks}")
            run(ranks, "map", file, "-o", folder)
            first = first or bits_of(folder)
            same(first, bits_of(folder), f"map of {file} on {ranks} ranks")
    assert "0 strips" in run(2, "map", folder, "-o", folder), "a map that is whole is computed again"
    same(first, bits_of(folder), "a map of its own folder")
    assert "0 strips" in run(2, "map", file, "-o", folder), "a map of the same file is computed again"
    before = (folder / "inputs.npz").read_bytes()
    refused([PROGRAM], ("map", "holes.npz", "-o", folder), "inputs.npz is of another call")
    assert (folder / "inputs.npz").read_bytes() == before, "the inputs of another map are replaced"
    own = pathlib.Path("own")
    own.mkdir()
    save(own / "inputs.npz", X=numbers(rng, 9, 4), **{name: numbers(rng, 4, 4) for name in ("W_Q", "W_K", "W_V")})
    before = (own / "inputs.npz").read_bytes()
    refused([PROGRAM], ("map", own / "inputs.npz", "-o", own), "inputs.npz is of another call")
    assert (own / "inputs.npz").read_bytes() == before and len(list(own.iterdir())) == 1, "a user's inputs are replaced"


def drawn(folder):
    subprocess.run([SINGLE, "render", folder, "--workspace", "large", "--full-pass", "--size", "700x500", "-o", "map.png"],
                   check=True, capture_output=True, timeout=WAIT)
    return pathlib.Path("map.png").read_bytes()


def test_window():
    """The window reads the strips, which are what it would compute."""
    folder = pathlib.Path("map-causal.npz-1")
    read = drawn(folder)
    strips = next(folder.glob("map/*"))
    strips.rename("aside")
    assert drawn(folder) == read, "the window computes another map than it reads"
    pathlib.Path("aside").rename(strips)
    strip = next(strips.glob("b0-h0-*20.npz"))
    with np.load(strip) as arrays:
        np.savez(strip, **{name: arrays[name] * (name != "mean") for name in arrays.files})
    assert drawn(folder) != read, "the window does not read strips"


def test_calls(rng):
    for ranks_of, file in calls(rng):
        single = file.replace(".npz", "-single.npz")
        subprocess.run([SINGLE, "trace", file, "-o", single, "--backend", "fused", "--grad"],
                       check=True, capture_output=True, timeout=WAIT)
        first = None
        for ranks in ranks_of:
            out = pathlib.Path(f"{ranks}-{file}")
            run(ranks, "attend", file, "-o", out, "--grad")
            first = first or bits_of(out)
            same(first, bits_of(out), f"attend {file} on {ranks} ranks")
        with np.load(single) as expected, np.load(out) as got:
            assert set(expected.files) == set(got.files), f"{file}: {set(expected.files) ^ set(got.files)}"
            for name in expected.files:
                if expected[name].dtype == np.float32:
                    near(expected[name], got[name], f"{file}: {name}")


def children(parent):
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rsplit(")", 1)[1].split()
                if int(fields[1]) == parent and os.path.basename(os.readlink(entry / "exe")) == "attnscope-mpi":
                    yield int(entry.name)
            except (OSError, IndexError):
                pass


def killed(words, out_of, parts, kills):
    """A rank is killed at some moments; the same command on 2 ranks then gives what a whole run does."""
    whole = out_of("whole")
    begun = time.monotonic()
    run(3, *words, "-o", whole)
    took = time.monotonic() - begun
    expected = bits_of(whole)
    moments = random.Random(7)
    for n in range(kills):
        out = out_of(f"killed-{n}")
        deadline = 0.7 * took * moments.random()
        job = subprocess.Popen(command(3, *words, "-o", out), env=ENVIRONMENT, text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        # Not before all ranks have started: PMIx 4.2's mpirun may then wait forever for a lock, when every rank has ended.
        while job.poll() is None and not parts(out):
            time.sleep(0.01)
        time.sleep(deadline)
        ranks = sorted(children(job.pid))
        if ranks and job.poll() is None:
            os.kill(moments.choice(ranks), signal.SIGKILL)
        _, err = job.communicate(timeout=WAIT)
        if job.returncode != 0:
            assert "rank" in err and "signal 9" in err, f"no rank is named: {err}"
        kept = sorted(part for part in parts(out) if part.suffix == ".npz")
        if kept and n == 0:
            kept.pop(0).write_bytes(b"damaged")
        said = run(2, *words, "-o", out)
        same(expected, bits_of(out), f"resumed with {len(kept)} parts")
        print(f"  killed after {deadline:.2f} s: status {job.returncode}, {len(kept)} parts kept")
        yield out, kept, said


def test_kills(rng, kills):
    q, k = numbers(rng, 1, 30000, 16), numbers(rng, 1, 30000, 16)
    file = save("long.npz", {"causal": "top-left"}, Q=q, K=k, V=q)
    for folder, _, _ in killed(("map", file), lambda name: pathlib.Path(name), lambda out: list(out.glob("map/*/*[0-9k].*")), kills):
        shutil.rmtree(folder)
    file = save("call.npz", {"causal": "top-left"}, Q=q[:, :16000], K=k[:, :16000], V=q[:, :16000])
    for out, kept, said in killed(("attend", file, "--grad"), lambda name: pathlib.Path(name + ".npz"),
                                  lambda out: list(pathlib.Path(f"{out}.parts").glob("*/*.npz")), kills):
        assert f" {len(kept)} blocks were there" in said if kept else "were there" not in said, said
        assert not pathlib.Path(f"{out}.parts").exists(), "parts are left behind"
    job = subprocess.Popen(command(1, "attend", file, "-o", "other.npz"), env=ENVIRONMENT, stderr=subprocess.DEVNULL)
    while job.poll() is None and not list(pathlib.Path("other.npz.parts").glob("*/*.npz")):
        time.sleep(0.01)
    for rank in children(job.pid):
        os.kill(rank, signal.SIGKILL)
    assert job.wait(WAIT) != 0, "it ended before it was killed"
    file = save("other-call.npz", {"causal": "top-left"}, Q=q[:, :16000], K=k[:, :16000], V=k[:, :16000])
    assert "were there" not in run(2, "attend", file, "-o", "other.npz"), "parts of another call are read"


def test_heads():
    """A corpus by ranks that take pieces as they come is that of the single program, also after a rank was killed."""
    folder = pathlib.Path("model")
    folder.mkdir()
    for name in ("config.json", "model.safetensors"):
        shutil.copy(pathlib.Path(__file__).parent.parent / "goldens/models/gpt2" / name, folder)
    letters = random.Random(3)
    pathlib.Path("lines.jsonl").write_text("".join(
        json.dumps({"tokens": [letters.randrange(50) for _ in range(letters.randint(0, 18))]}) + "\n" for _ in range(6000)))
    words = ("heads", folder, "--texts", "lines.jsonl", "--save-every", "0")
    subprocess.run([SINGLE, *words, "-o", "single.npz"], check=True, capture_output=True, timeout=WAIT)
    expected = pathlib.Path("single.npz").read_bytes()
    for ranks in (1, 2, 3, 7):
        out = pathlib.Path(f"heads-{ranks}.npz")
        run(ranks, *words, "-o", out)
        assert out.read_bytes() == expected, f"{ranks} ranks give another corpus"
    subprocess.run([SINGLE, *words, "--part", "1/2", "-o", "odd.npz"], check=True, capture_output=True, timeout=WAIT)
    run(3, *words, "--part", "1/2", "-o", "odd-3.npz")
    assert pathlib.Path("odd.npz").read_bytes() == pathlib.Path("odd-3.npz").read_bytes(), "a part by 3 ranks"
    for n in range(KILLS):
        out = pathlib.Path(f"killed-{n}.npz")
        kept = lambda: sorted(pathlib.Path(".").glob(f"{out}.partial*"))
        job = subprocess.Popen(command(3, *words, "-o", out), env=ENVIRONMENT, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        while job.poll() is None and len(kept()) < 2:
            time.sleep(0.01)
        time.sleep(0.1 * letters.random())
        ranks = sorted(children(job.pid))
        if ranks and job.poll() is None:
            os.kill(letters.choice(ranks), signal.SIGKILL)
        job.communicate(timeout=WAIT)
        left = len(kept())
        run(2, *words, "-o", out)
        assert out.read_bytes() == expected and not kept(), f"gone on from {left} files: another corpus"
        print(f"  killed: status {job.returncode}, {left} files kept")
    refused([PROGRAM], ("heads", "model", "-o", "x.npz"), "--texts is missing")
    refused([PROGRAM], ("heads", "model", "--texts", "lines.jsonl"), "-o is missing")
    refused(command(3), ("heads", "none", "--texts", "lines.jsonl", "-o", "x.npz"), "none")


def test_refusals():
    pathlib.Path("text.npz").write_text("no zip")
    np.savez("additive.npz", Q=np.ones((4, 2), np.float32), K=np.ones((4, 2), np.float32), V=np.ones((4, 2), np.float32))
    for words, expected in (
        ((), "the command is ''"),
        (("mpa",), "'mpa'; expected map, attend or heads"),
        (("map",), "no FILE"),
        (("map", "all.npz"), "-o is missing"),
        (("map", "all.npz", "-o", ""), "expected"),
        (("map", "none.npz", "-o", "d"), "none.npz"),
        (("map", "text.npz", "-o", "d"), "text.npz"),
        (("map", "all.npz", "-o", "all.npz"), "all.npz"),
        (("map", "additive.npz", "-o", "d", "--score", "student_t"), "student_t"),
        (("map", "all.npz", "-o", "d", "--window", "x"), "--window"),
        (("map", "all.npz", "-o", "d", "--windw", "3"), "did you mean --window"),
        (("attend", "all.npz", "-o", "out.csv"), ".npz"),
        (("attend", "all.npz", "-o", "./all.npz"), "all.npz"),
        (("attend", "all.npz", "-o", "missing/out.npz"), "missing"),
        (("attend", "additive.npz", "-o", "out.npz", "--dropout", "0.5"), "dropout"),
        (("attend", "additive.npz", "-o", "out.npz", "--operation", "linear"), "--operation"),
    ):
        refused([PROGRAM], words, expected)
    refused(command(3), ("map", "none.npz", "-o", "d"), "none.npz")
    assert not pathlib.Path("d").exists() and not pathlib.Path("out.npz").exists(), "something was left behind"


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        rng = np.random.default_rng(3)
        for name, test in (("maps", lambda: test_maps(rng)), ("window", test_window), ("calls", lambda: test_calls(rng)),
                           ("kills", lambda: test_kills(rng, KILLS)), ("heads", test_heads), ("refusals", test_refusals)):
            begun = time.monotonic()
            test()
            print(f"{name}: {time.monotonic() - begun:.1f} s")


main()
