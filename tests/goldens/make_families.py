#!/usr/bin/env python3
"""Makes models/<family> of the families that make_models.py has not: random weights, and what they give, layer by layer.

Run from anywhere: python3 tests/goldens/make_families.py [FAMILY…] (Debian: python3-torch, python3-pil). The modules are written out
here in float64 from the papers and from what Hugging Face's modeling_<family>.py computes (transformers 4.57); folders and
expected.safetensors are as those of make_models.py.
"""

import json
import math
import sys

import torch
import torch.nn.functional as F
from PIL import Image

from make_models import HERE, heads, random, write

IDS = torch.tensor([1, 44, 20, 20, 5, 9, 33, 2])
WORDS, WIDTH, HIDDEN = 45, 24, 36
ALL = range(len(IDS))


class Weights:
    """Random arrays by name; `w` of a call is what names them."""

    def __init__(self, seed):
        self.g = torch.Generator().manual_seed(seed)
        self.arrays, self.expected = {}, {"ids": IDS}

    def put(self, name, *shape, scale=0.3, shift=0.0):
        return self.arrays.setdefault(name, random(self.g, *shape, scale=scale) + shift)

    def linear(self, name, x, out, bias=False, scale=0.3):
        y = x @ self.put(f"{name}.weight", out, x.shape[-1], scale=scale).t()
        return y + self.put(f"{name}.bias", out, scale=0.2) if bias else y

    def layer_norm(self, name, x, epsilon):
        n = x.shape[-1]
        return F.layer_norm(x, (n,), self.put(f"{name}.weight", n, scale=0.1, shift=1.0), self.put(f"{name}.bias", n, scale=0.1), epsilon)

    def rms(self, name, x, epsilon=1e-6, plus=0.0):
        """`plus`: 1 where the weights are stored less 1."""
        w = self.put(f"{name}.weight", x.shape[-1], scale=0.1, shift=1.0 - plus)
        return x / (x.pow(2).mean(-1, keepdim=True) + epsilon).sqrt() * (w + plus)

    def layer(self, n, **values):
        self.expected.update({f"l{n}.{key}": value for key, value in values.items()})


def turned(x, inverse, factor=1.0):
    """The first 2·len(inverse) columns of [H, T, d], in halves."""
    p = len(inverse)
    angle = torch.arange(x.shape[1], dtype=torch.float64)[:, None] * inverse
    c, s = angle.cos() * factor, angle.sin() * factor
    a, b, rest = x[..., :p], x[..., p:2 * p], x[..., 2 * p:]
    return torch.cat((a * c - b * s, b * c + a * s, rest), -1)


def inverses(base, dims):
    return base ** -(torch.arange(0, dims, 2, dtype=torch.float64) / dims)


def attend(q, k, v, scale, causal=True, window=None, cap=None, sinks=None):
    group = q.shape[0] // k.shape[0]
    k, v = k.repeat_interleave(group, 0), v.repeat_interleave(group, 0)
    scores = q @ k.transpose(-1, -2) * scale
    if cap:
        scores = cap * torch.tanh(scores / cap)
    i, j = torch.arange(q.shape[1])[:, None], torch.arange(k.shape[1])[None]
    allowed = (j <= i) if causal else (i + j >= 0)
    if window:
        allowed = allowed & (i - j < window)
    scores = scores.masked_fill(~allowed, -math.inf)
    if sinks is not None:
        scores = torch.cat((scores, sinks[:, None, None].expand(-1, q.shape[1], 1)), -1)
    weights = scores.softmax(-1)[..., : k.shape[1]]
    return weights, (weights @ v).transpose(0, 1).flatten(1)


def neox(name="gpt_neox", parallel=True, bias=True):
    m, epsilon, count, dims = Weights(21), 1e-5, 3, 4  # half of a head's 8 columns turn
    x = m.put("gpt_neox.embed_in.weight", WORDS, WIDTH, scale=1.0)[IDS]
    for n in range(2):
        at = f"gpt_neox.layers.{n}."
        qkv = m.linear(f"{at}attention.query_key_value", m.layer_norm(f"{at}input_layernorm", x, epsilon), 3 * WIDTH, bias)
        q, k, v = qkv.view(len(IDS), count, 3, 8).permute(2, 1, 0, 3)
        a, context = attend(turned(q, inverses(100.0, dims)), turned(k, inverses(100.0, dims)), v, 8 ** -0.5)
        output = m.linear(f"{at}attention.dense", context, WIDTH, bias)
        read = m.layer_norm(f"{at}post_attention_layernorm", x if parallel else x + output, epsilon)
        inside = F.gelu(m.linear(f"{at}mlp.dense_h_to_4h", read, HIDDEN, True))
        x = x + output + m.linear(f"{at}mlp.dense_4h_to_h", inside, WIDTH, True)
        m.layer(n, q=q, k=k, v=v, weights=a, output=output, residual=x)
        m.arrays[f"{at}attention.rotary_emb.inv_freq"] = inverses(100.0, dims)
    m.expected["logits"] = m.linear("embed_out", m.layer_norm("gpt_neox.final_layer_norm", x, epsilon), WORDS)
    write(name, {"model_type": "gpt_neox", "attention_bias": bias, "hidden_size": WIDTH, "num_hidden_layers": 2, "num_attention_heads": count, "vocab_size": WORDS,
                       "intermediate_size": HIDDEN, "rotary_pct": 0.5, "rotary_emb_base": 100, "layer_norm_eps": epsilon,
                       "hidden_act": "gelu", "use_parallel_residual": parallel, "tie_word_embeddings": False,
                       "max_position_embeddings": 64}, m.arrays, m.expected)


def llama_like(family, seed, config, *, rope=None, window_rope=None, windows=(None, None), scale=None, cap=None, logit_cap=None,
               plus=0.0, epsilon=1e-6, norms="before", head_norms=None, biases=False, mlp=None, factors=(1, 1, 1), tied=False,
               head_width=8, act=F.silu, sinks=False, fused=False, magnitude=1.0, shows_turned=False):
    """Decoders that grew out of Llama. `norms`: before, after or around attention and MLP; `factors`: of embedding, what is
    added, and logits; `rope`: radians a position of each pair; `shows_turned`: q and k of a layer are those after RoPE."""
    m, count, groups = Weights(seed), 4, 2
    rope = inverses(500.0, head_width) if rope is None else rope
    scale = head_width ** -0.5 if scale is None else scale
    table = m.put("model.embed_tokens.weight", WORDS, WIDTH, scale=1.0)
    x = table[IDS] * factors[0]
    for n in range(2):
        at = f"model.layers.{n}."
        norm = lambda name, y: m.rms(f"{at}{name}", y, epsilon, plus)
        inside = x if norms == "after" else norm("input_layernorm", x)
        rows = [count * head_width, groups * head_width, groups * head_width]
        if fused:
            q, k, v = m.linear(f"{at}self_attn.qkv_proj", inside, sum(rows), biases, 0.4).split(rows, -1)
        else:
            q, k, v = (m.linear(f"{at}self_attn.{key}_proj", inside, r, biases, 0.4) for key, r in zip("qkv", rows))
        if head_norms == "joined":
            q, k = norm("self_attn.q_norm", q), norm("self_attn.k_norm", k)
        q, k, v = heads(q, count), heads(k, groups), heads(v, groups)
        if head_norms == "each":
            q, k = norm("self_attn.q_norm", q), norm("self_attn.k_norm", k)
        turn = window_rope if windows[n] and window_rope is not None else rope
        sink = m.put(f"{at}self_attn.sinks", count, scale=1.0) if sinks else None
        turned_q, turned_k = turned(q, turn, magnitude), turned(k, turn, magnitude)
        a, context = attend(turned_q, turned_k, v, scale, True, windows[n], cap, sink)
        if shows_turned:
            q, k = turned_q, turned_k
        output = m.linear(f"{at}self_attn.o_proj", context, WIDTH, biases)
        added = norm("post_attention_layernorm", output) if norms != "before" else output
        x = x + factors[1] * added
        names = {"before": "post_attention_layernorm", "around": "pre_feedforward_layernorm"}
        inside = norm(names[norms], x) if norms in names else x
        made = mlp(m, at, inside, n) if mlp else gated(m, f"{at}mlp.", inside, act, fused)
        x = x + factors[1] * (norm("post_feedforward_layernorm", made) if norms != "before" else made)
        m.layer(n, q=q, k=k, v=v, weights=a, output=output, residual=x)
    x = m.rms("model.norm", x, epsilon, plus)
    logits = (x @ table.t() if tied else m.linear("lm_head", x, WORDS, scale=0.5)) * factors[2]
    m.expected["logits"] = logit_cap * torch.tanh(logits / logit_cap) if logit_cap else logits
    write(family, {"hidden_size": WIDTH, "intermediate_size": HIDDEN, "num_hidden_layers": 2, "num_attention_heads": count,
                   "num_key_value_heads": groups, "head_dim": head_width, "vocab_size": WORDS, "rope_theta": 500.0,
                   "rms_norm_eps": epsilon, "hidden_act": "silu", "tie_word_embeddings": tied, "max_position_embeddings": 64,
                   **config}, m.arrays, m.expected)


def gated(m, at, x, act, fused=False):
    if fused:
        gate, up = m.linear(f"{at}gate_up_proj", x, 2 * HIDDEN).chunk(2, -1)
    else:
        gate, up = m.linear(f"{at}gate_proj", x, HIDDEN), m.linear(f"{at}up_proj", x, HIDDEN)
    return m.linear(f"{at}down_proj", act(gate) * up, WIDTH)


def mixtral_mlp(m, at, x, n, taken=2):
    at += "block_sparse_moe."
    shares = m.linear(f"{at}gate", x, 4, scale=0.5).softmax(-1)
    top, which = shares.topk(taken, -1)
    top = top / top.sum(-1, keepdim=True)
    m.layer(n, routing=torch.zeros_like(shares).scatter(-1, which, top))
    made = torch.zeros_like(x)
    for e in range(4):
        w = [f"{at}experts.{e}.w{k}" for k in (1, 3, 2)]
        y = m.linear(w[2], F.silu(m.linear(w[0], x, HIDDEN)) * m.linear(w[1], x, HIDDEN), WIDTH)
        made = made + y * (top * (which == e)).sum(-1, keepdim=True)
    return made


def oss_mlp(m, at, x, n):
    at += "mlp."
    logits = m.linear(f"{at}router", x, 4, True, 0.5)
    top, which = logits.topk(2, -1)
    shares = torch.zeros_like(logits).scatter(-1, which, top.softmax(-1))
    m.layer(n, routing=shares)
    w, b = m.put(f"{at}experts.gate_up_proj", 4, WIDTH, 2 * HIDDEN, scale=0.8), m.put(f"{at}experts.gate_up_proj_bias", 4, 2 * HIDDEN)
    down, c = m.put(f"{at}experts.down_proj", 4, HIDDEN, WIDTH), m.put(f"{at}experts.down_proj_bias", 4, WIDTH)
    made = torch.zeros_like(x)
    for e in range(4):
        both = x @ w[e] + b[e]
        gate, up = both[:, ::2].clamp(max=7.0), both[:, 1::2].clamp(-7.0, 7.0)
        made = made + shares[:, e : e + 1] * ((gate * torch.sigmoid(1.702 * gate) * (up + 1)) @ down[e] + c[e])
    return made


def yarn(base, dims, factor, length, fast=32.0, slow=1.0, whole=True):
    """Radians a position of each pair, and what q and k are multiplied by: Peng et al. 2023, §3.2 to 3.4."""
    def column(turns):
        return dims * math.log(length / (turns * 2 * math.pi)) / (2 * math.log(base))
    low, high = column(fast), column(slow)
    if whole:
        low, high = math.floor(low), math.ceil(high)
    low, high = max(low, 0), min(high, dims - 1)
    ramp = ((torch.arange(dims // 2, dtype=torch.float64) - low) / (high - low if high != low else 0.001)).clamp(0, 1)
    plain = inverses(base, dims)
    return plain / factor * ramp + plain * (1 - ramp), 0.1 * math.log(factor) + 1.0


def gemma(family, seed, config, windows=(3, None), **more):
    llama_like(family, seed, {"hidden_activation": "gelu_pytorch_tanh", "query_pre_attn_scalar": 12, "sliding_window": 3,
                              "hidden_act": None, **config},
               scale=12 ** -0.5, plus=1.0, norms="around", factors=(math.sqrt(WIDTH), 1, 1), tied=True, windows=windows,
               act=lambda x: F.gelu(x, approximate="tanh"), **more)


def phi3_longrope(name, trained, divisors):
    """6 of a head's 8 columns turn; the text has 8 tokens."""
    magnitude = math.sqrt(1 + math.log(64 / trained) / math.log(trained))
    llama_like(name, 29, {"model_type": "phi3", "original_max_position_embeddings": trained, "partial_rotary_factor": 0.75,
                          "rope_scaling": {"type": "longrope", "short_factor": [1.0, 1.5, 2.0], "long_factor": [1.25, 3.0, 7.0]}},
               rope=inverses(500.0, 6) / torch.tensor(divisors, dtype=torch.float64), magnitude=magnitude, fused=True, epsilon=1e-6,
               shows_turned=True)


def gpt_oss():
    rope, magnitude = yarn(150.0, 8, 4.0, 16, whole=False)
    llama_like("gpt_oss", 30, {"num_local_experts": 4, "num_experts_per_tok": 2, "sliding_window": 3, "rope_theta": 150.0,
                               "layer_types": ["sliding_attention", "full_attention"], "attention_bias": True,
                               "rope_scaling": {"rope_type": "yarn", "factor": 4.0, "beta_fast": 32.0, "beta_slow": 1.0,
                                                "truncate": False, "original_max_position_embeddings": 16}},
               rope=rope, magnitude=magnitude, windows=(3, None), biases=True, sinks=True, mlp=oss_mlp, epsilon=1e-5)


def bert_like(family, seed, prefix, names, config, first, padding=None, epsilon=1e-12, kinds=0):
    """`names`: of word and position table, norm, block, its q, k, v, out, norm, up, down and norm."""
    m, count = Weights(seed), 3
    places = torch.arange(len(IDS)) + first
    if padding is not None:
        real = IDS != padding
        places = real.cumsum(0) * real + padding
    at = f"{prefix}embeddings."
    x = m.put(f"{at}word_embeddings.weight", WORDS, WIDTH, scale=1.0)[IDS]
    x = x + m.put(f"{at}position_embeddings.weight", 16, WIDTH, scale=1.0)[places]
    if kinds:
        x = x + m.put(f"{at}token_type_embeddings.weight", kinds, WIDTH, scale=1.0)[0]
    x = m.layer_norm(f"{at}LayerNorm", x, epsilon)
    block, q_name, k_name, v_name, out, norm, up, down, last = names
    for n in range(2):
        at = f"{prefix}{block}.{n}."
        q, k, v = (heads(m.linear(f"{at}{name}", x, WIDTH, True), count) for name in (q_name, k_name, v_name))
        a, context = attend(q, k, v, 8 ** -0.5, causal=False)
        output = m.linear(f"{at}{out}", context, WIDTH, True)
        x = m.layer_norm(f"{at}{norm}", x + output, epsilon)
        inside = F.gelu(m.linear(f"{at}{up}", x, HIDDEN, True))
        x = m.layer_norm(f"{at}{last}", x + m.linear(f"{at}{down}", inside, WIDTH, True), epsilon)
        m.layer(n, q=q, k=k, v=v, weights=a, output=output, residual=x)
    write(family, {"vocab_size": WORDS, "max_position_embeddings": 16, **config}, m.arrays, m.expected)


BERT_NAMES = ("encoder.layer", *(f"attention.self.{key}" for key in ("query", "key", "value")), "attention.output.dense",
              "attention.output.LayerNorm", "intermediate.dense", "output.dense", "output.LayerNorm")
DISTIL_NAMES = ("transformer.layer", *(f"attention.{key}_lin" for key in "qkv"), "attention.out_lin", "sa_layer_norm", "ffn.lin1",
                "ffn.lin2", "output_layer_norm")
BERT = {"hidden_size": WIDTH, "intermediate_size": HIDDEN, "num_hidden_layers": 2, "num_attention_heads": 3, "hidden_act": "gelu"}


def image_like(family, seed, tokens, scales, epsilon):
    """ViT's blocks, with `tokens` before the patches; `scales`: each column of what is added has a factor (LayerScale)."""
    m, count, size, patch, classes = Weights(seed), 3, 14, 4, 5
    del m.expected["ids"]
    noise = torch.randint(0, 256, (23, 37, 3), generator=m.g, dtype=torch.uint8)
    (HERE / family).mkdir(parents=True, exist_ok=True)
    Image.fromarray(noise.numpy()).save(HERE / family / "image.png")
    fitted = Image.fromarray(noise.numpy()).resize((size, size), Image.BILINEAR)
    pixels = (torch.tensor(list(fitted.getdata()), dtype=torch.float64).reshape(size, size, 3).permute(2, 0, 1) / 255 - 0.5) / 0.5
    m.expected["pixels"] = pixels
    at = f"{family}.embeddings."
    side = size // patch
    first = [m.put(f"{at}{name}", 1, 1, WIDTH, scale=1.0)[0] for name in tokens]
    place = m.put(f"{at}position_embeddings", 1, side * side + len(tokens), WIDTH, scale=0.5)[0]
    patches = F.conv2d(pixels[None], m.put(f"{at}patch_embeddings.projection.weight", WIDTH, 3, patch, patch, scale=0.2),
                       m.put(f"{at}patch_embeddings.projection.bias", WIDTH, scale=0.2), stride=patch).flatten(2)[0].t()
    x = torch.cat((*first, patches)) + place
    names = ("norm1", "norm2", "mlp.fc1", "mlp.fc2") if scales else ("layernorm_before", "layernorm_after", "intermediate.dense", "output.dense")
    for n in range(2):
        at = f"{family}.encoder.layer.{n}."
        inside = m.layer_norm(f"{at}{names[0]}", x, epsilon)
        q, k, v = (heads(m.linear(f"{at}attention.attention.{key}", inside, WIDTH, True), count) for key in ("query", "key", "value"))
        a, context = attend(q, k, v, 8 ** -0.5, causal=False)
        output = m.linear(f"{at}attention.output.dense", context, WIDTH, True)
        by = [m.put(f"{at}layer_scale{k}.lambda1", WIDTH, scale=0.5, shift=0.5) if scales else 1.0 for k in (1, 2)]
        x = x + output * by[0]
        inside = F.gelu(m.linear(f"{at}{names[2]}", m.layer_norm(f"{at}{names[1]}", x, epsilon), HIDDEN, True))
        x = x + m.linear(f"{at}{names[3]}", inside, WIDTH, True) * by[1]
        m.layer(n, q=q, k=k, v=v, weights=a, output=output, residual=x)
    config = {"hidden_size": WIDTH, "num_hidden_layers": 2, "num_attention_heads": count, "image_size": size, "patch_size": patch,
              "num_channels": 3, "layer_norm_eps": epsilon, "hidden_act": "gelu", "qkv_bias": True}
    last = m.layer_norm(f"{family}.layernorm", x, epsilon)
    if scales:
        m.arrays[f"{family}.embeddings.mask_token"] = torch.zeros(1, WIDTH)
        config |= {"mlp_ratio": HIDDEN / WIDTH, "use_swiglu_ffn": False, "layerscale_value": 1.0}
    else:
        m.expected["logits"] = m.linear("classifier", last[:1], classes, True, 0.5)
        config["intermediate_size"] = HIDDEN
    write(family, config, m.arrays, m.expected)
    (HERE / family / "preprocessor_config.json").write_text(json.dumps({"image_mean": [0.5] * 3, "image_std": [0.5] * 3}) + "\n")


FAMILIES = {
    "gpt_neox": neox,
    "phi3": lambda: llama_like("phi3", 22, {"sliding_window": 5}, fused=True, windows=(5, 5), head_width=6, epsilon=1e-5),
    "gemma2": lambda: gemma("gemma2", 23, {"attn_logit_softcapping": 2.0, "final_logit_softcapping": 3.0}, cap=2.0, logit_cap=3.0),
    "gemma3_text": lambda: gemma("gemma3_text", 24, {"rope_local_base_freq": 20.0, "sliding_window_pattern": 2,
                                                      "rope_scaling": {"rope_type": "linear", "factor": 8.0}},
                                 rope=inverses(500.0, 8) / 8, window_rope=inverses(20.0, 8), head_norms="each"),
    "olmo2": lambda: llama_like("olmo2", 25, {}, norms="after", head_norms="joined", epsilon=1e-5),
    "granite": lambda: llama_like("granite", 26, {"embedding_multiplier": 3.0, "residual_multiplier": 0.22, "logits_scaling": 4.0,
                                                  "attention_multiplier": 0.2, "attention_bias": True},
                                  factors=(3.0, 0.22, 0.25), scale=0.2, biases=True),
    "mixtral": lambda: llama_like("mixtral", 27, {"num_local_experts": 4, "num_experts_per_tok": 2}, mlp=mixtral_mlp, epsilon=1e-5),
    "gpt_oss": gpt_oss,
    "roberta": lambda: bert_like("roberta", 31, "roberta.", BERT_NAMES, {**BERT, "type_vocab_size": 1, "pad_token_id": 1,
                                 "layer_norm_eps": 1e-5}, 2, padding=1, epsilon=1e-5, kinds=1),
    "xlm-roberta": lambda: bert_like("xlm-roberta", 32, "roberta.", BERT_NAMES, {**BERT, "type_vocab_size": 1, "pad_token_id": 3}, 4,
                                     padding=3, kinds=1),
    "gpt_neox~sequential": lambda: neox("gpt_neox~sequential", False, False),
    "phi3~longrope": lambda: phi3_longrope("phi3~longrope", 4, [1.25, 3.0, 7.0]),
    "phi3~longrope_short": lambda: phi3_longrope("phi3~longrope_short", 16, [1.0, 1.5, 2.0]),
    "gemma2~plain": lambda: gemma("gemma2~plain", 36, {"model_type": "gemma2", "attn_logit_softcapping": None,
                                                       "final_logit_softcapping": None,
                                                       "layer_types": ["full_attention", "sliding_attention"]}, windows=(None, 3)),
    "gemma3_text~ropes": lambda: gemma("gemma3_text~ropes", 37, {
        "model_type": "gemma3_text", "layer_types": ["sliding_attention", "full_attention"], "rope_theta": None, "rope_parameters": {
            "sliding_attention": {"rope_type": "default", "rope_theta": 20.0},
            "full_attention": {"rope_type": "linear", "factor": 2.0, "rope_theta": 300.0}}},
        rope=inverses(300.0, 8) / 2, window_rope=inverses(20.0, 8), head_norms="each"),
    "mixtral~all": lambda: llama_like("mixtral~all", 38, {"model_type": "mixtral", "num_local_experts": 4, "num_experts_per_tok": 4,
                                                          "sliding_window": 2},
                                      mlp=lambda *at: mixtral_mlp(*at, taken=4), windows=(2, 2), epsilon=1e-5),
    "distilbert": lambda: bert_like("distilbert", 33, "distilbert.", DISTIL_NAMES,
                                    {"dim": WIDTH, "hidden_dim": HIDDEN, "n_layers": 2, "n_heads": 3, "activation": "gelu",
                                     "sinusoidal_pos_embds": False}, 0),
    "deit": lambda: image_like("deit", 34, ("cls_token", "distillation_token"), False, 1e-12),
    "dinov2": lambda: image_like("dinov2", 35, ("cls_token",), True, 1e-6),
}
if __name__ == "__main__":
    for family in sys.argv[1:] or FAMILIES:
        FAMILIES[family]()
