"""Every block of a whole model against Hugging Face's transformers: the models that come with the program, and random GPT-2, Llama,
BERT and ViT of two layers. Compares the output of each of transformers' modules with the stage of that name, and the tokens of the
models' own texts. Transformers 5 or later: ViT's modules had other names before.

    against_transformers.py MODEL_STAGES ASSETS
"""
import json
import pathlib
import struct
import subprocess
import sys
import tempfile
import zlib

try:
    import numpy
    import torch
    import transformers
except ImportError as missing:
    print(f"{missing.name} is not installed")
    sys.exit(77)
if int(transformers.__version__.split(".")[0]) < 5:
    print(f"transformers is {transformers.__version__}; the test is for 5 or later")
    sys.exit(77)

MOST = 1e-5  # largest difference, in units of max(1, the largest number of the stage)

# Module of a layer: (stage that its input is, stage that its output is).
GPT2 = {"ln_1": (None, "norm1"), "attn": (None, "attention"), "ln_2": ("residual1", "norm2"), "mlp.c_fc": (None, "mlp_hidden"),
        "mlp.act": (None, "mlp_act"), "mlp": (None, "mlp_out"), "": (None, "residual2")}
LLAMA = {"input_layernorm": (None, "norm1"), "self_attn": (None, "attention"), "post_attention_layernorm": ("residual1", "norm2"),
         "mlp.gate_proj": (None, "mlp_gate"), "mlp.up_proj": (None, "mlp_hidden"), "mlp.down_proj": ("mlp_act", "mlp_out"),
         "": (None, "residual2")}
BERT = {"attention.output.dense": (None, "attention"), "attention.output.LayerNorm": ("residual1", "norm1"),
        "intermediate.dense": (None, "mlp_hidden"), "intermediate": (None, "mlp_act"), "output.dense": (None, "mlp_out"),
        "output.LayerNorm": ("residual2", "norm2")}
MEGATRON = {"attention.ln": (None, "norm1"), "attention.output.dense": (None, "attention"), "ln": ("residual1", "norm2"),
            "intermediate.dense": (None, "mlp_hidden"), "intermediate": (None, "mlp_act"), "output.dense": (None, "mlp_out"),
            "": (None, "residual2")}
VIT = {"layernorm_before": (None, "norm1"), "attention.o_proj": (None, "attention"), "layernorm_after": ("residual1", "norm2"),
       "mlp.fc1": (None, "mlp_hidden"), "mlp.activation_fn": (None, "mlp_act"), "mlp": (None, "mlp_out"), "": (None, "residual2")}

# Family: class, prefix of its layers, modules of a layer, modules outside.
FAMILIES = {
    "gpt2": (transformers.GPT2LMHeadModel, "transformer.h", GPT2,
             {"transformer.wte": "embedding", "transformer.wpe": "position", "transformer.ln_f": "final_norm"}),
    "llama": (transformers.LlamaForCausalLM, "model.layers", LLAMA, {"model.embed_tokens": "embedding", "model.norm": "final_norm"}),
    "bert": (transformers.BertModel, "encoder.layer", BERT,
             {"embeddings.word_embeddings": "embedding", "embeddings.LayerNorm": "entry_norm"}),
    "megatron-bert": (transformers.MegatronBertForTokenClassification, "bert.encoder.layer", MEGATRON,
                      {"bert.embeddings.word_embeddings": "embedding", "bert.encoder.ln": "final_norm"}),
    "vit": (transformers.ViTForImageClassification, "vit.layers", VIT,
            {"vit.embeddings": "entry", "vit.layernorm": "final_norm"}),
}


def first(value):
    return value[0] if isinstance(value, tuple) else value


def stages_of(model, prefix, inside, outside, layers, **reads):
    """What each module gives, by "lN.stage" or "stage"."""
    found = {}
    modules = dict(model.named_modules())
    for n in range(layers):
        for name, (of_input, of_output) in inside.items():
            def keep(_, given, got, n=n, of_input=of_input, of_output=of_output):
                if of_input:
                    found[f"l{n}.{of_input}"] = first(given)
                found[f"l{n}.{of_output}"] = first(got)
            modules[".".join(filter(None, (f"{prefix}.{n}", name)))].register_forward_hook(keep)
    for name, stage in outside.items():
        modules[name].register_forward_hook(lambda _, given, got, stage=stage: found.update({stage: first(got)}))
    with torch.no_grad():
        answer = model(**reads)
    if hasattr(answer, "logits"):
        found["logits"] = answer.logits
    return {name: value.squeeze(0).reshape(-1, value.shape[-1]).numpy() for name, value in found.items()}


def write_image(path, pixels):
    """A PNG of 8-bit RGB [rows, columns, 3]."""
    rows, columns, _ = pixels.shape
    raw = b"".join(b"\0" + row.tobytes() for row in pixels)

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", columns, rows, 8, 2, 0, 0, 0))
                     + chunk(b"IDAT", zlib.compress(raw)) + chunk(b"IEND", b""))


def compare(name, tool, folder, reads, family, **arguments):
    """`folder`: of the model; `reads`: ids or an image, as the tool takes them. Returns how many stages differ."""
    made, prefix, inside, outside = FAMILIES[family]
    model = made.from_pretrained(folder, attn_implementation="eager", dtype=torch.float32).eval()
    layers = json.loads((folder / "config.json").read_text())
    layers = layers.get("num_hidden_layers", layers.get("n_layer"))
    theirs = stages_of(model, prefix, inside, outside, layers, **arguments)
    with tempfile.TemporaryDirectory() as scratch:
        out = pathlib.Path(scratch) / "stages.npz"
        subprocess.run([tool, folder, reads, out], check=True)
        ours = dict(numpy.load(out))
    wrong = 0
    worst = 0.0
    for stage, value in theirs.items():
        mine = ours.get(stage, ours.get(f"l0.{stage}"))
        if mine is None or mine.shape != value.shape:
            print(f"{name}: {stage} is {None if mine is None else mine.shape}, transformers has {value.shape}")
            wrong += 1
            continue
        difference = float(numpy.abs(mine - value).max()) / max(1.0, float(numpy.abs(value).max()))
        worst = max(worst, difference)
        if not difference <= MOST:
            print(f"{name}: {stage} differs by {difference:.2e}")
            wrong += 1
    print(f"{name}: {len(theirs)} stages, largest difference {worst:.1e}")
    return wrong


def random_model(family, scratch):
    """Saves a random model of two layers; returns its folder."""
    torch.manual_seed(7)
    small = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 80,
             "initializer_range": 0.3}
    configs = {
        "gpt2": lambda: transformers.GPT2Config(n_layer=2, n_head=4, n_embd=32, vocab_size=60, n_positions=40, initializer_range=0.3),
        "llama": lambda: transformers.LlamaConfig(**small, num_key_value_heads=2, vocab_size=60),
        "bert": lambda: transformers.BertConfig(**small, vocab_size=60, max_position_embeddings=40),
        "vit": lambda: transformers.ViTConfig(**small, image_size=16, patch_size=4, num_labels=5),
    }
    model = FAMILIES[family][0](configs[family]())
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if parameter.dim() == 1:  # norms and biases are 1 and 0, which would hide a mistake
                parameter.add_(0.2 * torch.randn_like(parameter))
    folder = scratch / family
    model.save_pretrained(folder)
    if family == "vit":
        (folder / "preprocessor_config.json").write_text(json.dumps(
            {"do_normalize": True, "do_rescale": True, "do_resize": True, "image_mean": [0.5] * 3, "image_std": [0.5] * 3,
             "resample": 2, "rescale_factor": 1 / 255, "size": {"height": 16, "width": 16}}))
    return folder


def main():
    tool, assets = sys.argv[1], pathlib.Path(sys.argv[2])
    rng = numpy.random.default_rng(5)
    wrong = 0
    for name, family in (("pronouns", "megatron-bert"), ("translate", "gpt2"), ("stories", "gpt2")):
        config = json.loads((assets / name / "config.json").read_text())
        tokenizer = transformers.AutoTokenizer.from_pretrained(assets / name)
        vocabulary = json.loads((assets / name / "tokenizer.json").read_text())["model"]["vocab"]
        words = (config["default_text"] + " zebra").split()  # one word is unknown
        if tokenizer(" ".join(words))["input_ids"] != [vocabulary.get(word, 0) for word in words]:
            print(f"{name}: the tokenizer gives other tokens")
            wrong += 1
        ids = rng.integers(0, len(vocabulary), 14)
        wrong += compare(name, tool, assets / name, ",".join(map(str, ids)), family, input_ids=torch.tensor(ids)[None])
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        for family in ("gpt2", "llama", "bert"):
            ids = rng.integers(0, 60, 14)
            wrong += compare(f"random {family}", tool, random_model(family, scratch), ",".join(map(str, ids)), family,
                             input_ids=torch.tensor(ids)[None])
        pixels = rng.integers(0, 256, (16, 16, 3), numpy.uint8)
        image = scratch / "image.png"
        write_image(image, pixels)
        values = torch.tensor((pixels / 255 - 0.5) / 0.5, dtype=torch.float32).permute(2, 0, 1)[None]
        wrong += compare("random vit", tool, random_model("vit", scratch), image, "vit", pixel_values=values)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
