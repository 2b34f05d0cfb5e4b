#!/usr/bin/env python3
"""Writes tests/goldens/operations: operations that are no softmax attention as PyTorch computes them in float64,
gradients by autograd.

    /usr/bin/python3 tests/goldens/make_operations.py      (needs Debian's python3-torch)

A file holds inputs and parameters (rounded to float32, so that `attnscope trace` reads the same numbers), `options`
(JSON) and, under the names of `attnscope stages --operation`, the results and d_<key>. Each formula is written here
anew, from its source: linear attention as the explicit n x n matrix, state space as a loop over tokens.
"""
import json
import math
import pathlib

import numpy as np
import torch

FOLDER = pathlib.Path(__file__).parent / "operations"
torch.set_default_dtype(torch.float64)


def draw(generator, *shape):
    return torch.randn(*shape, generator=generator).float().double()


def allowed(options, batch, tq, tk):
    inside = torch.ones(batch, 1, tq, tk, dtype=torch.bool)
    if "causal" in options:
        offset = tk - tq if options["causal"] == "bottom-right" else 0
        inside &= torch.arange(tk)[None, :] <= torch.arange(tq)[:, None] + offset
    for b, valid in enumerate(options.get("padding", [])):
        inside[b, :, :, valid:] = False
    return inside


def softmax(logits):
    """Rows without an allowed key are 0."""
    empty = torch.isinf(logits).all(-1, keepdim=True)
    return torch.softmax(logits.masked_fill(empty, 0.0), -1).masked_fill(empty, 0.0)


def linear(q, k, v, inside, options, params):
    """Katharopoulos et al. 2020, equation 4 with every similarity written out."""
    phi_q, phi_k = torch.nn.functional.elu(q) + 1, torch.nn.functional.elu(k) + 1
    similar = (phi_q @ phi_k.transpose(-1, -2)) * inside
    denominator = similar.sum(-1, keepdim=True)
    implied = torch.where(denominator > 0, similar / denominator.clamp(min=1e-300), torch.zeros_like(similar))
    return {"phi_q": phi_q, "implied": implied, "context": implied @ v}


def latents(q, k, v, inside, options, params):
    scale = 1.0 / math.sqrt(q.shape[-1])
    keys = inside[:, :, :1]
    scores_in = (params["latents"] @ k.transpose(-1, -2) * scale).masked_fill(~keys, -math.inf)
    weights_in = softmax(scores_in)
    values = weights_in @ v
    latent_keys = values @ params["W_latent"]
    scores_out = q @ latent_keys.transpose(-1, -2) * scale
    weights_out = softmax(scores_out)
    stages = {"scores_in": scores_in, "weights_in": weights_in, "latent_values": values, "latent_keys": latent_keys}
    stages |= {"scores_out": scores_out, "weights_out": weights_out, "implied": weights_out @ weights_in}
    return stages | {"context": weights_out @ values}


def state_space(q, k, v, inside, options, params):
    """Gu & Dao 2023, algorithm 2 with the loop of its reference selective_scan_ref; `inside` as Δ = 0."""
    open_tokens = inside[:, :, -1, :, None].double()
    delta = torch.nn.functional.softplus(v @ params["W_delta"] + params["b_delta"]) * open_tokens
    a = -torch.exp(params["A_log"])
    b, c = v @ params["W_B"], v @ params["W_C"]
    a_bar = torch.exp(delta[..., None] * a[None, :, None])
    if options.get("discretise", "zoh") == "zoh":
        b_bar = (a_bar - 1) / a[None, :, None] * b[..., None, :]
    else:
        b_bar = delta[..., None] * b[..., None, :]
    state, states, outputs = torch.zeros_like(a_bar[:, :, 0]), [], []
    for i in range(v.shape[2]):
        state = a_bar[:, :, i] * state + b_bar[:, :, i] * v[:, :, i, :, None]
        states.append(state.flatten(-2))
        outputs.append((state * c[:, :, i, None, :]).sum(-1))
    context = torch.stack(outputs, 2) + params["D_skip"] * v * open_tokens
    stages = {"delta": delta, "b": b, "c": c, "a_bar": a_bar.flatten(-2), "b_bar": b_bar.flatten(-2)}
    return stages | {"states": torch.stack(states, 2), "context": context}


def recurrent(q, k, v, inside, options, params):
    """Token by token: S = (I − β k kᵀ) diag(α) S + β k vᵀ (Yang et al. 2024, eq. 10; Kimi Team 2025, eq. 1), or without the delta
    rule S = diag(α) S + k vᵀ (Sun et al. 2023, eq. 6; Yang et al. 2023, eq. 3)."""
    delta = options["operation"] in ("gated-delta", "kda")
    batch, heads, tokens, width = q.shape
    open_tokens = inside[:, :, -1].expand(batch, heads, tokens)[..., None]
    decay = torch.exp(params["log_decay"]).expand(batch, heads, tokens, -1)
    decay = torch.where(open_tokens, decay, torch.ones_like(decay))
    stages = {"decay": decay}
    if delta:
        q, k = (x / torch.sqrt((x * x).sum(-1, keepdim=True) + 1e-6) for x in (q, k))
        stages |= {"q_unit": q}
    state, states, outputs = torch.zeros(batch, heads, width, v.shape[-1]), [], []
    for i in range(tokens):
        key, value = k[:, :, i, :, None], v[:, :, i, None, :]
        faded = decay[:, :, i, :, None] * state
        if delta:
            beta = params["beta"][:, :, i, None]
            keep = torch.eye(width) - beta * (key @ key.transpose(-1, -2))
            new = keep @ faded + beta * (key @ value)
        else:
            new = faded + key @ value
        state = torch.where(open_tokens[:, :, i, None], new, state)
        states.append(state.flatten(-2))
        outputs.append((q[:, :, i, None, :] @ state)[:, :, 0] / math.sqrt(width))
    return stages | {"states": torch.stack(states, 2), "context": torch.stack(outputs, 2)}


def gated(q, k, v, inside, options, params):
    """Qiu et al. 2025: the context of softmax attention times the sigmoid of the gate."""
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    weights = softmax(scores.masked_fill(~inside, -math.inf))
    attended = weights @ v
    gate_open = torch.sigmoid(params["gate"])
    return {"weights": weights, "attended": attended, "gate_open": gate_open, "context": gate_open * attended}


def differential(q, k, v, inside, options, params):
    """Ye et al. 2024, equations 1 and 3; the norm as torch.nn.functional.rms_norm."""
    half = q.shape[-1] // 2
    weights = [softmax((a @ b.transpose(-1, -2) / math.sqrt(half)).masked_fill(~inside, -math.inf))
               for a, b in zip(q.split(half, -1), k.split(half, -1))]
    implied = weights[0] - params["lambda"] * weights[1]
    mixed = implied @ v
    context = torch.nn.functional.rms_norm(mixed, (v.shape[-1],), eps=1e-5) * params["norm_weight"]
    return {"weights_1": weights[0], "weights_2": weights[1], "implied": implied, "mixed": mixed, "context": context}


def selective(q, k, v, inside, options, params):
    """Leviathan et al. 2024, figure 3, line by line."""
    logits = (q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])).masked_fill(~inside, -math.inf)
    n = logits.shape[-1]
    s = torch.relu(logits[:, 0])
    s = s * (torch.arange(n) > 0)  # S[..., 0] = 0
    s = (1 - torch.eye(n)) * s
    selection = s[:, None]
    s = torch.roll(selection[:, 0], 1, -2) * (torch.arange(n) > 0)[:, None]  # S[..., 0, :] = 0
    forgotten = torch.cumsum(s, -2)[:, None]
    lowered = logits - forgotten
    weights = softmax(lowered)
    return {"selection": selection, "forgotten": forgotten, "selective": lowered, "implied": weights, "context": weights @ v}


def nsa(q, k, v, inside, options, params):
    """Yuan et al. 2025, equations 5 to 11, with φ the mean and blocks of one size for compression and selection: keys and values are
    pooled first, and each query gathers the keys of its branches in a list."""
    batch, heads, queries, _ = q.shape
    keys, length = k.shape[2], options["chunk"]
    group = heads // options["key_heads"]
    scale = 1.0 / math.sqrt(q.shape[-1])
    offset = keys - queries if options.get("causal") == "bottom-right" else 0
    blocks, whole = -(-keys // length), keys // length
    pooled_k = torch.stack([k[:, :, n * length:(n + 1) * length].mean(2) for n in range(whole)], 2)
    pooled_v = torch.stack([v[:, :, n * length:(n + 1) * length].mean(2) for n in range(whole)], 2)
    inside = inside.expand(batch, heads, queries, keys)
    sees = torch.stack([inside[..., n * length:(n + 1) * length].all(-1) for n in range(whole)], -1)
    scores_cmp = (q @ pooled_k.transpose(-1, -2) * scale).masked_fill(~sees, -math.inf)
    scores_cmp = torch.nn.functional.pad(scores_cmp, (0, blocks - whole), value=-math.inf)
    scores_cmp.retain_grad()
    weights_cmp = softmax(scores_cmp)
    block_weights = weights_cmp.unflatten(1, (-1, group)).sum(2)
    context_cmp = weights_cmp[..., :whole] @ pooled_v

    def read(choose):
        """Softmax over the keys that choose(b, h, i) lists, of those that the mask allows."""
        chosen = torch.zeros(batch, heads, queries, keys, dtype=torch.bool)
        for b in range(batch):
            for h in range(heads):
                for i in range(queries):
                    chosen[b, h, i, choose(b, h, i)] = True
        return softmax((q @ k.transpose(-1, -2) * scale).masked_fill(~(chosen & inside), -math.inf))

    def of_blocks(b, h, i):
        own = (i + offset) // length
        others = [n for n in range(whole) if n != own and sees[b, h, i, n]]
        others.sort(key=lambda n: -block_weights[b, h // group, i, n].item())
        chosen = [own] + others[:options["selected-blocks"] - 1]
        return [j for n in chosen for j in range(n * length, min((n + 1) * length, keys))]

    def near(b, h, i):
        return [j for j in range(keys) if abs(i + offset - j) < options["recent"]]

    weights_slc, weights_win = read(of_blocks), read(near)
    context = params["g_cmp"] * context_cmp + params["g_slc"] * (weights_slc @ v) + params["g_win"] * (weights_win @ v)
    spread = torch.repeat_interleave(weights_cmp / length, length, -1)[..., :keys]
    implied = params["g_cmp"] * spread + params["g_slc"] * weights_slc + params["g_win"] * weights_win
    return {"scores_cmp": scores_cmp, "weights_cmp": weights_cmp, "block_weights": block_weights, "weights_slc": weights_slc,
            "weights_win": weights_win, "implied": implied, "context": context}


def equals_diff_llama():
    """Differential attention is that of transformers' DiffLlama, whose head h and h + H/2 are the halves of one."""
    from transformers import DiffLlamaConfig
    from transformers.models.diffllama.modeling_diffllama import DiffLlamaAttention

    torch.manual_seed(22)
    heads, width, tokens = 4, 6, 7
    config = DiffLlamaConfig(hidden_size=heads * width, num_attention_heads=heads, num_key_value_heads=heads, attn_implementation="eager")
    module = DiffLlamaAttention(config, layer_idx=1)
    x = torch.randn(2, tokens, heads * width)
    causal = torch.full((tokens, tokens), -math.inf).triu(1)
    turns = torch.ones(2, tokens, width), torch.zeros(2, tokens, width)
    captured = {}
    module.o_proj.register_forward_hook(lambda _, given, __: captured.update(context=given[0]))
    module(x, position_embeddings=turns, attention_mask=causal.expand(2, 1, tokens, tokens))
    q, k, v = (split(project(x), heads) for project in (module.q_proj, module.k_proj, module.v_proj))
    q, k, v = (torch.cat(part.chunk(2, 1), -1) for part in (q, k, v))
    parts = [torch.exp((a * b).sum()) for a, b in ((module.lambda_q1, module.lambda_k1), (module.lambda_q2, module.lambda_k2))]
    params = {"lambda": parts[0] - parts[1] + module.lambda_init, "norm_weight": torch.full((1, 2 * width), 1 - module.lambda_init)}
    inside = torch.ones(2, 1, tokens, tokens, dtype=torch.bool).tril()
    ours = differential(q, k, v, inside, {}, params)["context"].transpose(1, 2).flatten(2)
    off = (ours - captured["context"]).abs().max().item()
    print(f"differential is off transformers' DiffLlama by at most {off:.1e} of {ours.abs().max().item():.2f}")
    assert off < 1e-6


def equals_transformers():
    """The recurrence of gated-delta is that which transformers runs for Qwen3-Next, in float32, where it is installed."""
    try:
        from transformers.models.qwen3_next.modeling_qwen3_next import torch_recurrent_gated_delta_rule
    except ImportError:
        return print("transformers is not installed: gated-delta and differential were not compared with its models")
    equals_diff_llama()
    generator = torch.Generator().manual_seed(20)
    q, k, v = draw(generator, 2, 4, 7, 5), draw(generator, 2, 4, 7, 5), draw(generator, 2, 4, 7, 3)
    log_decay, beta = -torch.nn.functional.softplus(draw(generator, 2, 4, 7)), torch.sigmoid(draw(generator, 2, 4, 7))
    theirs, _ = torch_recurrent_gated_delta_rule(*(x.transpose(1, 2) for x in (q, k, v, log_decay, beta)), None, False, True)
    params = {"log_decay": log_decay[..., None], "beta": beta[..., None]}
    ours = recurrent(q, k, v, torch.ones(2, 1, 7, 7, dtype=torch.bool), {"operation": "gated-delta"}, params)["context"]
    off = (theirs.transpose(1, 2).double() - ours).abs().max().item()
    print(f"gated-delta is off transformers' Qwen3-Next by at most {off:.1e} of {ours.abs().max().item():.2f}")
    assert off < 1e-6


def chunked(q, k, v, inside, options, params):
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    weights = softmax(scores.masked_fill(~inside, -math.inf))
    return {"implied": weights, "context": weights @ v}


RUN = {"nsa": nsa, "selective": selective, "gated": gated, "differential": differential, "linear": linear, "latents": latents, "state-space": state_space, "chunked": chunked} | dict.fromkeys(
    ("retention", "gated-linear", "gated-delta", "kda"), recurrent)


def split(x, heads):
    return x.unflatten(-1, (heads, x.shape[-1] // heads)).transpose(1, 2)


def write(name, options, seed, batch=2, heads=4, kv_heads=2, tq=6, tk=6, d_k=4, d_v=3, params=None, d_model=0):
    generator = torch.Generator().manual_seed(seed)
    if d_model:
        shapes = {"X": (batch, tq, d_model), "W_Q": (d_model, heads * d_k), "W_K": (d_model, kv_heads * d_k)}
        shapes |= {"W_V": (d_model, kv_heads * d_v), "W_O": (heads * d_v, 5), "b_V": (kv_heads * d_v,), "b_O": (5,)}
        options = options | {"heads": heads, "kv_heads": kv_heads}
    else:
        shapes = {"Q": (batch, heads, tq, d_k), "K": (batch, kv_heads, tk, d_k), "V": (batch, kv_heads, tk, d_v)}
    inputs = {key: draw(generator, *shape) for key, shape in (shapes | (params or {})).items()}
    if "log_decay" in inputs:
        inputs["log_decay"] = -torch.nn.functional.softplus(inputs["log_decay"]).float().double()
    for gate in {"beta", "g_cmp", "g_slc", "g_win"} & inputs.keys():
        inputs[gate] = torch.sigmoid(inputs[gate]).float().double()
    for tensor in inputs.values():
        tensor.requires_grad_(True)
    if d_model:
        q, k = split(inputs["X"] @ inputs["W_Q"], heads), split(inputs["X"] @ inputs["W_K"], kv_heads)
        v = split(inputs["X"] @ inputs["W_V"] + inputs["b_V"], kv_heads)
    else:
        q, k, v = inputs["Q"], inputs["K"], inputs["V"]
    repeat = heads // kv_heads
    inside = allowed(options, batch, tq, tk)
    shown = k.repeat_interleave(repeat, 1), v.repeat_interleave(repeat, 1)
    stages = RUN[options["operation"]](q, *shown, inside, options | {"key_heads": kv_heads}, inputs)
    stages["output"] = stages["context"].transpose(1, 2).flatten(2)
    upstream = "dO"
    end = stages["context"]
    if d_model:
        stages["output"] = stages["output"] @ inputs["W_O"] + inputs["b_O"]
        upstream, end = "dY", stages["output"]
    for tensor in stages.values():
        tensor.retain_grad()
    gradient = draw(generator, *end.shape)
    (end * gradient).sum().backward()

    arrays = {**inputs, upstream: gradient, **stages}
    for key, tensor in inputs.items():  # what is never looked at has no gradient
        arrays[f"d_{key.lower()}"] = torch.zeros_like(tensor) if tensor.grad is None else tensor.grad
    for key, tensor in stages.items():
        if tensor.grad is not None and key not in ("implied", "a_bar", "b_bar", "states", "block_weights"):
            # a masked token's step is 0 and stays so
            arrays[f"d_{key}"] = tensor.grad * inside[:, :, -1, :, None] if key == "delta" else tensor.grad
    numbers = {key: tensor.detach().numpy() for key, tensor in arrays.items()}
    np.savez_compressed(FOLDER / f"{name}.npz", options=np.array(json.dumps(options)), **numbers)


def main():
    FOLDER.mkdir(exist_ok=True)
    m, n = 3, 2
    of_latents = {"latents": (4, m, 4), "W_latent": (4, 3, 4)}
    of_states = {"A_log": (4, 3, n), "W_B": (4, 3, n), "W_C": (4, 3, n), "W_delta": (4, 3, 3)}
    of_states |= {"b_delta": (4, 1, 3), "D_skip": (4, 1, 3)}
    write("linear", {"operation": "linear"}, 1, tk=7)
    write("linear_causal", {"operation": "linear", "causal": True}, 2)
    write("linear_bottom_right", {"operation": "linear", "causal": "bottom-right", "padding": [8, 3]}, 3, tq=4, tk=8)
    write("linear_projected", {"operation": "linear", "causal": True}, 4, d_model=5)
    write("latents", {"operation": "latents", "latents": m}, 5, tk=8, params=of_latents)
    write("latents_padding", {"operation": "latents", "latents": m, "padding": [6, 0]}, 6, params=of_latents)
    write("latents_projected", {"operation": "latents", "latents": m}, 7, params=of_latents, d_model=5)
    write("state_space", {"operation": "state-space", "state": n}, 8, params=of_states)
    euler = {"operation": "state-space", "state": n, "discretise": "euler", "padding": [6, 4]}
    write("state_space_euler", euler, 9, params=of_states)
    write("state_space_projected", {"operation": "state-space", "state": n}, 10, params=of_states, d_model=5)
    write("chunked", {"operation": "chunked", "chunk": 3, "causal": "bottom-right", "padding": [8, 5]}, 11, tq=4, tk=8)
    gates = {"log_decay": (2, 4, 6, 1), "beta": (2, 4, 6, 1)}
    write("retention", {"operation": "retention"}, 12, params={"log_decay": (4, 1, 1)})
    write("gated_linear", {"operation": "gated-linear", "padding": [6, 4]}, 13, params={"log_decay": (2, 4, 6, 4)})
    write("gated_delta", {"operation": "gated-delta", "padding": [6, 4]}, 14, params=gates)
    write("gated_delta_projected", {"operation": "gated-delta"}, 15, params=gates, d_model=5)
    write("kda", {"operation": "kda"}, 16, params=gates | {"log_decay": (2, 4, 6, 4)})
    write("gated", {"operation": "gated", "causal": "bottom-right"}, 17, tk=8, params={"gate": (2, 4, 6, 3)})
    write("gated_projected", {"operation": "gated", "padding": [6, 4]}, 18, params={"gate": (2, 4, 6, 3)}, d_model=5)
    of_difference = {"lambda": (4, 1, 1), "norm_weight": (4, 1, 3)}
    write("differential", {"operation": "differential", "causal": True}, 19, params=of_difference)
    write("differential_projected", {"operation": "differential", "padding": [6, 4]}, 21, params=of_difference, d_model=5)
    write("selective", {"operation": "selective", "causal": True}, 23)
    write("selective_projected", {"operation": "selective", "causal": True, "padding": [6, 4]}, 24, d_model=5)
    branches = {gate: (2, 4, 9, 1) for gate in ("g_cmp", "g_slc", "g_win")}
    of_blocks = {"operation": "nsa", "chunk": 2, "selected-blocks": 2, "recent": 3}
    write("nsa", of_blocks | {"causal": True}, 25, tq=9, tk=9, params=branches)
    write("nsa_decoding", of_blocks | {"causal": "bottom-right", "selected-blocks": 3, "padding": [12, 9]}, 26, tq=9, tk=12, params=branches)
    write("nsa_projected", of_blocks | {"causal": True, "chunk": 3}, 27, tq=9, tk=9, params=branches, d_model=5)
    equals_transformers()


if __name__ == "__main__":
    main()
