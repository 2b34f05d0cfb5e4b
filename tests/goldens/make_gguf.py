#!/usr/bin/env python3
"""Makes gguf/: files of GGUF as llama.cpp's convert_hf_to_gguf.py writes them, of the models and tokenizers of this folder, and
what the numbers of their blocks are.

Run from anywhere: python3 tests/goldens/make_gguf.py (Debian: python3-numpy). Written from ggml's docs/gguf.md, from the
names of gguf-py/gguf/constants.py and from the layouts of blocks in ggml-common.h; numbers in float64, rounded once.
types.gguf: random codes of each type, and types.safetensors what they are. NAME.gguf: of models/NAME. blocks.gguf: a Llama
of Q8_0, Q4_K and Q6_K, and blocks/ the same as Hugging Face's folder in float32. tokenizer.NAME.gguf: of tokenizers/NAME.json.
"""

import json
import pathlib
import re
import struct

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
OUT = HERE / "gguf"
TYPES = {"F32": 0, "F16": 1, "Q8_0": 8, "Q4_K": 12, "Q5_K": 13, "Q6_K": 14, "BF16": 30}


class Short(int):
    """A number of 16 bits."""


def text(value):
    raw = value.encode()
    return struct.pack("<Q", len(raw)) + raw


def value(one):
    """A value with its type: bool, int (u32), float (f32), str, or a list of one of them (ints: i32)."""
    if isinstance(one, bool):
        return struct.pack("<I?", 7, one)
    if isinstance(one, Short):
        return struct.pack("<IH", 2, one)
    if isinstance(one, int):
        return struct.pack("<II", 4, one)
    if isinstance(one, float):
        return struct.pack("<If", 6, one)
    if isinstance(one, str):
        return struct.pack("<I", 8) + text(one)
    kind, pack = {int: (5, lambda n: struct.pack("<i", n)), float: (6, lambda n: struct.pack("<f", n)), bool: (7, lambda n: struct.pack("<?", n)),
                  str: (8, text)}[type(one[0])]
    return struct.pack("<IIQ", 9, kind, len(one)) + b"".join(pack(n) for n in one)


def write(path, keys, tensors=(), alignment=32):
    """`tensors`: name, type, shape (slowest first), bytes."""
    if alignment != 32:
        keys = {**keys, "general.alignment": alignment}
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(keys))
    head += b"".join(text(key) + value(one) for key, one in keys.items())
    at, blobs = 0, []
    for name, kind, shape, raw in tensors:
        head += text(name) + struct.pack("<I", len(shape)) + b"".join(struct.pack("<Q", n) for n in reversed(shape))
        head += struct.pack("<IQ", TYPES[kind], at)
        blobs.append(raw + b"\0" * (-len(raw) % alignment))
        at += len(blobs[-1])
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(head + b"\0" * (-len(head) % alignment) + b"".join(blobs))


def read_safetensors(path):
    raw = path.read_bytes()
    length = struct.unpack("<Q", raw[:8])[0]
    header = json.loads(raw[8:8 + length])
    arrays = {}
    for name, row in header.items():
        begin, end = row["data_offsets"]
        kind = {"F32": np.float32, "I64": np.int64}[row["dtype"]]
        arrays[name] = np.frombuffer(raw[8 + length + begin:8 + length + end], kind).reshape(row["shape"])
    return arrays


def write_safetensors(path, arrays):
    header, blobs, at = {}, [], 0
    for name, array in arrays.items():
        kind, raw = {"float32": "F32", "int8": "I8", "uint8": "U8"}[str(array.dtype)], array.tobytes()
        header[name] = {"dtype": kind, "shape": list(array.shape), "data_offsets": [at, at + len(raw)]}
        at += len(raw)
        blobs.append(raw)
    head = json.dumps(header, separators=(",", ":")).encode()
    head += b" " * (-len(head) % 8)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(struct.pack("<Q", len(head)) + head + b"".join(blobs))


# ---- blocks: random codes, and what they are

def halves(rng, count, scale):
    return (rng.normal(size=count) * scale).astype(np.float16)


def q8_0(rng, items, scale):
    n = items // 32
    d, q = halves(rng, n, scale / 64), rng.integers(-128, 128, (n, 32), dtype=np.int8)
    raw = np.concatenate([d.view(np.uint8).reshape(n, 2), q.view(np.uint8)], 1).tobytes()
    return raw, (d.astype(np.float64)[:, None] * q).ravel()


def bits(codes, width):
    """Codes as bits, the lowest first: [n, count] to [n, count, width]."""
    return codes[..., None] >> np.arange(width) & 1


def as_bytes(ones):
    return np.packbits(ones.astype(np.uint8), axis=-1, bitorder="little")


def q4_k(rng, items, scale):
    n = items // 256
    d, m = halves(rng, n, scale / 512), halves(rng, n, scale / 64)
    s, b = rng.integers(0, 64, (n, 8)), rng.integers(0, 64, (n, 8))
    q = rng.integers(0, 16, (n, 8, 32))
    packed = np.zeros((n, 12, 8), np.uint8)  # as bits
    for part in range(4):
        packed[:, part, :6], packed[:, part + 4, :6] = bits(s[:, part], 6), bits(b[:, part], 6)
        packed[:, part, 6:], packed[:, part + 4, 6:] = bits(s[:, part + 4], 6)[:, 4:], bits(b[:, part + 4], 6)[:, 4:]
        packed[:, part + 8, :4], packed[:, part + 8, 4:] = bits(s[:, part + 4], 6)[:, :4], bits(b[:, part + 4], 6)[:, :4]
    codes = (q[:, 0::2] + 16 * q[:, 1::2]).astype(np.uint8).reshape(n, 128)
    raw = np.concatenate([d.view(np.uint8).reshape(n, 2), m.view(np.uint8).reshape(n, 2), as_bytes(packed).reshape(n, 12), codes], 1)
    wide = lambda x: x.astype(np.float64)[:, None]
    return raw.tobytes(), ((wide(d) * s)[..., None] * q - (wide(m) * b)[..., None]).ravel()


def q6_k(rng, items, scale):
    n = items // 256
    d, s = halves(rng, n, scale / 2048), rng.integers(-128, 128, (n, 16), dtype=np.int8)
    q = rng.integers(0, 64, (n, 2, 4, 32))  # half, quarter, place
    lower = ((q[:, :, :2] & 15) | (q[:, :, 2:] & 15) << 4).astype(np.uint8).reshape(n, 128)
    upper = sum((q[:, :, quarter] >> 4) << 2 * quarter for quarter in range(4)).astype(np.uint8).reshape(n, 64)
    raw = np.concatenate([lower, upper, s.view(np.uint8), d.view(np.uint8).reshape(n, 2)], 1)
    return raw.tobytes(), (d.astype(np.float64)[:, None, None] * s[..., None] * (q.reshape(n, 16, 16) - 32.0)).ravel()


def f32(rng, items, scale):
    x = (rng.normal(size=items) * scale).astype(np.float32)
    return x.tobytes(), x


def f16(rng, items, scale):
    x = halves(rng, items, scale)
    return x.tobytes(), x


def bf16(rng, items, scale):
    x = (rng.normal(size=items) * scale).astype(np.float32).view(np.uint32) >> 16
    return x.astype(np.uint16).tobytes(), (x.astype(np.uint32) << 16).view(np.float32)


MADE = {"F32": f32, "F16": f16, "BF16": bf16, "Q8_0": q8_0, "Q4_K": q4_k, "Q6_K": q6_k}


def types():
    rng = np.random.default_rng(29)
    tensors, arrays = [], {}
    for kind, make in MADE.items():
        raw, numbers = make(rng, 3 * 512, 1.0)
        tensors.append((kind, kind, [3, 512], raw))
        arrays[kind] = numbers.astype(np.float32).reshape(3, 512)
    tensors.append(("Q5_K", "Q5_K", [1, 256], b"\0" * 176))
    write(OUT / "types.gguf", {"general.architecture": "none"}, tensors, alignment=64)
    write_safetensors(OUT / "types.safetensors", arrays)


# ---- models

NAMES = {"model.embed_tokens": "token_embd", "model.norm": "output_norm", "lm_head": "output",
         "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v", "self_attn.qkv_proj": "attn_qkv",
         "self_attn.o_proj": "attn_output", "self_attn.q_norm": "attn_q_norm", "self_attn.k_norm": "attn_k_norm",
         "input_layernorm": "attn_norm", "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up", "mlp.gate_up_proj": "ffn_up",
         "mlp.down_proj": "ffn_down", "transformer.wte": "token_embd", "transformer.wpe": "position_embd", "transformer.ln_f": "output_norm",
         "ln_1": "attn_norm", "ln_2": "ffn_norm", "attn.c_attn": "attn_qkv", "attn.c_proj": "attn_output", "mlp.c_fc": "ffn_up",
         "mlp.c_proj": "ffn_down", "block_sparse_moe.gate": "ffn_gate_inp", "mlp.gate": "ffn_gate_inp",
         "mlp.shared_expert_gate": "ffn_gate_inp_shexp", "mlp.shared_expert.gate_proj": "ffn_gate_shexp",
         "mlp.shared_expert.up_proj": "ffn_up_shexp", "mlp.shared_expert.down_proj": "ffn_down_shexp"}
EXPERT = re.compile(r"(?:block_sparse_moe|mlp)\.experts\.(\d+)\.(\w+)")
EXPERT_PARTS = {"w1": "gate", "w2": "down", "w3": "up", "gate_proj": "gate", "up_proj": "up", "down_proj": "down"}
NORMS = {"before": {"post_attention_layernorm": "ffn_norm"},
         "others": {"post_attention_layernorm": "post_attention_norm", "pre_feedforward_layernorm": "ffn_norm",
                    "post_feedforward_layernorm": "post_ffw_norm"}}


def gguf_name(name, family):
    base, part = name.rsplit(".", 1)
    names = {**NAMES, **NORMS["others" if family in ("gemma2", "gemma3_text", "olmo2") else "before"]}
    for before in ("model.layers.", "transformer.h."):
        if base.startswith(before):
            layer, base = base[len(before):].split(".", 1)
            if expert := EXPERT.fullmatch(base):
                return f"blk.{layer}.ffn_{EXPERT_PARTS[expert[2]]}_exps.{part}.{expert[1]}"
            return f"blk.{layer}.{names[base]}.{part}"
    return f"{names[base]}.{part}"


def in_turns(array, heads):
    """As convert_hf_to_gguf.py permutes Llama's rows of queries and keys."""
    return array.reshape(heads, 2, len(array) // heads // 2, *array.shape[1:]).swapaxes(1, 2).reshape(array.shape)


def stored(name, array, config):
    """As the converter of the family stores an array; "": it leaves it out."""
    family = config["model_type"]
    if family == "gpt2" and name.endswith(".attn.bias"):
        return "", array
    if family in ("llama", "granite", "mixtral") and (".q_proj." in name or ".k_proj." in name):
        array = in_turns(array, config["num_attention_heads" if ".q_proj." in name else "num_key_value_heads"])
    if family.startswith("gemma") and name.endswith("norm.weight"):
        array = array + np.float32(1)
    if family == "gpt2" and name.endswith((".c_attn.weight", ".c_proj.weight", ".c_fc.weight")):
        array = array.T
    return gguf_name(name, family), array


def keys_of(config, arrays):
    family = config["model_type"]
    arch = {"gemma3_text": "gemma3", "mixtral": "llama", "qwen2_moe": "qwen2moe", "qwen3_moe": "qwen3moe"}.get(family, family)
    get = lambda *names: next((config[name] for name in names if config.get(name) is not None), None)
    heads = get("num_attention_heads", "n_head")
    hidden = get("intermediate_size") or next(array for name, array in arrays.items() if "ffn_down" in name and name.endswith("weight")).shape[1]
    keys = {"block_count": get("num_hidden_layers", "n_layer"), "embedding_length": get("hidden_size", "n_embd"),
            "attention.head_count": heads, "attention.head_count_kv": get("num_key_value_heads"), "feed_forward_length": hidden,
            "context_length": get("max_position_embeddings", "n_positions"), "rope.freq_base": get("rope_theta"),
            "attention.layer_norm_rms_epsilon": get("rms_norm_eps"), "attention.layer_norm_epsilon": get("layer_norm_epsilon"),
            "attention.sliding_window": get("sliding_window"), "attention.sliding_window_pattern": get("sliding_window_pattern"),
            "rope.freq_base_swa": get("rope_local_base_freq"), "attn_logit_softcapping": get("attn_logit_softcapping"),
            "final_logit_softcapping": get("final_logit_softcapping"), "attention.scale": get("attention_multiplier"),
            "embedding_scale": get("embedding_multiplier"), "residual_scale": get("residual_multiplier"), "logit_scale": get("logits_scaling")}
    if get("num_experts", "num_local_experts"):
        keys |= {"expert_count": get("num_experts", "num_local_experts"), "expert_used_count": config["num_experts_per_tok"],
                 "expert_feed_forward_length": get("moe_intermediate_size"), "expert_shared_feed_forward_length": get("shared_expert_intermediate_size")}
        keys |= {"attention.sliding_window": None, "rope.freq_base": get("rope_theta") or config.get("rope_parameters", {}).get("rope_theta")}
    if get("head_dim"):
        keys |= {"attention.key_length": config["head_dim"], "attention.value_length": config["head_dim"],
                 "rope.dimension_count": int(config["head_dim"] * config.get("partial_rotary_factor", 1))}
    scaling = config.get("rope_scaling", {})
    if scaling.get("rope_type") == "linear":
        keys |= {"rope.scaling.type": "linear", "rope.scaling.factor": scaling["factor"]}
    if scaling.get("type") == "longrope":
        trained = config["original_max_position_embeddings"]
        factor = config["max_position_embeddings"] / trained
        keys |= {"rope.scaling.original_context_length": trained, "rope.scaling.attn_factor": (1 + np.log(factor) / np.log(trained)) ** 0.5}
    keys = {f"{arch}.{key}": float(one) if "scal" in key and not isinstance(one, (str, int)) else one for key, one in keys.items() if one is not None}
    return {"general.architecture": arch, "general.name": "random", **keys}


def as_type(array, kind):
    """Norms and biases stay in float32, as the converter has it."""
    if kind == "F32" or array.ndim < 2:
        return "F32", array.astype(np.float32).tobytes()
    if kind == "F16":
        return kind, array.astype(np.float16).tobytes()
    return kind, (array.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16).tobytes()


def stacked_experts(arrays):
    """blk.0.ffn_up_exps.weight.3 and the others as one array."""
    whole = {}
    for name, array in arrays.items():
        if "_exps." in name:
            whole.setdefault(name.rsplit(".", 1)[0], {})[int(name.rsplit(".", 1)[1])] = array
        else:
            whole[name] = array
    return {name: np.stack([one[n] for n in range(len(one))]) if isinstance(one, dict) else one for name, one in whole.items()}


def model(name, kind="F32", to=None, more=(), keys=None, layers=None):
    config = json.loads((HERE / "models" / name / "config.json").read_text())
    config["num_hidden_layers"] = layers or config.get("num_hidden_layers")
    arrays = {}
    for theirs, array in read_safetensors(HERE / "models" / name / "model.safetensors").items():
        ours, array = stored(theirs, array, config)
        if ours and not (layers and ours.startswith(f"blk.{layers}.")):
            arrays[ours] = array
    arrays = stacked_experts(arrays)
    scaling = config.get("rope_scaling", {})
    for key in ("short_factor", "long_factor"):
        if key in scaling:
            arrays[f"rope_factors_{key[:-7]}.weight"] = np.array(scaling[key], np.float32)
    arrays |= dict(more)
    tensors = [(ours, *as_type(array, kind)) for ours, array in arrays.items()]
    tensors = [(ours, stored_as, list(arrays[ours].shape), raw) for ours, stored_as, raw in tensors]
    write(OUT / f"{to or name}.gguf", {**keys_of(config, arrays), **(keys or {})}, tensors)


def llama3_divisors(columns, base, factor, low, high, trained):
    """Of Llama 3.1: what slows each pair, convert_hf_to_gguf.py, generate_extra_tensors."""
    frequencies = base ** -(np.arange(0, columns, 2) / columns)
    lengths = 2 * np.pi / frequencies
    blend = (trained / lengths - low) / (high - low)
    between = 1 / ((1 - blend) / factor + blend)
    return np.where(lengths < trained / high, 1, np.where(lengths > trained / low, factor, between)).astype(np.float32)


def blocks():
    """Two layers of random codes; norms in float32."""
    rng, width, hidden, heads, words = np.random.default_rng(7), 32, 256, 2, 24
    tensors, arrays = [], {}

    def put(ours, theirs, kind, *shape):
        raw, numbers = MADE[kind](rng, int(np.prod(shape)), 0.25)
        numbers = numbers.astype(np.float32).reshape(shape)
        if kind == "F32":
            numbers = numbers + np.float32(1)
            raw = numbers.tobytes()
        tensors.append((ours, kind, list(shape), raw))
        if ".attn_q." in ours or ".attn_k." in ours:  # undone
            numbers = numbers.reshape(heads, shape[0] // heads // 2, 2, shape[1]).swapaxes(1, 2).reshape(shape)
        arrays[theirs] = np.ascontiguousarray(numbers)

    put("token_embd.weight", "model.embed_tokens.weight", "Q8_0", words, width)
    for n in range(2):
        for ours, theirs, kind, *shape in (("attn_norm", "input_layernorm", "F32", width), ("ffn_norm", "post_attention_layernorm", "F32", width),
                                           ("attn_q", "self_attn.q_proj", "Q8_0", width, width), ("attn_k", "self_attn.k_proj", "Q8_0", width, width),
                                           ("attn_v", "self_attn.v_proj", "Q8_0", width, width), ("attn_output", "self_attn.o_proj", "Q8_0", width, width),
                                           ("ffn_gate", "mlp.gate_proj", "Q8_0", hidden, width), ("ffn_up", "mlp.up_proj", "Q8_0", hidden, width),
                                           ("ffn_down", "mlp.down_proj", "Q6_K" if n else "Q4_K", width, hidden)):
            put(f"blk.{n}.{ours}.weight", f"model.layers.{n}.{theirs}.weight", kind, *shape)
    put("output_norm.weight", "model.norm.weight", "F32", width)
    put("output.weight", "lm_head.weight", "Q8_0", words, width)
    config = {"model_type": "llama", "hidden_size": width, "num_hidden_layers": 2, "num_attention_heads": heads, "num_key_value_heads": heads,
              "head_dim": width // heads, "intermediate_size": hidden, "vocab_size": words, "rope_theta": 10000.0, "rms_norm_eps": 1e-5,
              "max_position_embeddings": 32, "tie_word_embeddings": False}
    named = {name: np.zeros(shape) for name, kind, shape, raw in tensors}
    write(OUT / "blocks.gguf", keys_of(config, named), tensors)
    for part in range(3):  # as llama-gguf-split names them: the first has the keys
        keys = {"split.no": Short(part), "split.count": Short(3), "split.tensors.count": len(tensors)}
        write(OUT / "split" / f"blocks-{part + 1:05}-of-00003.gguf", {**(keys_of(config, named) if part == 0 else {}), **keys}, tensors[part * 7:][:7])
    write_safetensors(OUT / "blocks" / "model.safetensors", arrays)
    (OUT / "blocks" / "config.json").write_text(json.dumps(config) + "\n")


def eight_bits():
    """bitsandbytes, LLM.int8(): the same folder with its layers' matrices as codes and scales, and what they are."""
    rng = np.random.default_rng(8)
    whole = read_safetensors(OUT / "blocks" / "model.safetensors")
    codes, wide = {}, {}
    for name, array in whole.items():
        if "_proj." not in name:
            codes[name] = wide[name] = array
            continue
        base = name[: -len("weight")]
        q = rng.integers(-127, 128, array.shape, dtype=np.int8)
        scb = (rng.random(len(array)) * 0.5 + 0.01).astype(np.float32)
        codes |= {name: q, base + "SCB": scb, base + "weight_format": np.array(0, np.uint8)}
        wide[name] = (q * scb.astype(np.float64)[:, None] / 127).astype(np.float32)
    config = json.loads((OUT / "blocks" / "config.json").read_text())
    for folder, arrays, more in (("int8", codes, {"quantization_config": {"_load_in_8bit": True, "llm_int8_threshold": 6.0, "load_in_4bit": False,
                                                                          "load_in_8bit": True, "quant_method": "bitsandbytes"}}),
                                 ("int8_wide", wide, {})):
        write_safetensors(OUT / folder / "model.safetensors", arrays)
        (OUT / folder / "config.json").write_text(json.dumps({**config, **more}) + "\n")


# ---- tokenizers

def tokenizer(name, pre, specials, more):
    said = json.loads((HERE / "tokenizers" / f"{name}.json").read_text("utf-8"))["model"]
    tokens = [piece for piece, number in sorted(said["vocab"].items(), key=lambda row: row[1])]
    assert list(range(len(tokens))) == sorted(said["vocab"].values())
    merges = [merge if isinstance(merge, str) else " ".join(merge) for merge in said["merges"]]
    keys = {"model": "gpt2", "pre": pre, "tokens": tokens + specials, "token_type": [1] * len(tokens) + [3] * len(specials), "merges": merges, **more}
    write(OUT / f"tokenizer.{name}.gguf", {"general.architecture": "llama", **{f"tokenizer.ggml.{key}": one for key, one in keys.items()}})


def with_tokenizer():
    """gpt2.gguf with a tokenizer of letters, digits and signs, as many as its embedding has rows."""
    tokens = [*"0123456789,.:;-", "Ġ", *"abcdefghijklmnopqrstuvwxyz", *"ABCDEFG", "15"]
    assert len(set(tokens)) == 50
    keys = {"model": "gpt2", "pre": "gpt-2", "tokens": tokens, "token_type": [1] * 50, "merges": ["1 5"]}
    model("gpt2", to="gpt2.tokens", keys={f"tokenizer.ggml.{key}": one for key, one in keys.items()})


if __name__ == "__main__":
    types()
    for each in ("llama", "qwen2", "qwen3", "gpt2", "gemma2", "gemma3_text", "phi3", "phi3~longrope", "olmo2", "granite", "mixtral", "qwen2_moe"):
        model(each)
    model("qwen3_moe", layers=1)  # the second has no experts, which llama.cpp's has
    model("llama", "F16", "llama.f16")
    model("llama", "BF16", "llama.bf16")
    model("llama", to="llama.llama3", more={"rope_freqs.weight": llama3_divisors(8, 500.0, 8.0, 1.0, 4.0, 16)}.items())
    with_tokenizer()
    blocks()
    eight_bits()
    tokenizer("gpt2", "gpt-2", ["<|endoftext|>"], {"bos_token_id": 506})
    tokenizer("llama3", "llama-bpe", [], {"add_bos_token": False})
    tokenizer("qwen2", "qwen2", ["<|im_start|>"], {"add_bos_token": False})
