#!/usr/bin/env python3
"""Makes tokenizers/: small tokenizers as Hugging Face writes them, 1,000 lines, and the token numbers that other programs
give for those lines.

Run from anywhere: python3 tests/goldens/make_tokenizers.py (Debian: python3-regex, python3-sentencepiece).
Byte pairs: the published algorithm of GPT-2 over the expressions of GPT-2, Llama 3 and Qwen 2, by the module regex.
Unigram: sentencepiece, which also trains it. Word pieces: BERT's published basic and word-piece tokenizer.
"""

import collections
import io
import json
import pathlib
import random
import unicodedata

import regex
import sentencepiece

HERE = pathlib.Path(__file__).resolve().parent / "tokenizers"

WORDS = """the of and to in that is was for it with as his on be at by had not are but from or have an they which one you
were all her she there would their we him been has when who will no more if out so said what up its about into than them
can only other new some time could these two may then do first any my now such like our over man me even most made after
also did many before must through back years where much your way well down should because each just those people mr how
too little state good very make world still own see men work long get here between both life being under never day same
another know while last might us great old year off come since against go came right used take three animal street cross
tired river quiet didn't I'm we'll you've THEY'RE He'd naïve café Straße Größe señor übermäßig œuvre ångström Ærøskøbing
Москва привет мир солнце Ελλάδα λόγος שלום مرحبا नमस्ते दुनिया ภาษาไทย 日本語 東京 こんにちは カタカナ 中文 北京 注意力 한국어 서울
3.14 42 1,000,000 2026 7 007 ½ ² Ⅷ ٣٤ 99% C++ x=y+z; foo_bar() e-mail@example.org https://example.org/a?b=c #tag $5 £3
ﬁne ﬀ Ａｂｃ é e\u0301 A\u030a ǆ İstanbul ſo 'ſ ’s""".split()
EMOJI = "😀 👩‍👩‍👧 🇩🇪 ❤️ 👍🏽 🧠 \U0001FAE0 ☃ ♞".split()
SPACES = ["  ", "   ", "\t", "\u00a0", "\u3000", " \t ", "\u2009", "\r", "\u200b", "\u0085"]
CONTROL = ["\x01", "\x07", "\x1f", "\x7f", "\u200d", "\ufeff", "\u0301", "\ufffd", "\ue000", "<unk>", "[UNK]", "▁", "##"]


def make_lines():
    rng = random.Random(1)
    lines = ["", " ", "a", "  a  ", "\u3000", "pneumono" * 30, "ab" * 60, "e\u0301" * 5, "…", "🧠" * 9]
    while len(lines) < 1000:
        parts = []
        for _ in range(rng.randint(1, 12)):
            kind = rng.random()
            word = rng.choice(WORDS)
            if kind < 0.08:
                word = rng.choice(EMOJI)
            elif kind < 0.12:
                word = rng.choice(CONTROL)
            elif kind < 0.2:
                word = word.capitalize() + rng.choice([",", ".", "!", "?!", "…", "'", "\"", ")", "—"])
            elif kind < 0.24:
                word = "".join(chr(rng.choice([rng.randint(33, 126), rng.randint(160, 0x17F), rng.randint(0x370, 0x52F),
                                               rng.randint(0x4E00, 0x4FFF), rng.randint(0x1F300, 0x1F6FF)]))
                               for _ in range(rng.randint(1, 6)))
            parts += [word, rng.choice(SPACES) if rng.random() < 0.1 else "" if rng.random() < 0.05 else " "]
        lines.append("".join(parts).strip() if rng.random() < 0.7 else "".join(parts))
    # Of later versions of Unicode than the programs here have, no category is sure.
    return ["".join(c for c in line if unicodedata.category(c) != "Cn") for line in lines]


GPT2 = r"""'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"""
LLAMA3 = (r"""(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+"""
          r"""|\s+(?!\S)|\s+""")
QWEN2 = LLAMA3.replace(r"\p{N}{1,3}", r"\p{N}")


def byte_letters():
    kept = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [b for b in range(256) if b not in kept]
    return {**{b: chr(b) for b in kept}, **{b: chr(256 + n) for n, b in enumerate(others)}}


LETTERS = byte_letters()


def words_of(expression, line):
    # The module regex takes U+001C … U+001F for spaces, which Unicode does not; no line has them but U+001F.
    expression = expression.replace(r"\s", r"\p{White_Space}").replace(r"\S", r"\P{White_Space}")
    expression = expression.replace(r"[^\p{White_Space}", r"[^\p{White_Space}")
    return [m.group() for m in regex.finditer(expression, line)]


def letters(word):
    return "".join(LETTERS[b] for b in word.encode())


def train(expression, lines, count):
    words = collections.Counter(tuple(letters(w)) for line in lines for w in words_of(expression, line))
    merges = []
    for _ in range(count):
        pairs = collections.Counter()
        for word, n in words.items():
            for pair in zip(word, word[1:]):
                pairs[pair] += n
        best = min(pairs, key=lambda pair: (-pairs[pair], pair))
        merges.append(best)
        words = collections.Counter({merged(word, best): n for word, n in words.items()})
    return merges


def merged(word, pair):
    out, n = [], 0
    while n < len(word):
        if n + 1 < len(word) and (word[n], word[n + 1]) == pair:
            out.append(word[n] + word[n + 1])
            n += 2
        else:
            out.append(word[n])
            n += 1
    return tuple(out)


def encode_bpe(expression, ranks, vocab, line):
    ids = []
    for word in words_of(expression, line):
        parts = tuple(letters(word))
        while len(parts) > 1:
            best = min(zip(parts, parts[1:]), key=lambda pair: ranks.get(pair, 1e9))
            if best not in ranks:
                break
            parts = merged(parts, best)
        ids += [vocab[p] for p in parts]
    return ids


def byte_level(name, expression, lines, merges_count):
    merges = train(expression, lines, merges_count)
    pieces = [*LETTERS.values(), *("".join(m) for m in merges)]
    vocab = {}
    for piece in pieces:
        vocab.setdefault(piece, len(vocab))
    ranks = {m: n for n, m in reversed(list(enumerate(merges)))}
    expected = [encode_bpe(expression, ranks, vocab, line) for line in lines]
    step = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": name == "gpt2"}
    if name != "gpt2":
        step = {"type": "Sequence", "pretokenizers": [
            {"type": "Split", "pattern": {"Regex": expression}, "behavior": "Isolated", "invert": False}, step]}
    model = {"type": "BPE", "dropout": None, "unk_token": None, "fuse_unk": False, "byte_fallback": False,
             "vocab": vocab, "merges": [" ".join(m) for m in merges] if name == "gpt2" else [list(m) for m in merges]}
    write(name, {"version": "1.0", "added_tokens": [], "normalizer": None, "pre_tokenizer": step,
                 "post_processor": None, "model": model}, expected)
    if name == "gpt2":
        (HERE / "vocab.json").write_text(json.dumps(vocab, ensure_ascii=True) + "\n")
        (HERE / "merges.txt").write_text("#version: 0.2\n" + "".join(" ".join(m) + "\n" for m in merges), "utf-8")


def unigram(lines):
    model = io.BytesIO()
    text = [line.replace("\x00", "") for line in lines if line.strip()]
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(text), model_writer=model, vocab_size=600, model_type="unigram", character_coverage=0.985,
        normalization_rule_name="identity", remove_extra_whitespaces=False, add_dummy_prefix=True, minloglevel=2,
        split_by_whitespace=True, hard_vocab_limit=False)
    processor = sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())
    rows = [[processor.id_to_piece(n), processor.get_score(n)] for n in range(processor.get_piece_size())]
    expected = [processor.encode(line) for line in lines]
    steps = [{"type": "Prepend", "prepend": "▁"}, {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}]
    write("unigram", {"added_tokens": [], "normalizer": {"type": "Sequence", "normalizers": steps}, "pre_tokenizer": None,
                      "post_processor": None, "model": {"type": "Unigram", "unk_id": processor.unk_id(), "vocab": rows}},
          expected)


def is_punctuation(c):
    return 33 <= ord(c) <= 47 or 58 <= ord(c) <= 64 or 91 <= ord(c) <= 96 or 123 <= ord(c) <= 126 or \
        unicodedata.category(c).startswith("P")


def is_space(c):
    return regex.match(r"\p{White_Space}", c) is not None


def basic_words(line):
    clean = []
    for c in line:
        if ord(c) == 0 or ord(c) == 0xFFFD or (c not in "\t\n\r" and unicodedata.category(c).startswith("C")):
            continue
        clean.append(" " if is_space(c) else c)
    spaced = "".join(f" {c} " if 0x4E00 <= ord(c) <= 0x9FFF or 0x3400 <= ord(c) <= 0x4DBF or 0xF900 <= ord(c) <= 0xFAFF
                     else c for c in clean)
    plain = "".join(c for c in unicodedata.normalize("NFD", spaced) if unicodedata.category(c) != "Mn")
    lower = "".join(c.lower() for c in plain)
    words = []
    for word in lower.split(" "):
        part = ""
        for c in word:
            if is_punctuation(c) or is_space(c):
                words += [part] if part else []
                words += [] if is_space(c) else [c]
                part = ""
            else:
                part += c
        words += [part] if part else []
    return words


def word_pieces(lines):
    counts = collections.Counter(word for line in lines for word in basic_words(line))
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    characters = sorted({c for word in counts for c in word if ord(c) < 0x2000})
    pieces += characters + ["##" + c for c in characters]
    pieces += sorted(w for w, n in counts.items() if n > 6 and len(w) > 1 and len(w) < 9)
    pieces += ["##ing", "##ed", "##er", "##s2", "##ly", "##th", "##an", "##in"]
    vocab = {}
    for piece in pieces:
        vocab.setdefault(piece, len(vocab))

    def encode(word):
        if len(word) > 100:
            return [vocab["[UNK]"]]
        ids, start = [], 0
        while start < len(word):
            end = len(word)
            while end > start and ("##" if start else "") + word[start:end] not in vocab:
                end -= 1
            if end == start:
                return [vocab["[UNK]"]]
            ids.append(vocab[("##" if start else "") + word[start:end]])
            start = end
        return ids

    expected = [[vocab["[CLS]"], *(n for word in basic_words(line) for n in encode(word)), vocab["[SEP]"]]
                for line in lines]
    (HERE / "vocab.txt").write_text("".join(piece + "\n" for piece in vocab), "utf-8")
    (HERE / "bert.ids.json").write_text(json.dumps(expected, separators=(",", ":")) + "\n")


def write(name, tokenizer, expected):
    (HERE / f"{name}.json").write_text(json.dumps(tokenizer, ensure_ascii=False, separators=(",", ":")) + "\n", "utf-8")
    (HERE / f"{name}.ids.json").write_text(json.dumps(expected, separators=(",", ":")) + "\n")


HERE.mkdir(exist_ok=True)
LINES = make_lines()
(HERE / "lines.json").write_text(json.dumps(LINES, ensure_ascii=False, indent=0) + "\n", "utf-8")
byte_level("gpt2", GPT2, LINES, 250)
byte_level("llama3", LLAMA3, LINES, 200)
byte_level("qwen2", QWEN2, LINES, 200)
unigram(LINES)
word_pieces(LINES)
