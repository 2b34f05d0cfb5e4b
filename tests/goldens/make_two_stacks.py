#!/usr/bin/env python3
"""Makes models/<family> of the families of two stacks, and variants/two_stacks.json: their config.json in other ways.

Run from anywhere: python3 tests/goldens/make_two_stacks.py [FAMILY…] (Debian: python3-torch). The modules are written out here in
float64, with the defaults of Hugging Face's configuration classes (transformers 4.57); folders, rows and files are as those of
make_families.py and make_variants.py. A row that is to change the numbers is checked to change them by 1e-3.
"""

import json
import math
import sys

import torch
import torch.nn.functional as F
from PIL import Image

from make_families import HIDDEN, IDS, WIDTH, WORDS, Weights, attend
from make_models import HERE, heads, save, write

ACTIVATIONS = {"relu": F.relu, "gelu": F.gelu, "silu": F.silu, "gelu_new": lambda x: F.gelu(x, approximate="tanh"),
               "quick_gelu": lambda x: x * torch.sigmoid(1.702 * x)}
NO = object()  # a key that is not there
SAME, OTHER = "same", "other"
WRITTEN = [7, 30, 30, 12, 41, 3]


def distance_rows(query, key, both_sides, buckets, farthest):
    """Rows of T5's table for j − i, in float32 as modeling_t5.py has it: Raffel et al. 2020, §2.1."""
    away = torch.arange(key)[None] - torch.arange(query)[:, None]
    first, half = torch.zeros_like(away), buckets
    if both_sides:
        half = buckets // 2
        first = (away > 0) * half
        away = away.abs()
    else:
        away = -away.clamp(max=0)
    near = half // 2
    far = near + (torch.log(away.float() / near) / math.log(farthest / near) * (half - near)).to(torch.long)
    return first + torch.where(away < near, away, far.clamp(max=half - 1))


LM_HEAD = "the file has an lm_head"  # of a row: no key of config.json


def has_lm_head(config):
    tied = config.get("tie_word_embeddings", config["model_type"] != "mt5")
    return config.get(LM_HEAD, not tied or config.get("transformers_version", "4") >= "5")


class T5:
    """Raffel et al. 2020, arXiv:1910.10683, and its 1.1: encoder l<N>, decoder d<N>, the attention across c<N>."""

    def __init__(self, m, config):
        c = {"num_decoder_layers": config["num_layers"], "relative_attention_num_buckets": 32, "relative_attention_max_distance": 128,
             "layer_norm_epsilon": 1e-6, "d_kv": 64, "pad_token_id": 0, **config}
        mt5 = c["model_type"] == "mt5"
        said = c.get("feed_forward_proj", "gated-gelu" if mt5 else "relu")
        self.m, self.c, self.gate = m, c, said.startswith("gated-")
        self.act = ACTIVATIONS["gelu_new" if said == "gated-gelu" else said.removeprefix("gated-")]
        self.table = m.put("shared.weight", WORDS, WIDTH, scale=1.0)
        start = c.get("decoder_start_token_id", c["pad_token_id"])
        written = torch.tensor([start, *WRITTEN])
        self.residual = None
        said = self.stack(written, "decoder", c["num_decoder_layers"], self.stack(IDS, "encoder", c["num_layers"]))
        tied, newer = c.get("tie_word_embeddings", not mt5), int(c.get("transformers_version", "4").split(".")[0]) >= 5
        scaled = tied and not newer if mt5 else c.get("scale_decoder_outputs", tied)  # of 5 it is another key; all say that they are tied
        # tie_weights() of transformers 5: a matrix of its own counts, whatever config.json says
        self.logits = m.linear("lm_head", said, WORDS, scale=0.5) if has_lm_head(c) else said @ self.table.t()
        if scaled:
            self.logits = self.logits * WIDTH ** -0.5
        m.expected |= {"written": written, "logits": self.logits}

    def attention(self, at, x, kv, key, causal=False, bias=0.0):
        m, count, wide = self.m, self.c["num_heads"], self.c["num_heads"] * self.c["d_kv"]
        q = heads(m.linear(f"{at}.q", x, wide), count)
        k, v = (heads(m.linear(f"{at}.{part}", kv, wide), count) for part in "kv")
        scores = q @ k.transpose(-1, -2) + bias
        if causal:
            scores = scores.masked_fill(torch.ones(scores.shape[1:]).triu(1) > 0, -math.inf)
        a = scores.softmax(-1)
        output = m.linear(f"{at}.o", (a @ v).transpose(0, 1).flatten(1), WIDTH)
        m.expected.update({f"{key}.q": q, f"{key}.k": k, f"{key}.v": v, f"{key}.weights": a, f"{key}.output": output})
        return output

    def mlp(self, at, x):
        m = self.m
        hidden = self.act(m.linear(f"{at}.wi_0" if self.gate else f"{at}.wi", x, HIDDEN))
        return m.linear(f"{at}.wo", hidden * m.linear(f"{at}.wi_1", x, HIDDEN) if self.gate else hidden, WIDTH)

    def stack(self, ids, which, layers, memory=None):
        m, c, encoder = self.m, self.c, memory is None
        x = self.table[ids]
        norm = lambda name: m.rms(name, x, c["layer_norm_epsilon"])
        buckets = c["relative_attention_num_buckets"]
        rows = distance_rows(len(ids), len(ids), encoder, buckets, c["relative_attention_max_distance"])
        bias = m.put(f"{which}.block.0.layer.0.SelfAttention.relative_attention_bias.weight", buckets, c["num_heads"], scale=1.5)
        bias = bias[rows].permute(2, 0, 1)
        for n in range(layers):
            at, key = f"{which}.block.{n}.layer", ("l" if encoder else "d") + str(n)
            inside = norm(f"{at}.0.layer_norm")
            x = x + self.attention(f"{at}.0.SelfAttention", inside, inside, key, not encoder, bias)
            if not encoder:
                x = x + self.attention(f"{at}.1.EncDecAttention", norm(f"{at}.1.layer_norm"), memory, f"c{n}")
                m.expected[f"c{n}.residual"] = x
            last = f"{at}.{1 if encoder else 2}"
            x = x + self.mlp(f"{last}.DenseReluDense", norm(f"{last}.layer_norm"))
            m.expected[f"{key}.residual"] = self.residual = x
        return norm(f"{which}.final_layer_norm")


T5_CONFIG = {"architectures": ["T5ForConditionalGeneration"], "vocab_size": WORDS, "d_model": WIDTH, "d_kv": 6, "d_ff": HIDDEN,
             "num_layers": 2, "num_decoder_layers": 3, "num_heads": 3, "relative_attention_num_buckets": 8,
             "relative_attention_max_distance": 6, "decoder_start_token_id": 0, "pad_token_id": 0, "is_encoder_decoder": True,
             "layer_norm_epsilon": 1e-6}


def t5(name, seed, config):
    m = Weights(seed)
    config = {"model_type": name, **T5_CONFIG, **config}
    T5(m, config)
    m.arrays["encoder.embed_tokens.weight"] = m.arrays["decoder.embed_tokens.weight"] = m.arrays["shared.weight"]
    write(name, config, m.arrays, m.expected)


T5_ROWS = [
    ({}, SAME),
    ({"feed_forward_proj": "gated-gelu"}, OTHER),
    ({"feed_forward_proj": "gated-silu", "tie_word_embeddings": False}, OTHER),
    ({"feed_forward_proj": "gelu", "dense_act_fn": "gelu", "is_gated_act": False}, OTHER),
    ({"feed_forward_proj": NO, "tie_word_embeddings": True}, SAME),
    ({"tie_word_embeddings": False}, OTHER),
    ({"num_decoder_layers": NO}, OTHER),
    ({"layer_norm_epsilon": 0.1}, OTHER),
    ({"layer_norm_epsilon": NO}, SAME),
    ({"relative_attention_max_distance": NO}, OTHER),
    ({"decoder_start_token_id": 9}, OTHER),
    ({"decoder_start_token_id": NO, "pad_token_id": 9}, OTHER),
    ({"decoder_start_token_id": NO, "pad_token_id": NO}, SAME),
    ({"is_encoder_decoder": False, "dropout_rate": 0.1, "use_cache": True}, SAME),
    ({"num_heads": 6, "d_kv": 3}, "FILE: array 'encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight' is [8, 3]; expected [8, 6]"),
    ({"relative_attention_num_buckets": NO, "relative_attention_max_distance": NO},
     "FILE: array 'encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight' is [8, 3]; expected [32, 3]"),
    ({"d_kv": NO}, "FILE: array 'encoder.block.0.layer.0.SelfAttention.q.weight' is [18, 24]; expected [192, 24]"),
    ({"d_ff": 12}, "FILE: array 'encoder.block.0.layer.1.DenseReluDense.wi.weight' is [36, 24]; expected [12, 24]"),
    ({"relative_attention_max_distance": 2},
     "CONFIG has 'relative_attention_num_buckets' = 8 and 'relative_attention_max_distance' = 2; expected at least 4, and a distance "
     "beyond the 2 that have one of their own"),
    ({"feed_forward_proj": "gated-tanh"}, "CONFIG has 'feed_forward_proj' = \"gated-tanh\"; expected relu, gelu, silu or gelu_new, or these "
     "after 'gated-'"),
    ({"is_gated_act": True}, "CONFIG has 'is_gated_act' = true; expected false, as 'feed_forward_proj' says"),
    ({"dense_act_fn": "silu"}, "CONFIG has 'dense_act_fn' = \"silu\"; expected relu, as 'feed_forward_proj' says"),
    ({"num_layers": 4}, "FILE has no array 'encoder.block.2.layer.0.SelfAttention.q.weight', which this model needs"),
    ({"num_decoder_layers": 4}, "FILE has no array 'decoder.block.3.layer.0.SelfAttention.q.weight', which this model needs"),
    ({"sliding_window": 2, "attention_bias": True}, SAME),
    ({"alibi": True}, "CONFIG has 'alibi' = true; expected none: it is not computed here"),
    ({"tie_word_embeddings": True, "scale_decoder_outputs": False, "transformers_version": "5.2.0"}, OTHER),
    ({"tie_word_embeddings": True, "scale_decoder_outputs": True, "transformers_version": "5.2.0"}, OTHER),
    ({"model_type": "mt5", "feed_forward_proj": "relu", "tie_word_embeddings": True, "transformers_version": "5.2.0"}, OTHER),
    ({"model_type": "mt5", "feed_forward_proj": "relu", "tie_word_embeddings": True, "transformers_version": "4.57.1"}, SAME),
    ({"scale_decoder_outputs": 1}, "CONFIG has 'scale_decoder_outputs' = 1; expected true or false"),
    ({"tie_word_embeddings": True, LM_HEAD: True}, OTHER),
]


class Clip:
    """Radford et al. 2021, arXiv:2103.00020: towers text l<N> and image i<N>, and the logits of each image with each text."""

    TEXT = {"vocab_size": 49408, "hidden_size": 512, "intermediate_size": 2048, "num_hidden_layers": 12, "num_attention_heads": 8,
            "max_position_embeddings": 77, "hidden_act": "quick_gelu", "layer_norm_eps": 1e-5, "eos_token_id": 49407}
    IMAGE = {"hidden_size": 768, "intermediate_size": 3072, "num_hidden_layers": 12, "num_attention_heads": 12, "image_size": 224,
             "patch_size": 32, "num_channels": 3, "hidden_act": "quick_gelu", "layer_norm_eps": 1e-5}

    def __init__(self, m, config, texts, images):
        said = lambda key, defaults: {**defaults, **config.get(key, {}), **({**defaults, **config[f"{key}_dict"]} if f"{key}_dict" in config else {})}
        self.m, self.projection = m, config.get("projection_dim", 512)
        text, image = said("text_config", self.TEXT), said("vision_config", self.IMAGE)
        t = torch.stack([self.text(ids, text) for ids in texts])
        i = torch.stack([self.image(pixels, image) for pixels in images])
        self.logits = i @ t.t() * m.arrays.setdefault("logit_scale", torch.tensor(2.125, dtype=torch.float64)).exp()
        m.expected |= {"logits": self.logits, "texts": t, "images": i}

    def blocks(self, x, at, c, key, causal):
        m, count, epsilon = self.m, c["num_attention_heads"], c["layer_norm_eps"]
        act = ACTIVATIONS[c["hidden_act"]]
        for n in range(c["num_hidden_layers"]):
            b = f"{at}.encoder.layers.{n}"
            inside = m.layer_norm(f"{b}.layer_norm1", x, epsilon)
            q, k, v = (heads(m.linear(f"{b}.self_attn.{part}_proj", inside, x.shape[-1], True), count) for part in "qkv")
            a, context = attend(q, k, v, q.shape[-1] ** -0.5, causal)
            output = m.linear(f"{b}.self_attn.out_proj", context, x.shape[-1], True)
            x = x + output
            hidden = act(m.linear(f"{b}.mlp.fc1", m.layer_norm(f"{b}.layer_norm2", x, epsilon), c["intermediate_size"], True))
            x = x + m.linear(f"{b}.mlp.fc2", hidden, x.shape[-1], True)
            m.expected.update({f"{key}{n}.q": q, f"{key}{n}.k": k, f"{key}{n}.v": v, f"{key}{n}.weights": a, f"{key}{n}.residual": x})
        return x

    def text(self, ids, c):
        m, wide = self.m, c["hidden_size"]
        x = m.put("text_model.embeddings.token_embedding.weight", c["vocab_size"], wide, scale=1.0)[ids]
        x = x + m.put("text_model.embeddings.position_embedding.weight", c["max_position_embeddings"], wide, scale=0.5)[: len(ids)]
        x = self.blocks(x, "text_model", c, "l", True)
        end = c["eos_token_id"]
        row = ids.argmax() if end == 2 else (ids == end).int().argmax()
        x = m.linear("text_projection", m.layer_norm("text_model.final_layer_norm", x, c["layer_norm_eps"])[row], self.projection)
        return x / x.norm()

    def image(self, pixels, c):
        m, wide, patch, at = self.m, c["hidden_size"], c["patch_size"], "vision_model.embeddings"
        x = F.conv2d(pixels[None], m.put(f"{at}.patch_embedding.weight", wide, 3, patch, patch, scale=0.2), stride=patch).flatten(2)[0].t()
        x = torch.cat((m.put(f"{at}.class_embedding", wide, scale=1.0)[None], x))
        x = m.layer_norm("vision_model.pre_layrnorm", x + m.put(f"{at}.position_embedding.weight", len(x), wide, scale=0.5), c["layer_norm_eps"])
        x = self.blocks(x, "vision_model", c, "i", False)
        x = m.linear("visual_projection", m.layer_norm("vision_model.post_layernorm", x[0], c["layer_norm_eps"]), self.projection)
        return x / x.norm()


CLIP_TEXTS = [IDS, torch.tensor([43, 7, 33]), torch.tensor([43, 5, 9, 9, 33, 44, 2])]
CLIP_CONFIG = {"architectures": ["CLIPModel"], "projection_dim": 10, "logit_scale_init_value": 2.6592, "text_config": {
    "model_type": "clip_text_model", "vocab_size": WORDS, "hidden_size": WIDTH, "intermediate_size": HIDDEN, "num_hidden_layers": 2,
    "num_attention_heads": 3, "max_position_embeddings": 9, "eos_token_id": 33, "bos_token_id": 43, "projection_dim": 10},
    "vision_config": {"model_type": "clip_vision_model", "hidden_size": 16, "intermediate_size": 20, "num_hidden_layers": 3,
                      "num_attention_heads": 2, "image_size": 14, "patch_size": 4, "projection_dim": 10}}
CLIP_MEAN, CLIP_DEVIATION = (0.48145466, 0.4578275, 0.40821073), (0.26862954, 0.26130258, 0.27577711)


def clip_pixels(image, size):
    """As CLIPImageProcessor has it: the shorter side, bicubic, then the middle."""
    w, h = image.size
    short = min(w, h)
    fitted = image.resize((int(size * w / short), int(size * h / short)), Image.BICUBIC)
    left, top = (fitted.size[0] - size) // 2, (fitted.size[1] - size) // 2
    fitted = fitted.crop((left, top, left + size, top + size))
    x = torch.tensor(list(fitted.getdata()), dtype=torch.float64).reshape(size, size, 3).permute(2, 0, 1) / 255
    return (x - torch.tensor(CLIP_MEAN)[:, None, None].double()) / torch.tensor(CLIP_DEVIATION)[:, None, None].double()


def clip_images(folder, size):
    folder.mkdir(parents=True, exist_ok=True)
    g, pixels = torch.Generator().manual_seed(45), []
    for name, shape in (("image.png", (23, 37, 3)), ("tall.png", (40, 17, 3))):
        image = Image.fromarray(torch.randint(0, 256, shape, generator=g, dtype=torch.uint8).numpy())
        image.save(folder / name)
        pixels.append(clip_pixels(image, size))
    return pixels


def clip():
    m, folder = Weights(46), HERE / "clip"
    pixels = clip_images(folder, 14)
    Clip(m, CLIP_CONFIG, CLIP_TEXTS[::-1], pixels[::-1])  # the first are left as the layers
    m.expected |= {"pixels": pixels[0], "logits": m.expected["logits"].flip(0, 1)}
    m.expected |= {key: m.expected[key].flip(0) for key in ("texts", "images")}
    m.arrays["text_model.embeddings.position_ids"] = torch.arange(9)[None]
    write("clip", CLIP_CONFIG, m.arrays, m.expected)
    (folder / "preprocessor_config.json").write_text(json.dumps({
        "do_center_crop": True, "crop_size": 14, "do_resize": True, "size": {"shortest_edge": 14}, "resample": 3,
        "image_mean": CLIP_MEAN, "image_std": CLIP_DEVIATION}) + "\n")


def within(section, **said):
    return {section: {**CLIP_CONFIG[section], **said}}


CLIP_ROWS = [
    ({}, SAME),
    (within("text_config", hidden_act="gelu"), OTHER),
    (within("vision_config", hidden_act="gelu"), OTHER),
    (within("text_config", hidden_act="quick_gelu"), SAME),
    (within("text_config", num_attention_heads=4), OTHER),
    (within("vision_config", num_attention_heads=4), OTHER),
    (within("text_config", layer_norm_eps=0.1), OTHER),
    (within("vision_config", layer_norm_eps=0.1), OTHER),
    (within("text_config", eos_token_id=2), OTHER),
    (within("text_config", eos_token_id=9), OTHER),
    (within("vision_config", num_hidden_layers=2), OTHER),
    ({"text_config_dict": CLIP_CONFIG["text_config"]}, SAME),
    (within("text_config", projection_dim=3, attention_dropout=0.5), SAME),
    ({"projection_dim": NO}, "FILE: array 'text_projection.weight' is [10, 24]; expected [512, 24]"),
    (within("vision_config", image_size=18), "FILE: array 'vision_model.embeddings.position_embedding.weight' is [10, 16]; expected [17, 16]"),
    ({"text_config": {}}, "FILE: array 'text_model.embeddings.token_embedding.weight' is [45, 24]; expected [49408, 512]"),
    ({"vision_config": {}}, "FILE: array 'vision_model.embeddings.class_embedding' is [16]; expected [1, 768]"),
    ({"vision_config": 3}, "CONFIG has 'vision_config' = 3; expected an object"),
    (within("text_config", hidden_act="tanh"),
     "CONFIG 'text_config' has 'hidden_act' = \"tanh\"; expected relu, gelu, gelu_new, gelu_pytorch_tanh, quick_gelu or silu"),
    (within("text_config", alibi=True), "CONFIG 'text_config' has 'alibi' = true; expected none: it is not computed here"),
    ({"qk_norm": True}, "CONFIG has 'qk_norm' = true; expected none: it is not computed here"),
]


def clip_numbers(m, config):
    pixels = clip_images(HERE / "clip", 14)
    made = Clip(m, config, CLIP_TEXTS, pixels)
    return made.m.expected["images"], made.logits


def short(values):
    return [float(f"{value:.7g}") for value in values.flatten().tolist()]


def rows_of(family, table, base, compute, seed):
    """One file has what all rows use."""
    m, first, rows = Weights(seed), None, []
    for said, outcome in table:
        config = {key: value for key, value in {"model_type": family, **base, **said}.items() if value is not NO}
        row = {"config": {key: value for key, value in config.items() if key != LM_HEAD},
               "file": family if family != "t5" or has_lm_head(config) else "t5_tied"}
        if outcome in (SAME, OTHER):
            residual, logits = compute(m, config)
            both = torch.cat((residual.flatten(), logits.flatten()))
            first = both if first is None else first
            apart = (both - first).abs().max() / first.abs().max()
            assert apart == 0 if outcome == SAME else apart > 1e-3, (said, apart)
            row |= {"residual": short(residual), "logits": short(logits)}
        else:
            row["fault"] = outcome
        rows.append(json.dumps(row))
    save(HERE.parent / "variants" / f"{family}.safetensors", m.arrays)
    if family == "t5":
        save(HERE.parent / "variants" / "t5_tied.safetensors", {name: array for name, array in m.arrays.items() if name != "lm_head.weight"})
    return rows


def t5_numbers(m, config):
    made = T5(m, config)
    return made.residual, made.logits


def variants():
    text = " ".join(map(str, IDS.tolist()))
    write_rows("t5", rows_of("t5", T5_ROWS, T5_CONFIG, t5_numbers, 44), text, " ".join(map(str, WRITTEN)))
    texts = " || ".join(" ".join(map(str, ids.tolist())) for ids in CLIP_TEXTS)
    write_rows("clip", rows_of("clip", CLIP_ROWS, CLIP_CONFIG, clip_numbers, 47), texts, "image.png || tall.png")


def write_rows(family, rows, text, beside):
    lines = ",\n".join(rows)
    (HERE.parent / "variants" / f"{family}.json").write_text(f'{{"text":"{text}","beside":"{beside}",\n"rows":[\n{lines}\n]}}\n')


MADE = {
    "t5": lambda: t5("t5", 41, {}),
    "t5~gated": lambda: t5("t5~gated", 42, {"model_type": "t5", "feed_forward_proj": "gated-gelu", "tie_word_embeddings": False,
                                            "dense_act_fn": "gelu_new", "is_gated_act": True}),
    "mt5": lambda: t5("mt5", 43, {}),
    "clip": clip,
    "variants": variants,
}
if __name__ == "__main__":
    for name in sys.argv[1:] or MADE:
        MADE[name]()
