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


def frequencies(options, dims):
    return options.get("rope_base", 10000.0) ** (-2.0 * torch.arange(dims // 2) / dims)


def turns(positions, options, d_k):
    """cos and sin [..., T, pairs]. Su et al. 2021: pair c turns by position * base^(-2c/dims). With sections, positions are [S, ..., T]:
    those of Wang et al. 2024 (M-RoPE) take turns of all frequencies, those of 2-D RoPE have frequencies of their own."""
    dims = options.get("rope_dims", d_k)
    sections = options.get("rope_sections")
    if sections is None:
        angles = positions[..., None] * frequencies(options, dims)
    elif sections == "2d":
        angles = torch.cat([each[..., None] * frequencies(options, dims // 2) for each in positions], -1)
    else:
        parts = frequencies(options, dims).split([int(each) for each in sections.split(",")])
        angles = torch.cat([each[..., None] * part for each, part in zip(positions, parts)], -1)
    return angles.cos(), angles.sin()


def rotated(x, cos, sin, options):
    """x [B, H, T, d_k] by cos and sin [T, pairs] or [B, T, pairs]."""
    cos, sin = (each if each.ndim == 2 else each[:, None] for each in (cos, sin))
    dims = 2 * cos.shape[-1]
    turned, rest = x[..., :dims], x[..., dims:]
    if options["rope"] == "half":
        a, b = turned[..., : dims // 2], turned[..., dims // 2 :]
    else:
        a, b = turned[..., 0::2], turned[..., 1::2]
    new_a, new_b = a * cos - b * sin, a * sin + b * cos
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


def write(name, options, seed, batch=2, heads=4, kv_heads=2, tq=9, tk=9, d_k=8, d_v=6, mask=None, params=None, past=0, arrays=None, turns_of=None, inside=None, bias=None):
    """`arrays` go into the file; `turns_of` has their cosines and sines of queries and keys, `inside` the allowed pairs, `bias` what they
    add to the scores."""
    generator = torch.Generator().manual_seed(seed)
    inputs = {
        "Q": draw(generator, batch, heads, tq, d_k),
        "K": draw(generator, batch, kv_heads, tk + past, d_k),
        "V": draw(generator, batch, kv_heads, tk + past, d_v),
    }
    tk += past
    inputs |= {key: draw(generator, *shape) for key, shape in (params or {}).items()}
    for tensor in inputs.values():
        tensor.requires_grad_(True)
    d_o = draw(generator, batch, heads, tq, d_v)
    bottom_right = options.get("causal") == "bottom-right"
    offset = options.get("query_offset", tk - tq if bottom_right else past)

    repeat = heads // kv_heads
    q_rot, k_rot = inputs["Q"], inputs["K"]
    if "qk_norm" in options:
        epsilon = 1e-6 if options["qk_norm"] is True else options["qk_norm"]
        q_rot, k_rot = (torch.nn.functional.rms_norm(x, (d_k,), inputs.get(f"{side}_norm_weight"), epsilon)
                        for x, side in ((q_rot, "q"), (k_rot, "k")))
        normalised = {"q_norm": q_rot, "k_norm": k_rot}
    if "rope" in options or turns_of:
        of_q, of_k = turns_of or (turns(torch.arange(tq) + offset, options, d_k), turns(torch.arange(tk), options, d_k))
        q_rot, k_rot = rotated(q_rot, *of_q, {"rope": "half", **options}), rotated(k_rot, *of_k, {"rope": "half", **options})
    scores = scores_of(q_rot, k_rot.repeat_interleave(repeat, 1), options, inputs)
    scale = options.get("scale", "sqrt_dk")
    factor = {"sqrt_dk": d_k**-0.5, "none": 1.0}.get(scale, scale) / options.get("temperature", 1.0)
    scaled = scores * factor
    scaled.retain_grad()
    biased = scaled
    if "softcap" in options:
        biased = options["softcap"] * torch.tanh(biased / options["softcap"])
    if bias is not None:
        biased = biased + bias
    if options.get("alibi"):
        distance = (torch.arange(tq)[:, None] + offset - torch.arange(tk)[None, :]).abs()
        biased = biased - torch.tensor(slopes(heads))[:, None, None] * distance
    if inside is None:
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

    results = {**inputs, "dO": d_o, "scores": scores, "scaled": scaled, "weights": weights}
    results |= {"output": context, "logsumexp": logsumexp}
    if "rope" in options or turns_of:
        results |= {"q_rot": q_rot, "k_rot": k_rot}
    if "qk_norm" in options:
        results |= normalised
    if biased is not scaled:
        results["biased"] = biased
    results |= {f"d_{key}": tensor.grad for key, tensor in inputs.items()}
    results |= {"d_scaled": scaled.grad, "d_weights": weights.grad}
    numbers = {key: tensor.detach().numpy().astype("<f4") for key, tensor in results.items()}
    for name_past, key in (("past_k", "K"), ("past_v", "V")) if past else ():
        numbers[name_past], numbers[key] = numbers[key][:, :, :past], numbers[key][:, :, past:]
    for key, each in (arrays or {}).items():
        numbers[key] = each.numpy().astype("<f4" if each.is_floating_point() else "<i8")
    if mask is not None:
        numbers["mask"] = mask.numpy()
    np.savez_compressed(FOLDER / f"{name}.npz", options=np.array(json.dumps(options)), **numbers)


def write_given_turns():
    """RoPE of arrays: cosines and sines, a cache of them, positions."""
    generator = torch.Generator().manual_seed(40)

    def whole(most, *shape):
        return torch.randint(0, most, shape, generator=generator)

    # Any numbers: the gradient is the transposed turn, no inverse.
    cos, sin = draw(generator, 2, 9, 3), draw(generator, 2, 9, 3)
    write("rope_cos_sin", {"rope": "interleaved"}, 41, arrays={"cos": cos, "sin": sin}, turns_of=((cos, sin), (cos, sin)))
    of_q, of_k = ((draw(generator, tokens, 4), draw(generator, tokens, 4)) for tokens in (5, 11))
    write("rope_cos_sin_cross", {"rope": "half"}, 42, tq=5, tk=11, turns_of=(of_q, of_k),
          arrays={"q_cos": of_q[0], "q_sin": of_q[1], "k_cos": of_k[0], "k_sin": of_k[1]})
    cos, sin = draw(generator, 2, 9, 3), draw(generator, 2, 9, 3)  # as Hugging Face has them: cat(freqs, freqs)
    write("rope_both_columns", {"rope": "half"}, 43, arrays={"cos": torch.cat([cos, cos], -1), "sin": torch.cat([sin, sin], -1)},
          turns_of=((cos, sin), (cos, sin)))
    cos, sin, positions = draw(generator, 30, 4), draw(generator, 30, 4), whole(30, 2, 9)
    of_both = (cos[positions], sin[positions])
    write("rope_cache", {"rope": "interleaved", "causal": True}, 44, turns_of=(of_both, of_both),
          arrays={"cos_cache": cos, "sin_cache": sin, "position_ids": positions})
    positions = whole(1000, 2, 9)
    options = {"rope": "half", "rope_base": 500.0, "rope_dims": 6}
    of_both = turns(positions, options, 8)
    write("rope_positions", options, 45, arrays={"positions": positions}, turns_of=(of_both, of_both))
    of_q, of_k = draw(generator, 5) * 10, whole(50, 2, 11)
    options = {"rope": "interleaved"}
    write("rope_positions_cross", options, 46, tq=5, tk=11, arrays={"q_positions": of_q, "k_positions": of_k},
          turns_of=(turns(of_q, options, 8), turns(of_k, options, 8)))
    positions, options = whole(40, 3, 2, 9), {"rope": "half", "rope_sections": "1,1,2"}
    of_both = turns(positions, options, 8)
    write("rope_sections", options, 47, arrays={"positions": positions}, turns_of=(of_both, of_both))
    positions, options = whole(40, 2, 9), {"rope": "half", "rope_sections": "2d"}
    of_both = turns(positions, options, 8)
    write("rope_2d", options, 48, arrays={"positions": positions}, turns_of=(of_both, of_both))


def write_given_by_models():
    """Positions as models of transformers compute them, by running their code; and the bias of log-gates."""
    from transformers import PreTrainedConfig
    from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS
    from transformers.models.qwen3_vl.modeling_qwen3_vl import Qwen3VLTextRotaryEmbedding

    config = PreTrainedConfig(hidden_size=32, num_attention_heads=4, head_dim=8, max_position_embeddings=6)
    # Of 9 tokens dynamic scaling by 4 from 6 on is ntk scaling by 4 * 9 / 6 - 4 + 1.
    for kind, more, scaling, seed in (("proportional", {"partial_rotary_factor": 0.75, "factor": 2.0}, "proportional,2,0.75", 63),
                                      ("dynamic", {"factor": 4.0, "original_max_position_embeddings": 6}, "ntk,3", 80)):
        config.rope_parameters = {"rope_type": kind, "rope_theta": 100.0, **more}
        frequency = ROPE_INIT_FUNCTIONS[kind](config, seq_len=9)[0].double()
        angles = torch.arange(9)[:, None] * frequency
        of_both = angles.cos(), angles.sin()
        write(f"rope_{scaling.split(',')[0]}", {"rope": "half", "rope_base": 100.0, "rope_scaling": scaling}, seed, turns_of=(of_both, of_both))
    generator = torch.Generator().manual_seed(64)
    positions = torch.randint(0, 40, (3, 2, 9), generator=generator)
    angles = positions[..., None] * frequencies({}, 16)
    angles = Qwen3VLTextRotaryEmbedding.apply_interleaved_mrope(None, angles.clone(), [4, 2, 2])
    of_both = angles.cos(), angles.sin()
    write("rope_sections_interleaved", {"rope": "half", "rope_sections": "interleaved,4,2,2"}, 65, arrays={"positions": positions}, d_k=16,
          turns_of=(of_both, of_both))
    scale = torch.log1p(torch.floor((torch.arange(9) + 5 + 1.0) / 4.0)) * 0.3 + 1.0  # Llama4TextAttention.forward
    factors = scale[:, None].expand(9, 4), torch.zeros(9, 4)
    write("log_temperature", {"log_temperature": "4,0.3", "query_offset": 5, "causal": "top-left"}, 66, tk=14,
          turns_of=(factors, (torch.ones(14, 4), torch.zeros(14, 4))))
    # Lin et al. 2025, arXiv:2503.02130: D = c_i - c_j with c the running sums of log f.
    for name, tq, shape in (("forgetting", 9, (2, 4, 9)), ("forgetting_decoding", 3, (4, 9))):
        log_f = torch.nn.functional.logsigmoid(draw(generator, *shape) + 1.0).float().double()
        sums = log_f.cumsum(-1)
        bias = sums[..., 9 - tq:, None] - sums[..., None, :]
        write(name, {"causal": "bottom-right"}, 67 + tq, tq=tq, arrays={"log_f": log_f}, bias=bias.masked_fill(torch.ones(tq, 9).triu(10 - tq).bool(), 0.0))


def main():
    FOLDER.mkdir(exist_ok=True)
    write_given_by_models()
    write_given_turns()
    write("past", {"causal": True}, 50, tq=5, tk=5, past=4)
    write("past_window", {"window_left": 3, "causal": True}, 51, tq=5, tk=7, past=4)
    valid = torch.tensor([9, 5])
    write("valid_keys", {}, 52, arrays={"nonpad_kv_seqlen": valid}, inside=allowed({"padding": [9, 5]}, None, 9, 9, 0, 2))
    last = torch.arange(3)[:, None] + (valid - 3)[:, None, None]  # ONNX: the last query sees the last valid key
    write("valid_keys_causal", {"causal": "bottom-right"}, 53, tq=3, arrays={"nonpad_kv_seqlen": valid},
          inside=(torch.arange(9) <= last)[:, None])
    weights = {"q_norm_weight": (8,), "k_norm_weight": (8,)}
    write("qk_norm", {"qk_norm": True, "causal": True}, 60)
    write("qk_norm_weights", {"qk_norm": 0.05, "rope": "half", "window": 4}, 61, params=weights)
    write("qk_norm_softcap", {"qk_norm": 1e-5, "softcap": 0.7, "scale": 1.0, "causal": "bottom-right"}, 62, tq=5, tk=11, params=weights)
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
