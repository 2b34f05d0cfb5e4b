#!/usr/bin/env python3
"""Makes a Llama of 12 layers of 768 columns with random weights, as a folder of GGUF files:   make_llama_gguf.py FOLDER [LAYERS WIDTH]

f16.gguf by gguf-py, q4_k_m.gguf of it by llama.cpp's llama-quantize, and wide.gguf: the numbers of q4_k_m.gguf in float32.
110 M parameters, a byte-level tokenizer of 32,000 pieces. Debian: python3-gguf, llama.cpp.
"""

import pathlib
import subprocess
import sys

import gguf
import numpy as np

PIECES = 32000


def pieces():
    """Bytes, then pieces of 2, 3 and 4 small letters, each merged of the one before and a letter."""
    shown = [*range(33, 127), *range(161, 173), *range(174, 256)]
    names = {byte: chr(byte) for byte in shown}
    names |= {byte: chr(256 + n) for n, byte in enumerate(byte for byte in range(256) if byte not in names)}
    tokens, merges = [names[byte] for byte in range(256)], []
    letters, last = [chr(code) for code in range(ord("a"), ord("z") + 1)], None
    last = letters
    while len(tokens) < PIECES - 1:
        pairs = [(piece, letter) for piece in last for letter in letters][:PIECES - 1 - len(tokens)]
        last = [piece + letter for piece, letter in pairs]
        merges += [" ".join(pair) for pair in pairs]
        tokens += last
    return tokens + ["<|end|>"], merges


def writer(path, layers, width, file_type):
    out = gguf.GGUFWriter(path, "llama")
    heads = width // 64
    out.add_name("random")
    out.add_block_count(layers)
    out.add_context_length(2048)
    out.add_embedding_length(width)
    out.add_feed_forward_length(hidden_of(width))
    out.add_head_count(heads)
    out.add_head_count_kv(heads)
    out.add_layer_norm_rms_eps(1e-5)
    out.add_rope_freq_base(10000.0)
    out.add_rope_dimension_count(64)
    out.add_vocab_size(PIECES)
    out.add_file_type(file_type)
    tokens, merges = pieces()
    out.add_tokenizer_model("gpt2")
    out.add_tokenizer_pre("gpt-2")
    out.add_token_list(tokens)
    out.add_token_types([1] * (PIECES - 1) + [3])
    out.add_token_merges(merges)
    out.add_eos_token_id(PIECES - 1)
    out.add_add_bos_token(False)
    return out


def hidden_of(width):
    return -(-width * 8 // 3 // 256) * 256


def write_f16(path, layers, width):
    rng = np.random.default_rng(50)
    hidden = hidden_of(width)
    out = writer(path, layers, width, gguf.LlamaFileType.MOSTLY_F16)

    def put(name, *shape):
        spread = 1 / np.sqrt(shape[-1]) if name != "token_embd.weight" else 0.02
        out.add_tensor(name, (rng.standard_normal(shape, np.float32) * np.float32(spread)).astype(np.float16))

    def norm(name):
        out.add_tensor(name, 1 + 0.1 * rng.standard_normal(width, np.float32))

    put("token_embd.weight", PIECES, width)
    norm("output_norm.weight")
    for n in range(layers):
        norm(f"blk.{n}.attn_norm.weight")
        norm(f"blk.{n}.ffn_norm.weight")
        for part in ("q", "k", "v", "output"):
            put(f"blk.{n}.attn_{part}.weight", width, width)
        put(f"blk.{n}.ffn_gate.weight", hidden, width)
        put(f"blk.{n}.ffn_up.weight", hidden, width)
        put(f"blk.{n}.ffn_down.weight", width, hidden)
    finish(out)


def finish(out):
    out.write_header_to_file()
    out.write_kv_data_to_file()
    out.write_tensors_to_file()
    out.close()


def write_wide(path, quantised, layers, width):
    out = writer(path, layers, width, gguf.LlamaFileType.ALL_F32)
    for tensor in gguf.GGUFReader(quantised).tensors:
        out.add_tensor(tensor.name, gguf.quants.dequantize(tensor.data, tensor.tensor_type).astype(np.float32))
    finish(out)


if __name__ == "__main__":
    folder = pathlib.Path(sys.argv[1])
    layers, width = map(int, sys.argv[2:4]) if len(sys.argv) > 3 else (12, 768)
    folder.mkdir(parents=True, exist_ok=True)
    write_f16(folder / "f16.gguf", layers, width)
    subprocess.run(["llama-quantize", folder / "f16.gguf", folder / "q4_k_m.gguf", "Q4_K_M"], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    write_wide(folder / "wide.gguf", folder / "q4_k_m.gguf", layers, width)
