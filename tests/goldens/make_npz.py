#!/usr/bin/env python3
"""Writes tests/goldens/npz: small files as numpy makes them, for the readers and the command line.

    /usr/bin/python3 tests/goldens/make_npz.py
"""
import json
import pathlib

import numpy as np

FOLDER = pathlib.Path(__file__).parent / "npz"
COUNTING = np.arange(6).reshape(2, 3) - 2  # [[-2, -1, 0], [1, 2, 3]]


def main():
    FOLDER.mkdir(exist_ok=True)
    kinds = {"f2": "<f2", "f4": "<f4", "f8": "<f8", "i1": "i1", "i4": "<i4", "i8": "<i8", "big": ">f4", "big2": ">i2"}
    arrays = {name: COUNTING.astype(dtype) for name, dtype in kinds.items()}
    arrays["fortran"] = np.asfortranarray(COUNTING.astype("<f4"))
    arrays["bool"] = COUNTING > 0
    arrays["u1"] = np.array([0, 1, 255], "u1")
    arrays["text"] = np.array("√d_k → 1")
    arrays["scalar"] = np.float64(0.25)
    arrays["none"] = np.zeros((0, 4), "<f4")
    np.savez(FOLDER / "kinds.npz", **arrays)
    np.savez_compressed(FOLDER / "deflated.npz", f4=COUNTING.astype("<f4"))
    np.savez(FOLDER / "complex.npz", Q=np.zeros((2, 2), "<c8"))
    np.savez(FOLDER / "objects.npz", Q=np.array([{}], object))
    np.savez(FOLDER / "structured.npz", Q=np.zeros(2, [("a", "<f4"), ("b", "<i4")]))

    # The worked example "cat sat mat" and X with projections and two heads.
    x = np.array([[1, 0], [0, 1], [1, 1]], "<f4")
    eye = np.eye(2, dtype="<f4")
    np.savez(FOLDER / "cat_sat_mat.npz", X=x, W_Q=eye, W_K=eye, W_V=eye)
    np.savez(FOLDER / "qkv.npz", Q=x, K=x, V=x, options=np.array(json.dumps({"scale": "none"})))
    np.savez(FOLDER / "float64.npz", Q=x.astype("f8") * 1e300, K=x.astype("f8"), V=x.astype("i4"))
    rng = np.random.default_rng(7)
    normal = lambda *shape: rng.standard_normal(shape).astype("<f4")
    np.savez(
        FOLDER / "two_heads.npz",
        X=normal(2, 3, 4), X_kv=normal(2, 5, 6), W_Q=normal(4, 8), W_K=normal(6, 4), W_V=normal(6, 3),
        W_O=normal(6, 4), b_Q=normal(8), b_O=normal(1, 4), mask=rng.random((2, 1, 3, 5)) > 0.3,
    )
    mask = np.ones((3, 3), bool)
    np.savez(FOLDER / "mask_3d.npz", Q=normal(2, 2, 3, 4), K=normal(2, 2, 3, 4), V=normal(2, 2, 3, 4), mask=np.stack([mask, mask]))
    np.savez(FOLDER / "bad_option.npz", Q=x, K=x, V=x, options=np.array('{"causl": true}'))
    np.savez(FOLDER / "bad_json.npz", Q=x, K=x, V=x, options=np.array('{"causal": '))

    # Tokens as numpy keeps them, as bytes and as JSON; cross-attention; several layers.
    words = ["the", "c\u00e4t", "\U0001f408"]
    qkv = dict(Q=normal(2, 3, 4), K=normal(2, 3, 4), V=normal(2, 3, 4))
    np.savez(FOLDER / "tokens.npz", tokens=np.array(words), **qkv)
    np.savez(FOLDER / "tokens_bytes.npz", tokens=np.array([word.encode() for word in words]), **qkv)
    np.savez(FOLDER / "tokens_json.npz", tokens=np.array(json.dumps(words)), **qkv)
    np.savez(FOLDER / "tokens_numbers.npz", tokens=np.arange(3), **qkv)
    np.savez(FOLDER / "tokens_cross.npz", tokens=np.array(["a", "b"]), tokens_kv=np.array(words), Q=normal(2, 2, 4), K=normal(2, 3, 4), V=normal(2, 3, 4))
    np.savez(FOLDER / "tokens_short.npz", tokens=np.array(words[:2]), **qkv)
    layer = lambda n, **arrays: {f"l{n}.{name}": array for name, array in arrays.items()}
    np.savez(
        FOLDER / "layers.npz", tokens=np.array(words), options=np.array('{"causal": true}'),
        **layer(10, **qkv), **layer(2, Q=qkv["V"], K=qkv["Q"], V=qkv["K"], dO=normal(2, 3, 4)),
    )
    np.savez(FOLDER / "layers_differ.npz", **layer(0, **qkv), **layer(1, Q=normal(2, 4, 4), K=qkv["K"], V=qkv["V"]))
    np.savez(FOLDER / "layers_mixed.npz", **qkv, **layer(0, **qkv))
    # A sentence of 40 labelled tokens with 12 heads, biases and a causal mask: what a person opens.
    sentence = (
        "the quick brown fox jumps over the lazy dog while a small grey cat watches from the old stone wall and "
        "then the fox stops turns around and looks back at both of them before it runs away for good today"
    ).split()[:40]
    np.savez_compressed(
        FOLDER / "twelve_heads.npz", tokens=np.array(sentence), X=normal(40, 24), W_Q=normal(24, 48) / 5,
        W_K=normal(24, 48) / 5, W_V=normal(24, 48) / 5, W_O=normal(48, 24) / 7, b_Q=normal(48), b_O=normal(24),
        options=np.array('{"heads": 12, "causal": true}'),
    )
    # More rows than a window is high.
    waves = np.cos(np.arange(96 * 2).reshape(96, 2)).round(2).astype("<f2")
    np.savez_compressed(FOLDER / "many_tokens.npz", Q=waves, K=waves, V=waves)
    # Too many tokens to compute every stage: Step maps them.
    wave = lambda pace: (2 * np.cos(pace * np.arange(300 * 8).reshape(300, 8))).round(2).astype("<f2")
    np.savez_compressed(FOLDER / "mapped_tokens.npz", Q=wave(0.37), K=wave(0.53), V=wave(0.71))
    # What other programs write: other names, options as arrays, bfloat16 as its bits, one query that decodes.
    np.savez(FOLDER / "other_names.npz", b_q=np.zeros(4, "<f4"), causal=np.array(True), bias_K=np.zeros(4, "<f4"), **qkv)
    np.savez(FOLDER / "bits.npz", Q=x.astype("<u2"), K=x, V=x)
    np.savez(FOLDER / "decode.npz", Q=x[:1], K=x, V=x, options=np.array('{"causal": true}'))
    np.savez(FOLDER / "unused.npz", attention_mask=np.zeros(2, "<f4"), W_extra=np.eye(4, dtype="<f4"), **qkv)


main()
