"""Runs the code that Masks copies and compares the mask that it makes with the engine's own.
mask_copies.py MASK_COPIES"""

import sys

from copies import copies, made
import numpy as np

forbidden = 0
for text, paths in copies(sys.argv[1], 100, "masks"):
    shape, digits = text.split("\n")[:2]
    mask = np.array([digit == "1" for digit in digits]).reshape([int(n) for n in shape.split()])
    forbidden += int((~mask).sum())
    for path in paths:
        if path.name.endswith(".pytorch.py"):  # there is PyTorch: FlexAttention's mask_mod too
            from torch.nn.attention.flex_attention import create_mask
            flex = path.with_name(path.name.replace(".pytorch.", ".flex."))
            dense = np.asarray(create_mask(made(flex)["mask_mod"], *mask.shape, device="cpu"))
            if not (dense == mask).all():
                sys.exit(f"FAILED: {flex.name} makes\n{dense}\nnot\n{mask}\n{flex.read_text()}")
        got = np.asarray(made(path)["mask"])
        assert got.dtype == bool, (path.name, got.dtype)
        if not (np.broadcast_to(got, mask.shape) == mask).all():
            sys.exit(f"FAILED: {path.name} makes\n{got}\nnot\n{mask}\n{path.read_text()}")
assert forbidden > 1000, forbidden
