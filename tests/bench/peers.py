#!/usr/bin/env python3
"""attnscope's fused attention beside PyTorch and ONNX Runtime on the CPU: same shapes, same threads, fairly.

    peers.py ATTNSCOPE [--threads N] [--rounds N] [--python COMMAND] [--figures] [--write docs/speed.md] [SHAPE ...]

Every program is a process of its own and is stopped (SIGSTOP) while another one runs, so that no waiting thread of it
takes time from the others. Of each peer all settings below are tried first, alone, on TUNING_SHAPE; the quickest one is
measured and named. Then each round runs every program once; a ratio is the peer's median over attnscope's, and beside
it stand the least and the largest ratio of a round. SHAPE is one of `attnscope bench --shape`, such as H8N2048d64c; a
backward pass (b) times gradients alone, and where both passes of a shape were measured their sum is a row as well.
--figures also runs `attnscope bench`. --files N times one `attnscope trace` of N small files beside numpy in one
process. --write replaces what stands between the two markers of a file by the tables.

--python: the interpreter with the peers, "python3" unless given; "chroot FOLDER python3" takes those of a newer system.
PyTorch from 2.0 on has the fused kernel; Debian's python3-torch with libopenblas0-pthread (without it the reference BLAS, 15
times slower), python3-onnxruntime and python3-onnx serve. What is not
installed is skipped, and said.
"""
import argparse
import datetime
import json
import os
import re
import shlex
import signal
import statistics
import subprocess
import sys
import tempfile
import time

SHAPES = ["N256d64", "H8N256d64", "H8N512d64", "H8N1024d64", "H8N2048d64", "H8N2048d64b", "H8N4096d64", "H8N4096d64c",
          "H8N2048d128"]
TUNING_SHAPE = "H8N1024d64"
BEGIN, END = "<!-- speed: written by tests/bench/peers.py -->", "<!-- speed: end -->"

# Environments that each peer's documentation speaks of; "kernel" and "spin" go to the server below.
SETTINGS = {
    "PyTorch": [
        {"kernel": kernel, **environment}
        for kernel in ("flash", "math")
        for environment in ({}, {"OPENBLAS_NUM_THREADS": "1"}, {"OMP_WAIT_POLICY": "ACTIVE"},
                            {"OPENBLAS_NUM_THREADS": "1", "OMP_WAIT_POLICY": "PASSIVE"},
                            {"OPENBLAS_NUM_THREADS": "1", "OMP_WAIT_POLICY": "ACTIVE", "OMP_PROC_BIND": "true"})
    ],
    "OnnxRuntime": [{"spin": "1"}, {"spin": "0"}],
}


def parse_shape(text):
    found = re.fullmatch(r"(?:H(\d+))?N(\d+)(?:d(\d+))?(c?)(b?)", text)
    if not found:
        sys.exit(f"the shape is '{text}'; expected one such as H8N2048d64c")
    heads, tokens, width, causal, backward = found.groups()
    return {"heads": int(heads or 1), "tokens": int(tokens), "width": int(width or 64), "causal": bool(causal),
            "backward": bool(backward)}


def gflop(shape):
    all_pairs = (10 if shape["backward"] else 4) * shape["heads"] * shape["tokens"] ** 2 * shape["width"] * 1e-9
    return all_pairs / 2 if shape["causal"] else all_pairs


# ---- the peers: each in a process of its own, which answers a shape with milliseconds


class PyTorch:
    def __init__(self, threads, settings):
        import torch

        self.torch = torch
        torch.set_num_threads(threads)
        functional = torch.nn.functional
        if not hasattr(functional, "scaled_dot_product_attention"):
            raise ImportError(f"PyTorch {torch.__version__} has no fused attention; expected 2.0 or newer")
        backend = torch.nn.attention.SDPBackend
        kernel = {"flash": backend.FLASH_ATTENTION, "math": backend.MATH}[settings["kernel"]]
        self.choice = lambda: torch.nn.attention.sdpa_kernel(kernel)
        self.attend = functional.scaled_dot_product_attention
        self.name = f"PyTorch {torch.__version__.split('+')[0]} ({settings['kernel']} kernel)"

    def prepare(self, shape):
        """A call that runs once."""
        size = (1, shape["heads"], shape["tokens"], shape["width"])
        q, k, v = (self.torch.rand(size) * 3.4 - 1.7 for _ in range(3))
        if not shape["backward"]:
            def forward():
                with self.torch.no_grad(), self.choice():
                    self.attend(q, k, v, is_causal=shape["causal"])
            return forward
        leaves = [tensor.requires_grad_() for tensor in (q, k, v)]
        with self.choice():
            out = self.attend(*leaves, is_causal=shape["causal"])
        upstream = self.torch.ones_like(out)
        return lambda: self.torch.autograd.grad(out, leaves, upstream, retain_graph=True)


class OnnxRuntime:
    """The contrib operator MultiHeadAttention on [1, tokens, heads · width]."""

    def __init__(self, threads, settings):
        import numpy
        import onnx
        import onnxruntime

        self.numpy, self.onnx, self.runtime = numpy, onnx, onnxruntime
        self.options = onnxruntime.SessionOptions()
        self.options.intra_op_num_threads = threads
        self.options.add_session_config_entry("session.intra_op.allow_spinning", settings["spin"])
        self.name = f"ONNX Runtime {onnxruntime.__version__}"

    def prepare(self, shape):
        if shape["backward"]:
            return None
        helper, kind = self.onnx.helper, self.onnx.TensorProto.FLOAT
        size = [1, shape["tokens"], shape["heads"] * shape["width"]]
        node = helper.make_node("MultiHeadAttention", ["q", "k", "v"], ["y"], domain="com.microsoft",
                                num_heads=shape["heads"], unidirectional=int(shape["causal"]))
        inputs = [helper.make_tensor_value_info(name, kind, size) for name in "qkv"]
        graph = helper.make_graph([node], "attention", inputs, [helper.make_tensor_value_info("y", kind, size)])
        opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=8)
        session = self.runtime.InferenceSession(model.SerializeToString(), self.options,
                                                providers=["CPUExecutionProvider"])
        random = self.numpy.random.default_rng(1)
        feed = {name: (random.random(size, self.numpy.float32) * 3.4 - 1.7) for name in "qkv"}
        return lambda: session.run(None, feed)


def milliseconds(call):
    """Of one call: of so many in a row that they take some milliseconds, as attnscope's own runs are."""
    start = time.perf_counter()
    call()
    once = time.perf_counter() - start
    calls = max(1, min(64, int(4e-3 / once)))
    start = time.perf_counter()
    for _ in range(calls):
        call()
    return (time.perf_counter() - start) / calls * 1e3


def serve(name, threads, settings):
    """A shape in, a line of JSON out."""
    try:
        peer = {"PyTorch": PyTorch, "OnnxRuntime": OnnxRuntime}[name](threads, settings)
    except ImportError as error:
        print(json.dumps({"missing": str(error)}), flush=True)
        return
    print(json.dumps({"name": peer.name}), flush=True)
    last, call = None, None
    for line in sys.stdin:
        text = line.strip()
        if text != last:
            last, call = text, peer.prepare(parse_shape(text))
            if call:
                call()
                call()
        print(json.dumps({"ms": milliseconds(call) if call else None}), flush=True)


# ---- here


class Program:
    """A process that answers lines, and is stopped while nobody asks."""

    def __init__(self, command, environment=None):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        stderr=subprocess.DEVNULL, start_new_session=True,
                                        env={**os.environ, **(environment or {})})

    def signal(self, number):
        os.killpg(self.process.pid, number)

    def read(self):
        line = self.process.stdout.readline()
        if not line:
            sys.exit(f"{self.process.args[0]} ended without an answer")
        return json.loads(line)

    def run(self, text):
        self.signal(signal.SIGCONT)
        self.process.stdin.write(text + "\n")
        self.process.stdin.flush()
        answer = self.read()
        self.signal(signal.SIGSTOP)
        return answer

    def end(self):
        self.signal(signal.SIGCONT)
        self.process.stdin.close()
        self.process.wait()


class Attnscope(Program):
    def __init__(self, binary, threads):
        super().__init__([binary, "bench", "--lines", "--backend", "fused", "--threads", str(threads)])
        self.signal(signal.SIGSTOP)


class Peer(Program):
    def __init__(self, kind, python, threads, settings):
        with open(__file__, encoding="utf-8") as file:
            source = file.read()
        environment = {name: value for name, value in settings.items() if name.isupper()}
        super().__init__([*shlex.split(python), "-c", source, "--serve", kind, "--threads", str(threads),
                          "--settings", json.dumps(settings)], environment)
        hello = self.read()
        self.missing = hello.get("missing")
        self.name = hello.get("name")
        if not self.missing:
            self.signal(signal.SIGSTOP)


def words_of(settings):
    return ", ".join(f"{name}={value}" for name, value in settings.items()) or "as it comes"


def quickest_peer(kind, python, threads):
    """Tries every setting alone; the peer with the best one, and a sentence; None where it is not installed."""
    tried = []
    for settings in SETTINGS[kind]:
        peer = Peer(kind, python, threads, settings)
        if peer.missing:
            print(f"{kind}: skipped: {peer.missing}", file=sys.stderr)
            return None
        found = statistics.median(peer.run(TUNING_SHAPE)["ms"] for _ in range(7))
        print(f"{peer.name}, {words_of(settings)}: {found:.2f} ms at {TUNING_SHAPE}", file=sys.stderr, flush=True)
        peer.end()
        tried.append((found, peer.name, settings))
    best = min(tried, key=lambda each: each[0])
    peer = Peer(kind, python, threads, best[2])
    peer.note = (f"{best[1]}: {words_of(best[2])}, the quickest of {len(tried)} settings "
                 f"({best[0]:.1f} to {max(each[0] for each in tried):.1f} ms at `{TUNING_SHAPE}`).")
    return peer


def measure(programs, text, rounds):
    """Answers of each program, a list a round."""
    for program in programs:
        program.run(text)
    return [[program.run(text) for program in programs] for _ in range(rounds)]


def ratio_words(own, other):
    ratios = [b / a for a, b in zip(own, other)]
    return f"{statistics.median(other) / statistics.median(own):.2f} ({min(ratios):.2f}–{max(ratios):.2f})"


def row_of(text, work, own, fractions, others):
    """`others`: milliseconds of each peer, None where it has no such pass."""
    ms = statistics.median(own)
    cells = [f"`{text}`", f"{ms:.2f}", f"{work / ms * 1e3:.0f}", f"{statistics.median(fractions):.2f}"]
    for other in others:
        cells += ["", ""] if other is None else [f"{statistics.median(other):.2f}", ratio_words(own, other)]
    return cells


def compare(ours, peers, shapes, rounds):
    """Rows of the table."""
    rows, known = [], {}
    for text in shapes:
        shape = parse_shape(text)
        runs = measure([ours, *peers], text, rounds)
        own = [run[0]["ms"] for run in runs]
        fractions = [gflop(shape) / run[0]["ms"] * 1e3 / run[0]["peak_gflops"] for run in runs]
        others = [None if runs[0][n + 1]["ms"] is None else [run[n + 1]["ms"] for run in runs]
                  for n in range(len(peers))]
        rows.append(row_of(text, gflop(shape), own, fractions, others))
        print("  ".join(rows[-1]), file=sys.stderr, flush=True)
        known[text] = (gflop(shape), own, fractions, others)
        if shape["backward"] and text[:-1] in known:
            rows.append(both_passes(text, known))
    return rows


def both_passes(text, known):
    forward, backward = known[text[:-1]], known[text]
    work = forward[0] + backward[0]
    own = [a + b for a, b in zip(forward[1], backward[1])]
    share = forward[0] / work  # of the work, for the fraction of the peak
    fractions = [1 / (share / a + (1 - share) / b) for a, b in zip(forward[2], backward[2])]
    others = [None if a is None or b is None else [x + y for x, y in zip(a, b)]
              for a, b in zip(forward[3], backward[3])]
    return row_of(f"{text[:-1]}, both passes", work, own, fractions, others)


# ---- many small files

NUMPY_TRACE = """
import sys, time, numpy
def attention(path, out):
    with numpy.load(path) as file:
        q, k, v = (file[name] for name in "QKV")
    scores = q @ k.transpose(0, 2, 1)
    scaled = scores / numpy.sqrt(numpy.float32(q.shape[-1]))
    powers = numpy.exp(scaled - scaled.max(-1, keepdims=True))
    total = powers.sum(-1, keepdims=True)
    weights = powers / total
    context = weights @ v
    numpy.savez(out, q=q, k=k, v=v, scores=scores, scaled=scaled, masked=scaled, weights=weights, context=context,
                output=numpy.concatenate(list(context), -1), logsumexp=(numpy.log(total) + scaled.max(-1, keepdims=True))[..., 0])
start = time.perf_counter()
for path in sys.argv[2:]:
    attention(path, sys.argv[1] + "/" + path.split("/")[-1])
print(time.perf_counter() - start)
"""


def time_files(binary, count):
    """Seconds of one `attnscope trace` of `count` files and of numpy in one process, medians of five, in turn."""
    import numpy

    with tempfile.TemporaryDirectory() as folder:
        random = numpy.random.default_rng(1)
        paths = [f"{folder}/{n:04}.npz" for n in range(count)]
        for path in paths:
            numpy.savez(path, **{name: random.standard_normal((2, 16, 8)).astype(numpy.float32) for name in "QKV"})
        os.mkdir(f"{folder}/a")
        os.mkdir(f"{folder}/n")
        runs = []
        for _ in range(5):
            start = time.perf_counter()
            subprocess.run([binary, "trace", *paths, "-o", f"{folder}/a/"], check=True, stdout=subprocess.DEVNULL)
            own = time.perf_counter() - start
            answer = subprocess.run([sys.executable, "-c", NUMPY_TRACE, f"{folder}/n", *paths], check=True,
                                    stdout=subprocess.PIPE, text=True)
            runs.append((own, float(answer.stdout)))
    own, other = (statistics.median(run[n] for run in runs) for n in (0, 1))
    return (f"{count} files of 2 heads of 16 tokens in one `attnscope trace`, from start to end: {own:.2f} s; the same "
            f"stages by numpy {numpy.__version__} in one process, without its start: {other:.2f} s; {own / other:.2f} times as long.")


def markdown(header, rows):
    lines = [header, ["---"] * len(header)] + rows
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def figures(binary, threads):
    """What `attnscope bench` says of fused, of a stored trace and of memory; and the machine."""
    command = [binary, "bench", "--json", "-"] + (["--threads", str(threads)] if threads else [])
    found = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    rows = [[f"`{row['shape']}`", row["pass"], row["backend"], f"{row['ms']:.2f}", f"{row['gflops']:.0f}",
             f"{row['fraction_of_peak']:.2f}", f"{row['error']:.1e}"] for row in found.get("rows", [])]
    text = markdown(["shape", "pass", "backend", "ms", "GF/s", "of peak", "error"], rows) + "\n"
    for pair in found.get("comparisons", []):
        text += (f"\nStoring every stage of `{pair['first']['shape']}` takes {pair['time_ratio']:.2f} times as long as storing "
                 "none.")
    for use in found.get("memory", []):
        text += (f"\nA fused forward pass of `{use['shape']}` took {use['ms'] / 1e3:.0f} s and at its peak "
                 f"{use['peak_bytes'] / 1e6:.0f} MB, {use['ratio']:.2f} times Q + K + V + context.")
    return text + "\n"


def machine(binary):
    """Processor and probed speeds, as one sentence."""
    report = subprocess.run([binary, "bench", "--json", "-", "--shape", "N16d4", "--backend", "fused", "--repeat", "1"],
                            capture_output=True, text=True, check=True)
    found = json.loads(report.stdout)["machine"]
    return (f"{found['processor']} ({found['instructions']}), {{threads}} threads, {datetime.date.today()}: "
            f"{found['peak_gflops']:.0f} GF/s of multiply-adds, {found['stream_gbytes']:.0f} GB/s of triad.")


def write_between_markers(path, text):
    with open(path, encoding="utf-8") as file:
        whole = file.read()
    if whole.count(BEGIN) != 1 or whole.count(END) != 1:
        sys.exit(f"{path} has no pair of the markers {BEGIN} and {END}")
    before, rest = whole.split(BEGIN)
    after = rest.split(END)[1]
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"{before}{BEGIN}\n{text}\n{END}{after}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("attnscope")
    parser.add_argument("shapes", nargs="*", metavar="SHAPE")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--python", default="python3", metavar="COMMAND")
    parser.add_argument("--figures", action="store_true", help="also what `attnscope bench` measures")
    parser.add_argument("--files", type=int, default=0, metavar="N")
    parser.add_argument("--write", metavar="FILE")
    options = parser.parse_intermixed_args()
    peers = [peer for kind in SETTINGS if (peer := quickest_peer(kind, options.python, options.threads))]
    ours = Attnscope(options.attnscope, options.threads)
    header = ["shape", "attnscope ms", "GF/s", "of peak"]
    for peer in peers:
        header += [f"{peer.name} ms", "÷ attnscope"]
    rows = compare(ours, peers, options.shapes or SHAPES, options.rounds)
    for program in (ours, *peers):
        program.end()
    text = machine(options.attnscope).format(threads=options.threads)
    text += f" Medians of {options.rounds} rounds, each program alone.\n\n"
    text += "".join(peer.note + "\n" for peer in peers) + "\n" + markdown(header, rows)
    if options.files:
        text += "\n\n" + time_files(options.attnscope, options.files)
    if options.figures:
        text += "\n\n" + figures(options.attnscope, options.threads)
    print(text)
    if options.write:
        write_between_markers(options.write, text)


def main_of_server():
    parser = argparse.ArgumentParser()
    parser.add_argument("--serve")
    parser.add_argument("--threads", type=int)
    parser.add_argument("--settings", type=json.loads)
    options = parser.parse_args()
    serve(options.serve, options.threads, options.settings)


if __name__ == "__main__":
    main_of_server() if "--serve" in sys.argv else main()
