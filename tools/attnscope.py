"""attnscope from Python. One file, to be copied or imported from here; it needs numpy, and takes PyTorch's tensors too.

    import attnscope
    attnscope.show(q, k, v, tokens=["The", "cat", "sat"], causal=True)    # opens the window; your program goes on
    attnscope.save("attention.npz", q, k, v, tokens=words)                 # the file alone, for `attnscope trace` or `diff`

q, k, v: [T, d], [H, T, d] or [B, H, T, d] (another layout: layout="tokens-first" or "joined" with heads=H); of several
layers a list each. Options are those of `attnscope trace` with _ for -: causal=True, scale=0.125, window_left=128,
rope="half", softcap=50. The program is $ATTNSCOPE, or the one built beside this file, or the one on the PATH.
"""

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


def words_and_options(tokens=None, tokens_kv=None, **options):
    """What stands beside the tensors in the file."""
    found = {}
    for name, words in (("tokens", tokens), ("tokens_kv", tokens_kv)):
        if words is not None:
            found[name] = numpy.array(json.dumps([str(word) for word in words]))
    named = {key.replace("_", "-"): value for key, value in options.items() if value is not None and value is not False}
    if named:
        found["options"] = numpy.array(json.dumps(named))
    return found


def tensors(q, k, v):
    """{"Q": …}, or {"l0.Q": …} of lists."""
    if not (isinstance(q, (list, tuple)) and hasattr(q[0], "shape")):
        return {"Q": array(q), "K": array(k), "V": array(v)}
    if not len(q) == len(k) == len(v):
        raise ValueError(f"q has {len(q)} layers, k {len(k)} and v {len(v)}; expected the same of each")
    return {f"l{n}.{name}": array(each) for n, call in enumerate(zip(q, k, v)) for name, each in zip("QKV", call)}


def save(path, q, k, v, **options):
    """Writes an .npz that attnscope opens. Returns the path."""
    numpy.savez(path, **tensors(q, k, v), **words_and_options(**options))
    return path


def program():
    """The attnscope to start. FileNotFoundError: there is none."""
    built = pathlib.Path(__file__).resolve().parent.parent / "build" / "release" / "attnscope"
    found = os.environ.get("ATTNSCOPE") or (str(built) if built.exists() else shutil.which("attnscope"))
    if not found:
        raise FileNotFoundError("attnscope is not on the PATH; set ATTNSCOPE to the program, or build it with ./run")
    return found


def show(q, k, v, wait=False, **options):
    """Opens the window on them. Returns its process; wait=True: once the window was closed. ValueError: attnscope says what
    is wrong with the tensors. The file is a temporary one, which goes with the folder of temporary files."""
    folder = tempfile.mkdtemp(prefix="attnscope-")
    path = save(os.path.join(folder, "attention.npz"), q, k, v, **options)
    checked = subprocess.run([program(), "trace", path, "-o", os.path.join(folder, "trace.npz"), "--keep", "context"],
                             capture_output=True, text=True, check=False)
    if checked.returncode:
        shutil.rmtree(folder)
        raise ValueError(checked.stderr.strip())
    os.remove(os.path.join(folder, "trace.npz"))
    window = subprocess.Popen([program(), path])
    if wait:
        window.wait()
        shutil.rmtree(folder)
    return window
