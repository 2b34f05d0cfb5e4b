#!/usr/bin/env python3
"""Makes models/<family> by Hugging Face's own modules: a random model, and its ids (or pixels), weights, outputs, residuals and logits.

Run from anywhere: python3 tests/goldens/make_transformers.py [FAMILY…] (Debian unstable: python3-transformers 5.12, python3-pil), in
float64, eager. tests/models/transformers_table.py has the families and compares many more configurations.
"""
import json
import pathlib
import sys

import numpy
import torch
import transformers

from make_models import HERE, save

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "models"))
import transformers_table as table  # noqa: E402

IDS = [1, 44, 20, 20, 5, 9, 33, 2]
SMALL = {"hidden_size": 16, "intermediate_size": 20, "vocab_size": 45}
THREE = {"hidden_size": 18, "num_attention_heads": 3}  # of models whose heads share no keys; the others have 4 heads and 2 of keys
PAIR = {"d_model": 12, "encoder_attention_heads": 3, "decoder_attention_heads": 3, "encoder_ffn_dim": 16, "decoder_layers": 2, "vocab_size": 45}
LATENT = {**SMALL, **THREE, "num_key_value_heads": 3, "num_hidden_layers": 2, "q_lora_rank": 6, "kv_lora_rank": 5, "qk_nope_head_dim": 3, "qk_rope_head_dim": 2,
          "v_head_dim": 4, "moe_intermediate_size": 6}
TOWER = {**THREE, "intermediate_size": 20}
# What each family's golden changes of its base in transformers_table.py; each has 2 layers.
CHANGES = {
    "qwen3_moe": {**SMALL, "head_dim": 6, "num_experts": 4, "moe_intermediate_size": 6, "mlp_only_layers": [1]},
    "qwen2_moe": {**SMALL, "use_sliding_window": True, "sliding_window": 3, "max_window_layers": 1, "num_experts": 4, "moe_intermediate_size": 6,
                  "shared_expert_intermediate_size": 10},
    "deepseek_v2": {**LATENT, "q_lora_rank": None, "first_k_dense_replace": 0, "n_shared_experts": 1},
    "deepseek_v3": {**LATENT, **table.theta(100.0, "yarn", factor=4.0, original_max_position_embeddings=16, mscale=0.7, mscale_all_dim=0.7)},
    "qwen3_next": {**SMALL, "head_dim": 8, "num_experts": 4, "moe_intermediate_size": 6, "shared_expert_intermediate_size": 10, "linear_key_head_dim": 4,
                   "linear_value_head_dim": 5},
    "qwen3_5_text": {**SMALL, "head_dim": 8, "linear_key_head_dim": 4, "linear_value_head_dim": 5},
    "qwen3_5": {"text_config": {**SMALL, "head_dim": 8, "linear_key_head_dim": 4, "linear_value_head_dim": 5}},
    "smollm3": {**SMALL, "num_hidden_layers": 2, "no_rope_layers": [1, 0], "use_sliding_window": True, "sliding_window": 3},
    "gemma3": {"text_config": {**SMALL, "head_dim": 6}, "vision_config": None, "image_token_index": 44, "boi_token_index": 43, "eoi_token_index": 42},
    "modernbert": {**SMALL, **THREE, "local_attention": 4, **table.layers("f", "s")},
    "opt": {**THREE, "word_embed_proj_dim": 18, "ffn_dim": 20, "vocab_size": 45},
    "falcon": {"hidden_size": 16, "vocab_size": 45, "ffn_hidden_size": 20, "new_decoder_architecture": True, "num_kv_heads": 2},
    "phi": {**SMALL, "qk_layernorm": True},
    "olmo": SMALL,
    "olmo3": {**SMALL, **table.layers("s", "f")},
    "starcoder2": {**SMALL, "sliding_window": 3},
    "stablelm": {**SMALL, "hidden_size": 24, "num_attention_heads": 3, "num_key_value_heads": 3, "use_parallel_residual": True, "use_qkv_bias": True},
    "cohere": SMALL,
    "albert": {**SMALL, **THREE, "embedding_size": 10, "num_hidden_groups": 2},
    "electra": {**SMALL, **THREE, "embedding_size": 10},
    "mpnet": {**SMALL, **THREE},
    "bart": {**PAIR, "scale_embedding": True},
    "marian": {**PAIR, "pad_token_id": 44, "decoder_start_token_id": 44},
    "whisper": {**{key: value for key, value in PAIR.items() if key != "encoder_layers"}, "encoder_layers": 2, "num_mel_bins": 8, "max_source_positions": 50,
                "decoder_start_token_id": 3},
    "siglip": {"text_config": {**TOWER, "vocab_size": 45}, "vision_config": {**TOWER, "num_hidden_layers": 2}},
    "siglip_vision_model": TOWER,
    "llava": {"text_config": SMALL, "vision_config": {**TOWER, "num_hidden_layers": 2}, "image_token_index": 43},
    "dinov2_with_registers": {**THREE, "num_register_tokens": 2},
}


def recorded(model, found):
    """Hooks that put q, k and v of each layer into `found`, [H, T, d], through norms of their own and before RoPE."""
    config = model.config.get_text_config() if hasattr(model.config, "text_config") else model.config
    count = {}

    def put(kind, parts):
        n = count[kind] = count.get(kind, -1) + 1
        for key, value in zip("qkv", parts):
            found[f"{kind}{n}.{key}"] = value.detach().double()

    def heads(x, width):
        x = x[0]
        return x if x.dim() == 3 and x.shape[-2] != config.num_attention_heads and x.shape[0] != len(IDS) else (
            x.reshape(x.shape[0], -1, width).transpose(0, 1))

    for module in table.delta_nets(model):
        def keep_net(query, key, value, rule=module.chunk_gated_delta_rule, **options):
            if options["output_final_state"]:  # not of the identity, which makes the implied weights
                put("l", [part[0].transpose(0, 1) for part in (query, key, value)])
            return rule(query, key, value, **options)
        module.chunk_gated_delta_rule = keep_net
    for name, module in model.named_modules():
        children = dict(module.named_children())
        of = lambda *names: next((children[each] for each in names if each in children), None)
        fused = of("query_key_value", "Wqkv")
        kind = "i" if "vision_model" in name else "c" if "encoder_attn" in name else "d" if "decoder.layers" in name and model.config.is_encoder_decoder else "l"
        if fused is not None:
            def keep(_, __, got, kind=kind, module=module):
                d = module.head_dim
                if hasattr(module, "num_kv_heads"):  # Falcon
                    got = got.view(len(IDS), module.num_kv_heads, -1, d)
                    parts = got[:, :, :-2].flatten(1, 2), got[:, :, -2], got[:, :, -1]
                else:
                    parts = got.view(len(IDS), 3, -1, d).unbind(1)
                put(kind, [part.transpose(0, 1) for part in parts])
            fused.register_forward_hook(keep)
            continue
        if "kv_b_proj" in children:  # multi-head latent attention: the columns that turn first
            store = {}
            for key, part in (("q", of("q_b_proj", "q_proj")), ("kv", children["kv_b_proj"]), ("down", children["kv_a_proj_with_mqa"])):
                part.register_forward_hook(lambda _, __, got, key=key, store=store: store.__setitem__(key, got[0]))

            def keep_latent(module, _, __, kind=kind, store=store):
                still, turned = module.qk_nope_head_dim, module.qk_rope_head_dim
                q, kv = (store[key].view(len(IDS), module.num_heads, -1).transpose(0, 1) for key in ("q", "kv"))
                k_turned = store["down"][None, :, -turned:].expand(module.num_heads, -1, -1)
                put(kind, [torch.cat((q[..., still:], q[..., :still]), -1), torch.cat((k_turned, kv[..., :still]), -1), kv[..., still:]])
            module.register_forward_hook(keep_latent)
            continue
        parts = (of("q_norm", "q_layernorm") or of("q_proj", "query", "q"), of("k_norm", "k_layernorm") or of("k_proj", "key", "k"),
                 of("v_proj", "value", "v"))
        if any(part is None for part in parts) or ("vision" in name and model.config.model_type != "siglip"):
            continue
        store = {}
        width = getattr(module, "head_dim", None) or getattr(module, "attention_head_size", None)
        for key, part in zip("qkv", parts):
            part.register_forward_hook(lambda _, __, got, key=key, store=store, width=width: store.__setitem__(key, heads(got, width)))
        module.register_forward_hook(lambda _, __, ___, kind=kind, store=store: put(kind, [store[key] for key in "qkv"]))


def golden(family):
    name, base, _ = table.FAMILIES[family]
    cls = getattr(transformers, name)
    torch.manual_seed(1)
    changed = {key: value for key, value in table.merged(base, CHANGES[family]).items() if value is not None or "token" in key or key == "q_lora_rank"}
    model = cls(cls.config_class(**changed))
    table.randomised(model, 7)
    folder = HERE / family
    folder.mkdir(parents=True, exist_ok=True)
    model.save_pretrained(folder, save_original_format=True)
    (folder / "generation_config.json").unlink(missing_ok=True)
    saved = json.loads((folder / "config.json").read_text())
    own = cls.config_class(**changed).to_diff_dict()
    config = {key: value for key, value in saved.items() if (key in own or key in changed) and value != {}}
    for key in ("transformers_version", "dtype", "eos_token_id", "num_labels", "_name_or_path"):
        config.pop(key, None)
    if family in table.PAIRS:
        for part in ("text_config", "vision_config"):
            config[part] = {key: value for key, value in config[part].items() if key in changed[part]}
    elif "text_config" in config:
        config["text_config"] = {key: value for key, value in config["text_config"].items() if key in changed["text_config"]}
        config["vision_config"] = changed.get("vision_config") or {}
    (folder / "config.json").write_text(json.dumps({"model_type": family, **config}, indent=1) + "\n")
    left_out = () if family == "llava" else ("vision_tower", "projector", "visual", "pooler")
    arrays = {key: value for key, value in load(folder / "model.safetensors").items() if not any(part in key for part in left_out)}
    save(folder / "model.safetensors", arrays)
    image = "image_size" in base or family in table.PAIRS
    sound = "num_mel_bins" in base
    if sound:
        table.write_sound(folder, 5, 0.4)
    if image:
        table.write_image(folder, 5)
        (folder / "preprocessor_config.json").write_text(json.dumps({"image_mean": [0.5] * 3, "image_std": [0.5] * 3, **({"resample": 2} if "siglip" in family else {"resample": 2, "do_center_crop": False, "size": {"height": 14, "width": 14}} if family == "llava" else {})}) + "\n")
    model = table.opened(folder, cls, left_out)
    routing = []
    for module in model.modules():
        if hasattr(module, "route_tokens_to_experts"):
            def routed(logits, own=module.route_tokens_to_experts):
                taken, shares = own(logits)
                routing.append(torch.zeros(len(taken), logits.shape[-1], dtype=torch.float64).scatter(-1, taken, shares.double()))
                return taken, shares
            module.route_tokens_to_experts = routed
        if type(module).__name__.endswith("TopKRouter"):
            module.register_forward_hook(lambda _, __, got: routing.append(
                torch.zeros(got[0].shape, dtype=torch.float64).scatter(-1, got[2], got[1].double())))
    table.IDS = IDS
    heads = {}
    recorded(model, heads)
    found = {key: torch.tensor(value) for key, value in table.run(model, folder, False).items()}
    for key, value in found.items():
        found[key] = value[0, 0] if key.endswith("residual") else value[0]
    found.update(heads)
    if getattr(model.config, "is_encoder_decoder", False):
        found["written"] = torch.tensor([model.config.decoder_start_token_id, *table.WRITTEN])
    sparse = [n for n in range(model.config.get_text_config().num_hidden_layers) if n not in (getattr(model.config, "mlp_only_layers", None) or [])
              and n >= getattr(model.config, "first_k_dense_replace", 0)]
    for n, shares in zip(sparse, routing):
        found[f"l{n}.routing"] = shares
    if image:
        from PIL import Image
        size = getattr(model.config, "vision_config", model.config).image_size
        ids = IDS[:3] + [model.config.image_token_id] + IDS[3:] if family == "llava" else IDS
        pixels = numpy.asarray(Image.open(folder / "image.png").resize((size, size), Image.BILINEAR), dtype=numpy.float64)
        found = {"pixels": torch.tensor((pixels / 255 - 0.5) / 0.5).permute(2, 0, 1), **({"ids": torch.tensor(ids)} if family in table.PAIRS else {}), **found}
    elif sound:
        found = {"features": table.features(model.config, folder / "sound.wav")[0], **found}
    else:
        found = {"ids": torch.tensor(IDS), **found}
    save(folder / "expected.safetensors", found)
    print(family, sum(file.stat().st_size for file in folder.iterdir()))


def load(path):
    from safetensors.torch import load_file
    return load_file(path)


if __name__ == "__main__":
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    for each in sys.argv[1:] or CHANGES:
        golden(each)
