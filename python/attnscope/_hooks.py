"""Records Q, K and V of a PyTorch model by hooks on its attention modules, in the order of their calls.

Q and K are the operands of the scores: after q_norm and k_norm, and after RoPE if the model's file has apply_rotary_pos_emb (otherwise
pass rope="half"). The weights and the context are recomputed from them and compared with the model's own. A difference raises an error
that names the module; then pass the missing options of the call, such as causal=True, scale=0.125, alibi=True, window_left=128, mask=….
The call is causal without causal=True if every module has is_causal = True, as those of transformers have.

A model of transformers returns its weights with attn_implementation="eager" and output_attentions=True among its inputs. Otherwise
only the context is compared. torch.nn.MultiheadAttention provides its masks itself. Pass heads and kv_heads if the model does not name them.
"""

import collections.abc
import itertools
import sys

import numpy
import torch

from ._arrays import array, beside, mask_array

NAMES = {"q_proj": "Q", "k_proj": "K", "v_proj": "V", "query": "Q", "key": "K", "value": "V", "q_lin": "Q", "k_lin": "K",
         "v_lin": "V", "to_q": "Q", "to_k": "K", "to_v": "V", "c_attn": "qkv", "query_key_value": "qkv", "qkv": "qkv",
         "qkv_proj": "qkv", "q_norm": "q_norm", "k_norm": "k_norm"}
OUT = ("o_proj", "out_proj", "out_lin", "dense", "c_proj", "proj", "to_out")  # what takes the context
HEADS = ("num_heads", "num_attention_heads", "n_head", "n_heads", "heads")
KV_HEADS = ("num_key_value_heads", "num_kv_heads")
CHECKED = {"scale", "temperature", "softcap", "causal", "window", "window-left", "window-right", "alibi", "rope", "rope-base", "rope-dims"}


class Call:
    """What one attention module was given and gave."""

    def __init__(self, name, module):
        self.name, self.module = name, module
        self.parts, self.weights, self.contexts, self.mask = {}, None, [], None
        self.tolerance = 1e-4


def said(call, names, model):
    """The first of the names that the module, its configuration or the model's says."""
    for owner in (call.module, getattr(call.module, "config", None), getattr(model, "config", None)):
        for name in names:
            if isinstance(getattr(owner, name, None), int):
                return getattr(owner, name)
    return None


def split_heads(joined, heads):
    """[B, H, T, d] of [B, T, H·d], or of [T, H·d]."""
    joined = joined.reshape(-1, *joined.shape[-2:])
    return joined.reshape(*joined.shape[:2], heads, -1).transpose(0, 2, 1, 3)


def unpacked(packed, heads, kv_heads, interleaved):
    """Q, K, V of one array: of each head in turn, [H, 3, d], as GPT-NeoX and BLOOM have them, or one after another."""
    packed = packed.reshape(-1, *packed.shape[-2:])
    if interleaved:
        parts = packed.reshape(*packed.shape[:2], heads, 3, -1).transpose(3, 0, 2, 1, 4)
        return list(parts)
    d = packed.shape[-1] // (heads + 2 * kv_heads)
    parts = numpy.split(packed, [heads * d, (heads + kv_heads) * d], -1)
    return [split_heads(part, count) for part, count in zip(parts, (heads, kv_heads, kv_heads))]


def heads_first(values, heads, tokens_first):
    """[B, H, T, d] of what a norm gave."""
    if values.ndim < 4:
        return split_heads(values, heads)
    return values.transpose(0, 2, 1, 3) if tokens_first else values


def readings(call, heads, kv_heads):
    """Every way in which what was recorded can be Q, K and V, the likeliest first."""
    parts = call.parts
    likely = "query_key_value" in call.parts
    packed = parts.get("query_key_value", parts.get("qkv"))
    for interleaved, tokens_first in itertools.product(((likely, not likely) if packed is not None else (False,)),
                                                       ((True, False) if "q_norm" in parts else (True,))):
        if packed is not None:
            if packed.shape[-1] % (heads * 3 if interleaved else heads + 2 * kv_heads) or (interleaved and kv_heads != heads):
                continue
            q, k, v = unpacked(packed, heads, kv_heads, interleaved)
        else:
            q, k, v = (split_heads(parts[role], count) for role, count in (("Q", heads), ("K", kv_heads), ("V", kv_heads)))
        if "q_norm" in parts:
            q = heads_first(parts["q_norm"], heads, tokens_first)
        if "k_norm" in parts:
            k = heads_first(parts["k_norm"], kv_heads, tokens_first)
        if "rotated" in parts:
            turned = [each if each.shape[1] == count else each.transpose(0, 2, 1, 3)
                      for each, count in zip(parts["rotated"], (heads, kv_heads))]
            if any(new.shape[:-1] != old.shape[:-1] for new, old in zip(turned, (q, k))):
                continue
            q, k = (numpy.concatenate([new, old[..., new.shape[-1]:]], -1) for new, old in zip(turned, (q, k)))
        yield q, k, v


def rotated(x, rope, base=10000.0, dims=None):
    """RoPE of [B, H, T, d], position by position."""
    dims = dims or x.shape[-1]
    angles = numpy.arange(x.shape[2])[:, None] * float(base) ** (-numpy.arange(0, dims, 2) / dims)
    first, second = (slice(0, dims // 2), slice(dims // 2, dims)) if rope == "half" else (slice(0, dims, 2), slice(1, dims, 2))
    out = x.copy()
    out[..., first] = x[..., first] * numpy.cos(angles) - x[..., second] * numpy.sin(angles)
    out[..., second] = x[..., second] * numpy.cos(angles) + x[..., first] * numpy.sin(angles)
    return out


def slopes(heads):
    """ALiBi's, one a head. Source: Press et al. 2022, arXiv:2108.12409."""
    whole = 2 ** int(numpy.log2(heads))
    powers = [2.0 ** (-8.0 * (n + 1) / whole) for n in range(whole)]
    return numpy.array(powers + [2.0 ** (-4.0 * (2 * n + 1) / whole) for n in range(heads - whole)])


def allowed(shape, options, mask):
    """Which pairs of [B, H, Tq, Tk] may attend."""
    i, j = numpy.arange(shape[2])[:, None], numpy.arange(shape[3])[None, :]
    causal = options.get("causal")
    if causal == "bottom-right":
        i = i + shape[3] - shape[2]
    keep = numpy.ones(shape, bool) if mask is None else numpy.broadcast_to(mask, shape).copy()
    if causal:
        keep &= j <= i
    for name, gone in (("window", abs(i - j)), ("window-left", i - j), ("window-right", j - i)):
        if options.get(name) is not None:
            keep &= gone <= options[name]
    return keep


def weights_of(q, k, options, mask):
    """softmax of what the options say, in float64; rows that may attend to nothing are 0."""
    q, k = q.astype(numpy.float64), k.astype(numpy.float64)
    if options.get("rope"):
        q, k = (rotated(x, options["rope"], options.get("rope-base", 10000.0), options.get("rope-dims")) for x in (q, k))
    k = k.repeat(q.shape[1] // k.shape[1], 1)
    scale = options.get("scale", "sqrt_dk")
    scale = {"sqrt_dk": q.shape[-1] ** -0.5, "q_and_k": q.shape[-1] ** -0.5, "none": 1.0}.get(scale, scale)
    scores = q @ k.swapaxes(-1, -2) * scale / options.get("temperature", 1.0)
    if options.get("softcap"):
        scores = options["softcap"] * numpy.tanh(scores / options["softcap"])
    if options.get("alibi"):
        distance = abs(numpy.arange(scores.shape[2])[:, None] - numpy.arange(scores.shape[3])[None, :])
        scores = scores - slopes(q.shape[1])[:, None, None] * distance
    keep = allowed(scores.shape, options, mask)
    scores = numpy.where(keep, scores, -numpy.inf)
    most = scores.max(-1, keepdims=True, initial=-1e300)
    powers = numpy.exp(scores - most)
    return powers / numpy.maximum(powers.sum(-1, keepdims=True), 1e-300)


def difference(call, q, k, v, options, mask):
    """The largest difference from the model's own weights or context, and which of the two; None: the model gave neither."""
    weights = weights_of(q, k, options, mask)
    found = None
    if call.weights is not None and call.weights.shape == weights.shape:
        found = (float(abs(weights - call.weights).max()), "weights")
    context = weights @ v.astype(numpy.float64).repeat(q.shape[1] // v.shape[1], 1)
    joined = context.transpose(0, 2, 1, 3).reshape(*context.shape[:1], context.shape[2], -1)
    for own in call.contexts:
        for mine in (joined, joined[0], context):
            if own.shape == mine.shape:
                size = float(abs(mine - own).max()) / max(1.0, float(abs(mine).max()))
                if found is None or not size <= found[0]:
                    found = (size, "context")
                return found
    return found


def checked(call, model, heads, kv_heads, options, mask):
    """Q, K and V of one call, as they make the model's own weights. ValueError names the module."""
    heads = heads or said(call, HEADS, model)
    if not heads:
        raise ValueError(f"{call.name} does not state its number of heads; pass heads=H")
    if "Q" in call.parts and "K" in call.parts:
        kv_heads = kv_heads or max(1, heads * call.parts["K"].shape[-1] // call.parts["Q"].shape[-1])
    kv_heads = kv_heads or said(call, KV_HEADS, model) or heads
    best = None
    for q, k, v in readings(call, heads, kv_heads):
        found = difference(call, q, k, v, options, call.mask if call.mask is not None else mask)
        if found is None:
            raise ValueError(f"{call.name} gives neither weights nor a context to compare with: run it with output_attentions=True")
        if found[0] <= call.tolerance:
            return q, k, v
        best = found if best is None or not found[0] >= best[0] else best
    if best is None:
        raise ValueError(f"{call.name}: the output of its projections is not {heads} heads of queries and {kv_heads} of keys")
    raise ValueError(f"{call.name}: the {best[1]} of what would be saved differ from the model's own by {best[0]:.2g}, "
                     f"more than {call.tolerance:g}: pass the missing options of the call (causal, scale, alibi, rope, window, mask)")


def is_weights(values, call):
    """Non-negative rows of [B, H, Tq, Tk] that sum to 1 or, under a mask, to 0."""
    if values.ndim != 4 or (values < 0).any():
        return False
    sums = values.sum(-1)
    return bool(((abs(sums - 1) < 100 * call.tolerance) | (sums == 0)).all())


def projections(module, query, key, value):
    """Q, K and V of torch.nn.MultiheadAttention, [T, E] or [B, T, E] each."""
    if module.in_proj_weight is not None:
        weights = module.in_proj_weight.chunk(3)
    else:
        weights = (module.q_proj_weight, module.k_proj_weight, module.v_proj_weight)
    biases = module.in_proj_bias.chunk(3) if module.in_proj_bias is not None else (None,) * 3
    turn = query.dim() == 3 and not module.batch_first
    given = (x.transpose(0, 1) if turn else x for x in (query, key, value))
    return [torch.nn.functional.linear(x, w, b) for x, w, b in zip(given, weights, biases)]


def mask_of(call, heads, attn_mask, padding):
    """True = may attend, of PyTorch's True = may not; None: there is none."""
    keep = None
    if attn_mask is not None:
        mask = array(attn_mask)
        keep = ~mask if mask.dtype == bool else mask_array(mask)
        keep = keep.reshape(-1, heads, *keep.shape[-2:]) if keep.ndim == 3 else keep
    if padding is not None:
        padding = array(padding)
        valid = ~padding if padding.dtype == bool else mask_array(padding)
        valid = valid.reshape(-1, 1, 1, valid.shape[-1])
        both = keep is not None and keep.dtype == bool
        keep = valid if keep is None else keep & valid if both else numpy.where(valid, keep, -numpy.inf)
    return keep


def record_multihead(name, module, calls, put_back):
    """Its forward is stood in for: it has no submodules to hook."""
    own = module.forward

    def forward(query, key, value, key_padding_mask=None, need_weights=True, attn_mask=None, average_attn_weights=True, **more):
        call = Call(name, module)
        calls.append(call)
        for role, part in zip("QKV", projections(module, query, key, value)):
            call.parts[role] = array(part)
        call.mask = mask_of(call, module.num_heads, attn_mask, key_padding_mask)
        asked = own(query, key, value, key_padding_mask=key_padding_mask, need_weights=True, attn_mask=attn_mask,
                    average_attn_weights=False, **more)
        weights = array(asked[1])
        call.weights = weights.reshape(-1, *weights.shape[-3:])
        return own(query, key, value, key_padding_mask=key_padding_mask, need_weights=need_weights, attn_mask=attn_mask,
                   average_attn_weights=average_attn_weights, **more)

    module.forward = forward
    put_back.append(lambda: delattr(module, "forward"))


def record_attention(name, module, calls, running, put_back):
    """A module with projections among its submodules: what they, its norms and it itself gave."""
    def enter(*_):
        running.append(Call(name, module))

    def leave(_, __, output):
        call = running.pop()
        for each in output if isinstance(output, (tuple, list)) else (output,):
            if isinstance(each, torch.Tensor):
                values = array(each)
                if call.weights is None and is_weights(values, call):
                    call.weights = values
                elif not call.contexts:
                    call.contexts.append(values)
        if {"Q", "K", "V"} <= call.parts.keys() or {"qkv", "query_key_value"} & call.parts.keys():
            calls.append(call)

    def part_hook(last):
        def hook(_, __, output):
            if output.dtype not in (torch.float32, torch.float64):
                running[-1].tolerance = 2e-2
            role = last if last == "query_key_value" else NAMES[last]
            running[-1].parts[role] = array(output)
        return hook

    def take_context(_, inputs):
        if inputs and isinstance(inputs[0], torch.Tensor):
            running[-1].contexts.insert(0, array(inputs[0]))

    hooks = [module.register_forward_pre_hook(enter), module.register_forward_hook(leave)]
    for last, part in module.named_children():
        if last in NAMES:
            hooks.append(part.register_forward_hook(part_hook(last)))
        elif last in OUT:
            part = part[0] if isinstance(part, torch.nn.ModuleList) else part
            hooks.append(part.register_forward_pre_hook(take_context))
    put_back.extend(hook.remove for hook in hooks)


def record_rotary(module, running, put_back):
    """apply_rotary_pos_emb of the module's file, while an attention module runs: what it gave is what the scores take."""
    file = sys.modules[type(module).__module__]
    turn = getattr(file, "apply_rotary_pos_emb", None)
    if turn is None or hasattr(turn, "attnscope"):
        return

    def turned(*args, **kwargs):
        out = turn(*args, **kwargs)
        if running and isinstance(out, tuple) and len(out) == 2:
            running[-1].parts["rotated"] = [array(each) for each in out]
        return out

    turned.attnscope = True
    file.apply_rotary_pos_emb = turned
    put_back.append(lambda: setattr(file, "apply_rotary_pos_emb", turn))


def recorded(model, args, kwargs):
    """The attention calls of one run, in order."""
    calls, running, put_back = [], [], []
    multihead = False
    for name, module in model.named_modules():
        shown = name or type(module).__name__
        if isinstance(module, torch.nn.MultiheadAttention):
            multihead = True
            record_multihead(shown, module, calls, put_back)
        elif any(NAMES.get(last) in ("Q", "qkv") for last, _ in module.named_children()):
            record_attention(shown, module, calls, running, put_back)
            record_rotary(module, running, put_back)
    training = [(module, module.training) for module in model.modules()]
    model.eval()
    try:
        with torch.set_grad_enabled(multihead):  # without gradients torch.nn.TransformerEncoder goes around its own modules
            model(*args, **kwargs)
    finally:
        for module, was in training:
            module.training = was
        for undo in put_back:
            undo()
    return calls


def causal_candidates(calls, named):
    """Options to compare the calls under: causal first if every module is, unless the caller states it."""
    if named.get("causal") is None and all(getattr(call.module, "is_causal", None) is True for call in calls):
        return [{"causal": True}, {}]
    return [{}]


def recorded_arrays(model, inputs, *, heads=None, kv_heads=None, tokens=None, tokens_kv=None, mask=None, image=None, image_tokens=None,
                    image_queries=None, grid=None, **options):
    """{"l0.Q": …} of every attention in one run of the model, in evaluation. inputs: a tensor, a tuple of arguments, or a dict of arguments by
    their names. ValueError: it has no attention that is known, or what was recorded does not make the model's own weights."""
    found = beside(tokens=tokens, tokens_kv=tokens_kv, mask=mask, image=image, image_tokens=image_tokens, image_queries=image_queries, grid=grid, **options)
    named = {name.replace("_", "-"): value for name, value in options.items()}
    for name, value in named.items():
        if name not in CHECKED and value not in (None, False):
            raise ValueError(f"{name.replace('-', '_')} is an option that the model's weights are not compared under; expected "
                             + ", ".join(sorted(each.replace("-", "_") for each in CHECKED)))
    by_name = isinstance(inputs, collections.abc.Mapping)
    args = () if by_name else inputs if isinstance(inputs, tuple) else (inputs,)
    calls = recorded(model, args, dict(inputs) if by_name else {})
    first = None
    if not calls:
        raise ValueError(f"no attention of this model ran: none is a MultiheadAttention or has a submodule of {', '.join(NAMES)}")
    masks = [call.mask for call in calls]
    for causal in causal_candidates(calls, named):
        stated = {**named, **causal}
        try:
            parts = [checked(call, model, heads, kv_heads, stated, found.get("mask")) for call in calls]
            break
        except ValueError as refused:
            first = first or refused
    else:
        raise first
    found.update(beside(**{**options, **causal}))
    for number, own in enumerate(parts):
        found.update({f"l{number}.{role}": numpy.ascontiguousarray(part) for role, part in zip("QKV", own)})
    if any(each is not None for each in masks):
        if any(each is None or not numpy.array_equal(each, masks[0]) for each in masks):
            raise ValueError(f"{calls[0].name} and others have different masks, but a file has only one: save them separately")
        found["mask"] = masks[0]
    return found
