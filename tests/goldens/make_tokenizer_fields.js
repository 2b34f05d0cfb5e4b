// Makes tokenizers/fields.json: small tokenizers, one for each field of tokenizer.json and of the files beside a vocabulary, and
// the token numbers that the package tokenizers of Hugging Face (0.23.2) gives for the same lines.
//   npm install tokenizers    # in a folder that is not this project
//   NODE_PATH=FOLDER/node_modules node tests/goldens/make_tokenizer_fields.js [LINES [SEED]]
// LINES (24) random lines are added to those below. A tokenizer of `files` is what Hugging Face's converters make of them
// (transformers, convert_slow_tokenizer.py), written out here. tests/models/tokenizer_test.cpp reads the result; with 10000 lines
// and other seeds it is a fuzz test.
const fs = require("fs");
const path = require("path");
const { Tokenizer } = require("tokenizers");

const here = path.join(__dirname, "tokenizers");
const [count, seed] = [Number(process.argv[2] ?? 24), Number(process.argv[3] ?? 1)];

let state = BigInt(seed);
function random(below) {
  state = (state * 6364136223846793005n + 1442695040888963407n) & ((1n << 64n) - 1n);
  return Number(state >> 33n) % below;
}
const pick = (list) => list[random(list.length)];

// ---- lines
const WORDS = ("the cat sat on a mat didn't I'LL don'T 'S x 12 2026 1,234.5 ٣٤ ² naïve cafe\u0301 A\u030aB É ÉCOLE Straße İstanbul ﬁne Ａｂ " +
  "का हिन्दी नमस्ते ကို \u093e \u0301x e\u20dd 中文 日本語 東 한국 Привет שלום مرحبا 😀 👩‍👩‍👧 ⓐ _ foo_bar e-mail@x.org (a) ... ?! $5 ▁ ▁the ##s [ ] < >").split(" ");
const SPACES = [" ", "  ", "\t", "\n", "\r\n", " \n ", "\u00a0", "\u3000", "\u2009", "\u0085", "\u200b", "\u200d", "\x01", "\ufffd", "   "];
const TOKENS = ["<x>", "<X>", "<x>y", "[M]", "[m]", "[É]", "[é]", "<unk>", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "[PAD]", "<|im_start|>",
  "<|endoftext|>", "é", "cat", "<s>", "</s>", "?", "<0xC3>"];
const FIXED = ["", " ", "a", "  a  ", "<x>", " <x> ", "a<x>a", "a <x> a", "a  <x>  <x>  a", "<x><x>", "<x> <x>y <X>", "the[M]cat", "the [M] cat",
  "the [M]cat [m]", "[É][é]É", "का", "हिन्दी का", "é", "e\u0301", "éé", "aéèb", "<unk>", "<unk><unk>", "<unk>é", "a <unk> é<unk>", "😀😀",
  "\u0301a", " \u0301 a", "cat", "cats", "cat.", "a_cat", "cat cat", "concat", "ⓐcat", "का<x>", "I'LL 'Sſ", "1234567", " a\n\n b ", "a\r\n\tb",
  "<|im_start|>user\nthe cat<|im_end|>", "The CAT sat", "ÉCOLE", "[CLS] the [MASK] [SEP]", "[UNK] [PAD]", "中文cat", "▁the ▁", "a b c d e f g h",
  "a\u{2b81f}b a\u{2b820}b a\u{2b91f}b a\u{2b920}b"];
const lines = [...FIXED];
for (let n = 0; n < count; ++n) {
  let line = "";
  for (let parts = 1 + random(8); parts > 0; --parts) {
    const kind = random(10);
    line += kind < 6 ? pick(WORDS) : kind < 9 ? pick(TOKENS) : String.fromCharCode(97 + random(6), 32 + random(90));
    line += random(4) ? " " : random(2) ? "" : pick(SPACES);
  }
  lines.push(line);
}

// ---- vocabularies
const numbered = (pieces) => Object.fromEntries([...new Set(pieces)].map((piece, n) => [piece, n]));
const hex = (byte) => `<0x${byte.toString(16).toUpperCase().padStart(2, "0")}>`;
const BYTES = [...Array(256).keys()].map(hex);
const kept = (b) => (b >= 33 && b <= 126) || (b >= 161 && b <= 172) || b >= 174;
let next = 256;
const LETTERS = [...Array(256).keys()].map((b) => String.fromCharCode(kept(b) ? b : next++));
const ASCII = [..."abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.,'_[]<>|/()"];
const MERGES = ["t h", "th e", "c a", "ca t", "▁ the", "▁ a", "▁ cat", "o n"].map((m) => m.split(" "));
const pieces_of = (merges) => merges.map(([a, b]) => a + b);

const bpe = (pieces, merges, more = {}) => ({
  type: "BPE", dropout: null, unk_token: null, continuing_subword_prefix: null, end_of_word_suffix: null, fuse_unk: false,
  byte_fallback: false, ignore_merges: false, vocab: numbered([...pieces, ...pieces_of(merges)]), merges: merges.map((m) => m.join(" ")), ...more });
const plain_bpe = (more) => bpe(["<unk>", "▁", ...ASCII, "É", "का", "क", "ा", "<x>"], MERGES, { unk_token: "<unk>", ...more });
const byte_merges = [["t", "h"], ["th", "e"], ["Ġ", "the"], ["c", "a"], ["ca", "t"], ["Ġ", "cat"], ["Ã", "©"], ["1", "2"], ["'", "L"], ["Ċ", "Ċ"]];
const byte_bpe = (more) => bpe(LETTERS, byte_merges, more);
const unigram = (more = {}, bytes = []) => ({
  type: "Unigram", unk_id: 0, byte_fallback: false,
  vocab: [["<unk>", 0], ["▁", -2.5], ["the", -3], ["▁the", -1.5], ["▁cat", -2], ["cat", -3.5], ["s", -4], ["▁a", -2], ["का", -3],
    ...ASCII.map((c, n) => [c, -5 - n / 64]), ...bytes.map((b) => [b, -20])], ...more });
const WORD_PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "The", "cat", "##s", "cafe", "café", "naive", "école", "École", "É", "##COLE",
  "क", "का", "##न", "中", "文", "##文", ...ASCII, ...ASCII.map((c) => "##" + c), "é", "e", "[m]"];
const word_piece = (more = {}) => ({ type: "WordPiece", unk_token: "[UNK]", continuing_subword_prefix: "##", max_input_chars_per_word: 12,
  vocab: numbered(WORD_PIECES), ...more });

// ---- tokenizers
const token = (id, content, more = {}) =>
  ({ id, content, single_word: false, lstrip: false, rstrip: false, normalized: false, special: true, ...more });
const whole = (more) => ({ version: "1.0", truncation: null, padding: null, added_tokens: [], normalizer: null, pre_tokenizer: null,
  post_processor: null, decoder: null, model: plain_bpe(), ...more });
const metaspace = (prepend_scheme, more = {}) => ({ type: "Metaspace", replacement: "▁", prepend_scheme, split: true, ...more });
const byte_level = (add_prefix_space, use_regex = true) => ({ type: "ByteLevel", add_prefix_space, trim_offsets: true, use_regex });
const split = (Regex) => ({ type: "Split", pattern: { Regex }, behavior: "Isolated", invert: false });
const QWEN2 = "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";
const LLAMA3 = QWEN2.replace("|\\p{N}|", "|\\p{N}{1,3}|");
const GPT2 = "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+";
const special = (id) => ({ SpecialToken: { id, type_id: 0 } });
const text = { Sequence: { id: "A", type_id: 0 } };
const pair = [text, { Sequence: { id: "B", type_id: 1 } }];
const around = (single, special_tokens) => ({ type: "TemplateProcessing", single, pair, special_tokens });
const is = (id, ids) => ({ id, ids, tokens: ids.map(() => id) });
const cut = (max_length, more = {}) => ({ max_length, strategy: "LongestFirst", stride: 0, direction: "Right", ...more });
const bert = (more) => ({ type: "BertNormalizer", clean_text: true, handle_chinese_chars: true, strip_accents: null, lowercase: true, ...more });
const cls = around([special("[CLS]"), text, special("[SEP]")], { "[CLS]": is("[CLS]", [2]), "[SEP]": is("[SEP]", [3]) });
const plain_size = Object.keys(plain_bpe().vocab).length;
const x = (more) => [token(plain_bpe().vocab["<x>"], "<x>", more), token(plain_size, "<x>y", more)];
const bert_tokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"].map((name, id) => token(id, name));
const byte_size = Object.keys(byte_bpe().vocab).length;

const vocab_txt = WORD_PIECES.filter((piece, n) => WORD_PIECES.indexOf(piece) === n).join("\n") + "\n";
const vocab_json = JSON.stringify(byte_bpe().vocab);
const merges_txt = "#version: 0.2\n" + byte_merges.map((m) => m.join(" ")).join("\n") + "\n";
const word_files = (settings, more = {}) => ({ "vocab.txt": vocab_txt, "tokenizer_config.json": JSON.stringify(settings), ...more });
const pair_files = (settings, more = {}) => ({ "vocab.json": vocab_json, "merges.txt": merges_txt,
  ...(settings ? { "tokenizer_config.json": JSON.stringify(settings) } : {}), ...more });
const of_words = (normalizer) => whole({ normalizer: bert(normalizer), pre_tokenizer: { type: "BertPreTokenizer" }, added_tokens: bert_tokens,
  post_processor: cls, model: word_piece({ max_input_chars_per_word: 100 }) });
const qwen = (added = []) => whole({ normalizer: { type: "NFC" }, added_tokens: added, model: byte_bpe(),
  pre_tokenizer: { type: "Sequence", pretokenizers: [split(QWEN2), byte_level(false, false)] } });

const cases = [
  ["Metaspace, prepend_scheme always", whole({ pre_tokenizer: metaspace("always"), added_tokens: x() })],
  ["Metaspace, prepend_scheme first", whole({ pre_tokenizer: metaspace("first"), added_tokens: x() })],
  ["Metaspace, prepend_scheme first, after NFKC and Lowercase, not split", whole({ added_tokens: x({ normalized: true, special: false }),
    normalizer: { type: "Sequence", normalizers: [{ type: "NFKC" }, { type: "Lowercase" }] }, pre_tokenizer: metaspace("first", { split: false }) })],
  ["Metaspace, prepend_scheme never", whole({ pre_tokenizer: metaspace("never"), added_tokens: x() })],
  ["added token, lstrip", whole({ pre_tokenizer: metaspace("first"), added_tokens: x({ lstrip: true }) })],
  ["added token, rstrip", whole({ pre_tokenizer: metaspace("first"), added_tokens: x({ rstrip: true }) })],
  ["added token, lstrip and rstrip", whole({ added_tokens: x({ lstrip: true, rstrip: true }) })],
  ["added token, single_word", whole({ added_tokens: [token(plain_bpe().vocab["<x>"], "<x>", { single_word: true }),
    token(plain_bpe().vocab["cat"], "cat", { single_word: true })] })],
  ["added token, normalized", whole({ normalizer: { type: "Lowercase" }, added_tokens: [token(plain_size, "[M]", { normalized: true }),
    token(plain_size + 1, "[É]", { normalized: true, special: false }), token(plain_size + 2, "<X>")] })],
  ["added token, normalized under Prepend", whole({ normalizer: { type: "Sequence", normalizers: [{ type: "Prepend", prepend: "▁" },
    { type: "Replace", pattern: { String: " " }, content: "▁" }] }, added_tokens: x({ normalized: true, special: false }) })],
  ["added token, normalized with accents stripped", whole({ normalizer: { type: "Sequence", normalizers: [{ type: "NFD" }, { type: "StripAccents" }] },
    added_tokens: [token(plain_size, "[É]", { normalized: true }), token(plain_size + 1, "é")] })],
  ["StripAccents takes spacing marks", whole({ normalizer: { type: "StripAccents" } })],
  ["Strip", whole({ normalizer: { type: "Strip", strip_left: true, strip_right: false } })],
  ["BertNormalizer keeps spacing marks", whole({ normalizer: bert(), pre_tokenizer: { type: "BertPreTokenizer" }, model: word_piece(),
    added_tokens: bert_tokens })],
  ["BertNormalizer, strip_accents false", whole({ normalizer: bert({ strip_accents: false }), pre_tokenizer: { type: "BertPreTokenizer" },
    model: word_piece() })],
  ["BertNormalizer, nothing", whole({ normalizer: bert({ lowercase: false, clean_text: false, handle_chinese_chars: false }),
    pre_tokenizer: { type: "BertPreTokenizer" }, model: word_piece() })],
  ["template, special_tokens of two numbers", whole({ post_processor: around([special("go"), text, special("end")],
    { go: is("go", [2, 5]), end: is("end", [7]) }) })],
  ["post_processor, Sequence", whole({ pre_tokenizer: byte_level(false), model: byte_bpe(), post_processor: { type: "Sequence",
    processors: [{ type: "ByteLevel", add_prefix_space: true, trim_offsets: false, use_regex: true },
      around([special("go"), text], { go: is("go", [2]) })] } })],
  ["RobertaProcessing", whole({ post_processor: { type: "RobertaProcessing", sep: ["</s>", 4], cls: ["<s>", 3], trim_offsets: true,
    add_prefix_space: true } })],
  ["truncation", whole({ truncation: cut(5) })],
  ["truncation, direction Left, in a template", whole({ truncation: cut(5, { direction: "Left", strategy: "OnlyFirst", stride: 1 }),
    post_processor: { type: "BertProcessing", sep: ["</s>", 4], cls: ["<s>", 3] } })],
  ["byte_fallback of BPE", whole({ pre_tokenizer: metaspace("first"), model: bpe(["<unk>", ...BYTES, "▁", ...ASCII], MERGES,
    { unk_token: "<unk>", fuse_unk: true, byte_fallback: true }) })],
  ["byte_fallback of Unigram", whole({ pre_tokenizer: metaspace("always"), model: unigram({ byte_fallback: true }, BYTES) })],
  ["Unigram", whole({ pre_tokenizer: metaspace("always"), model: unigram() })],
  ["fuse_unk false", whole({})],
  ["fuse_unk true", whole({ model: plain_bpe({ fuse_unk: true }), pre_tokenizer: metaspace("never") })],
  ["no unk_token", whole({ model: plain_bpe({ unk_token: null }) })],
  ["ignore_merges", whole({ model: plain_bpe({ ignore_merges: true, merges: ["t h"] }), pre_tokenizer: metaspace("always") })],
  ["a pair that is there twice", whole({ model: plain_bpe({ merges: ["t h", "th e", "c a", "ca t", "o n", "t h", "c a"] }) })],
  ["ByteLevel, add_prefix_space", whole({ pre_tokenizer: byte_level(true), model: byte_bpe(), added_tokens: [token(byte_size, "<x>")] })],
  ["ByteLevel with GPT-2's split, letters that are missing", whole({ pre_tokenizer: { type: "Sequence", pretokenizers: [split(GPT2),
    byte_level(false, false)] }, model: bpe(["?", "Ġ", ...ASCII], [["t", "h"]], { unk_token: "?" }) })],
  ["Llama 3's split", whole({ model: byte_bpe({ ignore_merges: true }), pre_tokenizer: { type: "Sequence",
    pretokenizers: [split(LLAMA3), byte_level(false, false)] } })],
  ["vocab.txt", of_words({}), word_files({})],
  ["vocab.txt, do_lower_case false", of_words({ lowercase: false }), word_files({ do_lower_case: false, tokenizer_class: "BertTokenizer" })],
  ["vocab.txt, strip_accents true, do_lower_case false", of_words({ lowercase: false, strip_accents: true }),
    word_files({ do_lower_case: false, strip_accents: true, model_max_length: 512 })],
  ["vocab.txt, tokenize_chinese_chars false", of_words({ handle_chinese_chars: false }), word_files({ tokenize_chinese_chars: false })],
  ["vocab.json and merges.txt", whole({ pre_tokenizer: byte_level(false), model: byte_bpe() }), pair_files(null)],
  ["vocab.json and merges.txt, add_prefix_space", whole({ pre_tokenizer: byte_level(true), model: byte_bpe() }),
    pair_files({ tokenizer_class: "GPT2Tokenizer", add_prefix_space: true })],
  ["vocab.json and merges.txt, Qwen2Tokenizer", qwen([token(byte_size, "<|endoftext|>"), token(byte_size + 1, "<|im_start|>")]),
    pair_files({ tokenizer_class: "Qwen2Tokenizer", add_prefix_space: false, bos_token: null, eos_token: "<|im_start|>",
      added_tokens_decoder: Object.fromEntries(["<|endoftext|>", "<|im_start|>"].map((content, n) => {
        const { id, ...rest } = token(byte_size + n, content);
        return [id, rest];
      })) })],
  ["vocab.json and merges.txt of a qwen2", qwen(), pair_files(null, { "config.json": JSON.stringify({ model_type: "qwen2" }) })],
];

(async () => {
  const made = [];
  for (const [name, tokenizer, files] of cases) {
    const theirs = Tokenizer.fromString(JSON.stringify(tokenizer));
    const ids = [];
    for (const line of lines) ids.push((await theirs.encode(line)).getIds());
    made.push(JSON.stringify({ name, ...(files ? { files } : { tokenizer }), ids }));
  }
  fs.writeFileSync(path.join(here, "fields.json"), `{"lines":${JSON.stringify(lines)},\n"cases":[\n${made.join(",\n")}]}\n`);
})();
