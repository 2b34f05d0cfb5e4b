#!/usr/bin/env python3
"""Makes tokenizers/sentencepiece_*: two models that SentencePiece trains, and the token numbers that it gives for lines.json.

Run from anywhere, after make_tokenizers.py: python3 tests/goldens/make_sentencepiece.py (Debian: python3-sentencepiece,
python3-numpy). bpe.model: as Llama's, with bytes for unknown text and one piece of the user; unigram.model: its defaults, with the
map of characters nmt_nfkc. bpe.gguf: the pieces of the first as llama.cpp's converter writes them, beside them in gguf/.
"""

import io
import json
import pathlib

import sentencepiece

from make_gguf import OUT, write

HERE = pathlib.Path(__file__).resolve().parent / "tokenizers"
LINES = json.loads((HERE / "lines.json").read_text("utf-8"))
# Lines of the user's piece, and of spaces.
MORE = ["a<x>b", "<x>", " <x> <x>", "the<x> street", "<x", "   of   the  ", " x", "\u3000of\u00a0the"]


def train(name, **options):
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter([line for line in LINES if line.strip() and "\x00" not in line]), model_writer=model, minloglevel=2,
        hard_vocab_limit=False, num_threads=1, **options)
    (HERE / f"sentencepiece_{name}.model").write_bytes(model.getvalue())
    made = sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())
    ids = [made.encode(line) for line in LINES + MORE]
    (HERE / f"sentencepiece_{name}.ids.json").write_text(json.dumps({"more": MORE, "ids": ids}, separators=(",", ":")) + "\n")
    return made


def kind_of(made, n):
    checks = ((made.is_unknown, 2), (made.is_control, 3), (made.is_unused, 5), (made.is_byte, 6))
    return next((kind for is_one, kind in checks if is_one(n)), 4 if made.id_to_piece(n) == "<x>" else 1)


bpe = train("bpe", vocab_size=900, model_type="bpe", byte_fallback=True, normalization_rule_name="identity", add_dummy_prefix=True,
            remove_extra_whitespaces=False, user_defined_symbols=["<x>"], character_coverage=0.985)
train("unigram", vocab_size=600, model_type="unigram", character_coverage=0.985)
count = bpe.get_piece_size()
write(OUT / "tokenizer.bpe.gguf", {
    "general.architecture": "llama", "tokenizer.ggml.model": "llama", "tokenizer.ggml.tokens": [bpe.id_to_piece(n) for n in range(count)],
    "tokenizer.ggml.scores": [bpe.get_score(n) for n in range(count)], "tokenizer.ggml.token_type": [kind_of(bpe, n) for n in range(count)],
    "tokenizer.ggml.bos_token_id": 1, "tokenizer.ggml.unknown_token_id": 0, "tokenizer.ggml.add_bos_token": False})
