#!/usr/bin/env python3
"""Makes attention.json: small attention calls computed by PyTorch autograd in float64.

Run from anywhere: python3 tests/goldens/make_goldens.py (Debian: python3-torch).
Tensors are {"shape": [B, H, T, d], "values": [...]}; keys are the stage keys, d_<key> gradients of
L = sum(upstream * context or output).
"""

import json
import math
import pathlib

import torch

torch.set_default_dtype(torch.float64)


def normal(generator, *shape):
    """Numbers of few digits, so that the file stays small and they are exact floats."""
    return (torch.randn(*shape, generator=generator) * 16).round() / 16


def as_json(tensor):
    shape = [1] * (4 - tensor.dim()) + list(tensor.shape)
    return {"shape": shape, "values": [float(f"{v:.15g}") for v in tensor.flatten().tolist()]}


def split(x, heads):
    return x.unflatten(-1, (heads, -1)).transpose(1, 2)


def attention(inputs, options):
    """Every stage, with scaled_dot_product_attention written out so that its parts are leaves of autograd."""
    s = dict(inputs)
    if "x" in s:
        source = s.get("x_kv", s["x"])
        heads, kv_heads = options["heads"], options["kv_heads"]
        s["q"] = split(s["x"][:, 0] @ s["w_q"] + s.get("b_q", 0), heads)
        s["k"] = split(source[:, 0] @ s["w_k"] + s.get("b_k", 0), kv_heads)
        s["v"] = split(source[:, 0] @ s["w_v"] + s.get("b_v", 0), kv_heads)
    group = s["q"].shape[1] // s["k"].shape[1]
    k = s["k"].repeat_interleave(group, 1)
    v = s["v"].repeat_interleave(group, 1)
    s["scores"] = s["q"] @ k.transpose(-1, -2)
    s["scaled"] = s["scores"] / math.sqrt(k.shape[-1]) / options.get("temperature", 1.0)
    allowed = torch.ones_like(s["scaled"], dtype=torch.bool)
    if "causal" in options:
        tq, tk = allowed.shape[-2:]
        allowed &= allowed.tril(0 if options["causal"] == "top-left" else tk - tq)
    if "mask" in options:
        mask = torch.tensor(options["mask"], dtype=torch.bool)
        allowed &= mask if mask.dim() == 2 else mask.unsqueeze(1)  # [Tq, Tk] or [B, Tq, Tk]
    if "padding" in options:
        allowed &= torch.arange(k.shape[2]) < torch.tensor(options["padding"])[:, None, None, None]
    s["masked"] = s["scaled"].masked_fill(~allowed, -math.inf)
    s["weights"] = torch.softmax(s["masked"], -1)
    s["context"] = s["weights"] @ v
    joined = s["context"].transpose(1, 2).flatten(2)
    s["output"] = (joined @ s["w_o"] + s.get("b_o", 0) if "w_o" in s else joined).unsqueeze(1)
    s["logsumexp"] = torch.logsumexp(s["masked"], -1, keepdim=True)
    return s


def case(name, inputs, options, at, generator):
    inputs = {key: tensor.requires_grad_() for key, tensor in inputs.items()}
    stages = attention(inputs, options)
    for tensor in stages.values():
        tensor.retain_grad()
    upstream = normal(generator, *stages[at].shape)
    (stages[at] * upstream).sum().backward()
    results = {key: as_json(t.detach()) for key, t in stages.items() if key not in inputs}
    results["masked"]["values"] = [
        v if math.isfinite(v) else None for v in results["masked"]["values"]]  # JSON has no -inf
    gradients = {f"d_{key}": as_json(t.grad) for key, t in stages.items() if t.grad is not None}
    return {"name": name, "options": options, "upstream_at": at, "upstream": as_json(upstream),
            "inputs": {key: as_json(t.detach()) for key, t in inputs.items()},
            "results": results, "gradients": gradients}


def given(generator, b, h, hkv, tq, tk, d_k, d_v):
    return {"q": normal(generator, b, h, tq, d_k), "k": normal(generator, b, hkv, tk, d_k),
            "v": normal(generator, b, hkv, tk, d_v)}


def projected(generator, h, hkv, tq, tk, d_model, d_head, b=1):
    inputs = {"x": normal(generator, b, 1, tq, d_model)}
    if tq != tk:
        inputs["x_kv"] = normal(generator, b, 1, tk, d_model)
    for letter, heads in (("q", h), ("k", hkv), ("v", hkv)):
        inputs[f"w_{letter}"] = normal(generator, d_model, heads * d_head)
        inputs[f"b_{letter}"] = normal(generator, heads * d_head)
    inputs["w_o"] = normal(generator, h * d_head, d_model)
    inputs["b_o"] = normal(generator, d_model)
    return inputs


def main():
    g = torch.Generator().manual_seed(2017)
    mask = [[True, False, True], [True, True, False], [False, False, True]]
    masks = [[[True, True, False], [False, True, True]], [[False, True, True], [True, False, True]]]
    cases = [
        case("cross, wider values", given(g, 2, 1, 1, 2, 3, 2, 3), {}, "context", g),
        case("causal, grouped keys", given(g, 1, 4, 2, 3, 3, 2, 2), {"causal": "top-left"}, "context", g),
        case("decoding", given(g, 1, 1, 1, 2, 4, 2, 2), {"causal": "bottom-right"}, "context", g),
        case("mask, temperature", given(g, 1, 2, 2, 3, 3, 2, 2), {"mask": mask, "temperature": 0.5},
             "context", g),
        case("multi-head self-attention", projected(g, 2, 2, 3, 3, 4, 2), {"heads": 2, "kv_heads": 2},
             "output", g),
        case("multi-head cross-attention", projected(g, 2, 1, 2, 3, 3, 2), {"heads": 2, "kv_heads": 1},
             "output", g),
        case("two sequences, padding of their own, causal", projected(g, 4, 2, 3, 3, 4, 2, b=2),
             {"heads": 4, "kv_heads": 2, "padding": [3, 2], "causal": "top-left"}, "output", g),
        case("two sequences, masks of their own, cross-attention", projected(g, 4, 2, 2, 3, 3, 2, b=2),
             {"heads": 4, "kv_heads": 2, "mask": masks, "padding": [2, 3]}, "output", g),
    ]
    text = ",\n".join(json.dumps(c, ensure_ascii=False) for c in cases)
    pathlib.Path(__file__).with_name("attention.json").write_text(f"[\n{text}\n]\n")


if __name__ == "__main__":
    main()
