#!/usr/bin/env python3
"""Token numbers against Hugging Face's own program: small tokenizers of every kind, trained here, on 20,000 lines of 12
languages. Exit code 77 where the module tokenizers is not installed.

    against_tokenizers.py PROGRAM [LINES]   PROGRAM is model_tokens; compares
    against_tokenizers.py --golden          writes tests/goldens/tokenizers/splits.json: what each step cuts
"""
import gettext
import json
import pathlib
import random
import subprocess
import sys
import tempfile
import unicodedata

try:
    from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
except ImportError:
    print("skipped: the Python module tokenizers is not installed (Debian unstable: python3-tokenizers)")
    sys.exit(77)

GOLDEN = pathlib.Path(__file__).resolve().parents[1] / "goldens/tokenizers/splits.json"
LANGUAGES = ("en", "de", "fr", "ru", "el", "ar", "he", "hi", "th", "zh_CN", "ja", "ko")
# Letters of each language, for lines that no translation has: first and last code point.
LETTERS = {"en": [(0x61, 0x7A), (0x41, 0x5A)], "de": [(0x61, 0x7A), (0xC0, 0xFF)], "fr": [(0x61, 0x7A), (0xE0, 0xFF)],
           "ru": [(0x410, 0x451)], "el": [(0x391, 0x3A1), (0x3A3, 0x3CE)], "ar": [(0x621, 0x63A), (0x641, 0x652)],
           "he": [(0x5D0, 0x5EA), (0x5B0, 0x5BC)], "hi": [(0x904, 0x94D)], "th": [(0xE01, 0xE3A), (0xE40, 0xE4E)],
           "zh_CN": [(0x4E00, 0x9FA5)], "ja": [(0x3041, 0x3096), (0x30A1, 0x30FA), (0x4E00, 0x5000)],
           "ko": [(0xAC00, 0xD7A3)]}
SPACES = [" ", " ", " ", " ", "  ", "   ", "\t", "\n", "\r\n", "\n\n", " \n ", "\u00a0", "\u3000", "\u2009", "\u0085", "\u180e",
          "\u200b", "\u2028"]
SIGNS = [".", ",", "!", "?", "…", "'s", "'S", "’t", "'ll", "'RE", "'ſ", "\"", "(", ")", "[", "]", "{x}", "</a>", "--", "—", "«", "»", "。", "、",
         "、。", "！", "？", "؟", "،", "।", "#", "$5", "€", "C++", "x=y_z;", "//", "/\n", "a/b", "@", "~", "`", "^", "|", "\\n", "_", "__init__", "+-*/"]
NUMBERS = ["0", "7", "42", "2026", "12345", "1234567", "3.14", "1,000", "½", "²", "Ⅷ", "٣٤٥", "९८७", "１２３", "1st", "x2y", "0x1F", "㊿", "၁၂"]
OTHERS = ["😀", "👩‍👩‍👧", "🇩🇪", "❤️", "👍🏽", "e\u0301", "A\u030a\u0323", "ﬁ", "Ａｂｃ", "ǅ", "ʰ", "ˈ", "Ⓐ", "camelCase", "HTTPServer", "iPhone",
          "ÉCOLE", "straßE", "ẞ", "İ", "ŉ", "한국어가", "々〆", "ー", "ﾊﾟ", "\u0301", "\u200d", "\ufeff", "\x07", "\ue000", "𝔘𝔫𝔦", "𐐀𐐨", "𠮷", "ꙮ", "ᏸ"]


def translations():
    """Texts of the translations that this machine has, by language; none where it has none."""
    found = {}
    for language in LANGUAGES:
        texts = set()
        for path in sorted(pathlib.Path("/usr/share/locale").glob(f"{language}/LC_MESSAGES/*.mo")):
            try:
                with open(path, "rb") as file:
                    catalog = gettext.GNUTranslations(file)._catalog
            except (OSError, UnicodeError, ValueError):
                continue
            texts.update(text for key, text in catalog.items() if isinstance(text, str) and key and 3 < len(text) < 200)
        found[language] = sorted(texts)
    found["en"] = sorted({line.strip() for path in sorted(pathlib.Path("/usr/share/doc").glob("*/copyright"))[:40]
                          for line in path.read_text(errors="ignore").splitlines() if len(line) > 20})
    return found


def known(text):
    """Without code points that only some versions of Unicode know."""
    return "".join(c for c in text if unicodedata.ucd_3_2_0.category(c) != "Cn" or c in "".join(OTHERS + SIGNS + NUMBERS))


def make_lines(count, seed=1):
    rng = random.Random(seed)
    texts = translations() if count > 100 else dict.fromkeys(LANGUAGES, ())

    def word(language):
        first, last = rng.choice(LETTERS[language])
        return "".join(chr(rng.randint(first, last)) for _ in range(rng.randint(1, 9)))

    lines = ["", " ", "\n", "a", "  a  b", "don't DON'T", "\u3000", "12 345678 9", "A" * 40, "aB" * 20, "\n\n\n a"]
    while len(lines) < count:
        language = LANGUAGES[len(lines) % len(LANGUAGES)]
        kind = rng.random()
        if kind < 0.5 and texts[language]:
            lines.append(known(rng.choice(texts[language])))
            continue
        parts = []
        for _ in range(rng.randint(1, 14)):
            kind = rng.random()
            part = word(language if kind < 0.5 else rng.choice(LANGUAGES))
            part = rng.choice(SIGNS) if kind > 0.9 else rng.choice(NUMBERS) if kind > 0.8 else rng.choice(OTHERS) if kind > 0.72 else part
            parts += [part, "" if rng.random() < 0.25 else rng.choice(SPACES)]
        lines.append(known("".join(parts)))
    return lines[:count]


GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
CL100K = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")
O200K = (r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
         r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
         r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+")
TEKKEN = O200K.replace("(?i:'s|'t|'re|'ve|'m|'ll|'d)?", "").replace(r"\p{N}{1,3}", r"\p{N}")
DEEPSEEK3 = (r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*"
             r"|\s*[\r\n]+|\s+(?!\S)|\s+")
CASED = "".join(c for c in map(chr, range(0x530)) if unicodedata.ucd_3_2_0.category(c) in ("Lu", "Ll", "Lt"))
DEEPSEEK_LETTERS = rf"\s?[{CASED}]+"
DEEPSEEK_SIGNS = r"\s?[!-/:-~！-／：-～‘-‟　-。]+"


def split(pattern, behavior="isolated", invert=False):
    return pre_tokenizers.Split(Regex(pattern), behavior, invert)


def sequence(*steps):
    return pre_tokenizers.Sequence(list(steps))


def splitters():
    """Name, and what cuts a text into words."""
    yield "gpt2", split(GPT2)
    yield "cl100k (llama 3, phi-4)", split(CL100K)
    yield "cl100k, removed inverted", split(CL100K, "removed", True)
    yield "qwen2", split(CL100K.replace("{1,3}", ""))
    yield "qwen3.5", split(CL100K.replace("{1,3}", "").replace(r"?\p{L}+", r"?[\p{L}\p{M}]+").replace(r"[^\s\p{L}\p{N}]+", r"[^\s\p{L}\p{M}\p{N}]+"))
    yield "o200k (gpt-oss)", split(O200K)
    yield "o200k, removed inverted", split(O200K, "removed", True)
    yield "tekken", split(TEKKEN)
    yield "gemma", pre_tokenizers.Split(" ", "merged_with_previous")
    yield "deepseek v3", sequence(split(r"\p{N}{1,3}"), split("[一-龥぀-ゟ゠-ヿ]+"), split(DEEPSEEK3))
    yield "deepseek llm", sequence(split("[\r\n]"), split(DEEPSEEK_LETTERS), split(DEEPSEEK_SIGNS), split(r"\s+$"), split("[一-龥ࠀ-一가-퟿]+"), split(r"\p{N}+"))
    yield "deepseek coder", sequence(split("[\r\n]"), split(r"\s?\p{L}+"), split(r"\s?\p{P}+"), split("[一-龥ࠀ-一가-퟿]+"), split(r"\p{N}"))
    yield "smollm", sequence(pre_tokenizers.Digits(individual_digits=True), split(GPT2))
    yield "digits", pre_tokenizers.Digits(individual_digits=False)
    yield "falcon", sequence(pre_tokenizers.Punctuation("contiguous"), split(GPT2), split("[0-9][0-9][0-9]"))
    yield "bloom", split(" ?[^(\\s|[.,!?…。，、।۔،])]+")
    yield "bailing", split(r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+")
    yield "exaone moe", split(r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?(?:\p{L}\p{M}*(?: \p{L}\p{M}*)*)+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]?|\s*[\r\n]|\s+(?!\S)|\s+")
    yield "thousands", sequence(split(r"\d{1,3}(?=(?:\d{3})*\b)"), split(O200K))
    yield "whitespace", pre_tokenizers.Whitespace()
    yield "spaces", pre_tokenizers.WhitespaceSplit()
    yield "bert", pre_tokenizers.BertPreTokenizer()
    yield "delimiter", pre_tokenizers.CharDelimiterSplit("e")
    yield "clip", split(r"'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+", "removed", True)
    for behavior in ("removed", "isolated", "contiguous", "merged_with_previous", "merged_with_next"):
        yield f"punctuation {behavior}", pre_tokenizers.Punctuation(behavior)
        yield f"signs {behavior}", split(r"[\s\p{P}]", behavior)
        yield f"signs {behavior} inverted", split(r"[\s\p{P}]", behavior, True)
        yield f"text {behavior}", pre_tokenizers.Split("a", behavior)
    yield "properties", split(r"\w+|\p{Han}|\p{Hiragana}+|\P{L}\b")
    yield "empty matches", split(r"x*|(?=\p{Lu})")


def replaced(pattern, content):
    return normalizers.Replace(Regex(pattern) if pattern != " " else pattern, content)


def tokenizers_of(lines):
    """Name and a tokenizer that is trained on the lines."""
    def byte_pairs(steps, normalizer=None, **options):
        made = Tokenizer(models.BPE(**options))
        made.pre_tokenizer = sequence(*steps, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False))
        if normalizer:
            made.normalizer = normalizer
        made.decoder = decoders.ByteLevel()
        made.train_from_iterator(lines, trainers.BpeTrainer(
            vocab_size=1500, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), special_tokens=["<|endoftext|>"], show_progress=False))
        return made

    for name, step in splitters():
        yield f"BPE, {name}", byte_pairs([step])
    yield "BPE, NFC, ignore_merges", byte_pairs([split(O200K)], normalizers.NFC(), ignore_merges=True)
    yield "BPE, regular replacements", byte_pairs([split(GPT2)], normalizers.Sequence(
        [replaced(r"\s+", " "), replaced(r"(?<=\d)\d", "0"), replaced(r"[^\r\n\p{L}]{3,}", "§"), normalizers.NFKC()]))
    gemma = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    gemma.normalizer = normalizers.Replace(" ", "▁")
    gemma.pre_tokenizer = pre_tokenizers.Split(" ", "merged_with_previous")
    gemma.train_from_iterator([line[:40] for line in lines], trainers.BpeTrainer(
        vocab_size=1500, limit_alphabet=300, show_progress=False,
        special_tokens=["<unk>", "<bos>", *(f"<0x{byte:02X}>" for byte in range(256))]))
    gemma.post_processor = processors.TemplateProcessing(single="<bos> $A", special_tokens=[("<bos>", 1)])
    yield "BPE, gemma with bytes", gemma
    unigram = Tokenizer(models.Unigram())
    unigram.normalizer = normalizers.NFKC()
    unigram.pre_tokenizer = pre_tokenizers.Metaspace()
    plain = [line for line in lines if all(ord(c) < 0x2000 for c in line)]  # the others have unknown letters
    unigram.train_from_iterator(plain, trainers.UnigramTrainer(vocab_size=3000, unk_token="<unk>", special_tokens=["<unk>"], show_progress=False))
    yield "Unigram, Metaspace", unigram
    for name, step in (("bert", pre_tokenizers.BertPreTokenizer()), ("whitespace", pre_tokenizers.Whitespace())):
        pieces = Tokenizer(models.WordPiece(unk_token="[UNK]"))
        pieces.normalizer = normalizers.BertNormalizer()
        pieces.pre_tokenizer = step
        pieces.train_from_iterator(lines, trainers.WordPieceTrainer(
            vocab_size=3000, limit_alphabet=600, special_tokens=["[UNK]", "[CLS]", "[SEP]"], show_progress=False))
        pieces.post_processor = processors.BertProcessing(("[SEP]", 2), ("[CLS]", 1))
        yield f"WordPiece, {name}", pieces


def write_golden():
    lines = make_lines(32, seed=5)
    kinds = []
    for name, step in splitters():
        made = Tokenizer(models.WordLevel())
        made.pre_tokenizer = step
        state = json.loads(made.to_str())
        kinds.append({"name": name, "normalizer": None, "pre_tokenizer": state["pre_tokenizer"],
                      "words": [[word for word, _ in step.pre_tokenize_str(line)] for line in lines]})
    rows = ",\n".join(json.dumps(kind, ensure_ascii=False) for kind in kinds)
    GOLDEN.write_text(f'{{"lines": {json.dumps(lines, ensure_ascii=False)},\n"kinds": [\n{rows}\n]}}\n', encoding="utf-8")
    print(f"{len(kinds)} kinds, {GOLDEN.stat().st_size} bytes")


def differences(program, name, made, lines, folder):
    path = folder / "tokenizer.json"
    made.save(str(path))
    return differing(program, name, made, lines, path)


def differing(program, name, made, lines, path):
    """How many lines have other numbers in our program."""
    ran = subprocess.run([program, str(path)], input=json.dumps(lines), capture_output=True, text=True, check=False)
    if ran.returncode:
        print(f"FAILED {name}: {ran.stderr.strip()}")
        return 1
    ours = json.loads(ran.stdout)
    theirs = [encoding.ids for encoding in made.encode_batch(lines)]
    wrong = [n for n, ids in enumerate(theirs) if ids != ours[n]]
    print(f"{name}: {sum(map(len, theirs))} tokens, {len(wrong)} of {len(lines)} lines differ")
    for n in wrong[:3]:
        print(f"  {lines[n]!r}\n    {made.encode(lines[n]).tokens}\n    {[made.id_to_token(i) for i in ours[n]] if isinstance(ours[n], list) else ours[n]}")
    return len(wrong)


# Of a tokenizer above: the name that llama.cpp has for what cuts its words.
GGUF_NAMES = {"gpt2": "gpt-2", "cl100k (llama 3, phi-4)": "dbrx", "o200k (gpt-oss)": "gpt-4o", "deepseek v3": "deepseek-v3",
              "deepseek coder": "deepseek-coder", "smollm": "smollm", "falcon": "falcon", "bloom": "bloom",
              "bailing": "bailingmoe", "exaone moe": "exaone-moe", "thousands": "tiny_aya", "qwen3.5": "qwen35"}


def gguf_differences(program, name, made, lines, folder):
    """The same tokenizer as a GGUF, where the module gguf is installed."""
    try:
        import gguf
    except ImportError:
        return 0
    if GGUF_NAMES[name] == "qwen35":  # which has the normal form C
        made.normalizer = normalizers.NFC()
    state = json.loads(made.to_str())["model"]
    path = folder / "tokenizer.gguf"
    writer = gguf.GGUFWriter(path, "llama")
    pieces = sorted(state["vocab"], key=state["vocab"].get)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre(GGUF_NAMES[name])
    writer.add_token_list(pieces)
    writer.add_token_types([3 if piece == "<|endoftext|>" else 1 for piece in pieces])
    writer.add_token_merges([" ".join(merge) for merge in state["merges"]])
    writer.add_add_bos_token(False)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()
    return differing(program, f"GGUF, {GGUF_NAMES[name]}", made, lines, path)


def main():
    if sys.argv[1] == "--golden":
        return write_golden()
    lines = make_lines(int(sys.argv[2]) if len(sys.argv) > 2 else 2000)
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, made in tokenizers_of(lines[:3000]):
            wrong += differences(sys.argv[1], name, made, lines, pathlib.Path(folder))
            if name.removeprefix("BPE, ") in GGUF_NAMES:
                wrong += gguf_differences(sys.argv[1], name.removeprefix("BPE, "), made, lines, pathlib.Path(folder))
    if wrong:
        sys.exit(f"{wrong} lines differ")


main()
