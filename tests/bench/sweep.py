#!/usr/bin/env python3
"""A sweep over every head beside as many runs, in turns: medians of ROUNDS, and their ratio.

    sweep.py ATTN_MODEL_BENCH FOLDER [THREADS [TOKENS [ROUNDS]]]
"""
import json
import pathlib
import statistics
import subprocess
import sys

program, folder = sys.argv[1:3]
threads, tokens, rounds = (int(word) for word in (sys.argv[3:] + ["2", "16", "5"][len(sys.argv) - 3:]))
config = json.loads((pathlib.Path(folder) / "config.json").read_text())
heads = config.get("n_layer", config.get("num_hidden_layers")) * config.get("n_head", config.get("num_attention_heads"))
server = subprocess.Popen([program, folder, str(threads)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
server.stdout.readline()


def ms(steps):
    print(tokens, steps, file=server.stdin, flush=True)
    return json.loads(server.stdout.readline())["ms"]


ms(0)
runs, sweeps = [], []
for _ in range(rounds):
    runs += [ms(0) for _ in range(5)]
    sweeps.append(ms(-1))
run, sweep = statistics.median(runs), statistics.median(sweeps)
print(f"{tokens} tokens, {threads} threads: a run {run:.1f} ms, a sweep of {heads} heads {sweep:.0f} ms, "
      f"{sweep / run:.1f} runs, {sweep / run / heads:.3f} of {heads}")
server.stdin.close()
server.wait()
