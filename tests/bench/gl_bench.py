#!/usr/bin/env python3
"""The gl backend's fused kernel beside PyTorch's fp32 scaled_dot_product_attention on the same card, pair by pair.

    gl_bench.py ATTN_GL_BENCH [H,N,d | H,N,d,causal] ...

Each pair runs within seconds: the card's multiply-add rate probed, our kernel, then PyTorch (where it is installed with
CUDA; TF32 is off). Prints a table in Markdown; what is missing, and why, on stderr. OpenGL runs through EGL's device
platform: no display is needed. Fractions are of the rate probed with our own compute shader.

On a bare Debian with an NVIDIA card: apt install nvidia-driver-libs libegl1 (in a container: start it with
NVIDIA_DRIVER_CAPABILITIES=all), pip install torch, cmake -DATTN_BENCH=ON.
"""
import ctypes
import glob
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

SHAPES = ["8,1024,64", "8,4096,64", "8,8192,64", "8,8192,64,causal", "8,8192,128"]
SECONDS, RUNS = 0.5, 5


def note(words):
    print(f"gl_bench.py: {words}", file=sys.stderr)


def nvidia_environment():
    """The environment for our program. libglvnd finds NVIDIA's EGL by a JSON file, which containers often lack: then one
    is written here. Says what else is missing."""
    env = dict(os.environ)
    if not shutil.which("nvidia-smi") or subprocess.run(["nvidia-smi", "-L"], capture_output=True).returncode != 0:
        return env  # no NVIDIA card: Mesa's drivers need nothing
    try:
        ctypes.CDLL("libEGL_nvidia.so.0")
    except OSError as error:
        note(
            f"there is an NVIDIA card, but not its OpenGL ({error}): install libegl-nvidia0 of the driver's version, or "
            "start the container with NVIDIA_DRIVER_CAPABILITIES=all"
        )
        return env
    folders = ["/usr/share/glvnd/egl_vendor.d", "/etc/glvnd/egl_vendor.d"]
    named = "__EGL_VENDOR_LIBRARY_FILENAMES" in env or "__EGL_VENDOR_LIBRARY_DIRS" in env
    if not named and not any(glob.glob(folder + "/*nvidia*.json") for folder in folders):
        with tempfile.NamedTemporaryFile("w", suffix=".json", prefix="nvidia_egl_", delete=False) as file:
            json.dump({"file_format_version": "1.0.0", "ICD": {"library_path": "libEGL_nvidia.so.0"}}, file)
        env["__EGL_VENDOR_LIBRARY_FILENAMES"] = file.name
        note(f"no EGL vendor file names NVIDIA's library: using {file.name}")
    return env


def ours(binary, shape, env):
    run = subprocess.run([binary, shape], capture_output=True, text=True, env=env)
    if run.returncode != 0:
        sys.exit(run.stderr.strip() or f"{binary} ended with {run.returncode}")
    return json.loads(run.stdout)


def load_torch():
    """PyTorch with CUDA, or None and why."""
    try:
        import torch
    except ImportError:
        note("PyTorch is not installed: there is nothing to compare with")
        return None
    if not torch.cuda.is_available():
        note(f"PyTorch {torch.__version__} finds no CUDA card: there is nothing to compare with")
        return None
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    note(f"PyTorch {torch.__version__} on {torch.cuda.get_device_name()}")
    return torch


def torch_ms(torch, row):
    """Median milliseconds of PyTorch on the same shape."""
    shape = (1, row["H"], row["N"], row["d"])
    q, k, v = (torch.rand(shape, device="cuda", dtype=torch.float32) * 3.4 - 1.7 for _ in range(3))
    times = []
    for run in range(1000):
        torch.cuda.synchronize()
        start = time.perf_counter()
        torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=row["causal"])
        torch.cuda.synchronize()
        if run >= 3:  # the first ones compile and choose
            times.append((time.perf_counter() - start) * 1e3)
        if len(times) >= RUNS and sum(times) > SECONDS * 1e3:
            break
    return statistics.median(times)


def line(row, peer_ms):
    causal = " causal" if row["causal"] else ""
    peer = f"{peer_ms:.3f} | {peer_ms / row['ms']:.2f}" if peer_ms else "not here | "
    return (
        f"| {row['card']} | {row['H']}, {row['N']}, {row['d']}{causal} | {row['ms']:.3f} | {row['gflops'] / 1e3:.3f} "
        f"| {row['fraction']:.3f} of {row['peak_gflops'] / 1e3:.1f} TF/s | {row['error']:.1e} | {peer} |"
    )


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__.strip())
    binary, shapes = sys.argv[1], sys.argv[2:] or SHAPES
    env = nvidia_environment()
    torch = load_torch()
    for n, shape in enumerate(shapes):
        row = ours(binary, shape, env)
        if n == 0:
            print("| card | H, N, d | ms | TF/s | of probed rate | worst error | PyTorch ms | PyTorch ÷ ours |")
            print("|---|---|---|---|---|---|---|---|")
        if torch and torch.cuda.get_device_name().removeprefix("NVIDIA ") not in row["card"]:
            note(f"OpenGL computes on {row['card']}, PyTorch on {torch.cuda.get_device_name()}: not one card")
        print(line(row, torch_ms(torch, row) if torch else None), flush=True)


if __name__ == "__main__":
    main()
