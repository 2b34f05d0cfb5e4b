#!/usr/bin/env python3
"""Makes gguf/quantised.gguf and .safetensors: blocks of every quantised type of GGUF, and their numbers by gguf-py.

Run where gguf-py and ggml are installed (Debian: python3-gguf, libggml0): python3 tests/goldens/make_gguf_types.py
Of each array [2, 256 or more] the first row is random bytes, NaN and infinite scales included, the second is what ggml
quantises of random numbers. NaN is written as one pattern of bits. gguf-py does not read Q8_1 and Q8_K: they are d q.
"""

import ctypes
import pathlib
import sys

import numpy as np
from gguf import GGML_QUANT_SIZES, GGMLQuantizationType, quants

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import make_gguf  # noqa: E402  (the writer of files)

TYPES = [kind for kind, (items, _) in GGML_QUANT_SIZES.items() if items > 1 and (kind in quants._type_traits or kind.name in ("Q8_1", "Q8_K"))]
WIDTH = 256


def ggml():
    try:
        return ctypes.CDLL("libggml-base.so.0")
    except OSError:
        return None


def dequantised(raw, kind):
    """[rows, bytes] as float32 [rows, items]."""
    if kind.name == "Q8_1":
        blocks = raw.reshape(-1, 36)
        return (blocks[:, :2].copy().view(np.float16).astype(np.float32) * blocks[:, 4:].view(np.int8)).reshape(len(raw), -1)
    if kind.name == "Q8_K":
        blocks = raw.reshape(-1, 292)
        return (blocks[:, :4].copy().view(np.float32) * blocks[:, 4:260].view(np.int8)).reshape(len(raw), -1)
    return quants.dequantize(raw, kind)


def by_ggml(raw, kind):
    """The same by ggml's own code; None: it has none for this type."""
    library = ggml()
    if library is None:
        return None

    class Traits(ctypes.Structure):
        _fields_ = [("name", ctypes.c_char_p), ("items", ctypes.c_int64), ("interleaved", ctypes.c_int64), ("bytes", ctypes.c_size_t),
                    ("quantised", ctypes.c_bool), ("to_float", ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64))]

    library.ggml_get_type_traits.restype = ctypes.POINTER(Traits)
    traits = library.ggml_get_type_traits(int(kind)).contents
    items, size = GGML_QUANT_SIZES[kind]
    assert (traits.items, traits.bytes) == (items, size), (kind, traits.items, traits.bytes)
    if not traits.to_float:
        return None
    numbers = np.empty((len(raw), raw.shape[1] // size * items), np.float32)
    raw = np.ascontiguousarray(raw)
    traits.to_float(raw.ctypes.data, numbers.ctypes.data, numbers.size)
    return numbers


def quantised(numbers, kind):
    """[rows, items] as bytes by ggml; None: it does not quantise to this type."""
    library = ggml()
    items, size = GGML_QUANT_SIZES[kind]
    if library is None or kind.name in ("Q8_1", "Q8_K"):
        return None
    library.ggml_quantize_chunk.restype = ctypes.c_size_t
    library.ggml_quantize_chunk.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p] + [ctypes.c_int64] * 3 + [ctypes.c_void_p]
    numbers = np.ascontiguousarray(numbers, np.float32)
    importance = np.ones(numbers.shape[1], np.float32)
    raw = np.zeros((len(numbers), numbers.shape[1] // items * size), np.uint8)
    written = library.ggml_quantize_chunk(int(kind), numbers.ctypes.data, raw.ctypes.data, 0, len(numbers), numbers.shape[1], importance.ctypes.data)
    assert written == raw.size, (kind, written, raw.size)
    return raw


def blocks_of(rng, kind, rows):
    """As many rows of random bytes, and as many of quantised numbers (random bytes again where ggml makes none)."""
    items, size = GGML_QUANT_SIZES[kind]
    noise = rng.integers(0, 256, (2 * rows, WIDTH // items * size), dtype=np.uint8)
    made = quantised(rng.normal(size=(rows, WIDTH)) * 0.02, kind)
    return np.concatenate([noise[:rows], noise[rows:] if made is None else made])


def one_nan(numbers):
    return np.where(np.isnan(numbers), np.float32(np.nan), numbers).astype(np.float32)


def write(path, seed, rows):
    """A file of all types; returns their bytes by name."""
    rng = np.random.default_rng(seed)
    raw = {kind.name: blocks_of(rng, kind, rows) for kind in TYPES}
    make_gguf.TYPES.update({kind.name: int(kind) for kind in TYPES})
    make_gguf.write(path, {"general.architecture": "none"}, [(name, name, [len(one), WIDTH], one.tobytes()) for name, one in raw.items()])
    return raw


if __name__ == "__main__":
    np.seterr(all="ignore")
    codes = write(make_gguf.OUT / "quantised.gguf", 31, 1)
    make_gguf.write_safetensors(make_gguf.OUT / "quantised.safetensors",
                                {name: one_nan(dequantised(one, GGMLQuantizationType[name])) for name, one in codes.items()})
