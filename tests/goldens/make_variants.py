#!/usr/bin/env python3
"""Makes variants/: config.json in some sixty ways, and what PyTorch computes with each.

Run from anywhere: python3 tests/goldens/make_variants.py (Debian: python3-torch). variants/<name>.safetensors are the weights of
a family, with every array that one of its configurations uses; variants.json has a row for each configuration: its config.json,
the file, and `residual` (what leaves the last block) and `logits`, or `fault`, the sentence that refuses it. The modules are
written out here in float64, each with the defaults of Hugging Face's configuration class of its family (transformers 4.57:
configuration_<family>.py and modeling_<family>.py; how positions are scaled and a read-out is tied: 5.12). A row that is to change the numbers is checked to change them by 1e-3.
"""

import json
import math
import pathlib

import torch
import torch.nn.functional as F

from make_models import save

HERE = pathlib.Path(__file__).resolve().parent / "variants"
WIDTH, WORDS, HIDDEN, LAYERS, PLACES = 8, 11, 10, 2, 7
IDS = [3, 10, 0, 3, 7, 5]
ACTIVATIONS = {"relu": F.relu, "gelu": F.gelu, "silu": F.silu, "swish": F.silu,
               "gelu_new": lambda x: F.gelu(x, approximate="tanh"),
               "gelu_pytorch_tanh": lambda x: F.gelu(x, approximate="tanh"),
               "quick_gelu": lambda x: x * torch.sigmoid(1.702 * x)}


class Maker:
    """Random arrays by name. Embeddings are small, so that an epsilon can be seen."""

    def __init__(self, seed):
        self.g = torch.Generator().manual_seed(seed)
        self.arrays = {}

    def put(self, name, *shape, scale=0.5, shift=0.0):
        self.arrays[name] = torch.randn(*shape, generator=self.g).mul(scale).add(shift).float()

    def norm(self, name, width=WIDTH, bias=True):
        self.put(f"{name}.weight", width, scale=0.2, shift=1.0)
        if bias:
            self.put(f"{name}.bias", width, scale=0.2)

    def linear(self, name, out, into, turned=False):
        self.put(f"{name}.weight", *((into, out) if turned else (out, into)))
        self.put(f"{name}.bias", out, scale=0.2)


def llama_arrays(seed, rows, kv_rows, head_width):
    m = Maker(seed)
    m.put("model.embed_tokens.weight", WORDS, WIDTH, scale=0.02)
    for n in range(LAYERS):
        at = f"model.layers.{n}."
        m.norm(f"{at}input_layernorm", bias=False)
        m.norm(f"{at}post_attention_layernorm", bias=False)
        for key, out in (("q", rows), ("k", kv_rows), ("v", kv_rows)):
            m.linear(f"{at}self_attn.{key}_proj", out, WIDTH)
        m.linear(f"{at}self_attn.o_proj", WIDTH, rows)
        for key in ("q", "k"):
            m.norm(f"{at}self_attn.{key}_norm", head_width, bias=False)
        for key, out, into in (("gate", HIDDEN, WIDTH), ("up", HIDDEN, WIDTH), ("down", WIDTH, HIDDEN)):
            m.linear(f"{at}mlp.{key}_proj", out, into)
    m.norm("model.norm", bias=False)
    m.put("lm_head.weight", WORDS, WIDTH)
    return m.arrays


def gpt2_arrays():
    m = Maker(11)
    m.put("transformer.wte.weight", WORDS, WIDTH, scale=0.02)
    m.put("transformer.wpe.weight", PLACES, WIDTH, scale=0.02)
    for n in range(LAYERS):
        at = f"transformer.h.{n}."
        m.norm(f"{at}ln_1")
        m.norm(f"{at}ln_2")
        m.linear(f"{at}attn.c_attn", 3 * WIDTH, WIDTH, turned=True)
        m.linear(f"{at}attn.c_proj", WIDTH, WIDTH, turned=True)
        m.linear(f"{at}mlp.c_fc", HIDDEN, WIDTH, turned=True)
        m.linear(f"{at}mlp.c_proj", WIDTH, HIDDEN, turned=True)
    m.norm("transformer.ln_f")
    m.put("lm_head.weight", WORDS, WIDTH)
    return m.arrays


def encoder_blocks(m, at, attention, norms):
    for n in range(LAYERS):
        layer = f"{at}encoder.layer.{n}."
        for key in ("query", "key", "value"):
            m.linear(f"{layer}{attention}.{key}", WIDTH, WIDTH)
        m.linear(f"{layer}attention.output.dense", WIDTH, WIDTH)
        m.linear(f"{layer}intermediate.dense", HIDDEN, WIDTH)
        m.linear(f"{layer}output.dense", WIDTH, HIDDEN)
        for name in norms:
            m.norm(f"{layer}{name}")


def bert_arrays():
    m = Maker(12)
    for name, rows in (("word", WORDS), ("position", PLACES), ("token_type", 2)):
        m.put(f"bert.embeddings.{name}_embeddings.weight", rows, WIDTH, scale=0.02)
    m.norm("bert.embeddings.LayerNorm")
    encoder_blocks(m, "bert.", "attention.self", ("attention.output.LayerNorm", "output.LayerNorm"))
    return m.arrays


def vit_arrays():
    m = Maker(13)
    m.put("vit.embeddings.cls_token", 1, 1, WIDTH, scale=0.02)
    m.put("vit.embeddings.position_embeddings", 1, 5, WIDTH, scale=0.02)
    m.put("vit.embeddings.patch_embeddings.projection.weight", WIDTH, 3, 2, 2, scale=0.02)
    m.put("vit.embeddings.patch_embeddings.projection.bias", WIDTH, scale=0.02)
    encoder_blocks(m, "vit.", "attention.attention", ("layernorm_before", "layernorm_after"))
    m.norm("vit.layernorm")
    m.linear("classifier", 4, WIDTH)
    return m.arrays


PIXELS = torch.randn(3, 4, 4, generator=torch.Generator().manual_seed(14)).float()
FILES = {"llama": llama_arrays(1, 8, 4, 4), "llama_all": llama_arrays(2, 8, 8, 4), "llama_wide": llama_arrays(3, 16, 8, 8),
         "gpt2": gpt2_arrays(), "bert": bert_arrays(), "vit": vit_arrays()}
for each in ("llama", "gpt2"):
    FILES[f"{each}_tied"] = {name: array for name, array in FILES[each].items() if name != "lm_head.weight"}
FILES["llama_copied"] = {**FILES["llama"], "lm_head.weight": FILES["llama"]["model.embed_tokens.weight"].clone()}


# ---- what Hugging Face's modules compute, in float64

def linear(w, name, x, bias=True, turned=False):
    weight = w[f"{name}.weight"]
    y = x @ (weight if turned else weight.t())
    return y + w[f"{name}.bias"] if bias else y


def layer_norm(w, name, x, epsilon):
    return F.layer_norm(x, (x.shape[-1],), w[f"{name}.weight"], w[f"{name}.bias"], epsilon)


def rms_norm(w, name, x, epsilon):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + epsilon) * w[f"{name}.weight"]


def split(x, count):
    return x.view(x.shape[0], count, -1).transpose(0, 1)  # [H, T, d]


def attend(q, k, v, mask):
    group = q.shape[0] // k.shape[0]
    k, v = k.repeat_interleave(group, 0), v.repeat_interleave(group, 0)
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    weights = scores.masked_fill(~mask, -math.inf).softmax(-1)
    return (weights @ v).transpose(0, 1).flatten(1)


def causal_mask(tokens, window=None):
    i, j = torch.arange(tokens)[:, None], torch.arange(tokens)[None]
    mask = j <= i
    return mask & (i - j < window) if window else mask


def frequencies(config, head_width):
    """ROPE_INIT_FUNCTIONS of modeling_rope_utils.py: default, linear, llama3, yarn, longrope; and what q and k are multiplied by."""
    scaling = config.get("rope_scaling") or config.get("rope_parameters") or {}
    base = scaling.get("rope_theta", config.get("rope_theta", 10000.0))
    inverse = 1.0 / base ** (torch.arange(0, head_width, 2, dtype=torch.float64) / head_width)
    kind = scaling.get("rope_type", scaling.get("type", "default"))
    if kind == "linear":
        return inverse / scaling["factor"], 1.0
    if kind == "default":
        return inverse, 1.0
    most = config.get("max_position_embeddings")
    trained = config.get("original_max_position_embeddings") or scaling.get("original_max_position_embeddings", most)
    if kind == "longrope":
        factor = scaling.get("factor") or most / trained
        own = math.sqrt(1 + math.log(factor) / math.log(trained)) if factor > 1 else 1.0
        divisors = scaling["long_factor" if len(IDS) > trained else "short_factor"]
        return inverse / torch.tensor(divisors, dtype=torch.float64), scaling.get("attention_factor", own)
    if kind == "yarn":
        factor, half, length = scaling["factor"], head_width // 2, trained
        column = lambda turns: head_width * math.log(length / (turns * 2 * math.pi)) / (2 * math.log(base))
        low, high = column(scaling.get("beta_fast", 32)), column(scaling.get("beta_slow", 1))
        if scaling.get("truncate", True):
            low, high = math.floor(low), math.ceil(high)
        low, high = max(low, 0), min(high, head_width - 1)
        ramp = ((torch.arange(half, dtype=torch.float64) - low) / ((high - low) or 0.001)).clamp(0, 1)
        size = lambda scale: 0.1 * scale * math.log(factor) + 1
        own = size(scaling["mscale"]) / size(scaling["mscale_all_dim"]) if "mscale" in scaling else size(1)
        return inverse / factor * ramp + inverse * (1 - ramp), scaling.get("attention_factor", own)
    assert kind == "llama3"
    low, high, old = scaling["low_freq_factor"], scaling["high_freq_factor"], trained
    length = 2 * math.pi / inverse
    smooth = (old / length - low) / (high - low)
    smoothed = (1 - smooth) * inverse / scaling["factor"] + smooth * inverse
    scaled = torch.where(length > old / low, inverse / scaling["factor"], inverse)
    medium = ~(length < old / high) & ~(length > old / low)
    return torch.where(medium, smoothed, scaled), 1.0


def rotate(x, inverse, size=1.0):
    angle = torch.arange(x.shape[1], dtype=torch.float64)[:, None] * inverse
    angle = torch.cat((angle, angle), -1)
    a, b = x.chunk(2, -1)
    return (x * angle.cos() + torch.cat((-b, a), -1) * angle.sin()) * size


def llama_window(config, layer):
    """MistralConfig, Qwen2Config and Qwen3Config; Llama has none."""
    family = config["model_type"]
    if family == "mistral":
        return config.get("sliding_window", 4096)
    if family == "llama" or not config.get("use_sliding_window", False):
        return None
    types = config.get("layer_types")
    slides = types[layer] == "sliding_attention" if types else layer >= config.get("max_window_layers", 28)
    return config.get("sliding_window", 4096) if slides else None


def read_out(config, w, embedding, tied):
    """tie_weights() of transformers 5: the embedding, unless the file has another one."""
    if config.get("tie_word_embeddings", tied) and "lm_head.weight" not in w:
        return w[embedding]
    return w["lm_head.weight"]


def llama(config, w):
    family = config["model_type"]
    count = config["num_attention_heads"]
    groups = config.get("num_key_value_heads", {"llama": count, "mistral": 8}.get(family, 32)) or count
    head_width = config.get("head_dim", 128 if family == "qwen3" else WIDTH // count)
    epsilon = config.get("rms_norm_eps", 1e-6)
    act = ACTIVATIONS[config.get("hidden_act", "silu")]
    said = family in ("llama", "qwen3") and config.get("attention_bias", False)
    qkv_bias, out_bias = family == "qwen2" or said, said
    mlp_bias = family == "llama" and config.get("mlp_bias", False)
    inverse, size = frequencies(config, head_width)
    x = w["model.embed_tokens.weight"][IDS]
    for n in range(LAYERS):
        at = f"model.layers.{n}."
        inside = rms_norm(w, f"{at}input_layernorm", x, epsilon)
        q, k, v = (split(linear(w, f"{at}self_attn.{key}_proj", inside, qkv_bias), heads)
                   for key, heads in (("q", count), ("k", groups), ("v", groups)))
        assert q.shape[-1] == head_width
        if family == "qwen3":
            q, k = rms_norm(w, f"{at}self_attn.q_norm", q, epsilon), rms_norm(w, f"{at}self_attn.k_norm", k, epsilon)
        mask = causal_mask(len(IDS), llama_window(config, n))
        context = attend(rotate(q, inverse, size), rotate(k, inverse, size), v, mask)
        x = x + linear(w, f"{at}self_attn.o_proj", context, out_bias)
        inside = rms_norm(w, f"{at}post_attention_layernorm", x, epsilon)
        gate, up = (linear(w, f"{at}mlp.{key}_proj", inside, mlp_bias) for key in ("gate", "up"))
        x = x + linear(w, f"{at}mlp.down_proj", act(gate) * up, mlp_bias)
    table = read_out(config, w, "model.embed_tokens.weight", False)
    return x, rms_norm(w, "model.norm", x, epsilon) @ table.t()


def gpt2(config, w):
    count, epsilon = config["n_head"], config.get("layer_norm_epsilon", 1e-5)
    act = ACTIVATIONS[config.get("activation_function", "gelu_new")]
    x = w["transformer.wte.weight"][IDS] + w["transformer.wpe.weight"][: len(IDS)]
    for n in range(LAYERS):
        at = f"transformer.h.{n}."
        q, k, v = linear(w, f"{at}attn.c_attn", layer_norm(w, f"{at}ln_1", x, epsilon), turned=True).chunk(3, -1)
        context = attend(split(q, count), split(k, count), split(v, count), causal_mask(len(IDS)))
        x = x + linear(w, f"{at}attn.c_proj", context, turned=True)
        inside = act(linear(w, f"{at}mlp.c_fc", layer_norm(w, f"{at}ln_2", x, epsilon), turned=True))
        x = x + linear(w, f"{at}mlp.c_proj", inside, turned=True)
    table = read_out(config, w, "transformer.wte.weight", True)
    return x, layer_norm(w, "transformer.ln_f", x, epsilon) @ table.t()


def encoder_attention(w, at, name, x, count, bias=True):
    q, k, v = (split(linear(w, f"{at}{name}.{key}", x, bias), count) for key in ("query", "key", "value"))
    everyone = torch.ones(len(x), len(x), dtype=torch.bool)
    return linear(w, f"{at}attention.output.dense", attend(q, k, v, everyone))


def bert(config, w):
    count, epsilon = config["num_attention_heads"], config.get("layer_norm_eps", 1e-12)
    act = ACTIVATIONS[config.get("hidden_act", "gelu")]
    at = "bert.embeddings."
    x = w[f"{at}word_embeddings.weight"][IDS] + w[f"{at}position_embeddings.weight"][: len(IDS)]
    x = layer_norm(w, f"{at}LayerNorm", x + w[f"{at}token_type_embeddings.weight"][0], epsilon)
    for n in range(LAYERS):
        at = f"bert.encoder.layer.{n}."
        x = layer_norm(w, f"{at}attention.output.LayerNorm", x + encoder_attention(w, at, "attention.self", x, count), epsilon)
        inside = act(linear(w, f"{at}intermediate.dense", x))
        x = layer_norm(w, f"{at}output.LayerNorm", x + linear(w, f"{at}output.dense", inside), epsilon)
    return x, None


def vit(config, w):
    count, epsilon = config["num_attention_heads"], config.get("layer_norm_eps", 1e-12)
    act, bias = ACTIVATIONS[config.get("hidden_act", "gelu")], config.get("qkv_bias", True)
    at = "vit.embeddings."
    patches = F.conv2d(PIXELS.double()[None], w[f"{at}patch_embeddings.projection.weight"],
                       w[f"{at}patch_embeddings.projection.bias"], stride=2).flatten(2)[0].t()
    x = torch.cat((w[f"{at}cls_token"][0], patches)) + w[f"{at}position_embeddings"][0]
    for n in range(LAYERS):
        at = f"vit.encoder.layer.{n}."
        x = x + encoder_attention(w, at, "attention.attention", layer_norm(w, f"{at}layernorm_before", x, epsilon), count, bias)
        inside = act(linear(w, f"{at}intermediate.dense", layer_norm(w, f"{at}layernorm_after", x, epsilon)))
        x = x + linear(w, f"{at}output.dense", inside)
    return x, linear(w, "classifier", layer_norm(w, "vit.layernorm", x[:1], epsilon))


# ---- the table

NO = object()  # takes a key out
LLAMA = {"model_type": "llama", "hidden_size": WIDTH, "intermediate_size": HIDDEN, "num_hidden_layers": LAYERS,
         "num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": 4, "vocab_size": WORDS, "rms_norm_eps": 1e-5,
         "rope_theta": 100.0, "hidden_act": "silu", "tie_word_embeddings": False, "max_position_embeddings": 64}
GPT2 = {"model_type": "gpt2", "n_embd": WIDTH, "n_layer": LAYERS, "n_head": 2, "vocab_size": WORDS, "n_positions": PLACES,
        "n_inner": HIDDEN, "layer_norm_epsilon": 1e-4, "activation_function": "gelu_new"}
BERT = {"model_type": "bert", "hidden_size": WIDTH, "intermediate_size": HIDDEN, "num_hidden_layers": LAYERS,
        "num_attention_heads": 2, "vocab_size": WORDS, "max_position_embeddings": PLACES, "type_vocab_size": 2,
        "layer_norm_eps": 1e-4, "hidden_act": "gelu"}
VIT = {"model_type": "vit", "hidden_size": WIDTH, "intermediate_size": HIDDEN, "num_hidden_layers": LAYERS,
       "num_attention_heads": 2, "image_size": 4, "patch_size": 2, "num_channels": 3, "layer_norm_eps": 1e-4, "hidden_act": "gelu",
       "qkv_bias": True}
LLAMA3 = {"rope_type": "llama3", "factor": 4.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
          "original_max_position_embeddings": 16}
YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 16}
LONG = {"rope_type": "longrope", "short_factor": [1.0, 1.5], "long_factor": [2.0, 3.0]}
SAME, OTHER = "same", "other"  # numbers as of the first row of the family
SLIDING = {"use_sliding_window": True, "sliding_window": 3}

# family, file, what is said otherwise, and what comes of it: SAME, OTHER, or the sentence that refuses it
ROWS = [
    ("llama", "llama", {}, SAME),
    ("llama", "llama", {"rms_norm_eps": NO}, OTHER),
    ("llama", "llama", {"rms_norm_eps": 0.01}, OTHER),
    ("llama", "llama", {"layer_norm_eps": 0.01, "layer_norm_epsilon": 0.01}, SAME),
    ("llama", "llama", {"rope_theta": NO}, OTHER),
    ("llama", "llama", {"rope_theta": 4.0}, OTHER),
    ("llama", "llama", {"rope_scaling": {"type": "linear", "factor": 2.5}}, OTHER),
    ("llama", "llama", {"rope_scaling": {"rope_type": "linear", "factor": 2.5}, "rope_theta": 4}, OTHER),
    ("llama", "llama", {"rope_scaling": LLAMA3}, OTHER),
    ("llama", "llama", {"rope_scaling": None}, SAME),
    ("llama", "llama", {"rope_scaling": {"rope_type": "default"}}, SAME),
    ("llama", "llama", {"rope_parameters": {"rope_type": "default", "rope_theta": 4.0}, "rope_theta": NO}, OTHER),
    ("llama", "llama", {"rope_parameters": {**LLAMA3, "rope_theta": 4.0}, "rope_theta": NO}, OTHER),
    ("llama", "llama", {"rope_parameters": {"rope_theta": 100.0, "rope_type": "default"}, "rope_theta": NO}, SAME),
    ("llama", "llama", {"sliding_window": 2}, SAME),
    ("llama", "llama", {"attention_bias": True}, OTHER),
    ("llama", "llama", {"mlp_bias": True}, OTHER),
    ("llama", "llama", {"attention_bias": True, "mlp_bias": True}, OTHER),
    ("llama", "llama", {"tie_word_embeddings": True}, SAME),  # its lm_head is another matrix
    ("llama", "llama_tied", {"tie_word_embeddings": True}, OTHER),
    ("llama", "llama_copied", {"tie_word_embeddings": True}, OTHER),
    ("llama", "llama", {"tie_word_embeddings": NO}, SAME),
    ("llama", "llama", {"head_dim": NO}, SAME),
    ("llama", "llama", {"hidden_act": NO}, SAME),
    ("llama", "llama", {"hidden_act": "gelu"}, OTHER),
    ("llama", "llama", {"hidden_act": "gelu_pytorch_tanh"}, OTHER),
    ("llama", "llama", {"hidden_act": "relu"}, OTHER),
    ("llama", "llama", {"num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 2}, OTHER),
    ("llama", "llama_all", {"num_key_value_heads": NO}, OTHER),
    ("llama", "llama_all", {"num_key_value_heads": None}, OTHER),
    ("llama", "llama_wide", {"head_dim": 8}, OTHER),
    ("llama", "llama_wide", {"head_dim": 8, "rope_scaling": LLAMA3, "attention_bias": True}, OTHER),
    ("llama", "llama_wide", {}, "FILE: array 'model.layers.0.self_attn.q_proj.weight' is [16, 8]; expected [8, 8]"),
    ("llama", "llama", {"num_key_value_heads": NO}, "FILE: array 'model.layers.0.self_attn.k_proj.weight' is [4, 8]; expected [8, 8]"),
    ("llama", "llama", {"vocab_size": 10}, "FILE: array 'model.embed_tokens.weight' is [11, 8]; expected [10, 8]"),
    ("llama", "llama", {"intermediate_size": 12}, "FILE: array 'model.layers.0.mlp.up_proj.weight' is [10, 8]; expected [12, 8]"),
    ("llama", "llama", {"hidden_act": "quick_gelu"}, OTHER),
    ("llama", "llama", {"rope_scaling": {"type": "dynamic", "factor": 2}},
     "CONFIG has 'rope_scaling' = {\"factor\":2,\"type\":\"dynamic\"}; expected type default, linear, llama3, yarn or "
     "longrope: other scaled positions are not computed here"),
    ("llama", "llama", {"rope_parameters": {"full_attention": {"rope_theta": 4}}},
     "CONFIG 'rope_parameters' has the key 'full_attention', which is not computed here"),
    ("llama", "llama", {"rope_parameters": {"rope_type": "default", "partial_rotary_factor": 0.5}},
     "CONFIG 'rope_parameters' has 'partial_rotary_factor' = 0.5; expected 1: it is not computed here"),
    ("mistral", "llama", {"sliding_window": 3}, OTHER),
    ("mistral", "llama", {"sliding_window": None}, OTHER),
    ("mistral", "llama", {}, OTHER),
    ("mistral", "llama", {"rms_norm_eps": NO}, OTHER),
    ("mistral", "llama", {"attention_bias": True, "mlp_bias": True, "sliding_window": 3}, SAME),
    ("mistral", "llama_wide", {"head_dim": 8, "sliding_window": 2}, OTHER),
    ("mistral", "llama", {"num_key_value_heads": NO}, "CONFIG has 2 heads and 8 key-value heads; expected a divisor"),
    ("qwen2", "llama", {}, SAME),
    ("qwen2", "llama", {"rms_norm_eps": NO}, OTHER),
    ("qwen2", "llama", {"sliding_window": 3}, SAME),
    ("qwen2", "llama", {**SLIDING, "max_window_layers": 0}, OTHER),
    ("qwen2", "llama", {**SLIDING}, SAME),
    ("qwen2", "llama", {**SLIDING, "layer_types": ["sliding_attention"] * 2}, OTHER),
    ("qwen2", "llama", {"tie_word_embeddings": True}, SAME),
    ("qwen2", "llama", {**SLIDING, "max_window_layers": 1}, OTHER),
    ("llama", "llama", {"rope_scaling": YARN}, OTHER),
    ("llama", "llama", {"rope_scaling": {**YARN, "truncate": False, "beta_fast": 4, "beta_slow": 0.5, "attention_factor": 2}}, OTHER),
    ("llama", "llama", {"rope_scaling": {**YARN, "mscale": 0.7, "mscale_all_dim": 0.3}}, OTHER),
    ("llama", "llama", {"rope_scaling": YARN, "original_max_position_embeddings": 32}, OTHER),
    ("llama", "llama", {"rope_scaling": LLAMA3, "original_max_position_embeddings": 8}, OTHER),
    ("llama", "llama", {"rope_scaling": LONG}, OTHER),
    ("llama", "llama", {"rope_scaling": {**LONG, "factor": 2.0}}, OTHER),
    ("llama", "llama", {"rope_scaling": {**LONG, "factor": 2.0}, "original_max_position_embeddings": 4}, OTHER),
    ("llama", "llama", {"rope_scaling": {**LONG, "factor": 2.0, "original_max_position_embeddings": 16}}, OTHER),
    ("llama", "llama", {"rope_scaling": {**LONG, "original_max_position_embeddings": 16}, "original_max_position_embeddings": 4}, OTHER),
    ("llama", "llama", {"rope_scaling": {**LONG, "attention_factor": 1.5, "factor": 2.0}}, OTHER),
    ("llama", "llama", {"rope_scaling": {"rope_type": "yarn"}}, "CONFIG 'rope_scaling' has no 'factor'"),
    ("llama", "llama", {"rope_scaling": {"rope_type": "longrope", "factor": 2.0, "short_factor": [1.0], "long_factor": [2.0, 3.0]}},
     "CONFIG 'rope_scaling' has 'short_factor' = [1.0]; expected a list of 2 numbers above 0"),
    ("qwen2", "llama", {"use_mrope": True}, "CONFIG has 'use_mrope', which is not computed here"),
    ("qwen3", "llama", {}, SAME),
    ("qwen3", "llama", {"attention_bias": True}, OTHER),
    ("qwen3", "llama", {**SLIDING, "layer_types": ["sliding_attention", "full_attention"]}, OTHER),
    ("qwen3", "llama_wide", {"head_dim": 8, "rope_scaling": {"rope_type": "yarn", "factor": 4.0}, "max_position_embeddings": 16}, OTHER),
    ("qwen3", "llama", {"rms_norm_eps": 0.01}, OTHER),
    ("qwen3", "llama", {**SLIDING, "max_window_layers": 0}, OTHER),
    ("qwen3", "llama_wide", {"head_dim": 8}, OTHER),
    ("gpt2", "gpt2", {}, SAME),
    ("gpt2", "gpt2", {"layer_norm_epsilon": NO}, OTHER),
    ("gpt2", "gpt2", {"layer_norm_epsilon": NO, "layer_norm_eps": 0.01, "rms_norm_eps": 0.01}, OTHER),
    ("gpt2", "gpt2", {"n_head": 4}, OTHER),
    ("gpt2", "gpt2", {"n_inner": NO}, SAME),
    ("gpt2", "gpt2", {"activation_function": NO}, SAME),
    ("gpt2", "gpt2", {"activation_function": "relu"}, OTHER),
    ("gpt2", "gpt2", {"activation_function": "silu"}, OTHER),
    ("gpt2", "gpt2", {"tie_word_embeddings": True}, SAME),
    ("gpt2", "gpt2", {"tie_word_embeddings": False}, SAME),
    ("gpt2", "gpt2_tied", {}, OTHER),
    ("gpt2", "gpt2", {"sliding_window": 2, "rope_theta": 4.0, "num_key_value_heads": NO}, SAME),
    ("gpt2", "gpt2", {"n_inner": 32}, "FILE: array 'transformer.h.0.mlp.c_fc.weight' is [8, 10]; expected [8, 32]"),
    ("gpt2", "gpt2", {"n_positions": 9}, "FILE: array 'transformer.wpe.weight' is [7, 8]; expected [9, 8]"),
    ("gpt2", "gpt2", {"scale_attn_by_inverse_layer_idx": True}, "CONFIG has 'scale_attn_by_inverse_layer_idx', which is not computed here"),
    ("gpt2", "gpt2", {"reorder_and_upcast_attn": True}, "CONFIG has 'reorder_and_upcast_attn', which is not computed here"),
    ("gpt2", "gpt2", {"scale_attn_weights": False}, "CONFIG has 'scale_attn_weights' = false, which is not computed here"),
    ("gpt2", "gpt2", {"pruned_heads": {"0": [1]}}, "CONFIG has 'pruned_heads' = {\"0\":[1]}; expected none: it is not computed here"),
    ("bert", "bert", {}, SAME),
    ("bert", "bert", {"layer_norm_eps": NO}, OTHER),
    ("bert", "bert", {"hidden_act": NO}, SAME),
    ("bert", "bert", {"hidden_act": "relu"}, OTHER),
    ("bert", "bert", {"hidden_act": "silu"}, OTHER),
    ("bert", "bert", {"num_attention_heads": 4}, OTHER),
    ("bert", "bert", {"position_embedding_type": "absolute", "is_decoder": False, "pad_token_id": 3}, SAME),
    ("bert", "bert", {"position_embedding_type": "relative_key"},
     "CONFIG has 'position_embedding_type' = \"relative_key\"; expected \"absolute\""),
    ("bert", "bert", {"is_decoder": True}, "CONFIG has 'is_decoder' = true; expected false: it is computed as an encoder"),
    ("bert", "bert", {"type_vocab_size": 3}, "FILE: array 'bert.embeddings.token_type_embeddings.weight' is [2, 8]; expected [3, 8]"),
    ("bert", "bert", {"max_position_embeddings": 6},
     "FILE: array 'bert.embeddings.position_embeddings.weight' is [7, 8]; expected [6, 8]"),
    ("vit", "vit", {}, SAME),
    ("vit", "vit", {"layer_norm_eps": NO}, OTHER),
    ("vit", "vit", {"qkv_bias": False}, OTHER),
    ("vit", "vit", {"qkv_bias": NO, "num_channels": NO}, SAME),
    ("vit", "vit", {"hidden_act": "relu"}, OTHER),
    ("vit", "vit", {"num_attention_heads": 4}, OTHER),
    ("vit", "vit", {"image_size": 6}, "FILE: array 'vit.embeddings.position_embeddings' is [1, 5, 8]; expected [10, 8]"),
]
BASES = {"llama": LLAMA, "mistral": LLAMA, "qwen2": LLAMA, "qwen3": LLAMA, "gpt2": GPT2, "bert": BERT, "vit": VIT}
MODULES = {"gpt2": gpt2, "bert": bert, "vit": vit}


def flat(values):
    return [float(f"{value:.7g}") for value in values.flatten().tolist()]


def main():
    HERE.mkdir(exist_ok=True)
    for name, arrays in FILES.items():
        save(HERE / f"{name}.safetensors", arrays)
    rows, first = [], {}
    for family, file, said, outcome in ROWS:
        config = {**BASES[family], "model_type": family, **said}
        config = {key: value for key, value in config.items() if value is not NO}
        row = {"config": config, "file": file}
        if outcome in (SAME, OTHER):
            weights = {name: array.double() for name, array in FILES[file].items()}
            residual, logits = MODULES.get(family, llama)(config, weights)
            of_all = residual.flatten() if logits is None else torch.cat((residual.flatten(), logits.flatten()))
            base = first.setdefault(family, of_all)
            apart = ((of_all - base).abs().max() / base.abs().max()).item() if base is not of_all else 0.0
            assert apart == 0.0 if outcome == SAME else base is of_all or apart > 1e-3, (family, said, apart)
            row["residual"] = flat(residual)
            if logits is not None:
                row["logits"] = flat(logits)
        else:
            row["fault"] = outcome
        rows.append(json.dumps(row))
    text = ",\n".join(rows)
    (HERE / "variants.json").write_text(f'{{"ids":{IDS},"pixels":{json.dumps(flat(PIXELS))},\n"rows":[\n{text}\n]}}\n')


main()
