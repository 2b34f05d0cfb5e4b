#!/usr/bin/env python3
"""Writes tests/goldens/kinds: every kind of attention as PyTorch computes it in float64, gradients by autograd.

    /usr/bin/python3 tests/goldens/make_kinds.py      (needs Debian's python3-torch)

A file holds inputs rounded to float32, `options` (JSON) and the results of those rounded inputs. Names as
tests/oracle/check_oracle.py reads them: `output` is the context. Each formula is written here anew, from its source.
"""
import json
import math
import pathlib

import numpy as np
import torch

FOLDER = pathlib.Path(__file__).parent / "kinds"
torch.set_default_dtype(torch.float64)


def draw(generator, *shape):
    return torch.randn(*shape, generator=generator).float().double()


def rotated(x, positions, options):
    """Su et al. 2021: pair c turns by position * base^(-2c/dims)."""
    if "rope" not in options:
        return x
    dims = options.get("rope_dims", x.shape[-1])
    frequencies = options.get("rope_base", 10000.0) ** (-2.0 * torch.arange(dims // 2) / dims)
    angles = positions[:, None] * frequencies[None, :]
    turned, rest = x[..., :dims], x[..., dims:]
    if options["rope"] == "half":
        a, b = turned[..., : dims // 2], turned[..., dims // 2 :]
    else:
        a, b = turned[..., 0::2], turned[..., 1::2]
    new_a, new_b = a * angles.cos() - b * angles.sin(), a * angles.sin() + b * angles.cos()
    if options["rope"] == "half":
        turned = torch.cat([new_a, new_b], -1)
    else:
        turned = torch.stack([new_a, new_b], -1).flatten(-2)
    return torch.cat([turned, rest], -1)


def slopes(heads):
    """Press et al. 2022, their published code."""
    start = 2.0 ** (-(2.0 ** -(math.log2(heads) - 3)))
    if math.log2(heads).is_integer():
        return [start ** (h + 1) for h in range(heads)]
    closest = 2 ** math.floor(math.log2(heads))
    return slopes(closest) + slopes(2 * closest)[0::2][: heads - closest]


def allowed(options, mask, tq, tk, offset, batch):
    i = torch.arange(tq)[:, None] + offset
    j = torch.arange(tk)[None, :]
    inside = torch.ones(tq, tk, dtype=torch.bool)
    left = options.get("window_left", options.get("window"))
    right = options.get("window_right", options.get("window"))
    if left is not None:
        inside &= i - j <= left
    if right is not None:
        inside &= j - i <= right
    tokens = options.get("global_tokens", 0)
    inside |= (i < tokens) | (j < tokens)
    if "causal" in options:
        inside &= j <= i
    if "block" in options:
        inside &= (i // options["block"]) == (j // options["block"])
    inside = inside.expand(batch, 1, tq, tk).clone()
    for b, valid in enumerate(options.get("padding", [])):
        inside[b, :, :, valid:] = False
    return inside if mask is None else inside & mask


def scores_of(q, k, options, params):
    kind = options.get("score", "dot")
    if kind == "cosine":
        return (q / q.norm(dim=-1, keepdim=True)) @ (k / k.norm(dim=-1, keepdim=True)).transpose(-1, -2)
    if kind == "general":
        return q @ params["W_score"] @ k.transpose(-1, -2)
    if kind == "additive":
        hidden = (q @ params["W_score_q"])[..., :, None, :] + (k @ params["W_score_k"])[..., None, :, :]
        return torch.tanh(hidden) @ params["w_score"]
    return q @ k.transpose(-1, -2)


def write(name, options, seed, batch=2, heads=4, kv_heads=2, tq=9, tk=9, d_k=8, d_v=6, mask=None, params=None):
    generator = torch.Generator().manual_seed(seed)
    inputs = {
        "Q": draw(generator, batch, heads, tq, d_k),
        "K": draw(generator, batch, kv_heads, tk, d_k),
        "V": draw(generator, batch, kv_heads, tk, d_v),
    }
    inputs |= {key: draw(generator, *shape) for key, shape in (params or {}).items()}
    for tensor in inputs.values():
        tensor.requires_grad_(True)
    d_o = draw(generator, batch, heads, tq, d_v)
    bottom_right = options.get("causal") == "bottom-right"
    offset = options.get("query_offset", tk - tq if bottom_right else 0)

    repeat = heads // kv_heads
    q_rot = rotated(inputs["Q"], torch.arange(tq) + offset, options)
    k_rot = rotated(inputs["K"], torch.arange(tk), options)
    scores = scores_of(q_rot, k_rot.repeat_interleave(repeat, 1), options, inputs)
    scale = options.get("scale", "sqrt_dk")
    factor = {"sqrt_dk": d_k**-0.5, "none": 1.0}.get(scale, scale) / options.get("temperature", 1.0)
    scaled = scores * factor
    scaled.retain_grad()
    biased = scaled
    if "softcap" in options:
        biased = options["softcap"] * torch.tanh(biased / options["softcap"])
    if options.get("alibi"):
        distance = (torch.arange(tq)[:, None] + offset - torch.arange(tk)[None, :]).abs()
        biased = biased - torch.tensor(slopes(heads))[:, None, None] * distance
    inside = allowed(options, mask, tq, tk, offset, batch)
    logits = biased.masked_fill(~inside, -math.inf)
    if "sinks" in inputs:
        column = inputs["sinks"][None, :, None, None].expand(batch, heads, tq, 1)
        logits = torch.cat([logits, column], -1)
    logsumexp = logits.logsumexp(-1)
    empty = torch.isinf(logsumexp)[..., None]
    weights = torch.softmax(logits.masked_fill(empty, 0.0), -1).masked_fill(empty, 0.0)[..., :tk]
    weights.retain_grad()
    context = weights @ inputs["V"].repeat_interleave(repeat, 1)
    (context * d_o).sum().backward()

    arrays = {**inputs, "dO": d_o, "scores": scores, "scaled": scaled, "weights": weights}
    arrays |= {"output": context, "logsumexp": logsumexp}
    if "rope" in options:
        arrays |= {"q_rot": q_rot, "k_rot": k_rot}
    if biased is not scaled:
        arrays["biased"] = biased
    arrays |= {f"d_{key}": tensor.grad for key, tensor in inputs.items()}
    arrays |= {"d_scaled": scaled.grad, "d_weights": weights.grad}
    numbers = {key: tensor.detach().numpy().astype("<f4") for key, tensor in arrays.items()}
    if mask is not None:
        numbers["mask"] = mask.numpy()
    np.savez_compressed(FOLDER / f"{name}.npz", options=np.array(json.dumps(options)), **numbers)


def main():
    FOLDER.mkdir(exist_ok=True)
    dead_row = torch.rand(2, 4, 9, 9, generator=torch.Generator().manual_seed(1)) < 0.6
    dead_row[:, :, 3] = False
    additive = {"W_score_q": (8, 5), "W_score_k": (8, 5), "w_score": (5,)}
    write("causal", {"causal": True}, 1)
    write("causal_bottom_right", {"causal": "bottom-right"}, 2, tq=5, tk=11)
    write("window", {"window": 2}, 3)
    write("window_sides", {"window_left": 3, "window_right": 0}, 4)
    write("global_tokens", {"window": 1, "global_tokens": 2}, 5, tq=13, tk=13)
    write("block", {"block": 4}, 6, tq=14, tk=14)
    write("block_offset", {"block": 4, "causal": "bottom-right"}, 23, tq=3, tk=10)
    write("padding", {"padding": [9, 5]}, 7)
    write("dead_rows", {}, 8, mask=dead_row)
    write("offset_window", {"window_left": 2, "query_offset": 4, "causal": True}, 9, tq=5, tk=11)
    write("cosine", {"score": "cosine", "scale": "none", "temperature": 0.1}, 10)
    write("general", {"score": "general", "causal": True}, 11, params={"W_score": (8, 8)})
    write("additive", {"score": "additive", "scale": "none"}, 12, params=additive)
    write("additive_masked", {"score": "additive", "causal": True}, 13, tq=7, params=additive)
    write("rope_half", {"rope": "half", "causal": True}, 14)
    write("rope_interleaved", {"rope": "interleaved", "rope_base": 100.0, "rope_dims": 6}, 15)
    write("rope_offset", {"rope": "half", "causal": "bottom-right"}, 16, tq=3, tk=9)
    write("rope_cosine", {"rope": "half", "score": "cosine", "scale": 4.0}, 17)
    write("alibi", {"alibi": True, "causal": True}, 18, heads=6)
    write("softcap", {"softcap": 0.7}, 19)
    write("softcap_alibi", {"softcap": 1.5, "alibi": True, "window": 4}, 20)
    write("sinks", {"sinks": True, "causal": True}, 21, params={"sinks": (4,)})
    write("sinks_dead_rows", {"sinks": True}, 22, mask=dead_row, params={"sinks": (4,)})


if __name__ == "__main__":
    main()
