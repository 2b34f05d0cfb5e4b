#!/usr/bin/env python3
"""Runs `attnscope trace` on every .npz of a folder and compares it with the results in the files.

    check_oracle.py ATTNSCOPE FOLDER [--verbose]

A file holds Q, K, V, dO, maybe a mask and `options` (JSON), and what a float64 computation made of
them: scores, scaled, weights, output (our context), logsumexp, d_Q, d_K, d_V, d_scaled, d_weights.
Other kinds of attention add what they have: q_rot, k_rot, biased, d_W_score, d_sinks and so on.
Every file goes through every backend, forward alone and with --grad; gl, which has no backward, forward with every
stage and with context alone, by its other kernel. A backend may refuse a file with one sentence that says what it has
no part for. For plain dot products a tolerance is no constant: it is the rounding error that float32 arithmetic can
make on this file's numbers, worked out entry by entry. For the other kinds it is KIND_TOLERANCE of the array's largest
value. Either way no tolerance is above a thousandth of its array's largest value, so that zeros, or a wrong factor, do
not pass.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

U = 2.0**-24  # unit roundoff of float32
TINY = 2.0**-126  # below it float32 loses digits
KIND_TOLERANCE = 3e-5
SHARPEST = 1e-3  # of an array's largest value: no tolerance is larger
OURS = {"output": "context"}
BACKENDS = ("reference", "staged", "fused", "gl")
RUNS = {"gl": ([], ["--keep", "context"])}
EVERY_RUN = ([], ["--grad"])  # of the other backends
PAIRS = ("scores", "scaled", "biased", "weights", "d_scaled", "d_weights")  # never stored by fused
INPUTS = ("Q", "K", "V", "dO", "mask", "options", "W_score", "W_score_q", "W_score_k", "w_score", "sinks", "q_norm_weight", "k_norm_weight", "tokens",
          "past_k", "past_v", "nonpad_kv_seqlen", "cos", "sin", "q_cos", "q_sin", "k_cos", "k_sin", "cos_cache", "sin_cache", "positions",
          "position_ids", "q_positions", "k_positions", "log_f")
# Options that make another kind than dot products under a mask.
KINDS = ("score", "qk_norm", "log_temperature", "rope", "softcap", "alibi", "sinks")
# What only some backends compute: these words stand in the sentence of a refusal.
MAY_REFUSE = {"gl": "its shaders have no", "fused": "is not a dot product"}


def heads_repeated(keys, heads):
    return np.repeat(keys, heads // keys.shape[1], axis=1)


def heads_summed(per_query_head, kv_heads):
    b, h, t, d = per_query_head.shape
    return per_query_head.reshape(b, kv_heads, h // kv_heads, t, d).sum(axis=2)


def dot_error(length, absolute_products):
    """|fl(x.y) - x.y| <= (length + 2) u |x|.|y|, Higham 2002, section 3.1."""
    return (length + 2) * U * absolute_products


def score_factor(options, d_k):
    scale = options.get("scale", "sqrt_dk")
    value = {"sqrt_dk": d_k**-0.5, "none": 1.0}.get(scale, scale)
    return value / options.get("temperature", 1.0)


def finite_size(values):
    return np.where(np.isfinite(values), np.abs(values.astype(np.float64)), 0.0)


def largest(values):
    return float(finite_size(values).max())


def tolerances(z, options):
    """By array, in its shape."""
    if any(options.get(kind, "dot") not in ("dot", False) for kind in KINDS) or "log_f" in z.files:
        return {key: np.full(z[key].shape, KIND_TOLERANCE * largest(z[key])) for key in z.files if key not in INPUTS}
    return {key: np.minimum(t, SHARPEST * largest(z[key])) if z[key].size > 1 else t
            for key, t in plain_tolerances(z, options).items()}


def plain_tolerances(z, options):
    """The largest rounding error of each array, from sizes, values and u. Shapes as the arrays."""
    q, k, v, d_o = (z[name].astype(np.float64) for name in ("Q", "K", "V", "dO"))
    if "past_k" in z:
        k, v = (np.concatenate([z[past].astype(np.float64), now], 2) for past, now in (("past_k", k), ("past_v", v)))
    heads, kv_heads = q.shape[1], k.shape[1]
    k, v = heads_repeated(k, heads), heads_repeated(v, heads)
    swap = lambda m: np.swapaxes(m, -1, -2)
    a, s = z["weights"].astype(np.float64), z["scaled"].astype(np.float64)
    tq, tk = s.shape[-2:]
    factor = abs(score_factor(options, q.shape[-1]))
    lse = z["logsumexp"].astype(np.float64)[..., None]
    below = np.where(np.isfinite(lse), np.abs(s - lse), 0.0)

    tol = {"scores": dot_error(q.shape[-1], np.abs(q) @ swap(np.abs(k)))}
    tol["scaled"] = factor * tol["scores"] + 3 * U * np.abs(s)
    # An absolute error e in the exponent is a factor exp(e) of the weight; the row's sum has one too.
    worst = tol["scaled"].max(axis=-1, keepdims=True)
    relative = np.expm1(tol["scaled"] + worst + 2 * U * below) + (tk + 8) * U
    tol["weights"] = a * relative + TINY
    finite_lse = np.where(np.isfinite(lse), np.abs(lse), 0.0)
    tol["logsumexp"] = (worst + (tk + 8) * U + 2 * U * finite_lse)[..., 0]
    tol["output"] = tol["weights"] @ np.abs(v) + dot_error(tk, a @ np.abs(v))

    d_a = d_o @ swap(v)
    tol["d_weights"] = dot_error(v.shape[-1], np.abs(d_o) @ swap(np.abs(v)))
    row = (a * d_a).sum(axis=-1, keepdims=True)
    row_tol = (tol["weights"] * np.abs(d_a) + a * tol["d_weights"]).sum(axis=-1, keepdims=True)
    row_tol += dot_error(tk, (a * np.abs(d_a)).sum(axis=-1, keepdims=True))
    spread = np.abs(d_a) + np.abs(row)
    tol["d_scaled"] = tol["weights"] * np.abs(d_a - row) + a * (tol["d_weights"] + row_tol + 4 * U * spread)
    d_s = np.abs(z["d_scaled"].astype(np.float64))
    tol["d_Q"] = factor * (tol["d_scaled"] @ np.abs(k) + dot_error(tk + 2, d_s @ np.abs(k)))
    d_k = factor * (swap(tol["d_scaled"]) @ np.abs(q) + dot_error(tq + 2, swap(d_s) @ np.abs(q)))
    d_v = swap(tol["weights"]) @ np.abs(d_o) + dot_error(tq, swap(a) @ np.abs(d_o))
    group = heads // kv_heads
    tol["d_K"] = heads_summed(d_k, kv_heads) * (1 + group * U)
    tol["d_V"] = heads_summed(d_v, kv_heads) * (1 + group * U)
    # Both sides were rounded to float32 when they were written.
    return {key: t + 2 * U * finite_size(z[key]) + TINY for key, t in tol.items()}


def trace(binary, source, target, backend, words):
    command = [binary, "trace", str(source), "-o", str(target), "--backend", backend]
    return subprocess.run(command + words, capture_output=True, text=True)


def is_written(key, backend, words):
    """Whether `trace` computes and writes what is called `key` here."""
    if key.startswith("d_") and "--grad" not in words:
        return False
    return key in ("output", "logsumexp") if "--keep" in words else backend != "fused" or key not in PAIRS


def compare(expected, got, tol):
    """Worst absolute error and worst error in units of its tolerance."""
    if got.shape != expected.shape:
        return np.inf, np.inf
    same = (got == expected) | (np.isnan(got) & np.isnan(expected))
    with np.errstate(invalid="ignore"):
        error = np.where(same, 0.0, np.abs(got.astype(np.float64) - expected))
    error = np.where(np.isnan(error), np.inf, error)
    return error.max(), (error / tol).max()


def check_file(binary, source, backend, scratch, verbose):
    """Worst (error / tolerance, error, key) of one file; None when the file was refused as it must be."""
    z = np.load(source)
    options = json.loads(str(z["options"]))
    target = scratch / "out.npz"
    tol = tolerances(z, options)
    worst = (0.0, 0.0, "")
    for words in RUNS.get(backend, EVERY_RUN):
        run = trace(binary, source, target, backend, words)
        if run.returncode == 2 and MAY_REFUSE.get(backend, "\0") in run.stderr and run.stderr.count("\n") == 1:
            return None if not target.exists() else (np.inf, np.inf, "was refused but left a file")
        if run.returncode != 0:
            return np.inf, np.inf, run.stderr.strip()
        out = np.load(target)
        for key, t in tol.items():
            if not is_written(key, backend, words):
                continue
            error, ratio = compare(z[key], out[OURS.get(key, key.lower() if key.startswith("d_") else key)], t)
            worst = max(worst, (ratio, error, key))
            if verbose and words:
                print(f"    {key:10} error {error:.2e}  error/tolerance {ratio:.3f}")
        target.unlink()
    return worst


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("binary")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--verbose", action="store_true", help="every array, not only the worst")
    args = parser.parse_args()
    files = sorted(args.folder.glob("*.npz"))
    if not files:
        sys.exit(f"check_oracle.py: {args.folder} holds no .npz file")
    failures = 0
    with tempfile.TemporaryDirectory() as scratch:
        for backend in BACKENDS:
            worst = (0.0, 0.0, "", "")
            for source in files:
                result = check_file(args.binary, source, backend, pathlib.Path(scratch), args.verbose)
                if result is None:
                    print(f"{backend:10} {source.name:26} refused: it has no part for it")
                    continue
                ratio, error, key = result
                failures += ratio > 1
                worst = max(worst, (ratio, error, key, source.name))
                verdict = "ok" if ratio <= 1 else "FAILED"
                report = f"worst {key:10} error {error:.2e}, {ratio:.3f} of its tolerance"
                print(f"{backend:10} {source.name:26} {verdict:6} {report}")
            ratio, error, key, name = worst
            print(f"{backend:10} worst of all: {name} {key}, error {error:.2e}, {ratio:.3f} of its tolerance\n")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
