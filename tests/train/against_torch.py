"""Trains the same model in PyTorch, from the same weights on the same sequences, and compares every weight after 20 steps.

    against_torch.py ATTNSCOPE TRAIN_BATCHES
"""
import json
import math
import pathlib
import subprocess
import sys
import tempfile

try:
    import numpy
    import torch
except ImportError as missing:
    print(f"{missing.name} is not installed")
    sys.exit(77)

STEPS = 20
MOST = 1e-4  # largest difference of a weight

SMALL = {"tokens": 16, "symbols": 8, "layers": 2, "heads": 2, "d_model": 32, "d_k": 8, "batch": 8, "warmup": 5,
         "learning_rate": 1e-3, "steps": STEPS}
CASES = {
    "induction, rotary, AdamW": {"task": "induction", "positions": "rotary"},
    "induction, without scaling, d_k 64": {"task": "induction", "d_k": 64, "scaling": False},
    "copy, MLP, no norm, SGD": {"task": "copy", "mlp": True, "norm": "none", "optimiser": "sgd", "learning_rate": 1e-2},
    "reverse, sinusoidal, MLP, clipped hard": {"task": "reverse", "positions": "sinusoidal", "mlp": True, "clip": 0.1},
    "majority, no positions, d_v 4": {"task": "majority", "positions": "none", "d_v": 4, "weight_decay": 0.1},
}


def arrays_of(path):
    """A .safetensors file of float32."""
    raw = path.read_bytes()
    end = 8 + int.from_bytes(raw[:8], "little")
    header = json.loads(raw[8:end])
    header.pop("__metadata__", None)
    return {name: numpy.frombuffer(raw, numpy.float32, math.prod(entry["shape"]), end + entry["data_offsets"][0])
            .reshape(entry["shape"]) for name, entry in header.items()}


def rotated(x):
    """RoPE of [B, H, T, d], pairs c and c + d/2, base 10000."""
    half = x.shape[-1] // 2
    angle = torch.arange(x.shape[-2], dtype=x.dtype)[:, None] * 10000.0 ** (-torch.arange(half, dtype=x.dtype) / half)
    a, b = x[..., :half], x[..., half:]
    return torch.cat((a * angle.cos() - b * angle.sin(), a * angle.sin() + b * angle.cos()), -1)


def waves(tokens, width, dtype):
    column = torch.arange(width)
    angle = torch.arange(tokens, dtype=dtype)[:, None] / 10000.0 ** ((column - column % 2).to(dtype) / width)
    return torch.where(column % 2 == 0, angle.sin(), angle.cos())


def logits(spec, w, tokens):
    def norm(x, name):
        if spec["norm"] == "none":
            return x
        return torch.nn.functional.layer_norm(x, x.shape[-1:], w[name + ".scale"][0], w[name + ".shift"][0], 1e-5)

    batch, length = tokens.shape
    causal = spec["task"] not in ("reverse", "sort", "majority")
    x = w["embedding"][tokens]
    if spec["positions"] == "learned":
        x = x + w["positions"]
    if spec["positions"] == "sinusoidal":
        x = x + waves(length, spec["d_model"], x.dtype)
    for n in range(spec["layers"]):
        at = f"layers.{n}."
        y = norm(x, at + "norm")
        q, k, v = ((y @ w[at + name]).reshape(batch, length, spec["heads"], -1).transpose(1, 2) for name in ("w_q", "w_k", "w_v"))
        if spec["positions"] == "rotary":
            q, k = rotated(q), rotated(k)
        scores = q @ k.transpose(-1, -2)
        if spec["scaling"]:
            scores = scores / math.sqrt(spec["d_k"])
        if causal:
            scores = scores.masked_fill(torch.ones(length, length, dtype=torch.bool).triu(1), -math.inf)
        x = x + (scores.softmax(-1) @ v).transpose(1, 2).reshape(batch, length, -1) @ w[at + "w_o"]
        if spec["mlp"]:
            up = norm(x, at + "mlp_norm") @ w[at + "w_up"] + w[at + "b_up"]
            active = 0.5 * up * (1 + torch.tanh(math.sqrt(2 / math.pi) * (up + 0.044715 * up ** 3)))
            x = x + active @ w[at + "w_down"] + w[at + "b_down"]
    return norm(x, "norm") @ w["w_out"]


def trained(spec, first, data):
    w = {name: torch.tensor(values, dtype=torch.float64, requires_grad=True) for name, values in first.items()}

    def decays(name):
        return name in ("embedding", "positions", "w_out") or name.split(".")[-1].startswith("w_")
    groups = [{"params": [p for name, p in w.items() if decays(name) == on], "weight_decay": spec["weight_decay"] * on}
              for on in (True, False)]
    if spec["optimiser"] == "adamw":
        optimiser = torch.optim.AdamW(groups, lr=1.0, betas=(spec["beta1"], spec["beta2"]), eps=1e-8)
    else:
        optimiser = torch.optim.SGD(groups, lr=1.0, momentum=spec["momentum"])
    losses = []
    for step in range(STEPS):
        for group in optimiser.param_groups:
            group["lr"] = spec["learning_rate"] * min(1.0, (step + 1) / spec["warmup"])
        tokens = torch.tensor(data["tokens"][step].astype(numpy.int64))
        targets = torch.tensor(data["targets"][step].astype(numpy.int64))
        loss = torch.nn.functional.cross_entropy(logits(spec, w, tokens).flatten(0, 1), targets.flatten(), ignore_index=-1)
        optimiser.zero_grad()
        loss.backward()
        if spec["clip"] > 0:
            torch.nn.utils.clip_grad_norm_(list(w.values()), spec["clip"])
        optimiser.step()
        losses.append(loss.item())
    return {name: p.detach().numpy() for name, p in w.items()}, losses


def main(binary, batches):
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for n, (title, changes) in enumerate(CASES.items()):
            path, run, data = folder / f"{n}.json", folder / f"run{n}", folder / f"{n}.npz"
            path.write_text(json.dumps(SMALL | changes))
            subprocess.run([binary, "train", path, "-o", run, "--every", str(STEPS)], check=True, capture_output=True)
            subprocess.run([batches, path, str(STEPS), data], check=True)
            saved = json.loads((run / "run.json").read_text())
            def weights(step):
                arrays = arrays_of(run / f"step-{step:07}.safetensors")
                return {name: arrays[name] for name in saved["matrices"]}
            first, last = weights(0), weights(STEPS)
            theirs, losses = trained(saved["spec"], first, numpy.load(data))
            worst = max(numpy.abs(last[name] - theirs[name]).max() for name in last)
            moved = max(numpy.abs(last[name] - first[name]).max() for name in last)
            loss = max(abs(a["loss"] - b) for a, b in zip(saved["records"], losses))
            fine = worst <= MOST and moved > 20 * MOST and loss <= MOST
            failed |= not fine
            print(f"{'ok' if fine else 'FAILED'}: {title}: weights moved by {moved:.2g}, differ by {worst:.1e}; losses by {loss:.1e}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2]))
