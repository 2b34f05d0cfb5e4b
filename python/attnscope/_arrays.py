"""From what a person gives to the arrays of a file that attnscope reads."""

import difflib
import functools
import json
import sys
import warnings
from typing import Any, Dict, Optional, Sequence, Tuple

import numpy
from numpy.typing import NDArray

from ._program import Note, run

Arrays = Dict[str, NDArray[Any]]

NAMED = ("W_O", "b_O", "W_score", "W_score_q", "W_score_k", "w_score", "b_score", "sinks", "bias", "q_norm_weight", "k_norm_weight", "dO", "dY", "cu_seqlens",
         "cos", "sin", "q_cos", "q_sin", "k_cos", "k_sin", "cos_cache", "sin_cache", "positions", "position_ids", "log_f", "q_positions", "k_positions",
         "past_k", "past_v", "past_key", "past_value", "nonpad_kv_seqlen", "selected", "indexer_scores",
         "kv_num_blocks", "kv_indices", "full_kv_num_blocks", "full_kv_indices", "Q_BLOCK_SIZE", "KV_BLOCK_SIZE")  # arrays beside Q, K and V
CPU = 1  # of DLPack


@functools.lru_cache(maxsize=None)
def known_options() -> Optional[Tuple[str, ...]]:
    """The names of the options of `attnscope trace`. None: there is no program to list them, and it checks them when it reads the file."""
    try:
        return tuple(option["name"] for option in json.loads(run(["options", "--json"])) if option["name"] != "tokens")
    except (FileNotFoundError, ValueError, RuntimeError):
        return None


def array(values: Any) -> NDArray[Any]:
    """numpy's, of whatever has numbers: a tensor of PyTorch (any device, any type, with gradients), an array of JAX or another library that has
    __array__ or DLPack, or a list. 16-bit floats that numpy has not become float32.

    TypeError: it has other things than real numbers, or lies on a device that its library does not copy from by itself."""
    if hasattr(values, "detach"):
        values = values.detach().cpu()
        values = values.float() if values.is_floating_point() else values
        found = values.numpy()
    elif hasattr(values, "__dlpack__") and not hasattr(values, "__array__"):
        device = int(values.__dlpack_device__()[0])
        if device != CPU:
            raise TypeError(f"{type(values).__name__} is on DLPack's device {device}; expected one in main memory: copy it there first")
        found = numpy.from_dlpack(values)
    else:
        found = numpy.asarray(values)
    if found.dtype.kind not in "bifuV" or (found.dtype.kind == "V" and found.dtype.fields):
        raise TypeError(f"{type(values).__name__} has the dtype {found.dtype}; expected real numbers")
    return found.astype(numpy.float32) if found.dtype.kind == "V" else found  # bfloat16 of ml_dtypes


def mask_array(mask: Any) -> NDArray[Any]:
    """bool of a mask of bool, or of floats that are 0 where a query may attend and -inf (or below -1e4) where not.
    Other floats are returned unchanged: they are a bias, which is added to the scores.

    ValueError: it has other numbers."""
    mask = array(mask)
    if mask.dtype == bool:
        return mask
    if not numpy.issubdtype(mask.dtype, numpy.floating):
        raise ValueError(f"mask is {mask.dtype}; expected bool, True = may attend, or floats that are added to the scores")
    return mask == 0 if ((mask == 0) | (mask < -1e4)).all() else mask


def _text(word: Any) -> str:
    """Of bytes, as tokenizers give them, the text; invalid UTF-8, as half a character, stays \\xe4."""
    return word.decode("utf-8", "backslashreplace") if isinstance(word, bytes) else str(word)


def _image_array(image: Any) -> NDArray[Any]:
    """[height, width, 3] or [height, width] of an array, a tensor or an image of Pillow; channels that come first go last."""
    shape = getattr(image, "shape", None)
    pixels = array(numpy.asarray(image) if shape is None else image)
    if pixels.ndim == 4 and pixels.shape[0] == 1:
        pixels = pixels[0]
    if pixels.ndim == 3 and pixels.shape[0] in (1, 3, 4) and pixels.shape[2] not in (1, 3, 4):
        pixels = numpy.ascontiguousarray(pixels.transpose(1, 2, 0))
    return pixels


def _token_range(name: str, tokens: Any) -> NDArray[Any]:
    """[first, count] of a slice, a range, or a pair that is such already."""
    if isinstance(tokens, (slice, range)):
        first, stop, step = tokens.start or 0, tokens.stop, tokens.step or 1
        if stop is None or first < 0 or stop < 0 or step != 1:
            raise ValueError(f"{name} is {tokens}; expected a slice with its end and no step, counted from 0: slice(1, 197)")
        return numpy.array([first, max(stop - first, 0)])
    return array(tokens)


def image_arrays(image: Any = None, image_tokens: Any = None, image_queries: Any = None, grid: Any = None) -> Arrays:
    """The arrays of a picture and of the tokens that are its patches."""
    found: Arrays = {} if image is None else {"image": _image_array(image)}
    for name, tokens in (("image_tokens", image_tokens), ("image_queries", image_queries)):
        if tokens is not None:
            found[name] = _token_range(name, tokens)
    if grid is not None:
        found["image_grid"] = array(grid)
    return found


def beside(tokens: Optional[Sequence[Any]] = None, tokens_kv: Optional[Sequence[Any]] = None, mask: Any = None, image: Any = None,
           image_tokens: Any = None, image_queries: Any = None, grid: Any = None, **options: Any) -> Arrays:
    """Arrays of the file in addition to the tensors: the mask, the text, the picture, arrays by their names, and the options as JSON.

    ValueError: an option that there is not."""
    found = image_arrays(image, image_tokens, image_queries, grid)
    known = known_options() if options else ()
    if mask is not None:
        found["mask"] = mask_array(mask)
    for name, words in (("tokens", tokens), ("tokens_kv", tokens_kv)):
        if words is not None:
            found[name] = numpy.array(json.dumps([_text(word) for word in words]))
    named = {}
    for key, value in options.items():
        option = key.replace("_", "-")
        if key in NAMED and not isinstance(value, (bool, str)):
            if value is not None:
                found[key] = array(value)
        elif known is None or option in known:
            named[option] = value.tolist() if hasattr(value, "tolist") else value  # numpy's numbers, and tensors of one
        else:
            near = difflib.get_close_matches(option, known + NAMED, 1)
            raise ValueError(f"there is no option {key}" + (f"; did you mean {near[0].replace('-', '_')}?" if near else ""))
    named = {key: value for key, value in named.items() if value is not None and (value is not False or key == "training")}
    if named:
        found["options"] = numpy.array(json.dumps(named))
    return found


def _are_layers(values: Any) -> bool:
    return isinstance(values, (list, tuple)) and len(values) > 0 and hasattr(values[0], "shape")


def _of_weights(weights: Any) -> Arrays:
    """{"weights": …}, or {"l0.weights": …} of several layers: of a list (output_attentions), or of [L, H, T, T] and [L, B, H, T, T]."""
    if not _are_layers(weights):
        weights = array(weights)
        if weights.ndim not in (2, 3, 4, 5):
            raise ValueError(f"weights are {list(weights.shape)}; expected [T, T], [H, T, T], [L, H, T, T], [L, B, H, T, T] or a list of layers")
        if weights.ndim < 4:
            return {"weights": weights}
    return {f"l{n}.weights": array(layer) for n, layer in enumerate(weights)}


def _of_operands(q: Any, k: Any, v: Any) -> Arrays:
    """{"Q": …}, or {"l0.Q": …} of lists; of q alone, which are weights then, see _of_weights(). v may be None."""
    if k is None:
        if v is not None:
            raise ValueError("v is given without k; expected q, k and v, q and k, or weights alone")
        return _of_weights(q)
    given = {name: each for name, each in zip("QKV", (q, k, v)) if each is not None}
    if not _are_layers(q):
        return {name: array(each) for name, each in given.items()}
    counts = [len(each) for each in given.values()]
    if len(set(counts)) > 1:
        raise ValueError(f"q has {counts[0]} layers, k {counts[1]}" + (f" and v {counts[2]}" if len(counts) > 2 else "") + "; expected the same of each")
    return {f"l{n}.{name}": array(layer) for name, each in given.items() for n, layer in enumerate(each)}


def _note_tokens_first(arrays: Arrays, options: Dict[str, Any]) -> None:
    """Notes a call of three axes that is read as [H, T, d] and may be [T, H, d]: more heads than tokens, and nothing that shows the tokens."""
    q, k = (next((values for name, values in arrays.items() if name.split(".")[-1] == role), None) for role in "QK")
    if q is None or k is None or q.ndim != 3 or k.ndim != 3 or options.get("layout") or options.get("heads"):
        return
    (heads, tokens, d), (kv_heads, keys, _) = q.shape, k.shape
    both_fit = min(q.shape + k.shape) > 0 and heads % kv_heads == 0 and tokens % keys == 0
    shown = len(options["tokens"]) == tokens if options.get("tokens") is not None else any(
        tuple(getattr(options.get(name), "shape", ())[-2:]) == (tokens, keys) for name in ("mask", "bias"))
    if both_fit and heads > tokens and not shown:
        warnings.warn(f"q {list(q.shape)} is read as [H, T, d], {heads} heads of {tokens} token{'s' * (tokens > 1)}; if it is [T, H, d], {heads} tokens of "
                      f"{tokens} head{'s' * (tokens > 1)}, pass layout=\"tokens-first\"", Note, stacklevel=5)


def is_module(values: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(values, torch.nn.Module)


def contents(q: Any, k: Any = None, v: Any = None, **options: Any) -> Arrays:
    """The arrays of the file, by the names that attnscope reads."""
    if is_module(q):
        from . import _hooks

        if k is None or v is not None:
            raise ValueError("a model is given with its inputs alone: show(model, inputs)")
        return _hooks.recorded_arrays(q, k, **options)
    operands = _of_operands(q, k, v)
    _note_tokens_first(operands, options)
    return {**operands, **beside(**options)}
