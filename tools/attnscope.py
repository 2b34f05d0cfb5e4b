"""attnscope from Python. One file, to be copied or imported from here; it needs numpy, and takes PyTorch's tensors too.

    import attnscope
    attnscope.show(q, k, v, tokens=["The", "cat", "sat"], causal=True)    # opens the window; your program goes on
    attnscope.show(weights)                  # weights alone: [T, T], [H, T, T], [L, H, T, T], or a list of layers
    attnscope.save("attention.npz", q, k, v, tokens=words)                 # the file alone, for `attnscope trace` or `diff`

q, k, v: [T, d], [H, T, d] or [B, H, T, d] (another layout: layout="tokens-first" or "joined" with heads=H); of several
layers a list each. Options are those of `attnscope trace` with _ for -: causal=True, scale=0.125, window_left=128,
rope="half", softcap=50. The program is $ATTNSCOPE, or the one built beside this file, or the one on the PATH.
"""

import difflib
import json
import os
import pathlib
import shutil
import subprocess
import tempfile

import numpy


def array(values):
    """numpy's, of whatever has numbers: a tensor of PyTorch (any device, any type, with gradients) or a list."""
    if hasattr(values, "detach"):
        values = values.detach().cpu()
        values = values.float() if values.is_floating_point() else values
        return values.numpy()
    return numpy.asarray(values)


OPTIONS = ("heads", "kv-heads", "layout", "role", "group", "score", "scale", "d-k", "temperature", "softcap", "sinks", "rope", "rope-base",
           "rope-dims", "rope-scaling", "query-offset", "alibi", "causal", "window", "window-left", "window-right", "global-tokens", "block", "padding",
           "empty-rows", "dropout", "seed", "training", "operation", "chunk", "latents", "rank", "state", "discretise")  # of `attnscope trace`


def words_and_options(tokens=None, tokens_kv=None, mask=None, **options):
    """What stands beside the tensors in the file. mask: bool, True = may attend; or what PyTorch adds to the scores, 0 and -inf.
    ValueError: an option that there is not, or a value that JSON has not."""
    found = {}
    if mask is not None:
        found["mask"] = mask_array(mask)
    for name, words in (("tokens", tokens), ("tokens_kv", tokens_kv)):
        if words is not None:
            found[name] = numpy.array(json.dumps([str(word) for word in words]))
    named = {key.replace("_", "-"): value for key, value in options.items()}
    for key, value in named.items():
        if key not in OPTIONS:
            near = difflib.get_close_matches(key, OPTIONS, 1)
            raise ValueError(f"there is no option {key.replace('-', '_')}" + (f"; did you mean {near[0].replace('-', '_')}?" if near else ""))
        if hasattr(value, "tolist"):
            named[key] = value.tolist()  # numpy's numbers, and tensors of one
    named = {key: value for key, value in named.items() if value is not None and (value is not False or key == "training")}
    if named:
        found["options"] = numpy.array(json.dumps(named))
    return found


def mask_array(mask):
    """bool of a mask of bool, or of numbers that are 0 where a query may attend and -inf (or below -1e4) where not."""
    mask = array(mask)
    if mask.dtype == bool:
        return mask
    if numpy.issubdtype(mask.dtype, numpy.floating) and ((mask == 0) | (mask < -1e4)).all():
        return mask == 0
    raise ValueError(f"mask is {mask.dtype} with other numbers than 0 and -inf; expected bool, True = may attend, or 0 and -inf")


def layers_of_weights(weights):
    """{"weights": …}, or {"l0.weights": …} of several layers: of a list (output_attentions), or of [L, H, T, T] and [L, B, H, T, T]."""
    if isinstance(weights, (list, tuple)) and len(weights) and hasattr(weights[0], "shape"):
        return {f"l{n}.weights": array(layer) for n, layer in enumerate(weights)}
    weights = array(weights)
    if weights.ndim not in (2, 3, 4, 5):
        raise ValueError(f"weights are {list(weights.shape)}; expected [T, T], [H, T, T], [L, H, T, T], [L, B, H, T, T] or a list of layers")
    if weights.ndim < 4:
        return {"weights": weights}
    return {f"l{n}.weights": layer for n, layer in enumerate(weights)}


def tensors(q, k, v):
    """{"Q": …}, or {"l0.Q": …} of lists; of q alone, which are weights then, see layers_of_weights(). v may be None."""
    if k is None:
        if v is not None:
            raise ValueError("v is given without k; expected q, k and v, q and k, or weights alone")
        return layers_of_weights(q)
    if v is None and not isinstance(q, (list, tuple)):
        return {"Q": array(q), "K": array(k)}
    if v is None:
        if len(q) != len(k):
            raise ValueError(f"q has {len(q)} layers, k {len(k)}; expected the same of each")
        return {f"l{n}.{name}": array(each) for n, call in enumerate(zip(q, k)) for name, each in zip("QK", call)}
    if not (isinstance(q, (list, tuple)) and hasattr(q[0], "shape")):
        return {"Q": array(q), "K": array(k), "V": array(v)}
    if not len(q) == len(k) == len(v):
        raise ValueError(f"q has {len(q)} layers, k {len(k)} and v {len(v)}; expected the same of each")
    return {f"l{n}.{name}": array(each) for n, call in enumerate(zip(q, k, v)) for name, each in zip("QKV", call)}


def save(path, q, k=None, v=None, **options):
    """Of weights alone: save(path, weights). Writes an .npz that attnscope opens. Returns the path."""
    numpy.savez(path, **tensors(q, k, v), **words_and_options(**options))
    return path


def program():
    """The attnscope to start. FileNotFoundError: there is none."""
    built = pathlib.Path(__file__).resolve().parent.parent / "build" / "release" / "attnscope"
    found = os.environ.get("ATTNSCOPE") or (str(built) if built.exists() else shutil.which("attnscope"))
    if not found:
        raise FileNotFoundError("attnscope is not on the PATH; set ATTNSCOPE to the program, or build it with ./run")
    return found


def show(q, k=None, v=None, wait=False, **options):
    """Opens the window on them; show(weights) on weights alone. Returns its process; wait=True: once the window was closed. ValueError: attnscope says what
    is wrong with the tensors. The file is a temporary one, which goes with the folder of temporary files."""
    folder = tempfile.mkdtemp(prefix="attnscope-")
    path = save(os.path.join(folder, "attention.npz"), q, k, v, **options)
    asks = ["trace", path, "-o", os.path.join(folder, "trace.npz"), "--keep", "context"] if v is not None else ["heads", path, "-o", os.path.join(folder, "heads.csv")]
    checked = subprocess.run([program(), *asks], capture_output=True, text=True, check=False)
    if checked.returncode:
        shutil.rmtree(folder)
        raise ValueError(checked.stderr.strip())
    os.remove(asks[3])
    window = subprocess.Popen([program(), path])
    if wait:
        window.wait()
        shutil.rmtree(folder)
    return window
