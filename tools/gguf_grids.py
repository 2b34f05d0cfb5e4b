#!/usr/bin/env python3
"""Writes core/io/gguf_grids.h: the tables of numbers that GGUF's types IQ1, IQ2 and IQ3 choose from.

Run where gguf-py is installed (Debian: python3-gguf): python3 tools/gguf_grids.py
A code has 16 bits: 8 indices of 2 bits (IQ1, IQ2) or 4 of 4 bits (IQ3), the lowest first.
"""

import pathlib

import numpy as np
from gguf import quants

OUT = pathlib.Path(__file__).resolve().parent.parent / "core" / "io" / "gguf_grids.h"
HEAD = """#pragma once

#include <cstdint>

namespace attn {

// Written by tools/gguf_grids.py from gguf-py (gguf/quants.py of ggml, copyright The ggml authors, MIT licence).
// clang-format off
"""

if __name__ == "__main__":
    text = HEAD
    for kind in ("IQ2_XXS", "IQ2_XS", "IQ2_S", "IQ3_XXS", "IQ3_S", "IQ1_S"):
        codes = np.frombuffer(bytes.fromhex(getattr(quants, kind).grid_hex.decode()), "<u2")
        text += f"\ninline constexpr std::uint16_t k{kind.replace('_', '').title()}Grid[{len(codes)}] = {{\n"
        text += "".join(" ".join(f"0x{code:04X}," for code in codes[n:n + 16]) + "\n" for n in range(0, len(codes), 16))
        text += "};\n"
    OUT.write_text(text + "// clang-format on\n\n}  // namespace attn\n")
