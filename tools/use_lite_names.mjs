// Universal Sentence Encoder Lite: the package's name of each array of our model.safetensors.

const encoder = "Encoder_en/KonaTransformer/Encode";
export const names = new Map([
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
