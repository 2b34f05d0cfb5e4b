#!/usr/bin/env python3
"""The answers of every sheet of exercises, over many seeds, against numpy.

    check_sheets.py ATTNSCOPE [SEEDS]

What `attnscope sheet NAME --seed N --json` gives is put through this file's own arithmetic. Each answer must be that to
1e-9; and a tolerance must refuse zeros, other signs, and each entry that is off by more than a tenth of the largest.
"""
import json
import subprocess
import sys

import numpy as np


def softmax(rows):
    with np.errstate(invalid="ignore"):
        powers = np.exp(rows - rows.max(-1, keepdims=True))
        return powers / powers.sum(-1, keepdims=True)


def entropy(rows):
    return -(rows * np.log(rows)).sum(-1, keepdims=True)


def identity_queries(K):
    scores = np.eye(2) @ K.T
    return scores, softmax(scores), softmax(scores) @ K


def weights_memory(n, d):
    n, d = n.item(), d.item()
    more = 0 if n > 3 * d else 1 if n < 3 * d else 2
    return n * n, 4 * n * n / 1e6, 4 * n * n * d / 1e9, 1, more


def equal_projections(X, W):
    queries = X @ W
    scores = queries @ queries.T
    weights = softmax(scores)
    return queries, scores, 0, weights, int(not np.allclose(weights, weights.T)), 0


def row_entropy(S):
    weights = softmax(S)
    nats = entropy(weights)
    return weights, nats, np.exp(nats), int(nats[1, 0] > nats[0, 0]), np.log(4)


def scaling(s, d):
    root = np.sqrt(d.item())
    scaled, plain = softmax(s / root), softmax(s)
    slopes = [weights.max() * (1 - weights.max()) for weights in (scaled, plain)]
    return scaled, plain, slopes[0], slopes[1], slopes[0] / root, int(slopes[0] / root < slopes[1])


def softmax_row(s):
    return s - s.max(), np.exp(s - s.max()), np.exp(s - s.max()).sum(), softmax(s)


def causal_row(S):
    allowed = np.tril(np.ones((3, 3), bool))
    return softmax(np.where(allowed, S, -np.inf)), (softmax(S) * allowed).sum(-1, keepdims=True), 1


def nan_row(s, n):
    empty = np.full((1, 3), np.nan)
    return empty, empty, 1 / n.item(), np.append(softmax(s[:, :2]), 0)


def score_variance(d, v, w):
    d, v, w = d.item(), v.item(), w.item()
    return v * w, d * v * w, np.sqrt(d * v * w), np.sqrt(v * w), 1 / d


def stored_weights(B, H, T, b):
    B, H, T, b = B.item(), H.item(), T.item(), b.item()
    return B * H * T * T, B * H * T * T * b / 2**30, T * T * b / 2**20, B * H * T * 4 / 2**20, 1


def kv_cache(L, H, G, d, T):
    token = 2 * L.item() * G.item() * d.item() * 2
    return token / 2**10, token * T.item() / 2**30, H / G, 1


def rope_angle(d, c, m, n, q, k):
    theta = 10000.0 ** (-2 * c.item() / d.item())
    turn = np.exp(1j * (n.item() - m.item()) * theta)
    turned = complex(*k[0]) * turn
    return theta, (n - m) * theta, [[turned.real, turned.imag]], q[0, 0] * turned.real + q[0, 1] * turned.imag, 0


def alibi_slope(H, h):
    slope = 2.0 ** (-8 * (h.item() + 1) / H.item())
    bias = -slope * np.array([[3, 2, 1, 0]])
    return slope, bias, softmax(bias), np.exp(3 * slope)


def temperature(s, t):
    one, other = softmax(s), softmax(s / t)
    return one, other, entropy(one), entropy(other), int(entropy(other) > entropy(one))


def softmax_gradient(s, g):
    a = softmax(s)[0]
    jacobian = np.diag(a) - np.outer(a, a)
    return a, jacobian, jacobian.T @ g[0], 0


ANSWERS = {function.__name__.replace("_", "-"): function for function in (
    identity_queries, weights_memory, equal_projections, row_entropy, scaling, softmax_row, causal_row, nan_row,
    score_variance, stored_weights, kv_cache, rope_angle, alibi_slope, temperature, softmax_gradient)}


def matrix(rows):
    return np.array([[float(entry) for entry in row] for row in rows])


def fault(question, expected):
    """Why an answer of the program is none; None: it is right."""
    answer, expected = matrix(question["answer"]).ravel(), np.asarray(expected, float).ravel()
    if answer.shape != expected.shape or not np.allclose(answer, expected, 1e-9, 1e-12, equal_nan=True):
        return f"{answer} where numpy has {expected}"
    if question["choices"] or np.isnan(answer).all():
        return None
    allowed = question["tolerance"] * (np.abs(answer) if question["relative"] else 1)
    if (np.abs(answer) <= allowed).all():
        return f"zeros are accepted for {answer}"
    if (np.abs(2 * answer) <= allowed).all():
        return f"other signs are accepted for {answer}"
    if (allowed > 0.1 * np.abs(answer).max() + 1e-12).any():
        return f"the tolerance {allowed} is too wide for {answer}"
    return None


def main(program, seeds):
    run = lambda *words: subprocess.run([program, "sheet", *words], check=True, capture_output=True, text=True).stdout
    names = [line.split()[0] for line in run("--list").splitlines()]
    faults = [f"{name}: has no answers here" for name in sorted(set(names) ^ set(ANSWERS))]
    for name in set(names) & set(ANSWERS):
        given = set()
        for seed in range(1, seeds + 1):
            sheet = json.loads(run(name, "--seed", str(seed), "--json"))
            given.add(json.dumps(sheet["given"]))
            expected = ANSWERS[name](**{key: matrix(rows) for key, rows in sheet["given"].items()})
            if len(expected) != len(sheet["questions"]):
                faults.append(f"{name}: {len(sheet['questions'])} questions where numpy has {len(expected)}")
                break
            for n, (question, value) in enumerate(zip(sheet["questions"], expected), 1):
                if why := fault(question, value):
                    faults.append(f"{name}, seed {seed}, question {n}: {why}")
        if len(given) < seeds // 4:
            faults.append(f"{name}: {seeds} seeds give {len(given)} sheets")
    print("\n".join(faults) or f"{len(names)} sheets, {seeds} seeds each: every answer is numpy's")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 20))
