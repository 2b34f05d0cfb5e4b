#!/usr/bin/env python3
"""The gl backend's fused kernel beside PyTorch's fp32 scaled_dot_product_attention on the same card, pair by pair.

    gl_bench.py ATTN_GL_BENCH [H,N,d | H,N,d,causal] ...

Each pair runs within seconds: the card's multiply-add rate probed, our kernel, then PyTorch (where it is installed with
CUDA; TF32 is off). Prints a table in Markdown. OpenGL runs through EGL's device platform: no display is needed. Fractions
are of the rate probed with our own compute shader.
"""
import json
import statistics
import subprocess
import sys
import time

SHAPES = ["8,1024,64", "8,4096,64", "8,8192,64", "8,8192,64,causal", "8,8192,128"]
SECONDS, RUNS = 0.5, 5


def ours(binary, shape):
    run = subprocess.run([binary, shape], capture_output=True, text=True)
    if run.returncode != 0:
        sys.exit(run.stderr.strip())
    return json.loads(run.stdout)


def torch_ms(row):
    """Median milliseconds of PyTorch on the same shape, and the card's name; None without PyTorch or CUDA."""
    try:
        import torch
    except ImportError:
        return None
    if not torch.cuda.is_available():
        return None
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    shape = (1, row["H"], row["N"], row["d"])
    q, k, v = (torch.rand(shape, device="cuda", dtype=torch.float32) * 3.4 - 1.7 for _ in range(3))
    attend = lambda: torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=row["causal"])
    times = []
    for run in range(1000):
        torch.cuda.synchronize()
        start = time.perf_counter()
        attend()
        torch.cuda.synchronize()
        if run >= 3:  # the first ones compile and choose
            times.append((time.perf_counter() - start) * 1e3)
        if len(times) >= RUNS and sum(times) > SECONDS * 1e3:
            break
    return statistics.median(times), torch.cuda.get_device_name(), torch.__version__


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__.strip())
    binary, shapes = sys.argv[1], sys.argv[2:] or SHAPES
    print("| card | H, N, d | ms | TF/s | of probed rate | worst error | PyTorch ms | PyTorch ÷ ours |")
    print("|---|---|---|---|---|---|---|---|")
    for shape in shapes:
        row = ours(binary, shape)
        pair = torch_ms(row)
        peer = f"{pair[0]:.3f} | {pair[0] / row['ms']:.2f}" if pair else "not here | "
        causal = " causal" if row["causal"] else ""
        print(
            f"| {row['card']} | {row['H']}, {row['N']}, {row['d']}{causal} | {row['ms']:.3f} | {row['gflops'] / 1e3:.3f} "
            f"| {row['fraction']:.3f} of {row['peak_gflops'] / 1e3:.1f} TF/s | {row['error']:.1e} | {peer} |",
            flush=True,
        )
        if pair:
            print(f"PyTorch {pair[2]} on {pair[1]}", file=sys.stderr)


if __name__ == "__main__":
    main()
