#!/usr/bin/env python3
"""Logits of a GGUF model against llama.cpp's on the same file, and on its numbers in float32.

    against_llama_cpp.py PROGRAM         PROGRAM: model_stages. Skips where llama.cpp is not installed (Debian: llama.cpp, python3-gguf).
    against_llama_cpp.py --llama FOLDER  writes FOLDER/llama.npz alone, where PROGRAM runs on another system
    against_llama_cpp.py --compare FOLDER  of FOLDER/llama.npz and the logits that PROGRAM wrote to FOLDER/ours.npz

llama.cpp rounds the activations of a product with a quantised matrix to 8 bits. Its error is the distance of its logits on
q4_k_m.gguf from those on wide.gguf, the same numbers in float32. Ours must be within a thousandth of that from the latter.
"""

import json
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import urllib.request

import numpy as np

TOKENS = [1, 5, 9, 300, 17, 31000, 4, 4, 258, 12, 77, 1024, 2048, 9999, 3, 8]


def logits_of_llama(file, vocabulary=32000):
    """log softmax after the tokens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = subprocess.Popen(["llama-server", "-m", file, "-c", "64", "-t", "2", "--port", str(port), "-fa", "off", "-ctk", "f32", "-ctv", "f32",
                               "--no-warmup", "-np", "1"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        ready = any("listening on http" in line for line in server.stderr)  # after the model was read
        assert ready, "llama-server ended before it listened"
        threading.Thread(target=server.stderr.read, daemon=True).start()  # a full pipe would stop it
        request = {"prompt": TOKENS, "n_predict": 1, "temperature": 0, "n_probs": vocabulary, "cache_prompt": False}
        answer = json.load(urllib.request.urlopen(urllib.request.Request(
            f"http://127.0.0.1:{port}/completion", json.dumps(request).encode(), {"Content-Type": "application/json"})))
    finally:
        server.terminate()
        server.wait()
    found = np.full(vocabulary, np.nan)
    for row in answer["completion_probabilities"][0]["top_logprobs"]:
        found[row["id"]] = row["logprob"]
    return found


def log_softmax(logits):
    logits = logits.astype(np.float64)
    largest = logits.max()
    return logits - largest - np.log(np.exp(logits - largest).sum())


def compare(llama, ours):
    wide, quantised, mine = llama["wide"], llama["q4_k_m"], log_softmax(ours["logits"][-1])
    known = ~(np.isnan(wide) | np.isnan(quantised))
    assert known.sum() > 31000, known.sum()
    distance = lambda a, b: (float(np.abs(a - b)[known].max()), float(np.sqrt(np.mean((a - b)[known] ** 2))))
    rows = {"llama.cpp, q4_k_m against wide": distance(quantised, wide), "attnscope, q4_k_m against llama.cpp, wide": distance(mine, wide),
            "attnscope against llama.cpp, both q4_k_m": distance(mine, quantised)}
    for name, (most, root) in rows.items():
        print(f"{name}: largest difference {most:.2e}, root mean square {root:.2e}")
    print(f"standard deviation of the logits: {mine.std():.3f}; {known.sum()} tokens compared")
    error, own, _ = rows.values()
    return 0 if own[0] <= error[0] / 1000 else 1


def write_llama(folder):
    np.savez(folder / "llama.npz", **{name: logits_of_llama(folder / f"{name}.gguf") for name in ("wide", "q4_k_m")})


if __name__ == "__main__":
    if not shutil.which("llama-server") and sys.argv[1] != "--compare":
        print("skipped: llama.cpp is not installed")
        sys.exit(77)
    if sys.argv[1] == "--llama":
        write_llama(pathlib.Path(sys.argv[2]))
    elif sys.argv[1] == "--compare":
        folder = pathlib.Path(sys.argv[2])
        sys.exit(compare(np.load(folder / "llama.npz"), np.load(folder / "ours.npz")))
    else:
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            subprocess.run([sys.executable, pathlib.Path(__file__).parent / "make_llama_gguf.py", folder], check=True)
            write_llama(folder)
            subprocess.run([sys.argv[1], folder / "q4_k_m.gguf", ",".join(map(str, TOKENS)), folder / "ours.npz"], check=True)
            sys.exit(compare(np.load(folder / "llama.npz"), np.load(folder / "ours.npz")))
