"""Runs the code that "Copy the whole call" copies and compares what it makes with the engine's own stages.
call_copies.py CALL_COPIES"""

import sys

from copies import copies, made
import numpy as np

TOLERANCE = 2e-5  # float32 against float64, of the stage's largest number


def expected(text):
    for line in text.splitlines():
        key, *words = line.split()
        yield key, np.array(words[4:], float).reshape([int(n) for n in words[:4]])


def check_flex(path, names, context):
    """FlexAttention with the functions that Masks copies makes the context, where it can."""
    from torch.nn.attention.flex_attention import flex_attention

    text = path.read_text()
    if "# not in this code" in text or "d_k ** (-1/4)" in names["code"] or not np.isfinite(context).all():
        return 0  # d_k ** (-1/4) is in these q and k already
    flex = made(path)
    q, k, v = (names[name] for name in "qkv")  # after RoPE, of each head
    bias = flex.get("bias")
    if bias is not None:
        flex["bias"] = bias.double()
    got = flex_attention(q, k, v, score_mod=flex.get("score_mod"), block_mask=flex["block_mask"], scale=flex["scale"]).numpy()
    largest = np.abs(context).max(initial=1e-3)
    if not np.allclose(got, context, 0, TOLERANCE * largest):
        sys.exit(f"FAILED: context of {path.name} is\n{got}\nnot\n{context}\n{text}")
    return 1


flexed = 0
for text, paths in copies(sys.argv[1], 60, "calls"):
    for path in paths:
        names = made(path)
        for key, stage in expected(text):
            got = np.asarray(names[key]).reshape(stage.shape)
            largest = np.abs(stage[np.isfinite(stage)]).max(initial=1e-3)
            if not np.allclose(got, stage, 0, TOLERANCE * largest, equal_nan=True):
                sys.exit(f"FAILED: {key} of {path.name} is\n{got}\nnot\n{stage}\n{path.read_text()}")
        if path.name.endswith(".pytorch.py"):
            stages = dict(expected(text))
            flexed += check_flex(path.with_name(path.name.replace(".pytorch.", ".flex.")), {**names, "code": path.read_text()}, stages["context"])
if flexed:
    print(f"{flexed} calls by FlexAttention")
