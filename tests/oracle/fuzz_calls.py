#!/usr/bin/env python3
"""Random attention calls over all options and backends, compared with NumPy in float64.

    fuzz_calls.py ATTNSCOPE [--calls 3000] [--seed 1] [--backend NAME ...] [--verbose]
    fuzz_calls.py ATTNSCOPE --seed 1 --only 17 --save call.npz      # one call again, with its file

The forward and backward pass are written here from the formulas of docs/command-line.md and share nothing with the program. Call n of a
seed is the same whatever the number of calls. Every number has its own tolerance: the rounding error that float32 arithmetic can make on
the numbers of this call, carried through each step to first order (Higham 2002, section 3.1). `reference` computes in float64, so its
results must be the rounded exact ones.

A result is right (every array within its tolerance), wrong, refused (one line, no file), or reported: numbers of the call leave the range of
float32, and a note of the program reports it. The exit status is 1 if a result is wrong.
"""
import argparse
import collections
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

# B batch, H query heads, G = Hkv key/value heads, Tq queries, Tk keys; S scaled scores, A weights. e_x bounds the error of x.
U = 2.0**-24  # unit roundoff of float32
FLUSHED = 1.5 * 2.0**-126  # exp2 of the kernels is 0 below it
LEAST = 2.0**-149  # the smallest number of float32
LARGEST = float(np.finfo(np.float32).max)
MOST_EXPONENT = 60.0  # where a bound of exp(e) is useless
BACKENDS = ("reference", "staged", "fused")
CALLS_PER_RUN = 250
SIZES = (1, 1, 2, 3, 5, 8, 13, 16, 17, 24, 25, 31, 33, 48, 64, 65, 100, 129, 150, 260)
WIDTHS = (1, 2, 3, 4, 6, 8, 12, 16, 20, 32, 40, 64)
MOST_NUMBERS = 60_000  # pairs of a call; hidden numbers of score additive


class Call:
    """Arrays and options of a file, and the kinds that the report counts it under."""

    def __init__(self):
        self.arrays, self.options, self.kinds, self.grad = {}, {}, set(), False
        self.sections = None  # of RoPE: the section of each column pair, and whether each has frequencies of its own

    def save(self, path):
        np.savez(path, options=np.array(json.dumps(self.options)), **self.arrays)


# ---- drawing a call


def chance(rng, p):
    return rng.random() < p


def pick(rng, values):
    return values[int(rng.integers(len(values)))]


def numbers(rng, *shape, size=1.0):
    return (size * rng.standard_normal(shape)).astype(np.float32)


def draw_sizes(rng, score):
    while True:
        n = {"B": pick(rng, (1, 1, 2, 3)), "G": pick(rng, (1, 1, 2, 3)), "Tq": pick(rng, SIZES), "Tk": pick(rng, SIZES)}
        n |= {"d_k": pick(rng, WIDTHS), "d_v": pick(rng, WIDTHS), "H": n["G"] * pick(rng, (1, 1, 2, 4))}
        if chance(rng, 0.3):
            n["Tk"] = n["Tq"]
        pairs = n["B"] * n["H"] * n["Tq"] * n["Tk"]
        if pairs * (8 if score in ("additive", "student_t") else 1) <= MOST_NUMBERS:
            return n


def draw_operands(rng, call, n):
    """Q, K, V, or X with projections."""
    size = pick(rng, (0.3, 1.0, 1.0, 1.0, 3.0))
    if chance(rng, 0.15):
        call.kinds.add("projections")
        width = pick(rng, (2, 5, 8, 16))
        call.options["heads"], call.options["kv-heads"] = n["H"], n["G"]
        call.arrays["X"] = numbers(rng, n["B"], n["Tq"], width)
        if n["Tk"] != n["Tq"] or chance(rng, 0.3):
            call.kinds.add("cross-attention")
            call.arrays["X_kv"] = numbers(rng, n["B"], n["Tk"], width)
        for name, heads, d in (("Q", n["H"], n["d_k"]), ("K", n["G"], n["d_k"]), ("V", n["G"], n["d_v"])):
            call.arrays[f"W_{name}"] = numbers(rng, width, heads * d, size=size / np.sqrt(width))
            if chance(rng, 0.4):
                call.arrays[f"b_{name}"] = numbers(rng, heads * d)
    else:
        call.arrays["Q"] = numbers(rng, n["B"], n["H"], n["Tq"], n["d_k"], size=size)
        call.arrays["K"] = numbers(rng, n["B"], n["G"], n["Tk"], n["d_k"], size=size)
        call.arrays["V"] = numbers(rng, n["B"], n["G"], n["Tk"], n["d_v"])
    if chance(rng, 0.25):
        call.kinds.add("W_O")
        width = pick(rng, (1, 3, 8))
        call.arrays["W_O"] = numbers(rng, n["H"] * n["d_v"], width)
        if chance(rng, 0.5):
            call.arrays["b_O"] = numbers(rng, width)


def draw_score(rng, call, n, score):
    call.kinds.add(f"score {score}")
    if score != "dot":
        call.options["score"] = score
    d = n["d_k"]
    if score == "general":
        call.arrays["W_score"] = numbers(rng, d, d, size=d**-0.5)
    if score == "additive":
        hidden = pick(rng, (1, 3, 8))
        call.arrays |= {"W_score_q": numbers(rng, d, hidden, size=d**-0.5), "W_score_k": numbers(rng, d, hidden, size=d**-0.5),
                        "w_score": numbers(rng, hidden)}
    if score == "relative":
        call.arrays["b_score"] = numbers(rng, n["H"], n["Tq"] + n["Tk"] - 1)
    if chance(rng, 0.3):
        scales = ["none", 0.5, -1.0, 3.0, 0.0, 1e-3] + (["q_and_k"] if score == "dot" else [])
        call.options["scale"] = pick(rng, scales)
        call.kinds.add(f"scale {call.options['scale']}" if isinstance(call.options["scale"], str) else "scale of a number")
    if chance(rng, 0.2):
        call.kinds.add("temperature")
        call.options["temperature"] = pick(rng, (0.25, 0.5, 2.0, 10.0))
    if chance(rng, 0.25):
        call.kinds.add("softcap")
        call.options["softcap"] = pick(rng, (0.001, 0.1, 0.5, 2.0, 30.0, 1e4))
    if chance(rng, 0.2):
        call.kinds.add("sinks")
        call.arrays["sinks"] = numbers(rng, n["H"], size=pick(rng, (1.0, 10.0, 40.0)))


def draw_norm(rng, call, n):
    if not chance(rng, 0.15):
        return
    call.kinds.add("qk-norm")
    call.options["qk-norm"] = pick(rng, (1e-6, 1e-5, 0.1))
    for side in "qk":
        if chance(rng, 0.5):
            call.kinds.add("qk-norm with weights")
            call.arrays[f"{side}_norm_weight"] = numbers(rng, n["d_k"])


def draw_positions(rng, call, n):
    if n["d_k"] >= 2 and chance(rng, 0.3):
        pairs = pick(rng, ("half", "interleaved"))
        call.kinds.add(f"rope {pairs}")
        call.options["rope"] = pairs
        if n["d_k"] % 2 or chance(rng, 0.4):
            call.options["rope-dims"] = 2 * int(rng.integers(1, n["d_k"] // 2 + 1))
            call.kinds.add("rope-dims")
        if chance(rng, 0.4):
            call.options["rope-base"] = pick(rng, (2.0, 100.0, 5e5))
            call.kinds.add("rope-base")
        if chance(rng, 0.25):
            call.options["rope-scaling"] = pick(rng, ("linear,4", "llama3,8,1,4,64"))
            call.kinds.add("rope-scaling")
    if chance(rng, 0.2):
        call.kinds.add("alibi")
        call.options["alibi"] = True
    if chance(rng, 0.15):
        call.kinds.add("query-offset")
        call.options["query-offset"] = pick(rng, (1, 3, 17, n["Tk"], 1000, 100_000))


def draw_sections(rng, call, n):
    """Positions of every token on two or three axes, and each axis turns a part of the column pairs."""
    pairs = call.options.get("rope-dims", n["d_k"]) // 2
    count = pick(rng, (2, 3))
    if pairs < count:
        return
    kind = pick(rng, ("sections", "2d", "interleaved"))
    if kind == "2d":
        if pairs % 2:
            return
        count, own = 2, True
        section = np.repeat([0, 1], pairs // 2)
        call.options["rope-sections"] = "2d"
    else:
        own = False
        cuts = np.sort(rng.choice(np.arange(1, pairs), count - 1, replace=False))
        sizes = np.diff([0, *cuts, pairs])
        section = np.repeat(np.arange(count), sizes)
        if kind == "interleaved":
            section = np.zeros(pairs, int)
            for s in range(1, count):
                section[s : count * sizes[s] : count] = s
        call.options["rope-sections"] = ("interleaved," if kind == "interleaved" else "") + ",".join(map(str, sizes))
    call.sections = section, own
    both = [("q_positions", "Tq"), ("k_positions", "Tk")]
    for name, t in both if n["Tq"] != n["Tk"] else [("positions", "Tq")]:
        call.arrays[name] = rng.integers(0, 50, (count, n[t])).astype(np.int64)
    call.kinds.add(f"rope-sections {kind}")


def draw_more(rng, call, n):
    """Drawn after everything else, so that the rest of a seed's call stays the same."""
    if "rope" in call.options and "rope-scaling" not in call.options and chance(rng, 0.25):
        call.kinds.add("rope-scaling proportional")
        call.options["rope-scaling"] = f"proportional,{pick(rng, (1, 4))},{pick(rng, (0.25, 0.5, 1.0))}"
    elif "rope" in call.options and "rope-scaling" not in call.options and "query-offset" not in call.options and chance(rng, 0.4):
        draw_sections(rng, call, n)
    if "causal" in call.options and "bias" not in call.arrays and chance(rng, 0.3):
        call.kinds.add("log_f")
        shape = pick(rng, ((n["Tk"],), (n["H"], n["Tk"]), (n["B"], n["H"], n["Tk"])))
        call.arrays["log_f"] = -np.abs(numbers(rng, *shape, size=0.3))


def draw_broadcast(rng, n):
    full = [n["B"], n["H"], n["Tq"], n["Tk"]]
    if chance(rng, 0.3):
        return full[2:]
    return [axis if chance(rng, 0.6) else 1 for axis in full]


def draw_masks(rng, call, n):
    given_offset = "query-offset" in call.options
    if chance(rng, 0.35):
        align = "top-left" if given_offset else pick(rng, ("top-left", "bottom-right"))
        call.kinds.add(f"causal {align}")
        call.options["causal"] = align
    for option in ("window", "window-left", "window-right"):
        if chance(rng, 0.12):
            call.kinds.add(option)
            call.options[option] = int(rng.integers(0, max(n["Tq"], n["Tk"]) + 1))
    if any(option.startswith("window") for option in call.options) and chance(rng, 0.4):
        call.kinds.add("global-tokens")
        call.options["global-tokens"] = int(rng.integers(0, n["Tk"] + 2))
    if chance(rng, 0.1):
        call.kinds.add("block")
        call.options["block"] = int(rng.integers(1, n["Tk"] + 2))
    if chance(rng, 0.12):
        call.kinds.add("padding")
        call.options["padding"] = [int(rng.integers(0, n["Tk"] + 1)) for _ in range(n["B"])]
    if chance(rng, 0.2):
        call.kinds.add("mask")
        call.arrays["mask"] = rng.random(draw_broadcast(rng, n)) < pick(rng, (0.1, 0.5, 0.9))
    if "sinks" not in call.arrays and chance(rng, 0.15):
        call.kinds.add("empty-rows nan")
        call.options["empty-rows"] = "nan"


def draw_bias(rng, call, n):
    if not chance(rng, 0.3):
        return
    call.kinds.add("bias")
    bias = numbers(rng, *draw_broadcast(rng, n), size=pick(rng, (0.1, 1.0, 10.0)))
    if chance(rng, 0.35):
        call.kinds.add("bias with -inf")
        bias[rng.random(bias.shape) < 0.3] = -np.inf
    if chance(rng, 0.1):
        call.kinds.add("bias with the lowest number")
        bias[rng.random(bias.shape) < 0.2] = -LARGEST
    if not np.isfinite(bias).any():  # −inf alone is a mask
        bias.flat[0] = 0.5
    if "softcap" in call.options and chance(rng, 0.5):
        call.kinds.add("bias before softcap")
        call.options["bias-before-softcap"] = True
    call.arrays["bias"] = bias


def draw_extremes(rng, call, n):
    """Numbers at the ends of float32's range."""
    if not chance(rng, 0.1):
        return
    kind = pick(rng, ("large V", "small scale", "large scores", "large sinks", "small inputs", "large temperature", "NaN at forbidden keys"))
    given = "Q" in call.arrays
    if kind == "large V" and given:
        call.arrays["V"] *= np.float32(2e37)
    elif kind == "small scale":
        call.options["scale"] = pick(rng, (1e-30, 1e-12))
        call.arrays["sinks"] = numbers(rng, n["H"], size=pick(rng, (1.0, 20.0)))
        call.options.pop("empty-rows", None)
    elif kind == "large scores" and given:
        call.arrays["Q"] *= np.float32(pick(rng, (30.0, 1e3, 1e18)))
    elif kind == "large sinks":
        call.arrays["sinks"] = numbers(rng, n["H"], size=80.0)
        call.options.pop("empty-rows", None)
    elif kind == "small inputs" and given:
        for name in "QKV":
            call.arrays[name] *= np.float32(1e-18)
    elif kind == "large temperature":
        call.options["temperature"] = pick(rng, (1e-3, 1e6, 1e18))
    elif kind == "NaN at forbidden keys" and given:
        call.options["padding"] = [int(rng.integers(0, n["Tk"])) for _ in range(n["B"])]
        call.options.pop("empty-rows", None)
        for b, length in enumerate(call.options["padding"]):
            call.arrays["K"][b, :, length:] = np.nan
            call.arrays["V"][b, :, length:] = pick(rng, (np.nan, np.inf))
    else:
        return
    call.kinds.add(f"extreme: {kind}")


def draw_gradient(rng, call, n):
    call.grad = chance(rng, 0.6)
    if not call.grad:
        return
    call.kinds.add("gradients")
    which = pick(rng, ("dO", "dY", "ones"))
    if which == "dO":
        call.arrays["dO"] = numbers(rng, n["B"], n["H"], n["Tq"], n["d_v"])
    elif which == "dY":
        width = call.arrays["W_O"].shape[1] if "W_O" in call.arrays else n["H"] * n["d_v"]
        call.arrays["dY"] = numbers(rng, n["B"], n["Tq"], width)


def draw_call(seed, number):
    rng = np.random.default_rng([seed, number])
    call = Call()
    score = pick(rng, ("dot",) * 6 + ("cosine", "general", "additive", "student_t", "relative"))
    n = draw_sizes(rng, score)
    draw_operands(rng, call, n)
    draw_score(rng, call, n, score)
    draw_positions(rng, call, n)
    draw_masks(rng, call, n)
    draw_bias(rng, call, n)
    if chance(rng, 0.08):
        call.kinds.add("dropout")
        call.options |= {"dropout": pick(rng, (0.1, 0.5)), "seed": int(rng.integers(1000))}
    draw_extremes(rng, call, n)
    draw_gradient(rng, call, n)
    draw_norm(rng, call, n)
    draw_more(rng, call, n)
    for axis in ("Tq", "Tk"):
        if n[axis] == 1:
            call.kinds.add(f"{axis} = 1")
    if n["H"] > n["G"]:
        call.kinds.add("shared keys")
    return call, n


# ---- exact results with bounds of float32's errors


def swap(m):
    return np.swapaxes(m, -1, -2)


class Bounded:
    """A value in float64, and a bound of its error in float32."""

    def __init__(self, value, error=0.0):
        self.value = np.asarray(value, dtype=np.float64)
        self.error = np.broadcast_to(error, self.value.shape)

    def __getitem__(self, at):
        return Bounded(self.value[at], self.error[at])

    def rounded(self, times=1.0):
        return Bounded(self.value, self.error + times * U * np.abs(self.value) + LEAST)

    def reshaped(self, change):
        return Bounded(change(self.value), change(self.error))

    def times(self, factor):
        """By an exact factor."""
        return Bounded(self.value * factor, self.error * np.abs(factor)).rounded(2)

    def plus(self, other):
        return Bounded(self.value + other.value, self.error + other.error).rounded()


def product(x, y):
    """x y of matrices."""
    size = np.abs(x.value) @ np.abs(y.value)
    error = x.error @ np.abs(y.value) + np.abs(x.value) @ y.error + x.error @ y.error
    length = x.value.shape[-1]
    return Bounded(x.value @ y.value, error + (length + 8) * U * size + length * LEAST)


def reaches(d):
    """[..., 1]: the rows of a gradient that are not 0, or are 0 only by cancelling."""
    return (np.abs(d.value) + d.error > 1e-40).any(axis=-1, keepdims=True)


def transposed(x):
    return x.reshaped(swap)


def summed(x, axes):
    count = np.prod([x.value.shape[axis] for axis in axes])
    size = np.abs(x.value).sum(axis=axes, keepdims=True)
    return Bounded(x.value.sum(axis=axes, keepdims=True), x.error.sum(axis=axes, keepdims=True) + (count + 4) * U * size)


def per_head(x, heads):
    """[B,T,H·d] -> [B,H,T,d]"""
    return x.reshaped(lambda m: swap(m.reshape(*m.shape[:2], heads, -1).swapaxes(1, 2).swapaxes(2, 3)))


def joined(x):
    """[B,H,T,d] -> [B,T,H·d]"""
    return x.reshaped(lambda m: m.swapaxes(1, 2).reshape(m.shape[0], m.shape[2], -1))


def for_queries(x, heads):
    """The key/value head of each query head."""
    return x.reshaped(lambda m: np.repeat(m, heads // m.shape[1], axis=1))


def over_group(x, kv_heads):
    b, h, t, d = x.value.shape
    return summed(x.reshaped(lambda m: m.reshape(b, kv_heads, h // kv_heads, t, d)), (2,)).reshaped(lambda m: m[:, :, 0])


def frequencies(options, d_k, sections=None):
    dims = options.get("rope-dims", d_k)
    omega = options.get("rope-base", 10000.0) ** (-2.0 * np.arange(dims // 2) / dims)
    if sections is not None and sections[1]:  # half of the pairs each
        omega = np.tile(options.get("rope-base", 10000.0) ** (-4.0 * np.arange(dims // 4) / dims), 2)
    scaling = options.get("rope-scaling", "").split(",")
    if scaling[0] == "linear":
        omega = omega / float(scaling[1])
    if scaling[0] == "proportional":
        omega = np.where(np.arange(dims // 2) < int(float(scaling[2]) * (dims // 2)), omega / float(scaling[1]), 0.0)
    if scaling[0] == "llama3":
        factor, low, high, length = map(float, scaling[1:])
        turns = length * omega / (2 * np.pi)
        smooth = np.clip((turns - low) / (high - low), 0.0, 1.0)
        omega = (1 - smooth) * omega / factor + smooth * omega
    return omega


def rotated(x, positions, options, sign=1.0, sections=None):
    if "rope" not in options:
        return x
    omega = frequencies(options, x.value.shape[-1], sections)
    pairs = len(omega)
    columns = np.arange(2 * pairs)
    first, second = (columns[::2], columns[1::2]) if options["rope"] == "interleaved" else (columns[:pairs], columns[pairs:])
    angle = positions[:, None] * omega if sections is None else positions[sections[0]].T * omega
    c, s = np.cos(angle), sign * np.sin(angle)
    if sections is not None:  # tables of float32
        c, s = c.astype(np.float32).astype(np.float64), s.astype(np.float32).astype(np.float64)
    value, error = x.value.copy(), np.array(x.error)
    a, b = x.value[..., first], x.value[..., second]
    e = np.hypot(x.error[..., first], x.error[..., second]) + 6 * U * np.hypot(a, b) + LEAST
    value[..., first], value[..., second] = a * c - b * s, a * s + b * c
    error[..., first] = error[..., second] = e
    return Bounded(value, error)


def normalised(x, epsilon, weight):
    """y = x r w, r = 1 / sqrt(mean x² + ε), and r. An error e of x moves y by r w (e + x r² mean(x e)) to first order."""
    with np.errstate(invalid="ignore"):
        r = 1.0 / np.sqrt((x.value**2).mean(axis=-1, keepdims=True) + epsilon)
        along = (np.abs(x.value) * x.error).mean(axis=-1, keepdims=True)
        error = 2 * r * np.abs(weight) * (x.error + np.abs(x.value) * r * r * along)
        return Bounded(x.value * r * weight, error).rounded(4), r


def unit_rows(x):
    length = np.linalg.norm(x.value, axis=-1, keepdims=True)
    safe = np.where(length == 0, 1.0, length)
    error = 2 * np.linalg.norm(x.error, axis=-1, keepdims=True) / safe + 4 * U
    return Bounded(x.value / safe, np.where(length == 0, 0.0, error)), length


def allowed_pairs(call, n, offset):
    """Which keys each query may attend to, [B,H,Tq,Tk]."""
    o = call.options
    p, j = np.arange(n["Tq"])[:, None] + offset, np.arange(n["Tk"])[None]
    allowed = np.ones((n["B"], n["H"], n["Tq"], n["Tk"]), bool)
    if o.get("causal") == "top-left":
        allowed &= j <= p
    if o.get("causal") == "bottom-right":
        allowed &= j <= p - offset + n["Tk"] - n["Tq"]
    windows = np.ones(allowed.shape[2:], bool)
    if "window" in o:
        windows &= np.abs(p - j) <= o["window"]
    if "window-left" in o:
        windows &= p - j <= o["window-left"]
    if "window-right" in o:
        windows &= j - p <= o["window-right"]
    first = o.get("global-tokens", 0)
    allowed &= windows | (j < first) | ((p >= 0) & (p < first))
    if "block" in o:
        allowed &= (p // o["block"] == j // o["block"])
    if "padding" in o:
        allowed &= np.arange(n["Tk"]) < np.array(o["padding"])[:, None, None, None]
    if "mask" in call.arrays:
        allowed &= call.arrays["mask"]
    if "bias" in call.arrays:
        allowed &= ~np.isneginf(call.arrays["bias"])
    return allowed


def retained_pairs(options, n):
    """keep / (1 − p) of each pair, by SplitMix64 (Steele et al. 2014) of the seed and the place in [B,H,Tq,Tk]; None without dropout."""
    if "dropout" not in options:
        return None
    shape = n["B"], n["H"], n["Tq"], n["Tk"]
    with np.errstate(over="ignore"):
        z = np.uint64(options["seed"]) + np.uint64(0x9E3779B97F4A7C15) * np.arange(1, np.prod(shape) + 1, dtype=np.uint64)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z = z ^ (z >> np.uint64(31))
    uniform = (z >> np.uint64(11)).astype(np.float64) * 2.0**-53
    return ((uniform >= options["dropout"]) / (1.0 - options["dropout"])).reshape(shape)


def slopes(heads):
    """Press et al. 2022: a geometric sequence of the next lower power of two, then every second one of the next higher."""
    power = 2 ** int(np.log2(heads))
    sequence = lambda count: [2.0 ** (-8.0 * (h + 1) / count) for h in range(count)]
    return np.array(sequence(power) + sequence(2 * power)[::2][: heads - power])


class Exact:
    """Every stage and gradient of a call, by the names of the file that `trace` writes."""

    def __init__(self, call, n):
        self.a = {name: Bounded(x) for name, x in call.arrays.items() if x.dtype == np.float32}
        self.call, self.o, self.n, self.retained, self.stages = call, call.options, n, retained_pairs(call.options, n), {}
        if "X" in self.a:
            self.stages["x"] = self.a["X"]
        bottom = self.o.get("causal") == "bottom-right"
        self.offset = self.o.get("query-offset", n["Tk"] - n["Tq"] if bottom else 0)
        self.positions = {"q": np.arange(n["Tq"]) + self.offset, "k": np.arange(n["Tk"])}
        self.turns = self.positions
        if call.sections is not None:
            self.turns = {side: call.arrays[f"{side}_positions" if n["Tq"] != n["Tk"] else "positions"] for side in "qk"}
        if "log_f" in call.arrays:
            self.a["bias"] = Bounded(self.forgetting().astype(np.float32))
        self.allowed = allowed_pairs(call, n, self.offset)
        self.empty = ~self.allowed.any(axis=-1, keepdims=True) & ("sinks" not in self.a)
        self.contributes = self.allowed | (self.empty & (self.o.get("empty-rows") == "nan"))
        self.forward()
        if call.grad:
            self.backward()

    def put(self, name, x):
        self.stages[name] = x
        return x

    def forgetting(self):
        """Sums of log f over the tokens after key j up to the query's position, [.., Tq, Tk]."""
        log_f = self.call.arrays["log_f"].astype(np.float64)
        p, j, length = self.positions["q"][:, None], self.positions["k"][None], np.arange(self.n["Tk"])
        after = (length > j[..., None]) & (length <= p[..., None])
        return np.einsum("...l,ijl->...ij", log_f, after.astype(np.float64))

    # -- forward

    def operands(self):
        for name, heads in (("Q", self.n["H"]), ("K", self.n["G"]), ("V", self.n["G"])):
            if "X" in self.a:
                x = self.a["X" if name == "Q" or "X_kv" not in self.a else "X_kv"]
                y = product(x, self.a[f"W_{name}"])
                if f"b_{name}" in self.a:
                    y = y.plus(self.a[f"b_{name}"])
                self.put(name.lower(), per_head(y, heads))
            else:
                self.put(name.lower(), self.a[name])
        before = [self.stages[name] for name in "qk"]
        if "qk-norm" in self.o:
            before = [self.norm(name) for name in "qk"]
        q, k = (rotated(x, self.turns[name], self.o, 1.0, self.call.sections) for x, name in zip(before, "qk"))
        if "rope" in self.o:
            self.put("q_rot", q), self.put("k_rot", k)
        return q, k

    def norm_weight(self, side):
        return self.a[f"{side}_norm_weight"].value if f"{side}_norm_weight" in self.a else 1.0

    def norm(self, side):
        y, _ = normalised(self.stages[side], self.o["qk-norm"], self.norm_weight(side))
        return self.put(f"{side}_norm", y)

    def norm_backward(self, side, d):
        """d_x = r (g − x r² mean(x g)), g = w d; a row without a gradient, as of a forbidden key, has none, whatever it holds. A row whose
        gradient is 0 because terms cancel, as of a query that reads one key, has the rounding of those terms."""
        x = self.stages[side]
        rounded = (d.error > 64 * LEAST).any(axis=-1, keepdims=True) & np.isfinite(x.value).all(axis=-1, keepdims=True)
        used = d.value.any(axis=-1, keepdims=True) | rounded
        x = Bounded(np.where(used, x.value, 0.0), np.where(used, x.error, 0.0))
        y, r = normalised(x, self.o["qk-norm"], 1.0)
        if f"{side}_norm_weight" in self.a:
            shares = Bounded(d.value * y.value, d.error * np.abs(y.value) + np.abs(d.value) * y.error).rounded(2)
            self.put(f"d_{side}_norm_weight", summed(shares, (0, 1, 2)).reshaped(lambda m: m[0, 0, 0]))
        w = self.norm_weight(side)
        g, e_g = w * d.value, np.abs(w) * d.error
        mean = lambda m: m.mean(axis=-1, keepdims=True)
        value = r * (g - y.value * mean(y.value * g))
        size = np.abs(g) + np.abs(y.value) * mean(np.abs(y.value) * np.abs(g))
        error = r * (e_g + np.abs(y.value) * mean(np.abs(y.value) * e_g) + (self.n["d_k"] + 8) * U * size)
        bend = r * np.linalg.norm(x.error, axis=-1, keepdims=True) / np.sqrt(self.n["d_k"])
        error = error + 6 * r * bend * np.linalg.norm(g, axis=-1, keepdims=True)
        return Bounded(np.where(used, value, 0.0), np.where(used, error, 0.0)).rounded(2)

    def score(self, q, k):
        """Returns the scores, and stores the operands of the backward pass."""
        kind = self.o.get("score", "dot")
        heads = self.n["H"]
        if kind == "cosine":
            (q, self.q_length), (k, self.k_length) = unit_rows(q), unit_rows(k)
        if kind == "general":
            q = product(q, self.a["W_score"])
        if self.o.get("scale") == "q_and_k":
            q, k = (x.times(float(self.n["d_k"]) ** -0.25) for x in (q, k))
        if kind == "additive":
            q, k = product(q, self.a["W_score_q"]), product(k, self.a["W_score_k"])
            sum_ = self.pairs(q, for_queries(k, heads), 1.0)
            t = np.tanh(sum_.value)
            self.hidden = Bounded(t, np.minimum((1 - t * t) * sum_.error + sum_.error**2, 2) + 4 * U)
            w = self.a["w_score"].value
            size = (np.abs(w) * np.abs(t)).sum(-1)
            scores = Bounded((w * t).sum(-1), (np.abs(w) * self.hidden.error).sum(-1) + (len(w) + 4) * U * size)
        elif kind == "student_t":
            self.apart = self.pairs(q, for_queries(k, heads), -1.0)
            r2 = (self.apart.value**2).sum(-1)
            e = 2 * (np.abs(self.apart.value) * self.apart.error).sum(-1) + (self.apart.error**2).sum(-1)
            self.one_more = Bounded(1 + r2, e + 4 * U * (1 + r2))
            scores = Bounded(-np.log1p(r2), e / (1 + r2)).rounded(4)
        else:
            scores = product(q, transposed(for_queries(k, heads)))
            if kind == "relative":
                i, j = np.arange(self.n["Tq"])[:, None], np.arange(self.n["Tk"])
                self.distance = j - i + self.n["Tq"] - 1
                scores = scores.plus(Bounded(self.a["b_score"].value[:, self.distance])).rounded()
        self.q_hat, self.k_hat = q, k
        return self.put("scores", scores)

    @staticmethod
    def pairs(q, k, sign):
        """q_i + sign · k_j, [B,H,Tq,Tk,d]."""
        value = q.value[..., :, None, :] + sign * k.value[..., None, :, :]
        return Bounded(value, q.error[..., :, None, :] + k.error[..., None, :, :] + U * np.abs(value))

    def factor(self):
        scale = self.o.get("scale", "sqrt_dk")
        if isinstance(scale, str):
            scale = self.n["d_k"] ** -0.5 if scale == "sqrt_dk" else 1.0
        return scale / self.o.get("temperature", 1.0)

    def biased(self, scaled):
        cap = self.o.get("softcap")
        bias = Bounded(np.where(np.isneginf(self.a["bias"].value), 0.0, self.a["bias"].value)) if "bias" in self.a else None
        first = self.o.get("bias-before-softcap", False)
        b = scaled
        if bias is not None and first:
            b = b.plus(bias.rounded(2))
        self.slope = Bounded(np.ones_like(b.value))
        if cap:
            x = b.times(1.0 / cap).rounded(2)
            t = np.tanh(x.value)
            nearest = np.maximum(np.abs(x.value) - x.error, 0.0)
            steepest = 1.0 / np.cosh(np.minimum(nearest, 300.0)) ** 2
            e = np.minimum(steepest * x.error, 2.0)
            self.slope = Bounded(1.0 / np.cosh(np.minimum(np.abs(x.value), 300.0)) ** 2, 2 * np.minimum(e, 1.0) + 16 * U * steepest + 4 * FLUSHED)
            b = Bounded(cap * t, cap * (e + 4 * U * np.abs(t))).rounded(2)
        if bias is not None and not first:
            b = b.plus(bias.rounded(2))
        lowered = np.zeros((1, 1, 1))
        if self.o.get("alibi"):
            lowered = slopes(self.n["H"])[:, None, None] * np.abs(self.positions["q"][:, None] - self.positions["k"])
            b = b.plus(Bounded(-np.broadcast_to(lowered, b.value.shape)).rounded(4))
        if bias is not None:
            forbidden = np.broadcast_to(np.isneginf(self.a["bias"].value), b.value.shape)
            there = -cap - lowered if first else np.full(1, -np.inf)  # cap · tanh(−∞)
            e = 4 * U * np.where(np.isinf(there), 0.0, np.abs(there))
            there = np.where(np.isnan(scaled.value), np.nan, there)
            self.put("biased", Bounded(np.where(forbidden, there, b.value), np.where(forbidden, e, b.error)))
        elif cap or self.o.get("alibi"):
            self.put("biased", b)
        return b

    def weigh(self, b):
        masked = np.where(self.allowed, b.value, -np.inf)
        self.put("masked", Bounded(masked, np.where(self.allowed, b.error, 0.0)).rounded())
        sink = self.a["sinks"].value[:, None, None] if "sinks" in self.a else -np.inf
        top = np.maximum(masked.max(axis=-1, keepdims=True), sink)
        safe_top = np.where(np.isneginf(top), 0.0, top)
        p = np.exp(masked - safe_top)
        sum_ = p.sum(axis=-1, keepdims=True) + np.exp(sink - safe_top)
        with np.errstate(divide="ignore"):
            lse = np.where(np.isneginf(top), -np.inf, safe_top + np.log(sum_))
        a = np.where(self.empty, np.nan if self.o.get("empty-rows") == "nan" else 0.0, p / np.where(sum_ == 0, 1.0, sum_))
        # An error e of a score is a factor exp(e) of its weight; that of the sum is their mean. Scores and the largest are rounded.
        below = np.where(self.allowed, safe_top - np.where(self.allowed, masked, 0.0), 0.0)
        e = np.where(self.allowed, b.error, 0.0) + 4 * U * below + 2 * U * np.where(self.allowed, np.abs(b.value), 0.0)
        e_sink = 4 * U * np.abs(sink) if "sinks" in self.a else 0.0
        self.sink_weight = np.exp(sink - safe_top) / np.where(sum_ == 0, 1.0, sum_)
        most = np.maximum(np.where(p > 0, e, 0.0).max(axis=-1, keepdims=True), e_sink)  # log Σ a exp(e), in range
        grown = (np.nan_to_num(a) * np.exp(np.minimum(e - most, 0.0))).sum(axis=-1, keepdims=True)
        grown = most + np.log(np.maximum(grown + self.sink_weight * np.exp(e_sink - most), LEAST))
        e_lse = np.where(self.empty, 0.0, np.maximum(grown, 0.0) + (self.n["Tk"] + 16) * U)
        finite = np.where(np.isfinite(lse), np.abs(lse), 0.0)
        self.e_lse = e_lse + 4 * U * finite
        self.put("logsumexp", Bounded(lse, self.e_lse)).reshaped(lambda m: m[..., 0])
        self.stages["logsumexp"] = self.stages["logsumexp"].reshaped(lambda m: m[..., 0])
        grows = np.expm1(np.minimum(e + e_lse + 12 * U, MOST_EXPONENT))
        return self.put("weights", Bounded(a, np.where(self.contributes, a * grows + FLUSHED, 0.0)))

    def forward(self):
        scores = self.score(*self.operands())
        scaled = self.put("scaled", scores.times(self.factor()).rounded(2))
        a = self.weigh(self.biased(scaled))
        if self.retained is not None:
            a = self.put("dropped", a.times(self.retained))
        self.last = a
        v = for_queries(self.stages["v"], self.n["H"])
        self.v = Bounded(np.where(self.used_keys(), v.value, 0.0), np.where(self.used_keys(), v.error, 0.0))
        context = self.put("context", product(a, self.v))
        output = joined(context)
        if "W_O" in self.a:
            output = product(output, self.a["W_O"])
            if "b_O" in self.a:
                output = output.plus(self.a["b_O"])
        self.put("output", output)

    def used_keys(self):
        """[B,H,Tk,1]: the keys that some query of the head attends to; the others have no effect, whatever they hold."""
        return self.contributes.any(axis=2)[..., None]

    # -- backward

    def backward(self):
        b, h, tq, d_v = self.stages["context"].value.shape
        if "dO" in self.a:
            d_context = self.a["dO"]
        else:
            d_output = self.put("d_output", self.a["dY"] if "dY" in self.a else Bounded(np.ones(self.stages["output"].value.shape)))
            if "W_O" in self.a:
                flat = lambda x: x.reshaped(lambda m: m.reshape(-1, m.shape[-1]))
                self.put("d_w_o", product(transposed(flat(joined(self.stages["context"]))), flat(d_output)))
                if "b_O" in self.a:
                    self.put("d_b_o", summed(flat(d_output), (0,)))
                d_output = product(d_output, transposed(self.a["W_O"]))
            d_context = per_head(d_output, h)
        self.put("d_context", d_context)
        d_v_all = product(transposed(self.last), d_context)
        used = self.used_keys()
        d_v_all = Bounded(np.where(used, d_v_all.value, 0.0), np.where(used, d_v_all.error, 0.0))
        self.put("d_v", over_group(d_v_all, self.n["G"]))
        d_a = product(d_context, transposed(for_queries(self.stages["v"], h)))
        if self.retained is not None:
            self.put("d_dropped", d_a)
            d_a = d_a.times(self.retained)
        self.put("d_weights", d_a)
        self.to_scores(self.softmax_backward(d_a, d_context))

    def softmax_backward(self, d_a, d_context):
        a = self.stages["weights"]
        value, error = (np.where(self.contributes, x, 0.0) for x in (d_a.value, d_a.error))
        row = (np.where(self.contributes, a.value, 0.0) * value).sum(axis=-1, keepdims=True)
        size = np.abs(np.where(self.contributes, a.value, 0.0) * value).sum(axis=-1, keepdims=True)
        context = self.stages["context"]
        # Σ a d_a, or d_context · context
        e_row = (a.error * np.abs(value) + np.abs(np.nan_to_num(a.value)) * error).sum(axis=-1, keepdims=True) + (self.n["Tk"] + 8) * U * size
        along = np.abs(np.nan_to_num(d_context.value))
        e_row = e_row + (along * context.error + (self.n["d_v"] + 8) * U * along * np.abs(context.value)).sum(axis=-1, keepdims=True)
        e_row = e_row + (d_context.error * np.abs(context.value)).sum(axis=-1, keepdims=True)
        if "sinks" in self.a:
            share = np.broadcast_to(self.sink_weight, row.shape)
            e_share = share * np.expm1(np.minimum(self.e_lse + 8 * U * (1 + np.abs(self.a["sinks"].value[:, None, None])), MOST_EXPONENT)) + FLUSHED
            each = Bounded(-share * row, share * e_row + e_share * np.abs(row)).rounded(2)
            self.put("d_sinks", summed(each, (0, 2, 3)).reshaped(lambda m: m[0, :, 0, 0]))
        d = np.where(self.contributes, a.value * (value - row), 0.0)
        e = a.error * (np.abs(value - row) + error + e_row) + np.abs(a.value) * (error + e_row + 4 * U * (np.abs(value) + np.abs(row)))
        e = np.where(self.contributes, e, 0.0)
        if self.o.get("empty-rows") == "nan":
            d = np.where(self.empty, np.nan, d)
        return self.put("d_masked", Bounded(d, e))

    def to_scores(self, d_b):
        if "biased" in self.stages:
            self.put("d_biased", d_b)
        none = d_b.value == 0  # of a forbidden pair, whose slope may be NaN
        slope = Bounded(np.where(none, 1.0, self.slope.value), np.where(none, 0.0, self.slope.error))
        e = d_b.error * (slope.value + slope.error) + np.abs(d_b.value) * slope.error
        d_s = Bounded(d_b.value * slope.value, e).rounded(2)
        self.put("d_scaled", d_s)
        if "bias" in self.a and "log_f" not in self.a:
            shape = self.a["bias"].value.shape
            full = (1,) * (4 - len(shape)) + shape
            axes = tuple(axis for axis in range(4) if full[axis] == 1)
            total = summed(d_s if self.o.get("bias-before-softcap") else d_b, axes) if axes else (
                d_s if self.o.get("bias-before-softcap") else d_b)
            self.put("d_bias", total.reshaped(lambda m: m.reshape(shape)))
        d_scores = self.put("d_scores", d_s.times(self.factor()))
        d_q, d_k = self.score_backward(d_scores)
        if "rope" in self.o:
            self.put("d_q_rot", d_q), self.put("d_k_rot", d_k)
        d_q, d_k = (rotated(d, self.turns[name], self.o, -1.0, self.call.sections) for name, d in (("q", d_q), ("k", d_k)))
        if "qk-norm" in self.o:
            self.put("d_q_norm", d_q), self.put("d_k_norm", d_k)
            d_q, d_k = self.norm_backward("q", d_q), self.norm_backward("k", d_k)
        self.put("d_q", d_q), self.put("d_k", d_k)
        if "X" in self.a:
            self.to_inputs()

    def score_backward(self, d):
        kind, g = self.o.get("score", "dot"), self.n["G"]
        used = self.used_keys()
        k_hat = for_queries(self.k_hat, self.n["H"])
        k_hat = Bounded(np.where(used, k_hat.value, 0.0), np.where(used, k_hat.error, 0.0))
        none = ~self.contributes[..., None]
        without_none = lambda x: Bounded(np.where(none, 0.0, x.value), np.where(none, 0.0, x.error))
        if kind == "additive":
            w, t = self.a["w_score"].value, self.hidden
            flat = 1 - t.value**2
            e_flat = 2 * np.abs(t.value) * t.error + t.error**2 + 4 * U
            each = Bounded(d.value[..., None] * w * flat,
                           np.abs(w) * (d.error[..., None] * (flat + e_flat) + np.abs(d.value[..., None]) * e_flat)).rounded(3)
            each = without_none(each)
            shares = Bounded(d.value[..., None] * t.value, d.error[..., None] * np.abs(t.value) + np.abs(d.value[..., None]) * t.error).rounded()
            shares = without_none(shares)
            self.put("d_w_score", summed(shares, (0, 1, 2, 3)).reshaped(lambda m: m[0, 0, 0, 0]))
            d_q, d_k = summed(each, (3,)).reshaped(lambda m: m[..., 0, :]), summed(each, (2,)).reshaped(lambda m: m[:, :, 0])
            return self.weights_backward("q", d_q), self.weights_backward("k", over_group(d_k, g))
        if kind == "student_t":
            slope = -2 * d.value / self.one_more.value
            e_slope = (2 * d.error + np.abs(slope) * self.one_more.error) / self.one_more.value
            each = Bounded(slope[..., None] * self.apart.value,
                           e_slope[..., None] * np.abs(self.apart.value) + np.abs(slope[..., None]) * self.apart.error).rounded(4)
            each = without_none(each)
            d_q, d_k = summed(each, (3,)).reshaped(lambda m: m[..., 0, :]), summed(each, (2,)).reshaped(lambda m: -m[:, :, 0])
            return d_q, over_group(Bounded(d_k.value, np.abs(d_k.error)), g)
        d_q, d_k = product(d, k_hat), product(transposed(d), self.q_hat)
        d_k = over_group(Bounded(np.where(used, d_k.value, 0.0), np.where(used, d_k.error, 0.0)), g)
        if kind == "relative":
            b_score = np.zeros_like(self.a["b_score"].value)
            error, size, count = np.zeros_like(b_score), np.zeros_like(b_score), 4 + self.n["B"] * self.n["Tq"]
            for head in range(self.n["H"]):
                for target, source in ((b_score, d.value), (error, d.error), (size, np.abs(d.value))):
                    np.add.at(target[head], self.distance, source[:, head].sum(axis=0))
            self.put("d_b_score", Bounded(b_score, error + count * U * size))
        if kind == "general":
            d_q = self.weights_backward("", d_q)
        if self.o.get("scale") == "q_and_k":
            d_q, d_k = (x.times(float(self.n["d_k"]) ** -0.25) for x in (d_q, d_k))
        if kind == "cosine":
            d_q, d_k = self.unit_backward("q", d_q), self.unit_backward("k", d_k)
        return d_q, d_k

    def weights_backward(self, side, d):
        """Of x W: d_x, and d_W into its place; side q or k of score additive, "" of general."""
        name = f"W_score_{side}" if side else "W_score"
        own = side or "q"
        x = next(self.stages[name] for name in (f"{own}_rot", f"{own}_norm", own) if name in self.stages)
        used = reaches(d)  # 0 · NaN of a forbidden key does not count
        x = Bounded(np.where(used, x.value, 0.0), np.where(used, x.error, 0.0))
        rows = lambda y: y.reshaped(lambda m: m.reshape(-1, m.shape[-1]))
        self.put(f"d_{name.lower()}", product(transposed(rows(x)), rows(d)))
        return product(d, transposed(self.a[name]))

    def unit_backward(self, side, d):
        u, length = (self.q_hat, self.q_length) if side == "q" else (self.k_hat, self.k_length)
        safe = np.where(length == 0, 1.0, length)
        none = ~d.value.any(axis=-1, keepdims=True)  # a forbidden key, whatever it holds
        u = Bounded(np.where(none, 0.0, u.value), np.where(none, 0.0, u.error))
        along = (u.value * d.value).sum(axis=-1, keepdims=True)
        size = np.abs(d.value) + np.abs(u.value) * (np.abs(u.value) * np.abs(d.value)).sum(axis=-1, keepdims=True)
        e = d.error + np.abs(u.value) * (np.abs(u.value) * d.error).sum(axis=-1, keepdims=True)
        bend = np.linalg.norm(u.error, axis=-1, keepdims=True)
        e = e + (self.n["d_k"] + 8) * U * size + 4 * bend * np.linalg.norm(d.value, axis=-1, keepdims=True)
        value = np.where(none | (length == 0), 0.0, (d.value - u.value * along) / safe)
        return Bounded(value, np.where(none & ~np.isfinite(safe), 0.0, e / safe))

    def to_inputs(self):
        cross = "X_kv" in self.a
        gradients = {"X": [], "X_kv": []}
        for name in "QKV":
            source = "X_kv" if cross and name != "Q" else "X"
            d = joined(self.stages[f"d_{name.lower()}"])
            rows = lambda y: y.reshaped(lambda m: m.reshape(-1, m.shape[-1]))
            self.put(f"d_w_{name.lower()}", product(transposed(rows(self.a[source])), rows(d)))
            if f"b_{name}" in self.a:
                self.put(f"d_b_{name.lower()}", summed(rows(d), (0,)))
            gradients[source].append(product(d, transposed(self.a[f"W_{name}"])))
        for source, parts in gradients.items():
            if parts:
                total = parts[0]
                for part in parts[1:]:
                    total = total.plus(part)
                self.put(f"d_{source.lower()}", total)


# ---- comparing


def worst(expected, got, backend):
    """(error / tolerance, sentence) of the entry that is furthest off; (0, "") of none."""
    want = expected.value
    if got.shape != want.shape and got.size == want.size:
        got = got.reshape(want.shape)
    if got.shape != want.shape:
        return np.inf, f"has the shape {got.shape}, expected {want.shape}"
    tolerance = expected.error * (1e-4 if backend == "reference" else 1.0) + 2 * U * np.abs(want) + LEAST
    got = got.astype(np.float64)
    beyond = np.abs(want) + tolerance > LARGEST  # float32 may hold it or not
    same = (got == want) | (np.isnan(got) & np.isnan(want)) | (beyond & (np.isinf(got) | (np.abs(got) > 0.99 * LARGEST)))
    error = np.where(same, 0.0, np.abs(got - want))
    ratio = np.where(same, 0.0, np.where(np.isnan(error) | ~np.isfinite(want), np.inf, error / tolerance))
    ratio = np.where(np.isnan(ratio), np.inf, ratio)  # no bound: both are infinite
    if ratio.size == 0 or ratio.max() <= 1:
        return (ratio.max() if ratio.size else 0.0), ""
    at = np.unravel_index(np.argmax(ratio), ratio.shape)
    return ratio.max(), f"{list(map(int, at))} is {got[at]:.9g}, expected {want[at]:.9g} ± {tolerance[at]:.2g}"


def check(call, n, exact, out, backend):
    """The sentence of the first wrong array; "" of none."""
    for name, expected in exact.stages.items():
        if name not in out:
            if backend == "fused" and expected.value.shape[-2:] == (n["Tq"], n["Tk"]):
                continue  # it stores no pairs
            return f"{name} is missing"
        ratio, sentence = worst(expected, out[name], backend)
        if sentence:
            return f"{name} {sentence}"
    return ""


def run(program, paths, folder, backend, grad):
    """Standard error of one `trace` over many files."""
    command = [program, "trace", *map(str, paths), "-o", f"{folder}/", "--backend", backend, "--threads", "1", "--json"]
    return subprocess.run(command + (["--grad"] if grad else []), capture_output=True, text=True).stderr


def reported(stderr):
    """Names of the files whose numbers leave float32's range by a note."""
    names = set()
    for line in stderr.splitlines():
        if "float32" in line and '"note"' in line and ("beyond" in line or "infinite" in line):
            names |= {pathlib.Path(part).name for part in json.loads(line)["text"].split(": ")[:1]}
    return names


class Tally:
    def __init__(self):
        self.counts = collections.defaultdict(collections.Counter)
        self.reasons = collections.Counter()
        self.wrong = []

    def add(self, call, backend, verdict):
        for kind in {"all"} | call.kinds:
            self.counts[kind][verdict] += 1
        self.counts[f"backend {backend}"][verdict] += 1

    def report(self):
        print(f"{'kind':34} right  wrong  refused  reported")
        for kind in sorted(self.counts):
            c = self.counts[kind]
            print(f"{kind:34} {c['right']:5}  {c['wrong']:5}  {c['refused']:7}  {c['reported']:8}")
        for reason, count in self.reasons.most_common(12):
            print(f"refused {count} times: {reason}")
        for line in self.wrong[:60]:
            print("WRONG", line)


def check_batch(args, first, count, tally, scratch):
    calls = [(number, *draw_call(args.seed, number)) for number in range(first, first + count)]
    paths = {number: scratch / f"call{number}.npz" for number, _, _ in calls}
    for number, call, _ in calls:
        call.save(paths[number])
    for backend in args.backend:
        notes, folders = "", {}
        for grad in (False, True):
            folders[grad] = scratch / f"{backend}-{grad}"
            files = [paths[number] for number, call, _ in calls if call.grad == grad]
            if len(files) == 1:
                files.append(scratch / "missing.npz")  # one file alone would be written to, not into, the folder
            if files:
                notes += run(args.program, files, folders[grad], backend, grad)
        outside = reported(notes)
        for number, call, n in calls:
            result = folders[call.grad] / paths[number].name
            if not result.exists():
                tally.add(call, backend, "refused")
                stderr = run(args.program, [paths[number]], scratch / "again", backend, call.grad).strip().splitlines()
                reason = json.loads(stderr[-1])["text"] if stderr else "no reason"
                tally.reasons[reason.replace(str(paths[number]), "FILE")] += 1
                if not stderr:
                    tally.wrong.append(f"call {number} {backend}: no file and no reason")
                continue
            with np.load(result) as archive:
                out = {name: archive[name] for name in archive.files}
            with np.errstate(all="ignore"):
                fault = check(call, n, Exact(call, n), out, backend)
            verdict = "right" if not fault else "reported" if paths[number].name in outside else "wrong"
            tally.add(call, backend, verdict)
            if verdict == "wrong":
                tally.wrong.append(f"call {number} {backend}: {fault}; {sorted(call.kinds)}")
            elif fault and args.verbose:
                print(f"reported: call {number} {backend}: {fault}")
            result.unlink()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--calls", type=int, default=3000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int, help="the number of one call")
    parser.add_argument("--save", help="with --only: writes the call's file here")
    parser.add_argument("--backend", nargs="+", default=list(BACKENDS))
    parser.add_argument("--verbose", action="store_true", help="also the wrong numbers that the program reports")
    args = parser.parse_args()
    tally = Tally()
    first, calls = (0, args.calls) if args.only is None else (args.only, 1)
    if args.save:
        call, _ = draw_call(args.seed, first)
        call.save(args.save)
        print(f"{args.save}: {call.options}, {({name: x.shape for name, x in call.arrays.items()})}")
    while calls > 0:
        count = min(calls, CALLS_PER_RUN)
        with tempfile.TemporaryDirectory() as scratch:
            check_batch(args, first, count, tally, pathlib.Path(scratch))
        first, calls = first + count, calls - count
    tally.report()
    sys.exit(1 if tally.wrong else 0)


if __name__ == "__main__":
    main()
