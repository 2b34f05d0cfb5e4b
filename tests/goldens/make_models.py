#!/usr/bin/env python3
"""Makes models/<family>: a small model of random weights and what PyTorch's own modules compute with it, layer by layer.

Run from anywhere: python3 tests/goldens/make_models.py [FAMILY…] (Debian: python3-torch, python3-pil). A model is a folder as Hugging Face writes it
(config.json, model.safetensors) and expected.safetensors: ids, and for each layer q, k, v, weights, output (of attention)
and residual (after the block), then logits or embedding. GPT-2, BERT and ViT are torch.nn.TransformerEncoderLayer, whose
weights are written under the family's names. Of ViT, in place of ids: image.png, and pixels, which are Pillow's own
resizing of it, read by torch.nn.Conv2d; Llama, Qwen 3 and the sentence encoder are written out here, in float64.
"""

import json
import math
import pathlib
import struct
import sys

import torch
import torch.nn.functional as F
from PIL import Image

HERE = pathlib.Path(__file__).resolve().parent / "models"


def save(path, tensors):
    header, blobs, at = {}, [], 0
    for name, tensor in tensors.items():
        tensor = tensor.detach().contiguous()
        tensor = tensor.to(torch.int64) if tensor.dtype == torch.int64 else tensor.to(torch.float32)
        blob = tensor.numpy().tobytes()
        kind = "I64" if tensor.dtype == torch.int64 else "F32"
        header[name] = {"dtype": kind, "shape": list(tensor.shape), "data_offsets": [at, at + len(blob)]}
        at += len(blob)
        blobs.append(blob)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + b"".join(blobs))


def write(name, config, weights, expected):
    folder = HERE / name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps({"model_type": name, **config}, indent=1) + "\n")
    save(folder / "model.safetensors", weights)
    save(folder / "expected.safetensors", expected)


def random(generator, *shape, scale=None):
    scale = 1 / math.sqrt(shape[0]) if scale is None else scale
    return (torch.randn(*shape, generator=generator) * scale).to(torch.float32).to(torch.float64)


def heads(x, count):
    return x.unflatten(-1, (count, -1)).transpose(0, 1)  # [H, T, d]


def attention(q, k, v, causal, window=None):
    group = q.shape[0] // k.shape[0]
    scores = q @ k.repeat_interleave(group, 0).transpose(-1, -2) / math.sqrt(q.shape[-1])
    i, j = torch.arange(q.shape[1])[:, None], torch.arange(k.shape[1])[None]
    allowed = (j <= i) if causal else torch.ones_like(i + j, dtype=torch.bool)
    if window:
        allowed = allowed & (i - j < window)
    weights = scores.masked_fill(~allowed, -math.inf).softmax(-1)
    return weights, (weights @ v.repeat_interleave(group, 0)).transpose(0, 1).flatten(1)


def torch_layer(width, count, hidden, activation, norm_first, generator):
    layer = torch.nn.TransformerEncoderLayer(width, count, hidden, 0.0, activation, 1e-5 if norm_first else 1e-12,
                                             batch_first=True, norm_first=norm_first).double().eval()
    for parameter in layer.parameters():
        with torch.no_grad():
            parameter.copy_(random(generator, *parameter.shape, scale=0.3))
    return layer


def attention_of(layer, x, mask, norm_first):
    """q, k, v of torch's layer and its own weights and output."""
    inside = layer.norm1(x) if norm_first else x
    attn = layer.self_attn
    q, k, v = (F.linear(inside, attn.in_proj_weight, attn.in_proj_bias)).chunk(3, -1)
    output, weights = attn(inside, inside, inside, attn_mask=mask, average_attn_weights=False)
    n = attn.num_heads
    return {"q": heads(q[0], n), "k": heads(k[0], n), "v": heads(v[0], n), "weights": weights[0], "output": output[0]}


def gpt2():
    g = torch.Generator().manual_seed(1)
    width, count, vocabulary, positions, layers = 24, 3, 50, 16, 2
    ids = torch.tensor([7, 7, 0, 49, 12, 3, 30])
    mask = torch.full((7, 7), -math.inf, dtype=torch.float64).triu(1)
    gelu = lambda x: F.gelu(x, approximate="tanh")
    wte, wpe = random(g, vocabulary, width, scale=1.0), random(g, positions, width, scale=0.2)
    weights = {"transformer.wte.weight": wte, "transformer.wpe.weight": wpe}
    expected = {"ids": ids}
    x = (wte[ids] + wpe[: len(ids)])[None]
    for n in range(layers):
        layer = torch_layer(width, count, 40, gelu, True, g)
        at = f"transformer.h.{n}."
        for ours, theirs in (("ln_1", layer.norm1), ("ln_2", layer.norm2)):
            weights[f"{at}{ours}.weight"], weights[f"{at}{ours}.bias"] = theirs.weight, theirs.bias
        weights[f"{at}attn.c_attn.weight"] = layer.self_attn.in_proj_weight.t()
        weights[f"{at}attn.c_attn.bias"] = layer.self_attn.in_proj_bias
        for ours, theirs in (("attn.c_proj", layer.self_attn.out_proj), ("mlp.c_fc", layer.linear1),
                             ("mlp.c_proj", layer.linear2)):
            weights[f"{at}{ours}.weight"], weights[f"{at}{ours}.bias"] = theirs.weight.t(), theirs.bias
        weights[f"{at}attn.bias"] = torch.ones(1, 1, 4, 4).tril()
        for key, value in attention_of(layer, x, mask, True).items():
            expected[f"l{n}.{key}"] = value
        x = layer(x, src_mask=mask)
        expected[f"l{n}.residual"] = x[0]
    scale, shift = 1 + random(g, width, scale=0.1), random(g, width, scale=0.1)
    weights["transformer.ln_f.weight"], weights["transformer.ln_f.bias"] = scale, shift
    expected["logits"] = F.layer_norm(x[0], (width,), scale, shift, 1e-5) @ wte.t()
    write("gpt2", {"n_embd": width, "n_layer": layers, "n_head": count, "vocab_size": vocabulary,
                   "n_positions": positions, "layer_norm_epsilon": 1e-5, "activation_function": "gelu_new"},
          weights, expected)


def bert():
    g = torch.Generator().manual_seed(2)
    width, count, vocabulary, positions, layers = 24, 4, 40, 12, 2
    ids = torch.tensor([2, 30, 11, 39, 11, 3])
    word, place, kind = (random(g, n, width, scale=1.0) for n in (vocabulary, positions, 2))
    scale, shift = 1 + random(g, width, scale=0.1), random(g, width, scale=0.1)
    at = "bert.embeddings."
    weights = {f"{at}word_embeddings.weight": word, f"{at}position_embeddings.weight": place,
               f"{at}token_type_embeddings.weight": kind, f"{at}LayerNorm.gamma": scale, f"{at}LayerNorm.beta": shift}
    expected = {"ids": ids}
    x = F.layer_norm(word[ids] + place[: len(ids)] + kind[0], (width,), scale, shift, 1e-12)[None]
    for n in range(layers):
        layer = torch_layer(width, count, 32, "gelu", False, g)
        at = f"bert.encoder.layer.{n}."
        for name, w, b in zip(("query", "key", "value"), layer.self_attn.in_proj_weight.chunk(3),
                              layer.self_attn.in_proj_bias.chunk(3)):
            weights[f"{at}attention.self.{name}.weight"], weights[f"{at}attention.self.{name}.bias"] = w, b
        for ours, theirs in (("attention.output.dense", layer.self_attn.out_proj),
                             ("attention.output.LayerNorm", layer.norm1), ("intermediate.dense", layer.linear1),
                             ("output.dense", layer.linear2), ("output.LayerNorm", layer.norm2)):
            weights[f"{at}{ours}.weight"], weights[f"{at}{ours}.bias"] = theirs.weight, theirs.bias
        for key, value in attention_of(layer, x, None, False).items():
            expected[f"l{n}.{key}"] = value
        x = layer(x)
        expected[f"l{n}.residual"] = x[0]
    write("bert", {"hidden_size": width, "num_hidden_layers": layers, "num_attention_heads": count,
                   "vocab_size": vocabulary, "max_position_embeddings": positions, "layer_norm_eps": 1e-12,
                   "hidden_act": "gelu"}, weights, expected)


def rms(x, scale):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * scale


def rotated(x, base):
    half = x.shape[-1] // 2
    angle = torch.arange(x.shape[1], dtype=torch.float64)[:, None] * base ** (-torch.arange(half) / half)
    a, b = x[..., :half], x[..., half:]
    return torch.cat((a * angle.cos() - b * angle.sin(), b * angle.cos() + a * angle.sin()), -1)


def llama(name, seed, *, biases=False, head_norms=False, window=None, head_width=8, tied=False):
    g = torch.Generator().manual_seed(seed)
    width, count, groups, vocabulary, hidden, layers, base = 24, 4, 2, 45, 36, 2, 500.0
    ids = torch.tensor([1, 44, 20, 20, 5, 9, 33, 2])
    weights = {"model.embed_tokens.weight": random(g, vocabulary, width, scale=1.0)}
    expected = {"ids": ids}
    x = weights["model.embed_tokens.weight"][ids]
    for n in range(layers):
        at = f"model.layers.{n}."
        for key in ("input_layernorm", "post_attention_layernorm"):
            weights[f"{at}{key}.weight"] = 1 + random(g, width, scale=0.1)
        inside = rms(x, weights[f"{at}input_layernorm.weight"])
        made = {}
        for key, rows in (("q", count), ("k", groups), ("v", groups)):
            w = weights[f"{at}self_attn.{key}_proj.weight"] = random(g, rows * head_width, width, scale=0.4)
            made[key] = inside @ w.t()
            if biases:
                b = weights[f"{at}self_attn.{key}_proj.bias"] = random(g, rows * head_width, scale=0.2)
                made[key] = made[key] + b
            made[key] = heads(made[key], rows)
        if head_norms:
            for key in ("q", "k"):
                scale = weights[f"{at}self_attn.{key}_norm.weight"] = 1 + random(g, head_width, scale=0.2)
                made[key] = rms(made[key], scale)
        w_o = weights[f"{at}self_attn.o_proj.weight"] = random(g, width, count * head_width, scale=0.3)
        a, context = attention(rotated(made["q"], base), rotated(made["k"], base), made["v"], True, window)
        output = context @ w_o.t()
        for key, value in {**made, "weights": a, "output": output}.items():
            expected[f"l{n}.{key}"] = value
        x = x + output
        inside = rms(x, weights[f"{at}post_attention_layernorm.weight"])
        gate, up, down = (weights.setdefault(f"{at}mlp.{key}_proj.weight", random(g, *shape, scale=0.3))
                          for key, shape in (("gate", (hidden, width)), ("up", (hidden, width)), ("down", (width, hidden))))
        x = x + (F.silu(inside @ gate.t()) * (inside @ up.t())) @ down.t()
        expected[f"l{n}.residual"] = x
    weights["model.norm.weight"] = 1 + random(g, width, scale=0.1)
    read_out = weights["model.embed_tokens.weight"]
    if not tied:
        read_out = weights["lm_head.weight"] = random(g, vocabulary, width, scale=0.5)
    expected["logits"] = rms(x, weights["model.norm.weight"]) @ read_out.t()
    config = {"hidden_size": width, "num_hidden_layers": layers, "num_attention_heads": count, "num_key_value_heads": groups,
              "head_dim": head_width, "vocab_size": vocabulary, "rope_theta": base, "rms_norm_eps": 1e-6,
              "hidden_act": "silu", "tie_word_embeddings": tied, "max_position_embeddings": 64}
    if window:
        config["sliding_window"] = window
    write(name, config, weights, expected)


def use_lite():
    """Universal Sentence Encoder Lite, small."""
    g = torch.Generator().manual_seed(5)
    vocabulary, sizes, count = 40, (16, 32, 32), 4
    ids = torch.tensor([9, 8, 39, 12, 8])
    weights = {"embedding.weight": random(g, vocabulary, sizes[0], scale=1.0)}
    expected = {"ids": ids}
    half = sizes[0] // 2
    angle = torch.arange(len(ids))[:, None] * torch.exp(-math.log(1e4) / (half - 1) * torch.arange(half, dtype=torch.float64))
    x = 2 * weights["embedding.weight"][ids] + torch.cat((angle.sin(), angle.cos()), -1)

    def linear(name, into, out):
        w = weights[f"{name}.weight"] = random(g, into, out)
        b = weights[f"{name}.bias"] = random(g, out, scale=0.1)
        return lambda x: x @ w + b

    def norm(name, width):
        w = weights[f"{name}.weight"] = 1 + random(g, width, scale=0.1)
        b = weights[f"{name}.bias"] = random(g, width, scale=0.1)
        return lambda x: F.layer_norm(x, (width,), w, b, 1e-6)

    for n, (into, out) in enumerate(zip(sizes, sizes[1:])):
        at = f"layers.{n}."
        inside = norm(f"{at}attention_norm", into)(x)
        q, k, v = (heads(part, count) for part in linear(f"{at}qkv", into, 3 * into)(inside).chunk(3, -1))
        a, context = attention(q, k, v, False)
        output = linear(f"{at}out", into, out)(context)
        for key, value in {"q": q, "k": k, "v": v, "weights": a, "output": output}.items():
            expected[f"l{n}.{key}"] = value
        x = (linear(f"{at}residual", into, out)(x) if into != out else x) + output
        inside = norm(f"{at}mlp_norm", out)(x)
        x = x + linear(f"{at}down", 48, out)(F.relu(linear(f"{at}up", out, 48)(inside)))
        expected[f"l{n}.residual"] = x
    vector = torch.tanh(linear("read_out", sizes[-1], sizes[-1])(x.mean(0)))
    expected["embedding"] = vector / vector.norm()
    write("use_lite", {"hidden_size": sizes[0], "num_hidden_layers": 2, "num_attention_heads": count,
                       "vocab_size": vocabulary, "max_position_embeddings": 128, "layer_norm_eps": 1e-6}, weights, expected)


def vit():
    g = torch.Generator().manual_seed(8)
    width, count, size, patch, classes, layers = 24, 3, 14, 4, 5, 2  # 2 columns and rows of pixels are in no patch
    mean, deviation = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]
    folder = HERE / "vit"
    folder.mkdir(parents=True, exist_ok=True)
    noise = torch.randint(0, 256, (23, 37, 3), generator=g, dtype=torch.uint8)
    Image.fromarray(noise.numpy()).save(folder / "image.png")
    fitted = Image.fromarray(noise.numpy()).resize((size, size), Image.BILINEAR)
    values = torch.tensor(list(fitted.getdata()), dtype=torch.float64).reshape(size, size, 3).permute(2, 0, 1)
    pixels = (values / 255 - torch.tensor(mean)[:, None, None]) / torch.tensor(deviation)[:, None, None]
    conv = torch.nn.Conv2d(3, width, patch, patch).double()
    for parameter in conv.parameters():
        with torch.no_grad():
            parameter.copy_(random(g, *parameter.shape, scale=0.2))
    side = size // patch
    token, place = random(g, 1, 1, width, scale=1.0), random(g, 1, side * side + 1, width, scale=0.5)
    at = "vit.embeddings."
    weights = {f"{at}cls_token": token, f"{at}position_embeddings": place,
               f"{at}patch_embeddings.projection.weight": conv.weight, f"{at}patch_embeddings.projection.bias": conv.bias}
    expected = {"pixels": pixels}
    x = torch.cat((token, conv(pixels[None]).flatten(2).transpose(1, 2)), 1) + place
    for n in range(layers):
        layer = torch_layer(width, count, 32, "gelu", True, g)
        at = f"vit.encoder.layer.{n}."
        for name, w, b in zip(("query", "key", "value"), layer.self_attn.in_proj_weight.chunk(3),
                              layer.self_attn.in_proj_bias.chunk(3)):
            weights[f"{at}attention.attention.{name}.weight"], weights[f"{at}attention.attention.{name}.bias"] = w, b
        for ours, theirs in (("attention.output.dense", layer.self_attn.out_proj), ("layernorm_before", layer.norm1),
                             ("layernorm_after", layer.norm2), ("intermediate.dense", layer.linear1),
                             ("output.dense", layer.linear2)):
            weights[f"{at}{ours}.weight"], weights[f"{at}{ours}.bias"] = theirs.weight, theirs.bias
        for key, value in attention_of(layer, x, None, True).items():
            expected[f"l{n}.{key}"] = value
        x = layer(x)
        expected[f"l{n}.residual"] = x[0]
    scale, shift = 1 + random(g, width, scale=0.1), random(g, width, scale=0.1)
    weights["vit.layernorm.weight"], weights["vit.layernorm.bias"] = scale, shift
    w, b = random(g, classes, width, scale=0.5), random(g, classes, scale=0.1)
    weights["classifier.weight"], weights["classifier.bias"] = w, b
    expected["logits"] = F.layer_norm(x[:, 0], (width,), scale, shift, 1e-5) @ w.t() + b
    names = ("cat", "dog", "tench, Tinca tinca", "teapot", "violin")
    write("vit", {"hidden_size": width, "num_hidden_layers": layers, "num_attention_heads": count, "image_size": size,
                  "patch_size": patch, "num_channels": 3, "layer_norm_eps": 1e-5, "hidden_act": "gelu", "qkv_bias": True,
                  "id2label": {str(n): name for n, name in enumerate(names)}}, weights, expected)
    (folder / "preprocessor_config.json").write_text(json.dumps(
        {"do_normalize": True, "do_rescale": True, "do_resize": True, "image_mean": mean, "image_std": deviation,
         "resample": 2, "rescale_factor": 1 / 255, "size": {"height": size, "width": size}}, indent=1) + "\n")


FAMILIES = {
    "gpt2": gpt2,
    "bert": bert,
    "llama": lambda: llama("llama", 3),
    "mistral": lambda: llama("mistral", 6, window=3),
    "qwen2": lambda: llama("qwen2", 7, biases=True, tied=True),
    "qwen3": lambda: llama("qwen3", 4, head_norms=True, head_width=10),
    "use_lite": use_lite,
    "vit": vit,
}
if __name__ == "__main__":
    for family in sys.argv[1:] or FAMILIES:
        FAMILIES[family]()
