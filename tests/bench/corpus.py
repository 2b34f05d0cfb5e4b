#!/usr/bin/env python3
"""Heads over a corpus beside PyTorch with output_attentions: tokens a second on the same texts and batches.

    corpus.py ATTNSCOPE MODEL [--texts N] [--batch N] [--rounds N] [--threads N] [--python COMMAND]

MODEL: the folder of use-lite (./run model use-lite) or of a GPT-2. Texts are the numbers of 6 to 30 random tokens, from a seed. Ours: `attnscope
heads MODEL --texts FILE.jsonl -o OUT.npz`, which says its tokens a second from the first text to the last, with all measures
and their statistics. PyTorch: the same blocks by torch.nn.functional, a batch padded to its longest text, and the weights of
every head of every layer as they are left by softmax; nothing is measured of them. Opening a model and reading texts counts
on neither side. The two alternate, each a process of its own while the other waits; of each the median of the rounds. The mean
weight of a token on itself must agree for every head.
--python: the python that has torch, over OpenBLAS or MKL: with the reference BLAS it is ten times slower. Needs numpy here and there.
"""
import argparse
import json
import math
import os
import pathlib
import re
import shlex
import statistics
import subprocess
import sys
import tempfile
import time


def read_tensors(folder):
    import torch

    bytes_ = (pathlib.Path(folder) / "model.safetensors").read_bytes()
    length = int.from_bytes(bytes_[:8], "little")
    header = json.loads(bytes_[8:8 + length])
    found = {}
    for name, row in header.items():
        if name != "__metadata__":
            begin, end = (8 + length + at for at in row["data_offsets"])
            found[name] = torch.frombuffer(bytearray(bytes_[begin:end]), dtype=torch.float32).reshape(row["shape"])
    return found


class Peer:
    """[in, out] weights; norms before attention and before the MLP, both families."""

    def __init__(self, folder):
        import torch

        self.torch, self.f = torch, torch.nn.functional
        self.config = json.loads((pathlib.Path(folder) / "config.json").read_text())
        self.w = read_tensors(folder)
        self.gpt2 = self.config["model_type"] == "gpt2"
        self.layers = self.config["n_layer" if self.gpt2 else "num_hidden_layers"]
        self.heads = self.config["n_head" if self.gpt2 else "num_attention_heads"]
        self.epsilon = self.config["layer_norm_epsilon" if self.gpt2 else "layer_norm_eps"]
        names = (("h.{}.ln_1", "h.{}.attn.c_attn", "h.{}.attn.c_proj", "h.{}.ln_2", "h.{}.mlp.c_fc", "h.{}.mlp.c_proj") if self.gpt2 else
                 tuple(f"layers.{{}}.{part}" for part in ("attention_norm", "qkv", "out", "mlp_norm", "up", "down")))
        self.names = [[name.format(layer) for name in names] for layer in range(self.layers)]

    def linear(self, x, name):
        return self.torch.addmm(self.w[name + ".bias"], x.reshape(-1, x.shape[-1]), self.w[name + ".weight"]).reshape(*x.shape[:-1], -1)

    def norm(self, x, name):
        return self.f.layer_norm(x, x.shape[-1:], self.w[name + ".weight"], self.w[name + ".bias"], self.epsilon)

    def embedded(self, ids):
        torch, tokens = self.torch, ids.shape[1]
        if self.gpt2:
            return self.w["wte.weight"][ids] + self.w["wpe.weight"][:tokens]
        half = self.config["hidden_size"] // 2
        angles = torch.arange(tokens)[:, None] * torch.exp(-math.log(1e4) / (half - 1) * torch.arange(half))
        return self.w["embedding.weight"][ids] + torch.cat([angles.sin(), angles.cos()], 1)

    def attentions(self, texts):
        torch, longest = self.torch, max(map(len, texts))
        ids = torch.tensor([text + [0] * (longest - len(text)) for text in texts])
        lengths = torch.tensor([len(text) for text in texts])
        allowed = (torch.arange(longest) < lengths[:, None])[:, None, None, :]
        if self.gpt2:
            allowed = allowed & torch.ones(longest, longest, dtype=torch.bool).tril()
        bias = torch.zeros(allowed.shape).masked_fill(~allowed, -math.inf)
        x, kept = self.embedded(ids), []
        for layer, (norm, qkv, out, mlp_norm, up, down) in enumerate(self.names):
            h = self.linear(self.norm(x, norm), qkv)
            q, k, v = (part.reshape(*part.shape[:2], self.heads, -1).transpose(1, 2) for part in h.chunk(3, -1))
            weights = torch.softmax(q @ k.transpose(2, 3) / math.sqrt(q.shape[-1]) + bias, -1)
            kept.append(weights)
            residual = f"layers.{layer}.residual"
            x = (self.linear(x, residual) if residual + ".weight" in self.w else x) + self.linear(
                (weights @ v).transpose(1, 2).reshape(*ids.shape, -1), out)
            hidden = self.linear(self.norm(x, mlp_norm), up)
            x = x + self.linear(self.f.gelu(hidden, approximate="tanh") if self.gpt2 else self.f.relu(hidden), down)
        return kept


def gelu_tanh(torch, f):
    """Older versions of PyTorch have no approximate= ; theirs is made of its parts then."""
    try:
        f.gelu(torch.zeros(1), approximate="tanh")
        return None
    except TypeError:
        return lambda x, approximate=None: 0.5 * x * (1 + torch.tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)))


def serve(folder, texts, batch, threads):
    """A line in, a line of JSON out: seconds of all texts. First the mean weight on itself of each head."""
    import torch

    torch.set_num_threads(threads)
    lines = [json.loads(line)["tokens"] for line in pathlib.Path(texts).read_text().splitlines()]
    peer = Peer(folder)
    if own := gelu_tanh(torch, peer.f):
        peer.f.gelu = own
    with torch.inference_mode():
        sums = torch.zeros(peer.layers, peer.heads, dtype=torch.float64)
        for at in range(0, len(lines), batch):
            part = lines[at:at + batch]
            for layer, weights in enumerate(peer.attentions(part)):
                for n, text in enumerate(part):
                    sums[layer] += weights[n].diagonal(dim1=1, dim2=2)[:, :len(text)].double().mean(1)
        print(json.dumps({"name": f"PyTorch {torch.__version__}", "diagonal": (sums / len(lines)).tolist()}), flush=True)
        for _ in sys.stdin:
            start = time.perf_counter()
            for at in range(0, len(lines), batch):
                peer.attentions(lines[at:at + batch])
            print(json.dumps({"seconds": time.perf_counter() - start}), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", metavar="ATTNSCOPE")
    parser.add_argument("model", metavar="MODEL")
    parser.add_argument("--texts", type=int, default=10000)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--python", default="python3", metavar="COMMAND")
    options = parser.parse_args()
    import numpy as np

    with tempfile.TemporaryDirectory() as place:
        texts, out = pathlib.Path(place) / "texts.jsonl", pathlib.Path(place) / "out.npz"
        random = np.random.default_rng(5)
        config = json.loads((pathlib.Path(options.model) / "config.json").read_text())
        lines = [random.integers(6, config["vocab_size"], random.integers(6, 31)).tolist() for _ in range(options.texts)]
        texts.write_text("".join(json.dumps({"tokens": line}) + "\n" for line in lines))
        tokens = sum(map(len, lines))
        source = pathlib.Path(__file__).read_text(encoding="utf-8")
        peer = subprocess.Popen([*shlex.split(options.python), "-c", source, "--serve", options.model, str(texts), str(options.batch),
                                 str(options.threads)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        first = json.loads(peer.stdout.readline())
        ours, other = [], []
        for _ in range(options.rounds):
            done = subprocess.run([options.program, "heads", options.model, "--texts", texts, "--batch", str(options.batch), "-o", out],
                                  capture_output=True, text=True, check=True)
            ours.append(float(re.findall(r"([\d.]+) tokens/s", done.stderr)[-1]))
            peer.stdin.write("\n")
            peer.stdin.flush()
            other.append(tokens / json.loads(peer.stdout.readline())["seconds"])
        peer.stdin.close()
        with np.load(out) as arrays:
            own = arrays["mean"][:, :, list(arrays["measures"]).index("diagonal")]
        error = np.abs(own - np.array(first["diagonal"])).max()
        if not error < 1e-5:
            sys.exit(f"the mean weight of a token on itself differs by {error:.2g}")
        a, b = statistics.median(ours), statistics.median(other)
        print(f"{options.texts:,} texts, {tokens:,} tokens, batches of {options.batch}, {options.threads} threads, median of {options.rounds}: "
              f"attnscope {a:,.0f} tokens/s ({min(ours):,.0f} to {max(ours):,.0f}), {first['name']} {b:,.0f} ({min(other):,.0f} to {max(other):,.0f}); "
              f"{a / b:.2f} times as many")


if "--serve" in sys.argv:
    serve(sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5]))
elif __name__ == "__main__":
    main()
