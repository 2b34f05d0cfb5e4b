#!/usr/bin/env python3
"""attnscope's fused attention beside PyTorch and ONNX Runtime on the CPU: same shapes, same threads, run in turn.

    peers.py ATTNSCOPE [--threads N] [--rounds N] [--figures] [--write README.md] [SHAPE ...]

Each round runs attnscope once and each peer once, within moments of each other; a ratio is the median over the rounds of
(peer's time / attnscope's time), so what else the machine does falls on both. SHAPE is one of `attnscope bench --shape`,
such as H8N2048d64c; a backward pass (b) times gradients alone. --figures also runs `attnscope bench`. --write replaces
what stands between the two markers of a file by the tables.

PyTorch: pip's, or Debian's python3-torch (then run this with /usr/bin/python3). ONNX Runtime: pip's onnxruntime and onnx.
What is not installed is skipped, and said.
"""
import argparse
import datetime
import json
import os
import re
import statistics
import subprocess
import sys
import time

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # waiting threads must not take the other program's time
os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "4")  # of spinning, as a power of two of cycles

SHAPES = ["N256d64", "H8N512d64", "H8N1024d64", "H8N2048d64", "H8N2048d128", "H8N4096d64c", "H8N2048d64b"]
BEGIN, END = "<!-- speed: written by tests/bench/peers.py -->", "<!-- speed: end -->"


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


class Attnscope:
    """`attnscope bench --lines`: a line in, a run, a line out."""

    def __init__(self, binary, threads):
        command = [binary, "bench", "--lines", "--backend", "fused"] + (["--threads", str(threads)] if threads else [])
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def run(self, text):
        self.process.stdin.write(text + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            sys.exit(f"{self.process.args[0]} ended without an answer to {text}")
        return json.loads(line)


class PyTorch:
    def __init__(self, threads):
        import torch

        self.torch = torch
        torch.set_num_threads(threads)
        functional = torch.nn.functional
        if hasattr(functional, "scaled_dot_product_attention"):
            self.attend = functional.scaled_dot_product_attention
            self.name = f"PyTorch {torch.__version__}"
        else:  # before 2.0: the same function under a private name, not fused; returns weights as well
            self.attend = lambda q, k, v, is_causal: functional._scaled_dot_product_attention(
                q, k, v, need_attn_weights=False, is_causal=is_causal)[0]
            self.name = f"PyTorch {torch.__version__} (not fused)"

    def prepare(self, shape):
        """A call that runs once."""
        size = (1, shape["heads"], shape["tokens"], shape["width"])
        q, k, v = (self.torch.rand(size) * 3.4 - 1.7 for _ in range(3))
        if not shape["backward"]:
            def forward():
                with self.torch.no_grad():
                    self.attend(q, k, v, is_causal=shape["causal"])
            return forward
        leaves = [tensor.requires_grad_() for tensor in (q, k, v)]
        out = self.attend(*leaves, is_causal=shape["causal"])
        upstream = self.torch.ones_like(out)
        return lambda: self.torch.autograd.grad(out, leaves, upstream, retain_graph=True)


class OnnxRuntime:
    """The contrib operator MultiHeadAttention on [1, tokens, heads · width]."""

    def __init__(self, threads):
        import numpy
        import onnx
        import onnxruntime

        self.numpy, self.onnx, self.runtime = numpy, onnx, onnxruntime
        self.options = onnxruntime.SessionOptions()
        self.options.intra_op_num_threads = threads
        self.options.add_session_config_entry("session.intra_op.allow_spinning", "0")
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


def installed_peers(threads):
    peers = []
    for kind in (PyTorch, OnnxRuntime):
        try:
            peers.append(kind(threads))
        except ImportError as error:
            print(f"{kind.__name__}: skipped: {error}", file=sys.stderr)
    return peers


def milliseconds(call):
    start = time.perf_counter()
    call()
    return (time.perf_counter() - start) * 1e3


def compare(ours, peers, text, rounds):
    """One row of the table."""
    shape = parse_shape(text)
    calls = [peer.prepare(shape) for peer in peers]
    for call in calls:
        if call:
            call()
    runs = []
    for _ in range(rounds):
        own = ours.run(text)
        runs.append((own["ms"], own["peak_gflops"], [milliseconds(call) if call else None for call in calls]))
    ms = statistics.median(run[0] for run in runs)
    fraction = statistics.median(gflop(shape) / run[0] * 1e3 / run[1] for run in runs)
    cells = [f"`{text}`", f"{ms:.2f}", f"{gflop(shape) / ms * 1e3:.0f}", f"{fraction:.2f}"]
    for n, call in enumerate(calls):
        if call is None:
            cells += ["", ""]
            continue
        cells.append(f"{statistics.median(run[2][n] for run in runs):.2f}")
        cells.append(f"{statistics.median(run[2][n] / run[0] for run in runs):.2f}")
    return cells


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
    parser.add_argument("--figures", action="store_true", help="also what `attnscope bench` measures")
    parser.add_argument("--write", metavar="FILE")
    options = parser.parse_intermixed_args()
    peers = installed_peers(options.threads)
    ours = Attnscope(options.attnscope, options.threads)
    header = ["shape", "attnscope ms", "GF/s", "of peak"]
    for peer in peers:
        header += [f"{peer.name} ms", "÷ attnscope"]
    rows = []
    for text in options.shapes or SHAPES:
        rows.append(compare(ours, peers, text, options.rounds))
        print("  ".join(rows[-1]), file=sys.stderr, flush=True)
    text = machine(options.attnscope).format(threads=options.threads) + "\n\n" + markdown(header, rows)
    if options.figures:
        text += "\n\n" + figures(options.attnscope, options.threads)
    print(text)
    if options.write:
        write_between_markers(options.write, text)


if __name__ == "__main__":
    main()
