#!/usr/bin/env python3
"""A whole GPT-2 of 124 million parameters (random weights) beside PyTorch: time of one text, memory, the same logits.

    models.py ATTN_MODEL_BENCH [--threads N] [--rounds N] [--tokens N ...] [--steps N] [--python COMMAND] [--bf16]

Builds 12 layers, 12 heads, width 768, vocabulary 50,257 from a seed, as a folder that attnscope reads and as PyTorch's
tensors (torch.nn.functional: layer_norm, linear, scaled_dot_product_attention, gelu; no gradients). Each is a process of
its own and is stopped while the other runs; of PyTorch every setting of peers.py's is tried first and the quickest is
taken. The largest logit of the last token and its place must agree. --bf16: the folder holds bfloat16 (memory alone). --steps: after each text so many tokens one by one against a
cache of K and V, milliseconds a token; PyTorch has buffers for all of them, softmax(q Kᵀ / √d) V.
--python: see peers.py. Needs numpy here and there.
"""
import argparse
import json
import os
import pathlib
import shlex
import statistics
import sys
import tempfile

LAYERS, HEADS, WIDTH, VOCABULARY, POSITIONS = 12, 12, 768, 50257, 1024


def weights():
    """GPT-2's names, weights [in, out] as it stores them, one after the other from one seed."""
    import numpy

    random = numpy.random.default_rng(1)

    def normal(*shape):
        return random.standard_normal(shape, dtype=numpy.float32) * numpy.float32(0.02)

    found = {"wte.weight": normal(VOCABULARY, WIDTH), "wpe.weight": normal(POSITIONS, WIDTH)}
    for layer in range(LAYERS):
        for name, rows, columns in (("attn.c_attn", WIDTH, 3 * WIDTH), ("attn.c_proj", WIDTH, WIDTH),
                                    ("mlp.c_fc", WIDTH, 4 * WIDTH), ("mlp.c_proj", 4 * WIDTH, WIDTH)):
            found[f"h.{layer}.{name}.weight"] = normal(rows, columns)
            found[f"h.{layer}.{name}.bias"] = normal(columns)
        for name in ("ln_1", "ln_2"):
            found[f"h.{layer}.{name}.weight"] = 1 + normal(WIDTH)
            found[f"h.{layer}.{name}.bias"] = normal(WIDTH)
    found["ln_f.weight"], found["ln_f.bias"] = 1 + normal(WIDTH), normal(WIDTH)
    return found


# ---- the peer


class Gpt2:
    def __init__(self, threads, kernel):
        import torch

        torch.set_num_threads(threads)
        self.torch, self.f = torch, torch.nn.functional
        self.kernel = kernel
        self.w = {name: torch.from_numpy(value) for name, value in weights().items()}
        for name in list(self.w):  # torch.nn.Linear's [out, in]
            if ".c_" in name and name.endswith(".weight"):
                self.w[name] = self.w[name].T.contiguous()

    def norm(self, x, name):
        return self.f.layer_norm(x, (WIDTH,), self.w[name + ".weight"], self.w[name + ".bias"], 1e-5)

    def linear(self, x, name):
        return self.f.linear(x, self.w[name + ".weight"], self.w[name + ".bias"])

    def run(self, count):
        """Logits of the last of `count` tokens."""
        torch = self.torch
        backend = torch.nn.attention.SDPBackend
        kernel = {"flash": backend.FLASH_ATTENTION, "math": backend.MATH}[self.kernel]
        with torch.inference_mode(), torch.nn.attention.sdpa_kernel(kernel):
            x = self.w["wte.weight"][7 * torch.arange(count)] + self.w["wpe.weight"][:count]
            for layer in range(LAYERS):
                at = f"h.{layer}."
                qkv = self.linear(self.norm(x, at + "ln_1"), at + "attn.c_attn").view(count, 3, HEADS, WIDTH // HEADS)
                q, k, v = (part.transpose(0, 1)[None] for part in qkv.unbind(1))
                context = self.f.scaled_dot_product_attention(q, k, v, is_causal=True)
                x = x + self.linear(context[0].transpose(0, 1).reshape(count, WIDTH), at + "attn.c_proj")
                hidden = self.f.gelu(self.linear(self.norm(x, at + "ln_2"), at + "mlp.c_fc"), approximate="tanh")
                x = x + self.linear(hidden, at + "mlp.c_proj")
            return self.f.linear(self.norm(x, "ln_f"), self.w["wte.weight"])[-1]


    def read_on(self, cache, first, count):
        """Logits of the last of the tokens first … first + count, those before are in the cache."""
        torch, end = self.torch, first + count
        at = torch.arange(first, end)
        x = self.w["wte.weight"][7 * at] + self.w["wpe.weight"][first:end]
        hidden = torch.arange(end)[None, :] > at[:, None]
        for layer in range(LAYERS):
            name = f"h.{layer}."
            qkv = self.linear(self.norm(x, name + "ln_1"), name + "attn.c_attn").view(count, 3, HEADS, WIDTH // HEADS)
            q, k, v = (part.transpose(0, 1) for part in qkv.unbind(1))
            cache[layer][0][:, first:end], cache[layer][1][:, first:end] = k, v
            scores = q @ cache[layer][0][:, :end].transpose(1, 2) / (WIDTH // HEADS) ** 0.5
            if count > 1:
                scores = scores.masked_fill(hidden, float("-inf"))
            context = scores.softmax(-1) @ cache[layer][1][:, :end]
            x = x + self.linear(context.transpose(0, 1).reshape(count, WIDTH), name + "attn.c_proj")
            wide = self.f.gelu(self.linear(self.norm(x, name + "ln_2"), name + "mlp.c_fc"), approximate="tanh")
            x = x + self.linear(wide, name + "mlp.c_proj")
        return self.f.linear(self.norm(x[-1:], "ln_f"), self.w["wte.weight"])[-1]

    def generate(self, count, steps):
        """Logits of the last token, and milliseconds of one of `steps`."""
        import time

        torch = self.torch
        with torch.inference_mode():
            cache = [torch.empty(2, HEADS, count + steps, WIDTH // HEADS) for _ in range(LAYERS)]
            self.read_on(cache, 0, count)
            start = time.perf_counter()
            for n in range(steps):
                logits = self.read_on(cache, count + n, 1)
            return logits, (time.perf_counter() - start) * 1e3 / steps


def memory_mib(key):
    with open("/proc/self/status", encoding="ascii") as file:
        return next(int(line.split()[1]) / 1024 for line in file if line.startswith(key + ":"))


def serve(threads, kernel):
    """Tokens and steps in, a line of JSON out."""
    import time

    model = Gpt2(threads, kernel)
    print(json.dumps({"name": f"PyTorch {model.torch.__version__.split('+')[0]} ({kernel} kernel)"}), flush=True)
    for line in sys.stdin:
        start = time.perf_counter()
        count, steps = map(int, line.split())
        if steps:
            logits, ms = model.generate(count, steps)
        else:
            logits = model.run(count)
            ms = (time.perf_counter() - start) * 1e3
        print(json.dumps({"ms": ms, "largest": float(logits.max()), "at": int(logits.argmax()),
                          "rss_mib": memory_mib("VmRSS"), "peak_mib": memory_mib("VmHWM")}), flush=True)


# ---- here


def write_model(folder, bf16):
    """Returns MiB of the weights."""
    import numpy

    config = {"model_type": "gpt2", "n_layer": LAYERS, "n_head": HEADS, "n_embd": WIDTH, "vocab_size": VOCABULARY,
              "n_positions": POSITIONS, "layer_norm_epsilon": 1e-5, "activation_function": "gelu_new"}
    (folder / "config.json").write_text(json.dumps(config))
    header, blobs, at = {}, [], 0
    for name, value in weights().items():
        blob = (value.view(numpy.uint32) >> 16).astype(numpy.uint16).tobytes() if bf16 else value.tobytes()
        header[name] = {"dtype": "BF16" if bf16 else "F32", "shape": value.shape, "data_offsets": [at, at + len(blob)]}
        at += len(blob)
        blobs.append(blob)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(folder / "model.safetensors", "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        file.writelines(blobs)
    return at / 2**20


def start_peer(python, threads, settings):
    from peers import Program

    environment = {name: value for name, value in settings.items() if name.isupper()}
    source = pathlib.Path(__file__).read_text(encoding="utf-8")
    peer = Program([*shlex.split(python), "-c", source, "--serve", settings["kernel"], str(threads)], environment)
    peer.name = peer.read()["name"]
    return peer


def quickest_peer(python, threads, tokens, steps):
    import signal

    from peers import SETTINGS, words_of

    tried = []
    for settings in SETTINGS["PyTorch"]:
        if steps and settings["kernel"] != "math":
            continue
        peer = start_peer(python, threads, settings)
        peer.run(f"{tokens} {steps}")
        found = statistics.median(peer.run(f"{tokens} {steps}")["ms"] for _ in range(5))
        print(f"{peer.name}, {words_of(settings)}: {found:.1f} ms", file=sys.stderr, flush=True)
        peer.end()
        tried.append((found, settings))
    best = min(tried, key=lambda each: each[0])[1]
    peer = start_peer(python, threads, best)
    peer.signal(signal.SIGSTOP)
    peer.note = f"{peer.name}: {words_of(best)}, the quickest of {len(tried)} settings."
    return peer


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bench", metavar="ATTN_MODEL_BENCH")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--tokens", type=int, nargs="+", default=[16, 64, 256])
    parser.add_argument("--steps", type=int, default=0)
    parser.add_argument("--python", default="python3", metavar="COMMAND")
    parser.add_argument("--bf16", action="store_true")
    options = parser.parse_args()
    from peers import Program, markdown, ratio_words

    with tempfile.TemporaryDirectory() as made:
        held = write_model(pathlib.Path(made), options.bf16)
        ours = Program([options.bench, made, str(options.threads)])
        opened = ours.read()
        print(f"weights {held:.0f} MiB; opened in {opened['open_ms']:.0f} ms, {opened['rss_mib']:.0f} MiB resident "
              f"({opened['peak_mib']:.0f} at its peak)")
        peers = [] if options.bf16 else [quickest_peer(options.python, options.threads, 64, options.steps)]
        rows = []
        for tokens in options.tokens:
            for program in (ours, *peers):
                program.run(f"{tokens} {options.steps}")
            runs = [[program.run(f"{tokens} {options.steps}") for program in (ours, *peers)] for _ in range(options.rounds)]
            own = [run[0]["ms"] for run in runs]
            row = [f"{tokens}", f"{statistics.median(own):.1f}", f"{runs[-1][0]['rss_mib']:.0f}", f"{runs[-1][0]['peak_mib']:.0f}"]
            for run in runs[:1] if peers else []:
                if run[0]["at"] != run[1]["at"] or abs(run[0]["largest"] - run[1]["largest"]) > 1e-4:
                    sys.exit(f"the logits differ: {run[0]} and {run[1]}")
            if peers:
                other = [run[1]["ms"] for run in runs]
                row += [f"{statistics.median(other):.1f}", ratio_words(own, other), f"{runs[-1][1]['peak_mib']:.0f}"]
            rows.append(row)
        for program in (ours, *peers):
            program.end()
    header = ["tokens", "attnscope ms", "MiB", "peak MiB"]
    print("".join(peer.note + "\n" for peer in peers))
    print(markdown(header + (["PyTorch ms", "÷ attnscope", "peak MiB"] if peers else []), rows))


if __name__ == "__main__":
    serve(int(sys.argv[3]), sys.argv[2]) if "--serve" in sys.argv else main()
