"""Saves Q, K and V of a PyTorch model for attnscope, by hooks on its projections, layer after layer as they run:

    from save_attention import save_attention
    save_attention("attention.npz", model, (ids,), heads=12, tokens=words, causal=True)    # then: attnscope attention.npz

Where the model turns Q and K by position afterwards (Llama, Qwen), say rope="half"; kv_heads where keys have fewer heads.
torch.nn.MultiheadAttention has no such submodules: give its q, k and v to attnscope.py.
"""

import torch

import attnscope

NAMES = {"q_proj": "Q", "k_proj": "K", "v_proj": "V", "query": "Q", "key": "K", "value": "V", "q_lin": "Q", "k_lin": "K",
         "v_lin": "V", "c_attn": "qkv", "query_key_value": "qkv", "qkv": "qkv"}


def save_attention(path, model, args=(), kwargs=None, *, heads, tokens=None, **options):
    """Runs model(*args, **kwargs) once; ValueError: it has no submodule of those names."""
    found, layers = {}, {}

    def hook_of(layer, role):
        def hook(module, inputs, output):
            number = layers.setdefault(layer, len(layers))
            found[f"l{number}.{role}"] = attnscope.array(output)
        return hook

    parts = [(*name.rpartition(".")[::2], module) for name, module in model.named_modules()]
    hooks = [module.register_forward_hook(hook_of(layer, NAMES[last])) for layer, last, module in parts if last in NAMES]
    try:
        with torch.no_grad():
            model(*args, **(kwargs or {}))
    finally:
        for hook in hooks:
            hook.remove()
    if not found:
        raise ValueError(f"no submodule of this model ends in {', '.join(NAMES)}")
    beside = attnscope.words_and_options(tokens=tokens, heads=heads, layout="joined", **options)
    attnscope.numpy.savez(path, **found, **beside)
