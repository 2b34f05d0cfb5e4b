"""Steps a second of `attnscope train` and of PyTorch on the same model, each alone while it runs, in turns.

    training.py ATTNSCOPE [--steps 60] [--rounds 3] [--python "COMMAND"]      (a python3 with torch)

Induction, 2 layers, d_model 128, 4 heads of 32, 64 tokens, batch 32, no MLP. PyTorch: scaled_dot_product_attention where it
has it, fused projections, AdamW (foreach where it has it), the quickest of 1 and all threads, float32,
and the environment of QUICK.
"""
import argparse
import json
import math
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

SPEC = {"task": "induction", "steps": 60}


def ours(binary, steps):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "spec.json"
        path.write_text(json.dumps(SPEC | {"steps": steps}))
        done = subprocess.run([binary, "train", path], check=True, capture_output=True, text=True)
    return float(re.findall(r"([\d.]+) steps/s", done.stderr)[-1])


TORCH = """
import math, sys, time, torch
steps, threads = int(sys.argv[1]), int(sys.argv[2])
torch.set_num_threads(threads)
T, V, D, H, K, B, L = 64, 32, 128, 4, 32, 32, 2
torch.manual_seed(1)
def matrix(r, c): return (torch.randn(r, c) / math.sqrt(r)).requires_grad_()
E, P, out = matrix(V, D), matrix(T, D), matrix(D, V)
norms = [torch.nn.LayerNorm(D) for _ in range(L + 1)]
layers = [(matrix(D, 3 * H * K), matrix(H * K, D)) for _ in range(L)]
parameters = [E, P, out] + [p for n in norms for p in n.parameters()] + [m for l in layers for m in l]
try:
    optimiser = torch.optim.AdamW(parameters, lr=3e-3, foreach=True)
except TypeError:
    optimiser = torch.optim.AdamW(parameters, lr=3e-3)
mask = torch.ones(T, T, dtype=torch.bool).triu(1)
attend = getattr(torch.nn.functional, "scaled_dot_product_attention", None)
def step():
    tokens = torch.randint(0, V, (B, T))
    x = E[tokens] + P
    for n, (qkv, o) in enumerate(layers):
        q, k, v = (norms[n](x) @ qkv).view(B, T, 3, H, K).permute(2, 0, 3, 1, 4)
        if attend: z = attend(q, k, v, is_causal=True)
        else: z = (q @ k.transpose(-1, -2) / math.sqrt(K)).masked_fill(mask, -math.inf).softmax(-1) @ v
        x = x + z.transpose(1, 2).reshape(B, T, H * K) @ o
    loss = torch.nn.functional.cross_entropy((norms[L](x) @ out)[:, T // 2:].flatten(0, 1), tokens[:, T // 2:].flatten())
    optimiser.zero_grad(set_to_none=True)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(parameters, 1.0)
    optimiser.step()
for _ in range(5): step()
begin = time.perf_counter()
for _ in range(steps): step()
print(steps / (time.perf_counter() - begin), torch.__version__)
"""


# Threads that wait asleep, and an allocator that keeps what it got: without them PyTorch loses up to four fifths of its speed
# on two cores. Its BLAS must be OpenBLAS or MKL: with the reference BLAS it is ten times slower.
QUICK = {"OMP_WAIT_POLICY": "PASSIVE", "MALLOC_MMAP_THRESHOLD_": "1000000000", "MALLOC_TRIM_THRESHOLD_": "4000000000",
         "MALLOC_TOP_PAD_": "268435456"}


def theirs(python, steps, threads):
    done = subprocess.run([*python, "-c", TORCH, str(steps), str(threads)], check=True, capture_output=True, text=True,
                          env=os.environ | QUICK)
    return float(done.stdout.split()[0]), done.stdout.split()[1]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("binary")
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--python", default=sys.executable)
    given = parser.parse_args()
    threads = sorted({1, os.cpu_count() or 1})
    mine, best, ratios, version = [], [], [], ""
    for _ in range(given.rounds):
        mine.append(ours(given.binary, given.steps))
        speeds = [theirs(given.python.split(), given.steps, n) for n in threads]
        version = speeds[0][1]
        best.append(max(speed for speed, _ in speeds))
        ratios.append(mine[-1] / best[-1])
    print(f"attnscope {statistics.median(mine):.1f} steps/s, PyTorch {version} {statistics.median(best):.1f} steps/s, "
          f"ratio {statistics.median(ratios):.2f} ({min(ratios):.2f}–{max(ratios):.2f})")


if __name__ == "__main__":
    main()
